//! The all heads panel: every head of every layer as a small map, sorted and marked by a measure; one opens in Attention.
//!
//! The maps of a layer are one texture, made when one of them is first in sight and kept until the sentence's numbers,
//! the reading or the theme change.

use std::sync::Arc;

use attune_ui::actions::{Action, Pressed, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::Selection;
use attune_ui::widgets::controls::{copy_button, led_by_arrows, paint_sink, reading_ui, sinks_ui};
use attune_ui::widgets::heat::short;
use attune_view::view_model::attention::Reading;
use attune_view::view_model::heads::{AllHeads, AllHeadsModel, HeadMeasure, HeadSummary, Thumbnail};
use attune_view::view_model::needs::Needs;
use egui::{
    Align2, Color32, ColorImage, ComboBox, CornerRadius, Key, Label, Mesh, Modifiers, Pos2, Rect, RichText, ScrollArea,
    Sense, Shape, Stroke, StrokeKind, TextureFilter, TextureHandle, TextureOptions, Ui, Vec2, WidgetInfo, WidgetType,
};

use super::panel::{Panel, PanelContext, PanelName, Requests};

/// Order of the maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadOrder {
    /// A row for each layer.
    #[default]
    Layers,
    LargestFirst,
    SmallestFirst,
}

#[derive(Default)]
pub struct AllHeadsPanel {
    pub measure: HeadMeasure,
    pub order: HeadOrder,
    /// The head to which the arrow keys have led.
    cursor: usize,
    textures: Textures,
}

impl AllHeadsPanel {
    /// Textures made so far.
    pub fn textures_made(&self) -> usize {
        self.textures.made
    }
}

impl Panel for AllHeadsPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let heads = cx.models.get::<AllHeadsModel>()?.content.clone();
        all_heads_ui(ui, &heads, self, cx.view.selection, cx.requests);
        Some(())
    }
}

/// Heads that are marked as the strongest.
const MARKED: usize = 5;
/// Heads of each measure in the list of all.
const LISTED: usize = 3;
/// Side of a map, in points.
const SIDE: (f32, f32) = (20.0, 72.0);
/// Under a map, for its bar and its number.
const FOOT: f32 = 17.0;
/// Over a map, for the marks of sinks.
const HEAD: f32 = 8.0;
const BAR: f32 = 3.0;
/// Beside the rows, for the numbers of the layers.
const GUTTER: f32 = 20.0;
/// Rows and columns of a map in its texture, at most: more are not seen at its size.
const TEXELS: usize = 48;

fn all_heads_ui(
    ui: &mut Ui,
    heads: &Arc<AllHeads>,
    state: &mut AllHeadsPanel,
    selection: &mut Selection,
    requests: &mut Requests,
) {
    controls_ui(ui, heads, state, selection);
    let mut opened = None;
    ScrollArea::both().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
        let words = state.measure.words();
        let said = format!("{}. {} ({}).", words.meaning, words.formula, words.source);
        ui.set_max_width(width_in_sight(ui));
        ui.add(Label::new(RichText::new(said).weak()).wrap());
        let lacks_lengths = selection.reading.is_added && !heads.heads.iter().all(|head| head.cells.has_lengths());
        if lacks_lengths {
            ui.add(
                Label::new(RichText::new(Needs::Terms.words()).color(Palette::of(ui.visuals().dark_mode).warn)).wrap(),
            );
        } else if let Some(said) = selection.reading.said() {
            let note = format!("{said}. The measures are computed from the weights themselves, including all sinks.");
            ui.add(Label::new(RichText::new(note).color(Palette::of(ui.visuals().dark_mode).warn)).wrap());
        }
        sinks_ui(ui, &heads.sinks);
        opened = opened.or(strongest_ui(ui, heads, state.measure, MARKED, "Strongest:"));
        opened = opened.or(grid_ui(ui, heads, state, selection));
        ui.add_space(size::GAP);
        let all = ui.collapsing("Strongest heads by each measure", |ui| {
            let of_each = |measure| strongest_ui(ui, heads, measure, LISTED, &format!("{}:", measure.words().title));
            HeadMeasure::ALL.into_iter().filter_map(of_each).next_back()
        });
        opened = opened.or(all.body_returned.flatten());
    });
    if let Some(head) = opened {
        state.cursor = head;
        selection.show_head(Some(head));
        let which = PanelName::ALL.iter().position(|panel| *panel == PanelName::Attention);
        let show = which.map(|which| Pressed { which, ..Pressed::once(WindowAction::Panel) });
        requests.actions.extend(show.map(Action::Row));
    }
}

