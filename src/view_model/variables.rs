//! The Variables panel: every tensor of the forward pass and every variable of code, with its shape and its numbers.

use std::sync::{Arc, OnceLock};

use super::provenance::Entry;
use super::table::TableModel;
use crate::code::{Labels, Output, Tensor};
use crate::kernel::notebook::live::{HeadPart, Live, LiveName, LiveTensor, live_names};
use crate::kernel::snapshot::Snapshot;
use crate::kernel::token_labels::token_labels;
use crate::numerics::model::Architecture;
use crate::numerics::params::TensorName;

/// Worked out when somebody looks, and then kept: the tables cost more than a frame should when nobody does.
#[derive(Clone, Debug)]
pub struct VariablesModel {
    snapshot: Arc<Snapshot>,
    all: OnceLock<Vec<VariableModel>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VariableModel {
    /// As code writes it.
    pub name: String,
    /// As the literature does.
    pub symbol: String,
    pub kind: VariableKind,
    /// In a sentence; of a variable of code, where it is made.
    pub meaning: String,
    pub value: VariableValue,
    /// What its entries are of; none of a variable of code.
    origin: Option<Origin>,
}

/// A tensor of the model, with the number of the block that it belongs to and of that block's first head.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Origin {
    tensor: LiveTensor,
    block: usize,
    head: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariableKind {
    /// Of the forward pass of the sentence.
    Forward,
    /// Learned or given.
    Weights,
    Code,
}

impl VariableKind {
    pub const ALL: [Self; 3] = [Self::Forward, Self::Weights, Self::Code];

