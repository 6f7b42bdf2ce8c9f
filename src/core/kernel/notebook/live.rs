//! The live tensors that code reads and writes.

use std::sync::Arc;

use attune_engine::code::{Axis, Given, Labels, RunnableModel, Tensor, Variable};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Architecture};
use attune_engine::numerics::params::{Parameters, TensorId, TensorName, code_suffix};
use attune_engine::quantity::{Entry, Index, Owner, OwnerKind, Quantity};

use crate::kernel::sentence_pass::recorded::RecordedPass;
use crate::kernel::values::sentence::Answers;
use crate::kernel::values::space::StaticSpace;
use crate::lesson::recorded::ONE_PASS;

/// Name of a tensor or number of the model, which every cell can read.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveName {
    pub name: String,
    pub tensor: LiveTensor,
    /// Meaning in a few words.
    pub meaning: String,
    /// Shape and labels of the axes, for completion; empty for a number.
    pub axes: Vec<Axis>,
}

/// A tensor for code: a quantity of a block, with all heads in one tensor if each head has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveTensor {
    pub quantity: Quantity,
    pub block: usize,
}

/// The part of the model on which a live tensor depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Follows {
    #[default]
    Nothing,
    /// The static vectors, which a retraining replaces.
    Space,
    /// The static vectors and the parameters.
    Parameters,
    /// The parameters, the sentence and the interventions.
    Forward,
}

impl LiveTensor {
    pub fn follows(self) -> Follows {
        match self.quantity {
            Quantity::Static => Follows::Space,
            Quantity::Parameter(_) => Follows::Parameters,
            _ => Follows::Forward,
        }
    }

    /// Returns the id of the learned tensor, or `None` if the tensor is not learned.
    pub fn parameter(self) -> Option<TensorId> {
        match self.quantity {
            Quantity::Parameter(name) => Some(name.of_block(self.block)),
            _ => None,
        }
    }

    /// Returns the entry at these indices, one for each axis, or `None` if no entry is defined. `first_head` is the
    /// index of the block's first head.
    pub fn entry(self, first_head: usize, places: &[usize]) -> Option<Entry> {
        let definition = self.quantity.definition();
        match (definition.owner, places) {
            _ if matches!(self.quantity, Quantity::Visible | Quantity::Temperature) => None,
            (_, &[row, col]) if self.parameter().is_some() => Some(Entry::parameter(self.parameter()?, row, col)),
            (_, &[col]) if self.parameter().is_some() => Some(Entry::parameter(self.parameter()?, 0, col)),
            (OwnerKind::Head, &[head, row, col]) => Some(self.quantity.of_head(first_head + head, [row, col])),
            (OwnerKind::Block, &[row, col]) => Some(self.quantity.of_block(self.block, [row, col])),
            (OwnerKind::Model, &[row, col]) => Some(self.quantity.of_model([row, col])),
            _ => None,
        }
    }

    /// Returns the reason why the tensor cannot be written, if it cannot.
    fn fixed(self) -> Option<&'static str> {
        match self.quantity {
            Quantity::Parameter(_) | Quantity::Visible | Quantity::Temperature => None,
            Quantity::Static => Some("the static vectors are trained once and then stay fixed"),
            _ => Some("it is computed from the sentence and the weights; change those instead"),
        }
    }

    /// Returns the name in code: `A`, or `A_2` in the second block. `first` is the block that `X` enters.
    fn name(self, first: usize) -> String {
        let definition = self.quantity.definition();
        let of_block = |block: usize| format!("{}{}", definition.code.unwrap_or_default(), code_suffix(block));
        match self.parameter() {
            Some(id) => id.code_name(),
            None if definition.owner == OwnerKind::Head => of_block(self.block),
            None if self.quantity == Quantity::Input => of_block(self.block - first),
            None => definition.code.unwrap_or_default().to_owned(),
        }
    }
}

/// Returns the names of a model's tensors.
pub fn live_names(live: &Live) -> Vec<LiveName> {
    let Live { architecture, parameters, .. } = live;
    let (first, blocks) = (architecture.source_blocks.len(), architecture.numbered_blocks().count());
    let mut tensors: Vec<LiveTensor> = Vec::new();
    for &quantity in Quantity::ALL.iter().filter(|quantity| quantity.definition().code.is_some()) {
        let blocks = match (quantity, quantity.definition().owner) {
            (Quantity::Static, _) if parameters.spec(TensorName::Embedding).is_some() => 0..0,
            (_, OwnerKind::Head) => 0..blocks,
            // The residual stream has a tensor before each layer.
            (Quantity::Input, _) => first..blocks,
            _ => {
                let block = live.block_of(quantity);
                block..block + 1
            }
        };
        tensors.extend(blocks.map(|block| LiveTensor { quantity, block }));
    }
    // Code sees only those tensors of a recording that were recorded.
    tensors.retain(|of| live.recorded.as_ref().is_none_or(|pass| pass.has(of.quantity, of.block)));
    let learned = parameters.specs().iter().map(|spec| spec.id);
    tensors.extend(learned.map(|id| LiveTensor { quantity: Quantity::Parameter(id.name), block: id.block }));
    let named = |tensor: LiveTensor| LiveName {
        name: tensor.name(first),
        meaning: live.meaning(tensor),
        axes: live.axes(tensor),
        tensor,
    };
    tensors.into_iter().map(named).collect()
}

