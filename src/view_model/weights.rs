//! The Weights panel: every entry of a tensor with its ghost.

use std::sync::Arc;

use super::distance::{at_distance, distance_of};
use super::head_labels::HeadLabels;
use super::models::Model;
use crate::kernel::command::Reference;
use crate::kernel::snapshot::Snapshot;
use crate::numerics::params::{Layer, Start, TensorId, TensorName};

#[derive(Clone, Debug, PartialEq)]
pub struct WeightsModel {
    pub tensors: Vec<TensorModel>,
    /// Names of the blocks: `Layer 2`, `Cross-attention`; of a single one, nothing.
    pub blocks: Vec<String>,
    pub comparison: Option<ComparisonModel>,
    /// The latest step of the training.
    pub step: usize,
}

/// The weights in use beside others.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonModel {
    pub with: Reference,
    /// Such as `step 100` or `as trained`.
    pub name: String,
    /// `‖W − W'‖` of all tensors together.
    pub overall: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TensorModel {
    pub id: TensorId,
    pub rows: usize,
    pub cols: usize,
    /// Row-major, in use now.
    pub values: Vec<f32>,
    /// Row-major, as training left them.
    pub trained: Vec<f32>,
    /// In use less those of what it is compared with, if it is.
    pub difference: Option<Vec<f32>>,
    /// `‖W − W'‖` of this tensor.
    pub difference_norm: f32,
    /// How many entries differ from `trained`.
    pub changed: usize,
    /// How many heads share the columns (of `W_O` and `B`, the rows).
    pub heads: usize,
}

/// Tensors of one block, or those that no block has.
pub struct TensorGroup<'a> {
    /// Empty where there is one block.
    pub title: String,
    pub tensors: Vec<&'a TensorModel>,
}

impl TensorModel {
    pub fn value(&self, row: usize, col: usize) -> f32 {
        self.values[row * self.cols + col]
    }

    pub fn trained_value(&self, row: usize, col: usize) -> f32 {
        self.trained[row * self.cols + col]
    }

    /// Rank among the tensors: block by block and layer by layer, matrices before what is added to them; last what
    /// no block has.
    pub fn rank(&self) -> impl Ord + use<> {
        let TensorId { block, name } = self.id;
        // Distances are a part of attention, wherever they lie in the flat vector.
        let layer = if name.layer() == Layer::Distances { Layer::Attention } else { name.layer() };
        (!name.is_of_a_block(), block, layer, name.start() == Start::Zero, name)
    }

    pub fn meaning(&self) -> &'static str {
        self.id.name.purpose()
    }

    /// Purpose of an entry of `B`: `head 2, a word 1 place to the left`; `None` for other tensors.
    pub fn entry_meaning(&self, row: usize, col: usize) -> Option<String> {
        let is_distance = self.id.name == TensorName::DistanceBias;
        is_distance.then(|| format!("head {}, {}", row + 1, at_distance(distance_of(col, self.cols))))
    }
}

impl Model for WeightsModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot)
    }
}

impl WeightsModel {
    pub fn of(snapshot: &Snapshot) -> Option<WeightsModel> {
        let model = snapshot.model.as_ref()?;
        let comparison = model.comparison.as_ref();
        let tensors = model
            .parameters
            .tensors()
            .enumerate()
            .map(|(place, (spec, values))| {
                let trained = model.trained.row_major(spec.id);
                TensorModel {
                    id: spec.id,
                    rows: spec.rows,
                    cols: spec.cols,
                    changed: if model.parameters.has_same(spec.id, &model.trained) {
                        0
                    } else {
                        values.iter().zip(trained.iter()).filter(|(live, trained)| live != trained).count()
                    },
                    values: values.into_owned(),
                    trained: trained.into_owned(),
                    difference: comparison.map(|with| with.difference.row_major(spec.id).into_owned()),
                    difference_norm: comparison.map_or(0.0, |with| with.norms.by_tensor[place]),
                    heads: model
                        .architecture
                        .numbered_blocks()
                        .nth(spec.id.block)
                        .map_or(1, |(_, block)| block.attention.heads),
                }
            })
            .collect();
        let comparison = comparison.map(|with| ComparisonModel {
            with: with.with,
            name: match with.with {
                Reference::Trained => "as trained".to_owned(),
                Reference::Start => "at the start".to_owned(),
                Reference::Step(step) => format!("after step {step}"),
            },
            overall: with.norms.overall,
        });
        let blocks = HeadLabels::of(model).blocks();
        Some(WeightsModel { tensors, blocks, comparison, step: model.training.progress.done })
    }

    /// The tensors by block, each group in the order of [`TensorModel::rank`]; last those that no block has.
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
