//! The phases of a running lesson, from its static vectors to its model. Each phase holds what exists in it and nothing
//! else, so that no other combination can be.
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
    /// The lesson's own static vectors are trained, or read from files.
    Embedding {
        trainer: Box<SpaceTrainer>,
        goal: Goal,
    },
    /// The lesson was left with a recipe, and is on its way to the initialisation of that recipe's model.
    Opening {
        own: EmbeddedCorpus,
        work: Box<Retraining>,
        goal: Goal,
    },
    Ready(Ready),
    /// There is nothing to train; the reason is the notice of every snapshot.
    Failed {
        progress: Progress,
        fault: LessonFault,
        saved: Option<Arc<Saved>>,
    },
}

/// The goal of a lesson that has no model yet.
#[derive(Default)]
pub struct Goal {
    /// Work that was saved.
    pub saved: Option<Arc<Saved>>,
    /// Asked to play before there was anything to train.
    pub plays: bool,
}

/// A lesson with its model.
pub struct Ready {
    pub model: Box<LessonModel>,
    /// The lesson's own static vectors, from which every retraining begins.
    pub own: EmbeddedCorpus,
    pub task: Task,
}

/// Work that comes before all other.
#[derive(Default)]
pub enum Task {
    #[default]
    Nothing,
    /// The model is on its way to where it was left.
    Resuming { saved: Arc<Saved>, way: Box<Resuming> },
    /// The lesson is trained again; the present model stays until then. A retraining of the same settings as the last one
    /// belongs to the same stroke.
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

    /// Returns saved work, until the model is where it was.
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

    /// Gives up a retraining; true if one was under way.
    pub fn give_up_retraining(&mut self) -> bool {
        match self {
            Self::Ready(ready) if matches!(ready.task, Task::Retraining { .. }) => ready.end_task(),
            _ => false,
        }
    }

    /// Returns how far the static vectors are.
    pub fn embedding_progress(&self) -> Progress {
        match self {
            Self::Embedding { trainer, .. } => trainer.progress(),
            Self::Opening { work, .. } => work.snapshot().embedding,
            Self::Ready(ready) => ready.model.embedding_progress,
            Self::Failed { progress, .. } => *progress,
        }
    }
}

impl Ready {
    /// Applies a command to the model or to the work under way; true where that work changed, which the model does not
    /// know of.
    ///
    /// # Errors
    /// In words for the learner, if there is nothing that the command could do; nothing has changed then.
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
                // It does not wait for what it ends.
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
            // The old model would train on, only to be replaced.
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

    /// Begins to train the lesson again, or gives that up where the recipe is the model's; true if either happened.
    ///
    /// # Errors
    /// In words for the learner, if the lesson cannot be trained by this recipe.
    pub fn retrain(&mut self, lesson: &Arc<Lesson>, recipe: Recipe, stroke: Option<Stroke>) -> Result<bool, String> {
        if self.model.is_recorded() {
            return Err(format!("{ONE_PASS}, so there is nothing to train"));
        }
        if self.model.pretrained.is_some() {
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

    /// Ends the work under way; true if there was any.
    fn end_task(&mut self) -> bool {
        let is_under_way = !matches!(self.task, Task::Nothing);
        self.task = Task::Nothing;
        is_under_way
    }

    /// Puts a newly trained model in the place of the present one, which it returns, with what is lost in words for the
    /// learner. Where the retraining `continues` the last one, the ghosts stay those of where that began.
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
        // What undo remembers is small.
        old.cache = Cache::default();
        (old, lost)
    }
}
