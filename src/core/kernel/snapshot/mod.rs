//! Snapshots: what a viewer may see. Immutable, complete, and cheap to clone.
//!
//! [`sentence`] and [`space`] are plain values that name no other module of the kernel.

pub mod sentence;
pub mod space;

pub use self::sentence::{
    Answers, Generated, Likeness, Pair, PairedWord, RankedAnswer, SentenceSnapshot, Token, UnchangedResult,
};
pub use self::space::{Neighbour, Neighbours, StaticSpace};
use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::params::{Parameters, TensorId};
use attune_engine::numerics::tensor_norms::TensorNorms;
use attune_engine::pretrained::Pretrained;

use self::space::TokenShares;
use crate::kernel::command::Reference;
use crate::kernel::notebook::Notebook;
use crate::kernel::notebook::snapshot::NotebookSnapshot;
use crate::kernel::saved_work::Saved;
use crate::kernel::sentence_pass::senses::SensesSnapshot;
use crate::kernel::static_embedding::LessonFault;
use crate::kernel::training::log::TrainingLog;
use crate::kernel::training::run::ChangeLog;
use crate::kernel::training::stop::{Diverged, Stopped};
use crate::kernel::training::weights::EditedParameters;
use crate::lesson::{Lesson, Recipe};

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

    pub(in crate::kernel) fn empty(lesson: Arc<Lesson>) -> Self {
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

/// The attention model: parameters, training and the current sentence; at the latest step of the
/// training, or at the past one that is shown.
#[derive(Clone, Debug)]
pub struct ModelSnapshot {
    pub architecture: Architecture,
    /// In use now.
    pub parameters: Arc<Parameters<f32>>,
    /// The parameters as training left them: the ghost of every slider.
    pub trained: Arc<Parameters<f32>>,
    /// Tensors of `parameters` that the learner edited, each with the number of entries that are not as trained.
    pub edits: Arc<[(TensorId, usize)]>,
    /// The initialisation.
    pub start: Arc<Parameters<f32>>,
    /// The comparison of `parameters` with others, if there is one.
    pub comparison: Option<ComparisonSnapshot>,
    pub training: TrainingSnapshot,
    /// The learner's changes of the forward pass; every head has its mode.
    pub interventions: Arc<Interventions<f32>>,
    /// The classes that the model chooses among: words, or labels.
    pub classes: Arc<[String]>,
    /// `P` (T_max, D) of a model whose positions are not learned.
    pub fixed_positions: Option<Arc<Matrix<f32>>>,
    /// The words that it wrote when it was asked to go on.
    pub generated: Option<Arc<Generated>>,
    /// The forward pass of the current sentence with `parameters`.
    pub sentence: Arc<SentenceSnapshot>,
    /// The current sentence beside a second one, if there is one.
    pub second: Option<Arc<Pair<SentenceSnapshot>>>,
    /// How much of the tokens of both sentences the axes show.
    pub shares: Arc<TokenShares>,
    /// How much the axes show with each word of the first sentence as one point, where a word has several pieces.
    pub shares_of_words: Option<Arc<TokenShares>>,
    /// One word in sentences of a list.
    pub senses: Arc<SensesSnapshot>,
    /// The learner's changes of the lesson before it was trained, and the lesson with them.
    pub recipe: Arc<Recipe>,
    pub made_of: Arc<Lesson>,
    /// The files that it was read from, if it was.
    pub pretrained: Option<Arc<Pretrained>>,
    /// The model before the lesson was trained again.
    pub replaced: Option<Arc<Replaced>>,
}

/// A model that another one, trained by another recipe, has replaced.
#[derive(Clone, Debug)]
pub struct Replaced {
    pub recipe: Arc<Recipe>,
    pub space: Arc<StaticSpace>,
    /// The sentence that was shown, through that model.
    pub sentence: Arc<SentenceSnapshot>,
}

/// How far a training from scratch is.
#[derive(Clone, Debug, PartialEq)]
pub struct RetrainingSnapshot {
    pub recipe: Arc<Recipe>,
    /// Epochs of the static vectors.
    pub embedding: Progress,
    /// Steps of the model.
    pub steps: Progress,
}

impl ModelSnapshot {
    /// Where weights that have not been edited come from, in a word: as *trained*, *given* or *drawn*.
    pub fn weights_origin(&self) -> &'static str {
        let model = &self.made_of.model;
        match model.steps == 0 && self.pretrained.is_none() {
            true if model.weights.is_empty() => "drawn",
            true => "given",
            false => "trained",
        }
    }

    /// The head takes part in the sum.
    pub fn is_enabled(&self, head: usize) -> bool {
        self.interventions.heads.get(head) != Some(&HeadMode::Off)
    }
}

#[derive(Clone, Debug)]
pub struct TrainingSnapshot {
    pub playing: bool,
    /// Steps done, which is the latest, and steps the lesson asks for.
    pub progress: Progress,
    /// Set while a past step is shown.
    pub look: Option<LookSnapshot>,
    /// The learning rate of the step after the one that is shown.
    pub learning_rate: f64,
    /// The loss of a model that knows nothing, `ln C` for C candidates.
    pub chance: f32,
    /// Loss and gradient norms of each step, up to the latest.
    pub log: TrainingLog,
    /// Why training stands still; `None` while it plays.
    pub stopped: Option<Stopped>,
    /// Changes that the learner made on its way.
    pub changes: ChangeLog,
    /// While a past step is shown: the weights that are turned at the latest one, if they are.
    pub edited_latest: Option<EditedParameters>,
    pub checkpoints: CheckpointsSnapshot,
}

impl TrainingSnapshot {
    /// The step whose parameters are shown.
    pub fn step_shown(&self) -> usize {
        self.look.map_or(self.progress.done, |look| look.step)
    }

    pub fn diverged(&self) -> Option<Diverged> {
        match self.stopped {
            Some(Stopped::Diverged(diverged)) => Some(diverged),
            _ => None,
        }
    }
}

/// A look at a past step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookSnapshot {
    /// The step that is shown.
    pub step: usize,
    /// The step that was asked for; it is being recalled while `step` is less.
    pub target: usize,
}

/// The states of a training that are kept besides its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointsSnapshot {
    /// Steps that are shown at once; the others are run again from the one before.
    pub steps: Vec<usize>,
    /// The memory that they take, in bytes.
    pub bytes: usize,
}

/// Two sets of parameters side by side.
#[derive(Clone, Debug)]
pub struct ComparisonSnapshot {
    /// The reference of the comparison. A step that is still being recalled is the one
    /// that the recall has come to.
    pub with: Reference,
    pub reference: Arc<Parameters<f32>>,
    /// The parameters in use less those of the reference.
    pub difference: Arc<Parameters<f32>>,
    /// Norms of the difference.
    pub norms: Arc<TensorNorms>,
}

/// Labels of the changes that undo and redo would make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistorySnapshot {
    pub undo: Option<String>,
    pub redo: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub of: usize,
}
