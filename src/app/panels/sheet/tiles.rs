//! Small maps of a sheet, one for every head of every layer, each with a number and its marks. The arrow keys move from
//! map to map, and Enter opens one.

use attune_ui::theme::{self, Palette, size};
use attune_ui::widgets::controls::{led_by_arrows, paint_sink};
use attune_ui::widgets::heat::short;
use attune_view::sheet::{Ask, Tile, Tiles};
use attune_view::view_model::heads::HeadSummary;
use egui::{
    Align2, CornerRadius, Key, Mesh, Modifiers, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, WidgetType,
};

use super::context::{SheetContext, width_in_sight};
use super::textures::add_map;

/// The least and the largest side of a map, in points.
const SIDE: (f32, f32) = (20.0, 72.0);
/// The height below a map for its bar and its number, in points.
const FOOT: f32 = 17.0;
/// The height above a map for the marks of sinks, in points.
const HEAD: f32 = 8.0;
const BAR: f32 = 3.0;
/// The width beside the rows for their numbers, in points.
const GUTTER: f32 = 20.0;

/// The maps with their places in rows and columns.
struct Places {
    cols: usize,
    rows: usize,
    side: f32,
    /// Row and column of each tile.
    of: Vec<(usize, usize)>,
    origin: Pos2,
    /// The width beside the rows, for their numbers or for an outline.
    gutter: f32,
}

impl Places {
    fn of(tiles: &Tiles, width: f32) -> Self {
        // Without numbers, the gutter has room for the outline of the first map.
        let gutter = if tiles.rows.len() > 1 { GUTTER } else { size::OUTLINE };
        let (room, columns) = (width - gutter, tiles.heads.columns());
        // Maps without row names fill the width.
        let cols = match tiles.rows.is_empty() {
            true => columns.max((room / (SIDE.1 + size::GAP_TIGHT)) as usize).max(1),
            false => columns.max(1),
        };
        let fit = (room / cols as f32 - size::GAP_TIGHT).floor();
        let of: Vec<_> = tiles.tiles.iter().map(|tile| (tile.at[0] + tile.at[1] / cols, tile.at[1] % cols)).collect();
        let rows = of.iter().map(|(row, _)| row + 1).max().unwrap_or(0);
        Self { cols, rows, side: fit.clamp(SIDE.0, SIDE.1), of, origin: Pos2::ZERO, gutter }
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

    /// Returns the height of the column numbers; 0 if there are none.
    fn title(&self) -> f32 {
        if self.has_titles() { size::LABEL } else { 0.0 }
    }

    /// Returns the rectangle of a map with its marks above and its foot below.
    fn cell(&self, (row, col): (usize, usize)) -> Rect {
        let at = Vec2::new(self.gutter, self.title()) + Vec2::new(col as f32, row as f32) * self.step();
        Rect::from_min_size(self.origin + at, self.step() - Vec2::new(size::GAP_TIGHT, 0.0))
    }

    fn map(&self, place: (usize, usize)) -> Rect {
        let cell = self.cell(place);
        Rect::from_min_size(cell.min + Vec2::new(0.0, HEAD), Vec2::splat(self.side))
    }
}

/// Draws every map that is in sight.
pub fn tiles_ui(ui: &mut Ui, tiles: &Tiles, cx: &mut SheetContext) {
    let palette = Palette::on(ui);
    let mut places = Places::of(tiles, width_in_sight(ui));
    let (rect, _) = ui.allocate_exact_size(places.size(), Sense::hover());
    places.origin = rect.min;
    let keyboard = ui.interact(rect, ui.id().with("all heads"), Sense::click());
    lead(ui, tiles, &places, &keyboard, cx);
    numbers_ui(ui, tiles, &places, palette);
    // This shape is replaced by the maps, so that they lie under their marks.
    let under = ui.painter().add(Shape::Noop);
    let mut meshes: Vec<Mesh> = Vec::new();
    for (tile, place) in tiles.tiles.iter().zip(&places.of) {
        let (cell, map) = (places.cell(*place), places.map(*place));
        if !ui.is_rect_visible(cell) {
            continue;
        }
        let head = &tiles.heads.heads[tile.head];
        let texture = cx.state.textures.layer(ui, &tiles.heads, head.layer, tiles.reading);
        add_map(&mut meshes, &texture, &tiles.heads, head, map);
        let response = ui.interact(cell, ui.id().with(("head", tile.head)), Sense::CLICK);
        let is_shown = cx.view.selection.shown_head() == Some(tile.head);
        response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_shown, &tile.spoken));
        if response.clicked() {
            cx.asks.push(Ask::OpenHead(tile.head));
            keyboard.request_focus();
        }
        let is_at = keyboard.has_focus() && cx.state.cursor == tile.head || response.hovered();
        paint_links(ui, tiles, head, map, cx);
        foot_ui(ui, tile, map, palette);
        paint_marks(ui, tile, (is_shown, is_at), map, palette);
        response.on_hover_ui(|ui| card_ui(ui, head));
    }
    ui.painter().set(under, Shape::Vec(meshes.into_iter().map(Shape::mesh).collect()));
}

