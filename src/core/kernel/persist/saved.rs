//! The saved form of a running lesson: plain data, made from a snapshot alone.
//!
//! Training is deterministic, so of the model only that is kept which the learner did: how far it was
//! trained, what was changed on its way, and what was turned since. [`crate::kernel::persist::resume`] does it again.

use std::ops::{Not, Range};
use std::sync::Arc;

use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::params::Parameters;
use attune_engine::pretrained::Pretrained;
use serde::{Deserialize, Serialize};

use crate::kernel::data::sentence::SentenceSnapshot;
use crate::kernel::data::space::Axis;
use crate::kernel::data::space::{ChosenAxis, StaticSpace};
use crate::kernel::notebook::saved::SavedNotebook;
use crate::kernel::scene::interventions::are_none;
use crate::kernel::scene::senses::SensesSnapshot;
use crate::kernel::snapshot::{ModelSnapshot, Snapshot};
use crate::kernel::training::change_log::Change;
use crate::kernel::training::stop::Stopped;
use crate::lesson::Recipe;
use attune_engine::numbers;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    /// The lesson's id.
    pub lesson: String,
    pub seed: Option<u64>,
    pub notebook: SavedNotebook,
    /// A tour of the model was written into the notebook.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_toured: bool,
    /// None where there was no model yet.
    pub model: Option<SavedModel>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedModel {
    /// The recipe that the lesson was trained with; none where that is its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Recipe>,
    /// The recipe of a retraining under way, which starts again once all of this is restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retraining: Option<Recipe>,
    /// The words of the sentence on the stage; none where it is the lesson's first.
    pub sentence: Option<Vec<String>>,
    /// The words of the sentence beside it; none where there is none.
    pub second: Option<Vec<String>>,
    /// None where no sentence was listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub senses: Option<SavedSenses>,
    /// None where the axes are the lesson's own.
    pub basis: Option<SavedBasis>,
    /// None where nothing is changed.
    pub interventions: Option<Interventions<f32>>,
    pub training: SavedTraining,
    /// Files of a pretrained model, each with its SHA-256.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
}

