//! The logit lens: what each layer would answer at a word, if the model ended there.

use std::sync::Arc;

use super::models::Model;
use super::quoted;
use crate::kernel::data::answers::Answer;
use crate::kernel::data::token::token_labels;
use crate::kernel::scene::origins::layer_answers;
use crate::kernel::snapshot::Snapshot;

#[derive(Clone, Debug, PartialEq)]
pub struct LensModel {
    /// The word, in a sentence.
    pub title: String,
    /// From the word's vector before all layers to the last layer.
    pub layers: Vec<LensLayer>,
    pub note: &'static str,
}

/// The likeliest answers behind a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LensLayer {
    pub label: String,
    /// The likeliest first, each with its probability.
    pub answers: Vec<(String, f32)>,
    /// A line for those who read no picture.
    pub said: String,
}

const NOTE: &str = "Each layer's vector goes through the last norm, with its own mean and deviation, and through the \
                    readout. Early layers are not made for that, so what they seem to answer is biased; the last layer is \
                    the answer itself.";

impl Model for LensModel {
    /// The word that is chosen; the last where none is.
    type Choice = Option<usize>;

    fn make(snapshot: &Arc<Snapshot>, choice: &Option<usize>, _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot, *choice)
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
