//! Masks and windows, which say which keys a query sees.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::numerics::Scalar;

/// The keys that a query sees. A masked score is −∞ before the softmax, and its weight exactly 0 after it. A query that
/// sees no key attends to nothing: its weights and its mix are 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mask {
    /// Every key.
    None,
    /// The keys up to the query itself.
    Causal,
    /// The keys that a table marks as seen.
    Custom(#[serde(with = "table")] Arc<MaskTable>),
}

/// The distance within which keys are seen, in positions before and after the query; `None` means no limit (Beltagy et
/// al. 2020, arXiv 2004.05150, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub before: Option<usize>,
    pub after: Option<usize>,
}

impl Window {
    pub const ALL: Self = Self { before: None, after: None };

    pub fn sees(self, query: usize, key: usize) -> bool {
        self.before.is_none_or(|before| key + before >= query) && self.after.is_none_or(|after| key <= query + after)
    }

    /// Sets the scores of keys outside the query's window to −∞.
    #[inline(always)]
    pub(super) fn hide<S: Scalar>(self, query: usize, scores: &mut [S]) {
        let first = self.before.map_or(0, |before| query.saturating_sub(before)).min(scores.len());
        scores[..first].fill(S::NEG_INFINITY);
        if let Some(after) = self.after {
            scores.iter_mut().skip(query + after + 1).for_each(|score| *score = S::NEG_INFINITY);
        }
    }
}

/// The masks that a learner's table changes: those of the layers, or one mask in their place. Except with `Hidden`, the
/// windows of the layers still apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MaskBase {
    #[default]
    Layers,
    None,
    Causal,
    /// A mask that hides every pair, whatever the windows are: the table alone says what is seen.
    Hidden,
}

/// A table that is `true` where a query (row) sees a key (column).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskTable {
    keys: usize,
    visible: Vec<bool>,
    base: MaskBase,
}

/// The written form of a table: a row for each query with a character for each key, and the base if it is not the
/// layers' masks. Rows with other characters or of different lengths become an empty table, which fits no sentence.
mod table {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::numerics::attention::mask::{MaskBase, MaskTable};

    const SEEN: char = '1';
    const HIDDEN: char = '0';

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Rows(Vec<String>),
        Based { base: MaskBase, rows: Vec<String> },
    }

    pub fn serialize<S: Serializer>(table: &Arc<MaskTable>, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |row: &[bool]| row.iter().map(|&sees| if sees { SEEN } else { HIDDEN }).collect::<String>();
        let rows = table.rows().map(row).collect();
        let written = match table.base {
            MaskBase::Layers => Written::Rows(rows),
            base => Written::Based { base, rows },
        };
        written.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<MaskTable>, D::Error> {
        let (base, rows) = match Written::deserialize(deserializer)? {
            Written::Rows(rows) => (MaskBase::Layers, rows),
            Written::Based { base, rows } => (base, rows),
        };
        let keys = rows.first().map_or(0, String::len);
        let is_row = |row: &String| row.len() == keys && row.chars().all(|sign| [SEEN, HIDDEN].contains(&sign));
        let rows = if rows.iter().all(is_row) { rows } else { Vec::new() };
        let visible = rows.iter().flat_map(|row| row.chars().map(|sign| sign == SEEN)).collect();
        Ok(Arc::new(MaskTable { keys, visible, base }))
    }
}

impl MaskTable {
    pub fn from_fn(queries: usize, keys: usize, sees: impl Fn(usize, usize) -> bool) -> Self {
        let visible = (0..queries * keys).map(|i| sees(i / keys, i % keys)).collect();
        Self { keys, visible, base: MaskBase::Layers }
    }

    /// Sets the masks that the table changes.
    #[must_use]
    pub fn over(self, base: MaskBase) -> Self {
        Self { base, ..self }
    }

    /// Returns the numbers of queries and keys.
    pub fn size(&self) -> (usize, usize) {
        (self.visible.len().checked_div(self.keys).unwrap_or(0), self.keys)
    }

    /// Returns a row for each query, with an entry for each key.
    pub fn rows(&self) -> impl Iterator<Item = &[bool]> {
        self.visible.chunks_exact(self.keys.max(1))
    }

    /// Returns whether a query sees a key; true for pairs outside the table.
    pub fn sees(&self, query: usize, key: usize) -> bool {
        key >= self.keys || self.visible.get(query * self.keys + key).is_none_or(|&visible| visible)
    }
}

/// Writes the mask as a word: `none`, `causal` or `custom`.
impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Causal => "causal",
            Self::Custom(_) => "custom",
        })
    }
}

impl Mask {
    pub fn custom(table: MaskTable) -> Self {
        Self::Custom(Arc::new(table))
    }

    /// Returns whether the mask belongs to one sentence, as a mask for single pairs does.
    pub fn is_of_sentence(&self) -> bool {
        matches!(self, Self::Custom(_))
    }

    /// Returns the masks that a learner's mask starts from: the layers' own, or those that replace them.
    pub fn base(&self) -> MaskBase {
        match self {
            Self::None => MaskBase::None,
            Self::Causal => MaskBase::Causal,
            Self::Custom(table) => table.base,
        }
    }

    pub fn sees(&self, query: usize, key: usize) -> bool {
        match self {
            Self::None => true,
            Self::Causal => key <= query,
            Self::Custom(table) => table.sees(query, key),
        }
    }

    /// Sets the scores of keys that the query does not see to −∞.
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
