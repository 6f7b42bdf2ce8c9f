//! Another basis, or a lesson that was trained again: the points glide to their places in it, in one short move.

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_view::explain::path::PathModel;
use attune_view::view_model::between;
use attune_view::view_model::stage::StageModel;

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
            (Some(from), Some(to)) => Some(Arc::new(between::path(from, to, share))),
            (_, to) => to.clone(),
        };
        (Arc::new(between::stage(&self.from.0, &self.to.0, share)), path)
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
