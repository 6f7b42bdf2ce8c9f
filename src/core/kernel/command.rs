//! Commands: the only way to change a kernel, and the form in which a learner's work is saved. Each owner of state has
//! an enum of its own.

pub use crate::kernel::evidence::over_texts::TextsCommand;
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

use crate::kernel::evidence::AskedAnswer;
use crate::kernel::evidence::words::ShownAnswer;
use crate::kernel::notebook::NotebookCommand;
use crate::kernel::sentence_pass::sentence::TextOrIds;
use crate::kernel::values::meaning::Meaning;
use crate::lesson::Recipe;
use crate::lesson::issue::shorten;

/// A change, which [`Kernel::apply`](super::Kernel::apply) passes to the owner of the state.
///
/// In serialised form, commands are a part of [saved work](super::Saved). Variants that leave nothing to save, or whose
/// result is saved by other commands, have no serialised form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    Training(TrainingCommand),
    Weights(WeightCommand),
    Interventions(InterventionCommand),
    Sentence(SentenceCommand),
    Axes(AxisCommand),
    Senses(SenseCommand),
    /// Changes the notebook or runs cells.
    #[serde(skip)]
    Notebook(NotebookCommand),
    /// Trains the lesson again from scratch, static vectors and model, with a recipe applied; the default recipe is the
    /// lesson's own. The present model stays until the new one is trained and then replaces it as a whole: edited
    /// weights, a replay and branches belong to the old model, and undo restores them with it. Sentence, temperature,
    /// scale and mask stay. Heads keep their settings and removed edges as far as the new model has the same layers
    /// with as many heads, but frozen heads become live and a patch ends; the notice lists the changes that are lost.
    /// Cells that read tensors are stale, as after a reset. A newer recipe replaces one that is being trained.
    /// Successive changes of the same setting undo as one.
    Retrain(Box<Recipe>),
    /// Measures a model that was opened as a folder, and writes a tour of it into a notebook that has no other text
    /// yet; see [`super::tour`]. The tour is written once, and the learner may change its cells.
    #[serde(skip)]
    Tour,
    /// Chooses the answer that maps and measures of words are about, and the foil with which they compare it.
    Answers(AskedAnswer),
    /// Computes the map of the sentence on the stage: how the answer changes when each vector and each head of the
    /// second sentence is put into this one, or, without a second sentence, when each head is switched off. A map that
    /// was stopped goes on. The map ends when the sentences, the weights or the chosen answers change.
    #[serde(skip)]
    Map,
    /// Stops the map while it is being computed; removes it otherwise.
    #[serde(skip)]
    EndMap,
    /// Adds the paths into a head, counted over all blocks, to the map of two sentences: how each earlier head changes
    /// the answer through this head's queries, keys or values alone.
    #[serde(skip)]
    Paths(usize),
    /// Starts, stops or removes the measures of all heads over a file of texts, or opens the texts of a head. The
    /// results are saved, but not the command.
    #[serde(skip)]
    Texts(TextsCommand),
    /// Measures which word mattered for an answer of the sentence on the stage, on a thread of its own. The measurement
    /// ends when the sentence or the weights change.
    #[serde(skip)]
    Words(ShownAnswer),
    #[serde(skip)]
    EndWords,
    /// Computes what a head, counted over all blocks, compares and writes for the words of the sentence, and which
    /// heads compose with it, on a thread of its own.
    #[serde(skip)]
    Tables(usize),
    #[serde(skip)]
    EndTables,
    #[serde(skip)]
    Undo,
    #[serde(skip)]
    Redo,
}

impl Command {
    /// Returns whether the command is a step through the history: undo or redo.
    pub(super) fn is_step(&self) -> bool {
        matches!(self, Self::Undo | Self::Redo)
    }

