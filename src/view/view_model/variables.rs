//! The Variables panel: every tensor of the forward pass and every variable of code, with its shape and its numbers.

use std::sync::{Arc, OnceLock};

use attune_core::kernel::notebook::live::{Live, LiveName, LiveTensor, live_names};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_engine::code::{Labels, Output, Tensor};
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::params::superscript;
use attune_engine::quantity::{Entry, Owner, OwnerKind, Quantity};

use super::models::Model;
use super::output::TableModel;

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
    /// The first entry, whose others follow it; none of a variable of code.
    first: Option<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariableKind {
    /// Tensors of the sentence's forward pass.
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
        let mut entry = self.first?.of_later_head(part);
        entry.index = [row, col, 0];
        Some(entry)
    }
}

/// The first entry of a tensor, if it can be asked where its numbers come from.
fn first_entry(tensor: LiveTensor, architecture: &Architecture) -> Option<Entry> {
    let LiveTensor { quantity, block } = tensor;
    let definition = quantity.definition();
    let owner = match definition.owner {
        OwnerKind::Head => Owner::Head(architecture.heads_of(block).start),
        OwnerKind::Model if tensor.parameter().is_none() => Owner::Model,
        _ => Owner::Block(block),
    };
    (!definition.entry.is_empty()).then(|| quantity.of(owner, [0, 0]))
}

impl Model for VariablesModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Some(Self::of(snapshot))
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
    names.sort_by_key(|name| rank(name.tensor));
    names.iter().map(|name| live_variable(live, name)).collect()
}

/// Rank in the order of the forward pass; a block's learned tensors in the order of the literature.
fn rank(LiveTensor { quantity, block }: LiveTensor) -> (usize, bool, Quantity) {
    match quantity {
        Quantity::Input | Quantity::Static => (0, false, quantity),
        Quantity::Parameter(name) => (1 + block, !name.is_of_a_block(), quantity),
        _ if quantity.definition().owner == OwnerKind::Head => (1 + block, false, quantity),
        _ => (usize::MAX, false, quantity),
    }
}

fn live_variable(live: &Live, known: &LiveName) -> VariableModel {
    let LiveTensor { quantity, block } = known.tensor;
    let definition = quantity.definition();
    let kind = match quantity {
        Quantity::Static | Quantity::Parameter(_) => VariableKind::Weights,
        _ => VariableKind::Forward,
    };
    let symbol = match known.tensor.parameter() {
        Some(id) => id.to_string(),
        None if definition.owner == OwnerKind::Head => format!("{}{}", definition.letter(), superscript(block)),
        None => definition.letter(),
    };
    let given = live.given(known).variable;
    let value = match (given.as_number(), given.as_tensor()) {
        (Some(number), _) => VariableValue::Number(number),
        (None, Some(tensor)) => table(&known.name, &tensor),
        (None, None) => VariableValue::Text(Arc::from("")),
    };
    let first = first_entry(known.tensor, &live.architecture);
    VariableModel { name: known.name.clone(), symbol, kind, meaning: known.meaning.clone(), value, first }
}

fn table(name: &str, tensor: &Tensor) -> VariableValue {
    VariableValue::Table(TableModel::of(&Arc::from(name), tensor))
}

/// Variables of code cells; where a name stands twice, the later one, which the cells below see.
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
        first: None,
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
                    let axis = attune_engine::code::Axis::labelled(words.into());
                    table(&variable.name, &Tensor::new(vec![axis], numbers))
                }
                Output::Plot(_) | Output::Image(_) => VariableValue::Text("a picture".into()),
            };
            add(code(&variable.name, format!("made in {place}{stale}"), value));
        }
    }
    all
}
