//! The data from which a model is made: static vectors and examples, which do not depend on the model.

use std::sync::Arc;

use attune_engine::pretrained::load::Pretrained;

use crate::kernel::objective::Example;
use crate::kernel::sentence_pass::sentence::Sentence;
use crate::kernel::static_embedding::{LessonFault, SpaceTrainer, turned};
use crate::kernel::values::Progress;
use crate::kernel::values::space::StaticSpace;
use crate::lesson::Recipe;
use crate::lesson::schema::Lesson;

/// Static vectors and training examples, which do not depend on the model.
#[derive(Clone)]
pub struct EmbeddedCorpus {
    pub recipe: Arc<Recipe>,
    pub space: Arc<StaticSpace>,
    pub examples: Arc<[Example]>,
    /// The pretrained model that was read with the vectors and that is not trained here.
    pub pretrained: Option<Arc<Pretrained>>,
    /// The lesson's first sentence as it was read to measure the axes of a pretrained model, with the target that the
    /// model wrote, if it writes one; `None` for other lessons.
    pub opening: Option<Sentence>,
    pub progress: Progress,
}

impl EmbeddedCorpus {
    /// Returns the corpus of a lesson whose vectors are trained. `own` is the lesson's own space, towards which the new
    /// space is rotated; `None` leaves it as it is.
    ///
    /// # Errors
    /// If no vectors were trained.
    pub fn trained(
        lesson: &Lesson,
        recipe: Arc<Recipe>,
        trainer: &SpaceTrainer,
        own: Option<&Arc<StaticSpace>>,
    ) -> Result<Self, LessonFault> {
        let (space, opening) = trainer.finish(lesson)?;
        let space = Arc::new(match own {
            Some(own) => turned(space, own, lesson),
            None => space,
        });
        let (examples, pretrained) = (trainer.examples().clone(), trainer.pretrained()?);
        Ok(Self { recipe, space, examples, pretrained, opening, progress: trainer.progress() })
    }
}
