//! A group of points drawn as a soft glow: an ellipse in the group's hue, with a thin rim.

use attune_view::view_model::ellipse::{END, Ellipse, LINE, MIDDLE, RIM};
use egui::epaint::PathShape;
use egui::{Color32, Mesh, Painter, Pos2, Rect, Stroke, Vec2};

use crate::theme::size;

/// The number of rings that approximate the glow.
const RINGS: u32 = 8;
/// The number of corners of each ring.
const CORNERS: u32 = 48;
/// The glow of a group of points: its middle, and the half axes of the ellipse at one standard deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct Glow {
    /// The positions of the points.
    pub seen: Vec<Pos2>,
    middle: Pos2,
    axes: [Vec2; 2],
}

impl Glow {
    /// Fits a glow to points; `None` if there are none. The rim is at least `least` away from the middle, so that a
    /// tight group stays visible.
    pub fn of(seen: Vec<Pos2>, least: f32) -> Option<Self> {
        let places: Vec<[f32; 2]> = seen.iter().map(|at| [at.x, at.y]).collect();
        Ellipse::of(&places, least).map(|ellipse| Self { seen, ..Self::around(&ellipse, Pos2::ZERO) })
    }

    /// Makes the glow of an ellipse in a picture whose origin is at `origin`.
    pub fn around(ellipse: &Ellipse, origin: Pos2) -> Self {
        let (along, [long, short]) = (Vec2::angled(ellipse.angle), ellipse.deviations);
        let middle = origin + Vec2::from(ellipse.middle);
        Self { seen: Vec::new(), middle, axes: [along * long, along.rot90() * short] }
    }

    pub fn middle(&self) -> Pos2 {
        self.middle
    }

    /// Returns the larger standard deviation.
    pub fn spread(&self) -> f32 {
        self.axes[0].length()
    }

    fn at(&self, corner: u32, reach: f32) -> Pos2 {
        let turn = Vec2::angled(std::f32::consts::TAU * corner as f32 / CORNERS as f32);
        self.middle + (self.axes[0] * turn.x + self.axes[1] * turn.y) * reach
    }

    /// Returns the bounding rectangle of the rim.
    pub fn rim(&self) -> Rect {
        Rect::from_points(&(0..CORNERS).map(|corner| self.at(corner, RIM)).collect::<Vec<_>>())
    }

    /// Returns whether a position is within the rim.
    pub fn holds(&self, at: Pos2) -> bool {
        let away = at - self.middle;
        let along = |axis: Vec2| away.dot(axis) / axis.length_sq();
        self.axes.map(along).iter().map(|x| x * x).sum::<f32>() <= RIM * RIM
    }

    pub fn paint(&self, painter: &Painter, hue: Color32) {
        let mut mesh = Mesh::default();
        mesh.colored_vertex(self.middle, hue.gamma_multiply(MIDDLE));
        for ring in 1..=RINGS {
            let share = ring as f32 / RINGS as f32;
            // The glow fades out without an edge: value and slope are 0 at its end.
            let color = hue.gamma_multiply(MIDDLE * (1.0 - share * share).powi(2));
            (0..CORNERS).for_each(|corner| mesh.colored_vertex(self.at(corner, share * END), color));
        }
        for corner in 0..CORNERS {
            let [here, next] = [corner, (corner + 1) % CORNERS].map(|corner| 1 + corner);
            mesh.add_triangle(0, here, next);
            for inner in (0..RINGS - 1).map(|ring| ring * CORNERS) {
                let outer = inner + CORNERS;
                mesh.add_triangle(here + inner, next + inner, here + outer);
                mesh.add_triangle(next + inner, here + outer, next + outer);
            }
        }
        painter.add(mesh);
        let rim = (0..CORNERS).map(|corner| self.at(corner, RIM)).collect();
        painter.add(PathShape::closed_line(rim, Stroke::new(size::HAIRLINE, hue.gamma_multiply(LINE))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    #[test]
    fn a_crowd_lies_along_its_points_and_holds_most_of_them() {
        let points: Vec<Pos2> = (-20..=20).map(|i| Pos2::new(300.0 + 4.0 * i as f32, 200.0 + 2.0 * i as f32)).collect();
        let crowd = Glow::of(points.clone(), 30.0).expect("points");
        assert_close("the middle", [crowd.middle.x, crowd.middle.y], [300.0, 200.0], Tolerance::SINGLE_PASS);
        assert_close("the slope", crowd.axes[0].y / crowd.axes[0].x, 0.5, Tolerance::SINGLE_SUMS);
        assert!(points.iter().all(|at| crowd.holds(*at)));
        assert!(!crowd.holds(Pos2::new(300.0, 300.0)));
        assert_eq!(Glow::of(Vec::new(), 30.0), None);
    }
}
