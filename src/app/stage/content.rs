//! The points of a scene that home shows, and the pose from which all of them are visible.

use std::sync::Arc;

use bevy::math::Vec3;

use super::view::{DISTANCE, Pose, half_height};

/// Room around the scene at home, horizontally and vertically, for the names of the outermost points, the legend and
/// the caption.
const HOME_MARGIN: (f32, f32) = (1.25, 1.3);

/// The points of a scene that home shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Content(Arc<[Vec3]>);

/// Bounds along the camera's right, up and backward directions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    least: Vec3,
    most: Vec3,
}

impl Content {
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Self {
        Self(points.into_iter().filter(|point| point.is_finite()).collect())
    }

    /// Returns the points of a ball that bound it in home's view: the ends of its diameters to the right, upwards and
    /// backwards.
    pub fn ball(radius: f32) -> Self {
        let pose = Pose::front(false);
        let diameters = [pose.right(), pose.up(), pose.backwards()];
        Self::of(diameters.into_iter().flat_map(|side| [side * radius, side * -radius]))
    }

    /// Returns the range of the points along a direction, in coarse steps so that home does not jitter while training
    /// moves the points.
    fn reach(&self, direction: Vec3) -> (f32, f32) {
        const STEP: f32 = 0.0625;
        /// Largest distance of a bound from the middle, in scene units: from farther away, all points would merge.
        const MOST: f32 = 12.0;
        const SMALLEST: f32 = 0.2;
        let along = self.0.iter().map(|at| at.dot(direction));
        let (least, most) =
            along.fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), x| (least.min(x), most.max(x)));
        let (least, most) = if least <= most { (least, most) } else { (0.0, 0.0) };
        let room = (SMALLEST - (most - least) / 2.0).max(0.0);
        let step = |x: f32, round: fn(f32) -> f32| (round(x / STEP) * STEP).clamp(-MOST, MOST);
        (step(least - room, f32::floor), step(most + room, f32::ceil))
    }

    fn bounds(&self, pose: Pose) -> Bounds {
        let [x, y, z] = [pose.right(), pose.up(), pose.backwards()].map(|direction| self.reach(direction));
        Bounds { least: Vec3::new(x.0, y.0, z.0), most: Vec3::new(x.1, y.1, z.1) }
    }

    /// Returns whether home's view of these points shows the other points too.
    pub fn holds(&self, other: &Self) -> bool {
        const ROUNDING: f32 = 1e-4;
        [false, true].into_iter().all(|is_flat| {
            let [outer, inner] = [self, other].map(|content| content.bounds(Pose::front(is_flat)));
            inner.least.cmpge(outer.least - ROUNDING).all() && inner.most.cmple(outer.most + ROUNDING).all()
        })
    }

    /// Returns the height of the lowest point; `None` if there are no points.
    pub fn lowest(&self) -> Option<f32> {
        self.0.iter().map(|at| at.y).reduce(f32::min)
    }

    /// Returns the largest distance of a point from the middle along the two horizontal axes.
    pub fn widest(&self) -> f32 {
        self.0.iter().flat_map(|at| [at.x.abs(), at.z.abs()]).fold(0.0, f32::max)
    }

    /// Returns half of the diagonal of the points' bounds.
    pub fn half_diagonal(&self) -> f32 {
        let Bounds { least, most } = self.bounds(Pose::front(false));
        ((most - least) / 2.0).length()
    }

    /// Returns the pose of home: the whole scene, as large as the view allows.
    pub fn home(&self, aspect: f32, is_flat: bool) -> Pose {
        self.frame(Pose::front(is_flat), aspect)
    }

    /// Returns the pose that shows the whole scene from the side of `from`, as large as the view allows.
    ///
    /// Let `(x, y, z)` be a point along the camera's right, up and backward directions, and `t` the slope of the line
    /// from the eye to the edge of the view. An eye at `x_0` and depth `d` sees the point if `|x - x_0| <= t (d - z)`.
    /// So `x_0` and the least `d` follow from the largest `x + t z` and the largest `-x + t z` of all points. Without
    /// perspective, `z` has no effect.
    pub fn frame(&self, from: Pose, aspect: f32) -> Pose {
        let half_height = half_height(aspect);
        // Returns the middle of the points along a direction, and the least depth of an eye that sees all of them
        // within the slope.
        let seen = |side: Vec3, slope: f32| {
            let leaning = from.backwards() * (slope * from.perspective);
            let [most, least] = [side, -side].map(|side| self.reach(side + leaning).1);
            ((most - least) / 2.0, (most + least) / 2.0 / slope)
        };
        let (x, across) = seen(from.right(), half_height * aspect.max(f32::EPSILON) / HOME_MARGIN.0);
        let (y, upwards) = seen(from.up(), half_height / HOME_MARGIN.1);
        let (far, near) = self.reach(from.backwards());
        let z = (near + far) / 2.0;
        let distance = across.max(upwards) - z * from.perspective;
        let target = from.right() * x + from.up() * y + from.backwards() * z;
        Pose { target, distance: distance.clamp(DISTANCE.0, DISTANCE.1), ..from }
    }
}