    /// Returns true for a command that changes saved work, and false for one that only changes what is shown or
    /// running.
    pub(super) fn changes_work(&self) -> bool {
        !matches!(
            self,
            Self::Tour
                | Self::Map
                | Self::EndMap
                | Self::Paths(_)
                | Self::Words(_)
                | Self::EndWords
                | Self::Tables(_)
                | Self::EndTables
                | Self::Training(TrainingCommand::Compare(_))
                | Self::Sentence(SentenceCommand::Generate { .. })
                | Self::Notebook(NotebookCommand::Interrupt)
        )
    }

    /// Returns whether the command would change weights or the forward pass, or run the model again, which is not
    /// possible for a recording.
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
            Self::Weights(_)
            | Self::Interventions(_)
            | Self::Retrain(_)
            | Self::Answers(_)
            | Self::Map
            | Self::Paths(_)
            | Self::Words(_)
            | Self::Tables(_)
            | Self::Texts(_) => true,
            Self::Sentence(command) => matches!(
                command,
                SentenceCommand::Ids(_)
                    | SentenceCommand::Pair { .. }
                    | SentenceCommand::Words(_)
                    | SentenceCommand::Generate { .. }
            ),
            Self::Axes(_)
            | Self::Senses(_)
            | Self::Notebook(_)
            | Self::Tour
            | Self::EndMap
            | Self::EndWords
            | Self::EndTables
            | Self::Undo
            | Self::Redo => false,
        }
    }

    /// Returns a message saying that a saved command could not be applied again.
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

    /// Returns whether the command concerns training, weights or a retraining. This includes the choice of the step
    /// that is shown and of the comparison.
    pub(super) fn concerns_training(&self) -> bool {
        matches!(self, Self::Training(_) | Self::Weights(_) | Self::Retrain(_))
    }
}

/// Changes of the training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TrainingCommand {
    /// Trains until the last step, a stop rule of the lesson or [`TrainingCommand::Pause`]. If a past step is shown,
    /// the latest step is shown again, and training continues from it without loss. To continue from the past step, use
    /// [`TrainingCommand::Branch`] first.
    Play,
    /// Pauses training, and cancels a retraining.
    Pause,
    /// Trains this many steps from the latest one and pauses, but otherwise acts like [`TrainingCommand::Play`].
    Step(usize),
    /// Trains up to this step, or to the lesson's last, past every stop rule, and pauses; it starts from the latest
    /// step, as [`TrainingCommand::Play`] does. If that step has been reached already, training pauses, and edited
    /// weights become those from which it continues.
    TrainTo(Option<usize>),
    /// Resets the model to its initialisation, at step 0.
    Reset,
    /// Shows the model exactly as it was after this step. Later steps are kept, and training pauses. Successive changes
    /// of the shown step undo as one.
    Scrub(usize),
    /// Shows the latest step again.
    ShowLatest,
    /// Starts a new run from the past step that is shown, with the weights as they were edited there. Training pauses,
    /// and undo returns to the run that was left.
    Branch,
    /// Changes the learning rate from the next step on, without restarting training or optimiser. Successive changes
    /// undo as one.
    SetLearningRate(#[serde(with = "json::number")] f64),
    /// Chooses the weights with which the snapshot compares those in use; `None` ends the comparison.
    #[serde(skip)]
    Compare(Option<Reference>),
}

/// Edits of the weights in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WeightCommand {
    /// Sets entries of a tensor.
    Put(TensorEntries),
    /// Sets one entry of a tensor. Successive changes of the same entry undo as one.
    Set {
        tensor: TensorId,
        row: usize,
        col: usize,
        #[serde(with = "json::number")]
        value: f32,
    },
    /// Applies a brush to entries of a tensor. The commands of one stroke, which is one drag of the brush, undo as one
    /// change.
    Paint {
        tensor: TensorId,
        /// Row and column of each entry.
        entries: Vec<(usize, usize)>,
        brush: Brush,
        /// Number of the stroke, which differs from that of the stroke before.
        stroke: u64,
    },
    /// Adds to every entry of a tensor a random number, uniform in `±scale`. The same `draw` results in the same
    /// numbers.
    Perturb {
        tensor: TensorId,
        #[serde(with = "json::number")]
        scale: f32,
        draw: u64,
    },
    /// Resets one entry to its trained value.
    Reset { tensor: TensorId, row: usize, col: usize },
    /// Resets a whole tensor to its trained values.
    ResetTensor(TensorId),
    /// Resets all tensors to their trained values.
    ResetAll,
}

