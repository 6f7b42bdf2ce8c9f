//! Snapshots: what a viewer may see. Immutable, complete, and cheap to clone.
//!
//! The parts stand where they are made: [`sentence`] and [`space`] among the plain values, the model's beside the model.

pub mod answers;

use std::sync::Arc;

pub use crate::kernel::model::snapshot::{
    CheckpointsSnapshot, LookSnapshot, ModelSnapshot, RetrainingSnapshot, TrainingSnapshot,
};
use crate::kernel::notebook::Notebook;
use crate::kernel::notebook::snapshot::NotebookSnapshot;
use crate::kernel::saved_work::Saved;
use crate::kernel::static_embedding::LessonFault;
use crate::kernel::training::stop::Stopped;
pub use crate::kernel::training::weights::ComparisonSnapshot;
pub use crate::kernel::values::sentence::{
    Answers, Generated, Likeness, Pair, PairedWord, RankedAnswer, SentenceSnapshot, Token, UnchangedResult,
};
pub use crate::kernel::values::space::{Neighbour, Neighbours, StaticSpace};
pub use crate::kernel::values::{Progress, Replaced, sentence, space};
use crate::lesson::Lesson;

/// The state of a running lesson at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub lesson: Arc<Lesson>,
    /// Grows by at least one with every change.
    pub revision: u64,
    /// Grows with every change of what is saved, and with nothing else: the steps of a training under way are not.
    pub work_revision: u64,
    /// The work revision when the lesson was opened: work that was saved is saved at this revision. The first snapshot may
    /// have a later one, for commands may come before it.
    pub opened_revision: u64,
    /// The static vectors, once they are trained.
    pub space: Option<Arc<StaticSpace>>,
    /// How far the static vectors are, in epochs; those of a pretrained model, in megabytes of its files.
    pub embedding_progress: Progress,
    /// The attention model, from its initialisation on.
    pub model: Option<ModelSnapshot>,
    /// The learner's cells.
    pub notebook: Arc<NotebookSnapshot>,
    pub history: HistorySnapshot,
    /// The lesson is being trained again; what is shown is what there was before.
    pub retraining: Option<RetrainingSnapshot>,
    /// Saved work that the model is on its way to.
    pub awaited: Option<Arc<Saved>>,
    /// A tour of the model is being measured, text by text.
    pub touring: Option<Progress>,
    /// The tour was written; its cells may be gone since.
    pub is_toured: bool,
    /// Saved work that did not fit the lesson, in sentences for the learner.
    pub report: Arc<[String]>,
    /// Why the last command did nothing, in words for the learner.
    pub notice: Option<Arc<str>>,
    /// Why there will be no model.
    pub fault: Option<LessonFault>,
}

impl Snapshot {
    /// Before anything is trained.
    pub fn before(lesson: Arc<Lesson>) -> Self {
        let notebook = Notebook::new(&lesson).snapshot();
        Self { notebook, ..Self::empty(lesson) }
    }

    pub(crate) fn empty(lesson: Arc<Lesson>) -> Self {
        let embedding_progress = Progress { done: 0, of: lesson.static_embedding.epochs() };
        Self {
            lesson,
            revision: 0,
            work_revision: 0,
            opened_revision: 0,
            space: None,
            embedding_progress,
            model: None,
            notebook: Arc::default(),
            history: HistorySnapshot::default(),
            retraining: None,
            awaited: None,
            touring: None,
            is_toured: false,
            report: Arc::from([]),
            notice: None,
            fault: None,
        }
    }

    /// The last snapshot of a kernel whose thread has panicked: nothing is under way any more.
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
