//! The weights of a chosen patch over the grid of a picture's patches, with the picture under them.

use attune_ui::theme::{Palette, size};
use attune_ui::widgets::patches::{patch_color, texture};
use attune_view::panels::attention::shown;
use attune_view::sheet::Chosen;
use attune_view::view_model::Models;
use attune_view::view_model::attention::{AttentionMaps, HeadMap};
use attune_view::view_model::grid::{PatchMap, PatchPicture};
use egui::{
    Image, Label, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, TextureHandle, Ui, WidgetInfo, WidgetType,
    pos2, vec2,
};

/// The side of a map in points. Two maps fit side by side into a panel of usual width.
const SIDE: f32 = 124.0;

/// Shows a map of the weights over all patches for each shown head of one layer, if the tokens are patches and one is
/// chosen.
pub fn patches_ui(ui: &mut Ui, models: &Models, chosen: &Chosen, query: Option<usize>) {
    /// The largest share of the panel's height that the maps take; if they need more, they scroll.
    const HEIGHT_MAX: f32 = 0.5;
    let (Some(query), Some(model)) = (query, models.get::<AttentionMaps>()) else { return };
    let shown = shown(&model, chosen);
    let heads = shown.iter().filter(|map| !map.is_of_source && map.block == shown[0].block);
    let maps: Vec<_> = heads.filter_map(|map| Some((map, models.of_choice::<PatchMap>(&(query, map.head))?))).collect();
    if maps.is_empty() {
        return;
    }
    let picture = models.get::<PatchPicture>().map(|picture| texture(ui.ctx(), &picture));
    let columns = ((ui.available_width() + size::GAP) / (SIDE + size::GAP)).max(1.0) as usize;
    ScrollArea::vertical().id_salt("patches").max_height(HEIGHT_MAX * ui.available_height()).show(ui, |ui| {
        for row in maps.chunks(columns) {
            ui.horizontal(|ui| row.iter().for_each(|(head, map)| map_ui(ui, head, map, picture.as_ref())));
        }
    });
    ui.add_space(size::GAP);
}

fn map_ui(ui: &mut Ui, head: &HeadMap, map: &PatchMap, picture: Option<&TextureHandle>) {
    let palette = Palette::on(ui);
    ui.vertical(|ui| {
        ui.set_max_width(SIDE);
        ui.add(Label::new(RichText::new(&head.title).weak()).truncate());
        let side = SIDE / map.rows.max(map.columns) as f32;
        let (rect, response) =
            ui.allocate_exact_size(vec2(side * map.columns as f32, side * map.rows as f32), Sense::hover());
        if let Some(picture) = picture {
            Image::new(picture).paint_at(ui, rect);
        }
        let cell = |at: usize| {
            let corner = pos2((at % map.columns) as f32, (at / map.columns) as f32).to_vec2() * side;
            Rect::from_min_size(rect.min + corner, vec2(side, side))
        };
        let full = map.largest.max(f32::MIN_POSITIVE);
        for (at, weight) in map.weights.iter().enumerate() {
            let color = patch_color(palette, picture.is_some(), head.own, weight / full);
            ui.painter().rect_filled(cell(at), 0.0, color);
        }
        if let Some(query) = map.query {
            ui.painter().rect_stroke(cell(query), 0.0, Stroke::new(size::HAIRLINE, palette.query), StrokeKind::Inside);
        }
        let name = format!("{}: the patches that this one looks at", head.title);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, &name));
        let pointed =
            response.hover_pos().and_then(|at| (0..map.weights.len()).find(|patch| cell(*patch).contains(at)));
        let words = match pointed {
            Some(patch) => {
                let (row, column) = (patch / map.columns + 1, patch % map.columns + 1);
                format!("Row {row}, column {column}: {:.3}", map.weights[patch])
            }
            None => format!("{:.3} on other tokens", map.elsewhere),
        };
        response.on_hover_text(words);
    });
}
