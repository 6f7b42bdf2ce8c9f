//! The phases of a running lesson, from its static vectors to its model. Each phase has exactly the data that exists in
//! it, so that inconsistent states cannot be represented.
//!
//! ```text
//! Embedding ─► Opening (work that was saved with a recipe) ─► Ready: nothing │ resuming │ retraining
//!      └────────────────────────────────────────────────────► Failed
//! ```

use std::sync::Arc;

use crate::kernel::command::{Command, TrainingCommand};
use crate::kernel::history::Stroke;
use crate::kernel::model::LessonModel;
use crate::kernel::model::cache::Cache;
use crate::kernel::model::corpus::EmbeddedCorpus;
use crate::kernel::model::retraining::Retraining;
use crate::kernel::saved_work::{Resuming, Saved};
use crate::kernel::static_embedding::{LessonFault, SpaceTrainer};
use crate::kernel::values::Progress;
use crate::lesson::Recipe;
use crate::lesson::recorded::ONE_PASS;
use crate::lesson::schema::Lesson;

/// The phase of a running lesson.
pub enum Phase {
    /// Training of the lesson's own static vectors, or reading of the vectors from files.
    Embedding {
        trainer: Box<SpaceTrainer>,
        goal: Goal,
    },
    /// Computation of the model's initialisation, for a lesson that was saved with a recipe.
    Opening {
        own: EmbeddedCorpus,
        work: Box<Retraining>,
        goal: Goal,
    },
    Ready(Ready),
    /// Failure of a lesson for which no model can be made. The reason is in every snapshot.
    Failed {
        progress: Progress,
        fault: LessonFault,
        saved: Option<Arc<Saved>>,
    },
}

/// Requests for a lesson that has no model yet.
#[derive(Default)]
pub struct Goal {
    /// Saved work, which is restored once there is a model.
    pub saved: Option<Arc<Saved>>,
    /// Whether training was requested before there was a model.
    pub plays: bool,
}

/// A lesson with its model.
pub struct Ready {
    pub model: Box<LessonModel>,
    /// The lesson's own static vectors, which every retraining uses.
    pub own: EmbeddedCorpus,
    pub task: Task,
}

/// Work that is done before any other work, such as training.
#[derive(Default)]
pub enum Task {
    #[default]
    Nothing,
    /// Restoration of the model to its saved state.
    Resuming { saved: Arc<Saved>, way: Box<Resuming> },
    /// Training of the lesson from scratch, while the present model stays. With the same `stroke`, successive
    /// retrainings are undone as one change.
    Retraining { work: Box<Retraining>, stroke: Option<Stroke> },
}

impl Phase {
    /// Returns the model, once there is one.
    pub fn model(&self) -> Option<&LessonModel> {
        match self {
            Self::Ready(ready) => Some(&ready.model),
            Self::Embedding { .. } | Self::Opening { .. } | Self::Failed { .. } => None,
        }
    }

    pub fn model_mut(&mut self) -> Option<&mut LessonModel> {
        match self {
            Self::Ready(ready) => Some(&mut ready.model),
            Self::Embedding { .. } | Self::Opening { .. } | Self::Failed { .. } => None,
        }
    }

    /// Returns the task of a lesson with a model.
    pub fn task(&self) -> &Task {
        match self {
            Self::Ready(ready) => &ready.task,
            Self::Embedding { .. } | Self::Opening { .. } | Self::Failed { .. } => &Task::Nothing,
        }
    }

    /// Returns the saved work until it has been restored.
    pub fn saved(&self) -> Option<&Arc<Saved>> {
        match self {
            Self::Embedding { goal, .. } | Self::Opening { goal, .. } => goal.saved.as_ref(),
            Self::Ready(Ready { task: Task::Resuming { saved, .. }, .. }) => Some(saved),
            Self::Ready(_) => None,
            Self::Failed { saved, .. } => saved.as_ref(),
        }
    }

    pub fn is_retraining(&self) -> bool {
        matches!(self.task(), Task::Retraining { .. })
    }

    pub fn is_resuming(&self) -> bool {
        matches!(self.task(), Task::Resuming { .. })
    }

    /// Cancels a retraining. Returns true if there was one.
    pub fn give_up_retraining(&mut self) -> bool {
        match self {
            Self::Ready(ready) if matches!(ready.task, Task::Retraining { .. }) => ready.end_task(),
            _ => false,
        }
    }