/// Changes of the forward pass of the sentence on the stage, which leave the model as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum InterventionCommand {
    /// Sets the mode of one head. Heads are counted over all blocks, beginning with those of the source. Training
    /// ignores interventions and continues with all heads live. A head that is frozen without given weights keeps its
    /// present weights until another sentence is shown. Successive gains of a head undo as one.
    SetHead { head: usize, mode: HeadMode<f32> },
    /// Sets the mode of consecutive heads, such as those of a layer, as one change. It is saved as a command for each
    /// head.
    #[serde(skip)]
    SetHeads { heads: Range<usize>, mode: HeadMode<f32> },
    /// Switches off all heads but this one; `None` switches all heads on.
    Solo(Option<usize>),
    /// Sets the temperature, which replaces the lesson's; successive changes undo as one.
    SetTemperature(Option<f64>),
    /// Sets whether scores are divided by `√d_k`; `None` restores the lesson's setting.
    SetScale(Option<bool>),
    /// Toggles whether one query of the sentence sees one key.
    ToggleMask { query: usize, key: usize },
    /// Sets the mask of the sentence on the stage; `None` restores the lesson's. A mask table belongs to the sentence,
    /// and replaces the windows too; see [`Sight`](attune_engine::numerics::model::activations::Sight).
    SetMask(Option<Mask>),
    /// Restores the lesson's mask.
    ResetMask,
    /// Removes or restores an edge of attention, which is one key for one query of a head; heads are counted over all
    /// blocks. The remaining weights of the row are scaled to sum to 1. Edges belong to the sentence on the stage.
    SetEdge { edge: Edge, is_removed: bool },
    /// Replaces a vector of the first sentence by one of the second; a patch without a vector uses the present one.
    /// `None` ends the patch, which also ends when one of the sentences changes.
    SetPatch(Option<Patch<f32>>),
    /// Undoes all of the changes above.
    Reset,
}

