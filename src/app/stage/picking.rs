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
        .map(|candidate| ((candidate.at.distance(pointer) - candidate.radius).max(0.0), candidate))
        .filter(|(distance, _)| *distance <= REACH)
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
    fn of_two_under_the_pointer_the_front_one_wins() {
        assert_eq!(nearest(Vec2::ZERO, [at(1, 1.0, 5.0), at(2, 1.5, 2.0)]), Some(2));
    }
}