    /// Returns the progress of the static vectors.
    pub fn embedding_progress(&self) -> Progress {
        match self {
            Self::Embedding { trainer, .. } => trainer.progress(),
            Self::Opening { work, .. } => work.snapshot().embedding,
            Self::Ready(ready) => ready.model.ground.progress,
            Self::Failed { progress, .. } => *progress,
        }
    }
}

impl Ready {
    /// Applies a command to the model or to the task. Returns true if the command changed something to be saved that
    /// the model does not record itself.
    ///
    /// # Errors
    /// A message for the learner if the command is refused. Nothing is changed in that case.
    pub fn apply(&mut self, command: Command, lesson: &Arc<Lesson>, stroke: Option<Stroke>) -> Result<bool, String> {
        if let Task::Resuming { way, .. } = &mut self.task {
            match &command {
                Command::Training(TrainingCommand::Play) => {
                    way.play();
                    return Ok(false);
                }
                Command::Training(TrainingCommand::Pause) => {
                    way.pause();
                    return Ok(false);
                }
                // A reset ends the restoration, so the command need not wait.
                Command::Training(TrainingCommand::Reset) => {}
                command if command.concerns_training() => {
                    return Err("wait until training is back where you left it".to_owned());
                }
                _ => {}
            }
        }
        let has_changed = match &command {
            Command::Training(TrainingCommand::Reset) => self.end_task(),
            Command::Training(TrainingCommand::Pause) => self.end_task() || self.model.training.is_playing(),
            // Training the old model would be useless, because it is about to be replaced.
            Command::Training(TrainingCommand::Play | TrainingCommand::Step(_))
                if matches!(self.task, Task::Retraining { .. }) =>
            {
                return Err("wait until the lesson has been trained again, or cancel that with Pause".to_owned());
            }
            _ => false,
        };
        if let Command::Retrain(recipe) = command {
            return self.retrain(lesson, *recipe, stroke);
        }
        let lesson = self.model.origin.lesson.clone();
        self.model.apply(command, &lesson)?;
        Ok(has_changed)
    }

    /// Starts a retraining, or cancels one if the present model has this recipe. Returns true if either happened.
    ///
    /// # Errors
    /// A message for the learner if the lesson cannot be trained with this recipe.
    pub fn retrain(&mut self, lesson: &Arc<Lesson>, recipe: Recipe, stroke: Option<Stroke>) -> Result<bool, String> {
        if self.model.is_recorded() {
            return Err(format!("{ONE_PASS}, so there is nothing to train"));
        }
        if self.model.ground.pretrained.is_some() {
            return Err("a model that was read from files cannot be trained here".to_owned());
        }
        if recipe.changes_from(&self.model.origin.recipe).is_empty() {
            return Ok(self.end_task());
        }
        if matches!(&self.task, Task::Retraining { work, .. } if *work.recipe() == recipe) {
            return Ok(false);
        }
        let work = Retraining::new(lesson, recipe, &[self.own.clone(), self.model.corpus()], true)?;
        self.model.training.pause();
        self.task = Task::Retraining { work: Box::new(work), stroke };
        Ok(true)
    }

    /// Ends the task. Returns true if there was one.
    fn end_task(&mut self) -> bool {
        let is_under_way = !matches!(self.task, Task::Nothing);
        self.task = Task::Nothing;
        is_under_way
    }

    /// Replaces the model with a newly trained one. Returns the old model, with clauses for the learner about what is
    /// lost. If the retraining `continues` the previous one, the model that is shown for comparison stays the one from
    /// before the first of the two.
    pub fn replace_model(&mut self, mut new: LessonModel, continues: bool) -> (LessonModel, Vec<String>) {
        let model = &mut *self.model;
        let lost = new.take_over(model);
        model.training.pause();
        if continues {
            new.origin.replaced = model.origin.replaced.take();
            new.cache.replaced = std::mem::take(&mut model.cache.replaced);
        } else {
            new.cache.replaced = Arc::new(model.shown()).into();
            new.origin.replaced = Some(Box::new(model.without_ghost()));
        }
        let mut old = std::mem::replace(model, new);
        // A model in the history is kept without its caches to save memory.
        old.cache = Cache::default();
        (old, lost)
    }
}
