//! Which keys a query sees.

use std::sync::Arc;

use crate::numerics::Scalar;

/// A masked score is −∞ before the softmax, and its weight exactly 0 after it. A query that sees no
/// key attends to nothing: its weights and its mix are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// Every query sees every key.
    None,
    /// A query does not see the keys after it.
    Causal,
    /// As a table says.
    Custom(Arc<MaskTable>),
}

/// `true` where a query, the row, sees a key, the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskTable {
    keys: usize,
    visible: Vec<bool>,
}

impl MaskTable {
    pub fn from_fn(queries: usize, keys: usize, sees: impl Fn(usize, usize) -> bool) -> Self {
        Self { keys, visible: (0..queries * keys).map(|i| sees(i / keys, i % keys)).collect() }
    }

    /// Every query sees the first `length` keys; the others only fill up the sentence.
    pub fn padding(queries: usize, keys: usize, length: usize) -> Self {
        Self::from_fn(queries, keys, |_, key| key < length)
    }

    /// Queries and keys.
    pub fn size(&self) -> (usize, usize) {
        (self.visible.len().checked_div(self.keys).unwrap_or(0), self.keys)
    }

    /// Pairs outside the table see each other.
    pub fn sees(&self, query: usize, key: usize) -> bool {
        key >= self.keys || self.visible.get(query * self.keys + key).is_none_or(|&visible| visible)
    }
}

impl Mask {
    pub fn custom(table: MaskTable) -> Self {
        Self::Custom(Arc::new(table))
    }

    pub fn sees(&self, query: usize, key: usize) -> bool {
        match self {
            Self::None => true,
            Self::Causal => key <= query,
            Self::Custom(table) => table.sees(query, key),
        }
    }

    /// Hides what the query of this row of scores does not see.
    #[inline(always)]
    pub(super) fn hide<S: Scalar>(&self, query: usize, scores: &mut [S]) {
        match self {
            Self::None => {}
            Self::Causal => scores.iter_mut().skip(query + 1).for_each(|score| *score = S::NEG_INFINITY),
            Self::Custom(table) => {
                for (key, score) in scores.iter_mut().enumerate() {
                    if !table.sees(query, key) {
                        *score = S::NEG_INFINITY;
                    }
                }
            }
        }
    }
}
