//! Faults of code cells as messages for the learner.

use std::fmt;

use rhai::{Dynamic, EvalAltResult, Position};
use serde::{Deserialize, Serialize};

use crate::messages::cut;

/// Longest message and longest hint, in characters, with the sign of a cut. Both quote names of the code, which may be
/// as long as the code.
const WORDS_CHARS_MAX: usize = 401;

/// A message, a hint that may help, and the place in the text if it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fault {
    pub message: String,
    pub hint: Option<String>,
    pub place: Option<LineColumn>,
}

/// A line and a column of a text, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineColumn {
    pub line: usize,
    pub column: usize,
}

impl LineColumn {
    /// The first character of a cell, the place of a fault of the whole cell.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: cut(&message.into(), WORDS_CHARS_MAX), ..Self::default() }
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(cut(&hint.into(), WORDS_CHARS_MAX)), ..self }
    }

    /// Puts the name of a function before the message.
    pub fn of(self, function: &str) -> Self {
        Self { message: cut(&format!("{function}: {}", self.message), WORDS_CHARS_MAX), ..self }
    }

    pub fn at(self, place: Option<LineColumn>) -> Self {
        Self { place: self.place.or(place), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for Box<EvalAltResult> {
    fn from(fault: Fault) -> Self {
        EvalAltResult::ErrorRuntime(Dynamic::from(fault), Position::NONE).into()
    }
}
