//! The Heads panel: what each head adds to each token, and whether it takes part.

use std::sync::Arc;

use super::head_labels::HeadLabels;
use super::models::Model;
use crate::kernel::snapshot::Snapshot;
use crate::numerics::attention::HeadMode;

#[derive(Clone, Debug, PartialEq)]
pub struct HeadsModel {
    pub tokens: Vec<String>,
    /// Names of the layers.
    pub blocks: Vec<String>,
    pub heads: Vec<HeadRow>,
}

#[derive(Clone, Debug, PartialEq)]
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
    /// Columns of `W_Q` and `W_K` that are this head's.
    pub key_columns: std::ops::Range<usize>,
    /// Columns of `W_V` and rows of `W_O` that are this head's.
    pub value_columns: std::ops::Range<usize>,
    /// Its place in the tensors, in words.
    pub place: String,
    /// Labels of what it looks at.
    pub keys: Arc<[String]>,
    /// Length of the head's contribution to each token, `‖Σ_j α_ij (x_j W_V + b_V) W_O‖`; empty for a
    /// head of the source, which adds nothing to tokens.
    pub move_length: Vec<f32>,
    /// The key that each token weighs most in this head, with the weight; empty for a head of the source.
    pub strongest: Vec<(usize, f32)>,
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
        let sentence = &model.sentence;
        let labels = HeadLabels::of(model);
        let (count, keys) = (model.architecture.heads(), labels.shared_keys());
        let solo = count > 1 && (0..count).filter(|head| model.is_enabled(*head)).count() == 1;
        let heads = sentence
            .activations
            .heads()
            .enumerate()
            .map(|(head, activations)| {
                let (block, config, own) = model.architecture.head(head);
                let enabled = model.is_enabled(head);
                let tokens = if labels.is_of_source(head) { 0 } else { labels.tokens.len() };
                HeadRow {
                    head,
                    own,
                    title: labels.title(head),
                    block,
                    enabled,
                    gain: gain(&model.interventions.heads[head]),
                    solo: solo && enabled,
                    place: labels.place(head),
                    keys: keys(head),
                    key_columns: config.attention.key_columns(own),
                    value_columns: config.attention.value_columns(own),
                    move_length: sentence.contributions[block].head_lengths[own][..tokens].to_vec(),
                    strongest: (0..tokens).map(|query| strongest(activations.weights.row(query))).collect(),
                }
            })
            .collect();
        Some(HeadsModel { blocks: labels.blocks(), tokens: labels.tokens, heads })
    }
}

fn gain(mode: &HeadMode<f32>) -> Option<f32> {
    (!matches!(mode, HeadMode::Uniform | HeadMode::Frozen(_))).then(|| mode.gain())
}

/// The largest and where it is, the first of equals.
pub(super) fn strongest(row: &[f32]) -> (usize, f32) {
    row.iter()
        .copied()
        .enumerate()
        .fold((0, f32::NEG_INFINITY), |best, (key, w)| if w > best.1 { (key, w) } else { best })
}
