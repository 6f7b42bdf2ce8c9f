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
    /// How much distances count beside the answers.
    pub costs: DistanceCosts,
    /// Tensors that begin with given values; the others begin at random.
    pub weights: Vec<(TensorId, Matrix<f32>)>,
    /// Optimiser steps.
    pub steps: usize,
    /// Sentences in a step.
    pub batch: usize,
    pub learning_rate: f64,
    /// Share, times the learning rate, by which a step shrinks every parameter.
    pub weight_decay: f64,
    pub optimiser: Method,
    /// Training stops at the first that holds, and at the last step.
    pub stop: Vec<StopRule>,
}

impl ModelConfig {
    /// A model that is not trained unless the learner asks for it: that of an opened file or folder.
    pub fn untrained(architecture: Architecture, objective: Objective) -> Self {
        Self {
            architecture,
            objective,
            costs: DistanceCosts::default(),
            weights: Vec::new(),
            steps: 0,
            batch: 1,
            learning_rate: 1e-3,
            weight_decay: 0.0,
            optimiser: Method::ADAM,
            stop: Vec::new(),
        }
    }

    /// Answers are read off every output, so that no word is left to stay at its place.
    pub fn reads_every_output(&self) -> bool {
        self.objective.reads_every_output(self.architecture.pooling)
    }
}

/// When training stops before its last step. Each rule stops a training once: asked to play on, it
/// goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// The loss of the last step, in nats, is below this.
    LossBelow(f64),
    /// The L2 norm of the last step's whole gradient is below this.
    GradientBelow(f64),
    /// Looked at every `steps` steps: their mean loss is not lower, by at least `by` nats, than that of
    /// the `steps` before them.
    Plateau { steps: usize, by: f64 },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Objective {
    /// Some words are hidden or replaced; the output there must name the original word.
    MaskedWord {
        /// Probability that a candidate's position becomes a target; one in a sentence is certain.
        rate: f64,
        /// Groups whose words, with the ambiguous words of these senses, are the candidates;
        /// empty: the whole vocabulary.
        among: Vec<String>,
        /// Words that take the place of a hidden one half of the time; empty: the candidates.
        stand_ins: Vec<String>,
    },
    /// Every position names the word after it; without the causal mask it can look it up.
    NextWord,
    /// The sentence as a whole names its topic.
    Label,
    /// The sentence is the source; the model writes another one that a rule makes of it.
    Sequence(Rewriting),
}

impl Objective {
    /// See [`ModelConfig::reads_every_output`].
    pub fn reads_every_output(&self, pooling: Pooling) -> bool {
        pooling == Pooling::Mean || matches!(self, Self::NextWord | Self::Sequence(_))
    }

    /// The objective's name in a lesson file.
    pub fn name(&self) -> &'static str {
        match self {
            Objective::MaskedWord { .. } => "MaskedWord",
            Objective::NextWord => "NextWord",
            Objective::Label => "Label",
            Objective::Sequence(_) => "Sequence",
        }
    }
}

/// How the target of a sequence is made: the source's words in an order, each replaced or unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewriting {
    pub order: Order,
    /// Words of the source with the words that take their places.
    pub words: Vec<(String, String)>,
}

impl Rewriting {
    /// Words that the decoder reads of a source: the start token, and the target without its last word.
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
    /// Which of `length` source positions belongs to a target position.
    pub fn source_of(self, target: usize, length: usize) -> usize {
        match self {
            Order::Same => target,
            Order::Reversed => length - 1 - target,
        }
    }
}
