//! The model and its training as a viewer sees them.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::params::{Parameters, TensorId};
use attune_engine::pretrained::Pretrained;

use crate::kernel::sentence_pass::recorded::RecordedPass;
use crate::kernel::sentence_pass::recorded_check::CheckedText;
use crate::kernel::sentence_pass::senses::SensesSnapshot;
use crate::kernel::training::log::TrainingLog;
use crate::kernel::training::run::ChangeLog;
use crate::kernel::training::stop::{Diverged, Stopped};
use crate::kernel::training::weights::{ComparisonSnapshot, EditedParameters};
use crate::kernel::values::sentence::{Generated, Pair, SentenceSnapshot};
use crate::kernel::values::space::TokenShares;
use crate::kernel::values::{Progress, Replaced};
use crate::lesson::{Lesson, Recipe};

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
    /// What was recorded of the text, of a recording, which has no parameters.
    pub recorded: Option<Arc<RecordedPass>>,
    /// What the check of a recorded text has found so far.
    pub checked: Option<Arc<CheckedText>>,
    /// The model before the lesson was trained again.
    pub replaced: Option<Arc<Replaced>>,
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
