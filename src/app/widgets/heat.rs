//! The cells of a heat map: where each lies, its fill, its number, and which one the pointer is on; and the words above its
//! columns, on a slant where they are wider than these.

use std::sync::Arc;

use egui::epaint::TextShape;
use egui::{Color32, Context, FontId, Galley, Mesh, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, Vec2};

use crate::app::theme::{self, size};

/// A grid of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heat {
    pub origin: Pos2,
    pub cell: Vec2,
    pub rows: usize,
    pub cols: usize,
}

impl Heat {
    pub fn size(&self) -> Vec2 {
        Vec2::new(self.cols as f32, self.rows as f32) * self.cell
    }

    pub fn rect(&self) -> Rect {
        Rect::from_min_size(self.origin, self.size())
    }

    pub fn cell_rect(&self, row: usize, col: usize) -> Rect {
        let min = self.origin + Vec2::new(col as f32, row as f32) * self.cell;
        Rect::from_min_size(min, self.cell)
    }

    pub fn row_rect(&self, row: usize) -> Rect {
        self.cell_rect(row, 0).union(self.cell_rect(row, self.cols.saturating_sub(1)))
    }

    pub fn col_rect(&self, col: usize) -> Rect {
        self.cell_rect(0, col).union(self.cell_rect(self.rows.saturating_sub(1), col))
    }

    /// All cells without gaps, as one shape.
    pub fn mesh(&self, fill: impl Fn(usize, usize) -> Color32) -> Shape {
        let mut mesh = Mesh::default();
        for (row, col) in (0..self.rows).flat_map(|row| (0..self.cols).map(move |col| (row, col))) {
            mesh.add_colored_rect(self.cell_rect(row, col), fill(row, col));
        }
        Shape::mesh(mesh)
    }

    /// Row and column under `pointer`.
    pub fn at(&self, pointer: Pos2) -> Option<(usize, usize)> {
        if !self.rect().contains(pointer) {
            return None;
        }
        let offset = (pointer - self.origin) / self.cell;
        let (row, col) = (offset.y as usize, offset.x as usize);
        (row < self.rows && col < self.cols).then_some((row, col))
    }

    pub fn paint_cell(&self, painter: &Painter, row: usize, col: usize, fill: Color32) {
        let least = self.cell.min_elem();
        // The smallest cells touch: gaps and corners would be all that is seen of them.
        let (gap, radius) = if least > size::CELL_MIN {
            (size::HAIRLINE / 2.0, size::RADIUS_SMALL.min(least as u8 / 4))
        } else {
            (0.0, 0)
        };
        painter.rect_filled(self.cell_rect(row, col).shrink(gap), radius, fill);
    }

    /// The font in which all of these numbers fit in their cells: a map shows every number, or none. Where everything
    /// is zoomed, the numbers become smaller beside the rest rather than vanish, but never on the screen.
    pub fn number_font<I: Iterator<Item = f32>>(&self, ctx: &Context, values: impl FnOnce() -> I) -> Option<FontId> {
        /// Characters of `.00`. Where these have no room, not one of many numbers is written to be measured.
        const NARROWEST: usize = 3;
        number_size(self.cell.x, NARROWEST, ctx.zoom_factor())?;
        let widest = values().map(|value| short(value).chars().count()).max().unwrap_or(0);
        number_size(self.cell.x, widest, ctx.zoom_factor()).map(theme::mono)
    }

    pub fn paint_number(&self, painter: &Painter, row: usize, col: usize, value: f32, font: &FontId, ink: Color32) {
        let center = self.cell_rect(row, col).center();
        painter.text(center, egui::Align2::CENTER_CENTER, short(value), font.clone(), ink);
    }

    pub fn outline(&self, painter: &Painter, rect: Rect, color: Color32) {
        painter.rect_stroke(rect, f32::from(size::RADIUS_SMALL), Stroke::new(size::OUTLINE, color), StrokeKind::Inside);
    }
}

