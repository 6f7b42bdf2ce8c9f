//! The points that can be picked and named. The point under the pointer is found on the screen, by the distance to each
//! disc, without a ray.
//!
//! Whatever does not depend on the camera is prepared once ([`PointIndex`]), so that a frame with a million points only
//! has to project them.

use std::sync::Arc;

use attune_ui::ui_state::search::{Emphasis, Hit, Visibility};
use attune_view::view_model::stage::{StageModel, crowd_of};
use bevy::math::{Vec2, Vec4};

use super::geometry::{has_place, is_cloud, is_small, scaled};
use super::view::View;

/// Reach of the pointer around a disc, in points.
pub const REACH: f32 = 8.0;

/// A point that can be picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate<T> {
    pub what: T,
    pub at: Vec2,
    /// The radius of the point's disc on the screen, in points.
    pub radius: f32,
    pub depth: f32,
}

/// Returns the nearest candidate within reach; of two that are equally near, the one in front.
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

/// Greatest number of names of words at the same time; more would cover the points.
const NAMED_MAX: usize = 160;
/// Number of words of a cloud that have names, from the beginning of the table.
const NAMED_OF_CLOUD: usize = 60;
/// Number of words up to which labels avoid the words' discs.
const APART_MAX: usize = 1500;
/// Number of points that are tested together.
const TOGETHER: usize = 64;

/// The words of a model under one emphasis. Tokens are not indexed, because they are few and move.
#[derive(Debug)]
pub struct PointIndex {
    model: Arc<StageModel>,
    emphasis: Arc<Emphasis>,
    /// Words that can be picked or enclosed.
    pub words: Vec<usize>,
    /// Coordinates of these words in the scene along each axis.
    along: [Vec<f32>; 3],
    /// Words that have names.
    pub named: Vec<Hit>,
    /// Words without names whose discs labels avoid, if there are few.
    pub apart: Vec<Hit>,
    /// Words of each group that forms a crowd, with the group's index.
    pub crowds: Vec<(usize, Vec<Hit>)>,
    /// Number of points that cannot be drawn because a coordinate is not finite.
    pub lost: usize,
}

impl PointIndex {
    pub fn of(model: &Arc<StageModel>, emphasis: &Arc<Emphasis>) -> PointIndex {
        // A word of the sentence is represented by its token.
        let is_resting = |index: &usize| !model.is_in_sentence(*index);
        let (mut words, mut along, mut named) = (Vec::new(), [const { Vec::new() }; 3], Vec::new());
        for (index, shown) in emphasis.shown_words(model).filter(|(index, _)| is_resting(index)) {
            let [x, y, z] = scaled(model, model.words[index].at);
            if has_place([x, y, z]) {
                words.push(index);
                along[0].push(x);
                along[1].push(y);
                along[2].push(z);
            }
            if has_name(model, emphasis, index, shown) {
                named.push(index);
            }
        }
        let is_apart = |index: &usize| is_resting(index) && !has_name(model, emphasis, *index, emphasis.word(*index));
        let all = if model.words.len() > APART_MAX { 0 } else { model.words.len() };
        let apart: Vec<usize> = (0..all).filter(is_apart).collect();
        let hits = |indices: Vec<usize>, stride| indices.into_iter().step_by(stride).map(Hit::Word).collect();
        // If there are too many, names are taken at regular intervals in the list.
        let stride = named.len().div_ceil(NAMED_MAX).max(1);
        let lost_words = model.words.lost().iter().filter(|index| is_resting(index)).count();
        let lost_tokens = model.tokens.iter().filter(|token| !has_place(token.start) || !has_place(token.end)).count();
        PointIndex {
            crowds: crowds(model, emphasis),
            model: model.clone(),
            emphasis: emphasis.clone(),
            words,
            along,
            named: hits(named, stride),
            apart: hits(apart, 1),
            lost: lost_words + lost_tokens,
        }
    }

    pub fn is_of(&self, model: &Arc<StageModel>, emphasis: &Arc<Emphasis>) -> bool {
        Arc::ptr_eq(&self.model, model) && Arc::ptr_eq(&self.emphasis, emphasis)
    }

    /// Returns the words in the square around a place on the screen that extends by `reach` points to each side.
    ///
    /// The test |x / w − a| ≤ r is computed as |x − a w| ≤ r w, without a division and for many points at a time.
    pub fn near(&self, view: &View, at: Vec2, reach: f32) -> Vec<Hit> {
        let [right, down, divisor] = view.offsets_from(at);
        let [x, y, z] = self.along.each_ref().map(|along| along.chunks(TOGETHER));
        let mut near = Vec::new();
        for (((x, y), z), words) in x.zip(y).zip(z).zip(self.words.chunks(TOGETHER)) {
            let is_near = |((x, y), z): ((&f32, &f32), &f32)| {
                let of = |row: Vec4| row.x * x + row.y * y + row.z * z + row.w;
                let most = reach * of(divisor);
                (of(right).abs() <= most) & (of(down).abs() <= most)
            };
            let all = || x.iter().zip(y).zip(z).map(is_near);
            if all().fold(false, |any, one| any | one) {
                near.extend(all().zip(words).filter(|(is_near, _)| *is_near).map(|(_, word)| Hit::Word(*word)));
            }
        }
        near
    }
}

/// Returns the words of each group that forms a crowd, with the group's index.
fn crowds(model: &StageModel, emphasis: &Emphasis) -> Vec<(usize, Vec<Hit>)> {
    let crowd = |group: usize| {
        let is_member = |index: &usize| {
            let word = &model.words[*index];
            word.group == Some(group) && has_place(word.at) && emphasis.word(*index) != Visibility::Hidden
        };
        let words = model.words.grouped().iter().copied().filter(is_member);
        Some((group, crowd_of(words.map(Hit::Word))?))
    };
    (0..model.groups.len()).filter_map(crowd).collect()
}

fn has_name(model: &StageModel, emphasis: &Emphasis, index: usize, shown: Visibility) -> bool {
    let is_searched = emphasis.is_searched();
    match shown {
        Visibility::Hidden => false,
        Visibility::Faded if is_searched => false,
        // The words of a file are in the order of their frequency.
        _ if is_cloud(model) && index < NAMED_OF_CLOUD => true,
        _ => is_searched || emphasis.is_isolated() || is_small(model) || model.words[index].group.is_some(),
    }
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
            // The stack is also picked from beside it, up to the reach of the pointer.
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
