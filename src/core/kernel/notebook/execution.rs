//! Runs of cells: the model that a cell reads and writes, the names in its scope with their sources, the result of its
//! last run, and which cells are stale.
//!
//! A cell sees the cells above it and the model, but nothing below it. Cycles are therefore possible only through the
//! model; to prevent them, a change of the model never reruns a cell that writes to the model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attune_engine::code::{
    FORWARD, Fault, Functions, Given, NEIGHBOURS, Names, Output, RATE, VECTORS, Variable, WRITE, names,
};

use crate::kernel::notebook::document::{Behaviour, CellCode, CellId, Document, DocumentCell};
use crate::kernel::notebook::live::{Follows, Live, LiveName};
use crate::kernel::notebook::snapshot::{CellStatus, RunSnapshot, Verdict};
use crate::lesson::cells::{CellKind, Exercise};

/// The model that a cell reads and writes.
pub trait LiveModel {
    fn live(&self) -> Live;
    /// Applies the variables that a cell wrote to the model, as one change.
    ///
    /// # Errors
    /// A message for the learner if the change is refused. Nothing is changed in that case.
    fn write(&mut self, written: &[Variable], live: &Live, label: &str) -> Result<(), String>;
    fn versions(&mut self) -> Versions;
}

/// The tensors of a model for code, with their names.
#[derive(Clone, Copy)]
pub struct LiveTensors<'a> {
    pub live: &'a Live,
    pub known: &'a [LiveName],
}

impl LiveTensors<'_> {
    /// Returns the tensors that a text names, except for those that a variable of a cell hides.
    pub(super) fn given(&self, names: &Names, hidden_by: &[Given]) -> Vec<Given> {
        let is_named = |known: &&LiveName| names.reads.contains(&known.name) || names.writes.contains(&known.name);
        let is_hidden = |known: &LiveName| hidden_by.iter().any(|given| given.variable.name == known.name);
        let seen = self.known.iter().filter(is_named).filter(|known| !is_hidden(known));
        seen.map(|known| self.live.given(known)).collect()
    }
}

/// Returns the code whose names decide whether a cell is stale, or `None` if the cell does not run.
pub fn text_that_runs(cell: &DocumentCell) -> Option<Arc<str>> {
    match Behaviour::of(&cell.kind).runs {
        CellCode::Nothing => None,
        CellCode::Code { .. } | CellCode::Exercise(Exercise { start: Some(_), .. }) => {
            Some(cell.text.written().clone())
        }
        CellCode::Exercise(exercise) => Some(exercise.check.as_str().into()),
        CellCode::Predict(predict) => Some(predict.answer.as_str().into()),
    }
}

/// Returns the code of the lesson that runs in addition to a cell's own text.
pub fn code_beside(kind: &CellKind) -> impl Iterator<Item = &String> {
    let (beside, exercise) = match Behaviour::of(kind).runs {
        CellCode::Predict(predict) => (Some([&predict.draws, &predict.shows]), None),
        CellCode::Exercise(exercise) => (None, Some(exercise)),
        CellCode::Nothing | CellCode::Code { .. } => (None, None),
    };
    beside.into_iter().flatten().chain(exercise.into_iter().flat_map(Exercise::codes))
}

/// Returns whether a cell runs automatically: a plot, the check of an exercise that is answered outside the cell, and
/// the model's answer to a prediction that has been made.
pub fn runs_unasked(cell: &DocumentCell) -> bool {
    match Behaviour::of(&cell.kind).runs {
        CellCode::Nothing => false,
        CellCode::Code { is_unasked, .. } => is_unasked,
        CellCode::Exercise(exercise) => exercise.start.is_none(),
        CellCode::Predict(_) => cell.is_done(),
    }
}

/// Returns whether an answer to an exercise was right, or `None` if it could not be checked.
pub fn is_right(outcome: &Outcome) -> Option<bool> {
    match outcome.verdict {
        Some(Verdict::Exercise { is_right, .. }) => Some(is_right),
        _ => None,
    }
}

/// Returns whether the values of an exercise that is answered outside its cell have changed since a run of this
/// session, so that the change counts as an attempt.
pub fn is_attempt(before: &RunSnapshot, now: &Outcome) -> bool {
    match (&before.verdict, &now.verdict) {
        (
            Some(Verdict::Exercise { value, compared, .. }),
            Some(Verdict::Exercise { value: other, compared: others, .. }),
        ) => !before.is_from_before && (value != other || compared != others),
        _ => false,
    }
}

/// The names in a text, analysed once for each text.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub text: Arc<str>,
    pub names: Result<Arc<Names>, Arc<Fault>>,
}

impl Analysis {
    /// Analyses a text; `beside` is the lesson's code that runs with it.
    pub fn of<'a>(text: Arc<str>, beside: impl Iterator<Item = &'a String>) -> Self {
        let with = |mut all: Names| {
            all.reads.extend(beside.filter_map(|code| names(code).ok()).flat_map(|names| names.reads));
            Arc::new(all)
        };
        let names = names(&text).map(with).map_err(Arc::new);
        Self { text, names }
    }
}

/// The result of a run, with the variables that the cells below can read.
#[derive(Clone, Debug)]
pub struct CellRun {
    /// Serial number, which increases with every run.
    pub serial: u64,
    /// Each name that the code reads, with its source.
    pub reads: Vec<(String, NameSource)>,
    /// The part of the model on which the result depends, also through the cells that it reads.
    pub follows: Follows,
    pub defined: Vec<Variable>,
    pub functions: Functions,
    pub shown: Arc<RunSnapshot>,
    /// Memory of the result, in bytes.
    pub bytes: usize,
}

