//! The last run of each cell, and the names in its text.

use std::sync::Arc;

use attune_engine::code::{Fault, Functions, Names, Output, Variable, names};

use crate::kernel::notebook::dependencies::Source;
use crate::kernel::notebook::live::Follows;
use crate::kernel::notebook::snapshot::{RunSnapshot, Verdict};

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
    pub reads: Vec<(String, Source)>,
    /// The most that its result depends on, through the cells that it reads too.
    pub follows: Follows,
    pub defined: Vec<Variable>,
    pub functions: Functions,
    pub shown: Arc<RunSnapshot>,
    /// Memory that keeping it takes.
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
