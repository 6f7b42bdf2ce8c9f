//! Grids of a sheet: a map with names, numbers, the pointer, arrow keys, copies and questions; and small maps in rows.

use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::Trail;
use attune_ui::widgets::controls::{copy_button, led_by_arrows, paint_sink};
use attune_ui::widgets::heat::{Heat, paint_slanted, reach, short, width_of};
use attune_ui::widgets::traced::{ASK_HINT, ask_on};
use attune_view::sheet::{Grid, Grids, Scale, Tile, Tiles};
use egui::{
    Align2, Color32, Key, Label, Modifiers, Pos2, Rect, Response, RichText, ScrollArea, Sense, Ui, Vec2, WidgetInfo,
    WidgetType, vec2,
};

/// How much larger than at first cells can be.
const ZOOM_MAX: f32 = 4.0;
const ZOOM_STEP: f32 = 1.5;

/// Draws maps one below the other, and what their colours mean.
pub fn grids_ui(ui: &mut Ui, Grids { grids, legend }: &Grids, trail: &mut Trail) {
    ui.add(Label::new(RichText::new(legend).weak()).wrap());
    for (place, grid) in grids.iter().enumerate() {
        ui.push_id(place, |ui| grid_ui(ui, grid, trail));
        ui.add_space(size::GAP);
    }
}

fn grid_ui(ui: &mut Ui, grid: &Grid, trail: &mut Trail) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal(|ui| {
        let ink = if let Scale::Share { hue, .. } = grid.scale { palette.head(hue) } else { palette.ink };
        ui.label(RichText::new(&grid.title).font(theme::strong(size::BODY)).color(ink));
        copy_button(ui, &format!("{}, for a spreadsheet", grid.title), || grid.table([usize::MAX; 2]).tsv());
    });
    let zoom_id = ui.id().with("zoom");
    let zoom = ui.data(|data| data.get_temp(zoom_id)).unwrap_or(1.0_f32);
    ScrollArea::horizontal().show(ui, |ui| {
        let (heat, response) = layout(ui, grid, zoom);
        paint(ui, grid, &heat, palette);
        names(ui, grid, &heat, palette);
        let cursor = lead(ui, &heat, &response, palette);
        let pointed = response.hover_pos().and_then(|pointer| heat.at(pointer));
        let said = pointed.or(cursor).map(|(row, col)| tell(grid, row, col));
        response.widget_info(|| {
            let mut info = WidgetInfo::labeled(WidgetType::Other, true, format!("Map of {}", grid.title));
            info.current_text_value.clone_from(&said);
            info
        });
        if response.has_focus() {
            let zoom = zoomed(ui, zoom);
            ui.data_mut(|data| data.insert_temp(zoom_id, zoom));
        }
        let Some((row, col)) = pointed else { return };
        heat.outline(ui.painter(), heat.cell_rect(row, col), palette.ink);
        let entry = grid.entry(row, col);
        if let Some(entry) = entry {
            ask_on(&response, entry, trail);
        }
        response.on_hover_ui_at_pointer(|ui| {
            ui.label(said.unwrap_or_default());
            ui.weak(format!(
                "Click, then go on with the arrow keys; + and − change the size. {}",
                if entry.is_some() { ASK_HINT } else { "" }
            ));
        });
    });
}

/// The cells, as large as fit, and their place.
fn layout(ui: &mut Ui, grid: &Grid, zoom: f32) -> (Heat, Response) {
    let widest = |names: &[String]| names.iter().map(|name| label_width(ui, name)).fold(0.0, f32::max);
    let (left, top) = (widest(&grid.rows) + size::GAP, reach(widest(&grid.cols)).y + size::LABEL);
    let lean = grid.cols.last().map_or(0.0, |name| reach(label_width(ui, name)).x);
    let (rows, cols) = (grid.rows.len(), grid.cols.len());
    let fit = (ui.available_width() - left - lean) / cols.max(1) as f32;
    let cell = Vec2::splat((fit.clamp(size::CELL_MIN, size::CELL_MAX) * zoom).floor());
    let whole = vec2(left + lean, top) + vec2(cols as f32, rows as f32) * cell;
    let (rect, _) = ui.allocate_exact_size(whole, Sense::hover());
    let heat = Heat { origin: rect.min + vec2(left, top), cell, rows, cols };
    let response = ui.interact(heat.rect(), ui.id().with("cells"), Sense::click());
    (heat, response)
}

