//! Judges a learner's answers by the lesson's own checks, not by what the learner's file says of them.

use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::budget::{Allowance, SOURCE_BYTES_MAX};

use super::rehearsal::{reveal, shown};
use crate::kernel::notebook::document::OwnKind;
use crate::kernel::notebook::execution::Answered;
use crate::kernel::notebook::runs::Outcome;
use crate::kernel::notebook::saved::{SavedAnswer, SavedCell, SavedEdit};
use crate::kernel::notebook::snapshot::Verdict;
use crate::kernel::persist::saved::Saved;
use crate::kernel::state::Kernel;
use crate::lesson::Lesson;
use crate::lesson::cells::{Cell, CellKind, Exercise, Predict};

/// Time for all answers of one work together; those for which none is left are not judged.
const TIME_OF_A_WORK: Duration = Duration::from_secs(20);

/// How an answer stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing was answered.
    Open,
    Right,
    /// With the lesson's feedback on it.
    Wrong(Option<Arc<str>>),
    /// The answer's code ends in a fault: the learner's words, not the lesson's.
    Failed(Arc<str>),
    /// Another question was answered: the lesson has changed.
    OfAnotherVersion,
    /// The other answers took all the time.
    NotJudged,
}

/// A task with a learner's answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graded {
    pub task: String,
    pub mark: Mark,
    pub tries: u32,
}

/// A trained lesson that judges works.
pub struct Grader {
    lesson: Arc<Lesson>,
    trained: Kernel,
    /// The right choice of each prediction, in the order of the cells.
    right: Vec<(String, Option<usize>)>,
}

impl Grader {
    /// Trains the lesson, and answers its predictions.
    pub fn new(lesson: Arc<Lesson>) -> Self {
        let mut trained = Kernel::trained(lesson.clone());
        let predictions = lesson.cells.iter().filter(|cell| matches!(cell.kind, CellKind::Predict(_)));
        let right = predictions.map(|cell| (cell.id.clone(), answer_of(&mut trained, cell))).collect();
        Self { lesson, trained, right }
    }

    /// The lesson's tasks, in its order, with their questions.
    pub fn tasks(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lesson.cells.iter().filter_map(|cell| match &cell.kind {
            CellKind::Predict(Predict { ask, .. }) | CellKind::Exercise(Exercise { ask, .. }) => {
                Some((&*cell.id, &**ask))
            }
            _ => None,
        })
    }

    /// Judges every task of the lesson in a work.
    pub fn grade(&self, work: &Saved) -> Vec<Graded> {
        let mut judge = Judge { grader: self, work, allowance: Allowance::within(TIME_OF_A_WORK), own: None };
        let tasks = self.lesson.cells.iter().filter(|cell| cell.kind.is_task());
        tasks.map(|cell| judge.graded(cell)).collect()
    }
}

/// The place of a prediction's right choice.
fn answer_of(kernel: &mut Kernel, cell: &Cell) -> Option<usize> {
    reveal(kernel, cell);
    match shown(kernel, cell)?.verdict {
        Some(Verdict::Prediction { right }) => Some(right),
        _ => None,
    }
}

/// A fault, of which a learner's code may have made the words, as a table has room for it.
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
    /// The learner's own model, once a task needs it.
    own: Option<Kernel>,
}

impl Judge<'_> {
    fn graded(&mut self, cell: &Cell) -> Graded {
        let answered = self.work.notebook.cells.iter().find(|answered| answered.id == cell.id && !answered.is_own);
        let tries = answered.map_or(0, SavedCell::tries);
        let mark = match (&cell.kind, answered) {
            (_, None) => Mark::Open,
            (CellKind::Predict(predict), Some(answered)) => self.prediction(cell, predict, &answered.answer),
            (CellKind::Exercise(exercise), Some(answered)) => self.exercise(cell, exercise, answered),
            (_, Some(_)) => Mark::Open,
        };
        Graded { task: cell.id.clone(), mark, tries }
    }

    fn prediction(&self, cell: &Cell, predict: &Predict, answer: &SavedAnswer) -> Mark {
        let SavedAnswer::Predict { ask, choices, chosen, .. } = answer else { return Mark::Open };
        let Some(chosen) = choices.get(*chosen) else { return Mark::Open };
        let right = self.grader.right.iter().find(|(id, _)| *id == cell.id).and_then(|(_, right)| *right);
        let (Some(place), true) = (predict.choices.iter().position(|choice| choice == chosen), *ask == predict.ask)
        else {
            return Mark::OfAnotherVersion;
        };
        if Some(place) == right { Mark::Right } else { Mark::Wrong(Some(chosen.as_str().into())) }
    }

    fn exercise(&mut self, cell: &Cell, exercise: &Exercise, answered: &SavedCell) -> Mark {
        if let SavedAnswer::Exercise { ask, .. } = &answered.answer
            && *ask != exercise.ask
        {
            return Mark::OfAnotherVersion;
        }
        // The window takes no other edit for an answer.
        let is_answer = |edit: &&SavedEdit| edit.kind == OwnKind::Code && edit.text.len() <= SOURCE_BYTES_MAX;
        let written = answered.edit.as_ref().filter(is_answer).map(|edit| &*edit.text);
        let outcome = match (&exercise.start, written) {
            _ if self.allowance.is_late() => return Mark::NotJudged,
            (Some(_), Some(text)) => self.grader.trained.try_exercise(&cell.id, Answered::Text(text)),
            _ if answered.tries() == 0 => return Mark::Open,
            (Some(_), None) => self.grader.trained.try_exercise(&cell.id, Answered::Start),
            // The answer is what the learner turned.
            (None, _) => self.own().and_then(|own| own.try_exercise(&cell.id, Answered::Start)),
        };
        match outcome {
            None => Mark::NotJudged,
            Some(Outcome { fault: Some(fault), .. }) => Mark::Failed(cut(&fault.to_string())),
            Some(Outcome { verdict: Some(Verdict::Exercise { is_right: true, .. }), .. }) => Mark::Right,
            Some(Outcome { verdict: Some(Verdict::Exercise { feedback, .. }), .. }) => match feedback {
                // The lesson's own words, or else the fault of a check that the answer is in.
                Some(said) if exercise.feedback.iter().any(|own| *own.say == *said) => Mark::Wrong(Some(said)),
                Some(fault) => Mark::Failed(cut(&fault)),
                None => Mark::Wrong(None),
            },
            Some(_) => Mark::Wrong(None),
        }
    }

    /// The learner's model as it was left; none where there was no time to bring it back.
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
