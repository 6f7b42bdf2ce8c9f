//! The controls of the stage's camera: plain geometry, in points of the screen and units of the scene.
//!
//! The camera orbits a target, keeps the world upright (never rolls) and stops at the poles. In 2D it projects along
//! parallel lines. The radius of the picture is the unit of length: the static points of a lesson with its own words
//! are in a ball of radius 1.

use std::f32::consts::TAU;

use attune_ui::theme::motion;
use attune_ui::ui_state::walk::Glide;
use attune_view::view_model::saved_view::SavedCamera;
use bevy::math::{Vec2, Vec3};

use super::content::Content;
use super::view::{ALONG, DISTANCE, FLAT, HOME_PITCH, HOME_YAW, PITCH_LIMIT, Pose, View, half_height};

/// Radians by which a drag of one point turns the camera.
const ORBIT_SPEED: f32 = 0.008;
/// Scroll distance, in points, that zooms by a factor of e.
const ZOOM_SCALE: f32 = 300.0;
/// Largest distance of the camera's target from the middle of the scene.
const TARGET_MAX: f32 = 60.0;
/// Largest angle, in radians, by which the camera sways to each side.
const SWAY_REACH: f32 = 0.22;
/// Radius of the ball that home shows before there is a scene.
const UNKNOWN: f32 = 0.85;
/// Distance of the camera from a focused point, as a share of its distance at home.
const FOCUS_SHARE: f32 = 0.42;
/// Length of a drag, in points, after which a flat view that it tilts has full perspective.
const TILTED: f32 = 200.0;

/// The camera's pose, with its controls and transitions.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraRig {
    pub pose: Pose,
    ease: Option<Glide<Pose>>,
    /// The seconds since the camera began to sway; `None` if it does not sway.
    swaying: Option<f32>,
    /// The points that home shows.
    content: Content,
    /// The content that an untouched camera shows: the camera steps back when the scene outgrows it, and never comes
    /// nearer by itself while points move, because their motion would be mixed with a zoom.
    shown: Content,
    /// Whether there has been a scene. The camera frames the first one, however small it is.
    has_scene: bool,
    /// Width of the view divided by its height.
    aspect: f32,
    /// Whether the learner has moved the camera, which then no longer adapts to the scene's size.
    touched: bool,
    /// Whether the learner has switched between 2D and 3D.
    switched: bool,
    /// Yaw and pitch of the 3D view, kept while the view is in 2D.
    solid: (f32, f32),
}

impl Default for CameraRig {
    fn default() -> Self {
        let solid = (HOME_YAW, HOME_PITCH);
        let content = Content::ball(UNKNOWN);
        let pose = content.home(1.0, false);
        let shown = content.clone();
        CameraRig {
            pose,
            ease: None,
            swaying: None,
            content,
            shown,
            aspect: 1.0,
            has_scene: false,
            touched: false,
            switched: false,
            solid,
        }
    }
}

impl CameraRig {
    fn take(&mut self) -> &mut Pose {
        // Finishes an interrupted switch between 2D and 3D.
        self.pose.perspective = self.goal().perspective;
        (self.ease, self.swaying) = (None, None);
        self.touched = true;
        &mut self.pose
    }

    /// Returns the pose at the end of the transition, or the current pose if there is none.
    fn goal(&self) -> Pose {
        self.ease.map_or(self.pose, |ease| ease.to)
    }

    /// Returns whether the learner has turned, moved or zoomed the camera, so that Home would move it back.
    pub fn is_touched(&self) -> bool {
        self.touched
    }

    /// Returns whether the view is in 2D, without perspective.
    pub fn is_flat(&self) -> bool {
        self.goal().perspective == 0.0
    }

    /// Switches to 2D, which shows the plane of the first two axes, or back to the 3D view from before. In 3D the
    /// camera frames the scene; in 2D the target stays in the middle.
    pub fn toggle_flat(&mut self) {
        let goal = self.goal();
        self.switched = true;
        if self.is_flat() {
            self.shown = self.content.clone();
            self.touched = self.solid != (HOME_YAW, HOME_PITCH);
            let solid = Pose { perspective: 1.0, ..goal.turned(self.solid) };
            self.ease_to(self.content.frame(solid, self.aspect));
            return;
        }
        self.solid = (goal.yaw, goal.pitch);
        if self.touched {
            self.ease_to(Pose { perspective: 0.0, ..goal.turned(FLAT) });
        } else {
            self.home_in(true);
        }
    }

