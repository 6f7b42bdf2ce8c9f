//! The notebook: the learner's cells, what their runs left, and which are to run.
//!
//! In reading order: [`document`] is what the learner writes and undo brings back, [`command`] what can
//! be asked, [`live`] the model's tensors as code sees them, [`dependencies`] which cells are stale,
//! [`runs`] what a run left, [`execution`] runs one, and [`snapshot`] is what a viewer sees. [`saved`] is what
//! is kept of that, and [`merge`] puts it back over a lesson that may have changed.

pub mod command;
pub mod dependencies;
pub mod document;
pub mod execution;
pub mod live;
pub mod merge;
pub mod runs;
pub mod saved;
pub mod saved_output;
pub mod snapshot;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

pub use command::{CellCommand, NotebookCommand};
pub use document::{CellId, Document};

use self::dependencies::{Sight, Source, Versions, statuses};
use self::document::{Answer, DocumentCell};
use self::live::LiveName;
use self::merge::{Merged, merge};
use self::runs::{Analysis, CellRun, Outcome};
use self::saved::SavedNotebook;
use self::snapshot::{CellSnapshot, CellStatus, LiveNameSnapshot, NotebookSnapshot, RunSnapshot};
use crate::lesson::Lesson;
use crate::lesson::cells::CellKind;

pub struct Notebook {
    document: Document,
    runs: BTreeMap<CellId, CellRun>,
    /// Of every cell that has code.
    analyses: BTreeMap<CellId, Analysis>,
    waiting: VecDeque<CellId>,
    /// Runs so far, and those of code that the learner asked for.
    runs_done: u64,
    code_runs_done: u64,
    live: Arc<[LiveName]>,
    versions: Versions,
    /// Ends the run that is under way.
    stop: Arc<AtomicBool>,
    seed: u64,
    /// What a viewer sees, until something changes.
    view: OnceCell<Arc<NotebookSnapshot>>,
}

/// What a command changed, for undo to remember.
pub struct Changed {
    pub label: String,
    pub before: Document,
    /// One more move of the same kind, which undoes together with the last.
    pub goes_on_as: Option<Move>,
}

/// What a slider turned.
pub enum Slid {
    /// A variable, in the slider's cell.
    Variable(CellId),
    Model,
}

impl Slid {
    /// What came from there changes with the slider; or from a cell that does.
    fn moves(&self, source: &Source, dependent: &BTreeSet<CellId>) -> bool {
        match (self, source) {
            (_, Source::Run(cell, _)) => dependent.contains(cell),
            (Self::Variable(slider), Source::Slider(cell, _)) => slider == cell,
            (Self::Model, Source::Live { version }) => *version > 0,
            _ => false,
        }
    }
}

/// What successive changes are about that undo as one.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    Text(CellId),
    Slider(CellId),
}

impl Notebook {
    pub fn new(lesson: &Lesson) -> Self {
        Self::with(Document::of(lesson), BTreeMap::new(), lesson.seed)
    }

    /// As it was left, with what did not fit in sentences for the learner.
    pub fn reopened(lesson: &Lesson, saved: &SavedNotebook) -> (Self, Vec<String>) {
        let Merged { document, runs, report } = merge(lesson, saved);
        let numbers = runs.values().filter_map(|run| run.number);
        let code_runs_done = numbers.max().unwrap_or(0);
        let runs = runs.into_iter().map(|(id, run)| (id, CellRun::from_before(run))).collect();
        (Self { code_runs_done, ..Self::with(document, runs, lesson.seed) }, report)
    }

    fn with(document: Document, runs: BTreeMap<CellId, CellRun>, seed: u64) -> Self {
        let mut notebook = Self {
            document,
            runs,
            analyses: BTreeMap::new(),
            waiting: VecDeque::new(),
            runs_done: 0,
            code_runs_done: 0,
            live: Arc::from([]),
            versions: Versions::default(),
            stop: Arc::default(),
            seed,
            view: OnceCell::new(),
        };
        notebook.analyse();
        notebook
    }

    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Set from another thread, it ends the run that is under way and all that wait.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Takes the place of the document; returns the one before.
    pub fn replace(&mut self, document: Document) -> Document {
        let before = std::mem::replace(&mut self.document, document);
        self.analyse();
        before
    }

    pub fn live_names(&self) -> Arc<[LiveName]> {
        self.live.clone()
    }

    /// The names that the model gives, once there is one.
    pub fn set_live(&mut self, live: Arc<[LiveName]>) {
        self.live = live;
        self.view.take();
    }