/// Width of what is in sight, without a margin: none while the panel has just begun to slide in.
fn width_in_sight(ui: &Ui) -> f32 {
    (ui.clip_rect().width() - size::GAP).max(0.0)
}

/// The measure, the order, the reading, and all measures for a spreadsheet.
fn controls_ui(ui: &mut Ui, heads: &AllHeads, state: &mut AllHeadsPanel, selection: &mut Selection) {
    const WIDTH: f32 = 122.0;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let chosen = state.measure.words().title;
        let chooser = ComboBox::from_id_salt("measure").width(WIDTH).selected_text(chosen).show_ui(ui, |ui| {
            for measure in HeadMeasure::ALL {
                let words = measure.words();
                ui.selectable_value(&mut state.measure, measure, words.title).on_hover_text(words.meaning);
            }
        });
        chooser.response.widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, "Measure of the heads"));
        chooser
            .response
            .on_hover_text("The measure that marks and sorts the heads (in the grid, M chooses the next measure)");
        let orders = [
            (HeadOrder::Layers, "layers", "A row for each layer, a column for each head"),
            (HeadOrder::LargestFirst, "largest", "The heads with the largest value of the measure first"),
            (HeadOrder::SmallestFirst, "smallest", "The heads with the smallest value of the measure first"),
        ];
        for (order, words, hint) in orders {
            ui.selectable_value(&mut state.order, order, words).on_hover_text(hint);
        }
        reading_ui(ui, &heads.sinks, &mut selection.reading);
        copy_button(ui, "all measures of all heads, for a spreadsheet", || heads.tsv());
    });
}

/// The heads with the largest of a measure, each a button that opens it.
fn strongest_ui(ui: &mut Ui, heads: &AllHeads, measure: HeadMeasure, count: usize, title: &str) -> Option<usize> {
    let mut opened = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.label(title);
        let strongest = heads.strongest(measure, count);
        if strongest.is_empty() {
            ui.weak("none in this sentence");
        }
        for head in strongest {
            let head = &heads.heads[head];
            let number = head.measure(measure).map_or_else(String::new, short);
            let response = ui.small_button(format!("{} {number}", place(heads, head)));
            let said = head.say(measure);
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("Open {said}")));
            if response.on_hover_text(format!("{said}. Click to open the head in Attention")).clicked() {
                opened = Some(head.head);
            }
        }
    });
    opened
}

/// Layer and head as numbers: `2·1`; the head alone where there is one layer.
fn place(heads: &AllHeads, head: &HeadSummary) -> String {
    let own = head.own + 1;
    if heads.layers.len() > 1 { format!("{}·{own}", head.layer + 1) } else { own.to_string() }
}

/// The maps with their places in rows and columns.
struct Grid {
    cols: usize,
    rows: usize,
    side: f32,
    /// Heads in the order in which they stand, each with its row and column.
    places: Vec<(usize, (usize, usize))>,
    origin: Pos2,
    /// Beside the rows: for the numbers of the layers, or for an outline.
    gutter: f32,
}

impl Grid {
    fn of(heads: &AllHeads, state: &AllHeadsPanel, width: f32) -> Self {
        let is_by_layer = state.order == HeadOrder::Layers;
        // The outline of the first map lies there.
        let gutter = if is_by_layer && heads.layers.len() > 1 { GUTTER } else { size::OUTLINE };
        let room = width - gutter;
        let fit = |cols: usize| (room / cols.max(1) as f32 - size::GAP_TIGHT).floor();
        let cols = match is_by_layer {
            true => heads.columns(),
            false => heads.columns().max((room / (SIDE.1 + size::GAP_TIGHT)) as usize),
        };
        let places: Vec<_> = match state.order {
            HeadOrder::Layers => heads.heads.iter().map(|head| (head.head, (head.layer, head.own))).collect(),
            order => {
                let ranked = heads.ranked(state.measure, order == HeadOrder::LargestFirst);
                ranked.into_iter().enumerate().map(|(at, head)| (head, (at / cols.max(1), at % cols.max(1)))).collect()
            }
        };
        let rows = places.iter().map(|(_, (row, _))| row + 1).max().unwrap_or(0);
        Self { cols, rows, side: fit(cols).clamp(SIDE.0, SIDE.1), places, origin: Pos2::ZERO, gutter }
    }

