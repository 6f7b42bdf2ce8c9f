//! A kernel trains its lesson again, and opens one that was left with a recipe.

use std::sync::Arc;

use crate::kernel::model::retraining::{EmbeddedCorpus, Retraining, Step};
use crate::kernel::model::{LessonModel, ModelOrigin};
use crate::kernel::state::{Kernel, Phase, Undoable};
use crate::kernel::vectors::LessonFault;
use crate::lesson::Recipe;

/// A retraining that somebody waits for.
pub struct UnderWay {
    pub work: Retraining,
    /// Names of its changes.
    changes: Vec<String>,
    /// True where it changes the same as the last one, and undoes together with it.
    goes_on: bool,
}

impl Kernel {
    pub(in crate::kernel) fn retrain(&mut self, recipe: Recipe) -> Result<(), String> {
        let (Phase::Ready(ready), Some(own)) = (&mut self.phase, &self.own) else {
            return Err("wait until the static vectors are trained".to_owned());
        };
        if ready.pretrained.is_some() {
            return Err("a model that was read from files is not trained here".to_owned());
        }
        let changes = recipe.changes_from(&ready.origin.recipe);
        if changes.is_empty() {
            self.has_changed |= self.retraining.take().is_some();
            return Ok(());
        }
        if self.retraining.as_ref().is_some_and(|under_way| *under_way.work.recipe() == recipe) {
            return Ok(());
        }
        let goes_on = !recipe.is_default() && self.retrained.as_ref() == Some(&changes);
        let work = Retraining::new(&self.lesson, recipe, &[own.clone(), EmbeddedCorpus::of(ready)], true)?;
        ready.training.pause();
        self.retraining = Some(UnderWay { work, changes, goes_on });
        self.has_changed = true;
        Ok(())
    }

    /// The next piece of it.
    pub(in crate::kernel) fn retrain_on(&mut self) {
        let Some(UnderWay { work, changes, goes_on }) = self.retraining.take() else { return };
        let Some(own) = &self.own else { return };
        match work.advance(&own.space) {
            Ok(Step::On(work)) => self.retraining = Some(UnderWay { work, changes, goes_on }),
            Ok(Step::Done(ready)) => self.replace_model(*ready, changes, goes_on),
            Err(LessonFault { words, .. }) => self.notice = Some(words.into()),
        }
    }

    fn replace_model(&mut self, mut new: LessonModel, changes: Vec<String>, goes_on: bool) {
        let Phase::Ready(ready) = &mut self.phase else { return };
        // Something else may have happened meanwhile.
        let goes_on = goes_on && self.retrained.as_ref() == Some(&changes);
        let lost = new.take_over(ready);
        if !lost.is_empty() {
            self.notice = Some(lost.join("; ").into());
        }
        ready.training.pause();
        // While a slider is dragged, the ghosts are those of where the drag began.
        if goes_on {
            new.origin.replaced = ready.origin.replaced.take();
            new.cache.replaced = std::mem::take(&mut ready.cache.replaced);
        } else {
            new.cache.replaced = Arc::new(ready.shown()).into();
            new.origin.replaced = Some(Box::new(ready.without_ghost()));
        }
        let words = new.origin.recipe.words(&self.lesson);
        let label = if words.is_empty() {
            "retraining as the lesson has it".to_owned()
        } else {
            format!("retraining: {words}")
        };
        let old = std::mem::replace(&mut **ready, new);
        if !goes_on {
            self.remember(label, Undoable::Retrained(Box::new(old.clone())));
        }
        self.retrained = Some(changes);
    }

    /// The lesson's own static vectors are trained.
    pub(in crate::kernel) fn embedded_own(&mut self) {
        let Phase::Embedding(trainer) = &self.phase else { return };
        let ground = match EmbeddedCorpus::of_lesson(&self.lesson, trainer) {
            Ok(ground) => ground,
            Err(fault) => {
                self.phase = Phase::Failed { progress: trainer.progress(), fault };
                return;
            }
        };
        self.own = Some(ground.clone());
        let recipe = self.awaited.as_ref().and_then(|saved| saved.recipe().cloned());
        match recipe.map(|recipe| Retraining::new(&self.lesson, recipe, &[ground], false)) {
            Some(Ok(work)) => self.opening = Some(work),
            Some(Err(why)) => self.open_without_recipe(&why),
            None => self.open_own(),
        }
    }

    /// The next piece of a lesson that was left with a recipe.
    pub(in crate::kernel) fn open_on(&mut self, work: Retraining) {
        let Some(own) = &self.own else { return };
        match work.advance(&own.space) {
            Ok(Step::On(work)) => self.opening = Some(work),
            Ok(Step::Done(ready)) => {
                self.phase = Phase::Ready(ready);
                self.begin();
            }
            Err(LessonFault { words, .. }) => self.open_without_recipe(&words),
        }
    }

    fn open_without_recipe(&mut self, why: &str) {
        self.say(vec![format!("It was trained with other settings, and is as the lesson has it now: {why}.")]);
        self.open_own();
    }

    fn open_own(&mut self) {
        let Some(ground) = &self.own else { return };
        let origin = ModelOrigin { lesson: self.lesson.clone(), recipe: ground.recipe.clone(), replaced: None };
        self.phase = match ground.model(origin) {
            Ok(ready) => Phase::Ready(Box::new(ready)),
            Err(fault) => Phase::Failed { progress: ground.progress, fault },
        };
        self.begin();
    }
}
