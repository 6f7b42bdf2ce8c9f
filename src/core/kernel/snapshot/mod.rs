//! Snapshots: everything that a viewer may see, immutable, complete and cheap to clone.
//!
//! Parts of a snapshot are defined elsewhere: [`sentence`] and [`space`] among the plain values, and the model's part
//! beside the model.

pub mod answers;
pub mod scores;

use std::sync::Arc;

use crate::kernel::evidence::over_texts::TextsSnapshot;
pub use crate::kernel::model::snapshot::{
    CheckpointsSnapshot, LookSnapshot, ModelSnapshot, RetrainingSnapshot, TrainingSnapshot,
};
use crate::kernel::notebook::snapshot::NotebookSnapshot;
use crate::kernel::saved_work::Saved;
use crate::kernel::static_embedding::LessonFault;
use crate::kernel::training::stop::Stopped;
pub use crate::kernel::training::weights::ComparisonSnapshot;
pub use crate::kernel::values::sentence::{
    Answers, Generated, Likeness, Pair, PairedWord, RankedAnswer, SentenceSnapshot, Token, UnchangedResult,
};
pub use crate::kernel::values::space::{Neighbour, Neighbours, StaticSpace};
pub use crate::kernel::values::{Progress, Replaced, meaning, sentence, space};
use crate::lesson::Lesson;

/// The state of a running lesson at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub lesson: Arc<Lesson>,
    /// Revision, which increases with every change.
    pub revision: u64,
    /// Revision of the work, which increases only with changes of what is saved; the steps of a training are not among
    /// these.
    pub work_revision: u64,
    /// The work revision when the lesson was opened, at which all work is saved. Even the first snapshot may have a
    /// later revision, because commands may have been applied before it.
    pub opened_revision: u64,
    /// The static vectors, once they are trained.
    pub space: Option<Arc<StaticSpace>>,
    /// Progress of the static vectors in epochs, or in megabytes of the files of a pretrained model.
    pub embedding_progress: Progress,
    /// The attention model, once it is initialised.
    pub model: Option<ModelSnapshot>,
    /// The notebook: the cells of the lesson and of the learner, with their results.
    pub notebook: Arc<NotebookSnapshot>,
    pub history: HistorySnapshot,
    /// Progress of a retraining, during which the earlier model is shown.
    pub retraining: Option<RetrainingSnapshot>,
    /// Saved work that is being restored.
    pub awaited: Option<Arc<Saved>>,
    /// Progress of a tour that is being measured, in texts.
    pub touring: Option<Progress>,
    /// Whether a tour has been written; its cells may have been deleted since.
    pub is_toured: bool,
    /// Measures of all heads over a file of texts.
    pub texts: TextsSnapshot,
    /// Saved work that did not fit the lesson, in sentences for the learner.
    pub report: Arc<[String]>,
    /// The reason why the last command was refused, in words for the learner.
    pub notice: Option<Arc<str>>,
    /// The reason why there will be no model.
    pub fault: Option<LessonFault>,
}

impl Snapshot {
    /// Returns the first snapshot of a copy of the lesson, which is shown until the copy is ready. It has the notebook,
    /// but no model.
    pub(crate) fn of_copy(&self, lesson: Arc<Lesson>) -> Self {
        Self {
            lesson,
            revision: 0,
            work_revision: 0,
            opened_revision: 0,
            space: None,
            model: None,
            history: HistorySnapshot::default(),
            retraining: None,
            awaited: None,
            touring: None,
            report: Arc::from([]),
            notice: None,
            ..self.clone()
        }
    }

    /// Returns the last snapshot of a kernel whose thread has panicked, in which nothing is running.
    pub fn after_fault(&self) -> Self {
        let words = "training stopped because of a fault in attune itself; open the lesson again, and please report \
            the fault";
        let mut last = Self { notice: Some(words.into()), retraining: None, touring: None, ..self.clone() };
        last.revision += 1;
        last.work_revision += 1;
        if let Some(model) = &mut last.model {
            model.training.playing = false;
            model.training.stopped = Some(Stopped::Paused);
        }
        last
    }
}

/// Labels of the changes that undo and redo would make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistorySnapshot {
    pub undo: Option<String>,
    pub redo: Option<String>,
}
