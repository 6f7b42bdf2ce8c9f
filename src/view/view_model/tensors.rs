//! Tensors in panels. The Weights panel shows every entry of a tensor, with a mark at its value before edits. The
//! Variables panel shows every tensor of the forward pass and every variable of code, with shape and numbers.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::command::Reference;
use attune_core::kernel::notebook::live::{ColumnDistances, Live, LiveName, LiveTensor, live_names};
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_core::kernel::snapshot::{ComparisonSnapshot, Snapshot};
use attune_engine::code::{Labels, Output, Tensor};
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::params::{Layer, Parameters, Start, TensorId, TensorName, superscript};
use attune_engine::quantity::{Entry, Owner, OwnerKind, Quantity};

use super::labels::{HeadLabels, in_words};
use super::output::TableModel;

#[derive(Clone, Debug)]
pub struct WeightsModel {
    pub tensors: Vec<TensorModel>,
    /// The names of the blocks, such as `Layer 2` or `Cross-attention`; empty for a single one.
    pub blocks: Vec<String>,
    pub comparison: Option<ComparisonModel>,
    /// The origin of unedited weights: *trained*, *given* or *drawn*.
    pub origin: &'static str,
    /// The latest training step.
    pub step: usize,
}

/// The comparison of the weights in use with other weights.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonModel {
    pub with: Reference,
    /// The name of the other weights, such as `after step 100` or `as trained`.
    pub name: String,
    /// The norm of the difference, `‖W − W'‖`, over all tensors.
    pub overall: f32,
}

impl ComparisonModel {
    fn of(ComparisonSnapshot { with, norms, .. }: &ComparisonSnapshot, origin: &str) -> Self {
        let name = match with {
            Reference::Trained => format!("as {origin}"),
            Reference::Start => "at the start".to_owned(),
            Reference::Step(step) => format!("after step {step}"),
        };
        Self { with: *with, name, overall: norms.overall }
    }
}

/// A tensor of the model. Its entries are read from the model's parameters on request, so that only the visible part of
/// a large tensor is read.
#[derive(Clone, Debug)]
pub struct TensorModel {
    pub id: TensorId,
    pub rows: usize,
    pub cols: usize,
    /// The origin, as in [`WeightsModel::origin`].
    pub origin: &'static str,
    /// The parameters in use.
    live: Arc<Parameters<f32>>,
    /// The trained parameters.
    trained: Arc<Parameters<f32>>,
    /// The parameters in use minus those of the comparison; `None` if there is no comparison.
    difference: Option<Arc<Parameters<f32>>>,
    /// The largest magnitude of a trained entry, computed on request.
    largest: OnceLock<f32>,
    /// The norm of this tensor's difference, `‖W − W'‖`.
    pub difference_norm: f32,
    /// The number of entries that differ from `trained`.
    pub changed: usize,
    /// The number of heads among which the columns are divided, or the rows for `W_O` and `B`.
    pub heads: usize,
    /// The form of the block's distance bias, which determines the distances that use each column of `B`.
    distances: Option<DistanceForm>,
    /// Whether later blocks read the same `B`.
    is_shared: bool,
}

/// The tensors of one block, or those that belong to no block.
pub struct TensorGroup<'a> {
    /// The name of the block; empty if there is only one.
    pub title: String,
    pub tensors: Vec<&'a TensorModel>,
}

/// The panic message for an entry that does not exist, which is a mistake of the caller.
const ENTRY: &str = "an entry of the tensor";

impl TensorModel {
    /// Returns an entry in use.
    ///
    /// # Panics
    /// If there is no such entry, as in [`Self::trained_value`].
    pub fn value(&self, row: usize, col: usize) -> f32 {
        self.live.entry(self.id, row, col).expect(ENTRY)
    }

    pub fn trained_value(&self, row: usize, col: usize) -> f32 {
        self.trained.entry(self.id, row, col).expect(ENTRY)
    }

