//! A second model for code cells, in a folder beside the lesson.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use attune_engine::numerics::params::Parameters;

use crate::kernel::model::corpus::EmbeddedCorpus;
use crate::kernel::model::{LessonModel, ModelOrigin};
use crate::kernel::static_embedding::SpaceTrainer;
use crate::lesson::pictures::within;
use crate::lesson::schema::Lesson;

/// Name of the file with a model's weights.
const WEIGHTS: &str = "model.safetensors";
/// Greatest size of the file with the weights in bytes. It is small, because a cell waits while the file is read.
const BYTES_MAX: u64 = 64 << 20;
/// Number of models that are kept, because cells run again after each change.
const KEPT: usize = 4;

/// Results of the models read last, the newest first, each with the time of its file's last change.
pub struct Opened<T>(Mutex<Vec<(PathBuf, SystemTime, Arc<T>)>>);

/// Function that makes the result to keep from a model and its trained parameters.
type Make<T> = fn(&LessonModel, &Arc<Parameters<f32>>) -> T;

impl<T> Opened<T> {
    pub const fn empty() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns the result for the model in the folder `name` of the lesson's folder. The model is read again only if
    /// its file has changed.
    ///
    /// # Errors
    /// A message for the learner if there is no model, or it is too large for a cell.
    pub fn open(&self, folder: Option<&Path>, name: &str, make: Make<T>) -> Result<Arc<T>, String> {
        let path = within(folder, name)?;
        let no_model = |error| format!("no folder of a model with {WEIGHTS}: {error}");
        let weights = fs::metadata(path.join(WEIGHTS)).map_err(no_model)?;
        if weights.len() > BYTES_MAX {
            return Err(format!("{} MB of weights; a cell reads at most {} MB", weights.len() >> 20, BYTES_MAX >> 20));
        }
        let changed = weights.modified().map_err(no_model)?;
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., made)) = opened.iter().find(|(of, at, _)| (of, *at) == (&path, changed)) {
            return Ok(made.clone());
        }
        let made = Arc::new(read(&path, make)?);
        opened.truncate(KEPT - 1);
        opened.insert(0, (path, changed, made.clone()));
        Ok(made)
    }
}

fn read<T>(path: &Path, make: Make<T>) -> Result<T, String> {
    let lesson = crate::lesson::read(path).map_err(|issues| issues[0].to_string())?;
    let lesson: Arc<Lesson> = Arc::new(lesson);
    if !lesson.is_of_folder() {
        return Err("not the folder of a model".to_owned());
    }
    let mut trainer = SpaceTrainer::new(&lesson);
    while !trainer.advance(&lesson) {}
    let ground = EmbeddedCorpus::trained(&lesson, Arc::default(), &trainer, None).map_err(|fault| fault.words)?;
    let parameters = ground.pretrained.as_ref().map(|read| read.parameters.clone());
    let origin = ModelOrigin { lesson, recipe: ground.recipe.clone(), replaced: None };
    let model = LessonModel::new(origin, &ground).map_err(|fault| fault.words)?;
    let parameters = parameters.ok_or("the model has no weights")?;
    Ok(make(&model, &parameters))
}
