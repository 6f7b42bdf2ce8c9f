//! The Heads panel: what each head adds to each token, and whether it takes part.

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::Architecture;

use super::attention::{HeadCells, Sinks};
use super::head_labels::{HeadLabels, place_of};
use super::models::Model;

#[derive(Clone, Debug)]
pub struct HeadsModel {
    pub tokens: Vec<String>,
    /// Names of the layers.
    pub blocks: Vec<String>,
    pub heads: Vec<HeadRow>,
    architecture: Architecture,
}

#[derive(Clone, Debug)]
pub struct HeadRow {
    /// Counted over all blocks.
    pub head: usize,
    /// Its place in its layer: its hue.
    pub own: usize,
    /// `Head 1`, with the layer where there are several.
    pub title: String,
    pub block: usize,
    pub enabled: bool,
    /// The factor of its output; none where its attention weights are not its own.
    pub gain: Option<f32>,
    /// The only head that takes part.
    pub solo: bool,
    /// Labels of what it looks at.
    pub keys: Arc<[String]>,
    /// Tokens to which it adds something: all of them, and none of a head of the source.
    pub tokens: usize,
    cells: HeadCells,
}

impl Model for HeadsModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot)
    }
}

impl HeadsModel {
    pub fn of(snapshot: &Snapshot) -> Option<HeadsModel> {
        let model = snapshot.model.as_ref()?;
        let labels = HeadLabels::of(model);
        let (count, keys) = (model.architecture.heads(), labels.shared_keys());
        let solo = count > 1 && (0..count).filter(|head| model.is_enabled(*head)).count() == 1;
        let heads = HeadCells::all(model, &labels, &Sinks::default(), None)
            .into_iter()
            .enumerate()
            .map(|(head, cells)| {
                let (block, _, own) = model.architecture.head(head);
                let enabled = model.is_enabled(head);
                let tokens = if labels.is_of_source(head) { 0 } else { labels.tokens.len() };
                HeadRow {
                    head,
                    own,
                    title: labels.title(head),
                    block,
                    enabled,
                    gain: Some(&model.interventions.heads[head]).filter(|mode| mode.takes_gain()).map(HeadMode::gain),
                    solo: solo && enabled,
                    keys: keys(head),
                    tokens,
                    cells,
                }
            })
            .collect();
        let architecture = model.architecture.clone();
        Some(HeadsModel { blocks: labels.blocks(), tokens: labels.tokens, heads, architecture })
    }

    /// A head's place in the tensors, in words.
    pub fn place(&self, head: usize) -> String {
        place_of(&self.architecture, head)
    }
}

impl HeadRow {
    /// `‖Σ_j α_ij (x_j W_V + b_V) W_O‖`: length of the head's contribution to a token.
    pub fn move_length(&self, query: usize) -> f32 {
        self.cells.head_length(query)
    }

    /// Lengths of the head's contributions to all tokens.
    pub fn move_lengths(&self) -> impl Iterator<Item = f32> {
        (0..self.tokens).map(|query| self.move_length(query))
    }

    /// The key that a token weighs most in this head, with the weight.
    pub fn strongest(&self, query: usize) -> (usize, f32) {
        strongest(self.cells.weights(query))
    }
}

/// The largest and where it is, the first of equals.
pub(crate) fn strongest(row: impl Iterator<Item = f32>) -> (usize, f32) {
    row.enumerate()
        .fold((0, f32::NEG_INFINITY), |best, (key, weight)| if weight > best.1 { (key, weight) } else { best })
}
