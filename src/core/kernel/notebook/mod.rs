//! The notebook: the learner's cells, the results of their runs, and the cells that wait to run.
//!
//! In reading order: [`document`] defines the behaviour of each kind of cell and contains the cells, which [`commands`]
//! change and undo restores; [`live`] provides the model's tensors to code; [`execution`] decides which cells are
//! stale; [`runs`] runs a cell and records the result; [`live_text`] has the values of the expressions in texts, which
//! `texts` evaluates; and [`snapshot`] is for viewers. [`saved`] is the saved form, which is restored over a lesson
//! that may have changed.

pub mod commands;
pub mod document;
pub mod execution;
pub mod live;
pub mod live_text;
pub mod runs;
pub mod saved;
pub mod snapshot;
mod texts;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

pub use self::commands::{CellCommand, DocumentChange, NotebookCommand};
use self::document::{Answer, DocumentCell};
pub use self::document::{CellId, Document};
use self::execution::{Analysis, CellRun, CellStanding, NameSource, NamesInScope, Outcome, Versions, stale_cells};
use self::live::{Follows, LiveName};
use self::live_text::CellTexts;
use self::saved::{Merged, SavedNotebook, merge};
use self::snapshot::{CellSnapshot, CellStatus, NotebookSnapshot, RunSnapshot, VariableSnapshot};
use crate::lesson::Lesson;
use crate::lesson::cells::{CellKind, Exercise};

#[derive(Default)]
pub struct Notebook {
    document: Document,
    runs: BTreeMap<CellId, CellRun>,
    /// The analysis of every cell that has code.
    analyses: BTreeMap<CellId, Analysis>,
    waiting: VecDeque<CellId>,
    /// Waiting cells that run automatically instead of at the learner's request. The two fields below are the times
    /// that such runs and the evaluation of texts have taken since the last command.
    unasked: BTreeSet<CellId>,
    unasked_time: Duration,
    texts_time: Duration,
    last_command: LastCommand,
    /// Expressions in texts, for each cell that has some.
    texts: BTreeMap<CellId, CellTexts>,
    texts_waiting: BTreeSet<CellId>,
    /// Number of all runs so far, and number of the runs of code cells.
    runs_done: u64,
    code_runs_done: u64,
    live: Arc<[LiveName]>,
    versions: Versions,
    /// Flag that ends the running cell and cancels those that wait.
    stop: Arc<AtomicBool>,
    /// Whether the last command changed saved work.
    has_changed: bool,
    seed: u64,
    /// The latest snapshot, which is dropped when something changes.
    view: OnceCell<Arc<NotebookSnapshot>>,
}

/// The last command, as far as exercises depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastCommand {
    /// Undo or redo, which does not count as an answer to an exercise.
    Step,
    /// Another sentence on the stage. It does not count as an attempt at an exercise, although the check may have
    /// another result.
    Sentence { is_of_lesson: bool },
    #[default]
    Other,
}

/// The target of a slider.
pub enum SliderMove {
    /// A variable, given by the cell of its slider.
    Variable(CellId),
    Model,
}

impl SliderMove {
    /// Returns whether a value from this source changes with the slider.
    fn moves(&self, source: &NameSource, dependent: &BTreeSet<CellId>) -> bool {
        match (self, source) {
            (_, NameSource::Run(cell, _)) => dependent.contains(cell),
            (Self::Variable(slider), NameSource::Slider(cell, _)) => slider == cell,
            (Self::Model, NameSource::Live { follows, .. }) => *follows >= Follows::Parameters,
            _ => false,
        }
    }
}

impl Notebook {
    pub fn new(lesson: &Lesson) -> Self {
        Self::with(Document::of(lesson), BTreeMap::new(), lesson.seed)
    }

    /// Restores a saved notebook. Also returns the parts that did not fit, in sentences for the learner.
    pub fn reopened(lesson: &Lesson, saved: &SavedNotebook) -> (Self, Vec<String>) {
        let Merged { document, runs, report } = merge(lesson, saved);
        let numbers = runs.values().filter_map(|run| run.number);
        let code_runs_done = numbers.max().unwrap_or(0);
        let runs = runs.into_iter().map(|(id, run)| (id, CellRun::from_before(run))).collect();
        (Self { code_runs_done, ..Self::with(document, runs, lesson.seed) }, report)
    }

