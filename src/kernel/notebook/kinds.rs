//! The kinds of cells as the notebook treats them: the one place of the kernel that a new kind has to name.

use crate::lesson::cells::{CellKind, Exercise, Predict};

/// The behaviour of a kind.
pub struct Behaviour<'a> {
    /// The lesson's text of a cell that the learner may write in.
    pub text: Option<&'a str>,
    pub runs: Runs<'a>,
}

/// The code that a cell runs.
pub enum Runs<'a> {
    Nothing,
    /// Its own text.
    Code {
        /// It is there to fail.
        fails: bool,
    },
    /// The learner's answer, and the lesson's check of it.
    Exercise(&'a Exercise),
    /// The lesson's question to the model.
    Predict(&'a Predict),
}

impl<'a> Behaviour<'a> {
    pub fn of(kind: &'a CellKind) -> Self {
        let (text, runs) = match kind {
            CellKind::Text { markdown } => (Some(markdown.as_str()), Runs::Nothing),
            CellKind::Code { source, fails } => (Some(source.as_str()), Runs::Code { fails: *fails }),
            CellKind::Plot { source, .. } => (Some(source.as_str()), Runs::Code { fails: false }),
            CellKind::Exercise(exercise) => (exercise.start.as_deref(), Runs::Exercise(exercise)),
            CellKind::Predict(predict) => (None, Runs::Predict(predict)),
            CellKind::Stage { .. } | CellKind::Slider(_) | CellKind::Gate { .. } => (None, Runs::Nothing),
        };
        Self { text, runs }
    }
}
