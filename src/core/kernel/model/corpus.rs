//! The beginning of a model: static vectors and examples, which do not depend on the model.

use std::sync::Arc;

use attune_engine::pretrained::load::Pretrained;

use crate::kernel::objective::Example;
use crate::kernel::static_embedding::{LessonFault, SpaceTrainer, turned};
use crate::kernel::values::Progress;
use crate::kernel::values::space::StaticSpace;
use crate::lesson::Recipe;
use crate::lesson::schema::Lesson;

/// Static vectors with what a model is trained on: all that does not depend on the model.
#[derive(Clone)]
pub struct EmbeddedCorpus {
    pub recipe: Arc<Recipe>,
    pub space: Arc<StaticSpace>,
    pub examples: Arc<[Example]>,
    /// The model that was read with the vectors, which nothing trains.
    pub pretrained: Option<Arc<Pretrained>>,
    pub progress: Progress,
}

impl EmbeddedCorpus {
    /// The corpus of a lesson whose vectors are trained; `own` is the lesson's own space, which another one is turned to.
    ///
    /// # Errors
    /// If no vectors were trained.
    pub fn trained(
        lesson: &Lesson,
        recipe: Arc<Recipe>,
        trainer: &SpaceTrainer,
        own: Option<&Arc<StaticSpace>>,
    ) -> Result<Self, LessonFault> {
        let space = trainer.finish(lesson)?;
        let space = Arc::new(match own {
            Some(own) => turned(space, own, lesson),
            None => space,
        });
        let (examples, pretrained) = (trainer.examples().clone(), trainer.pretrained()?);
        Ok(Self { recipe, space, examples, pretrained, progress: trainer.progress() })
    }
}