    fn with(document: Document, runs: BTreeMap<CellId, CellRun>, seed: u64) -> Self {
        let mut notebook = Self { document, runs, seed, ..Self::default() };
        notebook.analyse();
        notebook
    }

    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the flag by which another thread ends the running cell and cancels those that wait.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Replaces the document and returns the earlier one. The attempts at exercises stay.
    pub fn replace(&mut self, document: Document) -> Document {
        let before = std::mem::replace(&mut self.document, document);
        self.document.take_facts(&before);
        self.analyse();
        before
    }

    /// Returns whether the last command changed saved work, and resets this mark. Runs that the command started may
    /// change saved work later.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    pub fn live_names(&self) -> Arc<[LiveName]> {
        self.live.clone()
    }

    /// Sets the names of live tensors once there is a model.
    pub fn set_live(&mut self, live: Arc<[LiveName]>) {
        if self.live != live {
            self.live = live;
        }
        self.view.take();
    }

    /// Returns whether a cell waits to run or a text waits to be evaluated.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || self.has_text_to_evaluate()
    }

    /// Returns whether a prediction, or its text, is the next thing to run.
    pub fn has_question_next(&self) -> bool {
        let next = match self.waiting.front() {
            // The cell was cancelled and will not run.
            Some(_) if self.stop.load(Relaxed) => None,
            Some(id) => Some(id),
            None => self.texts_waiting.first(),
        };
        let kind = next.and_then(|id| self.document.cell(id)).map(|cell| &*cell.kind);
        matches!(kind, Some(CellKind::Predict(_)))
    }

    /// Analyses new texts, and forgets those of deleted cells.
    fn analyse(&mut self) {
        let mut before = std::mem::take(&mut self.analyses);
        for cell in &self.document.cells {
            let Some(text) = execution::text_that_runs(cell) else { continue };
            let analysis = before.remove(&cell.id).filter(|analysis| *analysis.text == *text);
            self.analyses.insert(
                cell.id.clone(),
                analysis.unwrap_or_else(|| Analysis::of(text, execution::code_beside(&cell.kind))),
            );
        }
        self.read_texts();
        self.view.take();
    }

    /// Enqueues the cells with code. Tasks are left out, because only the learner may try or answer them.
    fn enqueue_code(&mut self, range: std::ops::Range<usize>) {
        for index in range {
            if self.document.cells[index].is_code() {
                self.enqueue(index..index + 1);
            }
        }
    }

    /// Enqueues cells in the order of the notebook.
    fn enqueue(&mut self, range: std::ops::Range<usize>) {
        // An interrupt that was requested while nothing ran must not cancel the new runs.
        self.stop.store(false, Relaxed);
        for cell in &self.document.cells[range] {
            self.unasked.remove(&cell.id);
            if self.analyses.contains_key(&cell.id) && !self.waiting.contains(&cell.id) {
                self.waiting.push_back(cell.id.clone());
            }
        }
        self.view.take();
    }

    /// Sets the versions of the model, which may still be changing. Cells that depend on what has changed are then
    /// stale, but none of them is run.
    pub fn see(&mut self, versions: Versions) {
        if versions != self.versions {
            // If only the sentence on the stage has changed to another one of the lesson, the values from before the
            // writes still hold: the model is the same, and each text is evaluated on the sentence that it refers to.
            let is_other_model = Versions { forward: self.versions.forward, ..versions } != self.versions;
            if is_other_model || self.last_command != (LastCommand::Sentence { is_of_lesson: true }) {
                self.forget_before_writes();
            }
            self.versions = versions;
            self.view.take();
        }
    }

    /// Sets the duration of a cell's last run.
    pub fn set_elapsed(&mut self, id: &CellId, elapsed: Duration) {
        if let Some(run) = self.runs.get_mut(id) {
            Arc::make_mut(&mut run.shown).elapsed = elapsed;
            self.view.take();
        }
    }

    /// Reacts to a change: enqueues the cells that run automatically, and, if a slider was moved, the cells that depend
    /// on it.
    pub fn follow(&mut self, versions: Versions, slid: Option<&SliderMove>) {
        self.see(versions);
        let mut dependent: BTreeSet<CellId> = BTreeSet::new();
        let waiting: BTreeSet<CellId> = self.waiting.iter().cloned().collect();
        let mut waits: Vec<CellId> = Vec::new();
        for (cell, standing) in self.document.cells.iter().zip(self.standings()) {
            let run = self.runs.get(&cell.id);
            let is_unasked = execution::runs_unasked(cell);
            if let (Some(slid), Some(run)) = (slid, run)
                && run.reads.iter().any(|(_, source)| slid.moves(source, &dependent))
            {
                dependent.insert(cell.id.clone());
            }
            let follows_run = |run: &CellRun| {
                let runs = |from| waits.contains(from) || waiting.contains(from);
                run.reads.iter().any(|(_, source)| matches!(source, NameSource::Run(from, _) if runs(from)))
            };
            let runs = match standing.status {
                // The cell is stale because a cell above waits for the learner. If it ran, it would be stale again,
                // without end.
                CellStatus::Stale if standing.is_up_to_date && !run.is_some_and(follows_run) => false,
                CellStatus::New => is_unasked && !self.live.is_empty(),
                CellStatus::Stale => {
                    let is_auto = (cell.auto_run || self.document.auto_run) && cell.is_code();
                    // The verdict on an answer must hold for the present model. An answer that could not be checked, or
                    // is from another session, waits until the learner tries it.
                    let is_answer = run.is_some_and(|run| run.shown.verdict.is_some() && !run.shown.is_from_before);
                    // A moved slider does not run unfinished code. A cell that writes to the model is not run either,
                    // because it would run without end.
                    let is_as_ran = run.is_some_and(|run| {
                        self.analyses.get(&cell.id).is_some_and(|analysis| analysis.text == run.shown.text)
                    });
                    let follows = is_as_ran && (is_answer || is_auto || cell.is_code() && dependent.contains(&cell.id));
                    (is_unasked || follows) && !run.is_some_and(|run| run.shown.wrote)
                }
                CellStatus::Fresh | CellStatus::Waiting => false,
            };
            if runs && !waiting.contains(&cell.id) {
                waits.push(cell.id.clone());
            }
        }
        if !waits.is_empty() {
            self.unasked.extend(waits.iter().cloned());
            self.waiting.extend(waits);
            self.view.take();
        }
        self.texts_waiting = self.stale_texts();
    }

    /// Takes the next cell to run. Returns `None` if no cell waits, or if the next one has been deleted.
    pub fn take_next(&mut self) -> Option<CellId> {
        if self.stop.swap(false, Relaxed) {
            self.waiting.clear();
        }
        let id = self.waiting.pop_front()?;
        self.view.take();
        self.document.cell(&id).map(|_| id)
    }

    /// Records the outcome of a run. `versions` are the model's after the run, including what the run wrote.
    fn record(&mut self, id: &CellId, outcome: Outcome, versions: Versions) {
        self.versions = versions;
        let Some(analysis) = self.analyses.get(id) else { return };
        let text = analysis.text.clone();
        let names = analysis.names.as_ref().map(|names| names.clone()).unwrap_or_default();
        let is_clean = self.document.cell(id).is_some_and(|cell| !cell.is_code());
        let reads = self.sources_at(id, names.reads.iter().chain(&names.writes), is_clean);
        self.runs_done += 1;
        let bytes = outcome.bytes();
        let is_code = self.document.cell(id).is_some_and(|cell| matches!(*cell.kind, CellKind::Code { .. }));
        self.code_runs_done = self.code_runs_done.saturating_add(u64::from(is_code));
        self.note_attempt(id, &outcome);
        let defined = outcome.defined.iter().map(|variable| variable.name.clone());
        let variables = outcome.defined.iter().filter_map(VariableSnapshot::of).collect();
        let shown = RunSnapshot {
            variables,
            text,
            number: is_code.then_some(self.code_runs_done),
            outputs: outcome.outputs.into(),
            left_out: 0,
            fault: outcome.fault,
            elapsed: Duration::ZERO,
            defined: defined.chain(outcome.functions.names().map(str::to_owned)).collect(),
            verdict: outcome.verdict,
            wrote: outcome.wrote,
            is_from_before: false,
        };
        let run = CellRun {
            serial: self.runs_done,
            follows: self.followed_by(&reads),
            reads,
            defined: outcome.defined,
            functions: outcome.functions,
            shown: Arc::new(shown),
            bytes,
        };
        self.runs.insert(id.clone(), run);
        self.view.take();
    }

    /// Returns the sources of some names at a cell; `is_clean` is passed to [`NamesInScope::source`].
    fn sources_at<'n>(
        &self,
        id: &CellId,
        names: impl Iterator<Item = &'n String>,
        is_clean: bool,
    ) -> Vec<(String, NameSource)> {
        let mut sight = NamesInScope::new(&self.live, self.versions);
        for cell in self.document.above(id) {
            sight.pass(cell, self.runs.get(&cell.id));
        }
        names.map(|name| (name.clone(), sight.source(name, is_clean))).collect()
    }

    /// Notes in the document whether an exercise was tried and passed.
    fn note_attempt(&mut self, id: &CellId, outcome: &Outcome) {
        let moved = self.last_command == LastCommand::Other
            && self.runs.get(id).is_some_and(|run| execution::is_attempt(&run.shown, outcome));
        if let Some(is_right) = execution::is_right(outcome)
            && let Ok(DocumentCell { kind, answer: Answer::Exercise(attempts), .. }) = self.document.cell_mut(id)
        {
            attempts.is_passed |= is_right && self.last_command != LastCommand::Step;
            // An exercise that is answered outside its cell has no button to try it, so the first change counts as an
            // attempt.
            if moved && attempts.tried == 0 && matches!(&**kind, CellKind::Exercise(Exercise { start: None, .. })) {
                attempts.tried = 1;
            }
        }
    }

    /// Returns whether a cell's code writes to a live tensor or number.
    fn writes_model(&self, id: &CellId) -> bool {
        let names = self.analyses.get(id).and_then(|analysis| analysis.names.as_ref().ok());
        names.is_some_and(|names| self.live.iter().any(|known| names.writes.contains(&known.name)))
    }

    fn reads_model(&self, id: &CellId) -> bool {
        let names = self.analyses.get(id).and_then(|analysis| analysis.names.as_ref().ok());
        self.live.is_empty()
            || names.is_some_and(|names| self.live.iter().any(|known| names.reads.contains(&known.name)))
    }

    /// Returns the part of the model on which names from these sources depend, also through cells.
    fn followed_by<'a>(&self, sources: impl IntoIterator<Item = &'a (String, NameSource)>) -> Follows {
        let follows = |(_, source): &(String, NameSource)| match source {
            NameSource::Live { follows, .. } => *follows,
            NameSource::Run(cell, _) => self.runs.get(cell).map_or(Follows::Forward, |run| run.follows),
            NameSource::Language | NameSource::Slider(..) => Follows::Nothing,
        };
        sources.into_iter().map(follows).max().unwrap_or_default()
    }

    /// Returns the present state for viewers.
    pub fn snapshot(&self) -> Arc<NotebookSnapshot> {
        self.view.get_or_init(|| Arc::new(self.view())).clone()
    }

    fn view(&self) -> NotebookSnapshot {
        let waiting: BTreeSet<&CellId> = self.waiting.iter().collect();
        let stale_texts = self.stale_texts();
        let standings = self.standings();
        let stale_cells = stale_cells(&self.document, &standings);
        let cell =
            |(cell, CellStanding { status, shadows, .. }): (&Arc<DocumentCell>, CellStanding<'_>)| CellSnapshot {
                cell: cell.clone(),
                status: if waiting.contains(&cell.id) { CellStatus::Waiting } else { status },
                run: self.runs.get(&cell.id).map(|run| run.shown.clone()),
                mistake: self.analyses.get(&cell.id).and_then(|analysis| analysis.names.clone().err()),
                reads_model: self.reads_model(&cell.id),
                shadows: shadows.map(Arc::from),
                live: self.texts.get(&cell.id).map(|texts| texts.shown(stale_texts.contains(&cell.id), &stale_cells)),
                order: self.order_of_choices(cell),
            };
        NotebookSnapshot {
            cells: self.document.cells.iter().zip(standings).map(cell).collect(),
            auto_run: self.document.auto_run,
            live: self.live.clone(),
            closed_gate: self.document.first_closed_gate(),
        }
    }
}
