//! The Attention panel: one heat map per head, rows are queries, columns are keys.

use crate::kernel::snapshot::Snapshot;

#[derive(Clone, Debug, PartialEq)]
pub struct AttentionModel {
    /// Token labels, for rows and columns alike.
    pub tokens: Vec<String>,
    pub heads: Vec<HeadMap>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeadMap {
    /// From 0; its hue is the same in every panel.
    pub head: usize,
    pub enabled: bool,
    /// `weights[query][key]`; each row sums to 1.
    pub weights: Vec<Vec<f32>>,
}

impl AttentionModel {
    pub fn of(snapshot: &Snapshot) -> Option<AttentionModel> {
        let model = snapshot.model.as_ref()?;
        let tokens = super::notebook::token_labels(&model.sentence.tokens);
        let heads = model
            .sentence
            .activations
            .heads()
            .enumerate()
            .map(|(head, activations)| HeadMap {
                head,
                enabled: model.heads_enabled[head],
                weights: (0..tokens.len()).map(|query| activations.weights.row(query).to_vec()).collect(),
            })
            .collect();
        Some(AttentionModel { tokens, heads })
    }

    /// The cell in words: `bank (query, row) looks at river (key, column) with weight 0.6120 in head 1`.
    pub fn say(&self, head: usize, query: usize, key: usize) -> String {
        format!(
            "{} (query, row) looks at {} (key, column) with weight {:.4} in head {}",
            self.tokens[query],
            self.tokens[key],
            self.heads[head].weights[query][key],
            head + 1
        )
    }
}
