//! Commands: the only way to change a kernel.

use crate::numerics::params::TensorId;

/// One change. Applied in one place, [`super::state::Kernel::apply`].
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Train until the last step or [`Command::Pause`].
    Play,
    Pause,
    /// Train this many steps, then stand still.
    Step(usize),
    /// Back to the same initialisation, at step 0.
    ResetTraining,
    /// Set one entry of a tensor. Successive sets of one entry undo as one.
    SetWeight {
        tensor: TensorId,
        row: usize,
        col: usize,
        value: f32,
    },
    /// One entry back to what training left there.
    ResetWeight {
        tensor: TensorId,
        row: usize,
        col: usize,
    },
    /// A whole tensor back to what training left there.
    ResetTensor(TensorId),
    /// All tensors back to what training left there.
    ResetWeights,
    /// Take part of the heads out of the sum, or put one back.
    SetHeadEnabled {
        head: usize,
        enabled: bool,
    },
    /// Only this head takes part; `None`: all do.
    SoloHead(Option<usize>),
    /// Show one of the lesson's sentences.
    SelectSentence(usize),
    /// Show a sentence of the learner's own.
    SetSentence(String),
    Undo,
    Redo,
}
