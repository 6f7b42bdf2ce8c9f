//! The live tensors that code reads and writes.

use std::sync::Arc;

use crate::code::{Axis, Given, Labels, Tensor, Variable};
use crate::kernel::snapshot::{Answers, StaticSpace};
use crate::numerics::Matrix;
use crate::numerics::attention::{Mask, MaskTable};
use crate::numerics::model::activations::{HeadActivations, Interventions};
use crate::numerics::model::{Activations, Architecture};
use crate::numerics::params::{Parameters, TensorId, TensorName};

/// A name that every cell sees.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveName {
    pub name: String,
    pub tensor: LiveTensor,
    /// Its shape and the words of its axes, for completion; none of a number.
    pub axes: Vec<Axis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveTensor {
    /// `E` (V, D)
    Static,
    Parameter(TensorId),
    /// `X` (T, D)
    Input,
    /// `Y` (T, D)
    Output,
    /// `Z` (R, C)
    Logits,
    /// Of all heads of a block: (H, T, ·)
    Heads {
        block: usize,
        part: HeadPart,
    },
    /// 1 where a query, the row, sees a key, the column; (T, T)
    Visible,
    Temperature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadPart {
    Query,
    Key,
    Value,
    Scores,
    Weights,
    Mix,
}

impl HeadPart {
    fn of(self, head: &HeadActivations<f32>) -> &Matrix<f32> {
        match self {
            Self::Query => &head.query,
            Self::Key => &head.key,
            Self::Value => &head.value,
            Self::Scores => &head.scores,
            Self::Weights => &head.weights,
            Self::Mix => &head.mix,
        }
    }
}

const HEAD_PARTS: [(HeadPart, &str, &str); 6] = [
    (HeadPart::Query, "Q", "the queries of all heads (H, T, d_k)"),
    (HeadPart::Key, "K", "the keys of all heads (H, T, d_k)"),
    (HeadPart::Value, "V", "the values of all heads (H, T, d_v)"),
    (HeadPart::Scores, "S", "the scores of all heads, scaled and masked (H, T, T)"),
    (HeadPart::Weights, "A", "the attention weights of all heads; rows sum to 1 (H, T, T)"),
    (HeadPart::Mix, "M", "the mixes of all heads, A V (H, T, d_v)"),
];

/// What a live tensor changes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    Nothing,
    Parameters,
    /// Parameters, the sentence and the interventions.
    Forward,
}

impl LiveTensor {
    pub fn follows(self) -> Follows {
        match self {
            Self::Static => Follows::Nothing,
            Self::Parameter(_) => Follows::Parameters,
            _ => Follows::Forward,
        }
    }

    pub fn meaning(self) -> String {
        match self {
            Self::Static => "the static vectors of all words (V, D)".to_owned(),
            Self::Parameter(id) => id.name.meaning().to_owned(),
            Self::Input => "the sentence's vectors as attention gets them (T, D)".to_owned(),
            Self::Output => "the contextual vectors (T, D)".to_owned(),
            Self::Logits => "the scores of the model's answers".to_owned(),
            Self::Heads { part, .. } => {
                let meaning = HEAD_PARTS.iter().find(|(known, ..)| *known == part);
                meaning.map_or(String::new(), |(_, _, meaning)| (*meaning).to_owned())
            }
            Self::Visible => "1 where a query, the row, sees a key, the column (T, T)".to_owned(),
            Self::Temperature => "what scores are divided by".to_owned(),
        }
    }

    /// Why it cannot be written to, if it cannot.
    fn fixed(self) -> Option<&'static str> {
        match self {
            Self::Parameter(_) | Self::Visible | Self::Temperature => None,
            Self::Static => Some("the static vectors are trained once and for all"),
            Self::Input | Self::Output | Self::Logits | Self::Heads { .. } => {
                Some("it follows from the sentence and the weights; write to those")
            }
        }
    }

    pub fn is_writable(self) -> bool {
        self.fixed().is_none()
    }
}

