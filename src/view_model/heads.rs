//! The Heads panel: what each head adds to each token, and whether it takes part.

use crate::kernel::snapshot::Snapshot;

#[derive(Clone, Debug, PartialEq)]
pub struct HeadsModel {
    pub tokens: Vec<String>,
    pub heads: Vec<HeadRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeadRow {
    pub head: usize,
    pub enabled: bool,
    /// It is the only one that takes part.
    pub solo: bool,
    /// Columns of `W_Q` and `W_K` that are this head's.
    pub key_columns: std::ops::Range<usize>,
    /// Columns of `W_V` and rows of `W_O` that are this head's.
    pub value_columns: std::ops::Range<usize>,
    /// Length of the head's contribution to each token, `‖Σ_j α_ij (x_j W_V + b_V) W_O‖`.
    pub move_length: Vec<f32>,
    /// The key that each query weighs most in this head, with the weight.
    pub strongest: Vec<(usize, f32)>,
}

impl HeadsModel {
    pub fn of(snapshot: &Snapshot) -> Option<HeadsModel> {
        let model = snapshot.model.as_ref()?;
        let sentence = &model.sentence;
        let solo = model.heads_enabled.iter().filter(|on| **on).count() == 1 && model.heads_enabled.len() > 1;
        let heads = sentence
            .activations
            .heads()
            .enumerate()
            .map(|(head, activations)| {
                let (block, config, own) = model.architecture.head(head);
                HeadRow {
                    head,
                    enabled: model.heads_enabled[head],
                    solo: solo && model.heads_enabled[head],
                    key_columns: config.attention.key_columns(own),
                    value_columns: config.attention.value_columns(own),
                    move_length: sentence.contributions[block].head_lengths[own].clone(),
                    strongest: (0..sentence.tokens.len())
                        .map(|query| strongest(activations.weights.row(query)))
                        .collect(),
                }
            })
            .collect();
        Some(HeadsModel { tokens: super::notebook::token_labels(&sentence.tokens), heads })
    }
}

fn strongest(row: &[f32]) -> (usize, f32) {
    row.iter()
        .copied()
        .enumerate()
        .fold((0, f32::NEG_INFINITY), |best, (key, w)| if w > best.1 { (key, w) } else { best })
}