/// The tensors of a model at one moment, as code reads them.
pub struct Live {
    pub space: Arc<StaticSpace>,
    pub architecture: Architecture,
    pub parameters: Arc<Parameters<f32>>,
    pub interventions: Arc<Interventions<f32>>,
    pub activations: Activations<f32>,
    pub answers: Arc<Answers>,
    pub classes: Labels,
    pub tokens: Labels,
    pub source: Option<Labels>,
    /// The recorded pass, if the sentence is a text of a recording.
    pub recorded: Option<Arc<RecordedPass>>,
    /// The model, if it can be run on other sentences.
    pub model: Option<RunnableModel>,
}

impl Live {
    pub fn given(&self, LiveName { name, tensor, .. }: &LiveName) -> Given {
        let variable = match tensor.quantity {
            Quantity::Temperature => Variable::number(name, self.temperature()),
            _ => Variable::tensor(name, self.tensor(*tensor)),
        };
        match self.recorded.as_ref().map_or(tensor.fixed(), |_| Some(ONE_PASS)) {
            Some(why) => Given::fixed(variable, why),
            None => Given::writable(variable),
        }
    }

    /// Returns a tensor with its axes; a temperature has none.
    pub fn tensor(&self, tensor: LiveTensor) -> Tensor {
        Tensor::new(self.axes(tensor), self.entries(tensor))
    }

    pub fn temperature(&self) -> f64 {
        self.interventions.temperature_of(&self.architecture.blocks[0])
    }

    /// Returns the block from which a quantity without a head is read; `Y` is the output of the last one.
    fn block_of(&self, quantity: Quantity) -> usize {
        match quantity {
            Quantity::Output => self.architecture.numbered_blocks().count() - 1,
            _ => 0,
        }
    }

    fn config(&self, block: usize) -> Option<&BlockConfig> {
        self.architecture.numbered_blocks().nth(block).map(|(_, config)| config)
    }

    /// Returns the meaning of a tensor in this model.
    fn meaning(&self, LiveTensor { quantity, block }: LiveTensor) -> String {
        if quantity == Quantity::Static && self.recorded.is_some() {
            return "the vector of each token where it first stands, before the first layer (V, D)".to_owned();
        }
        let has_distances = self.config(block).is_some_and(|config| config.attention.distances.is_some());
        quantity.definition().meaning.replace("{scored}", scored(has_distances))
    }

    /// Returns the axes of a tensor; there are none for a scalar.
    fn axes(&self, tensor: LiveTensor) -> Vec<Axis> {
        if let Some(id) = tensor.parameter() {
            return self.learned_axes(id);
        }
        let LiveTensor { quantity, block } = tensor;
        let definition = quantity.definition();
        let tokens = || Axis::labelled(self.tokens.clone());
        let source = || self.source.clone().map_or_else(tokens, Axis::labelled);
        let of_source = block < self.architecture.source_blocks.len();
        let has_block = matches!(definition.owner, OwnerKind::Block | OwnerKind::Head);
        let to_source = of_source || self.config(block).is_some_and(BlockConfig::attends_to_source);
        let rows = self.answers.logits.rows();
        let axis = |index: &Index| match index {
            Index::Word => Axis::labelled(self.space.vocabulary.clone()),
            Index::Class => Axis::labelled(self.classes.clone()),
            Index::Query if has_block && of_source => source(),
            Index::Key if has_block && to_source => source(),
            Index::Query | Index::Key => tokens(),
            Index::Row if rows == self.tokens.len() => tokens(),
            Index::Row => Axis::plain(rows),
            _ => Axis::plain(self.matrices(tensor).next().map_or(self.architecture.width, Matrix::cols)),
        };
        let heads = (definition.owner == OwnerKind::Head).then(|| Axis::plain(self.matrices(tensor).count()));
        heads.into_iter().chain(definition.indices.iter().map(axis)).collect()
    }

