//! The kinds of cells as the notebook treats them: the one place that says how a kind behaves, for the kernel, the
//! view models and the window.

use serde::{Deserialize, Serialize};

use crate::lesson::cells::{Bind, CellKind, Exercise, Predict, Slider};

/// The behaviour of a kind.
pub struct Behaviour<'a> {
    /// The lesson's text of a cell that the learner may write in.
    pub text: Option<&'a str>,
    /// Its place among the kinds that learners write.
    pub own: Option<OwnKind>,
    pub runs: Runs<'a>,
    pub first_answer: Answer,
    /// The task, as a word above it; empty where there is none.
    pub title: &'static str,
    /// Words whose first line stands for a folded cell; `None` for those written in it.
    pub summary: Option<&'a str>,
}

/// The code that a cell runs.
pub enum Runs<'a> {
    Nothing,
    /// Its own text.
    Code {
        /// Such a cell is there to fail.
        fails: bool,
        /// The cell runs by itself.
        is_unasked: bool,
    },
    /// The learner's answer, and the lesson's check of it.
    Exercise(&'a Exercise),
    /// The lesson's question to the model.
    Predict(&'a Predict),
}

impl<'a> Behaviour<'a> {
    pub fn of(kind: &'a CellKind) -> Self {
        /// A cell to look at, with nothing to write, run or answer.
        const STILL: Behaviour<'_> = Behaviour {
            text: None,
            own: None,
            runs: Runs::Nothing,
            first_answer: Answer::None,
            title: "",
            summary: None,
        };
        match kind {
            CellKind::Text { markdown } => Self { text: Some(markdown), own: Some(OwnKind::Text), ..STILL },
            CellKind::Code { source, fails, .. } => {
                let runs = Runs::Code { fails: *fails, is_unasked: false };
                Self { text: Some(source), own: Some(OwnKind::Code), runs, ..STILL }
            }
            CellKind::Plot { source, .. } => {
                Self { text: Some(source), runs: Runs::Code { fails: false, is_unasked: true }, ..STILL }
            }
            CellKind::Stage { caption, .. } | CellKind::Gate { caption, .. } => {
                Self { summary: Some(caption), ..STILL }
            }
            CellKind::Slider(slider) => {
                Self { first_answer: first_value(slider), summary: Some(&slider.caption), ..STILL }
            }
            CellKind::Predict(predict) => Self {
                runs: Runs::Predict(predict),
                first_answer: Answer::Predict { chosen: None, is_locked: false },
                title: "Predict",
                summary: Some(&predict.ask),
                ..STILL
            },
            CellKind::Exercise(exercise) => Self {
                text: exercise.start.as_deref(),
                runs: Runs::Exercise(exercise),
                first_answer: Answer::Exercise(Attempts::default()),
                title: "Exercise",
                summary: Some(&exercise.ask),
                ..STILL
            },
        }
    }
}

/// A slider that turns a variable holds its value; any other turns what is elsewhere.
fn first_value(slider: &Slider) -> Answer {
    match slider.bind {
        Bind::Variable(_) => Answer::Slider(slider.start.unwrap_or(f64::midpoint(slider.range.0, slider.range.1))),
        Bind::Temperature | Bind::Time | Bind::Mask | Bind::Weight { .. } => Answer::None,
    }
}

/// The learner's answer in a cell, besides its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Answer {
    #[default]
    None,
    /// Value of a slider that is bound to a variable.
    Slider(f64),
    Predict {
        chosen: Option<usize>,
        /// The answer is given and the truth is shown.
        is_locked: bool,
    },
    Exercise(Attempts),
    /// A gate that the learner went past.
    Skipped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attempts {
    pub tried: u32,
    /// Hints that are open.
    pub hints: usize,
    /// The solution is open.
    pub is_revealed: bool,
    /// Passed at least once.
    pub is_passed: bool,
}

/// The kinds of cells that a learner writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnKind {
    Text,
    Code,
}

impl OwnKind {
    pub(super) fn kind(self, text: &str) -> CellKind {
        match self {
            Self::Text => CellKind::Text { markdown: text.to_owned() },
            Self::Code => CellKind::Code { source: text.to_owned(), fails: false, asserts: String::new() },
        }
    }
}
