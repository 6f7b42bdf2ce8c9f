//! The scope of a cell: everything that it can use when it runs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhai::AST;

use super::budget::Allowance;
use super::model::RunnableModel;
use super::value::Variable;

/// A variable that is in scope before a cell runs.
#[derive(Clone, Debug)]
pub struct Given {
    pub variable: Variable,
    /// Reason why the variable cannot be written to; `None` if it can.
    pub fixed: Option<String>,
}

impl Given {
    pub fn writable(variable: Variable) -> Self {
        Self { variable, fixed: None }
    }

    /// Makes a variable that cannot be written to. `why` ends the sentence "`Q` cannot be changed: …".
    pub fn fixed(variable: Variable, why: impl Into<String>) -> Self {
        Self { variable, fixed: Some(why.into()) }
    }
}

/// Everything that a cell can use when it runs.
#[derive(Clone, Debug, Default)]
pub struct Scope<'a> {
    pub given: Vec<Given>,
    /// Names that exist but are not given, because the cell's text does not read them.
    pub others: &'a [String],
    pub functions: Functions,
    /// The model that `forward` runs, if there is one.
    pub model: Option<RunnableModel>,
    /// Seed of the cell's random numbers.
    pub seed: u64,
    /// Flag by which another thread ends the run.
    pub stop: Arc<AtomicBool>,
    pub allowance: Allowance,
}

impl Scope<'_> {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let given = self.given.iter().map(|given| given.variable.name.as_str());
        given.chain(self.others.iter().map(String::as_str))
    }
}

/// Functions that cells define.
#[derive(Clone, Debug, Default)]
pub struct Functions(pub(super) AST);

impl Functions {
    /// Adds other functions; those of `later` replace functions with the same name and number of parameters.
    #[must_use]
    pub fn with(mut self, later: &Self) -> Self {
        self.0.combine(later.0.clone());
        self
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter_functions().map(|function| function.name)
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter_functions().next().is_none()
    }

    pub fn without(&self, names: &BTreeSet<String>) -> Self {
        let mut own = self.0.clone();
        own.retain_functions(|_, _, name, _| !names.contains(name));
        Self(own)
    }
}
