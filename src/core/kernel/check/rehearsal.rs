//! Goes through a lesson's notebook for its author: every cell runs, no exercise is solved before it is
//! begun, and every solution passes; with the same engine as the learner's buttons.

use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::budget::Allowance;
use attune_engine::code::{Fault, Output};

use crate::kernel::command::Command;
use crate::kernel::notebook::execution::{Answered, is_right};
use crate::kernel::notebook::kinds::{Behaviour, Runs};
use crate::kernel::notebook::runs::Outcome;
use crate::kernel::notebook::snapshot::{Compared, RunSnapshot, Verdict};
use crate::kernel::notebook::{CellCommand, NotebookCommand};
use crate::kernel::state::Kernel;
use crate::lesson::cells::{Cell, CellKind};
use crate::lesson::locate::Spot;

/// A problem with a cell of the lesson, in words for its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub cell: String,
    pub words: String,
    pub at: Spot,
}

impl Problem {
    fn of(cell: &Cell, words: impl Into<String>, at: Spot) -> Self {
        Self { cell: cell.id.clone(), words: words.into(), at }
    }
}

/// Every problem of the cells, in their order. The kernel must be trained; it is left as the lesson's
/// code leaves it. The cells for which `time` leaves none are a problem too.
pub fn rehearse(kernel: &mut Kernel, time: Duration) -> Vec<Problem> {
    let lesson = kernel.snapshot().lesson;
    let mut problems = Vec::new();
    let allowance = Allowance::within(time);
    for (done, cell) in lesson.cells.iter().enumerate() {
        if allowance.is_late() {
            let seconds = time.as_secs();
            let more = match lesson.cells.len() - done - 1 {
                0 => String::new(),
                below => format!(", nor {below} below"),
            };
            let words = format!(
                "not checked{more}: all cells together took more than {seconds} s; raise the limit with --within SECONDS"
            );
            problems.push(Problem::of(cell, words, Spot::Cell));
            break;
        }
        problems.extend(match Behaviour::of(&cell.kind).runs {
            Runs::Nothing => None,
            Runs::Code { fails, .. } => code(kernel, cell, fails),
            Runs::Predict(_) => predict(kernel, cell),
            Runs::Exercise(_) => exercise(kernel, cell),
        });
        texts(kernel, cell, &mut problems);
    }
    problems
}

/// The expressions of a cell's texts, on the state that the cells above leave.
fn texts(kernel: &mut Kernel, cell: &Cell, problems: &mut Vec<Problem>) {
    kernel.settle();
    let notebook = kernel.snapshot().notebook;
    let found = notebook.cells.iter().find(|found| *found.cell.id == *cell.id);
    let Some(live) = found.and_then(|found| found.live.as_ref()) else { return };
    match &live.values {
        None => problems.push(Problem::of(cell, "its texts were not evaluated", Spot::Cell)),
        Some(values) => problems.extend(values.faults().map(|(source, fault)| {
            Problem::of(cell, format!("{{{{ {source} }}}}: {fault}"), Spot::Words(source.into()))
        })),
    }
}

fn ask(kernel: &mut Kernel, cell: &Cell, command: CellCommand) {
    kernel.apply(Command::Notebook(NotebookCommand::Cell(cell.id.as_str().into(), command)));
    kernel.settle();
}

pub(super) fn shown(kernel: &Kernel, cell: &Cell) -> Option<Arc<RunSnapshot>> {
    let notebook = kernel.snapshot().notebook;
    notebook.cells.iter().find(|found| *found.cell.id == *cell.id)?.run.clone()
}

const NOT_RUN: &str = "it did not run";

fn code(kernel: &mut Kernel, cell: &Cell, fails: bool) -> Option<Problem> {
    ask(kernel, cell, CellCommand::Run);
    match shown(kernel, cell).as_ref().map(|run| &run.fault) {
        None => Some(Problem::of(cell, NOT_RUN, Spot::Cell)),
        Some(None) if fails => Some(Problem::of(cell, "it runs without a fault, but says fails: true", Spot::Cell)),
        Some(Some(fault)) if !fails => Some(of_fault(cell, fault, "src")),
        Some(_) => asserts(kernel, cell),
    }
}

