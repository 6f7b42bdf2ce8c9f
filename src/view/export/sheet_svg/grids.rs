//! Grids in a vector picture: maps side by side with their names and numbers, and small maps in rows and columns.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use attune_engine::messages::cut;

use super::{Drawing, FONT_SIZE, GAP, LETTER, MARGIN, NAME_MAX, colour, rgb, width, words};
use crate::sheet::grid::{SPREAD, short};
use crate::sheet::{Grid, Grids, Scale, Tile, Tiles};
use crate::view_model::output::full;

/// The largest number of map cells in a picture, because programs cannot open much larger files.
const CELLS_MAX: usize = 400_000;
/// The largest number of rows, and of columns, of a map that are drawn.
const SIDE_MAX: usize = 256;
/// The number of hues for heads in the palette.
const HUES: usize = 6;
/// The sides of a cell, each with the largest number of columns for which it is used before it.
const SIDES: [(usize, f32); 4] = [(14, 28.0), (24, 20.0), (64, 10.0), (SIDE_MAX, 4.0)];
/// The least side of a cell in which its number is written.
const NUMBERED: f32 = 28.0;
const NUMBER_SIZE: f32 = 10.0;
/// The side of a small map, the room below it for its number, and the height of its bar.
const TILE: f32 = 60.0;
const FOOT: f32 = 18.0;
const BAR: f32 = 3.0;

/// The number of cells for which a picture still has room.
pub struct Cells {
    left: usize,
}

impl Default for Cells {
    fn default() -> Self {
        Self { left: CELLS_MAX }
    }
}

impl Cells {
    /// Reserves room for the cells of a grid; returns `false` if there is not enough.
    fn take(&mut self, cells: usize) -> bool {
        let is_enough = cells <= self.left;
        self.left -= if is_enough { cells } else { 0 };
        is_enough
    }
}

/// The numbers of rows and columns of a grid that are drawn, and the sizes of the parts of the drawing.
struct GridPlan {
    rows: usize,
    cols: usize,
    cell: f32,
    /// The room for the names of the rows, for the names of the columns, and for the slanted name of the last column.
    left: f32,
    top: f32,
    lean: f32,
}

impl GridPlan {
    fn of(grid: &Grid) -> Self {
        let (rows, cols) = (grid.rows.len().min(SIDE_MAX), grid.cols.len().min(SIDE_MAX));
        let side = SIDES.into_iter().find(|(most, _)| cols <= *most);
        let cell = side.map_or(SIDES[SIDES.len() - 1].1, |(_, side)| side);
        let longest =
            |names: &[String]| names.iter().map(|name| width(&cut(name, NAME_MAX), FONT_SIZE)).fold(0.0, f32::max);
        // The names of columns are slanted by 45 degrees.
        let reach = longest(&grid.cols[..cols]) * std::f32::consts::FRAC_1_SQRT_2;
        let last = grid.cols[..cols].last().map_or(0.0, |name| width(&cut(name, NAME_MAX), FONT_SIZE));
        Self {
            rows,
            cols,
            cell,
            left: longest(&grid.rows[..rows]) + GAP / 2.0,
            top: reach + FONT_SIZE + GAP / 2.0,
            lean: last * std::f32::consts::FRAC_1_SQRT_2,
        }
    }

    fn width(&self, title: &str) -> f32 {
        let map = self.left + self.cols as f32 * self.cell + self.lean;
        map.max(width(&cut(title, 2 * NAME_MAX), FONT_SIZE))
    }

    fn height(&self) -> f32 {
        FONT_SIZE + self.top + self.rows as f32 * self.cell
    }
}

impl Drawing {
    /// Draws maps side by side as far as they fit, followed by the meaning of their colours.
    pub(super) fn grids(&mut self, Grids { grids, legend, .. }: &Grids) {
        let (mut x, mut row_height, mut left_out) = (0.0, 0.0_f32, 0);
        for grid in grids {
            let plan = GridPlan::of(grid);
            if !self.cells.take(plan.rows * plan.cols) {
                left_out += 1;
                continue;
            }
            let (wide, high) = (plan.width(&grid.title), plan.height());
            if x > 0.0 && x + wide > self.width {
                self.y += row_height + 2.0 * GAP;
                (x, row_height) = (0.0, 0.0);
            }
            self.grid(grid, &plan, MARGIN + x);
            self.width = self.width.max(x + wide);
            x += wide + 2.0 * GAP;
            row_height = row_height.max(high);
        }
        self.y += row_height + GAP;
        if let Some(grid) = grids.first() {
            self.legend(grid.scale);
        }
        self.paragraph(legend, "ink-soft", "");
        self.say_left_out(grids, left_out);
    }

