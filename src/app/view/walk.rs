//! The walk through attention: which step is shown, and where the points are between static and contextual.

use crate::app::theme::motion;
use crate::view_model::walk::Step;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walk {
    /// A whole number at each step; the last step's is contextual.
    at: f32,
    glide: Option<Glide>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Glide {
    from: f32,
    to: f32,
    elapsed: f32,
    /// The points alone are moved, not the walk.
    is_of_time: bool,
}

/// The last step of the walk, and the place on it where the points begin to move.
pub const LAST: f32 = (Step::ALL.len() - 1) as f32;
const BEFORE_MOVE: f32 = LAST - 1.0;

impl Walk {
    /// The time of the points, from 0, static, to 1, contextual: they move in the last step of the walk.
    pub fn time(&self) -> f32 {
        (self.at - BEFORE_MOVE).clamp(0.0, 1.0)
    }

    /// How far the walk is, from 0 to [`LAST`].
    pub fn at(&self) -> f32 {
        self.at
    }

    /// The step that the walk is at, or on its way to.
    pub fn step(&self) -> Step {
        let goal = self.glide.map_or(self.at, |glide| glide.to);
        Step::ALL[(goal.ceil() as usize).min(Step::ALL.len() - 1)]
    }

    /// Moves the points to `time`, in a short glide unless motion is reduced; the steps between are left out.
    pub fn glide_to(&mut self, time: f32) {
        if self.time() == time && !self.is_gliding() {
            self.set_time(time);
            return;
        }
        self.at = self.at.max(BEFORE_MOVE);
        self.go_to(BEFORE_MOVE + time.clamp(0.0, 1.0));
        if let Some(glide) = &mut self.glide {
            glide.is_of_time = true;
        } else {
            self.set_time(time);
        }
    }

    /// Whether the walk is at one of the steps before the move.
    pub fn is_walking(&self) -> bool {
        let is_of_time = self.glide.is_some_and(|glide| glide.is_of_time);
        !is_of_time && self.at > 0.0 && self.at <= BEFORE_MOVE
    }

    /// Moves by so many steps in a short glide. No point moves before the last step.
    pub fn step_by(&mut self, steps: isize) {
        let goal = self.step().index().saturating_add_signed(steps).min(Step::ALL.len() - 1);
        self.go_to(goal as f32);
    }

    /// To a place on the walk, in a short glide unless motion is reduced.
    pub fn go_to(&mut self, to: f32) {
        let to = to.clamp(0.0, LAST);
        let glide = Glide { from: self.at, to, elapsed: 0.0, is_of_time: false };
        self.glide = (self.at != to).then_some(glide);
    }

    /// At static the walk is at its beginning.
    pub fn set_time(&mut self, time: f32) {
        let time = time.clamp(0.0, 1.0);
        self.set(if time == 0.0 { 0.0 } else { BEFORE_MOVE + time });
    }

    pub fn set(&mut self, walk: f32) {
        self.glide = None;
        self.at = walk.clamp(0.0, LAST);
    }

    pub fn is_gliding(&self) -> bool {
        self.glide.is_some()
    }

    /// Lets `seconds` of a glide pass.
    pub fn advance(&mut self, seconds: f32) {
        let Some(mut glide) = self.glide else { return };
        glide.elapsed += seconds;
        self.glide = Some(glide);
        let share = (glide.elapsed / motion::GLIDE).min(1.0);
        self.at = glide.from + (glide.to - glide.from) * ease(share);
        if share >= 1.0 {
            // Back at the static place, the walk is at its beginning.
            let is_home = glide.from > glide.to && glide.to == BEFORE_MOVE && glide.is_of_time;
            self.set(if is_home { 0.0 } else { glide.to });
        }
    }

    /// At rest where it is.
    pub fn at_rest(&self) -> Walk {
        Walk { at: self.at, glide: None }
    }
}

/// Slow at both ends: `3x² − 2x³`.
pub fn ease(x: f32) -> f32 {
    const SMOOTHSTEP: (f32, f32) = (3.0, 2.0);
    x * x * (SMOOTHSTEP.0 - SMOOTHSTEP.1 * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glide_ends_exactly_at_its_goal() {
        let mut walk = Walk::default();
        walk.glide_to(1.0);
        walk.advance(motion::GLIDE / 2.0);
        assert!((walk.time() - 0.5).abs() < 1e-6 && walk.is_gliding());
        walk.advance(motion::GLIDE);
        assert_eq!((walk.time(), walk.is_gliding()), (1.0, false));
    }

    #[test]
    fn a_walk_stops_at_each_step_and_the_points_move_in_the_last() {
        let mut walk = Walk::default();
        for (index, step) in Step::ALL.into_iter().enumerate().skip(1) {
            walk.step_by(1);
            assert_eq!(walk.step(), step);
            walk.advance(motion::GLIDE);
            assert_eq!((walk.at(), walk.is_gliding()), (index as f32, false));
            assert_eq!(walk.time(), if step == Step::Contextual { 1.0 } else { 0.0 });
        }
        walk.step_by(1);
        assert_eq!(walk.step(), Step::Contextual);
        walk.step_by(-1);
        walk.advance(motion::GLIDE);
        assert_eq!((walk.step(), walk.time()), (Step::Output, 0.0));
        walk.set_time(1.0);
        walk.glide_to(0.0);
        walk.advance(motion::GLIDE);
        assert_eq!((walk.step(), walk.time()), (Step::Embed, 0.0));
    }

    #[test]
    fn a_step_back_within_the_frame_of_a_step_leaves_the_walk_where_it_is() {
        let mut walk = Walk::default();
        walk.step_by(1);
        walk.step_by(-1);
        walk.advance(f32::INFINITY);
        assert_eq!((walk.step(), walk.at()), (Step::Embed, 0.0));
    }

    #[test]
    fn reduced_motion_jumps() {
        let mut walk = Walk::default();
        walk.glide_to(1.0);
        walk.advance(f32::INFINITY);
        assert_eq!((walk.time(), walk.is_gliding()), (1.0, false));
    }
}