/// The names of a model's tensors.
pub fn live_names(live: &Live) -> Vec<LiveName> {
    let (architecture, parameters) = (&live.architecture, &live.parameters);
    let mut names: Vec<(String, LiveTensor)> = vec![
        ("X".to_owned(), LiveTensor::Input),
        ("Y".to_owned(), LiveTensor::Output),
        ("Z".to_owned(), LiveTensor::Logits),
        ("temperature".to_owned(), LiveTensor::Temperature),
        ("visible".to_owned(), LiveTensor::Visible),
    ];
    if parameters.spec(TensorName::Embedding).is_none() {
        names.push(("E".to_owned(), LiveTensor::Static));
    }
    for (block, _) in architecture.numbered_blocks() {
        let suffix = if block > 0 { format!("_{}", block + 1) } else { String::new() };
        let named =
            HEAD_PARTS.map(|(part, symbol, _)| (format!("{symbol}{suffix}"), LiveTensor::Heads { block, part }));
        names.extend(named);
    }
    names.extend(parameters.tensors().map(|(spec, _)| (spec.id.code_name(), LiveTensor::Parameter(spec.id))));
    let named = |(name, tensor)| LiveName { axes: live.axes(tensor), name, tensor };
    names.into_iter().map(named).collect()
}

/// The tensors of one moment.
pub struct Live {
    pub space: Arc<StaticSpace>,
    pub words: Labels,
    pub architecture: Architecture,
    pub parameters: Arc<Parameters<f32>>,
    pub interventions: Arc<Interventions<f32>>,
    pub activations: Activations<f32>,
    pub answers: Answers,
    pub classes: Labels,
    pub tokens: Labels,
    pub source: Option<Labels>,
}

impl Live {
    pub fn given(&self, LiveName { name, tensor, .. }: &LiveName) -> Given {
        let variable = match tensor {
            LiveTensor::Temperature => Variable::number(name, self.temperature()),
            tensor => Variable::tensor(name, self.tensor(*tensor)),
        };
        match tensor.fixed() {
            Some(why) => Given::fixed(variable, why),
            None => Given::writable(variable),
        }
    }

    pub fn temperature(&self) -> f64 {
        self.interventions.temperature_of(&self.architecture.blocks[0])
    }

    /// Meaning of a tensor in this model.
    pub fn meaning(&self, tensor: LiveTensor) -> String {
        let distances = |block| {
            let block = self.architecture.numbered_blocks().nth(block);
            block.is_some_and(|(_, config)| config.attention.distances.is_some())
        };
        match tensor {
            LiveTensor::Heads { block, part: HeadPart::Scores } if distances(block) => {
                "the scores of all heads, scaled, with what distance adds, and masked (H, T, T)".to_owned()
            }
            tensor => tensor.meaning(),
        }
    }