    fn step(&self) -> Vec2 {
        Vec2::new(self.side + size::GAP_TIGHT, HEAD + self.side + FOOT)
    }

    fn size(&self) -> Vec2 {
        Vec2::new(self.gutter + self.cols as f32 * self.step().x, self.title() + self.rows as f32 * self.step().y)
    }

    fn has_titles(&self) -> bool {
        self.gutter == GUTTER
    }

    /// Height of the numbers of the columns.
    fn title(&self) -> f32 {
        if self.has_titles() { size::LABEL } else { 0.0 }
    }

    /// A map with its foot.
    fn cell(&self, (row, col): (usize, usize)) -> Rect {
        let at = Vec2::new(self.gutter, self.title()) + Vec2::new(col as f32, row as f32) * self.step();
        Rect::from_min_size(self.origin + at, self.step() - Vec2::new(size::GAP_TIGHT, 0.0))
    }

    fn map(&self, place: (usize, usize)) -> Rect {
        let cell = self.cell(place);
        Rect::from_min_size(cell.min + Vec2::new(0.0, HEAD), Vec2::splat(self.side))
    }
}

/// Every map. Returns the head that is to be opened.
fn grid_ui(ui: &mut Ui, heads: &Arc<AllHeads>, state: &mut AllHeadsPanel, selection: &mut Selection) -> Option<usize> {
    let palette = Palette::of(ui.visuals().dark_mode);
    let mut grid = Grid::of(heads, state, width_in_sight(ui));
    let (rect, _) = ui.allocate_exact_size(grid.size(), Sense::hover());
    grid.origin = rect.min;
    let keyboard = ui.interact(rect, ui.id().with("all heads"), Sense::click());
    state.cursor = state.cursor.min(heads.heads.len().saturating_sub(1));
    let at = grid.places.iter().find(|(head, _)| *head == state.cursor).map_or((0, 0), |(_, place)| *place);
    let mut opened = None;
    if keyboard.has_focus() {
        let led = led_by_arrows(ui, &keyboard, at, grid.rows, grid.cols);
        if let Some((head, place)) = grid.places.iter().find(|(_, place)| *place == led && led != at) {
            state.cursor = *head;
            ui.scroll_to_rect(grid.cell(*place), None);
        }
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::M)) {
            state.measure = next(state.measure);
        }
        // Enter, where the pointer is nowhere.
        if keyboard.clicked() {
            opened = Some(state.cursor);
        }
    }
    let cursor = heads.heads.get(state.cursor).map_or_else(String::new, |head| head.say(state.measure));
    keyboard.widget_info(|| {
        WidgetInfo::labeled(
            WidgetType::Other,
            true,
            format!("Grid of all heads; arrow keys move, Enter opens: {cursor}"),
        )
    });
    titles_ui(ui, heads, &grid, palette);
    let reading = selection.reading;
    let strongest = heads.strongest(state.measure, MARKED);
    let full = heads.full(state.measure);
    // The maps lie under what marks them.
    let under = ui.painter().add(Shape::Noop);
    let mut meshes: Vec<Mesh> = Vec::new();
    for (head, place) in &grid.places {
        let (cell, map) = (grid.cell(*place), grid.map(*place));
        if !ui.is_rect_visible(cell) {
            continue;
        }
        let head = &heads.heads[*head];
        let texture = state.textures.layer(ui, heads, head.layer, reading);
        add_map(&mut meshes, &texture, heads, head, map);
        let response = ui.interact(cell, ui.id().with(("head", head.head)), Sense::CLICK);
        let is_shown = selection.shown_head() == Some(head.head);
        response
            .widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_shown, head.say(state.measure)));
        if response.clicked() {
            opened = Some(head.head);
            keyboard.request_focus();
        }
        let marks = Marks {
            rank: strongest.iter().position(|other| *other == head.head),
            is_shown,
            is_at: keyboard.has_focus() && state.cursor == head.head || response.hovered(),
        };
        let sinks = if reading.hides_sinks { &[][..] } else { &heads.sinks.sinks };
        for sink in sinks.iter().filter(|sink| head.cells.is_sink(sink.position)) {
            let along = (sink.position as f32 + 0.5) / head.keys as f32;
            paint_sink(ui.painter(), map.left_top() + Vec2::new(along * map.width(), -1.0), palette);
        }
        if let Some(row) = selection.query.and_then(|query| head.row_of(query)) {
            let at = |share: f32| map.top() + share * map.height();
            let row = Rect::from_x_y_ranges(map.x_range(), at(row.start)..=at(row.end));
            let outline = Stroke::new(size::HAIRLINE, palette.accent);
            ui.painter().rect_stroke(row, CornerRadius::ZERO, outline, StrokeKind::Outside);
        }
        foot_ui(ui, head, state.measure, full, map, palette);
        marks.paint(ui, map, palette);
        response.on_hover_ui(|ui| card_ui(ui, head));
    }
    ui.painter().set(under, Shape::Vec(meshes.into_iter().map(Shape::mesh).collect()));
    opened
}

