//! Sources of the names in a cell, and so which cells are stale. A cell sees the cells above it, and
//! the model; nothing below it. So there are no cycles but through the model, and a cell that writes to
//! the model never runs again because the model changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::notebook::document::{CellId, Document, DocumentCell};
use crate::kernel::notebook::live::{Follows, LiveName};
use crate::kernel::notebook::runs::{Analysis, CellRun};
use crate::kernel::notebook::snapshot::CellStatus;

/// The origin of a name when a cell read it. A cell that would read another one now is stale.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A function of the language, or nothing.
    Language,
    /// A live tensor, at this version of what it follows.
    Live { follows: Follows, version: u64 },
    /// A run of a cell above, by its serial number.
    Run(CellId, u64),
    /// A slider above and the bits of its value.
    Slider(CellId, u64),
}

impl Source {
    /// The cell whose run it is.
    pub fn cell(&self) -> Option<&CellId> {
        match self {
            Self::Run(cell, _) => Some(cell),
            Self::Language | Self::Live { .. } | Self::Slider(..) => None,
        }
    }
}

/// Versions of the model: they grow when it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    pub space: u64,
    pub parameters: u64,
    pub forward: u64,
}

impl Versions {
    fn of(self, follows: Follows) -> u64 {
        match follows {
            Follows::Nothing => 0,
            Follows::Space => self.space,
            Follows::Parameters => self.parameters,
            Follows::Forward => self.forward,
        }
    }
}

/// The names in sight at one place of the notebook, from the top down.
pub struct NamesInScope<'a> {
    live: BTreeMap<&'a str, Source>,
    above: BTreeMap<&'a str, Source>,
}

impl<'a> NamesInScope<'a> {
    pub fn new(live: &'a [LiveName], versions: Versions) -> Self {
        let source = |follows| Source::Live { follows, version: versions.of(follows) };
        let live = live.iter().map(|live| (live.name.as_str(), source(live.tensor.follows()))).collect();
        Self { live, above: BTreeMap::new() }
    }

    /// The source of a name for a cell here; an exercise, which starts clean, sees only the model.
    pub fn source(&self, name: &str, is_clean: bool) -> Source {
        if let Some(source) = self.above.get(name).filter(|_| !is_clean) {
            return source.clone();
        }
        self.live.get(name).cloned().unwrap_or(Source::Language)
    }

    /// Adds what a cell hands on, and says which of its names hides that of a cell above.
    pub fn pass(&mut self, cell: &'a DocumentCell, run: Option<&'a CellRun>) -> Option<&'a str> {
        let mut shadowed = None;
        if let Some((name, value)) = cell.turned_variable() {
            shadowed = self.above.insert(name, Source::Slider(cell.id.clone(), value.to_bits())).map(|_| name);
        }
        if let Some(run) = run.filter(|_| cell.is_code()) {
            for name in run.defines() {
                let source = Source::Run(cell.id.clone(), run.serial);
                shadowed = self.above.insert(name, source).map(|_| name).or(shadowed);
            }
        }
        shadowed
    }
}

/// The status of a cell, as the cells above it leave it.
pub struct Standing<'a> {
    pub status: CellStatus,
    /// A name of its own that hides another cell's.
    pub shadows: Option<&'a str>,
    /// A run now would read what the last one read. It may be stale all the same: by what it read, which is stale.
    pub is_up_to_date: bool,
}

/// Cells whose results no longer follow from what they read.
pub fn stale_cells<'a>(document: &'a Document, standings: &[Standing<'_>]) -> BTreeSet<&'a CellId> {
    let all = document.cells.iter().zip(standings);
    all.filter(|(_, standing)| standing.status == CellStatus::Stale).map(|(cell, _)| &cell.id).collect()
}

/// For each cell, in order, whether its result still follows from what it read.
pub fn standings<'a>(
    document: &'a Document,
    runs: &'a BTreeMap<CellId, CellRun>,
    analyses: &BTreeMap<CellId, Analysis>,
    sight: &mut NamesInScope<'a>,
) -> Vec<Standing<'a>> {
    let mut stale: BTreeSet<&str> = BTreeSet::new();
    let mut all = Vec::with_capacity(document.cells.len());
    for cell in &document.cells {
        let run = runs.get(&cell.id);
        let (status, is_up_to_date) = match (run, analyses.get(&cell.id)) {
            (None, _) => (CellStatus::New, false),
            (Some(run), Some(analysis)) => {
                let is_clean = !cell.is_code();
                let is_up_to_date = !run.shown.is_from_before
                    && run.shown.text == analysis.text
                    && run.reads.iter().all(|(name, source)| sight.source(name, is_clean) == *source);
                let is_from_stale = run.reads.iter().any(|(_, source)| match source {
                    Source::Run(from, _) => stale.contains(&**from),
                    _ => false,
                });
                let is_fresh = is_up_to_date && !is_from_stale;
                (if is_fresh { CellStatus::Fresh } else { CellStatus::Stale }, is_up_to_date)
            }
            (Some(_), None) => (CellStatus::Stale, false),
        };
        if status == CellStatus::Stale {
            stale.insert(&cell.id);
        }
        let shadows = sight.pass(cell, run);
        all.push(Standing { status, shadows, is_up_to_date });
    }
    all
}
