//! Commands: the only way to change a kernel.

use super::notebook::NotebookCommand;
use crate::lesson::Recipe;
use crate::numerics::attention::Mask;
use crate::numerics::model::generate::Choice;
use crate::numerics::params::TensorId;
use crate::numerics::projection::AXES;

/// One change. Applied in one place, [`super::state::Kernel::apply`].
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Train until the last step, a stop rule of the lesson or [`Command::Pause`]. Where a past step is
    /// shown, that look ends: training goes on from the latest step, and nothing of it is lost. To go
    /// on from the past step, [`Command::Branch`] first.
    Play,
    /// Stand still; a lesson that is being trained again is given up.
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
    /// Train the lesson again from scratch, static vectors and model, with the recipe applied to it; the
    /// default recipe is the lesson's own. What there is stays until the new is at its end, and then goes
    /// as a whole: weights that were turned, a look back and branches are the old model's, and undo brings
    /// them back with it. Sentence, temperature, scale and mask stay; heads keep what they do as far as
    /// there are so many, frozen ones become live. Cells that read tensors are stale, as after a reset.
    /// A newer recipe takes the place of one under way at once. Successive changes of the same thing undo
    /// as one.
    Retrain(Box<Recipe>),
    /// What the weights in use are compared with in the snapshot.
    Compare(Option<Reference>),
    /// Set one entry of a tensor. Successive sets of one entry undo as one.
    SetWeight {
        tensor: TensorId,
        row: usize,
        col: usize,
        value: f32,
    },
    /// Go over entries of a tensor with a brush. All that is painted in one stroke undoes as one.
    Paint {
        tensor: TensorId,
        /// Rows and columns.
        entries: Vec<(usize, usize)>,
        brush: Brush,
        /// Any number that the stroke before did not have.
        stroke: u64,
    },
    /// Add to every entry of a tensor a number drawn evenly from `±scale`; the same draw draws the same.
    Perturb {
        tensor: TensorId,
        scale: f32,
        draw: u64,
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
    /// What a head does. Heads are counted over all blocks, the source's first. Training knows of no
    /// intervention: it goes on with all heads live.
    SetHead {
        head: usize,
        setting: HeadSetting,
    },
    /// Only this head takes part; `None`: all do.
    SoloHead(Option<usize>),
    /// What scores are divided by, instead of the lesson's; successive sets undo as one.
    SetTemperature(Option<f64>),
    /// Whether scores are divided by `√d_k`, instead of as the lesson says.
    SetScale(Option<bool>),
    /// One query of the sentence sees one key, or no longer does.
    ToggleMask {
        query: usize,
        key: usize,
    },
    /// Who sees whom, for the sentence on the stage; `None`: the lesson's.
    SetMask(Option<Mask>),
    /// The mask is the lesson's again.
    ResetMask,
    /// Nothing of the above is changed.
    ResetInterventions,
    /// Write so many words after the sentence, or, where it is a source, from it; with the weights in
    /// use and no other intervention. They stay in the snapshot until the sentence changes.
    Generate {
        count: usize,
        choice: Choice,
    },
    /// Show one of the lesson's sentences.
    SelectSentence(usize),
    /// Show a sentence of the learner's own.
    SetSentence(String),
    /// The same while it is being typed: successive ones undo as one.
    TypeSentence(String),
    /// A second sentence beside the one on the stage, with the same weights; `None`: no more. Successive
    /// sentences undo as one.
    SetSecondSentence(Option<String>),
    /// The axes become the principal components of the vectors that are on the stage now: the static
    /// ones of the words that the lesson names, and the outputs of the sentences. Chosen axes stay.
    Refit,
    /// An axis from the centre of one group of words to that of another; the axes that are not chosen
    /// are the principal components of what is left at right angles to the chosen ones.
    SetAxis {
        axis: Axis,
        /// See [`super::word_group`].
        from: String,
        to: String,
    },
    /// An axis is a principal component again.
    ResetAxis(Axis),
    /// The axes are those of the lesson's beginning.
    ResetBasis,
    /// Change the notebook, or run cells of it.
    Notebook(NotebookCommand),
    Undo,
    Redo,
}

/// Of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    pub const ALL: [Self; AXES] = [Self::X, Self::Y, Self::Z];

    pub fn index(self) -> usize {
        self as usize
    }

    pub fn letter(self) -> &'static str {
        ["X", "Y", "Z"][self.index()]
    }
}

impl Command {
    /// It changes weights or steps, rather than what is shown of them.
    pub(super) fn concerns_training(&self) -> bool {
        use Command::*;
        match self {
            Play
            | Pause
            | Step(_)
            | ResetTraining
            | Scrub(_)
            | ShowLatest
            | Branch
            | SetLearningRate(_)
            | Compare(_)
            | SetWeight { .. }
            | ResetWeight { .. }
            | ResetTensor(_)
            | ResetWeights
            | Retrain(_)
            | Paint { .. }
            | Perturb { .. } => true,
            SetHead { .. }
            | SoloHead(_)
            | SetTemperature(_)
            | SetScale(_)
            | ToggleMask { .. }
            | SetMask(_)
            | ResetMask
            | ResetInterventions
            | Generate { .. }
            | SelectSentence(_)
            | SetSentence(_)
            | TypeSentence(_)
            | SetSecondSentence(_)
            | Refit
            | SetAxis { .. }
            | ResetAxis(_)
            | ResetBasis
            | Notebook(_)
            | Undo
            | Redo => false,
        }
    }
}

/// What a brush does to an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Brush {
    Set(f32),
    Add(f32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeadSetting {
    Live,
    /// It mixes nothing.
    Off,
    /// Every key that a query sees weighs the same.
    Uniform,
    /// The weights stay as they are now, until another sentence is shown.
    Frozen,
    /// What it mixes counts so many times, from 0, off, over 1, live; successive gains of a head undo as one.
    Gain(f32),
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