/// One word in sentences of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedSenses {
    pub word: String,
    /// As the file of the list has them: a line each.
    pub sentences: String,
    /// The stage showed them.
    pub is_on: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedBasis {
    /// For axes that were fitted again: the mean of the vectors that they were fitted to ...
    #[serde(with = "numbers::many")]
    pub mean: Vec<f64>,
    /// ... and the lower triangle of its covariance, row by row.
    #[serde(with = "numbers::many")]
    pub covariance: Vec<f64>,
    /// The axes that were chosen: X, Y or Z, from which words, and to which.
    pub axes: Vec<(String, String, String)>,
    /// The vectors of a model as they are, and not through the norm that puts its layers on one scale.
    #[serde(skip_serializing_if = "Not::not")]
    pub raw: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedTraining {
    /// Steps done.
    pub steps: usize,
    /// They were all that the lesson asked for.
    pub is_at_end: bool,
    /// Training goes on from there.
    pub is_playing: bool,
    /// A past step that is shown.
    pub look: Option<usize>,
    /// Changes on its way, in the order of the steps.
    pub changes: Vec<SavedChange>,
    /// Edits at the step that is shown.
    pub edits: Vec<SavedTensor>,
    /// Edits at the latest step, while a past one is shown.
    pub edits_at_latest: Vec<SavedTensor>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedChange {
    /// After this step and before the next.
    pub step: usize,
    pub learning_rate: Option<f64>,
    pub entries: Vec<SavedTensor>,
}

/// Entries of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedTensor {
    /// As code calls it.
    pub name: String,
    pub rows: usize,
    pub cols: usize,
    /// Row-major; none where they are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<usize>>,
    #[serde(with = "numbers::many")]
    pub values: Vec<f32>,
}

impl Saved {
    pub fn of(snapshot: &Snapshot) -> Self {
        let model = snapshot.model.as_ref().map(|model| {
            let basis = snapshot.space.as_ref().and_then(|space| SavedBasis::of(space));
            let retraining = snapshot.retraining.as_ref().map(|under_way| Recipe::clone(&under_way.recipe));
            SavedModel { basis, retraining, ..SavedModel::of(model) }
        });
        // What is yet to be put back is as it was saved.
        let model = match (model, snapshot.awaited.as_deref()) {
            (Some(model), Some(awaited)) => {
                let SavedModel { training, retraining, .. } = awaited.clone();
                Some(SavedModel { training, retraining, ..model })
            }
            (None, Some(awaited)) => Some(awaited.clone()),
            (model, None) => model,
        };
        Self {
            lesson: snapshot.lesson.id.clone(),
            seed: Some(snapshot.lesson.seed),
            notebook: SavedNotebook::of(&snapshot.notebook, &snapshot.lesson),
            is_toured: snapshot.is_toured,
            model,
        }
    }
}

/// The words of the second sentence.
fn second_words(model: &ModelSnapshot) -> Option<Vec<String>> {
    model.second.as_ref().map(|second| texts(&second.sentence))
}

/// The words of a sentence, or the text that a pretrained model was given.
fn texts(sentence: &SentenceSnapshot) -> Vec<String> {
    match &sentence.text {
        Some(pieces) => vec![pieces.text.clone()],
        None => sentence.chosen().iter().map(|token| token.text.clone()).collect(),
    }
}

impl SavedBasis {
    /// `None` where the axes are the lesson's.
    fn of(space: &StaticSpace) -> Option<Self> {
        let basis = &space.basis;
        let axis = |(axis, chosen): (Axis, &Option<ChosenAxis>)| {
            let ChosenAxis { from, to } = chosen.as_ref()?;
            Some((axis.letter().to_owned(), from.text.clone(), to.text.clone()))
        };
        let axes = Axis::ALL.into_iter().zip(&basis.chosen).filter_map(axis).collect();
        let fitted = basis.fitted.as_ref();
        let mean = fitted.map_or_else(Vec::new, |fitted| fitted.mean().to_vec());
        let covariance = fitted.map_or_else(Vec::new, |fitted| fitted.packed());
        (*basis != space.own_basis).then_some(Self { mean, covariance, axes, raw: basis.raw })
    }
}

impl SavedSenses {
    /// `None` where nothing is written.
    fn of(senses: &SensesSnapshot) -> Option<Self> {
        let SensesSnapshot { list, is_on, .. } = senses;
        let saved = || Self { word: list.word.clone(), sentences: list.rows(), is_on: *is_on };
        (*is_on || !list.is_empty()).then(saved)
    }
}

impl SavedModel {
    /// But for the basis, which is the space's, and what is under way.
    fn of(model: &ModelSnapshot) -> Self {
        let sentence = &model.sentence;
        let interventions = &*model.interventions;
        Self {
            recipe: (!model.recipe.is_default()).then(|| Recipe::clone(&model.recipe)),
            sentence: (sentence.index != Some(0)).then(|| texts(sentence)),
            second: second_words(model),
            senses: SavedSenses::of(&model.senses),
            basis: None,
            retraining: None,
            interventions: (!are_none(interventions)).then(|| interventions.clone()),
            training: SavedTraining::of(model),
            files: model.pretrained.as_ref().map_or_else(Vec::new, |model| files(model)),
        }
    }
}

/// Names of a pretrained model's files, each with its SHA-256.
pub fn files(model: &Pretrained) -> Vec<(String, String)> {
    model.files.iter().map(|file| (file.name.clone(), file.sha256.clone())).collect()
}

impl SavedTraining {
    fn of(model: &ModelSnapshot) -> Self {
        let training = &model.training;
        let steps = training.progress.done;
        let change = |step, change: &Change| match change {
            Change::LearningRate(rate) => SavedChange { step, learning_rate: Some(*rate), entries: Vec::new() },
            Change::Entries(entries) => {
                SavedChange { step, learning_rate: None, entries: SavedTensor::all(&model.parameters, entries) }
            }
        };
        Self {
            steps,
            is_at_end: steps >= training.progress.of,
            // What diverged does so again, and says why.
            is_playing: training.playing || matches!(training.stopped, Some(Stopped::Diverged(_))),
            look: training.look.map(|look| look.target),
            changes: training.changes.iter().map(|done| change(done.step, &done.change)).collect(),
            edits: SavedTensor::between(&model.trained, &model.parameters),
            edits_at_latest: training
                .edited_latest
                .as_ref()
                .map_or_else(Vec::new, |(trained, live)| SavedTensor::between(trained, live)),
        }
    }
}

impl SavedTensor {
    /// The entries in which two sets of parameters differ, by their bits; with the values of the second.
    fn between(trained: &Arc<Parameters<f32>>, live: &Arc<Parameters<f32>>) -> Vec<Self> {
        if Arc::ptr_eq(trained, live) {
            return Vec::new();
        }
        Self::all(live, &trained.changed_to(live))
    }

    /// Entries of all tensors, in their order, by the tensors that they belong to.
    fn all(parameters: &Parameters<f32>, entries: &[(usize, f32)]) -> Vec<Self> {
        let mut rest = entries;
        let mut saved = Vec::new();
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
            saved.push(Self { name: spec.id.code_name(), rows: spec.rows, cols: spec.cols, at, values });
        }
        saved
    }

    /// The entries with their indices among those of all tensors; `None` where these have no such tensor, or one
    /// that could not hold the values.
    pub(in crate::kernel) fn entries(&self, parameters: &Parameters<f32>) -> Option<Vec<(usize, f32)>> {
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
