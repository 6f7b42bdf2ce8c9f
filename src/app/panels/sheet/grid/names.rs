//! The names of a map's rows and columns.

use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::PanelView;
use attune_ui::widgets::controls::paint_sink;
use attune_ui::widgets::heat::{Heat, paint_slanted, paint_upright};
use attune_view::sheet::Grid;
use egui::{Align2, Pos2, Rect, Sense, Ui, Vec2};

use super::layout::{MapLayout, ROW_MIN, UPRIGHT_FONT, label};
use super::links::Query;

/// Draws the names of the rows, from `left` on. In a map of a head they are buttons: each chooses its query.
pub fn rows_ui(ui: &mut Ui, grid: &Grid, heat: &Heat, left: f32, chosen: Option<usize>, view: &mut PanelView) {
    let font_size = if heat.cell.y < ROW_MIN { UPRIGHT_FONT } else { size::LABEL };
    for (row, name) in grid.rows.iter().enumerate() {
        let cell = heat.cell_rect(row, 0);
        let at = Pos2::new(cell.left() - size::GAP, cell.center().y);
        let Some(map) = grid.head() else {
            let at = at + Vec2::new(size::GAP_TIGHT, 0.0);
            ui.painter().text(at, Align2::RIGHT_CENTER, label(name), theme::plain(font_size), Palette::on(ui).ink_soft);
            continue;
        };
        let rect = Rect::from_min_max(Pos2::new(left, cell.top()), Pos2::new(cell.left(), cell.bottom()));
        let response = ui.interact(rect, ui.id().with(("query", row)), Sense::click());
        let text = Query { map, row, is_chosen: chosen == Some(row) };
        text.paint(ui, &response, at, font_size);
        text.react(response, &format!(" in {}", map.title.to_lowercase()), "row", view);
    }
}

/// Draws the names of the columns, at the upper edge of what is in sight while their map scrolls under it. Returns
/// their rectangle.
pub fn columns_ui(ui: &Ui, grid: &Grid, heat: &Heat, layout: &MapLayout, palette: &Palette) -> Rect {
    let height = layout.offset.y;
    let own = heat.origin.y - height;
    let last = heat.rect().bottom() - heat.cell.y - height;
    let top = ui.clip_rect().top().min(last).max(own);
    let names =
        Rect::from_min_max(Pos2::new(ui.clip_rect().left(), top), Pos2::new(ui.clip_rect().right(), top + height));
    let painter = ui.painter();
    if top > own {
        painter.rect_filled(names, 0.0, palette.surface);
    }
    let font_size = if layout.is_upright { UPRIGHT_FONT } else { size::LABEL };
    let foot = |col: usize| Pos2::new(heat.cell_rect(0, col).center().x, names.bottom() - size::GAP_TIGHT);
    for (col, name) in grid.cols.iter().enumerate() {
        let galley = painter.layout_no_wrap(label(name), theme::plain(font_size), palette.ink_soft);
        let paint = if layout.is_upright { paint_upright } else { paint_slanted };
        paint(painter, foot(col), galley, palette.ink_soft);
    }
    for mark in &grid.marked {
        paint_sink(painter, Pos2::new(foot(mark.col).x, names.bottom()), palette);
        let rect = Rect::from_center_size(foot(mark.col), Vec2::splat(size::GAP_WIDE));
        ui.interact(rect, ui.id().with(("mark", mark.col)), Sense::hover()).on_hover_text(&mark.about);
    }
    names
}
