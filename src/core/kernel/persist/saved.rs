//! The learner's work on a lesson, as it is saved, shared and handed in: the shortest list of commands that leads to what a
//! snapshot shows, and the notebook.
//!
//! Training is deterministic, so of the model the list has only what the learner did: how far it was trained, the weights
//! that were changed on its way, and those that were turned since. [`crate::kernel::persist::resume`] does it again.

use attune_engine::pretrained::Pretrained;
use serde::{Deserialize, Serialize};

use super::older::AnyWork;
use crate::kernel::command::{
    AxisCommand, Command, InterventionCommand, SenseCommand, SenseList, SentenceCommand, TensorEntries,
    TrainingCommand, WeightCommand,
};
use crate::kernel::data::sentence::SentenceSnapshot;
use crate::kernel::data::space::{Axis, StaticSpace};
use crate::kernel::notebook::saved::SavedNotebook;
use crate::kernel::snapshot::{ModelSnapshot, Snapshot};
use crate::kernel::training::change_log::Change;
use crate::lesson::Recipe;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, from = "AnyWork")]
pub struct Saved {
    /// The lesson's id.
    pub lesson: String,
    pub seed: Option<u64>,
    pub notebook: SavedNotebook,
    /// Files of the pretrained model that the commands were given to, each with its SHA-256.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
    /// From the lesson at its beginning; none where there was no model yet. A [`Command::Retrain`] before all others is the
    /// recipe that the lesson opens with, and one after them a retraining under way.
    pub commands: Vec<Command>,
}

impl Saved {
    pub fn of(snapshot: &Snapshot) -> Self {
        let awaited = snapshot.awaited.as_deref();
        let (commands, files) = match (&snapshot.model, awaited) {
            (Some(model), _) => (commands_of(snapshot, model), model.pretrained.as_deref().map_or_else(Vec::new, files)),
            (None, Some(awaited)) => (awaited.commands.clone(), awaited.files.clone()),
            (None, None) => Default::default(),
        };
        Self {
            lesson: snapshot.lesson.id.clone(),
            seed: Some(snapshot.lesson.seed),
            notebook: SavedNotebook::of(&snapshot.notebook, &snapshot.lesson),
            files,
            commands,
        }
    }

    /// The recipe that the lesson opens with; `None` if it is its own.
    pub(in crate::kernel) fn recipe(&self) -> Option<&Recipe> {
        match self.commands.first()? {
            Command::Retrain(recipe) if !recipe.is_default() => Some(recipe),
            _ => None,
        }
    }

    /// The commands that are given to the model at its beginning.
    pub(in crate::kernel) fn of_model(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| !matches!(command, Command::Retrain(_)))
    }

    /// The recipe of a retraining that starts again once all else is done.
    pub(in crate::kernel) fn under_way(&self) -> Option<&Recipe> {
        match self.commands.split_first()?.1.last()? {
            Command::Retrain(recipe) => Some(recipe),
            _ => None,
        }
    }
}

/// Names of a pretrained model's files, each with its SHA-256.
pub fn files(model: &Pretrained) -> Vec<(String, String)> {
    model.files.iter().map(|file| (file.name.clone(), file.sha256.clone())).collect()
}

fn commands_of(snapshot: &Snapshot, model: &ModelSnapshot) -> Vec<Command> {
    let retrain = |recipe: &Recipe| Command::Retrain(Box::new(recipe.clone()));
    let mut commands: Vec<Command> = Vec::new();
    commands.extend((!model.recipe.is_default()).then(|| retrain(&model.recipe)));
    commands.extend(sentences_of(model).into_iter().map(Command::Sentence));
    commands.extend(senses_of(&model.senses.list, model.senses.is_on).into_iter().map(Command::Senses));
    commands.extend(snapshot.space.iter().flat_map(|space| axes_of(space)).map(Command::Axes));
    commands.extend(InterventionCommand::all_of(&model.interventions).into_iter().map(Command::Interventions));
    match &snapshot.awaited {
        // What is yet to be done again is as it was saved.
        Some(awaited) => {
            commands.extend(awaited.of_model().filter(|command| command.concerns_training()).cloned());
            commands.extend(awaited.under_way().map(retrain));
        }
        None => {
            commands.extend(training_of(model).0);
            commands.extend(snapshot.retraining.iter().map(|under_way| retrain(&under_way.recipe)));
        }
    }
    commands
}

