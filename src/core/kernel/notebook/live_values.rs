//! The values of the expressions in the texts of a cell, as viewers see them.

use std::collections::BTreeSet;
use std::sync::Arc;

use attune_engine::code::{Fault, Value};
use attune_engine::quantity::Entry;

use crate::kernel::notebook::document::CellId;
use crate::kernel::notebook::live::Follows;

/// Values of all expressions of a cell's texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveValues {
    pub values: Vec<LiveValue>,
    pub speaks_of: Spoken,
}

/// The sentence that a cell speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// An index into the lesson's.
    Lesson(usize),
    /// A text of the cell's own.
    Text(Arc<str>),
}

impl Default for Spoken {
    fn default() -> Self {
        Self::Lesson(0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LiveValue {
    pub source: Arc<str>,
    pub value: Result<Value, Fault>,
    /// The value in the model as the lesson has it, once it was evaluated there.
    pub own: Option<Value>,
    /// Live tensors that it reads.
    pub tensors: Vec<String>,
    /// Cells above whose names it reads.
    pub cells: Vec<CellId>,
    /// The most that it depends on, through those cells too.
    pub follows: Follows,
    /// The number, where the expression is one entry of a live tensor.
    pub entry: Option<Entry>,
    /// The text speaks of another sentence than that on the stage, and this is the value there.
    pub is_elsewhere: bool,
}

impl LiveValues {
    pub fn of(&self, source: &str) -> Option<&LiveValue> {
        self.values.iter().find(|value| *value.source == *source)
    }

    /// Expressions that cannot be evaluated.
    pub fn faults(&self) -> impl Iterator<Item = (&str, &Fault)> {
        self.values.iter().filter_map(|value| Some((&*value.source, value.value.as_ref().err()?)))
    }
}

/// The expressions in the texts of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveTextSnapshot {
    /// `None` before they were evaluated.
    pub values: Option<Arc<LiveValues>>,
    /// Something that they read has changed since.
    pub is_stale: bool,
    /// Cells that they read whose own results are stale.
    pub stale_cells: BTreeSet<CellId>,
}

impl LiveTextSnapshot {
    /// Found without looking into the values.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.is_stale, &self.stale_cells) == (other.is_stale, &other.stale_cells)
            && self.values.as_ref().map(Arc::as_ptr) == other.values.as_ref().map(Arc::as_ptr)
    }
}
