//! The values of the expressions in the texts of cells: which texts have some, and on which sentence.
//!
//! A text is about a sentence of its own, or of that of the last Stage cell above it, or of the first one. Where the
//! stage shows another sentence of the lesson, the text's own is evaluated; a sentence that the learner wrote is a
//! change which numbers follow as far as they can. The texts of a prediction are about the lesson's own model, whatever
//! the learner has changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::{Fault, Names, Value, names};
use attune_engine::quantity::Entry;

use crate::kernel::notebook::document::{CellId, DocumentCell};
use crate::kernel::notebook::execution::NameSource;
use crate::kernel::notebook::live::Follows;
use crate::lesson::cells::CellKind;
use crate::lesson::live_text::LiveText;

/// How long the expressions of all texts may take together, before the learner does anything.
pub const TEXTS_TIME_MAX: Duration = Duration::from_secs(3);

/// Values of all expressions of a cell's texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveValues {
    pub values: Vec<LiveValue>,
    pub speaks_of: Spoken,
}

/// The sentence that a cell is about.
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
    /// There is no value until the learner runs a cell above.
    pub awaits_run: bool,
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
    /// The text is about another sentence than that on the stage, and this is the value there.
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
    /// The values that the model had when a cell below was about to write to it: `None` where no cell below wrote.
    pub before_writes: Option<Arc<LiveValues>>,
    /// Something that they read has changed since.
    pub is_stale: bool,
    /// Cells that they read whose own results are stale.
    pub stale_cells: BTreeSet<CellId>,
}

impl LiveTextSnapshot {
    /// Found without looking into the values.
    pub fn is_same(&self, other: &Self) -> bool {
        let values = |of: &Self| [&of.values, &of.before_writes].map(|values| values.as_ref().map(Arc::as_ptr));
        (self.is_stale, &self.stale_cells) == (other.is_stale, &other.stale_cells) && values(self) == values(other)
    }

    /// The values where the text stands, for who reads from the top: the cells above have run, and those below have not.
    pub fn in_place(&self) -> Option<&LiveValues> {
        self.before_writes.as_deref().or(self.values.as_deref())
    }
}

/// The expressions of a cell, and what came of them.
#[derive(Clone, Debug)]
pub(super) struct CellTexts {
    /// The cell when its texts were read.
    cell: Arc<DocumentCell>,
    pub expressions: Vec<(Arc<str>, Result<Names, Fault>)>,
    /// All names that they read.
    pub reads: BTreeSet<String>,
    pub evaluated: Option<Evaluated>,
    /// As in [`LiveTextSnapshot`].
    pub before_writes: Option<Arc<LiveValues>>,
}

#[derive(Clone, Debug)]
pub(super) struct Evaluated {
    pub sources: Vec<(String, NameSource)>,
    pub values: Arc<LiveValues>,
}

impl CellTexts {
    /// `None` of a cell without expressions.
    pub fn of(cell: &Arc<DocumentCell>) -> Option<Self> {
        let mut sources: Vec<Arc<str>> = Vec::new();
        for text in markdown(cell) {
            for expression in LiveText::read(text).expressions {
                if !sources.contains(&expression.source) {
                    sources.push(expression.source);
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

    /// The values, some of which may be of cells that are stale.
    pub fn shown(&self, is_stale: bool, stale_cells: &BTreeSet<&CellId>) -> LiveTextSnapshot {
        let values = self.evaluated.as_ref().map(|evaluated| evaluated.values.clone());
        let read = values.iter().flat_map(|values| &values.values).flat_map(|value| &value.cells);
        let stale_cells: BTreeSet<CellId> = read.filter(|cell| stale_cells.contains(cell)).cloned().collect();
        LiveTextSnapshot { values, before_writes: self.before_writes.clone(), is_stale, stale_cells }
    }

    pub fn is_of(&self, cell: &Arc<DocumentCell>) -> bool {
        let is_same = |other: &DocumentCell| other.text == cell.text && other.speaks_of == cell.speaks_of;
        Arc::ptr_eq(&self.cell, cell) || is_same(&self.cell) && Arc::ptr_eq(&self.cell.kind, &cell.kind)
    }
}

/// The Markdown of a cell, as it stands there now.
pub fn markdown(cell: &DocumentCell) -> impl Iterator<Item = &str> {
    let own = cell.is_text().then_some(&*cell.text);
    own.into_iter().chain(cell.kind.markdown().filter(|_| !cell.is_text()))
}

/// The sentence of the last Stage cell above a cell, or the first one.
pub fn sentence_above<'a>(cells: impl Iterator<Item = &'a Arc<DocumentCell>>, id: &str) -> usize {
    let above = cells.take_while(|cell| *cell.id != *id);
    let stages = above.filter_map(|cell| match *cell.kind {
        CellKind::Stage { sentence, .. } => Some(sentence),
        _ => None,
    });
    stages.last().unwrap_or(0)
}
