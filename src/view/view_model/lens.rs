//! The logit lens: what each layer would answer at a word, if the model ended there.

use std::sync::Arc;

use attune_core::kernel::data::answers::Answer;
use attune_core::kernel::data::token::token_labels;
use attune_core::kernel::scene::origins::{answers_by_word, layer_answers};
use attune_core::kernel::snapshot::Snapshot;

use super::quoted;

#[derive(Clone, Debug, PartialEq)]
pub struct LensModel {
    /// The word, in a sentence.
    pub title: String,
    /// From the word's vector before all layers to the last layer.
    pub layers: Vec<LensLayer>,
    pub note: &'static str,
}

/// The likeliest answers after a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LensLayer {
    pub label: String,
    /// The likeliest first, each with its probability.
    pub answers: Vec<(String, f32)>,
    /// A line for those who read no picture.
    pub said: String,
}

const NOTE: &str = "Each layer's vector goes through the model's final norm, if it has one, and through the \
    readout. Early layers are not made for that, so what they seem to answer is biased; the last layer is \
                    the answer itself.";

/// The words that layers can be asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct LensWords {
    pub labels: Vec<String>,
    pub layers: usize,
    /// All of it takes less than a frame.
    pub is_quick: bool,
}

impl LensWords {
    /// Multiplications that a frame has time for.
    const QUICK: usize = 4_000_000;

    /// `None` until there is a model, and of one that answers about no single word.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.model.as_ref().filter(|model| answers_by_word(model))?;
        let labels = token_labels(&model.sentence.tokens);
        let layers = model.architecture.blocks.len();
        let cost = labels.len() * layers * model.classes.len() * model.architecture.width;
        (!labels.is_empty()).then_some(Self { labels, layers, is_quick: cost <= Self::QUICK })
    }

    /// Whether the layers have the same answers in both.
    pub fn are_the_same(one: &Snapshot, other: &Snapshot) -> bool {
        let models = one.model.as_ref().zip(other.model.as_ref());
        models.is_some_and(|(one, other)| Arc::ptr_eq(&one.sentence.answers, &other.sentence.answers))
    }

    /// The chosen word; the last where none is.
    pub fn chosen(&self, token: Option<usize>) -> usize {
        let last = self.labels.len() - 1;
        token.unwrap_or(last).min(last)
    }
}

impl LensModel {
    /// `None` until there is a model, and of one that answers about no single word.
    pub fn of(snapshot: &Snapshot, token: Option<usize>) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let labels = token_labels(&model.sentence.tokens);
        let token = token.unwrap_or(labels.len().checked_sub(1)?);
        let layers = layer_answers(snapshot, token)?;
        let last = layers.len() - 1;
        let layer = |(number, likeliest): (usize, &Vec<Answer>)| {
            let label = match number {
                0 => "before all layers".to_owned(),
                _ if number == last => format!("layer {number}, the answer"),
                _ => format!("layer {number}"),
            };
            let answers: Vec<(String, f32)> =
                likeliest.iter().map(|answer| (model.classes[answer.class].clone(), answer.probability)).collect();
            let first = answers.first().map(|(name, p)| format!("{} (probability {p:.2})", quoted(name)));
            LensLayer { said: format!("{label}: {}", first.unwrap_or_default()), label, answers }
        };
        Some(Self {
            title: format!("What each layer would answer at {}.", quoted(labels.get(token)?)),
            layers: layers.iter().enumerate().map(layer).collect(),
            note: NOTE,
        })
    }
}
