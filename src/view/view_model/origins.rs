//! The origin of an answer: what the word's own vector, each head, each word that it looks at and each feed-forward part
//! add to the answer's logit; and the logit lens, what each layer would answer at a word if the model ended there.

use std::collections::BTreeMap;
use std::sync::Arc;

use attune_core::kernel::sentence_pass::passes::{answers_by_word, layer_answers, terms_of};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::snapshot::sentence::Answer;
use attune_core::kernel::snapshot::sentence::{Token, token_labels};
use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::model::attribution::{NoSum, TermOf};

use super::head_labels::HeadLabels;
use super::models::Model;
use super::quoted;

#[derive(Clone, Debug, PartialEq)]
pub struct AttributionModel {
    /// The answer and the word, in a sentence.
    pub title: String,
    pub answer: String,
    /// The answer's number among the model's classes.
    pub class: usize,
    pub logit: f32,
    /// Terms by layer: before all layers first, then layer by layer, and what the readout adds.
    pub layers: Vec<Share>,
    /// Each head of all layers, the largest first.
    pub heads: Vec<Share>,
    /// Each look of a head at a word, the largest first.
    pub looks: Vec<Share>,
}

/// A part of a logit.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    pub label: String,
    pub value: f32,
}

impl Share {
    /// In a sentence: “layer 2, head 1, at “not”” gives “hate” +2.1.
    pub fn said(&self, answer: &str) -> String {
        format!("{} gives {} {:+.2}", self.label, quoted(answer), self.value)
    }
}

/// The origin of an answer, or in words why it has none.
impl Model for Result<AttributionModel, String> {
    /// The word, and the answer among the model's classes; the last word and its likeliest answer where none is chosen.
    type Choice = (Option<usize>, Option<usize>);

    fn make(snapshot: &Arc<Snapshot>, choice: &Self::Choice, _: Option<&Self>) -> Option<Self> {
        AttributionModel::of(snapshot, *choice)
    }
}

impl AttributionModel {
    /// `None` until there is a model.
    ///
    /// # Errors
    /// In words, if an answer of this model is no sum.
    pub fn of(snapshot: &Snapshot, (token, class): (Option<usize>, Option<usize>)) -> Option<Result<Self, String>> {
        let model = snapshot.model.as_ref()?;
        let labels = token_labels(&model.sentence.tokens);
        let token = token.unwrap_or(labels.len().checked_sub(1)?);
        let answers = &model.sentence.answers;
        // Where one answer is for the whole sentence, it is no sum: of whichever place it is asked.
        let class =
            class.or_else(|| Some(answers.likeliest.get(token).or(answers.likeliest.last())?.first()?.class))?;
        let terms = match terms_of(snapshot, token, class)? {
            Ok(terms) => terms,
            Err(why) => return Some(Err(no_sum(why).to_owned())),
        };
        let at = match model.architecture.pooling {
            Pooling::Every => format!(" at {}", quoted(labels.get(token)?)),
            Pooling::Last => String::new(),
            Pooling::Mean => ", the mean over all words".to_owned(),
        };
        let answer = quoted(&model.classes[class]);
        let logit = answers.logits.get(if answers.logits.rows() == 1 { 0 } else { token }, class);
        let bound = model.architecture.logit_cap.map_or_else(String::new, |cap| {
            let sum: f32 = terms.iter().map(|(_, value)| value).sum();
            format!(
                " Their sum is {sum:.2}; the model holds it below {cap}: {cap} · tanh({sum:.2} / {cap}) = {logit:.2}."
            )
        });
        let title = format!("What adds up to the logit of {answer}{at} (direct logit attribution).{bound}");
        let first = model.architecture.source_blocks.len();
        let source = model.sentence.source.as_deref().map(|source: &[Token]| token_labels(source));
        let key_label = |block: usize, key: usize| {
            let is_of_source = model.architecture.blocks[block - first].attends_to_source();
            let keys = source.as_ref().filter(|_| is_of_source).unwrap_or(&labels);
            keys.get(key).map_or_else(String::new, |label| quoted(label))
        };
        let names = HeadLabels::of(model);
        let head_label =
            |block: usize, head: usize| names.title(model.architecture.heads_of(block).start + head).to_lowercase();
        let mut layers: BTreeMap<usize, f32> = BTreeMap::new();
        let mut heads: BTreeMap<(usize, usize), f32> = BTreeMap::new();
        let mut looks = Vec::new();
        let is_of_words = model.architecture.pooling == Pooling::Mean;
        let mut start = "the word and its place".to_owned();
        let readout = model.architecture.blocks.len() + 1;
        for (of, value) in terms {
            let layer = match of {
                TermOf::Input | TermOf::Patch { .. } => 0,
                TermOf::Head { block, .. } | TermOf::OutputBias { block } | TermOf::FeedForward { block } => {
                    block - first + 1
                }
                TermOf::Shift | TermOf::Bias => readout,
            };
            if let TermOf::Patch { block } = of {
                start = format!("the vector put in before layer {}", block - first + 1);
            }
            *layers.entry(layer).or_default() += value;
            if let TermOf::Head { block, head, key } = of {
                *heads.entry((block, head)).or_default() += value;
                let label = format!("{}, at {}", head_label(block, head), key_label(block, key));
                looks.push(Share { label, value });
            }
        }
        looks.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
        let layer = |(layer, value): (usize, f32)| {
            let label = match layer {
                0 if is_of_words => "the words and their places".to_owned(),
                0 => start.clone(),
                _ if layer == readout => "the readout".to_owned(),
                _ if model.architecture.blocks.len() == 1 => "the layer".to_owned(),
                _ => names.block(model.architecture.heads_of(first + layer - 1).start).to_lowercase(),
            };
            Share { label, value }
        };
        let head = |((block, head), value): ((usize, usize), f32)| Share { label: head_label(block, head), value };
        let layers = layers.into_iter().map(layer).collect();
        let mut heads: Vec<Share> = heads.into_iter().map(head).collect();
        heads.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
        Some(Ok(Self { title, answer: model.classes[class].clone(), class, logit, layers, heads, looks }))
    }
}

/// Why there are no shares.
fn no_sum(why: NoSum) -> &'static str {
    match why {
        NoSum::Transformed => {
            "This model's readout has a nonlinear layer of its own, so a logit cannot be split into what each layer adds."
        }
        NoSum::Blocks => {
            "A norm follows each addition in the layers, so a logit cannot be split into what each layer adds."
        }
    }
}

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