    fn say_left_out(&mut self, grids: &[Grid], left_out: usize) {
        let is_cut = |grid: &&Grid| grid.rows.len().max(grid.cols.len()) > SIDE_MAX;
        if grids.iter().any(|grid| is_cut(&grid)) {
            self.paragraph(&format!("Of each map, the first {SIDE_MAX} rows and columns are drawn."), "ink-soft", "");
        }
        if left_out > 0 {
            let words = format!(
                "{left_out} of {} maps are left out, because a picture has at most {CELLS_MAX} cells.",
                grids.len()
            );
            self.paragraph(&words, "ink-soft", "");
        }
    }

    fn grid(&mut self, grid: &Grid, plan: &GridPlan, x: f32) {
        let (title, ink) = (words(&grid.title, 2 * NAME_MAX), title_colour(grid.scale));
        let y = self.y + FONT_SIZE;
        let size = format!("{} rows, {} columns", grid.rows.len(), grid.cols.len());
        let _ = write!(
            self.body,
            "<g role=\"img\" aria-label=\"{title}: {size}\"><text x=\"{x:.1}\" y=\"{y:.1}\" font-weight=\"bold\" fill=\"{ink}\">{title}</text>\
             <g transform=\"translate({:.1} {:.1})\">",
            x + plan.left,
            y + plan.top,
        );
        self.names(grid, plan);
        cells(&mut self.body, grid, [plan.rows, plan.cols], plan.cell);
        if plan.cell >= NUMBERED {
            self.numbers(grid, plan);
        }
        self.body.push_str("</g></g>");
    }

    /// Writes the names of rows and columns, or only every second or third one if the cells are so small that the names
    /// would overlap.
    fn names(&mut self, grid: &Grid, plan: &GridPlan) {
        let every = (FONT_SIZE / plan.cell).ceil().max(1.0) as usize;
        let ink = colour("ink-soft");
        let _ = write!(self.body, "<g fill=\"{ink}\" text-anchor=\"end\">");
        for (row, name) in grid.rows[..plan.rows].iter().enumerate().step_by(every) {
            let y = (row as f32 + 0.5) * plan.cell + FONT_SIZE / 3.0;
            let _ = write!(self.body, "<text x=\"{}\" y=\"{y:.1}\">{}</text>", -GAP / 2.0, words(name, NAME_MAX));
        }
        let _ = write!(self.body, "</g><g fill=\"{ink}\">");
        for (col, name) in grid.cols[..plan.cols].iter().enumerate().step_by(every) {
            let x = (col as f32 + 0.5) * plan.cell + FONT_SIZE / 3.0;
            let y = -GAP / 2.0;
            let sink = if grid.marked.iter().any(|mark| mark.col == col) { "▾ " } else { "" };
            let _ = write!(
                self.body,
                "<text transform=\"translate({x:.1} {y}) rotate(-45)\">{sink}{}</text>",
                words(name, NAME_MAX)
            );
        }
        self.body.push_str("</g>");
    }

