//! The target of a source: made by a lesson's rule, written by the model or typed by the learner.

use std::sync::Arc;

use attune_engine::numerics::model::AttentionModel;
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::rng::{Stream, stream};

use crate::kernel::objective::Rewriter;
use crate::kernel::values::sentence::TextPiece;
use crate::lesson::limits::pieces_max;
use crate::lesson::schema::{Lesson, Objective, TargetForm};

/// The sequence that the decoder reads, from its start token on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Rows of the vocabulary; `None` for a start token that is no word.
    pub words: Vec<Option<usize>>,
    /// The part of the learner's text that each word is; `None` for the start token, and for words without a text.
    pub pieces: Vec<Option<TextPiece>>,
    /// Whether the model wrote the target, and not the learner.
    pub is_written: bool,
}

impl Target {
    /// Returns a target without a text.
    pub fn of_words(words: Vec<Option<usize>>, is_written: bool) -> Self {
        Self { pieces: vec![None; words.len()], words, is_written }
    }
}

/// Maker of the targets for sources.
#[derive(Clone, Debug)]
pub enum Targets {
    /// The lesson's rule.
    ByRule(Rewriter),
    /// The model, with the weights of its files: the target stays the same while the learner changes weights and heads,
    /// so that passes of the same words are compared.
    ByModel { model: Box<AttentionModel<f32>>, parameters: Arc<Parameters<f32>> },
}

/// Greatest number of words of a target that the model writes from a short source, if no word ends it earlier.
const WRITTEN_MIN: usize = 20;
/// Greatest number of words of a target for each word of a longer source, because translations are rarely longer than
/// that.
const WRITTEN_OF_EACH: f64 = 1.5;

/// Returns the number of words that a model writes at most from a source of `source` words, if no word ends the target.
pub fn words_max(model: &AttentionModel<f32>, source: usize) -> usize {
    let most = pieces_max(&model.architecture, model.classes.count()).saturating_sub(1);
    WRITTEN_MIN.max((source as f64 * WRITTEN_OF_EACH).ceil() as usize).min(most)
}

impl Targets {
    /// Returns the maker of a lesson's targets, or `None` if sentences are not sources.
    pub fn of(
        lesson: &Lesson,
        vocabulary: &[String],
        model: &AttentionModel<f32>,
        parameters: &Arc<Parameters<f32>>,
    ) -> Option<Self> {
        match &lesson.model.objective {
            Objective::Sequence(TargetForm::Free) => {
                Some(Self::ByModel { model: Box::new(model.clone()), parameters: parameters.clone() })
            }
            objective => Rewriter::of(objective, vocabulary).map(Self::ByRule),
        }
    }

    /// Returns the rule of the lesson, or `None` if the model writes the targets.
    pub fn rule(&self) -> Option<&Rewriter> {
        match self {
            Self::ByRule(rewriter) => Some(rewriter),
            Self::ByModel { .. } => None,
        }
    }

    /// Returns a target that consists of the start token only.
    pub fn begun(&self) -> Target {
        let start = match self {
            Self::ByRule(_) => None,
            Self::ByModel { model, .. } => model.rules().start,
        };
        Target::of_words(vec![start], true)
    }

    /// Makes the target of a source, by the lesson's rule or by the model. By a rule, the target is the right answer
    /// without its last word, so that each position predicts its word from the right words before it, as in training.
    pub fn target(&self, source: &[usize]) -> Target {
        match self {
            Self::ByRule(rewriter) => {
                let target = rewriter.target(source);
                let before = target.split_last().map_or(&[][..], |(_, before)| before).iter().copied().map(Some);
                Target::of_words(std::iter::once(None).chain(before).collect(), false)
            }
            Self::ByModel { model, parameters } => {
                let count = words_max(model, source.len());
                // Greedy choices draw nothing.
                let mut generator = stream(0, Stream::Generation);
                let written =
                    model.generate(parameters, &[], Some(source), count, NextWordChoice::Greedy, &mut generator);
                // If the logits are not finite, there is no next word, and the target has only its start token.
                let written = written.unwrap_or_default().into_iter().map(Some);
                Target::of_words(std::iter::once(model.rules().start).chain(written).collect(), true)
            }
        }
    }
}
