//! The values of the expressions in the texts of a cell, as viewers see them.

use std::sync::Arc;

use crate::code::{Fault, Value};
use crate::kernel::notebook::live::Follows;
use crate::quantity::Entry;

/// Values of all expressions of a cell's texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveValues {
    pub values: Vec<LiveValue>,
    /// The sentence that the cell speaks of, an index into the lesson's.
    pub speaks_of: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LiveValue {
    pub source: Arc<str>,
    pub value: Result<Value, Fault>,
    /// Live tensors that it reads.
    pub tensors: Vec<String>,
    /// The most that it depends on; variables may hold anything.
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
}

impl LiveTextSnapshot {
    /// Found without looking into the values.
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_stale == other.is_stale
            && self.values.as_ref().map(Arc::as_ptr) == other.values.as_ref().map(Arc::as_ptr)
    }
}