fn next(measure: HeadMeasure) -> HeadMeasure {
    HeadMeasure::ALL[(measure.place() + 1) % HeadMeasure::ALL.len()]
}

/// The numbers of layers and heads beside the rows and over the columns.
fn titles_ui(ui: &mut Ui, heads: &AllHeads, grid: &Grid, palette: &Palette) {
    if !grid.has_titles() {
        return;
    }
    let font = theme::plain(size::SMALL);
    let text = |at: Pos2, align: Align2, number: usize| {
        ui.painter().text(at, align, number.to_string(), font.clone(), palette.ink_soft);
    };
    for col in 0..grid.cols {
        let at = Pos2::new(grid.map((0, col)).center().x, grid.origin.y);
        text(at, Align2::CENTER_TOP, col + 1);
    }
    for row in 0..grid.rows {
        let at = Pos2::new(grid.origin.x, grid.map((row, 0)).center().y);
        text(at, Align2::LEFT_CENTER, row + 1);
        let rect = Rect::from_center_size(at + Vec2::new(GUTTER / 2.0, 0.0), Vec2::new(GUTTER, grid.side));
        ui.interact(rect, ui.id().with(("layer", row)), Sense::hover()).on_hover_text(&heads.layers[row].title);
    }
}

/// A bar as long as the measure, and its number.
fn foot_ui(ui: &Ui, head: &HeadSummary, measure: HeadMeasure, full: f32, map: Rect, palette: &Palette) {
    let track = Rect::from_min_size(map.left_bottom() + Vec2::new(0.0, 2.0), Vec2::new(map.width(), BAR));
    ui.painter().rect_filled(track, CornerRadius::ZERO, palette.line);
    let Some(found) = head.measure(measure) else { return };
    let share = if full > 0.0 { (found / full).clamp(0.0, 1.0) } else { 0.0 };
    let bar = track.with_max_x(track.left() + share * track.width());
    ui.painter().rect_filled(bar, CornerRadius::ZERO, palette.ink_soft);
    let at = track.center_bottom() + Vec2::new(0.0, 1.0);
    ui.painter().text(at, Align2::CENTER_TOP, short(found), theme::mono(size::CELL_NUMBER), palette.ink_soft);
}

/// The mark of a map that stands out.
struct Marks {
    /// Its place among the strongest, from 0.
    rank: Option<usize>,
    /// Attention shows it alone.
    is_shown: bool,
    /// The pointer or the keyboard is at it.
    is_at: bool,
}

