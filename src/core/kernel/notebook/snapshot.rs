//! The snapshot of the notebook for viewers.

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
    /// Names of live tensors with their meanings, for completion. The `Arc` is replaced only when they change.
    pub live: Arc<[LiveName]>,
    /// Index of the first closed gate, below which cells are hidden.
    pub closed_gate: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CellSnapshot {
    pub cell: Arc<DocumentCell>,
    pub status: CellStatus,
    /// Result of the last run.
    pub run: Option<Arc<RunSnapshot>>,
    /// A mistake that prevents the code from running, found without running it.
    pub mistake: Option<Arc<Fault>>,
    /// Whether the code is known to read the model, so that the result depends on the model and is not mere arithmetic.
    pub reads_model: bool,
    /// A name that both this cell and a cell above define; the cells below see the definition in this cell.
    pub shadows: Option<Arc<str>>,
    /// The expressions in the cell's texts, if there are any.
    pub live: Option<LiveTextSnapshot>,
    /// The indices of the choices of a question with drawn numbers, in the order in which they are shown; empty for any
    /// other cell.
    pub order: Vec<usize>,
}

impl CellSnapshot {
    /// Returns whether the result is from an earlier session and from the present text.
    pub fn is_from_before(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.is_from_before && *run.text == *self.cell.text)
    }

    /// Returns whether the result is stale. A result from an earlier session is not, as long as the text is the same.
    pub fn is_stale(&self) -> bool {
        self.status == CellStatus::Stale && !self.is_from_before()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellStatus {
    /// A cell that has not run.
    #[default]
    New,
    /// A cell that runs or waits to run, which is shown as `[*]`.
    Waiting,
    /// A cell whose result is up to date with the cells above and the model.
    Fresh,
    /// A cell whose text, or something that it read, has changed since it ran.
    Stale,
}

/// The result of a run, as it is shown and saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSnapshot {
    /// The text that ran.
    #[serde(with = "json::shared")]
    pub text: Arc<str>,
    /// Number of a code cell's run, `In[n]`.
    pub number: Option<u64>,
    #[serde(serialize_with = "json::shared::serialize", deserialize_with = "first_outputs")]
    pub outputs: Arc<[Output]>,
    /// Number of outputs that were too large to be saved.
    #[serde(skip_serializing_if = "is_default")]
    pub left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Duration by the kernel's clock; zero without a clock.
    pub elapsed: Duration,
    /// Names of the variables and functions that the cells below can read.
    #[serde(skip)]
    pub defined: Vec<String>,
    /// Variables among `defined`, with their values; empty for a run of an earlier session.
    #[serde(skip)]
    pub variables: Arc<[VariableSnapshot]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether the run wrote to the model.
    #[serde(skip_serializing_if = "is_default")]
    pub wrote: bool,
    /// Whether the run is from an earlier session, so that its variables do not exist until the cell runs again.
    #[serde(skip)]
    pub is_from_before: bool,
}

/// Greatest number of outputs of a run that are read; no run has more.
const OUTPUTS_READ_MAX: usize = 10 * DOCUMENT_CELLS_MAX;

fn first_outputs<'de, D: Deserializer<'de>>(outputs: D) -> Result<Arc<[Output]>, D::Error> {
    beginning::<OUTPUTS_READ_MAX, D, Output>(outputs).map(Arc::from)
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A variable that a cell defined, as it is shown to the learner.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableSnapshot {
    pub name: String,
    /// The value as a cell would show it, with long text cut.
    pub value: Output,
}

impl VariableSnapshot {
    pub fn of(variable: &Variable) -> Option<Self> {
        /// Greatest length of the text of a variable's value; the cell's own output can show more of a list.
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
        /// Outputs of the exercise's `value`, without the one that is compared.
        value: Vec<Output>,
        /// The answer's result beside the expected one, for each case.
        #[serde(default, skip_serializing_if = "is_default")]
        compared: Vec<ComparedCase>,
        /// Feedback on the wrong answer.
        #[serde(default, with = "json::maybe_shared")]
        feedback: Option<Arc<str>>,
        /// Index of the first failed case, or `None` if the answer is right or the exercise has no cases.
        failed_case: Option<usize>,
    },
    Prediction {
        /// Index of the right choice.
        right: usize,
    },
}

/// The answer's result beside the expected one, in one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedCase {
    pub yours: Output,
    pub expected: Output,
    pub is_right: bool,
}
