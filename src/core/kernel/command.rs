//! Commands: the only way to change a kernel, and the form in which a learner's work is kept. Each owner of
//! state has its own.

pub use crate::kernel::sentence_pass::senses::{SenseList, SenseSentence};
pub use crate::kernel::training::weights::Reference;
pub use crate::kernel::values::space::Axis;
use std::ops::Range;
use std::sync::Arc;

use attune_engine::json;
use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskTable};
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::{Interventions, Patch};
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::params::{Parameters, TensorId};
use serde::{Deserialize, Serialize};

use crate::kernel::notebook::NotebookCommand;
use crate::lesson::Recipe;
use crate::lesson::issue::shorten;

/// One change, applied by [`Kernel::apply`](super::Kernel::apply), which hands it to its owner.
///
/// Written, it is a part of [saved work](super::Saved); variants that leave nothing in that, or stand in it as what
/// they led to, have no written form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    Training(TrainingCommand),
    Weights(WeightCommand),
    Interventions(InterventionCommand),
    Sentence(SentenceCommand),
    Axes(AxisCommand),
    Senses(SenseCommand),
    /// Changes the notebook, or runs cells of it.
    #[serde(skip)]
    Notebook(NotebookCommand),
    /// Trains the lesson again from scratch, static vectors and model, with the recipe applied to it; the
    /// default recipe is the lesson's own. The present model stays until the new one is trained, and then goes
    /// as a whole: edited weights, a replay and branches belong to the old model, and undo brings
    /// them back with it. Sentence, temperature, scale and mask stay; heads keep their settings and removed edges as far as
    /// the new model has the same layer with so many heads, frozen ones become live, and a patch ends; the notice names
    /// changes in layers that the new model does not have. Cells that read tensors are stale,
    /// as after a reset. A newer recipe takes the place of one under way at once. Successive changes of the same thing
    /// undo as one.
    Retrain(Box<Recipe>),
    /// Measures a model that was opened as a folder, and writes a tour of it into a notebook in which nothing is
    /// written yet; see [`super::tour`]. Asked for once: what the learner then makes of its cells stays.
    #[serde(skip)]
    Tour,
    #[serde(skip)]
    Undo,
    #[serde(skip)]
    Redo,
}

impl Command {
    /// True of a step through the history.
    pub(super) fn is_step(&self) -> bool {
        matches!(self, Self::Undo | Self::Redo)
    }

    /// True of what changes the work that is saved, rather than what is looked at or under way.
    pub(super) fn changes_work(&self) -> bool {
        !matches!(
            self,
            Self::Tour
                | Self::Training(TrainingCommand::Compare(_))
                | Self::Sentence(SentenceCommand::Generate { .. })
                | Self::Notebook(NotebookCommand::Interrupt)
        )
    }

    /// True of what changes weights or the forward pass, or would run the model again: not possible with a recording.
    pub(super) fn needs_model(&self) -> bool {
        match self {
            Self::Training(command) => !matches!(
                command,
                TrainingCommand::Play
                    | TrainingCommand::Pause
                    | TrainingCommand::TrainTo(_)
                    | TrainingCommand::ShowLatest
                    | TrainingCommand::Compare(None)
            ),
            Self::Weights(_) | Self::Interventions(_) | Self::Retrain(_) => true,
            Self::Sentence(command) => matches!(
                command,
                SentenceCommand::Ids(_) | SentenceCommand::Words(_) | SentenceCommand::Generate { .. }
            ),
            Self::Axes(_) | Self::Senses(_) | Self::Notebook(_) | Self::Tour | Self::Undo | Self::Redo => false,
        }
    }

    /// Says that a saved command could not be applied again.
    pub(super) fn left_out(&self, why: &str) -> String {
        match self {
            Self::Sentence(SentenceCommand::SetSecond(_)) => format!("The second sentence is left out: {why}."),
            Self::Sentence(_) => format!("The sentence on the stage is not the one that you left: {why}."),
            Self::Senses(_) => format!("The list of senses is left out: {why}."),
            Self::Axes(AxisCommand::Set { axis, .. }) => format!("Axis {} is left out: {why}.", axis.letter()),
            Self::Axes(_) => format!("The axes are not as you left them: {why}."),
            Self::Interventions(command) => command.left_out(why),
            Self::Weights(_) => format!("Your change of a weight is left out: {why}."),
            Self::Training(TrainingCommand::SetLearningRate(rate)) => {
                format!("The learning rate {rate} is left out: {why}.")
            }
            Self::Training(TrainingCommand::Scrub(step)) => format!("The view of step {step} is left out: {why}."),
            _ => format!("A change is left out: {why}."),
        }
    }

