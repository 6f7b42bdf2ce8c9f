//! The camera's pose and its projection, which shader, labels and picking share.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use bevy::math::{Mat4, Vec2, Vec3, Vec4};

const FIELD_OF_VIEW: f32 = 40.0 * PI / 180.0;

/// Returns half of the visible height at distance 1. If a view is taller than wide, the field of view is its horizontal
/// angle.
pub fn half_height(aspect: f32) -> f32 {
    (FIELD_OF_VIEW / 2.0).tan() / aspect.clamp(f32::EPSILON, 1.0)
}

pub const HOME_YAW: f32 = 0.42;
pub const HOME_PITCH: f32 = 0.26;
/// Greatest pitch: nearer to the pole no pixel would differ, and the up direction would be undefined.
pub const PITCH_LIMIT: f32 = FRAC_PI_2 - 1e-4;
/// Radius of a framed ball's picture, in radii of the ball: some room is left around it.
const BALL_MARGIN: f32 = 1.02;
pub const DISTANCE: (f32, f32) = (0.08, 40.0);
/// Yaw and pitch from which the camera looks along each axis, from its positive side and from its negative side.
pub const ALONG: [[(f32, f32); 2]; 3] =
    [[(FRAC_PI_2, 0.0), (-FRAC_PI_2, 0.0)], [(0.0, PITCH_LIMIT), (0.0, -PITCH_LIMIT)], [(0.0, 0.0), (PI, 0.0)]];

/// Yaw and pitch of the 2D view, which looks along the third axis.
pub const FLAT: (f32, f32) = ALONG[2][0];
/// Distance of the near clipping plane, as a share of the distance to the target.
const NEAR_SHARE: f32 = 0.02;
/// Depth behind the target beyond which nothing is drawn; in 2D also in front of it.
const FAR: f32 = 200.0;
/// Limits of the factor by which depth shrinks or enlarges a disc, as in the shader.
const RADIUS_LIMITS: (f32, f32) = (0.62, 1.7);

/// The camera's target, and its direction, distance and perspective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub target: Vec3,
    pub yaw: f32,
    pub pitch: f32,
    pub distance: f32,
    /// Strength of perspective: 1 in 3D, 0 in 2D, and in between during a switch.
    pub perspective: f32,
}

impl Pose {
    /// Returns the pose from which home looks at the origin: from slightly above in 3D, from the front in 2D.
    pub fn front(is_flat: bool) -> Pose {
        let ((yaw, pitch), perspective) = if is_flat { (FLAT, 0.0) } else { ((HOME_YAW, HOME_PITCH), 1.0) };
        Pose { target: Vec3::ZERO, yaw, pitch, distance: 1.0, perspective }
    }

    /// Returns a pose from the same side, so near that a ball of radius `reach` around `middle` fills the view.
    pub fn around(self, middle: Vec3, reach: f32) -> Pose {
        let distance = reach * BALL_MARGIN / (FIELD_OF_VIEW / 2.0).sin();
        Pose { target: middle, distance: distance.clamp(DISTANCE.0, DISTANCE.1), ..self }
    }

    pub fn lerp(self, other: Pose, share: f32) -> Pose {
        Pose {
            target: self.target.lerp(other.target, share),
            yaw: self.yaw + (other.yaw - self.yaw) * share,
            pitch: self.pitch + (other.pitch - self.pitch) * share,
            distance: self.distance + (other.distance - self.distance) * share,
            perspective: self.perspective + (other.perspective - self.perspective) * share,
        }
    }

    /// Returns the pose turned to a yaw and pitch, in the direction of the smaller angle.
    pub fn turned(self, (yaw, pitch): (f32, f32)) -> Pose {
        let turns = ((self.yaw - yaw) / TAU).round() * TAU;
        Pose { yaw: yaw + turns, pitch, ..self }
    }

    pub fn backwards(self) -> Vec3 {
        Vec3::new(self.yaw.sin() * self.pitch.cos(), self.pitch.sin(), self.yaw.cos() * self.pitch.cos())
    }

    pub fn eye(self) -> Vec3 {
        self.target + self.backwards() * self.distance
    }

    pub fn right(self) -> Vec3 {
        Vec3::new(self.yaw.cos(), 0.0, -self.yaw.sin())
    }

    pub fn up(self) -> Vec3 {
        self.backwards().cross(self.right())
    }
}

