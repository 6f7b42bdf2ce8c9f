//! The lesson's model without any change by a learner. Predictions are about this model, so that their verdicts and
//! explanations are right whatever the learner has done to the model on the stage.
//!
//! The model is kept when the lesson's own training ends, which costs no memory as long as the learner's model shares
//! its parameters. If a lesson opens with other settings or a changed training, the model is trained when a question
//! first needs it, in pieces, so that only the question waits for it.

use std::sync::Arc;

use crate::kernel::model::corpus::EmbeddedCorpus;
use crate::kernel::model::{LessonModel, ModelOrigin};
use crate::kernel::sentence_pass::interventions;
use crate::lesson::schema::Lesson;

/// The lesson's model without the learner's changes, as far as it has been trained.
#[derive(Default)]
pub enum UntouchedModel {
    #[default]
    NotAsked,
    Training(Box<LessonModel>),
    Ready(Box<LessonModel>),
}

impl UntouchedModel {
    /// Returns the model once it is trained.
    pub fn ready(&self) -> Option<&LessonModel> {
        match self {
            Self::Ready(model) => Some(model),
            Self::NotAsked | Self::Training(_) => None,
        }
    }

    /// Keeps a copy of the model on the stage, without edits and interventions, if its training has reached the end as
    /// the lesson prescribes.
    pub fn keep(&mut self, model: &LessonModel) {
        if self.ready().is_none() && model.origin.recipe.is_default() && model.training.ends_as_given() {
            *self = Self::Ready(Box::new(model.untouched()));
        }
    }

    /// Does the next piece of training. `model` is the one on the stage, and `own` has the lesson's own vectors.
    pub fn advance(&mut self, model: &LessonModel, lesson: &Arc<Lesson>, own: &EmbeddedCorpus) {
        *self = match std::mem::take(self) {
            Self::NotAsked => Self::begin(model, lesson, own),
            Self::Training(mut untouched) if untouched.training.is_busy() => {
                untouched.advance();
                Self::Training(untouched)
            }
            Self::Training(untouched) => Self::Ready(Box::new(untouched.untouched())),
            Self::Ready(untouched) => Self::Ready(untouched),
        };
    }

    /// Starts from the training of the model on the stage if the learner has changed nothing in it, and otherwise from
    /// scratch.
    fn begin(model: &LessonModel, lesson: &Arc<Lesson>, own: &EmbeddedCorpus) -> Self {
        let untouched = if model.origin.recipe.is_default() && model.training.is_on_given_way() {
            Ok(model.untouched())
        } else {
            let origin = ModelOrigin { lesson: lesson.clone(), recipe: own.recipe.clone(), replaced: None };
            LessonModel::new(origin, own)
        };
        match untouched {
            Ok(mut untouched) => {
                untouched.play_at_opening();
                Self::Training(Box::new(untouched))
            }
            // The lesson's own model cannot be made, so the one on the stage is used.
            Err(_) => Self::Ready(Box::new(model.untouched())),
        }
    }

    /// Returns the model on a copy of its lesson. A model that is not ready is not copied.
    pub fn copy(&self, lesson: &Arc<Lesson>) -> Self {
        self.ready().map_or(Self::NotAsked, |model| Self::Ready(Box::new(model.copy(lesson))))
    }
}

impl LessonModel {
    /// Returns the model at its latest training step, without edits, interventions and comparisons.
    fn untouched(&self) -> Self {
        let mut model = Self { training: self.training.untouched(), ..self.without_ghost() };
        let none = interventions::none(&model.training.network().architecture);
        model.pass.set_interventions(Arc::new(none));
        model.follow_table();
        model
    }
}