    /// None of a number.
    fn axes(&self, tensor: LiveTensor) -> Vec<Axis> {
        let tokens = || Axis::labelled(self.tokens.clone());
        let source = || self.source.clone().map_or_else(tokens, Axis::labelled);
        let width = || Axis::plain(self.architecture.width);
        match tensor {
            LiveTensor::Static => vec![Axis::labelled(self.words.clone()), width()],
            LiveTensor::Parameter(id) => {
                let (rows, cols) = self.parameters.spec(id).map_or((1, 0), |spec| (spec.rows, spec.cols));
                match rows {
                    _ if id.name == TensorName::DistanceBias => distance_axes(rows, cols),
                    1 => vec![Axis::plain(cols)],
                    _ if id.name == TensorName::Embedding => {
                        vec![Axis::labelled(self.words.clone()), Axis::plain(cols)]
                    }
                    rows => vec![Axis::plain(rows), Axis::plain(cols)],
                }
            }
            LiveTensor::Input | LiveTensor::Output => vec![tokens(), width()],
            LiveTensor::Logits => {
                let rows = self.answers.logits.rows();
                let rows = if rows == self.tokens.len() { tokens() } else { Axis::plain(rows) };
                vec![rows, Axis::labelled(self.classes.clone())]
            }
            LiveTensor::Heads { block, part } => {
                let of_source = block < self.architecture.source_blocks.len();
                let blocks = self.architecture.numbered_blocks().nth(block);
                let to_source = blocks.is_some_and(|(_, block)| block.attends_to_source());
                let queries = if of_source { source() } else { tokens() };
                let keys = if of_source || to_source { source() } else { tokens() };
                let heads = &self.activations.blocks[block].heads;
                let (rows, cols) = match part {
                    HeadPart::Query => (queries, Axis::plain(heads[0].query.cols())),
                    HeadPart::Key => (keys, Axis::plain(heads[0].key.cols())),
                    HeadPart::Value => (keys, Axis::plain(heads[0].value.cols())),
                    HeadPart::Scores | HeadPart::Weights => (queries, keys),
                    HeadPart::Mix => (queries, Axis::plain(heads[0].mix.cols())),
                };
                vec![Axis::plain(heads.len()), rows, cols]
            }
            LiveTensor::Visible => vec![tokens(), tokens()],
            LiveTensor::Temperature => Vec::new(),
        }
    }

    fn tensor(&self, tensor: LiveTensor) -> Tensor {
        Tensor::new(self.axes(tensor), self.entries(tensor))
    }

    fn entries(&self, tensor: LiveTensor) -> Vec<f64> {
        match tensor {
            LiveTensor::Static => wide(self.space.vectors.flat()),
            LiveTensor::Parameter(id) => wide(self.parameters.values_of(id)),
            LiveTensor::Input => wide(self.activations.input.flat()),
            LiveTensor::Output => wide(self.activations.output.flat()),
            LiveTensor::Logits => wide(self.answers.logits.flat()),
            LiveTensor::Heads { block, part } => {
                let heads = self.activations.blocks[block].heads.iter();
                heads.flat_map(|head| wide(part.of(head).flat())).collect()
            }
            LiveTensor::Visible => {
                let mask = self.interventions.mask.as_ref().unwrap_or(&self.architecture.blocks[0].attention.mask);
                let count = self.tokens.len();
                let pairs = (0..count).flat_map(|query| (0..count).map(move |key| (query, key)));
                pairs.map(|(query, key)| f64::from(u8::from(mask.sees(query, key)))).collect()
            }
            LiveTensor::Temperature => vec![self.temperature()],
        }
    }

    /// The mask that a written `visible` means; `None` where it is the lesson's.
    pub fn mask_of(&self, visible: &Tensor) -> Option<Mask> {
        let count = self.tokens.len();
        let sees = |query: usize, key: usize| visible.entries()[query * count + key] != 0.0;
        let own = &self.architecture.blocks[0].attention.mask;
        let is_own = (0..count).all(|query| (0..count).all(|key| own.sees(query, key) == sees(query, key)));
        (!is_own).then(|| Mask::custom(MaskTable::from_fn(count, count, sees)))
    }
}

/// Axes of `B`: heads, unless there is but one, and distances.
fn distance_axes(heads: usize, distances: usize) -> Vec<Axis> {
    let furthest = distances as isize / 2;
    let distances: Vec<String> = (-furthest..=furthest).map(distance_label).collect();
    let heads: Vec<String> = (0..heads).map(head_label).collect();
    let axes = [heads, distances].map(|labels| Axis::labelled(labels.into()));
    axes.into_iter().filter(|axis| axis.len > 1).collect()
}

/// Name of a row of `B`: `head 1`.
pub fn head_label(head: usize) -> String {
    format!("head {}", head + 1)
}

/// Name of a column of `B`, by how far the key stands to the right of the query: `-1`, `0`, `+1`.
pub fn distance_label(distance: isize) -> String {
    if distance == 0 { "0".to_owned() } else { format!("{distance:+}") }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}