/// The projection of a pose onto a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    pub clip_from_world: Mat4,
    /// Size of the view, in points.
    pub size: Vec2,
    /// Least divisor of a visible point.
    pub near: f32,
    /// Distance from the eye to the target.
    pub distance: f32,
    pub extent: f32,
    /// Strength of perspective: 1 in 3D, 0 in 2D.
    pub perspective: f32,
    /// Row vector whose product with a point is the point's depth.
    depth_of: Vec4,
}

/// A point on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Position in points from the top left corner of the view.
    pub at: Vec2,
    /// Distance from the eye along the view's axis, in scene units.
    pub depth: f32,
    /// Divisor of lengths in the projection: the depth, or in 2D the target's depth for all points.
    pub divisor: f32,
}

impl View {
    /// Returns the projection of a pose, for a scene of the given extent.
    pub fn of(pose: Pose, size: Vec2, extent: f32) -> View {
        let size = size.max(Vec2::ONE);
        let Pose { distance, perspective, .. } = pose;
        let eye = pose.eye();
        let along = |direction: Vec3| direction.extend(-direction.dot(eye));
        let [right, up, depth] = [pose.right(), pose.up(), -pose.backwards()].map(along);
        // With growing perspective, the divisor changes from the target's depth, the same for all points, to each
        // point's own.
        let constant = (1.0 - perspective) * distance;
        let divisor = depth * perspective + Vec4::W * constant;
        let least = NEAR_SHARE * distance;
        let far = distance + FAR;
        let behind = distance - FAR;
        let near = if perspective > 0.0 { ((least - constant) / perspective).max(behind) } else { behind };
        let scale = (constant + perspective * far) / (far - near);
        let z = depth * scale - Vec4::W * (scale * near);
        let aspect = size.x / size.y;
        let half = half_height(aspect);
        let rows = Mat4::from_cols(right / (aspect * half), up / half, z, divisor);
        View { clip_from_world: rows.transpose(), size, near: least, distance, extent, perspective, depth_of: depth }
    }

    /// Returns the projection onto a picture of `whole` points in which this view lies at `min`; the scene continues
    /// beyond the view's edges.
    pub fn within(self, whole: Vec2, min: Vec2) -> View {
        let whole = whole.max(Vec2::ONE);
        let scale = self.size / whole;
        let moved = (self.size + 2.0 * min) / whole - 1.0;
        let rows = self.clip_from_world.transpose();
        let (x, y) = (rows.x_axis * scale.x + rows.w_axis * moved.x, rows.y_axis * scale.y - rows.w_axis * moved.y);
        let clip_from_world = Mat4::from_cols(x, y, rows.z_axis, rows.w_axis).transpose();
        View { clip_from_world, size: whole, ..self }
    }

    /// Projects a point, or returns `None` if it is behind the camera or its place on the screen is not finite.
    pub fn project(&self, point: Vec3) -> Option<Seen> {
        let clip: Vec4 = self.clip_from_world * point.extend(1.0);
        let at = (Vec2::new(clip.x, -clip.y) / clip.w * 0.5 + 0.5) * self.size;
        let is_seen = clip.w > self.near && at.is_finite();
        is_seen.then(|| Seen { at, depth: self.depth_of.dot(point.extend(1.0)), divisor: clip.w })
    }

    /// Returns the axis that a flat view looks along, or `None` in 3D and during a switch.
    pub fn flat_along(&self) -> Option<usize> {
        let direction = self.depth_of.truncate().abs();
        let nearest = [0, 1, 2].into_iter().max_by(|a, b| direction[*a].total_cmp(&direction[*b]));
        nearest.filter(|_| self.perspective == 0.0)
    }

    /// Returns three row vectors for distances on the screen. The products of the first two with a point, divided by
    /// the product of the third, are how far the point is to the right of `at` and below it.
    pub fn offsets_from(&self, at: Vec2) -> [Vec4; 3] {
        let rows = self.clip_from_world;
        let half = self.size / 2.0;
        let Vec2 { x, y } = half - at;
        let divisor = rows.row(3);
        [rows.row(0) * half.x + divisor * x, divisor * y - rows.row(1) * half.y, divisor]
    }

    /// Returns the radius on the screen, in points, of a disc of `size`, as the shader's `radius_at` does, but
    /// without its lower limit `LEAST_RADIUS`, which the callers apply.
    pub fn radius_at(&self, size: f32, divisor: f32) -> f32 {
        size * (self.distance / divisor).clamp(RADIUS_LIMITS.0, RADIUS_LIMITS.1)
    }