    /// Writes the numbers as the window does, each with all of its digits as its title.
    fn numbers(&mut self, grid: &Grid, plan: &GridPlan) {
        self.body.push_str("<g text-anchor=\"middle\">");
        let ramp = Ramp::of(grid.scale);
        for (row, col) in (0..plan.rows).flat_map(|row| (0..plan.cols).map(move |col| (row, col))) {
            let Some(value) = grid.value(row, col) else { continue };
            let (x, y) = ((col as f32 + 0.5) * plan.cell, (row as f32 + 0.5) * plan.cell + NUMBER_SIZE / 3.0);
            let (shown, ink) = (short(value), ink_on(ramp.colour(grid.share(value))));
            // A number that is wider than its cell is written in a smaller size.
            let size = NUMBER_SIZE.min(plan.cell / (shown.chars().count() as f32 * LETTER));
            let _ = write!(
                self.body,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size:.1}\" fill=\"{ink}\">{shown}<title>{}</title></text>",
                full(f64::from(value))
            );
        }
        self.body.push_str("</g>");
    }

    /// Draws the colours of a scale, from the least number to the largest.
    fn legend(&mut self, scale: Scale) {
        const STEPS: usize = 9;
        const STEP: f32 = 16.0;
        let ramp = Ramp::of(scale);
        let from = if ramp.is_signed { -1.0 } else { 0.0 };
        let (y, ink) = (self.y, colour("ink-soft"));
        let ends = match scale {
            Scale::Signed { .. } => ["−largest", "largest"],
            Scale::Share { full: 1.0, .. } => ["0", "1"],
            Scale::Share { .. } => ["0", "largest"],
        };
        let label = width(ends[0], FONT_SIZE) + GAP / 2.0;
        let _ = write!(
            self.body,
            "<g fill=\"{ink}\"><text x=\"{MARGIN}\" y=\"{:.1}\">{}</text>",
            y + FONT_SIZE - 2.0,
            ends[0]
        );
        for step in 0..STEPS {
            let share = from + (1.0 - from) * step as f32 / (STEPS - 1) as f32;
            let (x, fill) = (MARGIN + label + step as f32 * STEP, hex(ramp.colour(share)));
            let _ = write!(
                self.body,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{STEP}\" height=\"{FONT_SIZE}\" fill=\"{fill}\"/>"
            );
        }
        let x = MARGIN + label + STEPS as f32 * STEP + GAP / 2.0;
        let _ = write!(self.body, "<text x=\"{x:.1}\" y=\"{:.1}\">{}</text></g>", y + FONT_SIZE - 2.0, ends[1]);
        self.y += FONT_SIZE + GAP / 2.0;
    }

    /// Draws small maps, each with a number and a bar.
    pub(super) fn tiles(&mut self, tiles: &Tiles) {
        let gutter = tiles.rows.iter().map(|name| width(&cut(name, NAME_MAX), FONT_SIZE)).fold(0.0, f32::max) + GAP;
        let ink = colour("ink-soft");
        for (col, name) in tiles.cols.iter().enumerate() {
            let (x, y) = (MARGIN + gutter + (col as f32 + 0.5) * (TILE + GAP) - GAP / 2.0, self.y + FONT_SIZE);
            let name = words(name, NAME_MAX);
            let _ = write!(
                self.body,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{name}</text>"
            );
        }
        self.y += FONT_SIZE + GAP / 2.0;
        for (row, name) in tiles.rows.iter().enumerate() {
            let (y, name) = (self.y + row as f32 * (TILE + FOOT + GAP) + TILE / 2.0, words(name, NAME_MAX));
            let _ = write!(self.body, "<text x=\"{MARGIN}\" y=\"{y:.1}\" fill=\"{ink}\">{name}</text>");
        }
        let mut left_out = 0;
        for tile in &tiles.tiles {
            let grid = tiles.grid(tile);
            let is_drawn = self.cells.take(grid.rows.len() * grid.cols.len());
            left_out += usize::from(!is_drawn);
            self.tile(tile, &grid, gutter, is_drawn);
        }
        let rows = tiles.tiles.iter().map(|tile| tile.at[0] + 1).max().unwrap_or(0);
        self.width = self.width.max(gutter + tiles.cols.len() as f32 * (TILE + GAP));
        self.y += rows as f32 * (TILE + FOOT + GAP) + GAP;
        self.paragraph(&tiles.legend, "ink-soft", "");
        if left_out > 0 {
            let words = format!("{left_out} maps are not drawn, because a picture has at most {CELLS_MAX} cells.");
            self.paragraph(&words, "ink-soft", "");
        }
    }

    fn tile(&mut self, tile: &Tile, grid: &Grid, gutter: f32, is_drawn: bool) {
        let Tile { at: [row, col], number, share, rank, .. } = tile;
        let x = MARGIN + gutter + *col as f32 * (TILE + GAP);
        let y = self.y + *row as f32 * (TILE + FOOT + GAP);
        let title = words(&grid.title, 2 * NAME_MAX);
        let (line, ink) = (colour("line"), colour("ink-soft"));
        let _ = write!(
            self.body,
            "<g transform=\"translate({x:.1} {y:.1})\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>\
             <rect width=\"{TILE}\" height=\"{TILE}\" fill=\"{}\" stroke=\"{line}\"/>",
            hex(Ramp::of(grid.scale).colour(0.0))
        );
        let side = grid.rows.len().max(grid.cols.len()).max(1);
        if is_drawn {
            let scale = TILE / side as f32;
            let _ = write!(self.body, "<g transform=\"scale({scale:.4})\">");
            cells(&mut self.body, grid, [grid.rows.len(), grid.cols.len()], 1.0);
            self.body.push_str("</g>");
        }
        let _ = write!(
            self.body,
            "<rect y=\"{:.1}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{ink}\"/>",
            TILE + 2.0,
            TILE * share
        );
        if let Some(number) = number {
            let (rank, at) = (rank.map_or(String::new(), |rank| format!(" ({rank})")), TILE + FOOT - 1.0);
            let _ = write!(
                self.body,
                "<text x=\"{}\" y=\"{at}\" font-size=\"{NUMBER_SIZE}\" text-anchor=\"middle\" fill=\"{ink}\">{}{rank}</text>",
                TILE / 2.0,
                short(*number)
            );
        }
        self.body.push_str("</g>");
    }
}

