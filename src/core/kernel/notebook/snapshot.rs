//! The notebook as viewers see it.

use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::{Fault, Output, Variable};
use attune_engine::json::{self, beginning};
use serde::{Deserialize, Deserializer, Serialize};

use crate::kernel::notebook::document::{DOCUMENT_CELLS_MAX, DocumentCell};
use crate::kernel::notebook::live::LiveName;
use crate::kernel::notebook::live_text::LiveTextSnapshot;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NotebookSnapshot {
    pub cells: Vec<CellSnapshot>,
    pub auto_run: bool,
    /// Names of live tensors with what they are, for completion; the same `Arc` as long as nothing in it changes.
    pub live: Arc<[LiveName]>,
    /// Index of the first closed gate: the cells below it are hidden.
    pub closed_gate: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CellSnapshot {
    pub cell: Arc<DocumentCell>,
    pub status: CellStatus,
    /// The result of its last run.
    pub run: Option<Arc<RunSnapshot>>,
    /// Why its text cannot run at all, found without running it.
    pub mistake: Option<Arc<Fault>>,
    /// Its code reads the model, as far as is known: its answer is the model's, and not one of arithmetic alone.
    pub reads_model: bool,
    /// Another cell above defines this name too, and the cells below see this one's.
    pub shadows: Option<Arc<str>>,
    /// The expressions in its texts; `None` where it has none.
    pub live: Option<LiveTextSnapshot>,
}

impl CellSnapshot {
    /// True where it shows the result of an earlier session, and its text is the one that ran then.
    pub fn is_from_before(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.is_from_before && run.text == self.cell.text)
    }

    /// True where its result may no longer hold.
    pub fn is_stale(&self) -> bool {
        self.status == CellStatus::Stale && !self.is_from_before()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellStatus {
    /// Not run yet.
    #[default]
    New,
    /// `[*]`: it waits its turn or runs.
    Waiting,
    /// Its result follows from the cells above it and from the model as it is.
    Fresh,
    /// Something that it read, or its text, has changed since.
    Stale,
}

/// The result of a run, as viewers see it and as it is saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSnapshot {
    /// The text that ran.
    #[serde(with = "json::shared")]
    pub text: Arc<str>,
    /// `In[n]`, of code.
    pub number: Option<u64>,
    #[serde(serialize_with = "json::shared::serialize", deserialize_with = "first_outputs")]
    pub outputs: Arc<[Output]>,
    /// Outputs that were too large to be saved.
    #[serde(skip_serializing_if = "is_default")]
    pub left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// By the kernel's clock; zero without one.
    pub elapsed: Duration,
    /// Names of the variables and functions that the cells below see.
    #[serde(skip)]
    pub defined: Vec<String>,
    /// The variables among them, with what they hold; none of a run of an earlier session.
    #[serde(skip)]
    pub variables: Arc<[VariableSnapshot]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Wrote to the model.
    #[serde(skip_serializing_if = "is_default")]
    pub wrote: bool,
    /// Ran in an earlier session: its variables are not there until it runs again.
    #[serde(skip)]
    pub is_from_before: bool,
}

/// Outputs of a run that are read: more than any has.
const OUTPUTS_READ_MAX: usize = 10 * DOCUMENT_CELLS_MAX;

fn first_outputs<'de, D: Deserializer<'de>>(outputs: D) -> Result<Arc<[Output]>, D::Error> {
    beginning::<OUTPUTS_READ_MAX, D, Output>(outputs).map(Arc::from)
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A variable of code.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableSnapshot {
    pub name: String,
    /// As a cell would show it; long text is cut.
    pub value: Output,
}

impl VariableSnapshot {
    pub fn of(variable: &Variable) -> Option<Self> {
        /// More of a list is for a cell to show.
        const TEXT_MAX: usize = 400;
        let value = variable.output(TEXT_MAX)?;
        Some(Self { name: variable.name.clone(), value })
    }
}

/// The result of an exercise's check, or the model's answer to a prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    Exercise {
        is_right: bool,
        /// Outputs beside the check, without those that are compared.
        value: Vec<Output>,
        /// The answer beside what is expected, case by case.
        #[serde(default, skip_serializing_if = "is_default")]
        compared: Vec<ComparedCase>,
        /// Feedback on this wrong answer.
        #[serde(default, with = "json::maybe_shared")]
        feedback: Option<Arc<str>>,
        /// Which case it failed, from 0, where there are cases.
        failed_case: Option<usize>,
    },
    Prediction {
        /// Index into its choices.
        right: usize,
    },
}

/// An answer beside what is expected, in one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedCase {
    pub yours: Output,
    pub expected: Output,
    pub is_right: bool,
}