    fn learned_axes(&self, id: TensorId) -> Vec<Axis> {
        let (rows, cols) = self.parameters.spec(id).map_or((1, 0), |spec| (spec.rows, spec.cols));
        match rows {
            _ if id.name == TensorName::DistanceBias => {
                let block = self.architecture.numbered_blocks().nth(id.block);
                distance_axes(block.and_then(|(_, block)| block.attention.distances), rows, cols)
            }
            1 => vec![Axis::plain(cols)],
            _ if id.name == TensorName::Embedding => {
                vec![Axis::labelled(self.space.vocabulary.clone()), Axis::plain(cols)]
            }
            rows => vec![Axis::plain(rows), Axis::plain(cols)],
        }
    }

    /// Returns the matrices of a quantity in the forward pass: one for each head, or one for the block.
    fn matrices(&self, LiveTensor { quantity, block }: LiveTensor) -> impl Iterator<Item = &Matrix<f32>> {
        let owners = match quantity.definition().owner {
            OwnerKind::Head => self.architecture.heads_of(block).map(Owner::Head).collect(),
            _ => vec![Owner::Block(block)],
        };
        owners.into_iter().filter_map(move |owner| quantity.matrix(&self.activations, owner))
    }

    fn entries(&self, tensor: LiveTensor) -> Vec<f64> {
        match tensor.quantity {
            Quantity::Static => wide(self.space.vectors.widened().flat()),
            Quantity::Parameter(name) => wide(&self.parameters.row_major(name.of_block(tensor.block))),
            Quantity::Logit => wide(self.answers.logits.flat()),
            Quantity::Visible => {
                let sight = self.interventions.sight_of_first(&self.architecture);
                let count = self.tokens.len();
                let pairs = (0..count).flat_map(|query| (0..count).map(move |key| (query, key)));
                pairs.map(|(query, key)| f64::from(u8::from(sight.sees(query, key)))).collect()
            }
            _ => self.matrices(tensor).flat_map(|matrix| wide(matrix.flat())).collect(),
        }
    }
}

/// Returns, in words, the steps from the products of queries and keys to the scores.
pub fn scored(has_distances: bool) -> &'static str {
    if has_distances { "scaled, with distances added, and masked" } else { "scaled and masked" }
}

/// Distances from a query to a key that share a column of `B`; negative if the key is to the left. A column for a
/// bucket has several distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDistances {
    pub nearest: isize,
    pub furthest: isize,
    /// Index of the bucket, if distances have buckets, and whether it also holds all greater distances.
    pub bucket: Option<(usize, bool)>,
}

impl ColumnDistances {
    /// Returns the distances of column `col` of `cols`; `form` is the form of the block's distances.
    pub fn of(form: Option<DistanceForm>, col: usize, cols: usize) -> Self {
        let Some((form, buckets)) = form.and_then(|form| Some((form, form.buckets?))) else {
            let distance = col as isize - cols as isize / 2;
            return Self { nearest: distance, furthest: distance, bucket: None };
        };
        let itself = form.tokens - 1;
        let in_bucket = (0..form.count()).filter(|&distance| form.column_of(distance) == col);
        let distances = in_bucket.map(|distance| distance as isize - itself as isize);
        // If later keys have no buckets of their own, the mask hides these keys, so their distances are left out.
        let mut seen: Vec<isize> = distances.filter(|distance| buckets.both_directions || *distance <= 0).collect();
        seen.sort_by_key(|distance| distance.unsigned_abs());
        let [nearest, furthest] = [seen.first(), seen.last()].map(|distance| distance.copied().unwrap_or_default());
        let is_last = furthest.unsigned_abs() == itself;
        Self { nearest, furthest, bucket: Some((col, is_last)) }
    }

    /// Returns the distances as a text: `-2`; `-8…-11`; `-91…`.
    pub fn label(self) -> String {
        let nearest = distance_label(self.nearest);
        match self.bucket {
            Some((_, true)) => format!("{nearest}…"),
            Some(_) if self.nearest != self.furthest => format!("{nearest}…{}", distance_label(self.furthest)),
            _ => nearest,
        }
    }
}

/// Returns the axes of `B`: heads, unless there is only one, and distances.
fn distance_axes(form: Option<DistanceForm>, heads: usize, columns: usize) -> Vec<Axis> {
    let distances: Vec<String> = (0..columns).map(|col| ColumnDistances::of(form, col, columns).label()).collect();
    let heads: Vec<String> = (0..heads).map(head_label).collect();
    let axes = [heads, distances].map(|labels| Axis::labelled(labels.into()));
    axes.into_iter().filter(|axis| axis.len > 1).collect()
}

/// Returns the name of a row of `B`, such as `head 1`.
pub fn head_label(head: usize) -> String {
    format!("head {}", head + 1)
}

/// Returns the name of a column of `B`, the distance from the query to the right: `-1`, `0`, `+1`.
pub fn distance_label(distance: isize) -> String {
    if distance == 0 { "0".to_owned() } else { format!("{distance:+}") }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}
