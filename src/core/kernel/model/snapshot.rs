//! The snapshot of the model and its training for viewers.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::params::{Parameters, TensorId};
use attune_engine::pretrained::Pretrained;

use crate::kernel::evidence::AskedAnswer;
use crate::kernel::evidence::job::Asked;
use crate::kernel::evidence::live::SentenceMap;
use crate::kernel::evidence::tables::ShownTables;
use crate::kernel::evidence::words::Words;
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

/// The attention model: parameters, training and the current sentence, at the latest training step or at the past step
/// that is shown.
#[derive(Clone, Debug)]
pub struct ModelSnapshot {
    pub architecture: Architecture,
    /// Parameters in use.
    pub parameters: Arc<Parameters<f32>>,
    /// Parameters as training left them. The sliders mark them beside the edited values.
    pub trained: Arc<Parameters<f32>>,
    /// Tensors of `parameters` that the learner edited, each with the number of edited entries.
    pub edits: Arc<[(TensorId, usize)]>,
    /// Parameters at the initialisation.
    pub start: Arc<Parameters<f32>>,
    /// The comparison of `parameters` with other weights, if there is one.
    pub comparison: Option<ComparisonSnapshot>,
    pub training: TrainingSnapshot,
    /// The learner's changes of the forward pass, with the mode of every head.
    pub interventions: Arc<Interventions<f32>>,
    /// Classes between which the model chooses: words or labels.
    pub classes: Arc<[String]>,
    /// Positions `P` (T_max, D) of a model whose positions are not learned.
    pub fixed_positions: Option<Arc<Matrix<f32>>>,
    /// Words that the model has generated on request.
    pub generated: Option<Arc<Generated>>,
    /// The forward pass of the current sentence with `parameters`.
    pub sentence: Arc<SentenceSnapshot>,
    /// The current sentence beside a second one, if there is one.
    pub second: Option<Arc<Pair<SentenceSnapshot>>>,
    /// Shares of the variance of both sentences' tokens that the axes show.
    pub shares: Arc<TokenShares>,
    /// The same shares with each word of the first sentence as one point, if a word has several pieces.
    pub shares_of_words: Option<Arc<TokenShares>>,
    /// One word in the sentences of the learner's list, for the comparison of its senses.
    pub senses: Arc<SensesSnapshot>,
    /// The learner's settings for the training of the lesson, and the lesson with them.
    pub recipe: Arc<Recipe>,
    pub made_of: Arc<Lesson>,
    /// The pretrained model that was read from files, if there is one.
    pub pretrained: Option<Arc<Pretrained>>,
    /// The recorded pass of the text, if this is a recording. A recording has no parameters.
    pub recorded: Option<Arc<RecordedPass>>,
    /// The findings of the check of a recorded text so far.
    pub checked: Option<Arc<CheckedText>>,
    /// The answer and the foil that the learner has chosen for evidence.
    pub asked: AskedAnswer,
    /// The map of the sentence, if it was asked for, as far as it is computed.
    pub map: Option<Arc<SentenceMap>>,
    /// The measures of which word mattered, if they were asked for.
    pub words: Option<Asked<Words>>,
    /// The tables of a head, if they were asked for.
    pub tables: Option<Asked<ShownTables>>,
    /// The model that was replaced when the lesson was trained again, as it was shown last.
    pub replaced: Option<Arc<Replaced>>,
}

/// The progress of a training from scratch.
#[derive(Clone, Debug, PartialEq)]
pub struct RetrainingSnapshot {
    pub recipe: Arc<Recipe>,
    /// Number of epochs for which the static vectors have been trained, and number of all epochs.
    pub embedding: Progress,
    /// Number of optimiser steps that the model has done, and number of all steps.
    pub steps: Progress,
}

impl ModelSnapshot {
    /// Returns the origin of weights that have not been edited, in a word: *trained*, *given* or *drawn*.
    pub fn weights_origin(&self) -> &'static str {
        let model = &self.made_of.model;
        match model.schedule.steps == 0 && self.pretrained.is_none() {
            true if model.weights.is_empty() => "drawn",
            true => "given",
            false => "trained",
        }
    }

    /// Returns whether the head is not switched off.
    pub fn is_enabled(&self, head: usize) -> bool {
        self.interventions.heads.get(head) != Some(&HeadMode::Off)
    }
}

#[derive(Clone, Debug)]
pub struct TrainingSnapshot {
    pub playing: bool,
    /// Number of steps done, up to the latest, and number of steps in the lesson.
    pub progress: Progress,
    /// The past step that is shown, if there is one.
    pub look: Option<LookSnapshot>,
    /// Learning rate of the step after the one that is shown.
    pub learning_rate: f64,
    /// Loss of a model that guesses at random: `ln C` for C candidates.
    pub chance: f32,
    /// Loss and gradient norms of each step, up to the latest.
    pub log: TrainingLog,
    /// The reason why training is not running; `None` while it plays.
    pub stopped: Option<Stopped>,
    /// Changes that the learner made during the training.
    pub changes: ChangeLog,
    /// The edited weights at the latest step, if there are any, while a past step is shown.
    pub edited_latest: Option<EditedParameters>,
    pub checkpoints: CheckpointsSnapshot,
}

impl TrainingSnapshot {
    /// Returns the step whose parameters are shown.
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

/// The past step that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookSnapshot {
    /// The step that is shown.
    pub step: usize,
    /// The step that was requested; while `step` is less, the step is still being computed.
    pub target: usize,
}

/// The checkpoints of a training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointsSnapshot {
    /// Steps that can be shown at once; others are computed again from the preceding checkpoint.
    pub steps: Vec<usize>,
    /// Memory of the checkpoints in bytes, estimated from the size of the latest state.
    pub bytes: usize,
}
