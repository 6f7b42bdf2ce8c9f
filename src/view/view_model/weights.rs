//! The Weights panel: every entry of a tensor with its ghost.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::command::Reference;
use attune_core::kernel::snapshot::Snapshot;
use attune_engine::numerics::params::{Layer, Parameters, Start, TensorId, TensorName};

use super::head_labels::{HeadLabels, at_distance, distance_of};
use super::models::Model;

#[derive(Clone, Debug)]
pub struct WeightsModel {
    pub tensors: Vec<TensorModel>,
    /// Names of the blocks: `Layer 2`, `Cross-attention`; of a single one, nothing.
    pub blocks: Vec<String>,
    pub comparison: Option<ComparisonModel>,
    /// Where weights that nobody edited come from: *trained*, *given* or *drawn*.
    pub origin: &'static str,
    /// The latest step of the training.
    pub step: usize,
}

/// The weights in use beside others.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonModel {
    pub with: Reference,
    /// Such as `after step 100` or `as trained`.
    pub name: String,
    /// `‖W − W'‖` of all tensors together.
    pub overall: f32,
}

/// Its entries are read where they lie: of a large model those that are on the screen.
#[derive(Clone, Debug)]
pub struct TensorModel {
    pub id: TensorId,
    pub rows: usize,
    pub cols: usize,
    /// As in [`WeightsModel::origin`].
    pub origin: &'static str,
    /// In use now.
    live: Arc<Parameters<f32>>,
    /// As training left them.
    trained: Arc<Parameters<f32>>,
    /// In use less those of what it is compared with, if it is.
    difference: Option<Arc<Parameters<f32>>>,
    /// The largest trained entry, worked out when it is first asked for.
    largest: OnceLock<f32>,
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

/// The mistake of a caller that asks for another entry.
const ENTRY: &str = "an entry of the tensor";

impl TensorModel {
    /// # Panics
    /// If there is no such entry, as in the next.
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

    /// In use less those of what it is compared with, if it is; row-major.
    pub fn differences(&self) -> Option<Cow<'_, [f32]>> {
        Some(self.difference.as_ref()?.row_major(self.id))
    }

    /// A row of the same.
    pub fn difference_row(&self, row: usize) -> Option<Cow<'_, [f32]>> {
        Some(self.difference.as_ref()?.rows(self.id, row..row + 1))
    }

    pub fn entries(&self) -> usize {
        self.rows * self.cols
    }

    /// The largest entry as training left them, without its sign.
    pub fn largest(&self) -> f32 {
        *self.largest.get_or_init(|| largest(&self.trained.row_major(self.id)))
    }

    /// The largest entry of those that the map shows: of the differences, where there are some.
    pub fn largest_shown(&self) -> f32 {
        self.differences().map_or_else(|| self.largest(), |differences| largest(&differences))
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

    fn make(snapshot: &Arc<Snapshot>, _: &(), before: Option<&Self>) -> Option<Self> {
        Self::after(before, snapshot)
    }
}

fn largest(values: &[f32]) -> f32 {
    values.iter().map(|x| x.abs()).fold(0.0, f32::max)
}

impl WeightsModel {
    pub fn of(snapshot: &Snapshot) -> Option<WeightsModel> {
        Self::after(None, snapshot)
    }

    /// `before`: the last one, which knows the largest entries.
    fn after(before: Option<&Self>, snapshot: &Snapshot) -> Option<WeightsModel> {
        let model = snapshot.model.as_ref()?;
        let (comparison, origin) = (model.comparison.as_ref(), model.weights_origin());
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
                Reference::Trained => format!("as {origin}"),
                Reference::Start => "at the start".to_owned(),
                Reference::Step(step) => format!("after step {step}"),
            },
            overall: with.norms.overall,
        });
        let blocks = HeadLabels::of(model).blocks();
        Some(WeightsModel { tensors, blocks, comparison, origin, step: model.training.progress.done })
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