    pub fn row(&self, row: usize) -> Cow<'_, [f32]> {
        self.live.rows(self.id, row..row + 1)
    }

    pub fn trained_row(&self, row: usize) -> Cow<'_, [f32]> {
        self.trained.rows(self.id, row..row + 1)
    }

    /// Returns the entries in use minus those of the comparison, row by row; `None` if there is no comparison.
    pub fn differences(&self) -> Option<Cow<'_, [f32]>> {
        Some(self.difference.as_ref()?.row_major(self.id))
    }

    /// Returns a row of the differences; `None` if there is no comparison.
    pub fn difference_row(&self, row: usize) -> Option<Cow<'_, [f32]>> {
        Some(self.difference.as_ref()?.rows(self.id, row..row + 1))
    }

    /// Returns an entry as a map shows it: its difference if there is a comparison, otherwise its value.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn shown_value(&self, row: usize, col: usize) -> f32 {
        let shown = self.difference.as_ref().unwrap_or(&self.live);
        shown.entry(self.id, row, col).expect(ENTRY)
    }

    pub fn entries(&self) -> usize {
        self.rows * self.cols
    }

    /// Returns the largest absolute value of the trained entries.
    pub fn largest(&self) -> f32 {
        *self.largest.get_or_init(|| largest(&self.trained.row_major(self.id)))
    }

    /// Returns the largest absolute value in the map: that of the differences, if there is a comparison.
    pub fn largest_shown(&self) -> f32 {
        self.differences().map_or_else(|| self.largest(), |differences| largest(&differences))
    }

    /// Returns the rank among the tensors: block by block and layer by layer, with matrices before biases; tensors that
    /// belong to no block come last.
    pub fn rank(&self) -> impl Ord + use<> {
        let TensorId { block, name } = self.id;
        // The distance bias is listed with attention, although it is stored elsewhere in the parameters.
        let layer = if name.layer() == Layer::Distances { Layer::Attention } else { name.layer() };
        (!name.is_of_a_block(), block, layer, name.start() == Start::Zero, name)
    }

    pub fn meaning(&self) -> &'static str {
        self.id.name.purpose()
    }

    /// Returns the meaning of an entry of `B`, such as `head 2, a word 1 position to the left`, and whether other
    /// layers use it; `None` for other tensors.
    pub fn entry_meaning(&self, row: usize, col: usize) -> Option<String> {
        let is_distance = self.id.name == TensorName::DistanceBias;
        let place = || in_words(ColumnDistances::of(self.distances, col, self.cols));
        let layers = if self.is_shared { ", in all layers that have distances here" } else { "" };
        is_distance.then(|| format!("head {}, {}{layers}", row + 1, place()))
    }
}

fn largest(values: &[f32]) -> f32 {
    values.iter().map(|x| x.abs()).fold(0.0, f32::max)
}

impl WeightsModel {
    pub fn of(snapshot: &Snapshot) -> Option<WeightsModel> {
        Self::after(snapshot, None)
    }

    /// Builds the model; `None` until there is a model of the lesson. The largest entries of `before` are reused if the
    /// trained weights are the same.
    pub(super) fn after(snapshot: &Snapshot, before: Option<&Self>) -> Option<WeightsModel> {
        let model = snapshot.model.as_ref()?;
        let (comparison, origin) = (model.comparison.as_ref(), model.weights_origin());
        let attention =
            |id: TensorId| model.architecture.numbered_blocks().nth(id.block).map(|(_, block)| &block.attention);
        let reads_table = |block: usize| {
            let mut forms = model.architecture.numbered_blocks().filter_map(|(_, config)| config.attention.distances);
            forms.any(|form| form.table == Some(block))
        };
        let tensors = model
            .parameters
            .specs()
            .iter()
            .enumerate()
            .map(|(place, spec)| {
                let is_known =
                    |known: &&TensorModel| known.id == spec.id && Arc::ptr_eq(&known.trained, &model.trained);
                let known = before.and_then(|before| before.tensors.get(place)).filter(is_known);
                TensorModel {
                    id: spec.id,
                    rows: spec.rows,
                    cols: spec.cols,
                    origin,
                    changed: model.edits.iter().find(|(id, _)| *id == spec.id).map_or(0, |(_, entries)| *entries),
                    live: model.parameters.clone(),
                    trained: model.trained.clone(),
                    difference: comparison.map(|with| with.difference.clone()),
                    largest: known.map_or_else(OnceLock::new, |known| known.largest.clone()),
                    difference_norm: comparison.map_or(0.0, |with| with.norms.by_tensor[place]),
                    heads: attention(spec.id).map_or(1, |attention| attention.heads),
                    distances: attention(spec.id).and_then(|attention| attention.distances),
                    is_shared: reads_table(spec.id.block),
                }
            })
            .collect();
        let comparison = comparison.map(|with| ComparisonModel::of(with, origin));
        let blocks = HeadLabels::of(model).blocks();
        Some(WeightsModel { tensors, blocks, comparison, origin, step: model.training.progress.done })
    }

