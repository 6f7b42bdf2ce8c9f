//! The attention model of a lesson: its shape, its objective and how it is trained.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::{Architecture, DistanceCosts, Pooling};
use attune_engine::numerics::optimiser::Method;
use attune_engine::numerics::params::TensorId;

/// The attention model and how it is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    pub architecture: Architecture,
    pub objective: Objective,
    /// Weights of the distances that are added to the cross-entropy.
    pub costs: DistanceCosts,
    /// Tensors with given initial values; the others are initialised at random.
    pub weights: Vec<(TensorId, Matrix<f32>)>,
    pub schedule: Schedule,
}

impl ModelConfig {
    /// Returns a model that is not trained, such as that of an opened file or folder.
    pub fn untrained(architecture: Architecture, objective: Objective) -> Self {
        Self {
            architecture,
            objective,
            costs: DistanceCosts::default(),
            weights: Vec::new(),
            schedule: Schedule::default(),
        }
    }

    /// Returns whether answers are computed from every output, so that no output is free to stay near its word.
    pub fn reads_every_output(&self) -> bool {
        self.objective.reads_every_output(self.architecture.pooling)
    }
}

/// The way in which a model is trained, from whatever weights it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Number of optimiser steps.
    pub steps: usize,
    /// Number of sentences in a step.
    pub batch: usize,
    pub learning_rate: f64,
    /// Weight decay. Multiplied by the learning rate, it is the share by which a step shrinks every parameter.
    pub weight_decay: f64,
    pub optimiser: Method,
    /// Rules that stop training before the last step.
    pub stop: Vec<StopRule>,
}

impl Default for Schedule {
    /// Returns the schedule of a model that is not trained.
    fn default() -> Self {
        Self { steps: 0, batch: 1, learning_rate: 1e-3, weight_decay: 0.0, optimiser: Method::ADAM, stop: Vec::new() }
    }
}

/// A rule that stops training before its last step. Each rule stops a training once; if the learner continues, training
/// goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// Limit in nats: training stops when the loss of the last step is below it.
    LossBelow(f64),
    /// Limit for the L2 norm of the whole gradient: training stops when that of the last step is below it.
    GradientBelow(f64),
    /// A mean loss of the last `steps` steps that is less than `by` nats below that of the `steps` steps before them.
    /// The rule is checked every `steps` steps.
    Plateau { steps: usize, by: f64 },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Objective {
    /// Prediction of words that are hidden or replaced: the output at their positions must name the original word.
    MaskedWord {
        /// Probability that a candidate's position becomes a target. At least one position of a sentence becomes one.
        rate: f64,
        /// Groups whose words, with the ambiguous words of these senses, are the candidates; empty for the whole
        /// vocabulary.
        among: Vec<String>,
        /// Words of which one replaces the word of a target half of the time; otherwise, that word is hidden. If there
        /// are none, the candidates are used.
        stand_ins: Vec<String>,
    },
    /// Prediction of the next word at every position; without a causal mask, attention can look it up.
    NextWord,
    /// Prediction of the topic by the sentence as a whole.
    Label,
    /// Writing of a target, for which the sentence is the source.
    Sequence(TargetForm),
}

impl Objective {
    /// Returns whether answers are computed from every output; see [`ModelConfig::reads_every_output`].
    pub fn reads_every_output(&self, pooling: Pooling) -> bool {
        pooling == Pooling::Mean || matches!(self, Self::NextWord | Self::Sequence(_))
    }

    /// Returns the objective's name in a lesson file.
    pub fn name(&self) -> &'static str {
        match self {
            Objective::MaskedWord { .. } => "MaskedWord",
            Objective::NextWord => "NextWord",
            Objective::Label => "Label",
            Objective::Sequence(_) => "Sequence",
        }
    }
}

/// The origin of the target of a source.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetForm {
    /// A rule that makes the target from the source.
    ByRule(Rewriting),
    /// The model itself, or the learner, who types the target: a translation, for example.
    Free,
}

/// The rule that makes the target of a sequence: the source's words in some order, each replaced or unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewriting {
    pub order: Order,
    /// Words of the source, with the words that replace them.
    pub words: Vec<(String, String)>,
}

impl Rewriting {
    /// Returns the words that the decoder reads for a source: the start token, and the target without its last word.
    pub fn decoded(&self, source: &[String]) -> Vec<String> {
        let written = |target| {
            let word = &source[self.order.source_of(target, source.len())];
            self.words.iter().find(|(from, _)| from == word).map_or(word, |(_, to)| to).clone()
        };
        let before_last = source.len().saturating_sub(1);
        [START_TOKEN.to_owned()].into_iter().chain((0..before_last).map(written)).collect()
    }
}

/// The token that a decoder reads before it has written anything.
pub const START_TOKEN: &str = "[start]";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Same,
    Reversed,
}

impl Order {
    /// Returns the source position to which a target position corresponds.
    pub fn source_of(self, target: usize, length: usize) -> usize {
        match self {
            Order::Same => target,
            Order::Reversed => length - 1 - target,
        }
    }
}
