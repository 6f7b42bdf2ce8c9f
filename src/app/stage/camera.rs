//! The camera of the stage: plain geometry, in points of the screen and units of the scene.
//!
//! The camera orbits a target, keeps the world upright (never rolls) and stops at the poles. In 2D it projects along
//! parallel lines. The scene is a ball of radius 1: the static points.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use bevy::math::{Vec2, Vec3};

use super::glide::Glide;
use super::projection::View;

const FIELD_OF_VIEW: f32 = 40.0 * PI / 180.0;
/// As near to the pole as makes no pixel's difference: there up would have no direction.
const PITCH_LIMIT: f32 = FRAC_PI_2 - 1e-4;
/// Radians that a drag of one point turns.
const ORBIT_SPEED: f32 = 0.008;
/// Scroll points that zoom by a factor of e.
const ZOOM_SCALE: f32 = 300.0;
const DISTANCE: (f32, f32) = (0.08, 40.0);
/// Largest distance of the camera's target from the middle.
const TARGET_MAX: f32 = 60.0;
const HOME_YAW: f32 = 0.42;
const HOME_PITCH: f32 = 0.26;
/// Room around the scene at home.
const HOME_MARGIN: f32 = 1.02;
/// A focused point is seen from this share of the home distance.
const FOCUS_SHARE: f32 = 0.42;

/// Half the height that is seen at distance 1. A view that is taller than wide sees the field of view across.
pub(super) fn half_height(aspect: f32) -> f32 {
    (FIELD_OF_VIEW / 2.0).tan() / aspect.clamp(f32::EPSILON, 1.0)
}

/// Where the camera looks and from where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub target: Vec3,
    pub yaw: f32,
    pub pitch: f32,
    pub distance: f32,
    /// How much nearer things are larger: 1, or 0 in 2D.
    pub perspective: f32,
}

/// Yaw and pitch that look along an axis, from its positive side and from the other.
const ALONG: [[(f32, f32); 2]; 3] =
    [[(FRAC_PI_2, 0.0), (-FRAC_PI_2, 0.0)], [(0.0, PITCH_LIMIT), (0.0, -PITCH_LIMIT)], [(0.0, 0.0), (PI, 0.0)]];
/// The axis that 2D looks along, and from where.
const FLAT: (f32, f32) = ALONG[2][0];

impl Pose {
    /// The whole ball of radius `extent`, from a little above.
    pub fn home(extent: f32) -> Pose {
        let distance = extent * HOME_MARGIN / (FIELD_OF_VIEW / 2.0).sin();
        Pose { target: Vec3::ZERO, yaw: HOME_YAW, pitch: HOME_PITCH, distance, perspective: 1.0 }
    }

    /// From the same side, so near that a ball fills the view.
    pub fn around(self, middle: Vec3, reach: f32) -> Pose {
        let distance = Pose::home(reach).distance.clamp(DISTANCE.0, DISTANCE.1);
        Pose { target: middle, distance, ..self }
    }

    fn lerp(self, other: Pose, share: f32) -> Pose {
        Pose {
            target: self.target.lerp(other.target, share),
            yaw: self.yaw + (other.yaw - self.yaw) * share,
            pitch: self.pitch + (other.pitch - self.pitch) * share,
            distance: self.distance + (other.distance - self.distance) * share,
            perspective: self.perspective + (other.perspective - self.perspective) * share,
        }
    }

    /// Turned that way, the shorter way round.
    fn turned(self, (yaw, pitch): (f32, f32)) -> Pose {
        let turns = ((self.yaw - yaw) / TAU).round() * TAU;
        Pose { yaw: yaw + turns, pitch, ..self }
    }

    pub(super) fn backwards(self) -> Vec3 {
        Vec3::new(self.yaw.sin() * self.pitch.cos(), self.pitch.sin(), self.yaw.cos() * self.pitch.cos())
    }

    pub fn eye(self) -> Vec3 {
        self.target + self.backwards() * self.distance
    }

    pub(super) fn right(self) -> Vec3 {
        Vec3::new(self.yaw.cos(), 0.0, -self.yaw.sin())
    }

    pub(super) fn up(self) -> Vec3 {
        self.backwards().cross(self.right())
    }
}

/// The camera's pose, with its controls and transitions.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraRig {
    pub pose: Pose,
    ease: Option<Glide<Pose>>,
    /// How far the scene reaches: what home shows.
    extent: f32,
    /// Radius shown by a camera that nobody has moved: it steps back when the scene outgrows it, and never comes
    /// nearer by itself, for then a point's motion would mix with a zoom.
    shown: f32,
    /// The learner has moved the camera: it no longer follows the scene's size.
    touched: bool,
    /// Yaw and pitch before 2D.
    solid: (f32, f32),
}

impl Default for CameraRig {
    fn default() -> Self {
        let solid = (HOME_YAW, HOME_PITCH);
        CameraRig { pose: Pose::home(1.0), ease: None, extent: 1.0, shown: 1.0, touched: false, solid }
    }
}

