//! What the last run of each cell left, and the names in its text.

use std::sync::Arc;

use super::dependencies::Source;
use super::snapshot::{RunSnapshot, Verdict};
use crate::code::{Fault, Functions, Names, Output, Variable, names};

/// The names of a text, found once for each text.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub text: Arc<str>,
    pub names: Result<Arc<Names>, Arc<Fault>>,
}

impl Analysis {
    pub fn of(text: Arc<str>) -> Self {
        let names = names(&text).map(Arc::new).map_err(Arc::new);
        Self { text, names }
    }
}

/// What a run left.
#[derive(Clone, Debug)]
pub struct CellRun {
    /// Grows with every run.
    pub serial: u64,
    /// The text that ran.
    pub text: Arc<str>,
    /// Each name that it read, with where it came from.
    pub reads: Vec<(String, Source)>,
    pub defined: Vec<Variable>,
    pub functions: Functions,
    /// It wrote to the model.
    pub wrote: bool,
    pub shown: Arc<RunSnapshot>,
}

impl CellRun {
    /// Names that the cells below see.
    pub fn defines(&self) -> impl Iterator<Item = &str> {
        self.defined.iter().map(|variable| variable.name.as_str()).chain(self.functions.names())
    }
}

/// What came of a run, before the notebook takes it in.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub outputs: Vec<Output>,
    pub fault: Option<Fault>,
    pub defined: Vec<Variable>,
    pub functions: Functions,
    pub wrote: bool,
    pub verdict: Option<Verdict>,
}