impl Marks {
    fn paint(&self, ui: &Ui, map: Rect, palette: &Palette) {
        let painter = ui.painter();
        let outline = |stroke: f32, ink: Color32| {
            painter.rect_stroke(map, CornerRadius::ZERO, Stroke::new(stroke, ink), StrokeKind::Outside);
        };
        match self {
            Self { is_shown: true, .. } => outline(size::OUTLINE, palette.accent),
            Self { is_at: true, .. } => outline(size::OUTLINE, palette.ink_faint),
            Self { rank: Some(_), .. } => outline(size::OUTLINE, palette.ink),
            _ => outline(size::HAIRLINE, palette.line),
        }
        if let Some(rank) = self.rank {
            const BADGE: f32 = 12.0;
            let badge = Rect::from_min_size(map.right_top() - Vec2::new(BADGE, 0.0), Vec2::splat(BADGE));
            painter.rect_filled(badge, CornerRadius::ZERO, palette.ink);
            let font = theme::strong(size::CELL_NUMBER);
            painter.text(badge.center(), Align2::CENTER_CENTER, (rank + 1).to_string(), font, palette.surface);
        }
    }
}

fn card_ui(ui: &mut Ui, head: &HeadSummary) {
    ui.strong(&head.title);
    head.lines().iter().for_each(|line| _ = ui.label(line));
    ui.weak("Click to open the head in Attention.");
}

/// The map of a head, out of the texture of its layer.
fn add_map(meshes: &mut Vec<Mesh>, texture: &TextureHandle, heads: &AllHeads, head: &HeadSummary, map: Rect) {
    /// A head that is switched off steps back.
    const OFF: f32 = 0.35;
    let count = heads.layers[head.layer].heads.len() as f32;
    let uv = Rect::from_min_max(Pos2::new(head.own as f32 / count, 0.0), Pos2::new((head.own + 1) as f32 / count, 1.0));
    let tint = if head.enabled { Color32::WHITE } else { Color32::WHITE.gamma_multiply(OFF) };
    let mesh = match meshes.iter_mut().find(|mesh| mesh.texture_id == texture.id()) {
        Some(mesh) => mesh,
        None => meshes.push_mut(Mesh::with_texture(texture.id())),
    };
    mesh.add_rect_with_uv(map, uv, tint);
}

/// Textures of the layers that were in sight.
#[derive(Default)]
struct Textures {
    /// The heads, reading and theme that they show.
    of: Option<(Arc<AllHeads>, Reading, bool)>,
    layers: Vec<Option<TextureHandle>>,
    /// Made in all.
    made: usize,
}

impl Textures {
    fn layer(&mut self, ui: &Ui, heads: &Arc<AllHeads>, layer: usize, reading: Reading) -> TextureHandle {
        let is_dark = ui.visuals().dark_mode;
        let is_same = self
            .of
            .as_ref()
            .is_some_and(|(of, read, dark)| Arc::ptr_eq(of, heads) && *read == reading && *dark == is_dark);
        if !is_same {
            self.of = Some((heads.clone(), reading, is_dark));
            self.layers = vec![None; heads.layers.len()];
        }
        let made = &mut self.made;
        let texture = self.layers[layer].get_or_insert_with(|| {
            *made += 1;
            let options = TextureOptions { magnification: TextureFilter::Nearest, ..TextureOptions::LINEAR };
            let image = picture(heads, layer, reading, Palette::of(is_dark));
            ui.ctx().load_texture(format!("heads of layer {layer}"), image, options)
        });
        texture.clone()
    }
}

/// The maps of a layer's heads side by side.
fn picture(heads: &AllHeads, layer: usize, reading: Reading, palette: &Palette) -> ColorImage {
    let maps: Vec<Thumbnail> =
        heads.layers[layer].heads.clone().map(|head| heads.thumbnail(head, TEXELS, reading)).collect();
    let [rows, cols] = maps.first().map_or([0, 0], |map| [map.rows, map.cols]);
    let colour = |(own, map): (usize, &Thumbnail), row: usize, col: usize| {
        map.shares[row * cols + col].map_or(palette.surface, |share| palette.weight(own, share))
    };
    let pixels = (0..rows).flat_map(|row| {
        let maps = maps.iter().enumerate();
        maps.flat_map(move |map| (0..cols).map(move |col| colour(map, row, col)))
    });
    ColorImage::new([maps.len() * cols, rows], pixels.collect())
}
