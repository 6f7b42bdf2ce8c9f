//! The camera of the stage: plain geometry, in points of the screen and units of the scene.
//!
//! It orbits a target, keeps the world upright (it never rolls) and stops short of the poles. The
//! scene is a ball of radius 1: the static points.

use bevy::math::{Mat4, Vec2, Vec3, Vec4};

use crate::app::theme::motion;
use crate::app::view_state::ease;

const FIELD_OF_VIEW: f32 = 40.0 * std::f32::consts::PI / 180.0;
const PITCH_LIMIT: f32 = 0.99 * std::f32::consts::FRAC_PI_2;
/// Radians that a drag of one point turns.
const ORBIT_SPEED: f32 = 0.008;
/// Scroll points that zoom by a factor of e.
const ZOOM_SCALE: f32 = 300.0;
const DISTANCE: (f32, f32) = (0.08, 40.0);
/// Of the distance: how near the clipping plane is.
const NEAR_SHARE: f32 = 0.02;
const FAR: f32 = 200.0;
const HOME_YAW: f32 = 0.42;
const HOME_PITCH: f32 = 0.26;
/// Room around the scene at home.
const HOME_MARGIN: f32 = 1.02;
/// A focused point is seen from this share of the home distance.
const FOCUS_SHARE: f32 = 0.42;

/// Half the height that is seen at distance 1. A view that is taller than wide sees the field of view across.
fn half_height(aspect: f32) -> f32 {
    (FIELD_OF_VIEW / 2.0).tan() / aspect.clamp(f32::EPSILON, 1.0)
}

/// Where the camera looks and from where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub target: Vec3,
    pub yaw: f32,
    pub pitch: f32,
    pub distance: f32,
}

impl Pose {
    /// The whole ball of radius `extent`, from a little above.
    pub fn home(extent: f32) -> Pose {
        let distance = extent * HOME_MARGIN / (FIELD_OF_VIEW / 2.0).sin();
        Pose { target: Vec3::ZERO, yaw: HOME_YAW, pitch: HOME_PITCH, distance }
    }

    fn lerp(self, other: Pose, share: f32) -> Pose {
        Pose {
            target: self.target.lerp(other.target, share),
            yaw: self.yaw + (other.yaw - self.yaw) * share,
            pitch: self.pitch + (other.pitch - self.pitch) * share,
            distance: self.distance + (other.distance - self.distance) * share,
        }
    }

    fn backwards(self) -> Vec3 {
        Vec3::new(self.yaw.sin() * self.pitch.cos(), self.pitch.sin(), self.yaw.cos() * self.pitch.cos())
    }

    pub fn eye(self) -> Vec3 {
        self.target + self.backwards() * self.distance
    }

    fn right(self) -> Vec3 {
        Vec3::new(self.yaw.cos(), 0.0, -self.yaw.sin())
    }

    fn up(self) -> Vec3 {
        self.backwards().cross(self.right())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ease {
    from: Pose,
    to: Pose,
    elapsed: f32,
}

/// The pose with the hands on it.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraRig {
    pub pose: Pose,
    ease: Option<Ease>,
    /// How far the scene reaches: what home shows.
    extent: f32,
    /// What a camera that nobody has moved shows: it steps back when the scene outgrows it, and never comes nearer by
    /// itself, for then a point's motion would mix with a zoom.
    shown: f32,
    /// The learner has moved the camera: it no longer follows the scene's size.
    touched: bool,
}

impl Default for CameraRig {
    fn default() -> Self {
        CameraRig { pose: Pose::home(1.0), ease: None, extent: 1.0, shown: 1.0, touched: false }
    }
}

impl CameraRig {
    fn take(&mut self) -> &mut Pose {
        self.ease = None;
        self.touched = true;
        &mut self.pose
    }

    /// Turns around the target by a drag of `delta` points.
    pub fn orbit(&mut self, delta: Vec2) {
        let pose = self.take();
        pose.yaw -= delta.x * ORBIT_SPEED;
        pose.pitch = (pose.pitch + delta.y * ORBIT_SPEED).clamp(-PITCH_LIMIT, PITCH_LIMIT);
    }

