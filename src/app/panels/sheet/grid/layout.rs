//! The size of maps: how many stand side by side, and how large their cells and the room for their names are.

use attune_engine::messages::cut;
use attune_ui::theme::{self, size};
use attune_ui::widgets::heat::{reach, width_of};
use attune_view::sheet::Grid;
use egui::{Ui, Vec2};

/// The least height of a row, in points, if all maps can then be visible at once.
const ROW_LEAST: f32 = 13.0;
/// The least height of a row otherwise; rows of this height have room for names of the full size.
pub const ROW_MIN: f32 = 16.0;
/// The column width, in points, below which the names are upright, because slanted ones would cover each other.
const UPRIGHT_BELOW: f32 = 19.0;
/// The font size of upright names and of the names of low rows, in points.
pub const UPRIGHT_FONT: f32 = 11.5;
/// The height of the title above a map, in points.
const TITLE: f32 = 25.0;
/// The most letters of a name that are shown; the tooltip of a cell has the whole name.
const LETTERS: usize = 25;

/// The room for a map, and how it is drawn.
#[derive(Clone, Copy)]
pub struct MapRoom {
    /// The height of a map at which all rows of maps are visible at once.
    pub height: f32,
    pub zoom: f32,
    /// Whether maps out of sight are not drawn, because there are many.
    pub is_sparing: bool,
}

/// The size of a map with its names, the offset of its cells, and the size of a cell.
pub struct MapLayout {
    pub size: Vec2,
    pub offset: Vec2,
    pub cell: Vec2,
    /// Whether the names of the columns are upright instead of slanted.
    pub is_upright: bool,
}

/// Returns the name of a row or a column, shortened to `LETTERS` letters.
pub fn label(name: &str) -> String {
    cut(name, LETTERS)
}

fn label_width(ui: &Ui, name: &str) -> f32 {
    width_of(ui, &label(name), theme::plain(size::LABEL))
}

fn widest<'a>(ui: &Ui, names: impl IntoIterator<Item = &'a String>) -> f32 {
    names.into_iter().map(|name| label_width(ui, name)).fold(0.0, f32::max)
}

impl MapLayout {
    pub fn of(ui: &Ui, grid: &Grid, MapRoom { height: all_in, zoom, .. }: MapRoom) -> Self {
        let (left, keys) = (widest(ui, &*grid.rows) + size::GAP, widest(ui, &*grid.cols));
        let [rows, count] = [&grid.rows, &grid.cols].map(|names| names.len().max(1) as f32);
        let whole = ui.clip_rect().width().min(ui.available_width()) - left;
        // The last column's name leans out to the right.
        let lean = grid.cols.last().map_or(0.0, |name| reach(label_width(ui, name)).x);
        let is_upright = (whole - lean) / count * zoom < UPRIGHT_BELOW;
        let (lean, height) = if is_upright {
            (0.0, keys * UPRIGHT_FONT / size::LABEL + size::GAP)
        } else {
            (lean, reach(keys).y + size::LABEL)
        };
        let room = whole - lean;
        let wide = ((room / count).clamp(size::CELL_MIN, size::CELL_MAX) * zoom).floor();
        // Cells may be lower than they are wide, so that all maps are visible at once, or else at least all rows of
        // this map.
        let low = |whole: f32| ((whole - height - TITLE) / rows).floor();
        let low = match low(all_in) {
            low if low >= ROW_LEAST => low,
            _ => low(ui.clip_rect().height()).max(ROW_MIN),
        };
        let cell = Vec2::new(wide, if zoom > 1.0 { wide } else { low.min(wide) });
        Self {
            size: Vec2::new(left + count * cell.x + lean, height + rows * cell.y),
            offset: Vec2::new(left, height),
            cell,
            is_upright,
        }
    }
}

/// Returns the number of maps side by side: as many as fit with a number in every cell, or more if only this makes all
/// of them visible at once.
pub fn maps_beside(ui: &Ui, grids: &[Grid]) -> usize {
    let most = |of: &dyn Fn(&Grid) -> usize| grids.iter().map(of).max().unwrap_or(0) as f32;
    let rows_widest = widest(ui, grids.iter().flat_map(|grid| &*grid.rows));
    let cols_widest = widest(ui, grids.iter().flat_map(|grid| &*grid.cols));
    let [rows, columns] = [most(&|grid| grid.rows.len()), most(&|grid| grid.cols.len())];
    let gap = ui.spacing().item_spacing.x;
    let fit = |width: f32| (((ui.available_width() + gap) / (width + gap)) as usize).clamp(1, grids.len().max(1));
    let numbered = fit(rows_widest + size::GAP + columns * size::CELL_WITH_NUMBER + reach(cols_widest).x);
    let upright = cols_widest * UPRIGHT_FONT / size::LABEL + size::GAP;
    let least = TITLE + upright + rows * ROW_LEAST;
    let all_in_sight = |beside: &usize| {
        let under = grids.len().div_ceil(*beside) as f32;
        under * least + (under - 1.0) * size::GAP_WIDE <= ui.clip_rect().height()
    };
    let narrow = fit(rows_widest + size::GAP + columns * size::CELL_MIN);
    (numbered..=narrow).find(all_in_sight).unwrap_or(numbered)
}
