//! Commands: the only way to change a kernel.

use crate::numerics::params::TensorId;

/// One change. Applied in one place, [`super::state::Kernel::apply`].
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Train until the last step, a stop rule of the lesson or [`Command::Pause`]. Where a past step is
    /// shown, that look ends: training goes on from the latest step, and nothing of it is lost. To go
    /// on from the past step, [`Command::Branch`] first.
    Play,
    Pause,
    /// Train this many steps, then stand still; from the latest step, as [`Command::Play`].
    Step(usize),
    /// Back to the same initialisation, at step 0.
    ResetTraining,
    /// Show the model as it was after this step of the training, exactly; the later ones stay, and
    /// training stands still. Successive looks undo as one.
    Scrub(usize),
    /// Show the latest step again.
    ShowLatest,
    /// What is shown, a past step with the weights turned there, becomes the latest of a line of its own.
    /// Training stands still there until it is asked to play; the line that is left can be undone to.
    Branch,
    /// From the next step on; training and optimiser go on. Successive changes undo as one.
    SetLearningRate(f64),
    /// What the weights in use are compared with in the snapshot.
    Compare(Option<Reference>),
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

/// Weights to compare those in use with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// As training left them at the step that is shown.
    Trained,
    /// The initialisation.
    Start,
    /// After a step of the training.
    Step(usize),
}
