//! An arrow in a flat picture.

use egui::{Color32, Painter, Pos2, Shape, Stroke};

/// The width of an arrow's line, in points.
const LINE: f32 = 2.0;
/// The length of an arrow's head, in points.
const HEAD: f32 = 6.0;

/// Draws an arrow, unless it is shorter than a point.
pub fn arrow(painter: &Painter, from: Pos2, to: Pos2, ink: Color32) {
    let along = to - from;
    let length = along.length();
    if length < 1.0 {
        return;
    }
    let direction = along / length;
    let head = HEAD.min(length);
    let foot = to - direction * head;
    let across = direction.rot90() * head / 2.0;
    painter.line_segment([from, foot], Stroke::new(LINE, ink));
    painter.add(Shape::convex_polygon(vec![to, foot + across, foot - across], ink, Stroke::NONE));
}