fn sentences_of(model: &ModelSnapshot) -> Vec<SentenceCommand> {
    let choice = |sentence: &SentenceSnapshot| match &sentence.text {
        None if model.pretrained.is_some() => {
            SentenceCommand::Words(sentence.chosen().iter().map(|token| token.text.clone()).collect())
        }
        _ => SentenceCommand::Set(sentence.written()),
    };
    let first = (model.sentence.index != Some(0)).then(|| choice(&model.sentence));
    let second = model.second.as_ref().map(|second| SentenceCommand::SetSecond(Some(second.sentence.written())));
    first.into_iter().chain(second).collect()
}

/// The list of senses and whether it is shown; nothing where nothing is written.
pub(super) fn senses_of(list: &SenseList, is_on: bool) -> Vec<SenseCommand> {
    let replace = (is_on || !list.is_empty()).then(|| SenseCommand::Replace(list.clone()));
    replace.into_iter().chain(is_on.then_some(SenseCommand::Show(true))).collect()
}

/// Nothing where the axes are the lesson's.
fn axes_of(space: &StaticSpace) -> Vec<AxisCommand> {
    let basis = &space.basis;
    if *basis == space.own_basis {
        return Vec::new();
    }
    let raw = basis.raw.then_some(AxisCommand::SetRaw(true));
    let fit =
        basis.fitted.iter().map(|fit| AxisCommand::Fit { mean: fit.mean().to_vec(), covariance: fit.packed() });
    let chosen = Axis::ALL.into_iter().zip(&basis.chosen).filter_map(|(axis, chosen)| {
        let chosen = chosen.as_ref()?;
        Some(AxisCommand::Set { axis, from: chosen.from.text.clone(), to: chosen.to.text.clone() })
    });
    raw.into_iter().chain(fit).chain(chosen).collect()
}

fn training_of(model: &ModelSnapshot) -> TrainingWay {
    let training = &model.training;
    let mut way = TrainingWay::default();
    for done in training.changes.iter() {
        way.to(done.step);
        match &done.change {
            Change::LearningRate(rate) => way.set_rate(*rate),
            Change::Entries(entries) => way.go_on_from(TensorEntries::all(&model.parameters, entries)),
        }
    }
    let progress = training.progress;
    way.end((progress.done < progress.of).then_some(progress.done));
    if training.diverged().is_some() {
        way.overflow();
    }
    if let Some((trained, live)) = &training.edited_latest {
        way.turn(TensorEntries::between(trained, live));
    }
    if let Some(look) = training.look {
        way.look(look.target);
    }
    way.turn(TensorEntries::between(&model.trained, &model.parameters));
    if training.playing {
        way.play();
    }
    way
}

/// The commands of a training: to its changes, step after step, to its end, and what was turned there.
#[derive(Default)]
pub(super) struct TrainingWay(pub Vec<Command>, usize);

impl TrainingWay {
    fn push(&mut self, command: TrainingCommand) {
        self.0.push(Command::Training(command));
    }

    pub fn to(&mut self, step: usize) {
        if step > self.1 {
            self.1 = step;
            self.push(TrainingCommand::TrainTo(Some(step)));
        }
    }

    pub fn set_rate(&mut self, rate: f64) {
        self.push(TrainingCommand::SetLearningRate(rate));
    }

    /// Training goes on from these weights.
    pub fn go_on_from(&mut self, entries: Vec<TensorEntries>) {
        self.turn(entries);
        self.push(TrainingCommand::TrainTo(Some(self.1)));
    }

    /// What comes now is no part of the training; `None`: it is at the lesson's last step.
    pub fn end(&mut self, step: Option<usize>) {
        self.push(TrainingCommand::TrainTo(step));
    }

    /// The next step overflows, and says why.
    pub fn overflow(&mut self) {
        self.push(TrainingCommand::Step(1));
    }

    pub fn look(&mut self, step: usize) {
        self.push(TrainingCommand::Scrub(step));
    }

    pub fn turn(&mut self, entries: Vec<TensorEntries>) {
        self.0.extend(entries.into_iter().map(|entries| Command::Weights(WeightCommand::Put(entries))));
    }

    pub fn play(&mut self) {
        self.push(TrainingCommand::Play);
    }
}
