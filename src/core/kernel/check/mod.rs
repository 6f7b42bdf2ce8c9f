//! Checks for authors: the [`claims`] of a lesson against its trained model, and a rehearsal of its notebook, in which
//! every cell runs, no exercise is solved from the start, and every solution passes. The code is the same that runs for
//! the learner.
//!
//! This module also grades learners' answers for teachers, by the lesson's own checks and not by the verdicts in the
//! learner's file.

pub mod claims;

use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::budget::{Allowance, SOURCE_BYTES_MAX};
use attune_engine::code::{Fault, Output};

use crate::kernel::command::Command;
use crate::kernel::kernel::Kernel;
use crate::kernel::notebook::document::{Behaviour, CellCode, OwnKind};
use crate::kernel::notebook::execution::{Outcome, is_right};
use crate::kernel::notebook::runs::TriedAnswer;
use crate::kernel::notebook::saved::{SavedAnswer, SavedCell, SavedEdit};
use crate::kernel::notebook::snapshot::{CellSnapshot, ComparedCase, RunSnapshot, Verdict};
use crate::kernel::notebook::{CellCommand, NotebookCommand};
use crate::kernel::saved_work::Saved;
use crate::lesson::Lesson;
use crate::lesson::cases::FurtherCases;
use crate::lesson::cells::{Cell, CellKind, Exercise, Predict};
use crate::lesson::places::Spot;

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

/// Runs the cells in order, as a learner would, and returns all problems. The kernel must be trained, and the lesson's
/// code may change it. If `time` runs out, one problem says how many cells were not checked.
pub fn rehearse(kernel: &mut Kernel, time: Duration) -> Vec<Problem> {
    let lesson = kernel.snapshot().lesson;
    let mut problems = Vec::new();
    let allowance = Allowance::within(time);
    for (done, cell) in lesson.cells.iter().enumerate() {
        if allowance.is_late() {
            let seconds = time.as_secs();
            let more = match lesson.cells.len() - done - 1 {
                0 => String::new(),
                1 => " (nor was the cell below)".to_owned(),
                below => format!(" (nor were the {below} cells below)"),
            };
            let words = format!(
                "not checked{more}, because all cells together took more than {seconds} s; raise the limit with \
                 --within SECONDS"
            );
            problems.push(Problem::of(cell, words, Spot::Cell));
            break;
        }
        problems.extend(match Behaviour::of(&cell.kind).runs {
            CellCode::Nothing => None,
            CellCode::Code { fails, .. } => code(kernel, cell, fails),
            CellCode::Predict(_) => predict(kernel, cell),
            CellCode::Exercise(_) => exercise(kernel, cell),
        });
        texts(kernel, cell, &mut problems);
    }
    problems
}

