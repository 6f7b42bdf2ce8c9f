//! The lesson's model as no learner has changed it. Predictions are about this model: their verdict and their explanation
//! hold whatever the learner has done to the model on the stage.
//!
//! The model is kept when the lesson's own training comes to its end, which costs no memory while the learner's model shares its
//! parameters. Where a lesson opens with other settings or changed training, it is trained when a question first asks
//! for it, in pieces, so that nothing waits for it but the question.

use std::sync::Arc;

use crate::kernel::model::corpus::EmbeddedCorpus;
use crate::kernel::model::{LessonModel, ModelOrigin};
use crate::kernel::sentence_pass::interventions;
use crate::lesson::schema::Lesson;

/// The state of the untouched model.
#[derive(Default)]
pub enum UntouchedModel {
    #[default]
    NotAsked,
    Training(Box<LessonModel>),
    Ready(Box<LessonModel>),
}

impl UntouchedModel {
    /// The model, once it is trained.
    pub fn ready(&self) -> Option<&LessonModel> {
        match self {
            Self::Ready(model) => Some(model),
            Self::NotAsked | Self::Training(_) => None,
        }
    }

    /// Keeps the model on the stage, if its training has come to where the lesson's own ends.
    pub fn keep(&mut self, model: &LessonModel) {
        if self.ready().is_none() && model.origin.recipe.is_default() && model.training.ends_as_given() {
            *self = Self::Ready(Box::new(model.untouched()));
        }
    }

    /// Does the next piece of its training. `model` is the one on the stage, and `own` has the lesson's own vectors.
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

    /// Training goes on from that of the model on the stage, where the learner has changed nothing of it.
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
            // The lesson itself has no model: the one on the stage is all there is to ask.
            Err(_) => Self::Ready(Box::new(model.untouched())),
        }
    }

    /// The same model on a copy of its lesson.
    pub fn copy(&self, lesson: &Arc<Lesson>) -> Self {
        self.ready().map_or(Self::NotAsked, |model| Self::Ready(Box::new(model.copy(lesson))))
    }
}

impl LessonModel {
    /// The model at its latest training step, without edits, interventions and comparisons.
    fn untouched(&self) -> Self {
        let mut model = Self { training: self.training.untouched(), ..self.without_ghost() };
        let none = interventions::none(&model.training.network().architecture);
        model.pass.set_interventions(Arc::new(none));
        model.follow_table();
        model
    }
}