/// Handles the keys while the maps have the keyboard focus: arrows go from one map to another, Enter opens one, and M
/// chooses the next measure.
fn lead(ui: &Ui, tiles: &Tiles, places: &Places, keyboard: &Response, cx: &mut SheetContext) {
    cx.state.cursor = cx.state.cursor.min(tiles.tiles.len().saturating_sub(1));
    let cursor = cx.state.cursor;
    let found = tiles.tiles.iter().zip(&places.of).find(|(tile, _)| tile.head == cursor);
    let said = found.map_or("", |(tile, _)| tile.spoken.as_str());
    let name = format!("Grid of all heads; arrow keys move, Enter opens: {said}");
    keyboard.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, &name));
    if !keyboard.has_focus() {
        return;
    }
    let at = found.map_or((0, 0), |(_, place)| *place);
    let led = led_by_arrows(ui, keyboard, at, places.rows, places.cols);
    let next = tiles.tiles.iter().zip(&places.of).find(|(_, place)| **place == led && led != at);
    if let Some((tile, place)) = next {
        cx.state.cursor = tile.head;
        ui.scroll_to_rect(places.cell(*place), None);
    }
    if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::M)) {
        cx.asks.push(Ask::Choose(tiles.next.clone()));
    }
    // Enter counts as a click of the element that has the keyboard.
    if keyboard.clicked() {
        cx.asks.push(Ask::OpenHead(cx.state.cursor));
    }
}

/// Draws the numbers of rows and columns, with the names of the rows as tooltips.
fn numbers_ui(ui: &Ui, tiles: &Tiles, places: &Places, palette: &Palette) {
    if !places.has_titles() {
        return;
    }
    let text = |at: Pos2, align: Align2, words: String| {
        ui.painter().text(at, align, words, theme::plain(size::SMALL), palette.ink_soft);
    };
    for col in 0..places.cols {
        text(Pos2::new(places.map((0, col)).center().x, places.origin.y), Align2::CENTER_TOP, (col + 1).to_string());
    }
    for (row, name) in tiles.rows.iter().enumerate() {
        let at = Pos2::new(places.origin.x, places.map((row, 0)).center().y);
        text(at, Align2::LEFT_CENTER, tiles.heads.layers[row].sign.clone());
        let rect = Rect::from_center_size(at + Vec2::new(GUTTER / 2.0, 0.0), Vec2::new(GUTTER, places.side));
        ui.interact(rect, ui.id().with(("layer", row)), Sense::hover()).on_hover_text(name);
    }
}

/// Draws marks above a map at its sinks, and an outline around the row of the chosen query.
fn paint_links(ui: &Ui, tiles: &Tiles, head: &HeadSummary, map: Rect, cx: &SheetContext) {
    let palette = Palette::on(ui);
    let sinks = if tiles.reading.hides_sinks { &[][..] } else { &tiles.heads.sinks.sinks };
    for sink in sinks.iter().filter(|sink| head.cells.is_sink(sink.position)) {
        let along = (sink.position as f32 + 0.5) / head.keys as f32;
        paint_sink(ui.painter(), map.left_top() + Vec2::new(along * map.width(), -1.0), palette);
    }
    if let Some(row) = cx.view.selection.query.and_then(|query| head.row_of(query)) {
        let at = |share: f32| map.top() + share * map.height();
        let row = Rect::from_x_y_ranges(map.x_range(), at(row.start)..=at(row.end));
        let outline = Stroke::new(size::HAIRLINE, palette.accent);
        ui.painter().rect_stroke(row, CornerRadius::ZERO, outline, StrokeKind::Outside);
    }
}

/// Draws a bar for the measure, and its number; without a number, the bar is empty.
fn foot_ui(ui: &Ui, tile: &Tile, map: Rect, palette: &Palette) {
    let track = Rect::from_min_size(map.left_bottom() + Vec2::new(0.0, 2.0), Vec2::new(map.width(), BAR));
    ui.painter().rect_filled(track, CornerRadius::ZERO, palette.line);
    let Some(found) = tile.number else { return };
    let bar = track.with_max_x(track.left() + tile.share * track.width());
    ui.painter().rect_filled(bar, CornerRadius::ZERO, palette.ink_soft);
    let at = track.center_bottom() + Vec2::new(0.0, 1.0);
    ui.painter().text(at, Align2::CENTER_TOP, short(found), theme::mono(size::CELL_NUMBER), palette.ink_soft);
}

/// Paints the outline of a map. It is stronger if Attention shows the head alone, if the pointer or the keyboard is on
/// it, or if it is among the strongest heads, which also get their rank.
fn paint_marks(ui: &Ui, tile: &Tile, (is_shown, is_at): (bool, bool), map: Rect, palette: &Palette) {
    const BADGE: f32 = 12.0;
    let painter = ui.painter();
    let (stroke, ink) = match (is_shown, is_at, tile.rank) {
        (true, ..) => (size::OUTLINE, palette.accent),
        (_, true, _) => (size::OUTLINE, palette.ink_faint),
        (_, _, Some(_)) => (size::OUTLINE, palette.ink),
        _ => (size::HAIRLINE, palette.line),
    };
    painter.rect_stroke(map, CornerRadius::ZERO, Stroke::new(stroke, ink), StrokeKind::Outside);
    if let Some(rank) = tile.rank {
        let badge = Rect::from_min_size(map.right_top() - Vec2::new(BADGE, 0.0), Vec2::splat(BADGE));
        painter.rect_filled(badge, CornerRadius::ZERO, palette.ink);
        let font = theme::strong(size::CELL_NUMBER);
        painter.text(badge.center(), Align2::CENTER_CENTER, rank.to_string(), font, palette.surface);
    }
}

fn card_ui(ui: &mut Ui, head: &HeadSummary) {
    ui.strong(&head.title);
    head.lines().iter().for_each(|line| _ = ui.label(line));
    ui.weak("Click to open the head in Attention.");
}