/// Checks the expressions in a cell's texts, in the state that the cells above produce.
fn texts(kernel: &mut Kernel, cell: &Cell, problems: &mut Vec<Problem>) {
    kernel.settle();
    let Some(live) = seen(kernel, cell).and_then(|seen| seen.live) else { return };
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

fn seen(kernel: &Kernel, cell: &Cell) -> Option<CellSnapshot> {
    kernel.snapshot().notebook.cells.iter().find(|seen| *seen.cell.id == *cell.id).cloned()
}

fn shown(kernel: &Kernel, cell: &Cell) -> Option<Arc<RunSnapshot>> {
    seen(kernel, cell)?.run
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

/// Returns a problem for a fault in the code of a cell's field, at the place of the fault in that code.
fn of_fault(cell: &Cell, fault: &Fault, field: &'static str) -> Problem {
    let at = fault.place.map_or(Spot::Field(field), |at| Spot::Code { field, at });
    Problem::of(cell, Fault { place: None, ..fault.clone() }.to_string(), at)
}

/// Chooses the first answer to a prediction, and reveals the model's answer.
pub fn reveal(kernel: &mut Kernel, cell: &Cell) {
    ask(kernel, cell, CellCommand::Choose(0));
    ask(kernel, cell, CellCommand::Reveal);
}

fn predict(kernel: &mut Kernel, cell: &Cell) -> Option<Problem> {
    reveal(kernel, cell);
    let words = match shown(kernel, cell) {
        None => NOT_RUN.to_owned(),
        Some(run) => match &run.fault {
            Some(fault) => format!("its answer: {fault}"),
            None => return drawn(kernel, cell),
        },
    };
    Some(Problem::of(cell, words, Spot::Field("answer")))
}

/// Asks a question with drawn numbers several times. Each time, one choice must be right, and all must differ.
fn drawn(kernel: &Kernel, cell: &Cell) -> Option<Problem> {
    /// Number of draws that are checked: a rare fault may go unnoticed, but hardly one that every fifth learner would
    /// meet.
    const DRAWS: usize = 12;
    let CellKind::Predict(predict) = &cell.kind else { return None };
    let draws = if predict.is_drawn() { 1..DRAWS } else { 0..0 };
    draws.into_iter().find_map(|draw| {
        let fault = kernel.try_prediction(&cell.id, draw)?.fault?;
        let words = format!("the numbers of draw {}: {fault}", draw + 1);
        Some(Problem::of(cell, words, Spot::Field("draws")))
    })
}

fn exercise(kernel: &Kernel, cell: &Cell) -> Option<Problem> {
    let tried = |answer| kernel.try_exercise(&cell.id, answer);
    let (Some(start), Some(solved)) = (tried(TriedAnswer::Start), tried(TriedAnswer::Solution)) else {
        return Some(Problem::of(cell, NOT_RUN, Spot::Cell));
    };
    if is_right(&start) == Some(true) {
        return Some(Problem::of(cell, "its starting code already passes", Spot::Field("start")));
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

/// Returns whether the solution's and the expected numbers, which the learner sees side by side, differ. Other outputs,
/// such as bounds and words, are left to the exercise's check.
fn differs(case: &ComparedCase) -> bool {
    /// Tolerance of the comparison: less strict than checks are, and finer than what the learner sees.
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

/// Greatest time that judging all answers in a learner's file may take. Answers that are reached later are not judged.
const TIME_OF_A_WORK: Duration = Duration::from_secs(20);

/// Result of grading a learner's answer to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerMark {
    /// No answer.
    Open,
    Right,
    /// A wrong answer, with the lesson's feedback, the wrong choice, or the further case that failed, if any of these
    /// is known.
    Wrong(Option<Arc<str>>),
    /// An answer whose code has a fault. The message of the fault may be written by the learner's code, and not by the
    /// lesson.
    Failed(Arc<str>),
    /// An answer to another version of the question: the lesson has changed since.
    OfAnotherVersion,
    /// An answer that was not judged, because the time was used up or there was no model to judge it with.
    NotJudged,
}

/// A task, with the mark of a learner's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graded {
    pub task: String,
    pub mark: AnswerMark,
    pub tries: u32,
}

/// A task of a lesson: a prediction or an exercise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task<'a> {
    pub id: &'a str,
    pub ask: &'a str,
    /// The wrong choices of a prediction; none for an exercise.
    pub wrong: Vec<&'a str>,
}

/// A trained lesson that grades learners' files.
pub struct Grader {
    lesson: Arc<Lesson>,
    /// The exercises that have further cases, each with the number of cases in the lesson itself.
    own_cases: Vec<(String, usize)>,
    trained: Kernel,
    /// The right choice of each prediction, in the order of the cells; `None` if the model's answer could not be
    /// computed.
    right: Vec<(String, Option<usize>)>,
}

impl Grader {
    /// Trains the lesson, with a teacher's further cases, and determines the right answers of its predictions.
    pub fn new(mut lesson: Lesson, further: &FurtherCases) -> Self {
        let own = |cell: &Cell| match &cell.kind {
            CellKind::Exercise(exercise) => Some((cell.id.clone(), further.own(&cell.id, exercise)?)),
            _ => None,
        };
        let own_cases = lesson.cells.iter().filter_map(own).collect();
        further.add_to(&mut lesson);
        let lesson = Arc::new(lesson);
        let mut trained = Kernel::trained(lesson.clone());
        let predictions = lesson.cells.iter().filter(|cell| matches!(cell.kind, CellKind::Predict(_)));
        let right = predictions.map(|cell| (cell.id.clone(), answer_of(&mut trained, cell))).collect();
        Self { lesson, own_cases, trained, right }
    }

    /// Returns the lesson's tasks in order.
    pub fn tasks(&self) -> impl Iterator<Item = Task<'_>> {
        self.lesson.cells.iter().filter_map(|cell| match &cell.kind {
            CellKind::Predict(Predict { ask, choices, .. }) => {
                let right = self.right_choice(&cell.id);
                let wrong = choices.iter().enumerate().filter(|(place, _)| Some(*place) != right);
                Some(Task { id: &cell.id, ask, wrong: wrong.map(|(_, choice)| &**choice).collect() })
            }
            CellKind::Exercise(Exercise { ask, .. }) => Some(Task { id: &cell.id, ask, wrong: Vec::new() }),
            _ => None,
        })
    }

    fn right_choice(&self, id: &str) -> Option<usize> {
        self.right.iter().find(|(of, _)| of == id).and_then(|(_, right)| *right)
    }

    /// Returns the exercises that the lesson's own solution does not solve in the further cases, each with the reason.
    /// A case that the solution fails would mark right answers wrong.
    pub fn unsolved(&self) -> Vec<(&str, String)> {
        let unsolved = |(id, _): &'_ (String, usize)| {
            let solved = self.trained.try_exercise(id, TriedAnswer::Solution)?;
            (is_right(&solved) != Some(true)).then(|| why_not(&solved))
        };
        self.own_cases.iter().filter_map(|own| Some((own.0.as_str(), unsolved(own)?))).collect()
    }

    /// Returns the number, from 1, of the further case that an answer fails. Returns `None` if it fails no case, or one
    /// of the lesson's own cases.
    fn further_case(&self, id: &str, failed: Option<usize>) -> Option<usize> {
        let (_, own) = self.own_cases.iter().find(|(of, _)| of == id)?;
        failed?.checked_sub(*own).map(|case| case + 1)
    }

    /// Grades every task of the lesson in a learner's file.
    pub fn grade(&self, work: &Saved) -> Vec<Graded> {
        let mut judge = Judge { grader: self, work, allowance: Allowance::within(TIME_OF_A_WORK), own: None };
        let tasks = self.lesson.cells.iter().filter(|cell| cell.kind.is_task());
        tasks.map(|cell| judge.graded(cell)).collect()
    }
}