/// The size of numbers of so many characters in a cell, in points; `None` if they have no room.
fn number_size(cell: f32, characters: usize, zoom: f32) -> Option<f32> {
    let room = cell / characters.max(1) as f32 / size::CELL_DIGIT * size::CELL_NUMBER;
    (room >= size::CELL_NUMBER / zoom.max(1.0)).then_some(room.min(size::CELL_NUMBER_MAX))
}

/// `.62` or `-.62`: two decimals without the zero before the point, so that they fit in a cell.
pub fn short(value: f32) -> String {
    format!("{value:.2}").replacen("0.", ".", usize::from(value.abs() < 1.0))
}

const SLANT: f32 = -std::f32::consts::FRAC_PI_4;
const UPRIGHT: f32 = -std::f32::consts::FRAC_PI_2;

/// How high words of this width reach, and how far to the right.
pub fn reach(width: f32) -> Vec2 {
    Vec2::new(width * SLANT.cos(), width * SLANT.sin().abs())
}

/// The middle of the words' left edge stands at `foot`.
pub fn paint_slanted(painter: &Painter, foot: Pos2, galley: Arc<Galley>, ink: Color32) {
    paint_turned(painter, foot, galley, ink, SLANT);
}

/// The same straight up, where columns are too narrow for words on a slant.
pub fn paint_upright(painter: &Painter, foot: Pos2, galley: Arc<Galley>, ink: Color32) {
    paint_turned(painter, foot, galley, ink, UPRIGHT);
}

fn paint_turned(painter: &Painter, foot: Pos2, galley: Arc<Galley>, ink: Color32, angle: f32) {
    let height = galley.size().y;
    let corner = foot + Vec2::new(height / 2.0 * angle.sin(), -height / 2.0 * angle.cos());
    painter.add(TextShape::new(corner, galley, ink).with_angle(angle));
}

/// The width of a label, in points.
pub fn text_width(ui: &Ui, text: &str) -> f32 {
    width_of(ui, text, theme::plain(size::LABEL))
}

/// The width of a text in a font, in points.
pub fn width_of(ui: &Ui, text: &str, font: FontId) -> f32 {
    ui.painter().layout_no_wrap(text.to_owned(), font, ui.visuals().text_color()).size().x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0.617, -0.617, 0.0, 1.0, -12.345, 0.999, 10.0].map(short);
        assert_eq!(shown, [".62", "-.62", ".00", "1.00", "-12.35", "1.00", "10.00"]);
    }

    #[test]
    fn numbers_stay_when_everything_is_zoomed() {
        let cell = size::CELL_WITH_NUMBER;
        let number = number_size(cell, 3, 1.0).expect("room");
        assert!((size::CELL_NUMBER..=size::CELL_NUMBER_MAX).contains(&number), "{number}");
        assert!(3.0 * number * size::CELL_DIGIT / size::CELL_NUMBER <= cell + 1e-3, "three digits fit");
        assert_eq!(number_size(size::CELL_MAX, 3, 1.0), Some(size::CELL_NUMBER_MAX));
        assert_eq!(number_size(cell, 4, 1.0), None);
        for zoom in [1.1, 1.5, 2.0] {
            let on_screen = number_size(cell / zoom, 3, zoom).expect("room") * zoom;
            assert!(on_screen >= size::CELL_NUMBER, "{zoom}: {on_screen}");
        }
    }

    #[test]
    fn the_pointer_finds_the_cell_whose_rectangle_it_is_in() {
        let heat = Heat { origin: Pos2::new(10.0, 20.0), cell: Vec2::new(24.0, 16.0), rows: 3, cols: 5 };
        for row in 0..3 {
            for col in 0..5 {
                assert_eq!(heat.at(heat.cell_rect(row, col).center()), Some((row, col)));
            }
        }
        assert_eq!(heat.at(Pos2::new(9.0, 20.0)), None);
        assert_eq!(heat.at(heat.rect().max + Vec2::splat(1.0)), None);
    }
}
