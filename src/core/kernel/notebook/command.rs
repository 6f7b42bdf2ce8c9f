//! Commands of the notebook.

use std::sync::Arc;

use crate::kernel::notebook::document::{CellId, OwnKind};

/// One change of the notebook, applied as every [`Command`](crate::kernel::Command).
#[derive(Clone, Debug, PartialEq)]
pub enum NotebookCommand {
    Cell(CellId, CellCommand),
    /// Run every cell, from the top.
    RunAll,
    /// Forget every variable and output.
    Restart,
    /// End what runs and what waits. The flag of [`Worker::interrupt`](crate::kernel::Worker::interrupt)
    /// ends a run that is under way.
    Interrupt,
    /// Cells run again by themselves when what they read has changed.
    SetAutoRun(bool),
    /// The notebook as the lesson gives it.
    Reset,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CellCommand {
    /// Successive texts of one cell undo as one.
    SetText(Arc<str>),
    /// Runs the cell; tries an exercise.
    Run,
    RunAbove,
    ClearOutputs,
    Insert {
        kind: OwnKind,
        is_above: bool,
    },
    Delete,
    /// By so many places down, or up where negative.
    Shift(isize),
    /// At a byte of its text.
    Split(usize),
    MergeBelow,
    SetKind(OwnKind),
    Fold(bool),
    SetAutoRun(bool),
    /// Turn a slider; its successive moves undo as one.
    Slide(f64),
    /// Choose an answer of a prediction.
    Choose(usize),
    /// Lock the prediction and ask the model; or show an exercise's solution.
    Reveal,
    /// The next hint of an exercise.
    Hint,
    /// Go past a gate.
    Skip,
    /// End a conflict between the learner's text and the lesson's newer one.
    Settle {
        keep_mine: bool,
    },
    /// The cell as the lesson gives it.
    Reset,
}