    /// True of changes to weights or steps, rather than to what is shown of them.
    pub(super) fn concerns_training(&self) -> bool {
        matches!(self, Self::Training(_) | Self::Weights(_) | Self::Retrain(_))
    }
}

/// Changes of the training under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TrainingCommand {
    /// Trains until the last step, a stop rule of the lesson or [`TrainingCommand::Pause`]. Where a past step is
    /// shown, that look ends: training goes on from the latest step, and nothing of it is lost. To go
    /// on from the past step, [`TrainingCommand::Branch`] first.
    Play,
    /// Stands still; a lesson that is being trained again is given up.
    Pause,
    /// Trains this many steps, then stands still; from the latest step, as [`TrainingCommand::Play`].
    Step(usize),
    /// Trains to this step, or the lesson's last, past every stop rule, then stands still; from the latest step, as
    /// [`TrainingCommand::Play`]. Where training is there already, it goes on from the weights in use all the same.
    TrainTo(Option<usize>),
    /// Back to the same initialisation, at step 0.
    Reset,
    /// Shows the model as it was after this step of the training, exactly; the later ones stay, and
    /// training stands still. Successive looks undo as one.
    Scrub(usize),
    /// Shows the latest step again.
    ShowLatest,
    /// Makes the past step that is shown, with the weights edited there, the latest of a run of its own.
    /// Training stands still there until it is asked to play; the run that is left can be undone to.
    Branch,
    /// From the next step on; training and optimiser go on. Successive changes undo as one.
    SetLearningRate(#[serde(with = "json::number")] f64),
    /// Chooses the weights that those in use are compared with in the snapshot.
    #[serde(skip)]
    Compare(Option<Reference>),
}

/// Edits of the weights in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WeightCommand {
    /// Sets entries of a tensor.
    Put(TensorEntries),
    /// Sets one entry of a tensor. Successive sets of one entry undo as one.
    Set {
        tensor: TensorId,
        row: usize,
        col: usize,
        #[serde(with = "json::number")]
        value: f32,
    },
    /// Goes over entries of a tensor with a brush. All that is painted in one stroke undoes as one.
    Paint {
        tensor: TensorId,
        /// Rows and columns.
        entries: Vec<(usize, usize)>,
        brush: Brush,
        /// Any number that the stroke before did not have.
        stroke: u64,
    },
    /// Adds to every entry of a tensor a number drawn evenly from `±scale`; the same draw draws the same.
    Perturb {
        tensor: TensorId,
        #[serde(with = "json::number")]
        scale: f32,
        draw: u64,
    },
    /// Takes one entry back to its trained value.
    Reset { tensor: TensorId, row: usize, col: usize },
    /// Takes a whole tensor back to its trained values.
    ResetTensor(TensorId),
    /// Takes all tensors back to their trained values.
    ResetAll,
}

/// Changes of the forward pass of the sentence on the stage; the model stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum InterventionCommand {
    /// Sets one head. Heads are counted over all blocks, the source's first. Training knows of no
    /// intervention: it goes on with all heads live. A head frozen without weights keeps those that it has now, until
    /// another sentence is shown. Successive gains of a head undo as one.
    SetHead { head: usize, mode: HeadMode<f32> },
    /// Sets heads that follow each other, such as those of a layer, as one change; saved, they stand one by one.
    #[serde(skip)]
    SetHeads { heads: Range<usize>, mode: HeadMode<f32> },
    /// Only this head takes part; `None`: all do.
    Solo(Option<usize>),
    /// Divides scores by this, instead of the lesson's temperature; successive sets undo as one.
    SetTemperature(Option<f64>),
    /// Whether scores are divided by `√d_k`, instead of as the lesson says.
    SetScale(Option<bool>),
    /// One query of the sentence sees one key, or no longer does.
    ToggleMask { query: usize, key: usize },
    /// Who sees whom, for the sentence on the stage; `None`: the lesson's. A table belongs to the sentence, and takes the
    /// place of windows too, see [`Sight`](attune_engine::numerics::model::activations::Sight).
    SetMask(Option<Mask>),
    /// The mask is the lesson's again.
    ResetMask,
    /// Takes an edge of attention out, of a head counted over all blocks, or puts it back: the rest of the row is made
    /// to sum to 1. Edges belong to the sentence on the stage.
    SetEdge { edge: Edge, is_removed: bool },
    /// Puts a vector of the second sentence into a place of the first, without one the vector that is there now;
    /// `None`: the first's own again. The patch ends when one of the sentences changes.
    SetPatch(Option<Patch<f32>>),
    /// Takes back all of the changes above.
    Reset,
}