    /// Moves with the pointer: what lies at the target's depth stays under it.
    pub fn pan(&mut self, delta: Vec2, size: Vec2) {
        let pose = self.take();
        let units_per_point = 2.0 * pose.distance * half_height(size.x / size.y.max(1.0)) / size.y.max(1.0);
        pose.target += (pose.up() * delta.y - pose.right() * delta.x) * units_per_point;
    }

    /// Zooms by `scroll` points; what lies under the cursor at the target's depth stays there.
    /// `cursor` is in [-1, 1] with y up.
    pub fn zoom(&mut self, scroll: f32, cursor: Vec2, aspect: f32) {
        let pose = self.take();
        let distance = (pose.distance * (-scroll / ZOOM_SCALE).exp()).clamp(DISTANCE.0, DISTANCE.1);
        let factor = distance / pose.distance;
        let half_height = pose.distance * half_height(aspect);
        let offset = pose.right() * (cursor.x * half_height * aspect) + pose.up() * (cursor.y * half_height);
        pose.target += offset * (1.0 - factor);
        pose.distance = distance;
    }

    pub fn focus(&mut self, point: Vec3) {
        self.touched = true;
        let distance = self.pose.distance.min(Pose::home(self.extent).distance * FOCUS_SHARE);
        self.ease_to(Pose { target: point, distance, ..self.pose });
    }

    pub fn home(&mut self) {
        self.touched = false;
        self.shown = self.extent;
        let turns = (self.pose.yaw / std::f32::consts::TAU).round() * std::f32::consts::TAU;
        let home = Pose::home(self.extent);
        self.ease_to(Pose { yaw: home.yaw + turns, ..home });
    }

    /// The scene reaches `extent` from the origin. Home shows it all, and so does a camera that nobody has moved.
    pub fn fit(&mut self, extent: f32) {
        self.extent = extent;
        if !self.touched && extent > self.shown {
            self.home();
        }
    }

    /// As [`Self::fit`], at once.
    pub fn fit_now(&mut self, extent: f32) {
        self.fit(extent);
        self.advance(f32::INFINITY);
    }

    fn ease_to(&mut self, to: Pose) {
        self.ease = (to != self.pose).then_some(Ease { from: self.pose, to, elapsed: 0.0 });
    }

    pub fn is_moving(&self) -> bool {
        self.ease.is_some()
    }

    pub fn advance(&mut self, seconds: f32) {
        let Some(glide) = &mut self.ease else { return };
        glide.elapsed += seconds;
        let share = (glide.elapsed / motion::CAMERA).min(1.0);
        self.pose = if share < 1.0 { glide.from.lerp(glide.to, ease(share)) } else { glide.to };
        if share >= 1.0 {
            self.ease = None;
        }
    }

    /// The view of a rectangle of `size` points.
    pub fn view(&self, size: Vec2) -> View {
        let size = size.max(Vec2::ONE);
        let near = self.pose.distance * NEAR_SHARE;
        let aspect = size.x / size.y;
        let projection = Mat4::perspective_rh(2.0 * half_height(aspect).atan(), aspect, near, FAR);
        let view = Mat4::look_at_rh(self.pose.eye(), self.pose.target, Vec3::Y);
        View { clip_from_world: projection * view, size, near, distance: self.pose.distance, extent: self.shown }
    }
}

/// One moment's projection: the same numbers for the shader, the labels and picking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    pub clip_from_world: Mat4,
    /// In points.
    pub size: Vec2,
    pub near: f32,
    /// From the eye to the target.
    pub distance: f32,
    pub extent: f32,
}

/// A point on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// In points from the top left corner of the view.
    pub at: Vec2,
    /// In scene units along the view's axis.
    pub depth: f32,
}

impl View {
    /// `None` behind the camera.
    pub fn project(&self, point: Vec3) -> Option<Seen> {
        let clip: Vec4 = self.clip_from_world * point.extend(1.0);
        (clip.w > self.near)
            .then(|| Seen { at: (Vec2::new(clip.x, -clip.y) / clip.w * 0.5 + 0.5) * self.size, depth: clip.w })
    }