    /// Looks along an axis from its positive side, or from its negative side if the camera looks from the positive one
    /// already.
    pub fn look_along(&mut self, axis: usize) {
        const SAME: f32 = 1e-4;
        let goal = self.goal();
        let [first, second] = ALONG[axis % ALONG.len()].map(|side| goal.turned(side));
        let is_there = first.backwards().distance(goal.backwards()) < SAME;
        self.touched = true;
        self.ease_to(if is_there { second } else { first });
    }

    /// Turns the camera around the target by a drag of `delta` points. In a flat view, perspective grows with the
    /// length of the drag, so that nothing jumps.
    pub fn orbit(&mut self, delta: Vec2) {
        if !delta.is_finite() {
            return;
        }
        let pose = self.take();
        // The angle is kept below a full circle, so that it loses no precision.
        pose.yaw = (pose.yaw - delta.x * ORBIT_SPEED) % TAU;
        pose.pitch = (pose.pitch + delta.y * ORBIT_SPEED).clamp(-PITCH_LIMIT, PITCH_LIMIT);
        pose.perspective = (pose.perspective + delta.length() / TILTED).min(1.0);
    }

    /// Moves the target with the pointer, so that a point at the target's depth stays under it.
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

    /// Zooms by `scroll` points and keeps the point under the cursor in place, at the target's depth. `cursor` is in
    /// [-1, 1] with y up.
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
        let distance = goal.distance.min(self.home_pose().distance * FOCUS_SHARE);
        let target = point.clamp_length_max(TARGET_MAX);
        self.ease_to(Pose { target, distance, ..goal });
    }

    /// Returns the pose if the learner has moved the camera or switched between 2D and 3D. Any other camera frames
    /// the scene by itself and needs no saved pose.
    pub fn saved(&self) -> Option<SavedCamera> {
        let Pose { target, yaw, pitch, distance, perspective } = self.goal();
        let is_flat = perspective == 0.0;
        (self.touched || self.switched).then_some(SavedCamera {
            target: target.to_array(),
            yaw,
            pitch,
            distance,
            is_flat,
        })
    }

    /// Moves to a saved pose at once, with its values clamped to the camera's limits. A pose with a value that is not
    /// finite is ignored.
    pub fn restore(&mut self, saved: &SavedCamera) {
        let SavedCamera { target, yaw, pitch, distance, is_flat } = *saved;
        let target = Vec3::from(target);
        if !(target.is_finite() && yaw.is_finite() && pitch.is_finite() && distance.is_finite()) {
            return;
        }
        let pose = self.take();
        pose.target = target.clamp_length_max(TARGET_MAX);
        (pose.yaw, pose.pitch) = (yaw % TAU, pitch.clamp(-PITCH_LIMIT, PITCH_LIMIT));
        pose.distance = distance.clamp(DISTANCE.0, DISTANCE.1);
        pose.perspective = if is_flat { 0.0 } else { 1.0 };
    }

    fn home_pose(&self) -> Pose {
        self.content.home(self.aspect, self.is_flat())
    }

    /// Moves home, in 2D or 3D as the view is now.
    pub fn home(&mut self) {
        self.home_in(self.is_flat());
    }

    /// Moves home in 2D or 3D, as a lesson asks, and forgets what the learner switched.
    pub fn show(&mut self, is_flat: bool) {
        (self.switched, self.solid) = (false, (HOME_YAW, HOME_PITCH));
        self.home_in(is_flat);
    }

    fn home_in(&mut self, is_flat: bool) {
        (self.touched, self.shown) = (false, self.content.clone());
        let home = self.content.home(self.aspect, is_flat);
        let turned = self.goal().turned((home.yaw, home.pitch));
        self.ease_to(Pose { yaw: turned.yaw, ..home });
    }

    /// Moves home in 2D or 3D at once, for a scene that opens.
    pub fn open(&mut self, is_flat: bool) {
        self.show(is_flat);
        self.advance(f32::INFINITY);
    }

    /// Sets the points that home shows. A camera that has not been moved goes home for the first scene, and later
    /// whenever the scene outgrows its view.
    pub fn fit(&mut self, content: Content) {
        self.content = content;
        let is_first = !std::mem::replace(&mut self.has_scene, true);
        if !self.touched && (is_first || !self.shown.holds(&self.content)) {
            self.home();
        }
    }

    /// Frames the scene once it has come to rest, unless the camera was moved: while points move, the camera only steps
    /// back and may be too far away at the end.
    pub fn settle(&mut self) {
        if !self.touched && self.shown != self.content {
            self.home();
        }
    }

    /// Adapts to the size of the view; an untouched camera still shows the whole scene.
    pub fn resize(&mut self, size: Vec2) {
        let aspect = size.x.max(1.0) / size.y.max(1.0);
        if aspect == self.aspect || !aspect.is_finite() {
            return;
        }
        self.aspect = aspect;
        if !self.touched {
            self.home();
            self.advance(f32::INFINITY);
        }
    }

    /// Fits the camera at once to its content in a view of this size; see [`Self::fit`].
    pub fn fit_now(&mut self, content: Content, size: Vec2) {
        self.resize(size);
        self.fit(content);
        self.advance(f32::INFINITY);
    }

    /// Starts to turn the camera to and fro, once, so that the learner notices the depth of a 3D scene. Does nothing in
    /// 2D or during a transition; any control ends the motion.
    pub fn sway(&mut self) {
        self.swaying = (!self.is_flat() && self.ease.is_none()).then_some(0.0);
    }

    /// Returns the yaw after swaying for the given number of seconds, or `None` once the motion has ended.
    fn swayed(elapsed: f32) -> Option<f32> {
        let share = elapsed / motion::SWAY;
        (share < 1.0).then(|| HOME_YAW + SWAY_REACH * (share * TAU).sin())
    }

    fn ease_to(&mut self, to: Pose) {
        self.swaying = None;
        self.ease = Glide::between(self.pose, to, motion::CAMERA);
    }

    pub fn is_moving(&self) -> bool {
        self.ease.is_some() || self.swaying.is_some()
    }

    pub fn advance(&mut self, seconds: f32) {
        if let Some(elapsed) = &mut self.swaying {
            *elapsed += seconds;
            let swayed = Self::swayed(*elapsed);
            self.pose.yaw = swayed.unwrap_or(HOME_YAW);
            self.swaying = self.swaying.filter(|_| swayed.is_some());
        }
        Glide::advance(&mut self.ease, &mut self.pose, seconds, Pose::lerp);
    }

    /// Returns the projection of a view of `size` points.
    pub fn view(&self, size: Vec2) -> View {
        View::of(self.pose, size, self.shown.half_diagonal())
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::PI;

    use super::*;
    use crate::close::{Tolerance, assert_close, is_close};

    const SIZE: Vec2 = Vec2::new(800.0, 600.0);

    /// Returns the corners of a box.
    fn corners(middle: Vec3, half: Vec3) -> impl Iterator<Item = Vec3> {
        (0..8).map(move |i: i32| {
            let side = |bit: i32| if i & bit == 0 { 1.0 } else { -1.0 };
            middle + half * Vec3::new(side(1), side(2), side(4))
        })
    }

    fn cube(half: f32) -> Content {
        Content::of(corners(Vec3::ZERO, Vec3::splat(half)))
    }

    fn close(a: Vec2, b: Vec2) -> bool {
        is_close(a.to_array(), b.to_array(), Tolerance::SINGLE_SUMS).is_ok()
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

    /// Checks that up on the screen is up in the scene, level with the horizon and never upside down.
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
        // A long random sequence of all controls, from a plain generator.
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
    fn a_scene_in_space_sways_once_until_it_is_taken_in_hand() {
        let mut rig = CameraRig::default();
        rig.open(false);
        rig.sway();
        rig.advance(motion::SWAY / 4.0);
        assert_close("the yaw", rig.pose.yaw, HOME_YAW + SWAY_REACH, Tolerance::SINGLE_PASS);
        assert!(rig.is_moving());
        let mut taken = rig.clone();
        taken.orbit(Vec2::new(10.0, 0.0));
        let yaw = taken.pose.yaw;
        taken.advance(1.0);
        assert!(taken.pose.yaw == yaw && !taken.is_moving());
        rig.advance(f32::INFINITY);
        assert!(rig.pose.yaw == HOME_YAW && !rig.is_moving() && !rig.is_touched());
        let mut flat = CameraRig::default();
        flat.open(true);
        flat.sway();
        assert!(!flat.is_moving());
    }

    #[test]
    fn an_axis_is_looked_along_from_either_side() {
        let mut rig = CameraRig::default();
        for (axis, direction) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
            for sign in [1.0, -1.0, 1.0] {
                rig.look_along(axis);
                rig.advance(1.0);
                let [found, expected] = [rig.pose.backwards(), direction * sign].map(|way| way.to_array());
                assert_close(format!("axis {axis} from {sign}"), found, expected, Tolerance::SINGLE_SUMS);
            }
        }
        // The camera takes the shorter way round.
        rig.home();
        rig.advance(1.0);
        let before = rig.pose.yaw;
        rig.look_along(2);
        rig.advance(1.0);
        assert!((before - PI..=before + PI).contains(&rig.pose.yaw));
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
        // A drag ends the switch at its goal, not half way between 2D and 3D.
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
    fn a_drag_tilts_a_flat_view_without_a_jump_and_2d_lays_it_flat_again() {
        let (middle, half) = (Vec3::new(0.2, 0.1, -0.4), Vec3::new(1.0, 0.5, 0.8));
        let mut rig = CameraRig::default();
        rig.fit_now(Content::of(corners(middle, half)), SIZE);
        rig.open(true);
        rig.pan(Vec2::new(30.0, 10.0), SIZE);
        let flat = rig.pose;
        let places = |rig: &CameraRig| -> Vec<Vec2> {
            corners(middle, half).map(|at| rig.view(SIZE).project(at).expect("in front").at).collect()
        };
        let mut before = places(&rig);
        for _ in 0..80 {
            rig.orbit(Vec2::new(3.0, 1.0));
            let now = places(&rig);
            let jump = now.iter().zip(&before).map(|(now, before)| now.distance(*before)).fold(0.0, f32::max);
            assert!(jump < 25.0, "a point jumped by {jump} under a drag by 3");
            before = now;
        }
        assert!(!rig.is_flat() && rig.pose.perspective == 1.0 && rig.pose.yaw != flat.yaw);
        rig.toggle_flat();
        rig.advance(1.0);
        assert_eq!(rig.pose, flat);
    }

    #[test]
    fn a_switch_to_3d_frames_the_scene_and_is_kept() {
        let (middle, half) = (Vec3::new(1.9, -1.6, 0.3), Vec3::new(1.5, 0.9, 1.2));
        for size in [SIZE, Vec2::new(845.0, 300.0)] {
            let mut rig = CameraRig::default();
            rig.fit_now(Content::of(corners(middle, half)), size);
            rig.open(true);
            assert_eq!(rig.saved(), None);
            rig.zoom(-900.0, Vec2::new(0.5, 0.5), 1.0);
            rig.toggle_flat();
            rig.advance(1.0);
            let far = farthest(&rig, corners(middle, half), size);
            assert!((0.7..0.85).contains(&far), "a corner at {far} of {size}");
            let mut again = CameraRig::default();
            again.fit_now(Content::of(corners(middle, half)), size);
            again.open(true);
            again.restore(&rig.saved().expect("the learner switched"));
            assert!(!again.is_flat());
        }
    }

    #[test]
    fn zoom_keeps_what_is_under_the_cursor() {
        let mut rig = CameraRig::default();
        let cursor = Vec2::new(0.5, -0.3);
        let pixel = (Vec2::new(cursor.x, -cursor.y) * 0.5 + 0.5) * SIZE;
        let half = rig.pose.distance * half_height(1.0);
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
        assert_close("the distance", rig.pose.distance, CameraRig::default().pose.distance, Tolerance::SINGLE);
        assert!(!rig.is_moving());
    }

    #[test]
    fn a_camera_that_was_moved_does_not_follow_the_scene() {
        let mut rig = CameraRig::default();
        rig.orbit(Vec2::new(10.0, 0.0));
        let before = rig.pose;
        rig.fit_now(cube(3.0), Vec2::ONE);
        assert_eq!(rig.pose, before);
    }

    #[test]
    fn the_scene_keeps_its_scale_until_it_outgrows_it() {
        let mut rig = CameraRig::default();
        rig.fit_now(cube(1.5), Vec2::ONE);
        let wide = rig.pose;
        assert_eq!(wide, cube(1.5).home(1.0, false));
        rig.fit_now(cube(1.0), Vec2::ONE);
        assert_eq!(rig.pose, wide, "a smaller scene brings the camera no nearer");
        rig.home();
        rig.advance(1.0);
        assert_eq!(rig.pose, cube(1.0).home(1.0, false), "Home does");
    }

    /// Returns the largest distance of a point from the middle of the view, where the edge is at 1.
    fn farthest(rig: &CameraRig, points: impl Iterator<Item = Vec3>, size: Vec2) -> f32 {
        let seen = points.map(|point| rig.view(size).project(point).expect("in front").at / size);
        seen.map(|at| ((at - 0.5) * 2.0).abs().max_element()).fold(0.0, f32::max)
    }

    #[test]
    fn home_shows_the_box_and_fills_the_view_with_it() {
        let (middle, half) = (Vec3::new(0.5, 0.2, 0.0), Vec3::new(1.5, 0.4, 0.3));
        let content = Content::of(corners(middle, half));
        for size in [SIZE, Vec2::new(300.0, 900.0), Vec2::new(1600.0, 500.0)] {
            for is_flat in [false, true] {
                let mut rig = CameraRig::default();
                rig.open(is_flat);
                rig.fit_now(content.clone(), size);
                rig.home();
                rig.advance(1.0);
                let far = farthest(&rig, corners(middle, half), size);
                assert!(far < 0.85, "a corner at {far} of {size}");
                assert!(far > 0.7, "the picture fills no more than {far} of {size}, flat: {is_flat}");
            }
        }
    }

    #[test]
    fn a_camera_that_nobody_has_moved_comes_back_when_the_scene_is_at_rest() {
        let mut rig = CameraRig::default();
        rig.fit_now(cube(1.0), SIZE);
        rig.home();
        rig.advance(1.0);
        let before = rig.pose;
        rig.fit_now(cube(2.0), SIZE);
        rig.fit_now(cube(1.0), SIZE);
        assert_ne!(rig.pose, before, "it stepped back, and waits");
        rig.settle();
        rig.advance(1.0);
        assert_eq!(rig.pose, before);
        rig.orbit(Vec2::new(20.0, 0.0));
        let turned = rig.pose;
        rig.settle();
        rig.advance(1.0);
        assert!(rig.is_touched() && rig.pose == turned, "the learner's view stays");
    }

    #[test]
    fn a_camera_comes_back_to_where_it_was_whatever_was_kept() {
        let mut rig = CameraRig::default();
        assert_eq!(rig.saved(), None, "nobody has moved it");
        rig.orbit(Vec2::new(30.0, -12.0));
        rig.pan(Vec2::new(5.0, 9.0), SIZE);
        let mut again = CameraRig::default();
        again.restore(&rig.saved().expect("a pose"));
        assert!(again.is_touched() && again.pose == rig.pose);
        rig.toggle_flat();
        again.restore(&rig.saved().expect("the pose that it is on its way to"));
        rig.advance(1.0);
        assert!(again.is_flat() && again.pose == rig.pose);
        for bad in [f32::NAN, f32::INFINITY, 3e38, -3e38, 0.0] {
            let saved = SavedCamera { target: [bad; 3], yaw: bad, pitch: bad, distance: bad, is_flat: false };
            let mut rig = CameraRig::default();
            rig.restore(&saved);
            let Pose { target, yaw, pitch, distance, .. } = rig.pose;
            assert!(target.length() <= TARGET_MAX * 1.01 && pitch.abs() <= PITCH_LIMIT, "{bad}: {:?}", rig.pose);
            assert!(yaw.abs() <= TAU && (DISTANCE.0..=DISTANCE.1).contains(&distance), "{bad}: {:?}", rig.pose);
        }
    }

    #[test]
    fn nothing_behind_the_camera_is_seen() {
        let rig = CameraRig::default();
        assert_eq!(rig.view(SIZE).project(rig.pose.eye() * 2.0), None);
    }
}