    pub fn title(self) -> &'static str {
        match self {
            Self::Forward => "The sentence, on its way",
            Self::Weights => "Vectors and weights",
            Self::Code => "From code cells",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum VariableValue {
    Number(f64),
    Table(TableModel),
    Text(Arc<str>),
}

impl VariableModel {
    /// `(2, 11, 8)`, or what it is instead of a tensor.
    pub fn shape(&self) -> String {
        match &self.value {
            VariableValue::Number(_) => "number".to_owned(),
            VariableValue::Table(table) => table.shape(),
            VariableValue::Text(_) => "text".to_owned(),
        }
    }

    /// An entry of its table, as it can be asked where it comes from.
    pub fn entry(&self, [part, row, col]: [usize; 3]) -> Option<Entry> {
        let Origin { tensor, block, head } = self.origin?;
        let head = head + part;
        Some(match tensor {
            LiveTensor::Static => Entry::Static { word: row, dim: col },
            LiveTensor::Parameter(tensor) => Entry::Parameter { tensor, row, col },
            LiveTensor::Input => Entry::Input { block, token: row, dim: col },
            LiveTensor::Output => Entry::Output { block, token: row, dim: col },
            LiveTensor::Logits => Entry::Logit { row, class: col },
            LiveTensor::Heads { part, .. } => match part {
                HeadPart::Query => Entry::Query { head, token: row, dim: col },
                HeadPart::Key => Entry::Key { head, token: row, dim: col },
                HeadPart::Value => Entry::Value { head, token: row, dim: col },
                HeadPart::Scores => Entry::Score { head, query: row, key: col },
                HeadPart::Weights => Entry::Weight { head, query: row, key: col },
                HeadPart::Mix => Entry::Mix { head, token: row, dim: col },
            },
            LiveTensor::Visible | LiveTensor::Temperature => return None,
        })
    }
}

impl Origin {
    fn of(tensor: LiveTensor, architecture: &Architecture) -> Self {
        let block = match tensor {
            LiveTensor::Heads { block, .. } => block,
            LiveTensor::Output => architecture.numbered_blocks().count() - 1,
            _ => architecture.source_blocks.len(),
        };
        let head = architecture.numbered_blocks().take(block).map(|(_, block)| block.attention.heads).sum();
        Self { tensor, block, head }
    }
}

impl VariablesModel {
    pub fn of(snapshot: &Arc<Snapshot>) -> Self {
        Self { snapshot: snapshot.clone(), all: OnceLock::new() }
    }

    /// The forward pass first, then the weights, then code; each in its own order.
    pub fn all(&self) -> &[VariableModel] {
        self.all.get_or_init(|| {
            let mut all: Vec<VariableModel> = live_of(&self.snapshot).as_ref().map(of_the_model).unwrap_or_default();
            all.extend(of_code(&self.snapshot));
            all.sort_by_key(|variable| variable.kind);
            all
        })
    }
}

/// The tensors of the snapshot, as code would read them.
fn live_of(snapshot: &Snapshot) -> Option<Live> {
    let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
    let sentence = &model.sentence;
    let labels = |words: Vec<String>| -> Labels { words.into() };
    Some(Live {
        space: space.clone(),
        words: labels(space.vocabulary.clone()),
        architecture: model.architecture.clone(),
        parameters: model.parameters.clone(),
        interventions: model.interventions.clone(),
        activations: sentence.activations.clone(),
        answers: sentence.answers.clone(),
        classes: model.classes.clone(),
        tokens: labels(token_labels(&sentence.tokens)),
        source: sentence.source.as_deref().map(|source| labels(token_labels(source))),
    })
}

fn of_the_model(live: &Live) -> Vec<VariableModel> {
    let mut names = live_names(live);
    names.sort_by_key(|name| (place(name.tensor), parameter(name.tensor)));
    names.iter().map(|name| live_variable(live, name)).collect()
}

/// In the order of the forward pass.
fn place(tensor: LiveTensor) -> (usize, usize) {
    match tensor {
        LiveTensor::Input => (0, 0),
        LiveTensor::Heads { block, part } => {
            let order =
                [HeadPart::Query, HeadPart::Key, HeadPart::Value, HeadPart::Scores, HeadPart::Weights, HeadPart::Mix];
            (1 + block, order.iter().position(|known| *known == part).unwrap_or(order.len()))
        }
        LiveTensor::Output => (usize::MAX, 0),
        LiveTensor::Logits => (usize::MAX, 1),
        LiveTensor::Visible => (usize::MAX, 2),
        LiveTensor::Temperature => (usize::MAX, 3),
        LiveTensor::Static => (0, 0),
        LiveTensor::Parameter(id) => (1 + id.block, usize::from(!id.name.is_of_a_block())),
    }
}

/// Rank of a parameter within its block, whatever its place in the layout: `B` stands behind `b_K`.
fn parameter(tensor: LiveTensor) -> Option<TensorName> {
    match tensor {
        LiveTensor::Parameter(id) => Some(id.name),
        _ => None,
    }
}

fn live_variable(live: &Live, known: &LiveName) -> VariableModel {
    let (kind, symbol) = match known.tensor {
        LiveTensor::Static => (VariableKind::Weights, "E".to_owned()),
        LiveTensor::Parameter(id) => (VariableKind::Weights, id.to_string()),
        LiveTensor::Heads { block, .. } => {
            // The symbol carries its block as those of the weights do.
            let weights = TensorName::QueryWeights.of_block(block).to_string();
            let symbol: String = known.name.chars().take_while(|c| *c != '_').collect();
            (VariableKind::Forward, format!("{symbol}{}", weights.trim_start_matches("W_Q")))
        }
        LiveTensor::Temperature => (VariableKind::Forward, "τ".to_owned()),
        _ => (VariableKind::Forward, known.name.clone()),
    };
    let given = live.given(known).variable;
    let value = match (given.as_number(), given.as_tensor()) {
        (Some(number), _) => VariableValue::Number(number),
        (None, Some(tensor)) => table(&known.name, &tensor),
        (None, None) => VariableValue::Text(Arc::from("")),
    };
    let origin = Some(Origin::of(known.tensor, &live.architecture));
    VariableModel { name: known.name.clone(), symbol, kind, meaning: live.meaning(known.tensor), value, origin }
}

fn table(name: &str, tensor: &Tensor) -> VariableValue {
    VariableValue::Table(TableModel::of(&Arc::from(name), tensor))
}

/// Of two of one name the later one, which the cells below see.
fn of_code(snapshot: &Snapshot) -> Vec<VariableModel> {
    let mut all: Vec<VariableModel> = Vec::new();
    let mut add = |variable: VariableModel| {
        all.retain(|known| known.name != variable.name);
        all.push(variable);
    };
    let code = |name: &str, meaning: String, value| VariableModel {
        name: name.to_owned(),
        symbol: name.to_owned(),
        kind: VariableKind::Code,
        meaning,
        value,
        origin: None,
    };
    for shown in &snapshot.notebook.cells {
        if let Some((name, value)) = shown.cell.turned_variable() {
            add(code(name, "its slider turns it".to_owned(), VariableValue::Number(value)));
        }
        let Some(run) = shown.run.as_deref().filter(|_| shown.cell.is_code()) else { continue };
        let place = run.number.map_or_else(|| shown.cell.id.to_string(), |number| format!("In[{number}]"));
        let stale = if shown.is_stale() { "; stale: run it again" } else { "" };
        for variable in run.variables.iter() {
            let value = match &variable.value {
                Output::Number(number) => VariableValue::Number(*number),
                Output::Table { tensor, .. } => table(&variable.name, tensor),
                Output::Text(text) => VariableValue::Text(text.clone()),
                Output::Ranking(words) => {
                    let (words, numbers): (Vec<String>, Vec<f64>) = words.iter().cloned().unzip();
                    let axis = crate::code::Axis::labelled(words.into());
                    table(&variable.name, &Tensor::new(vec![axis], numbers))
                }
                Output::Plot(_) | Output::Image(_) => VariableValue::Text("a picture".into()),
            };
            add(code(&variable.name, format!("made in {place}{stale}"), value));
        }
    }
    all
}