impl InterventionCommand {
    /// The commands that make all changes of a pass, in an order in which each is possible; `of` is the model with the number
    /// of tokens of its sentence, where they are known.
    pub fn all_of(changes: &Interventions<f32>, of: Option<(&Architecture, usize)>) -> Vec<Self> {
        let Interventions { temperature, scale, heads, mask, edges, patch } = changes;
        let is_changed = |(_, mode): &(usize, &HeadMode<f32>)| **mode != HeadMode::Live;
        let heads = heads.iter().enumerate().filter(is_changed);
        let heads = heads.map(|(head, mode)| Self::SetHead { head, mode: mode.clone() });
        let mut all: Vec<Self> = temperature.map(|set| Self::SetTemperature(Some(set))).into_iter().collect();
        all.extend(scale.map(|set| Self::SetScale(Some(set))));
        // The mask may have come to hide an edge after it was removed: then all is shown while edges are taken out.
        let open = match of {
            Some((architecture, tokens)) => {
                let is_seen = |edge: &Edge| {
                    let (block, ..) = architecture.head(edge.head);
                    changes.sight(architecture, block).sees(edge.query, edge.key)
                };
                let all_seen = || Mask::custom(MaskTable::from_fn(tokens, tokens, |_, _| true));
                (!edges.iter().all(is_seen)).then(all_seen)
            }
            None => (!edges.is_empty()).then_some(Mask::None),
        };
        let mask = mask.clone().map(|mask| Self::SetMask(Some(mask)));
        let removals = edges.iter().map(|&edge| Self::SetEdge { edge, is_removed: true });
        match open {
            None => all.extend(mask.into_iter().chain(removals)),
            Some(open) => {
                all.push(Self::SetMask(Some(open)));
                all.extend(removals);
                all.push(mask.unwrap_or(Self::ResetMask));
            }
        }
        all.extend(heads);
        all.extend(patch.clone().map(|patch| Self::SetPatch(Some(patch))));
        all
    }

    /// Whether the change is of one sentence alone.
    pub fn is_of_sentence(&self) -> bool {
        match self {
            Self::SetHead { mode, .. } | Self::SetHeads { mode, .. } => mode.is_of_sentence(),
            Self::SetMask(mask) => matches!(mask, Some(Mask::Custom(_))),
            Self::ToggleMask { .. } | Self::SetEdge { .. } | Self::SetPatch(_) => true,
            Self::Solo(_) | Self::SetTemperature(_) | Self::SetScale(_) | Self::ResetMask | Self::Reset => false,
        }
    }

    /// Says that the change was not made.
    pub fn left_out(&self, why: &str) -> String {
        match self {
            Self::SetHead { head, .. } => format!("The change of head {} is left out: {why}.", head.saturating_add(1)),
            Self::SetTemperature(_) => format!("The temperature is left out: {why}."),
            Self::SetMask(_) => format!("The change of the mask is left out: {why}."),
            Self::SetEdge { .. } => format!("The removal of an edge is left out: {why}."),
            Self::SetPatch(_) => format!("The patch is left out: {why}."),
            _ => format!("A change of the forward pass is left out: {why}."),
        }
    }
}

/// Changes of the sentences on the stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SentenceCommand {
    /// Shows one of the lesson's sentences.
    Select(usize),
    /// Shows a sentence of the learner's own.
    Set(String),
    /// Shows rows of the vocabulary as they are: token ids of a pretrained model.
    Ids(Vec<usize>),
    /// Shows words of the vocabulary by their texts: tokens of a pretrained model.
    Words(Vec<String>),
    /// Shows the stretch of a recorded text that begins at this token. Successive stretches undo as one.
    Stretch(usize),
    /// Shows a sentence while it is being typed: successive ones undo as one.
    Type(String),
    /// Sets a second sentence beside the one on the stage, with the same weights; `None`: no more. Successive
    /// sentences undo as one.
    SetSecond(Option<String>),
    /// Writes the given number of words after the sentence, or, where it is a source, from it; with the weights in
    /// use and no other intervention. They stay in the snapshot until the sentence changes.
    #[serde(skip)]
    Generate { count: usize, choice: NextWordChoice },
}

