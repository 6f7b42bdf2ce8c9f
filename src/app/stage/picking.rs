//! Which point is under the pointer: the nearest on the screen, by its own number, no ray.

use bevy::math::Vec2;

/// Within this many points of the pointer.
pub const REACH: f32 = 8.0;

/// A point that can be picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate<T> {
    pub what: T,
    pub at: Vec2,
    /// Radius of its disc on the screen, in points.
    pub radius: f32,
    pub depth: f32,
}

/// The nearest candidate within reach; of two as near, the one in front.
pub fn nearest<T: Copy>(pointer: Vec2, candidates: impl IntoIterator<Item = Candidate<T>>) -> Option<T> {
    candidates
        .into_iter()
        .map(|candidate| (candidate.at.distance(pointer) - candidate.radius, candidate))
        // NaN is never picked.
        .filter(|(distance, _)| *distance <= REACH)
        .map(|(distance, candidate)| (distance.max(0.0), candidate))
        .min_by(|(a, near), (b, far)| a.total_cmp(b).then(near.depth.total_cmp(&far.depth)))
        .map(|(_, candidate)| candidate.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(what: u8, x: f32, depth: f32) -> Candidate<u8> {
        Candidate { what, at: Vec2::new(x, 0.0), radius: 2.0, depth }
    }

    #[test]
    fn nothing_beyond_the_reach() {
        assert_eq!(nearest(Vec2::ZERO, [at(1, REACH + 2.5, 1.0)]), None);
        assert_eq!(nearest(Vec2::ZERO, [at(1, REACH + 1.5, 1.0)]), Some(1));
    }

    #[test]
    fn the_nearest_on_the_screen_wins_whatever_its_depth() {
        assert_eq!(nearest(Vec2::ZERO, [at(1, 7.0, 1.0), at(2, 4.0, 9.0)]), Some(2));
    }

    #[test]
    fn a_stack_is_picked_from_the_front() {
        let stack = |front: usize| (0..9).map(move |what| at(what, 0.0, ((what as usize + 9 - front) % 9) as f32));
        for front in 0..9 {
            assert_eq!(nearest(Vec2::ZERO, stack(front)), Some(front as u8));
            // Beside the stack too, up to the last point of the screen.
            let edge = 2.0 + REACH;
            assert_eq!(nearest(Vec2::new(0.0, edge - 0.01), stack(front)), Some(front as u8));
            assert_eq!(nearest(Vec2::new(0.0, edge + 0.01), stack(front)), None);
        }
    }

    #[test]
    fn what_has_no_place_is_never_picked() {
        assert_eq!(nearest(Vec2::ZERO, [at(1, f32::NAN, 0.0), at(2, f32::INFINITY, 0.0), at(3, 3.0, 9.0)]), Some(3));
    }

    #[test]
    fn of_two_under_the_pointer_the_front_one_wins() {
        assert_eq!(nearest(Vec2::ZERO, [at(1, 1.0, 5.0), at(2, 1.5, 2.0)]), Some(2));
    }
}
