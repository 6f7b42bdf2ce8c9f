//! Grids of a sheet: maps with names, numbers, the pointer, arrow keys and questions, side by side as far as they fit.
//!
//! A map of a head is linked with the stage and the sentence: what is pointed at here is marked there, a click on a
//! cell follows its pair, and the names of its rows choose the query.

mod layout;
pub mod links;
mod names;

use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::{Hover, PanelView};
use attune_ui::widgets::controls::{copy_button, led_by_arrows};
use attune_ui::widgets::heat::Heat;
use attune_ui::widgets::traced::{ASK_HINT, OF_PIECES, ask_on};
use attune_view::sheet::{Grid, Grids, Scale};
use attune_view::view_model::attention::HeadMap;
use egui::{Color32, Key, Label, Modifiers, Rect, Response, RichText, Sense, Ui, WidgetInfo, WidgetType};

use self::layout::{MapLayout, MapRoom, maps_beside};
use self::links::{choose, query_row, sides_of};
use super::context::{SheetContext, ZOOMS, text_ui};

/// The most maps that are all drawn; if there are more, those out of sight are not.
const ALL_DRAWN: usize = 16;
/// The strength of the colours of a head that is switched off.
const OFF: f32 = 0.35;

/// Draws the maps, side by side as far as they fit.
pub fn grids_ui(ui: &mut Ui, Grids { grids, legend, .. }: &Grids, cx: &mut SheetContext) {
    let is_of_heads = grids.iter().any(|grid| grid.head().is_some());
    if !is_of_heads {
        ui.add(Label::new(RichText::new(legend).weak()).wrap());
    }
    let selected = cx.view.selection.query;
    let zoom = cx.state.zoom();
    let beside = if zoom > 1.0 { 1 } else { maps_beside(ui, grids) };
    let rows = grids.len().div_ceil(beside).max(1);
    let height = (ui.clip_rect().height() - size::GAP_WIDE * (rows - 1) as f32) / rows as f32;
    let room = MapRoom { height, zoom, is_sparing: grids.len() > ALL_DRAWN };
    let mut lit = Vec::new();
    for (place, row) in grids.chunks(beside).enumerate() {
        if place > 0 {
            ui.add_space(size::GAP_WIDE - ui.spacing().item_spacing.y);
        }
        let mut one_ui = |ui: &mut Ui, (col, grid): (usize, &Grid)| {
            ui.push_id((place, col), |ui| lit.extend(grid_ui(ui, grid, room, cx)));
        };
        if beside == 1 {
            // Outside of columns, a map may be wider than the panel, which then scrolls.
            row.iter().enumerate().for_each(|one| one_ui(ui, one));
        } else {
            ui.columns(beside, |columns| {
                columns.iter_mut().zip(row.iter().enumerate()).for_each(|(ui, one)| one_ui(ui, one))
            });
        }
    }
    show_query(ui, selected, cx.view.selection.query, &lit);
}

/// Scrolls to a query that was chosen elsewhere, once, unless one of its `rows` is visible already. A query that was
/// clicked here, between `before` and `after`, stays where the pointer is.
fn show_query(ui: &Ui, before: Option<usize>, after: Option<usize>, rows: &[Rect]) {
    let id = ui.id().with("query in sight");
    let known = ui.data_mut(|data| std::mem::replace(data.get_temp_mut_or_default::<Option<usize>>(id), after));
    let in_sight = || rows.iter().any(|row| ui.clip_rect().y_range().contains(row.center().y));
    if known != before
        && !in_sight()
        && let Some(first) = rows.first()
    {
        ui.scroll_to_rect(*first, None);
    }
}

/// Draws a map with its title. Returns the rectangle of the chosen query's row, if the map has it.
fn grid_ui(ui: &mut Ui, grid: &Grid, room: MapRoom, cx: &mut SheetContext) -> Option<Rect> {
    let palette = Palette::on(ui);
    title_ui(ui, grid, palette);
    let layout = MapLayout::of(ui, grid, room);
    let (rect, _) = ui.allocate_exact_size(layout.size, Sense::hover());
    let heat =
        Heat { origin: rect.min + layout.offset, cell: layout.cell, rows: grid.rows.len(), cols: grid.cols.len() };
    let chosen = grid.head().and_then(|map| query_row(map, cx.view.selection));
    let lit = chosen.map(|row| heat.row_rect(row));
    if room.is_sparing && !ui.is_rect_visible(rect) {
        return lit;
    }
    let response = ui.interact(heat.rect(), ui.id().with("map"), Sense::click());
    paint(ui, grid, &heat, palette);
    if let Some(row) = lit {
        heat.outline(ui.painter(), row, palette.accent);
    }
    if let Some(map) = grid.head() {
        paint_pointed(ui, map, &heat, cx.view.hover, palette);
    }
    names::rows_ui(ui, grid, &heat, rect.left(), chosen, cx.view);
    let names = names::columns_ui(ui, grid, &heat, &layout, palette);
    // A cell that is covered by the column names is not under the pointer.
    let pointer = response.hover_pos().filter(|pointer| pointer.y >= names.bottom());
    let pointed = pointer.and_then(|pointer| heat.at(pointer));
    let led = lead(ui, grid, &heat, &response, &mut cx.state.zoom);
    let told = pointed.or(led).map(|(row, col)| grid.say(row, col));
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(WidgetType::Other, true, grid.name());
        info.current_text_value.clone_from(&told);
        info
    });
    if let Some(cell) = pointed {
        pointed_ui(ui, response, grid, (&heat, cell), cx.view);
    }
    lit
}