/// Changes of the list of sentences in which one word is looked at, and whether it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SenseCommand {
    /// Runs the sentences through the model and shows the word in them on the stage, or no longer does.
    Show(bool),
    /// Sets the word. Successive words undo as one.
    SetWord(String),
    /// Sets the sentence at this place; one place after the last adds it. Successive texts of a sentence undo as one.
    SetText {
        index: usize,
        text: String,
    },
    /// Sets the sense of the word in a sentence: a letter of [`SENSES`](super::sentence_pass::senses::SENSES).
    SetSense {
        index: usize,
        sense: Option<char>,
    },
    /// Adds an empty sentence at this place.
    Insert(usize),
    Remove(usize),
    /// Puts another list in the place of this one.
    Replace(SenseList),
}

/// Changes of the axes of the picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AxisCommand {
    /// The axes become the principal components of the vectors that are on the stage now: the static
    /// ones of the words that the lesson names, and the outputs of the sentences. Chosen axes stay.
    Refit,
    /// Fits the axes to vectors of which only the spread is known: those of an earlier refit.
    Fit {
        #[serde(with = "json::numbers")]
        mean: Vec<f64>,
        /// The lower triangle of the covariance, row by row.
        #[serde(with = "json::numbers")]
        covariance: Vec<f64>,
    },
    /// An axis from the centre of one group of words to that of another; the axes that are not chosen
    /// are the principal components of what is left at right angles to the chosen ones.
    Set {
        axis: Axis,
        /// See [`WordGroup`](super::values::space::WordGroup).
        from: String,
        to: String,
    },
    /// The vectors of a pretrained model as they are, or seen through the norm that puts its layers on one scale.
    SetRaw(bool),
    /// An axis is a principal component again.
    Reset(Axis),
    /// The axes are those of the lesson's beginning.
    ResetAll,
}

/// The effect of a brush on an entry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Brush {
    Set(#[serde(with = "json::number")] f32),
    Add(#[serde(with = "json::number")] f32),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TensorEntries {
    /// The tensor's name in code.
    pub name: String,
    pub rows: usize,
    pub cols: usize,
    /// Row-major; none where they are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<usize>>,
    #[serde(with = "json::numbers")]
    pub values: Vec<f32>,
}

impl TensorEntries {
    /// The entries in which two sets of parameters differ, by their bits; with the values of the second.
    pub fn between(trained: &Arc<Parameters<f32>>, live: &Arc<Parameters<f32>>) -> Vec<Self> {
        if Arc::ptr_eq(trained, live) {
            return Vec::new();
        }
        Self::all(live, &trained.changed_to(live))
    }

    /// Entries of all tensors, in their order, by the tensors that they belong to.
    pub fn all(parameters: &Parameters<f32>, entries: &[(usize, f32)]) -> Vec<Self> {
        let mut rest = entries;
        let mut all = Vec::new();
        for spec in parameters.specs() {
            let Range { start: begin, end } = spec.indices();
            let count = rest.partition_point(|(index, _)| *index < end);
            let (own, others) = rest.split_at(count);
            rest = others;
            if own.is_empty() {
                continue;
            }
            let at = (own.len() < end - begin).then(|| own.iter().map(|(index, _)| index - begin).collect());
            let values = own.iter().map(|(_, value)| *value).collect();
            all.push(Self { name: spec.id.code_name(), rows: spec.rows, cols: spec.cols, at, values });
        }
        all
    }

    /// The entries with their indices among those of all tensors.
    ///
    /// # Errors
    /// In words for the learner, if there is no such tensor, or one that could not hold the values.
    pub fn indexed(&self, parameters: &Parameters<f32>) -> Result<Vec<(usize, f32)>, String> {
        self.fitting(parameters).ok_or_else(|| {
            let Self { name, rows, cols, .. } = self;
            format!("the model cannot take entries of a tensor {} of {rows} by {cols}", shorten(name))
        })
    }

    fn fitting(&self, parameters: &Parameters<f32>) -> Option<Vec<(usize, f32)>> {
        let spec = parameters.specs().iter().find(|spec| spec.id.code_name() == self.name)?;
        let Range { start: begin, end } = spec.indices();
        let count = self.at.as_ref().map_or(end - begin, Vec::len);
        let fits = (spec.rows, spec.cols) == (self.rows, self.cols)
            && count == self.values.len()
            && self.values.iter().all(|value| value.is_finite())
            && self.at.iter().flatten().all(|at| *at < end - begin);
        let place = |i: usize| begin + self.at.as_ref().map_or(i, |at| at[i]);
        fits.then(|| self.values.iter().enumerate().map(|(i, value)| (place(i), *value)).collect())
    }
}