impl CellRun {
    /// Returns a run of an earlier session, of which only the shown outputs are left.
    pub fn from_before(shown: Arc<RunSnapshot>) -> Self {
        let bytes = shown.outputs.iter().map(Output::size).sum();
        let (reads, defined, functions) = (Vec::new(), Vec::new(), Functions::default());
        Self { serial: 0, reads, follows: Follows::Forward, defined, functions, shown, bytes }
    }

    /// Returns the names that the cells below can read.
    pub fn defines(&self) -> impl Iterator<Item = &str> {
        self.defined.iter().map(|variable| variable.name.as_str()).chain(self.functions.names())
    }
}

/// The outcome of a run, before the notebook records it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub outputs: Vec<Output>,
    pub fault: Option<Fault>,
    pub defined: Vec<Variable>,
    pub functions: Functions,
    pub wrote: bool,
    pub verdict: Option<Verdict>,
    /// Memory of everything except the verdict, as measured.
    pub measured: usize,
}

impl Outcome {
    /// Returns the memory of the outcome, in bytes.
    pub fn bytes(&self) -> usize {
        let (value, compared) = match &self.verdict {
            Some(Verdict::Exercise { value, compared, .. }) => (&value[..], &compared[..]),
            _ => (&[][..], &[][..]),
        };
        let compared = compared.iter().flat_map(|case| [&case.yours, &case.expected]);
        self.measured + value.iter().chain(compared).map(Output::size).sum::<usize>()
    }
}

/// The source of a name when a cell read it. A cell is stale if its names have other sources now.
#[derive(Clone, Debug, PartialEq)]
pub enum NameSource {
    /// A function of the language, or an undefined name.
    Language,
    /// A live tensor, and the version of the part of the model on which it depends.
    Live { follows: Follows, version: u64 },
    /// A run of a cell above, by its serial number.
    Run(CellId, u64),
    /// A slider above, and the bits of its value.
    Slider(CellId, u64),
}

impl NameSource {
    /// Returns the cell above whose run is the source, if the source is a run.
    pub fn cell(&self) -> Option<&CellId> {
        match self {
            Self::Run(cell, _) => Some(cell),
            Self::Language | Self::Live { .. } | Self::Slider(..) => None,
        }
    }
}

/// Version numbers of the parts of the model; each increases when its part changes.
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

/// The names in scope at a place of the notebook, built up from the top.
pub struct NamesInScope<'a> {
    live: BTreeMap<&'a str, NameSource>,
    above: BTreeMap<&'a str, NameSource>,
}

impl<'a> NamesInScope<'a> {
    pub fn new(live: &'a [LiveName], versions: Versions) -> Self {
        let source = |follows| NameSource::Live { follows, version: versions.of(follows) };
        let tensors = live.iter().map(|live| (live.name.as_str(), live.tensor.follows()));
        // A pass that code runs on a sentence depends on the weights and on the heads that are off.
        let asked = [
            (FORWARD, Follows::Forward),
            (RATE, Follows::Forward),
            (WRITE, Follows::Forward),
            (VECTORS, Follows::Space),
            (NEIGHBOURS, Follows::Space),
        ];
        let all = tensors.chain(asked);
        let live = all.map(|(name, follows)| (name, source(follows))).collect();
        Self { live, above: BTreeMap::new() }
    }

    /// Returns the source of a name for a cell at this place. An exercise has a clean scope and sees only the model.
    pub fn source(&self, name: &str, is_clean: bool) -> NameSource {
        if let Some(source) = self.above.get(name).filter(|_| !is_clean) {
            return source.clone();
        }
        self.live.get(name).cloned().unwrap_or(NameSource::Language)
    }

    /// Adds the names that a cell defines. Returns a name that hides one of a cell above, if there is one.
    pub fn pass(&mut self, cell: &'a DocumentCell, run: Option<&'a CellRun>) -> Option<&'a str> {
        let mut shadowed = None;
        if let Some((name, value)) = cell.turned_variable() {
            shadowed = self.above.insert(name, NameSource::Slider(cell.id.clone(), value.to_bits())).map(|_| name);
        }
        if let Some(run) = run.filter(|_| cell.is_code()) {
            for name in run.defines() {
                let source = NameSource::Run(cell.id.clone(), run.serial);
                shadowed = self.above.insert(name, source).map(|_| name).or(shadowed);
            }
        }
        shadowed
    }
}

/// The status of a cell, given the cells above it.
pub struct CellStanding<'a> {
    pub status: CellStatus,
    /// A name that the cell defines although a cell above defines it too, if there is one.
    pub shadows: Option<&'a str>,
    /// Whether a run now would read the same sources as the last one. The cell may still be stale, if one of these is.
    pub is_up_to_date: bool,
}

/// Returns the cells whose results are stale.
pub fn stale_cells<'a>(document: &'a Document, standings: &[CellStanding<'_>]) -> BTreeSet<&'a CellId> {
    let all = document.cells.iter().zip(standings);
    all.filter(|(_, standing)| standing.status == CellStatus::Stale).map(|(cell, _)| &cell.id).collect()
}

/// Returns whether a verdict stays when the model changes. The verdict on a prediction is about the lesson's own model,
/// and the verdict on a solved exercise is about the model at that time. A new run of the cell replaces either.
pub(super) fn is_settled(cell: &DocumentCell, run: &RunSnapshot) -> bool {
    match run.verdict {
        Some(Verdict::Prediction { .. }) => cell.is_done(),
        Some(Verdict::Exercise { is_right, .. }) => is_right && cell.is_done(),
        None => false,
    }
}
