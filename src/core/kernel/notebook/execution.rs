//! Runs of cells, what they read and leave: the model as a cell meets it, the names in its scope with their sources, the last run
//! of each cell, and which cells are stale.
//!
//! A cell sees the cells above it, and the model; nothing below it. So there are no cycles but through the model, and
//! a cell that writes to the model never runs again because the model changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attune_engine::code::{FORWARD, Fault, Functions, Given, NEIGHBOURS, Names, Output, VECTORS, Variable, names};

use crate::kernel::notebook::document::{Behaviour, CellCode, CellId, Document, DocumentCell};
use crate::kernel::notebook::live::{Follows, Live, LiveName};
use crate::kernel::notebook::snapshot::{CellStatus, RunSnapshot, Verdict};
use crate::lesson::cells::{CellKind, Exercise};

/// The model as a cell meets it.
pub trait LiveModel {
    fn live(&self) -> Live;
    /// Takes what a cell wrote, as one change.
    ///
    /// # Errors
    /// In words for the learner; nothing has changed then.
    fn write(&mut self, written: &[Variable], live: &Live, label: &str) -> Result<(), String>;
    fn versions(&mut self) -> Versions;
}

/// The tensors of a model as code reads them, with their names.
#[derive(Clone, Copy)]
pub struct LiveTensors<'a> {
    pub live: &'a Live,
    pub known: &'a [LiveName],
}

impl LiveTensors<'_> {
    /// The tensors that a text names, but those that a variable of a cell hides.
    pub(super) fn given(&self, names: &Names, hidden_by: &[Given]) -> Vec<Given> {
        let is_named = |known: &&LiveName| names.reads.contains(&known.name) || names.writes.contains(&known.name);
        let is_hidden = |known: &LiveName| hidden_by.iter().any(|given| given.variable.name == known.name);
        let seen = self.known.iter().filter(is_named).filter(|known| !is_hidden(known));
        seen.map(|known| self.live.given(known)).collect()
    }
}

/// The code whose names decide when a cell is stale; `None` of a cell that does not run.
pub fn text_that_runs(cell: &DocumentCell) -> Option<Arc<str>> {
    match Behaviour::of(&cell.kind).runs {
        CellCode::Nothing => None,
        CellCode::Code { .. } | CellCode::Exercise(Exercise { start: Some(_), .. }) => Some(cell.text.clone()),
        CellCode::Exercise(exercise) => Some(exercise.check.as_str().into()),
        CellCode::Predict(predict) => Some(predict.answer.as_str().into()),
    }
}

/// The code of the lesson that runs with it.
pub fn code_beside(kind: &CellKind) -> impl Iterator<Item = &String> {
    let (shown, exercise) = match Behaviour::of(kind).runs {
        CellCode::Predict(predict) => (Some(&predict.shows), None),
        CellCode::Exercise(exercise) => (None, Some(exercise)),
        CellCode::Nothing | CellCode::Code { .. } => (None, None),
    };
    shown.into_iter().chain(exercise.into_iter().flat_map(Exercise::codes))
}

/// True where it runs by itself: a plot, the check of an exercise that is done elsewhere, and the model's answer
/// to a prediction that is given.
pub fn runs_unasked(cell: &DocumentCell) -> bool {
    match Behaviour::of(&cell.kind).runs {
        CellCode::Nothing => false,
        CellCode::Code { is_unasked, .. } => is_unasked,
        CellCode::Exercise(exercise) => exercise.start.is_none(),
        CellCode::Predict(_) => cell.is_done(),
    }
}

/// Whether an exercise that could be tried was right.
pub fn is_right(outcome: &Outcome) -> Option<bool> {
    match outcome.verdict {
        Some(Verdict::Exercise { is_right, .. }) => Some(is_right),
        _ => None,
    }
}

/// Whether an exercise that is done elsewhere stands otherwise than it stood before, in this session.
pub fn is_attempt(before: &RunSnapshot, now: &Outcome) -> bool {
    match (&before.verdict, &now.verdict) {
        (
            Some(Verdict::Exercise { value, compared, .. }),
            Some(Verdict::Exercise { value: other, compared: others, .. }),
        ) => !before.is_from_before && (value != other || compared != others),
        _ => false,
    }
}

/// The names of a text, found once for each text.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub text: Arc<str>,
    pub names: Result<Arc<Names>, Arc<Fault>>,
}

impl Analysis {
    /// `beside` is the lesson's code that runs with it.
    pub fn of<'a>(text: Arc<str>, beside: impl Iterator<Item = &'a String>) -> Self {
        let with = |mut all: Names| {
            all.reads.extend(beside.filter_map(|code| names(code).ok()).flat_map(|names| names.reads));
            Arc::new(all)
        };
        let names = names(&text).map(with).map_err(Arc::new);
        Self { text, names }
    }
}