    /// Radius on the screen, in points, of a disc of `size` at `depth`. The shader's `radius_at`.
    pub fn radius_at(&self, size: f32, depth: f32) -> f32 {
        const LIMITS: (f32, f32) = (0.62, 1.7);
        size * (self.distance / depth).clamp(LIMITS.0, LIMITS.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Vec2 = Vec2::new(800.0, 600.0);

    fn close(a: Vec2, b: Vec2) -> bool {
        a.distance(b) < 0.05
    }

    #[test]
    fn the_target_is_in_the_middle() {
        let seen = CameraRig::default().view(SIZE).project(Vec3::ZERO).map(|seen| seen.at);
        assert!(seen.is_some_and(|at| close(at, SIZE / 2.0)), "{seen:?}");
    }

    #[test]
    fn home_shows_the_whole_ball() {
        let view = CameraRig::default().view(SIZE);
        for point in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z] {
            let at = view.project(point).expect("in front").at;
            assert!(at.cmpge(Vec2::ZERO).all() && at.cmple(SIZE).all(), "{point} at {at}");
        }
    }

    #[test]
    fn pitch_stops_before_the_poles_and_up_stays_up() {
        let mut rig = CameraRig::default();
        rig.orbit(Vec2::new(0.0, 1e6));
        assert!(rig.pose.pitch <= PITCH_LIMIT);
        let view = rig.view(SIZE);
        let (low, high) = (view.project(Vec3::ZERO), view.project(Vec3::Y * 0.1));
        assert!(high.expect("seen").at.y <= low.expect("seen").at.y);
        assert!(close(Vec2::new(rig.pose.right().y, 0.0), Vec2::ZERO), "rolled");
    }

    #[test]
    fn zoom_keeps_what_is_under_the_cursor() {
        let mut rig = CameraRig::default();
        let cursor = Vec2::new(0.5, -0.3);
        let pixel = (Vec2::new(cursor.x, -cursor.y) * 0.5 + 0.5) * SIZE;
        let half = rig.pose.distance * (FIELD_OF_VIEW / 2.0).tan();
        let point = rig.pose.target
            + rig.pose.right() * (cursor.x * half * SIZE.x / SIZE.y)
            + rig.pose.up() * (cursor.y * half);
        for scroll in [120.0, -340.0, 900.0] {
            rig.zoom(scroll, cursor, SIZE.x / SIZE.y);
            let at = rig.view(SIZE).project(point).expect("in front").at;
            assert!(close(at, pixel), "after {scroll}: {at} is not {pixel}");
        }
    }

    #[test]
    fn a_pan_moves_the_target_with_the_pointer() {
        let mut rig = CameraRig::default();
        rig.pan(Vec2::new(40.0, -25.0), SIZE);
        let at = rig.view(SIZE).project(Vec3::ZERO).expect("in front").at;
        assert!((at - (SIZE / 2.0 + Vec2::new(40.0, -25.0))).length() < 1.5, "{at}");
    }

    #[test]
    fn home_comes_back_and_ends() {
        let mut rig = CameraRig::default();
        rig.orbit(Vec2::new(300.0, 40.0));
        rig.zoom(500.0, Vec2::ZERO, 1.0);
        rig.home();
        assert!(rig.is_moving());
        rig.advance(1.0);
        assert!(!rig.is_moving() && (rig.pose.distance - Pose::home(1.0).distance).abs() < 1e-6);
    }

    #[test]
    fn a_camera_that_was_moved_does_not_follow_the_scene() {
        let mut rig = CameraRig::default();
        rig.orbit(Vec2::new(10.0, 0.0));
        let before = rig.pose;
        rig.fit_now(3.0);
        assert_eq!(rig.pose, before);
    }

    #[test]
    fn the_scene_keeps_its_scale_until_it_outgrows_it() {
        let mut rig = CameraRig::default();
        rig.fit_now(1.5);
        let wide = rig.pose;
        assert_eq!(wide, Pose::home(1.5));
        rig.fit_now(1.0);
        assert_eq!(rig.pose, wide, "a smaller scene brings the camera no nearer");
        rig.home();
        rig.advance(1.0);
        assert_eq!(rig.pose, Pose::home(1.0), "Home does");
    }

    #[test]
    fn nothing_behind_the_camera_is_seen() {
        let rig = CameraRig::default();
        assert_eq!(rig.view(SIZE).project(rig.pose.eye() * 2.0), None);
    }
}