    /// Returns the tensors block by block, each group in the order of [`TensorModel::rank`]; those that belong to no
    /// block form the last group.
    pub fn groups(&self) -> Vec<TensorGroup<'_>> {
        let mut tensors: Vec<&TensorModel> = self.tensors.iter().collect();
        tensors.sort_by_key(|tensor| tensor.rank());
        let block = |tensor: &TensorModel| tensor.id.name.is_of_a_block().then_some(tensor.id.block);
        let group = |tensors: &[&'_ TensorModel]| match block(tensors[0]) {
            Some(block) => self.blocks.get(block).cloned().unwrap_or_default(),
            None => "Words and answers".to_owned(),
        };
        let groups = tensors.chunk_by(|a, b| block(a) == block(b));
        groups.map(|tensors| TensorGroup { title: group(tensors), tensors: tensors.to_vec() }).collect()
    }
}

/// The variables, whose tables are computed on request and then cached, because this takes longer than a frame should.
#[derive(Clone, Debug)]
pub struct VariablesModel {
    snapshot: Arc<Snapshot>,
    all: OnceLock<Vec<VariableModel>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VariableModel {
    /// The name in code.
    pub name: String,
    /// The symbol in the literature.
    pub symbol: String,
    pub kind: VariableKind,
    /// The meaning, as a sentence; for a variable of a code cell, the cell that defines it.
    pub meaning: String,
    pub value: VariableValue,
    /// The entry of the tensor's first number, from which the others are counted; `None` for a variable of a code cell.
    first: Option<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariableKind {
    /// A tensor of the sentence's forward pass.
    Forward,
    /// Learned or given weights.
    Weights,
    Code,
}

impl VariableKind {
    pub const ALL: [Self; 3] = [Self::Forward, Self::Weights, Self::Code];

    pub fn title(self) -> &'static str {
        match self {
            Self::Forward => "The sentence's forward pass",
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
    /// Returns the shape, such as `(2, 11, 8)`, or the type if it is not a tensor.
    pub fn shape(&self) -> String {
        match &self.value {
            VariableValue::Number(_) => "number".to_owned(),
            VariableValue::Table(table) => table.shape(),
            VariableValue::Text(_) => "text".to_owned(),
        }
    }

    /// Returns the entry that explains a number, given its table, row and column; `None` if the numbers have no
    /// entries.
    pub fn entry(&self, [part, row, col]: [usize; 3]) -> Option<Entry> {
        let mut entry = self.first?.of_later_head(part);
        entry.index = [row, col, 0];
        Some(entry)
    }
}

/// Returns the entry of a tensor's first number; `None` if the numbers have no explanation.
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

impl VariablesModel {
    pub fn of(snapshot: &Arc<Snapshot>) -> Self {
        Self { snapshot: snapshot.clone(), all: OnceLock::new() }
    }

    /// Returns the variables of the forward pass, then the weights, then the variables of code, each kind in its own
    /// order.
    pub fn all(&self) -> &[VariableModel] {
        self.all.get_or_init(|| {
            let mut all: Vec<VariableModel> = live_of(&self.snapshot).as_ref().map(of_the_model).unwrap_or_default();
            all.extend(of_code(&self.snapshot));
            all.sort_by_key(|variable| variable.kind);
            all
        })
    }
}

/// Returns the tensors of the snapshot as code reads them; `None` until there is a model.
fn live_of(snapshot: &Snapshot) -> Option<Live> {
    let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
    let sentence = &model.sentence;
    let labels = |words: Vec<String>| -> Labels { words.into() };
    Some(Live {
        space: space.clone(),
        architecture: model.architecture.clone(),
        parameters: model.parameters.clone(),
        interventions: model.interventions.clone(),
        activations: sentence.activations.clone(),
        answers: sentence.answers.clone(),
        classes: model.classes.clone(),
        tokens: labels(token_labels(&sentence.tokens)),
        source: sentence.source.as_deref().map(|source| labels(token_labels(source))),
        recorded: model.recorded.clone(),
        model: None,
    })
}

fn of_the_model(live: &Live) -> Vec<VariableModel> {
    let mut names = live_names(live);
    names.sort_by_key(|name| rank(name.tensor));
    names.iter().map(|name| live_variable(live, name)).collect()
}

/// Returns the rank in the order of the forward pass; a block's learned tensors are in the order of the literature.
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

/// Returns the variables of code cells. If several have the same name, the last one is returned, which is the one that
/// cells below see.
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
            add(code(name, "set by its slider".to_owned(), VariableValue::Number(value)));
        }
        let Some(run) = shown.run.as_deref().filter(|_| shown.cell.is_code()) else { continue };
        let place = run.number.map_or_else(|| shown.cell.id.to_string(), |number| format!("In[{number}]"));
        let stale = if shown.is_stale() { "; stale, so run the cell again" } else { "" };
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
