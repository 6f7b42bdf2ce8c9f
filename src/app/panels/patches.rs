//! The weights of a chosen patch over the grid of a picture's patches, with the picture under them.

use attune_ui::theme::{Palette, size};
use attune_view::sheet::Chosen;
use attune_view::view_model::Models;
use attune_view::view_model::attention::{AttentionMaps, HeadMap};
use attune_view::view_model::grid::{PatchMap, PatchPicture};
use egui::{ColorImage, Id, Image, Rect, Sense, Stroke, StrokeKind, TextureHandle, TextureOptions, Ui, pos2, vec2};

/// The side of a map.
const SIDE: f32 = 132.0;
/// The share of a patch's colour that covers the picture.
const COVER: f32 = 0.7;

/// Shows a map for each head that the panel shows, where the tokens are patches and one is chosen.
pub fn patches_ui(ui: &mut Ui, models: &Models, chosen: &Chosen, query: Option<usize>) {
    let (Some(query), Some(model)) = (query, models.get::<AttentionMaps>()) else { return };
    let walked = chosen.walked.and_then(|head| model.heads.get(head));
    let is_shown = |map: &&HeadMap| match chosen.head {
        Some(head) => map.head == head,
        None => walked.is_none_or(|walked| walked.block == map.block),
    };
    let heads = model.heads.iter().filter(is_shown).filter(|map| !map.is_of_source);
    let maps: Vec<_> = heads.filter_map(|map| Some((map, models.of_choice::<PatchMap>(&(query, map.head))?))).collect();
    if maps.is_empty() {
        return;
    }
    let picture = models.get::<PatchPicture>().map(|picture| texture(ui, &picture));
    ui.horizontal_wrapped(|ui| {
        for (head, map) in maps {
            map_ui(ui, head, &map, picture.as_ref());
        }
    });
    ui.add_space(size::GAP);
}

/// Returns the picture on the graphics card, put there once.
fn texture(ui: &Ui, picture: &PatchPicture) -> TextureHandle {
    let id = Id::new(("patches", picture.colors.as_ptr() as usize, picture.width));
    if let Some(known) = ui.data(|data| data.get_temp::<TextureHandle>(id)) {
        return known;
    }
    let image = ColorImage::from_rgb([picture.width, picture.height], picture.colors.as_flattened());
    let texture = ui.ctx().load_texture("patches", image, TextureOptions::LINEAR);
    ui.data_mut(|data| data.insert_temp(id, texture.clone()));
    texture
}

fn map_ui(ui: &mut Ui, head: &HeadMap, map: &PatchMap, picture: Option<&TextureHandle>) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.vertical(|ui| {
        ui.weak(&head.title);
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
            let color = palette.weight(head.own, weight / full);
            let cover = if picture.is_some() { COVER } else { 1.0 };
            ui.painter().rect_filled(cell(at), 0.0, color.gamma_multiply(cover));
        }
        if let Some(query) = map.query {
            ui.painter().rect_stroke(cell(query), 0.0, Stroke::new(size::HAIRLINE, palette.query), StrokeKind::Inside);
        }
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