impl CameraRig {
    fn take(&mut self) -> &mut Pose {
        // Finishes an interrupted switch between 2D and 3D.
        self.pose.perspective = self.goal().perspective;
        self.ease = None;
        self.touched = true;
        &mut self.pose
    }

    /// Where it is, or is on its way to.
    fn goal(&self) -> Pose {
        self.ease.map_or(self.pose, |ease| ease.to)
    }

    /// In 2D: nothing is nearer than anything else, and a drag pans.
    pub fn is_flat(&self) -> bool {
        self.goal().perspective == 0.0
    }

    /// To 2D, the plane of the first two axes, or back to how it was seen before.
    pub fn toggle_flat(&mut self) {
        let goal = self.goal();
        let to = if self.is_flat() {
            Pose { perspective: 1.0, ..goal.turned(self.solid) }
        } else {
            self.solid = (goal.yaw, goal.pitch);
            Pose { perspective: 0.0, ..goal.turned(FLAT) }
        };
        self.touched = true;
        self.ease_to(to);
    }

    /// Looks along an axis, from its positive side; from the other where it looks from that one already.
    pub fn look_along(&mut self, axis: usize) {
        const SAME: f32 = 1e-4;
        let goal = self.goal();
        let [first, second] = ALONG[axis % ALONG.len()].map(|side| goal.turned(side));
        let is_there = first.backwards().distance(goal.backwards()) < SAME;
        self.touched = true;
        self.ease_to(if is_there { second } else { first });
    }

    /// Turns around the target by a drag of `delta` points.
    pub fn orbit(&mut self, delta: Vec2) {
        if !delta.is_finite() {
            return;
        }
        let pose = self.take();
        // Of a full circle nothing is lost but digits.
        pose.yaw = (pose.yaw - delta.x * ORBIT_SPEED) % TAU;
        pose.pitch = (pose.pitch + delta.y * ORBIT_SPEED).clamp(-PITCH_LIMIT, PITCH_LIMIT);
    }

    /// Moves with the pointer: what lies at the target's depth stays under it.
    pub fn pan(&mut self, delta: Vec2, size: Vec2) {
        if !delta.is_finite() {
            return;
        }
        let pose = self.take();
        let size = size.max(Vec2::ONE);
        let units_per_point = 2.0 * pose.distance * half_height(size.x / size.y) / size.y;
        pose.target += (pose.up() * delta.y - pose.right() * delta.x) * units_per_point;
        pose.target = pose.target.clamp_length_max(TARGET_MAX);
    }

    /// Zooms by `scroll` points; what lies under the cursor at the target's depth stays there.
    /// `cursor` is in [-1, 1] with y up.
    pub fn zoom(&mut self, scroll: f32, cursor: Vec2, aspect: f32) {
        if !(scroll.is_finite() && cursor.is_finite() && aspect.is_finite()) {
            return;
        }
        let pose = self.take();
        let distance = (pose.distance * (-scroll / ZOOM_SCALE).exp()).clamp(DISTANCE.0, DISTANCE.1);
        let factor = distance / pose.distance;
        let half_height = pose.distance * half_height(aspect);
        let offset = pose.right() * (cursor.x * half_height * aspect) + pose.up() * (cursor.y * half_height);
        pose.target = (pose.target + offset * (1.0 - factor)).clamp_length_max(TARGET_MAX);
        pose.distance = distance;
    }

    pub fn focus(&mut self, point: Vec3) {
        if !point.is_finite() {
            return;
        }
        self.touched = true;
        let goal = self.goal();
        let distance = goal.distance.min(Pose::home(self.extent).distance * FOCUS_SHARE);
        let target = point.clamp_length_max(TARGET_MAX);
        self.ease_to(Pose { target, distance, ..goal });
    }

    pub fn home(&mut self) {
        self.touched = false;
        self.shown = self.extent;
        let home = Pose::home(self.extent);
        let (towards, perspective) = if self.is_flat() { (FLAT, 0.0) } else { ((home.yaw, home.pitch), 1.0) };
        let turned = self.goal().turned(towards);
        self.ease_to(Pose { yaw: turned.yaw, pitch: turned.pitch, perspective, ..home });
    }

    /// The scene reaches `extent` from the origin. Home shows it all, and so does a camera that nobody has moved.
    pub fn fit(&mut self, extent: f32) {
        self.extent = extent;
        if !self.touched && extent > self.shown {
            self.home();
        }
    }

    /// The scene has come to rest for the first time: a camera that nobody has moved shows it, and not how far it
    /// reached on its way.
    pub fn settle(&mut self) {
        if !self.touched && self.shown != self.extent {
            self.home();
        }
    }

    /// As [`Self::fit`], at once.
    pub fn fit_now(&mut self, extent: f32) {
        self.fit(extent);
        self.advance(f32::INFINITY);
    }