    /// A cell waits to run.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Applies what concerns the notebook alone.
    ///
    /// # Errors
    /// In words for the learner; nothing has changed then.
    pub fn apply(&mut self, command: NotebookCommand, lesson: &Lesson) -> Result<Option<Changed>, String> {
        match command {
            NotebookCommand::Cell(id, command) => self.apply_to_cell(&id, command, lesson),
            NotebookCommand::RunAll => {
                self.enqueue(0..self.document.cells.len());
                Ok(None)
            }
            NotebookCommand::Restart => {
                self.runs.clear();
                self.waiting.clear();
                self.view.take();
                Ok(None)
            }
            NotebookCommand::Interrupt => {
                self.waiting.clear();
                self.stop.store(false, Relaxed);
                self.view.take();
                Ok(None)
            }
            NotebookCommand::SetAutoRun(on) => self.change("automatic runs", None, |document| {
                document.auto_run = on;
                Ok(())
            }),
            NotebookCommand::Reset => self.change("reset of the notebook", None, |document| {
                *document = Document::of(lesson);
                Ok(())
            }),
        }
    }

    fn apply_to_cell(&mut self, id: &CellId, command: CellCommand, lesson: &Lesson) -> Result<Option<Changed>, String> {
        let index = self.document.index(id)?;
        match command {
            CellCommand::Run => {
                self.enqueue(index..index + 1);
                Ok(None)
            }
            CellCommand::RunAbove => {
                self.enqueue(0..index);
                Ok(None)
            }
            CellCommand::ClearOutputs => {
                self.runs.remove(id);
                self.view.take();
                Ok(None)
            }
            CellCommand::SetText(text) => {
                let goes_on = Some(Move::Text(id.clone()));
                self.change("writing", goes_on, |document| document.set_text(id, &text))
            }
            CellCommand::Slide(value) => {
                let goes_on = Some(Move::Slider(id.clone()));
                self.change("a slider", goes_on, |document| slide(document, id, value))
            }
            CellCommand::Insert { kind, is_above } => {
                self.change("a new cell", None, |document| document.insert(id, kind, is_above).map(|_| ()))
            }
            CellCommand::Delete => self.change("deletion of a cell", None, |document| document.delete(id)),
            CellCommand::Shift(by) => self.change("move of a cell", None, |document| document.shift(id, by)),
            CellCommand::Split(at) => {
                self.change("split of a cell", None, |document| document.split(id, at).map(|_| ()))
            }
            CellCommand::MergeBelow => self.change("merge of two cells", None, |document| document.merge_below(id)),
            CellCommand::SetKind(kind) => self.change("kind of a cell", None, |document| document.set_kind(id, kind)),
            CellCommand::Fold(on) => self.change("fold", None, |document| {
                document.cell_mut(id)?.is_folded = on;
                Ok(())
            }),
            CellCommand::SetAutoRun(on) => self.change("automatic run of a cell", None, |document| {
                document.cell_mut(id)?.auto_run = on;
                Ok(())
            }),
            CellCommand::Choose(choice) => {
                self.change("a prediction", None, |document| choose(document.cell_mut(id)?, choice))
            }
            CellCommand::Reveal => self.reveal(id),
            CellCommand::Hint => self.change("a hint", None, |document| open_hint(document.cell_mut(id)?)),
            CellCommand::Skip => self.change("going past a gate", None, |document| {
                document.cell_mut(id)?.answer = Answer::Skipped;
                Ok(())
            }),
            CellCommand::Settle { keep_mine } => {
                self.change("end of a conflict", None, |document| document.settle(id, keep_mine))
            }
            CellCommand::Reset => {
                self.runs.remove(id);
                self.change("reset of a cell", None, |document| document.reset(id, lesson))
            }
        }
    }

    /// Changes the document, or leaves it as it was.
    fn change(
        &mut self,
        label: &str,
        goes_on_as: Option<Move>,
        change: impl FnOnce(&mut Document) -> Result<(), String>,
    ) -> Result<Option<Changed>, String> {
        let before = self.document.clone();
        if let Err(why) = change(&mut self.document) {
            self.document = before;
            return Err(why);
        }
        if before == self.document {
            return Ok(None);
        }
        self.analyse();
        Ok(Some(Changed { label: label.to_owned(), before, goes_on_as }))
    }