/// The result of a run, with the variables that the cells below see.
#[derive(Clone, Debug)]
pub struct CellRun {
    /// Grows with every run.
    pub serial: u64,
    /// Each name that it read, with where it came from.
    pub reads: Vec<(String, NameSource)>,
    /// The most that its result depends on, through the cells that it reads too.
    pub follows: Follows,
    pub defined: Vec<Variable>,
    pub functions: Functions,
    pub shown: Arc<RunSnapshot>,
    /// Memory that keeping the result takes, in bytes.
    pub bytes: usize,
}

impl CellRun {
    /// One of an earlier session: nothing is left of it but what it showed.
    pub fn from_before(shown: Arc<RunSnapshot>) -> Self {
        let bytes = shown.outputs.iter().map(Output::size).sum();
        let (reads, defined, functions) = (Vec::new(), Vec::new(), Functions::default());
        Self { serial: 0, reads, follows: Follows::Forward, defined, functions, shown, bytes }
    }

    /// Names that the cells below see.
    pub fn defines(&self) -> impl Iterator<Item = &str> {
        self.defined.iter().map(|variable| variable.name.as_str()).chain(self.functions.names())
    }
}

/// The outcome of a run, before the notebook takes it in.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub outputs: Vec<Output>,
    pub fault: Option<Fault>,
    pub defined: Vec<Variable>,
    pub functions: Functions,
    pub wrote: bool,
    pub verdict: Option<Verdict>,
    /// Memory of all but the verdict, as it was measured.
    pub measured: usize,
}

impl Outcome {
    /// Memory that keeping it takes.
    pub fn bytes(&self) -> usize {
        let (value, compared) = match &self.verdict {
            Some(Verdict::Exercise { value, compared, .. }) => (&value[..], &compared[..]),
            _ => (&[][..], &[][..]),
        };
        let compared = compared.iter().flat_map(|case| [&case.yours, &case.expected]);
        self.measured + value.iter().chain(compared).map(Output::size).sum::<usize>()
    }
}

/// The origin of a name when a cell read it. A cell that would read another one now is stale.
#[derive(Clone, Debug, PartialEq)]
pub enum NameSource {
    /// A function of the language, or nothing.
    Language,
    /// A live tensor, at this version of what it follows.
    Live { follows: Follows, version: u64 },
    /// A run of a cell above, by its serial number.
    Run(CellId, u64),
    /// A slider above and the bits of its value.
    Slider(CellId, u64),
}

impl NameSource {
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
    live: BTreeMap<&'a str, NameSource>,
    above: BTreeMap<&'a str, NameSource>,
}

impl<'a> NamesInScope<'a> {
    pub fn new(live: &'a [LiveName], versions: Versions) -> Self {
        let source = |follows| NameSource::Live { follows, version: versions.of(follows) };
        let tensors = live.iter().map(|live| (live.name.as_str(), live.tensor.follows()));
        // A pass over a sentence of a cell's own follows the weights and the heads that are off.
        let asked = [(FORWARD, Follows::Forward), (VECTORS, Follows::Space), (NEIGHBOURS, Follows::Space)];
        let all = tensors.chain(asked);
        let live = all.map(|(name, follows)| (name, source(follows))).collect();
        Self { live, above: BTreeMap::new() }
    }

    /// The source of a name for a cell here; an exercise, which starts clean, sees only the model.
    pub fn source(&self, name: &str, is_clean: bool) -> NameSource {
        if let Some(source) = self.above.get(name).filter(|_| !is_clean) {
            return source.clone();
        }
        self.live.get(name).cloned().unwrap_or(NameSource::Language)
    }

    /// Adds what a cell hands on, and says which of its names hides that of a cell above.
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

/// The status of a cell, as the cells above it leave it.
pub struct CellStanding<'a> {
    pub status: CellStatus,
    /// A name of its own that hides another cell's.
    pub shadows: Option<&'a str>,
    /// A run now would read what the last one read. It may be stale all the same: by what it read, which is stale.
    pub is_up_to_date: bool,
}

/// Cells whose results no longer follow from what they read.
pub fn stale_cells<'a>(document: &'a Document, standings: &[CellStanding<'_>]) -> BTreeSet<&'a CellId> {
    let all = document.cells.iter().zip(standings);
    all.filter(|(_, standing)| standing.status == CellStatus::Stale).map(|(cell, _)| &cell.id).collect()
}

/// Whether a verdict stays as the model changes: of a prediction that is given, which is about the lesson's own model, and of
/// an exercise that is solved, which is about the model as it was then; a new run of the cell gives another.
pub(super) fn is_settled(cell: &DocumentCell, run: &RunSnapshot) -> bool {
    match run.verdict {
        Some(Verdict::Prediction { .. }) => cell.is_done(),
        Some(Verdict::Exercise { is_right, .. }) => is_right && cell.is_done(),
        None => false,
    }
}
