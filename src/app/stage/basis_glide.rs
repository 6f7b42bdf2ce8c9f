//! Another basis, or a lesson that was trained again: the points glide to their places in it, in one short move.
//!
//! Everything moves on straight lines. A mixture of two linear maps is a linear map, so that arrows add up on the way too.

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_view::explain::path::{PathArrow, PathModel};
use attune_view::view_model::stage::{StageModel, TokenPoint, WordPoint};

use crate::app::theme::motion;
use crate::app::view::walk::ease;

/// More words than this jump: each frame of the glide makes all of them anew.
const WORDS_MAX: usize = 20_000;

/// The points' way from one basis to another, and the time since it began.
pub struct BasisGlide {
    from: (Arc<StageModel>, Option<Arc<PathModel>>),
    to: (Arc<StageModel>, Option<Arc<PathModel>>),
    elapsed: f32,
    seconds: f32,
}

impl BasisGlide {
    /// From what was shown to what is shown now, if the words are the same and their axes are not. A glide
    /// that is under way goes on to what is shown now.
    pub fn after(
        before: (Option<&Snapshot>, Option<Arc<StageModel>>, Option<Arc<PathModel>>),
        now: &Snapshot,
        to: (&Arc<StageModel>, &Option<Arc<PathModel>>),
        under_way: Option<Self>,
    ) -> Option<Self> {
        let to = (to.0.clone(), to.1.clone());
        let (old, new) = (before.0?.space.as_ref()?, now.space.as_ref()?);
        let is_same_lesson = before.0?.lesson.id == now.lesson.id;
        let made_of = |snapshot: &Snapshot| Some(Arc::as_ptr(&snapshot.model.as_ref()?.made_of));
        let is_retrained = made_of(before.0?).zip(made_of(now)).is_some_and(|(before, now)| before != now);
        if !is_same_lesson || (old.projection == new.projection && !is_retrained) {
            return under_way.map(|glide| Self { to, ..glide });
        }
        let is_small = new.vocabulary.len() <= WORDS_MAX && old.vocabulary == new.vocabulary;
        let seconds = if is_retrained { motion::RETRAINED } else { motion::GLIDE };
        is_small.then_some(Self { from: (before.1?, before.2), to, elapsed: 0.0, seconds })
    }

    /// Lets time pass. Returns what is shown of the way now.
    pub fn advance(&mut self, seconds: f32) -> (Arc<StageModel>, Option<Arc<PathModel>>) {
        self.elapsed += seconds;
        let share = ease((self.elapsed / self.seconds).clamp(0.0, 1.0));
        if share >= 1.0 {
            return self.to.clone();
        }
        let path = match (&self.from.1, &self.to.1) {
            (Some(from), Some(to)) => Some(Arc::new(mix_path(from, to, share))),
            (_, to) => to.clone(),
        };
        (Arc::new(mix_stage(&self.from.0, &self.to.0, share)), path)
    }

    /// The points at its end.
    pub fn goal(&self) -> &Arc<StageModel> {
        &self.to.0
    }

    /// Ends at another path, which has no way to glide.
    pub fn go_to_path(&mut self, path: &Option<Arc<PathModel>>) {
        self.to.1.clone_from(path);
    }

    pub fn has_arrived(&self) -> bool {
        self.elapsed >= self.seconds
    }
}

type Point = [f32; 3];

fn mix(from: Point, to: Point, share: f32) -> Point {
    std::array::from_fn(|axis| (1.0 - share) * from[axis] + share * to[axis])
}

/// At a share of the way. What only one of the two has is where it has it.
fn mix_stage(from: &StageModel, to: &StageModel, share: f32) -> StageModel {
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
fn mix_path(from: &PathModel, to: &PathModel, share: f32) -> PathModel {
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