/// A long name is cut off; the card of a cell has all of it.
fn label(name: &str) -> String {
    const CHARACTERS: usize = 24;
    match name.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

fn label_width(ui: &Ui, name: &str) -> f32 {
    width_of(ui, &label(name), theme::plain(size::LABEL))
}

/// The cells that are in sight.
fn paint(ui: &Ui, grid: &Grid, heat: &Heat, palette: &Palette) {
    let sight = ui.clip_rect();
    let cells = || (0..heat.rows).flat_map(|row| (0..heat.cols).map(move |col| (row, col)));
    let font = heat.number_font(ui.ctx(), || cells().filter_map(|(row, col)| grid.value(row, col)));
    for row in (0..heat.rows).filter(|row| heat.row_rect(*row).intersects(sight)) {
        for col in (0..heat.cols).filter(|col| heat.col_rect(*col).intersects(sight)) {
            let Some(value) = grid.value(row, col) else { continue };
            let fill = fill(grid, value, palette);
            heat.paint_cell(ui.painter(), row, col, fill);
            if let Some(font) = &font {
                heat.paint_number(ui.painter(), row, col, value, font, palette.ink_on(fill));
            }
        }
    }
}

fn fill(grid: &Grid, value: f32, palette: &Palette) -> Color32 {
    match grid.scale {
        Scale::Share { hue, .. } => palette.weight(hue, grid.share(value)),
        Scale::Signed { .. } => palette.diverging(grid.share(value)),
    }
}

/// The names of rows and columns; of so many that they would cover each other, every few.
fn names(ui: &Ui, grid: &Grid, heat: &Heat, palette: &Palette) {
    let every = (size::LABEL / heat.cell.x).ceil().max(1.0) as usize;
    let painter = ui.painter();
    for (row, name) in grid.rows.iter().enumerate().step_by(every) {
        let at = heat.cell_rect(row, 0).left_center() - vec2(size::GAP_TIGHT, 0.0);
        painter.text(at, Align2::RIGHT_CENTER, label(name), theme::plain(size::LABEL), palette.ink_soft);
    }
    for (col, name) in grid.cols.iter().enumerate().step_by(every) {
        let foot = heat.cell_rect(0, col).center_top() - vec2(0.0, size::GAP_TIGHT);
        let galley = painter.layout_no_wrap(label(name), theme::plain(size::LABEL), palette.ink_soft);
        paint_slanted(painter, foot, galley, palette.ink_soft);
    }
    for col in &grid.marked {
        paint_sink(painter, heat.cell_rect(0, *col).center_top(), palette);
    }
}

/// With the keyboard on the map, arrows go from cell to cell.
fn lead(ui: &Ui, heat: &Heat, response: &Response, palette: &Palette) -> Option<(usize, usize)> {
    let id = response.id.with("cursor");
    let before = ui.data(|data| data.get_temp(id)).unwrap_or((0_usize, 0_usize));
    let mut cursor = (before.0.min(heat.rows.saturating_sub(1)), before.1.min(heat.cols.saturating_sub(1)));
    if response.clicked() {
        response.request_focus();
        cursor = response.interact_pointer_pos().and_then(|pointer| heat.at(pointer)).unwrap_or(cursor);
    }
    if response.has_focus() {
        cursor = led_by_arrows(ui, response, cursor, heat.rows, heat.cols);
        heat.outline(ui.painter(), heat.cell_rect(cursor.0, cursor.1), palette.accent);
    }
    if cursor != before {
        ui.data_mut(|data| data.insert_temp(id, cursor));
        ui.scroll_to_rect(heat.cell_rect(cursor.0, cursor.1), None);
    }
    response.has_focus().then_some(cursor)
}

/// The size of the cells after the keys of this frame.
fn zoomed(ui: &Ui, zoom: f32) -> f32 {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let larger = pressed(Key::Plus) || pressed(Key::Equals);
    let by = if larger { ZOOM_STEP } else { 1.0 } / if pressed(Key::Minus) { ZOOM_STEP } else { 1.0 };
    (zoom * by).clamp(1.0, ZOOM_MAX)
}

/// A cell in words.
fn tell(grid: &Grid, row: usize, col: usize) -> String {
    let value = grid.value(row, col).map_or_else(|| "empty".to_owned(), |value| format!("{value:.4}"));
    format!("{} (row), {} (column): {value}", grid.rows[row], grid.cols[col])
}

/// Draws small maps at their rows and columns.
pub fn tiles_ui(ui: &mut Ui, Tiles { rows, cols, tiles, legend }: &Tiles) {
    const SIDE: f32 = 56.0;
    const FOOT: f32 = 17.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.add(Label::new(RichText::new(legend).weak()).wrap());
    let gutter = rows.iter().map(|name| label_width(ui, name)).fold(0.0, f32::max) + size::GAP;
    let count = tiles.iter().fold([0, 0], |most, tile| [most[0].max(tile.at[0] + 1), most[1].max(tile.at[1] + 1)]);
    let step = vec2(SIDE + size::GAP, SIDE + FOOT + size::GAP);
    let whole = vec2(gutter, size::TABLE_ROW) + vec2(count[1] as f32, count[0] as f32) * step;
    ScrollArea::horizontal().show(ui, |ui| {
        let (rect, _) = ui.allocate_exact_size(whole, Sense::hover());
        let origin = rect.min + vec2(gutter, size::TABLE_ROW);
        let text = |at: Pos2, align: Align2, words: String| {
            ui.painter().text(at, align, words, theme::plain(size::SMALL), palette.ink_soft);
        };
        for (row, name) in rows.iter().enumerate() {
            text(Pos2::new(rect.left(), origin.y + row as f32 * step.y + SIDE / 2.0), Align2::LEFT_CENTER, label(name));
        }
        for (col, name) in cols.iter().enumerate() {
            text(Pos2::new(origin.x + col as f32 * step.x + SIDE / 2.0, rect.top()), Align2::CENTER_TOP, label(name));
        }
        for (place, tile) in tiles.iter().enumerate() {
            let at = origin + vec2(tile.at[1] as f32, tile.at[0] as f32) * step;
            ui.push_id(place, |ui| tile_ui(ui, tile, Rect::from_min_size(at, Vec2::splat(SIDE)), palette));
        }
    });
}

/// A small map, with its number under it.
fn tile_ui(ui: &mut Ui, Tile { grid, number, share, rank, .. }: &Tile, map: Rect, palette: &Palette) {
    if !ui.is_rect_visible(map) || grid.rows.is_empty() || grid.cols.is_empty() {
        return;
    }
    let (rows, cols) = (grid.rows.len(), grid.cols.len());
    let heat = Heat { origin: map.min, cell: map.size() / vec2(cols as f32, rows as f32), rows, cols };
    let cell = |row, col| grid.value(row, col).map_or(palette.surface, |value| fill(grid, value, palette));
    ui.painter().add(heat.mesh(cell));
    let bar = Rect::from_min_size(map.left_bottom() + vec2(0.0, 2.0), vec2(map.width() * share, size::OUTLINE));
    ui.painter().rect_filled(bar, 0.0, palette.ink_soft);
    let rank = rank.map_or(String::new(), |rank| format!(" ({rank})"));
    let shown = number.map_or_else(|| "–".to_owned(), |number| short(number) + rank.as_str());
    let foot = map.center_bottom() + vec2(0.0, size::GAP_TIGHT);
    ui.painter().text(foot, Align2::CENTER_TOP, &shown, theme::mono(size::CELL_NUMBER), palette.ink_soft);
    let response = ui.interact(map, ui.id().with("tile"), Sense::hover());
    let name = format!("{}: {shown}", grid.title);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &name));
    response.on_hover_text(name);
}