/// Writes the cells of a grid, as one path for each colour.
fn cells(body: &mut String, grid: &Grid, [rows, cols]: [usize; 2], cell: f32) {
    /// The gap between cells, unless they are too small for it.
    const BETWEEN: f32 = 1.0;
    let side = if cell > 2.0 * BETWEEN { cell - BETWEEN } else { cell };
    let ramp = Ramp::of(grid.scale);
    let mut paths: BTreeMap<[u8; 3], String> = BTreeMap::new();
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
        let Some(value) = grid.value(row, col) else { continue };
        let (x, y) = (col as f32 * cell, row as f32 * cell);
        let path = paths.entry(ramp.colour(grid.share(value))).or_default();
        let _ = write!(path, "M{x} {y}h{side}v{side}h-{side}z");
    }
    for (fill, path) in paths {
        let _ = write!(body, "<path fill=\"{}\" d=\"{path}\"/>", hex(fill));
    }
}

/// The colours of a scale, as in the window.
struct Ramp {
    ground: [u8; 3],
    /// The colours of the least number and of the largest one; both are the same if the scale has no negative numbers.
    ends: [[u8; 3]; 2],
    is_signed: bool,
}

impl Ramp {
    fn of(scale: Scale) -> Self {
        let (ends, is_signed) = match scale {
            Scale::Share { hue, .. } => ([rgb(&format!("head-{}", hue % HUES)); 2], false),
            Scale::Signed { .. } => ([rgb("negative"), rgb("positive")], true),
        };
        Self { ground: rgb("raised"), ends, is_signed }
    }

    fn colour(&self, share: f32) -> [u8; 3] {
        let end = self.ends[usize::from(share >= 0.0)];
        let by = if self.is_signed { share.abs().min(1.0) } else { share.clamp(0.0, 1.0).powf(SPREAD) };
        let by = if by.is_finite() { by } else { 0.0 };
        std::array::from_fn(|at| {
            let (from, to) = (f32::from(self.ground[at]), f32::from(end[at]));
            (from + (to - from) * by).round() as u8
        })
    }
}

fn title_colour(scale: Scale) -> &'static str {
    match scale {
        Scale::Share { hue, .. } => colour(&format!("head-{}", hue % HUES)),
        Scale::Signed { .. } => colour("ink"),
    }
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Returns the colour of letters that can be read on a background of this colour.
fn ink_on([red, green, blue]: [u8; 3]) -> &'static str {
    /// The lightness below which white letters have the greater contrast.
    const DARK: f32 = 150.0;
    let light = 0.299 * f32::from(red) + 0.587 * f32::from(green) + 0.114 * f32::from(blue);
    if light < DARK { "#ffffff" } else { colour("ink") }
}
