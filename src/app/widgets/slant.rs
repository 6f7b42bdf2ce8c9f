//! Words on a slant above the columns of a grid, where they are wider than these.

use std::sync::Arc;

use egui::epaint::TextShape;
use egui::{Color32, FontId, Galley, Painter, Pos2, Ui, Vec2};

use crate::app::theme::{self, size};

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