    /// Returns the largest radius on the screen of a disc of `size`, at any depth.
    pub fn largest_radius(size: f32) -> f32 {
        size * RADIUS_LIMITS.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::CameraRig;
    use crate::close::{Tolerance, assert_close};

    const SIZE: Vec2 = Vec2::new(800.0, 600.0);

    fn flat() -> CameraRig {
        let mut rig = CameraRig::default();
        rig.toggle_flat();
        rig.advance(1.0);
        rig
    }

    /// Compares the projection with that of the maths library.
    #[test]
    fn in_3d_it_is_the_usual_perspective() {
        let rig = CameraRig::default();
        let Pose { target, .. } = rig.pose;
        let half = half_height(SIZE.x / SIZE.y);
        let usual = Mat4::perspective_rh(2.0 * half.atan(), SIZE.x / SIZE.y, 0.02 * rig.pose.distance, FAR)
            * Mat4::look_at_rh(rig.pose.eye(), target, Vec3::Y);
        for point in [Vec3::ZERO, Vec3::X, Vec3::new(-0.7, 0.3, 0.6)] {
            let clip = usual * point.extend(1.0);
            let at = (Vec2::new(clip.x, -clip.y) / clip.w * 0.5 + 0.5) * SIZE;
            let seen = rig.view(SIZE).project(point).expect("in front");
            let found = [seen.at.x, seen.at.y, seen.depth];
            assert_close(point, found, [at.x, at.y, clip.w], Tolerance::LIBRARY);
        }
    }

    #[test]
    fn in_2d_parallel_lines_stay_parallel_and_sizes_the_same() {
        let view = flat().view(SIZE);
        let near = view.project(Vec3::new(0.4, -0.2, 0.9)).expect("in front");
        let far = view.project(Vec3::new(0.4, -0.2, -0.9)).expect("in front");
        assert_close("in front and behind", near.at.to_array(), far.at.to_array(), Tolerance::LIBRARY);
        assert!(near.depth < far.depth, "what is in front is still known");
        assert_eq!(near.divisor, far.divisor);
        assert!(near.at.x > SIZE.x / 2.0 && near.at.y > SIZE.y / 2.0, "the first axis to the right, the second up");
    }

    #[test]
    fn near_and_far_are_within_the_depth_buffer_on_the_way_to_2d() {
        let mut rig = CameraRig::default();
        rig.zoom(600.0, Vec2::ZERO, 1.0);
        rig.toggle_flat();
        for _ in 0..12 {
            rig.advance(0.03);
            let view = rig.view(SIZE);
            let depth = |along: f32| {
                let clip = view.clip_from_world * (rig.pose.target - rig.pose.backwards() * along).extend(1.0);
                clip.z / clip.w
            };
            let depths = [0.0, 0.5, 1.0, 5.0].map(depth);
            assert!(depths.is_sorted() && depths[0] > 0.0 && depths[3] < 1.0, "{depths:?} at {:?}", rig.pose);
        }
    }

    #[test]
    fn a_view_within_a_picture_shows_the_same_at_the_same_scale() {
        let (whole, min) = (Vec2::new(900.0, 900.0), Vec2::new(40.0, 210.0));
        for rig in [CameraRig::default(), flat()] {
            let view = rig.view(SIZE);
            let within = view.within(whole, min);
            for point in [Vec3::ZERO, Vec3::X, Vec3::new(-0.7, 0.3, 0.6)] {
                let (alone, seen) = (view.project(point).expect("seen"), within.project(point).expect("seen"));
                assert_close(min, seen.at.to_array(), (alone.at + min).to_array(), Tolerance::LIBRARY);
                assert_eq!((seen.depth, seen.divisor), (alone.depth, alone.divisor));
            }
        }
    }

    #[test]
    fn what_is_no_number_is_not_seen() {
        let view = CameraRig::default().view(SIZE);
        for point in [Vec3::splat(f32::NAN), Vec3::new(f32::INFINITY, 0.0, 0.0), Vec3::splat(f32::MAX)] {
            assert!(view.project(point).is_none_or(|seen| seen.at.is_finite()), "{point}");
        }
        assert_eq!(view.project(Vec3::new(f32::NAN, 0.0, 0.0)), None);
    }

    #[test]
    fn the_smallest_stages_have_a_view() {
        for size in [Vec2::ZERO, Vec2::ONE, Vec2::new(4.0, 3.0), Vec2::new(1.0, 8192.0), Vec2::new(8192.0, 1.0)] {
            for rig in [CameraRig::default(), flat()] {
                let seen = rig.view(size).project(Vec3::ZERO).expect("the middle");
                assert!(seen.at.distance(size.max(Vec2::ONE) / 2.0) < 0.6, "{seen:?} of {size}");
            }
        }
    }
}
