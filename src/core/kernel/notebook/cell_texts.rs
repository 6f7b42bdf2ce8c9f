//! The expressions in the texts of one cell: which there are, what they read, and their latest values.

use std::collections::BTreeSet;
use std::sync::Arc;

use attune_engine::code::{Fault, Names, names};

use crate::kernel::notebook::dependencies::Source;
use crate::kernel::notebook::document::{CellId, DocumentCell};
use crate::kernel::notebook::live_values::{LiveTextSnapshot, LiveValues};
use crate::lesson::live_text::LiveText;

/// The expressions of a cell, and what came of them.
#[derive(Clone, Debug)]
pub(super) struct CellTexts {
    /// The cell when its texts were read.
    cell: Arc<DocumentCell>,
    pub expressions: Vec<(Arc<str>, Result<Names, Fault>)>,
    /// All names that they read.
    pub reads: BTreeSet<String>,
    pub evaluated: Option<Evaluated>,
}

#[derive(Clone, Debug)]
pub(super) struct Evaluated {
    pub sources: Vec<(String, Source)>,
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
        Some(Self { cell: cell.clone(), reads: reads.collect(), expressions, evaluated: None })
    }

    /// The values, some of which may be of cells that are stale.
    pub fn shown(&self, is_stale: bool, stale_cells: &BTreeSet<&CellId>) -> LiveTextSnapshot {
        let values = self.evaluated.as_ref().map(|evaluated| evaluated.values.clone());
        let read = values.iter().flat_map(|values| &values.values).flat_map(|value| &value.cells);
        let stale_cells: BTreeSet<CellId> = read.filter(|cell| stale_cells.contains(cell)).cloned().collect();
        LiveTextSnapshot { values, is_stale, stale_cells }
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