fn title_ui(ui: &mut Ui, grid: &Grid, palette: &Palette) {
    let ink = if let Scale::Share { hue, .. } = grid.scale { palette.head(hue) } else { palette.ink };
    let title = RichText::new(&grid.title).font(theme::strong(size::BODY)).color(ink);
    // The map of a head has no copy button of its own, because the maps of all heads are copied together.
    if grid.head().is_some() {
        ui.label(title);
        return;
    }
    ui.horizontal(|ui| {
        ui.label(title);
        copy_button(ui, &format!("{}, for a spreadsheet", grid.title), || grid.table([usize::MAX; 2]).tsv());
    });
}

/// Paints the cells that are in sight.
fn paint(ui: &Ui, grid: &Grid, heat: &Heat, palette: &Palette) {
    let sight = ui.clip_rect();
    let cells = || (0..heat.rows).flat_map(|row| (0..heat.cols).map(move |col| (row, col)));
    let font = heat.number_font(ui.ctx(), || cells().filter_map(|(row, col)| grid.unhidden(row, col)));
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

/// Returns the colour of a cell with this value, which is fainter if the head is switched off.
fn fill(grid: &Grid, value: f32, palette: &Palette) -> Color32 {
    let fill = match grid.scale {
        Scale::Share { hue, .. } => palette.weight(hue, grid.share(value)),
        Scale::Signed { .. } => palette.diverging(grid.share(value)),
    };
    let is_off = grid.head().is_some_and(|map| !map.enabled);
    if is_off { palette.raised.lerp_to_gamma(fill, OFF) } else { fill }
}

/// Marks the target of the pointer, here or elsewhere: a word's row and column, or a pair's cell.
fn paint_pointed(ui: &Ui, map: &HeadMap, heat: &Heat, hover: &Hover, palette: &Palette) {
    let (queries, keys) = sides_of(map);
    let rects = hover.at().into_iter().flat_map(|at| {
        let row = map.row_of(at.position).filter(|_| at.side == queries).map(|row| heat.row_rect(row));
        let col = map.column_of(at.position).filter(|_| at.side == keys).map(|column| heat.col_rect(column));
        row.into_iter().chain(col)
    });
    rects.for_each(|rect| heat.outline(ui.painter(), rect, palette.ink_faint));
    let pair = hover.pair().filter(|pair| pair.head == map.head);
    let cell = pair.and_then(|pair| map.row_of(pair.query).zip(map.column_of(pair.key)));
    if let Some((row, column)) = cell {
        heat.outline(ui.painter(), heat.cell_rect(row, column), palette.ink);
    }
}

/// Handles the keys of a map that has the keyboard focus: arrows go from cell to cell, and plus and minus change the
/// size of the cells. Returns the cell that has the focus.
fn lead(ui: &Ui, grid: &Grid, heat: &Heat, response: &Response, zoom: &mut usize) -> Option<(usize, usize)> {
    let id = response.id.with("cursor");
    let before = ui.data(|data| data.get_temp(id)).unwrap_or((0_usize, 0_usize));
    let mut cursor = (before.0.min(heat.rows.saturating_sub(1)), before.1.min(heat.cols.saturating_sub(1)));
    // A click on a head's map makes the walk follow a pair, so the keyboard stays where it is.
    if response.clicked() && grid.head().is_none() {
        response.request_focus();
        cursor = response.interact_pointer_pos().and_then(|pointer| heat.at(pointer)).unwrap_or(cursor);
    }
    if response.has_focus() {
        cursor = led_by_arrows(ui, response, cursor, heat.rows, heat.cols);
        heat.outline(ui.painter(), heat.cell_rect(cursor.0, cursor.1), Palette::on(ui).accent);
        *zoom = zoomed(ui, *zoom);
    }
    if cursor != before {
        ui.data_mut(|data| data.insert_temp(id, cursor));
        ui.scroll_to_rect(heat.cell_rect(cursor.0, cursor.1), None);
    }
    response.has_focus().then_some(cursor)
}

/// Returns the index of the cells' size in [`ZOOMS`] after the plus and minus keys of this frame.
fn zoomed(ui: &Ui, zoom: usize) -> usize {
    let pressed = |key| usize::from(ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)));
    let larger = pressed(Key::Plus) + pressed(Key::Equals);
    (zoom + larger).saturating_sub(pressed(Key::Minus)).min(ZOOMS.len() - 1)
}

/// Handles the cell under the pointer: a click in a head's map makes the walk follow its pair, a right-click asks for
/// its number's provenance, and a tooltip describes it.
fn pointed_ui(
    ui: &Ui,
    response: Response,
    grid: &Grid,
    (heat, (row, col)): (&Heat, (usize, usize)),
    view: &mut PanelView,
) {
    let mut hint = "Click, then go on with the arrow keys; + and − change the size.";
    if let Some(map) = grid.head() {
        view.hover.point_at_pair(map.pair(row, col));
        if response.clicked() {
            choose(view.selection, map, row, col);
        }
        hint = "Click to follow this pair.";
    } else {
        heat.outline(ui.painter(), heat.cell_rect(row, col), Palette::on(ui).ink);
    }
    let entry = grid.entry(row, col);
    if let Some(entry) = entry {
        ask_on(&response, entry, view.trail);
    }
    let source = match entry {
        Some(_) => ASK_HINT,
        None if grid.head().is_some() => OF_PIECES,
        None => "",
    };
    response.on_hover_ui_at_pointer(|ui| {
        grid.card(row, col).iter().for_each(|text| text_ui(ui, text));
        ui.weak(format!("{hint} {source}"));
    });
}