impl InterventionCommand {
    /// Returns the commands that make all changes of a pass, in an order in which each is valid. `of` is the
    /// architecture of the model with the number of tokens of its sentence, if these are known.
    pub fn all_of(changes: &Interventions<f32>, of: Option<(&Architecture, usize)>) -> Vec<Self> {
        let Interventions { temperature, scale, heads, mask, edges, patch } = changes;
        let is_changed = |(_, mode): &(usize, &HeadMode<f32>)| **mode != HeadMode::Live;
        let heads = heads.iter().enumerate().filter(is_changed);
        let heads = heads.map(|(head, mode)| Self::SetHead { head, mode: mode.clone() });
        let mut all: Vec<Self> = temperature.map(|set| Self::SetTemperature(Some(set))).into_iter().collect();
        all.extend(scale.map(|set| Self::SetScale(Some(set))));
        // Only a visible edge can be removed, but the mask may hide one that was removed earlier. In this case,
        // everything is made visible while edges are removed.
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

    /// Returns whether the change concerns only one sentence.
    pub fn is_of_sentence(&self) -> bool {
        match self {
            Self::SetHead { mode, .. } | Self::SetHeads { mode, .. } => mode.is_of_sentence(),
            Self::SetMask(mask) => mask.as_ref().is_some_and(Mask::is_of_sentence),
            Self::ToggleMask { .. } | Self::SetEdge { .. } | Self::SetPatch(_) => true,
            Self::Solo(_) | Self::SetTemperature(_) | Self::SetScale(_) | Self::ResetMask | Self::Reset => false,
        }
    }

    /// Returns a message saying that the change was not made.
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
    /// Shows rows of the vocabulary as they are, such as token ids of a pretrained model.
    Ids(Vec<usize>),
    /// Shows a source with a target of the learner's own, for a model whose targets are free.
    Pair { source: TextOrIds, target: TextOrIds },
    /// Shows words of the vocabulary by their texts, such as tokens of a pretrained model.
    Words(Vec<String>),
    /// Shows the stretch of a recorded text that begins at this token. Successive stretches undo as one.
    Stretch(usize),
    /// Shows a sentence while it is being typed; successive sentences undo as one.
    Type(String),
    /// Sets a second sentence to compare with the one on the stage, with the same weights; `None` ends the comparison.
    /// Successive sentences undo as one.
    SetSecond(Option<String>),
    /// Generates the given number of words that continue the sentence, or that are the target if the sentence is a
    /// source. The weights in use apply, but no interventions. The words stay in the snapshot until the sentence
    /// changes.
    #[serde(skip)]
    Generate { count: usize, choice: NextWordChoice },
}

/// Changes of the list of sentences in which the senses of one word are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SenseCommand {
    /// Sets whether the sentences run through the model and the stage shows the word in each of them.
    Show(bool),
    /// Sets the word whose senses are compared. Successive changes undo as one.
    SetWord(String),
    /// Sets the sentence at this index; the index after the last one adds a sentence. Successive texts of a sentence
    /// undo as one.
    SetText {
        index: usize,
        text: String,
    },
    /// Sets the sense of the word in a sentence, as a letter of [`SENSES`](super::sentence_pass::senses::SENSES);
    /// `None` removes it.
    SetSense {
        index: usize,
        sense: Option<char>,
    },
    /// Inserts an empty sentence at this index.
    Insert(usize),
    Remove(usize),
    /// Replaces the list.
    Replace(SenseList),
}

/// Changes of the axes of the picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AxisCommand {
    /// Refits the axes: they become the principal components of the vectors that are on the stage now, which are the
    /// static vectors of the words that the lesson names, and the outputs of the sentences. Chosen axes stay.
    Refit,
    /// Fits the axes to the saved mean and covariance of an earlier refit.
    Fit {
        #[serde(with = "json::numbers")]
        mean: Vec<f64>,
        /// Lower triangle of the covariance, row by row.
        #[serde(with = "json::numbers")]
        covariance: Vec<f64>,
        /// The axis with a meaning that was measured at the refit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        meaning: Option<Box<Meaning>>,
    },
    /// Sets an axis from the centre of one group of words to that of another. The axes that are not chosen are the
    /// principal components of the space that is orthogonal to the chosen ones.
    Set {
        axis: Axis,
        /// Words at the start of the axis; see [`WordGroup`](super::values::space::WordGroup).
        from: String,
        to: String,
    },
    /// Sets whether the vectors of a pretrained model are shown as they are, or after the norm that gives its layers a
    /// common scale.
    SetRaw(bool),
    /// Resets an axis to the one with which the lesson began.
    Reset(Axis),
    /// Resets all axes to those with which the lesson began.
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
    /// Indices of the entries in row-major order, or `None` for all entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<usize>>,
    #[serde(with = "json::numbers")]
    pub values: Vec<f32>,
}

impl TensorEntries {
    /// Returns the entries in which two sets of parameters differ, compared by their bits, with the values of the
    /// second set.
    pub fn between(trained: &Arc<Parameters<f32>>, live: &Arc<Parameters<f32>>) -> Vec<Self> {
        if Arc::ptr_eq(trained, live) {
            return Vec::new();
        }
        Self::all(live, &trained.changed_to(live))
    }

    /// Groups entries by their tensors. Their indices count through all tensors and are in ascending order.
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

    /// Returns the entries, each with its index among the entries of all tensors.
    ///
    /// # Errors
    /// A message for the learner if the model has no such tensor, or if it has another size.
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
