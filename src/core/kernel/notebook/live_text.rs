//! The values of the expressions in the texts of cells: the texts that have expressions, and the sentences to which
//! they refer.
//!
//! A text refers to a sentence of its own, or to that of the last Stage cell above it, or to the first one. If the
//! stage shows another sentence of the lesson, the expressions are evaluated on the text's own sentence. A sentence
//! that the learner wrote is a change that the numbers reflect as far as they can. The texts of a prediction are about
//! the lesson's own model, whatever the learner has changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::{Fault, Names, Value, names};
use attune_engine::quantity::Entry;

use crate::kernel::notebook::document::{CellId, DocumentCell};
use crate::kernel::notebook::execution::NameSource;
use crate::kernel::notebook::live::Follows;
use crate::lesson::cells::CellKind;
use crate::lesson::live_text::LessonText;

/// Greatest time that all expressions in texts may take together, between two actions of the learner.
pub const TEXTS_TIME_MAX: Duration = Duration::from_secs(3);

/// Values of all expressions in a cell's texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveValues {
    pub values: Vec<LiveValue>,
    pub speaks_of: Spoken,
}

/// The sentence to which a cell refers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// Index of a sentence of the lesson.
    Lesson(usize),
    /// Text of a sentence that only the cell has.
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
    /// Whether there is no value until the learner runs a cell above.
    pub awaits_run: bool,
    /// The value in the lesson's own model, once it has been evaluated there.
    pub own: Option<Value>,
    /// Live tensors that the expression reads.
    pub tensors: Vec<String>,
    /// Cells above whose names the expression reads.
    pub cells: Vec<CellId>,
    /// The part of the model on which the value depends, also through those cells.
    pub follows: Follows,
    /// The entry, if the expression is a single entry of a live tensor.
    pub entry: Option<Entry>,
    /// Whether the text refers to a sentence other than the one on the stage, and the value is for that sentence.
    pub is_elsewhere: bool,
}

impl LiveValues {
    pub fn of(&self, source: &str) -> Option<&LiveValue> {
        self.values.iter().find(|value| *value.source == *source)
    }

    /// Returns the expressions that cannot be evaluated.
    pub fn faults(&self) -> impl Iterator<Item = (&str, &Fault)> {
        self.values.iter().filter_map(|value| Some((&*value.source, value.value.as_ref().err()?)))
    }
}

/// The expressions in a cell's texts.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveTextSnapshot {
    /// The values; `None` until they have been evaluated.
    pub values: Option<Arc<LiveValues>>,
    /// The values just before a cell below wrote to the model; `None` if no cell below wrote.
    pub before_writes: Option<Arc<LiveValues>>,
    /// Whether something that the expressions read has changed since they were evaluated.
    pub is_stale: bool,
    /// Cells that the expressions read and whose results are stale.
    pub stale_cells: BTreeSet<CellId>,
}

impl LiveTextSnapshot {
    /// Returns whether two snapshots are the same; their values are compared by identity.
    pub fn is_same(&self, other: &Self) -> bool {
        let values = |of: &Self| [&of.values, &of.before_writes].map(|values| values.as_ref().map(Arc::as_ptr));
        (self.is_stale, &self.stale_cells) == (other.is_stale, &other.stale_cells) && values(self) == values(other)
    }

    /// Returns the values at the text's place for a reader who starts at the top: the cells above have run, and those
    /// below have not.
    pub fn in_place(&self) -> Option<&LiveValues> {
        self.before_writes.as_deref().or(self.values.as_deref())
    }
}

/// The expressions of a cell, with their values.
#[derive(Clone, Debug)]
pub(super) struct CellTexts {
    /// The cell at the time when its texts were parsed.
    cell: Arc<DocumentCell>,
    pub expressions: Vec<(Arc<str>, Result<Names, Fault>)>,
    /// All names that the expressions read.
    pub reads: BTreeSet<String>,
    pub evaluated: Option<Evaluated>,
    /// Values just before a cell below wrote to the model; see [`LiveTextSnapshot::before_writes`].
    pub before_writes: Option<Arc<LiveValues>>,
}

#[derive(Clone, Debug)]
pub(super) struct Evaluated {
    pub sources: Vec<(String, NameSource)>,
    pub values: Arc<LiveValues>,
}

impl CellTexts {
    /// Parses the texts of a cell, or returns `None` if they have no expressions.
    pub fn of(cell: &Arc<DocumentCell>) -> Option<Self> {
        let mut sources: Vec<Arc<str>> = Vec::new();
        for text in markdown(cell) {
            for expression in text.expressions() {
                if !sources.contains(&expression.source) {
                    sources.push(expression.source.clone());
                }
            }
        }
        if sources.is_empty() {
            return None;
        }
        let expressions: Vec<_> = sources.into_iter().map(|source| (source.clone(), names(&source))).collect();
        let reads =
            expressions.iter().flat_map(|(_, names)| names.iter().flat_map(|names| names.reads.iter().cloned()));
        let reads = reads.collect();
        Some(Self { cell: cell.clone(), reads, expressions, evaluated: None, before_writes: None })
    }

    /// Returns the snapshot of the values, with those cells among `stale_cells` that the expressions read.
    pub fn shown(&self, is_stale: bool, stale_cells: &BTreeSet<&CellId>) -> LiveTextSnapshot {
        let values = self.evaluated.as_ref().map(|evaluated| evaluated.values.clone());
        let read = values.iter().flat_map(|values| &values.values).flat_map(|value| &value.cells);
        let stale_cells: BTreeSet<CellId> = read.filter(|cell| stale_cells.contains(cell)).cloned().collect();
        LiveTextSnapshot { values, before_writes: self.before_writes.clone(), is_stale, stale_cells }
    }

    pub fn is_of(&self, cell: &Arc<DocumentCell>) -> bool {
        // After a reset, a question draws other numbers.
        let is_same = |other: &DocumentCell| {
            other.text == cell.text && other.speaks_of == cell.speaks_of && other.resets == cell.resets
        };
        Arc::ptr_eq(&self.cell, cell) || is_same(&self.cell) && Arc::ptr_eq(&self.cell.kind, &cell.kind)
    }
}

/// Returns the Markdown of a cell in its present form.
pub fn markdown(cell: &DocumentCell) -> impl Iterator<Item = &LessonText> {
    let own = cell.is_text().then_some(&cell.text);
    own.into_iter().chain(cell.kind.markdown().filter(|_| !cell.is_text()))
}

/// Returns the index of the sentence that the last Stage cell above a cell shows, or 0 if there is none.
pub fn sentence_above<'a>(cells: impl Iterator<Item = &'a Arc<DocumentCell>>, id: &str) -> usize {
    let above = cells.take_while(|cell| *cell.id != *id);
    let stages = above.filter_map(|cell| match *cell.kind {
        CellKind::Stage { sentence, .. } => Some(sentence),
        _ => None,
    });
    stages.last().unwrap_or(0)
}