    fn reveal(&mut self, id: &CellId) -> Result<Option<Changed>, String> {
        let changed = self.change("showing the answer", None, |document| {
            let cell = document.cell_mut(id)?;
            match &mut cell.answer {
                Answer::Predict { chosen: None, .. } => Err("choose an answer first".to_owned()),
                Answer::Predict { is_locked, .. } => {
                    *is_locked = true;
                    Ok(())
                }
                Answer::Exercise(attempts) => {
                    attempts.is_revealed = true;
                    Ok(())
                }
                _ => Err("this cell has nothing to reveal".to_owned()),
            }
        })?;
        let index = self.document.index(id)?;
        if matches!(*self.document.cells[index].kind, CellKind::Predict(_)) {
            self.enqueue(index..index + 1);
        }
        Ok(changed)
    }

    /// Finds the names of new texts, and forgets those of cells that are gone.
    fn analyse(&mut self) {
        let mut before = std::mem::take(&mut self.analyses);
        for cell in &self.document.cells {
            let Some(text) = execution::text_that_runs(cell) else { continue };
            let analysis = before.remove(&cell.id).filter(|analysis| *analysis.text == *text);
            self.analyses.insert(cell.id.clone(), analysis.unwrap_or_else(|| Analysis::of(text)));
        }
        self.view.take();
    }

    /// Cells wait to run, in the order of the notebook.
    fn enqueue(&mut self, range: std::ops::Range<usize>) {
        // Pressed while nothing ran, it must not end what comes.
        self.stop.store(false, Relaxed);
        for cell in &self.document.cells[range] {
            if self.analyses.contains_key(&cell.id) && !self.waiting.contains(&cell.id) {
                self.waiting.push_back(cell.id.clone());
            }
        }
        self.view.take();
    }

    /// The model has changed and goes on changing: cells show that they are stale, and wait.
    pub fn see(&mut self, versions: Versions) {
        if versions != self.versions {
            self.versions = versions;
            self.view.take();
        }
    }

    /// How long the last run of a cell took.
    pub fn set_elapsed(&mut self, id: &CellId, elapsed: Duration) {
        if let Some(run) = self.runs.get_mut(id) {
            Arc::make_mut(&mut run.shown).elapsed = elapsed;
            self.view.take();
        }
    }

    /// Something has changed: what runs by itself waits to run. Where a slider was turned, that is all
    /// that depends on it.
    pub fn follow(&mut self, versions: Versions, slid: Option<&Slid>) {
        self.see(versions);
        let mut dependent: BTreeSet<CellId> = BTreeSet::new();
        let mut waits: Vec<CellId> = Vec::new();
        for (index, status) in self.statuses().into_iter().enumerate() {
            let cell = &self.document.cells[index];
            let run = self.runs.get(&cell.id);
            let is_unasked = execution::runs_unasked(cell);
            if let (Some(slid), Some(run)) = (slid, run)
                && run.reads.iter().any(|(_, source)| slid.moves(source, &dependent))
            {
                dependent.insert(cell.id.clone());
            }
            let runs = match status {
                CellStatus::New => is_unasked && !self.live.is_empty(),
                CellStatus::Stale => {
                    let is_auto = (cell.auto_run || self.document.auto_run) && cell.is_code();
                    // Half-written code does not run because a slider moved, and a cell that writes to
                    // the model would chase its own tail.
                    let is_as_ran = run.is_some_and(|run| {
                        self.analyses.get(&cell.id).is_some_and(|analysis| analysis.text == run.shown.text)
                    });
                    let follows = is_as_ran && (is_auto || cell.is_code() && dependent.contains(&cell.id));
                    (is_unasked || follows) && !run.is_some_and(|run| run.shown.wrote)
                }
                CellStatus::Fresh | CellStatus::Waiting => false,
            };
            if runs && !self.waiting.contains(&cell.id) {
                waits.push(cell.id.clone());
            }
        }
        if !waits.is_empty() {
            self.waiting.extend(waits);
            self.view.take();
        }
    }

    fn statuses(&self) -> Vec<CellStatus> {
        let mut sight = Sight::new(&self.live, self.versions);
        let statuses = statuses(&self.document, &self.runs, &self.analyses, &mut sight);
        statuses.into_iter().map(|(status, _)| status).collect()
    }

    /// The next cell to run, if it is still there.
    pub fn take_next(&mut self) -> Option<CellId> {
        if self.stop.swap(false, Relaxed) {
            self.waiting.clear();
        }
        let id = self.waiting.pop_front()?;
        self.view.take();
        self.document.cell(&id).map(|_| id)
    }

