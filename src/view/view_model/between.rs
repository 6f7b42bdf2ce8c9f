//! Pictures on the way from one basis to another: everything moves on straight lines. A mixture of two linear
//! maps is a linear map, so that arrows add up on the way too.

use super::stage::{StageModel, TokenPoint, WordPoint};
use crate::explain::path::{PathArrow, PathModel};

type Point = [f32; 3];

fn mix(from: Point, to: Point, share: f32) -> Point {
    std::array::from_fn(|axis| (1.0 - share) * from[axis] + share * to[axis])
}

/// At a share of the way. What only one of the two has is where it has it.
pub fn stage(from: &StageModel, to: &StageModel, share: f32) -> StageModel {
    let word = |(index, word): (usize, &WordPoint)| match from.words.get(index) {
        Some(before) => WordPoint { at: mix(before.at, word.at, share), ..word.clone() },
        None => word.clone(),
    };
    StageModel {
        words: to.words.iter().enumerate().map(word).collect::<Vec<_>>().into(),
        in_sentence: to.in_sentence.clone(),
        tokens: tokens(&from.tokens, &to.tokens, share),
        second: tokens(&from.second, &to.second, share),
        sense_word: to.sense_word.clone(),
        radius: (1.0 - share) * from.radius + share * to.radius,
        groups: to.groups.clone(),
        axes: to.axes.clone(),
        shared: to.shared.clone(),
        ghosts: to.ghosts.clone(),
        note: to.note.clone(),
        shares: to.shares.clone(),
        about: to.about.clone(),
        ..*to
    }
}

fn tokens(from: &[TokenPoint], to: &[TokenPoint], share: f32) -> Vec<TokenPoint> {
    let token = |(index, token): (usize, &TokenPoint)| match from.get(index) {
        Some(before) if before.text == token.text => TokenPoint {
            static_at: mix(before.static_at, token.static_at, share),
            start: mix(before.start, token.start, share),
            end: mix(before.end, token.end, share),
            trained_end: mix(before.trained_end, token.trained_end, share),
            ..token.clone()
        },
        _ => token.clone(),
    };
    to.iter().enumerate().map(token).collect()
}

/// The same of the arrows of a move, if both are of one.
pub fn path(from: &PathModel, to: &PathModel, share: f32) -> PathModel {
    let is_same = from.query == to.query && from.arrows.len() == to.arrows.len();
    if !is_same {
        return to.clone();
    }
    let arrow = |(before, arrow): (&PathArrow, &PathArrow)| PathArrow {
        from: mix(before.from, arrow.from, share),
        to: mix(before.to, arrow.to, share),
        ..arrow.clone()
    };
    PathModel {
        arrows: from.arrows.iter().zip(&to.arrows).map(arrow).collect(),
        from: mix(from.from, to.from, share),
        to: mix(from.to, to.to, share),
        ..to.clone()
    }
}