fn asserts(kernel: &Kernel, cell: &Cell) -> Option<Problem> {
    let CellKind::Code { asserts, .. } = &cell.kind else { return None };
    Some(of_fault(cell, &kernel.fault_after(&cell.id, asserts)?, "asserts"))
}

/// A fault of the code in a field of the cell, at its place in there.
fn of_fault(cell: &Cell, fault: &Fault, field: &'static str) -> Problem {
    let at = fault.place.map_or(Spot::Field(field), |at| Spot::Code { field, at });
    Problem::of(cell, Fault { place: None, ..fault.clone() }.to_string(), at)
}

/// Answers a prediction, somehow, and reveals it.
pub fn reveal(kernel: &mut Kernel, cell: &Cell) {
    ask(kernel, cell, CellCommand::Choose(0));
    ask(kernel, cell, CellCommand::Reveal);
}

fn predict(kernel: &mut Kernel, cell: &Cell) -> Option<Problem> {
    reveal(kernel, cell);
    let words = match shown(kernel, cell) {
        None => NOT_RUN.to_owned(),
        Some(run) => format!("its answer: {}", run.fault.as_ref()?),
    };
    Some(Problem::of(cell, words, Spot::Field("answer")))
}

fn exercise(kernel: &Kernel, cell: &Cell) -> Option<Problem> {
    let tried = |answer| kernel.try_exercise(&cell.id, answer);
    let (Some(start), Some(solved)) = (tried(Answered::Start), tried(Answered::Solution)) else {
        return Some(Problem::of(cell, NOT_RUN, Spot::Cell));
    };
    if is_right(&start) == Some(true) {
        return Some(Problem::of(cell, "its start passes already", Spot::Field("start")));
    }
    if is_right(&solved) != Some(true) {
        return Some(Problem::of(cell, why_not(&solved), Spot::Field("solution")));
    }
    let Some(Verdict::Exercise { compared, .. }) = &solved.verdict else { return None };
    if let CellKind::Exercise(exercise) = &cell.kind
        && !exercise.expected.is_empty()
        && compared.len() < exercise.cases.len().max(1)
    {
        let words = "its `expected` fails, or shows nothing to compare";
        return Some(Problem::of(cell, words, Spot::Field("expected")));
    }
    let case = compared.iter().position(differs)?;
    let words = format!("its solution passes, but differs from `expected` in case {}", case + 1);
    Some(Problem::of(cell, words, Spot::Field("solution")))
}

/// Whether numbers that stand beside each other are not the same; bounds and words are for the check alone.
fn differs(case: &Compared) -> bool {
    /// Between what a check lets pass and what a learner sees.
    const TOLERANCE: f64 = 1e-3;
    let is_near = |a: &f64, b: &f64| a == b || (a - b).abs() <= TOLERANCE * (1.0 + b.abs());
    let is_far = |(a, b): (&f64, &f64)| !is_near(a, b);
    match (&case.yours, &case.expected) {
        (Output::Number(yours), Output::Number(expected)) => is_far((yours, expected)),
        (Output::Table { tensor: yours, .. }, Output::Table { tensor: expected, .. }) => {
            yours.shape().to_string() != expected.shape().to_string()
                || yours.entries().iter().zip(expected.entries()).any(is_far)
        }
        (Output::Number(_), Output::Table { .. }) | (Output::Table { .. }, Output::Number(_)) => true,
        _ => false,
    }
}

fn why_not(solved: &Outcome) -> String {
    match (&solved.fault, &solved.verdict) {
        (Some(fault), _) => format!("its solution: {fault}"),
        (None, Some(Verdict::Exercise { failed_case, feedback, .. })) => {
            let case = failed_case.map_or(String::new(), |case| format!(" case {}", case + 1));
            let said = feedback.as_ref().map_or(String::new(), |said| format!(": {said}"));
            format!("its solution does not pass{case}{said}")
        }
        (None, _) => "its solution does not pass".to_owned(),
    }
}