    /// Takes in what came of a run. `versions` are the model's now, after what it wrote.
    fn record(&mut self, id: &CellId, outcome: Outcome, versions: Versions) {
        self.versions = versions;
        let Some(analysis) = self.analyses.get(id) else { return };
        let text = analysis.text.clone();
        let names = analysis.names.as_ref().map(|names| names.clone()).unwrap_or_default();
        let reads = {
            let mut sight = Sight::new(&self.live, versions);
            let mut is_clean = false;
            for cell in &self.document.cells {
                if cell.id == *id {
                    is_clean = !cell.is_code();
                    break;
                }
                sight.pass(cell, self.runs.get(&cell.id));
            }
            let all = names.reads.iter().chain(&names.writes);
            all.map(|name| (name.clone(), sight.source(name, is_clean))).collect()
        };
        self.runs_done += 1;
        let is_code = self.document.cell(id).is_some_and(|cell| matches!(*cell.kind, CellKind::Code { .. }));
        self.code_runs_done = self.code_runs_done.saturating_add(u64::from(is_code));
        if let Some(is_right) = execution::is_right(&outcome)
            && let Ok(DocumentCell { answer: Answer::Exercise(attempts), .. }) = self.document.cell_mut(id)
        {
            attempts.is_passed |= is_right;
        }
        let defined = outcome.defined.iter().map(|variable| variable.name.clone());
        let shown = RunSnapshot {
            text,
            number: is_code.then_some(self.code_runs_done),
            outputs: outcome.outputs.into(),
            fault: outcome.fault,
            elapsed: Duration::ZERO,
            defined: defined.chain(outcome.functions.names().map(str::to_owned)).collect(),
            verdict: outcome.verdict,
            wrote: outcome.wrote,
            is_from_before: false,
        };
        let run = CellRun {
            serial: self.runs_done,
            reads,
            defined: outcome.defined,
            functions: outcome.functions,
            shown: Arc::new(shown),
        };
        self.runs.insert(id.clone(), run);
        self.view.take();
    }

    /// What a viewer may see now.
    pub fn snapshot(&self) -> Arc<NotebookSnapshot> {
        self.view.get_or_init(|| Arc::new(self.view())).clone()
    }

    fn view(&self) -> NotebookSnapshot {
        let mut sight = Sight::new(&self.live, self.versions);
        let statuses = statuses(&self.document, &self.runs, &self.analyses, &mut sight);
        let cell = |(cell, (status, shadows)): (&Arc<DocumentCell>, (CellStatus, Option<&str>))| CellSnapshot {
            cell: cell.clone(),
            status: if self.waiting.contains(&cell.id) { CellStatus::Waiting } else { status },
            run: self.runs.get(&cell.id).map(|run| run.shown.clone()),
            mistake: self.analyses.get(&cell.id).and_then(|analysis| analysis.names.clone().err()),
            shadows: shadows.map(Arc::from),
        };
        NotebookSnapshot {
            cells: self.document.cells.iter().zip(statuses).map(cell).collect(),
            auto_run: self.document.auto_run,
            live: self.live.iter().map(live_name).collect(),
            closed_gate: self.document.first_closed_gate(),
        }
    }
}

fn live_name(live: &LiveName) -> LiveNameSnapshot {
    LiveNameSnapshot {
        name: live.name.clone(),
        meaning: live.tensor.meaning(),
        is_writable: live.tensor.is_writable(),
        axes: live.axes.clone(),
    }
}

fn slide(document: &mut Document, id: &str, value: f64) -> Result<(), String> {
    let cell = document.cell_mut(id)?;
    let CellKind::Slider(slider) = &*cell.kind else { return Err("this cell is no slider".to_owned()) };
    if !value.is_finite() {
        return Err(format!("a slider cannot be at {value}"));
    }
    let value = value.clamp(slider.range.0, slider.range.1);
    if let Answer::Slider(at) = &mut cell.answer {
        *at = value;
    }
    Ok(())
}

fn choose(cell: &mut DocumentCell, choice: usize) -> Result<(), String> {
    let CellKind::Predict(predict) = &*cell.kind else { return Err("this cell asks for no prediction".to_owned()) };
    let count = predict.choices.len();
    match &mut cell.answer {
        Answer::Predict { is_locked: true, .. } => {
            Err("this prediction is given; reset the cell to try again".to_owned())
        }
        Answer::Predict { chosen, .. } if choice < count => {
            *chosen = Some(choice);
            Ok(())
        }
        _ => Err(format!("there is no choice {}: there are {count}", choice.saturating_add(1))),
    }
}

fn open_hint(cell: &mut DocumentCell) -> Result<(), String> {
    let CellKind::Exercise(exercise) = &*cell.kind else { return Err("this cell has no hints".to_owned()) };
    match &mut cell.answer {
        Answer::Exercise(attempts) if attempts.hints < exercise.hints.len() => {
            attempts.hints += 1;
            Ok(())
        }
        _ => Err("there are no more hints".to_owned()),
    }
}