/// Returns the index of a prediction's right choice, or `None` if the model's answer could not be computed.
fn answer_of(kernel: &mut Kernel, cell: &Cell) -> Option<usize> {
    reveal(kernel, cell);
    match shown(kernel, cell)?.verdict {
        Some(Verdict::Prediction { right }) => Some(right),
        _ => None,
    }
}

/// Shortens the message of a fault so that it fits into a table. The learner's code may write a message of any length.
fn cut(fault: &str) -> Arc<str> {
    const CHARS_MAX: usize = 500;
    match fault.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &fault[..end]).into(),
        None => fault.into(),
    }
}

struct Judge<'g> {
    grader: &'g Grader,
    work: &'g Saved,
    allowance: Allowance,
    /// The learner's own model, restored once a task needs it.
    own: Option<Kernel>,
}

impl Judge<'_> {
    fn graded(&mut self, cell: &Cell) -> Graded {
        let answered = self.work.notebook.cells.iter().find(|answered| answered.id == cell.id && !answered.is_own);
        let tries = answered.map_or(0, SavedCell::tries);
        let mark = match (&cell.kind, answered) {
            (_, None) => AnswerMark::Open,
            (CellKind::Predict(predict), Some(answered)) => self.prediction(cell, predict, answered),
            (CellKind::Exercise(exercise), Some(answered)) => self.exercise(cell, exercise, answered),
            (_, Some(_)) => AnswerMark::Open,
        };
        Graded { task: cell.id.clone(), mark, tries }
    }

    fn prediction(&self, cell: &Cell, predict: &Predict, answered: &SavedCell) -> AnswerMark {
        let SavedAnswer::Predict { ask, choices, chosen, .. } = &answered.answer else { return AnswerMark::Open };
        let Some(chosen) = choices.get(*chosen) else { return AnswerMark::Open };
        // The question is asked with the numbers that this learner saw.
        let drawn = predict.is_drawn().then(|| self.grader.trained.try_prediction(&cell.id, answered.resets)).flatten();
        let right = match drawn.map(|outcome| outcome.verdict) {
            Some(Some(Verdict::Prediction { right })) => Some(right),
            _ => self.grader.right_choice(&cell.id),
        };
        let place = predict.choices.iter().position(|choice| **choice == **chosen);
        let (Some(place), true) = (place, **ask == *predict.ask) else {
            return AnswerMark::OfAnotherVersion;
        };
        if Some(place) == right { AnswerMark::Right } else { AnswerMark::Wrong(Some(chosen.as_str().into())) }
    }

    fn exercise(&mut self, cell: &Cell, exercise: &Exercise, answered: &SavedCell) -> AnswerMark {
        if let SavedAnswer::Exercise { ask, .. } = &answered.answer
            && **ask != *exercise.ask
        {
            return AnswerMark::OfAnotherVersion;
        }
        // The window accepts no other edits as an answer.
        let is_answer = |edit: &&SavedEdit| edit.kind == OwnKind::Code && edit.text.len() <= SOURCE_BYTES_MAX;
        let written = answered.edit.as_ref().filter(is_answer).map(|edit| &*edit.text);
        let outcome = match (&exercise.start, written) {
            _ if self.allowance.is_late() => return AnswerMark::NotJudged,
            (Some(_), Some(text)) => self.grader.trained.try_exercise(&cell.id, TriedAnswer::Text(text)),
            _ if answered.tries() == 0 => return AnswerMark::Open,
            (Some(_), None) => self.grader.trained.try_exercise(&cell.id, TriedAnswer::Start),
            // The answer is a change that the learner made to the model.
            (None, _) => self.own().and_then(|own| own.try_exercise(&cell.id, TriedAnswer::Start)),
        };
        match outcome {
            None => AnswerMark::NotJudged,
            Some(Outcome { fault: Some(fault), .. }) => AnswerMark::Failed(cut(&fault.to_string())),
            Some(Outcome { verdict: Some(Verdict::Exercise { is_right: true, .. }), .. }) => AnswerMark::Right,
            Some(Outcome { verdict: Some(Verdict::Exercise { feedback, failed_case, .. }), .. }) => {
                let further = self.grader.further_case(&cell.id, failed_case);
                let case =
                    further.map(|case| format!("Right in the lesson's cases, wrong in further case {case}.").into());
                match feedback {
                    // The feedback is either the lesson's, or the fault of a check that ran the answer.
                    Some(said) if exercise.feedback.iter().any(|own| *own.say == *said) => {
                        AnswerMark::Wrong(Some(said))
                    }
                    Some(fault) => AnswerMark::Failed(cut(&fault)),
                    None => AnswerMark::Wrong(case),
                }
            }
            Some(_) => AnswerMark::Wrong(None),
        }
    }

    /// Returns the learner's model as it was saved, or `None` if it could not be restored in the time left.
    fn own(&mut self) -> Option<&Kernel> {
        let (lesson, work, allowance) = (&self.grader.lesson, self.work, self.allowance);
        let own = self.own.get_or_insert_with(|| {
            let mut kernel = Kernel::open(lesson.clone(), Some(work.clone()));
            while kernel.is_busy() && !allowance.is_late() {
                kernel.advance();
            }
            kernel
        });
        (!own.is_busy()).then_some(&*own)
    }
}