    fn ease_to(&mut self, to: Pose) {
        self.ease = Glide::between(self.pose, to);
    }

    pub fn is_moving(&self) -> bool {
        self.ease.is_some()
    }

    pub fn advance(&mut self, seconds: f32) {
        Glide::advance(&mut self.ease, &mut self.pose, seconds, Pose::lerp);
    }

    /// The view of a rectangle of `size` points.
    pub fn view(&self, size: Vec2) -> View {
        View::of(self.pose, size, self.shown)
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

    /// Up on the screen is up in the scene, level with the horizon, and what is upright is never upside down.
    fn check_upright(rig: &CameraRig, after: &str) {
        let Pose { pitch, perspective, distance, target, .. } = rig.pose;
        let (right, up) = (rig.pose.right(), rig.pose.up());
        assert!(right.y == 0.0 && up.y >= 0.0, "rolled or flipped after {after}: {right} {up}");
        assert!(pitch.abs() <= PITCH_LIMIT && (0.0..=1.0).contains(&perspective), "{:?} after {after}", rig.pose);
        assert!(distance.is_finite() && target.is_finite() && rig.view(SIZE).clip_from_world.is_finite(), "{after}");
    }

    #[test]
    fn whatever_is_done_it_never_rolls_or_flips() {
        let mut rig = CameraRig::default();
        // A long walk over all that the hands can do, from a plain generator.
        let mut seed = 1u32;
        let mut random = |most: f32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (f64::from(seed) / f64::from(u32::MAX) * 2.0 - 1.0) as f32 * most
        };
        for step in 0..4000 {
            let (x, y) = (random(900.0), random(900.0));
            let said = match step % 9 {
                0 | 1 => (rig.orbit(Vec2::new(x, y)), "orbit"),
                2 => (rig.pan(Vec2::new(x, y), SIZE), "pan"),
                3 => (rig.zoom(x, Vec2::new(y, x) / 900.0, 1.3), "zoom"),
                4 => (rig.look_along(step / 9 % 3), "an axis"),
                5 => (rig.focus(Vec3::new(x, y, x) / 900.0), "focus"),
                6 if x > 0.0 => (rig.toggle_flat(), "2D"),
                7 if x > 600.0 => (rig.home(), "home"),
                _ => (rig.advance(y.abs() / 4000.0), "time"),
            };
            check_upright(&rig, said.1);
        }
    }

    #[test]
    fn what_is_no_number_moves_nothing() {
        let mut rig = CameraRig::default();
        let before = rig.clone();
        rig.orbit(Vec2::new(f32::NAN, 1.0));
        rig.pan(Vec2::new(f32::INFINITY, 1.0), SIZE);
        rig.zoom(f32::NAN, Vec2::ZERO, 1.0);
        rig.zoom(30.0, Vec2::new(f32::NAN, 0.0), 1.0);
        rig.focus(Vec3::splat(f32::NAN));
        assert_eq!(rig, before);
        rig.pan(Vec2::new(1e30, -1e30), Vec2::ZERO);
        rig.zoom(1e30, Vec2::splat(1e30), 0.0);
        check_upright(&rig, "large numbers");
    }

    #[test]
    fn an_axis_is_looked_along_from_either_side() {
        let mut rig = CameraRig::default();
        for (axis, direction) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
            for sign in [1.0, -1.0, 1.0] {
                rig.look_along(axis);
                rig.advance(1.0);
                let off = (rig.pose.backwards() - direction * sign).length();
                assert!(off < 2e-4, "axis {axis} from {sign}: {off}");
            }
        }
        // The shorter way round.
        rig.home();
        rig.advance(1.0);
        let before = rig.pose.yaw;
        rig.look_along(2);
        rig.advance(1.0);
        assert!((rig.pose.yaw - before).abs() <= PI);
    }

    #[test]
    fn from_2d_one_comes_back_to_what_one_saw() {
        let mut rig = CameraRig::default();
        rig.orbit(Vec2::new(50.0, 20.0));
        let before = rig.pose;
        rig.toggle_flat();
        assert!(rig.is_flat() && rig.is_moving());
        rig.advance(1.0);
        assert_eq!((rig.pose.yaw, rig.pose.pitch, rig.pose.perspective), (0.0, 0.0, 0.0));
        rig.home();
        rig.advance(1.0);
        assert!(rig.is_flat(), "home is home in 2D too");
        rig.toggle_flat();
        // A hand on it ends the way there, not half way between 2D and 3D.
        rig.advance(0.1);
        rig.pan(Vec2::new(3.0, 0.0), SIZE);
        assert_eq!(rig.pose.perspective, 1.0);
        rig.toggle_flat();
        rig.advance(1.0);
        rig.toggle_flat();
        rig.advance(1.0);
        assert!(!rig.is_flat() && (rig.pose.pitch - before.pitch).abs() < 1.0);
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
