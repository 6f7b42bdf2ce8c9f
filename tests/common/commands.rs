//! Commands in short: what a learner does, in the words of tests.

use std::ops::Range;

use attune_core::kernel::Command;
use attune_core::kernel::command::{
    Axis, AxisCommand, InterventionCommand, Reference, SentenceCommand, TrainingCommand, WeightCommand,
};
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::lesson::Recipe;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorId;

pub const PLAY: Command = Command::Training(TrainingCommand::Play);
pub const PAUSE: Command = Command::Training(TrainingCommand::Pause);
pub const RESET: Command = Command::Training(TrainingCommand::Reset);
pub const BRANCH: Command = Command::Training(TrainingCommand::Branch);
pub const SHOW_LATEST: Command = Command::Training(TrainingCommand::ShowLatest);
pub const RESET_WEIGHTS: Command = Command::Weights(WeightCommand::ResetAll);
pub const REFIT: Command = Command::Axes(AxisCommand::Refit);
pub const RESET_AXES: Command = Command::Axes(AxisCommand::ResetAll);
pub const RUN_ALL: Command = Command::Notebook(NotebookCommand::RunAll);

pub fn step(steps: usize) -> Command {
    Command::Training(TrainingCommand::Step(steps))
}

pub fn train_to(step: Option<usize>) -> Command {
    Command::Training(TrainingCommand::TrainTo(step))
}

pub fn scrub(step: usize) -> Command {
    Command::Training(TrainingCommand::Scrub(step))
}

pub fn learning_rate(rate: f64) -> Command {
    Command::Training(TrainingCommand::SetLearningRate(rate))
}

pub fn compare(with: Reference) -> Command {
    Command::Training(TrainingCommand::Compare(Some(with)))
}

/// Trains the lesson again with a recipe.
pub fn retraining(recipe: Recipe) -> Command {
    Command::Retrain(Box::new(recipe))
}

pub fn set(tensor: impl Into<TensorId>, row: usize, col: usize, value: f32) -> Command {
    Command::Weights(WeightCommand::Set { tensor: tensor.into(), row, col, value })
}

/// Takes a tensor back to its trained values.
pub fn reset_tensor(tensor: impl Into<TensorId>) -> Command {
    Command::Weights(WeightCommand::ResetTensor(tensor.into()))
}

pub fn head(head: usize, mode: HeadMode<f32>) -> Command {
    Command::Interventions(InterventionCommand::SetHead { head, mode })
}

pub fn heads(heads: Range<usize>, mode: HeadMode<f32>) -> Command {
    Command::Interventions(InterventionCommand::SetHeads { heads, mode })
}

pub fn solo(head: usize) -> Command {
    Command::Interventions(InterventionCommand::Solo(Some(head)))
}

pub fn temperature(temperature: f64) -> Command {
    Command::Interventions(InterventionCommand::SetTemperature(Some(temperature)))
}

/// Turns a pair of the mask.
pub fn toggle(query: usize, key: usize) -> Command {
    Command::Interventions(InterventionCommand::ToggleMask { query, key })
}

/// Shows a sentence of the lesson.
pub fn select(index: usize) -> Command {
    Command::Sentence(SentenceCommand::Select(index))
}

/// Shows a sentence of the learner's own.
pub fn sentence(text: &str) -> Command {
    Command::Sentence(SentenceCommand::Set(text.to_owned()))
}

/// Sets a second sentence beside the first.
pub fn beside(text: &str) -> Command {
    Command::Sentence(SentenceCommand::SetSecond(Some(text.to_owned())))
}

pub fn axis(axis: Axis, from: &str, to: &str) -> Command {
    Command::Axes(AxisCommand::Set { axis, from: from.to_owned(), to: to.to_owned() })
}

pub fn auto_run(on: bool) -> Command {
    Command::Notebook(NotebookCommand::SetAutoRun(on))
}

pub fn of_cell(id: &str, command: CellCommand) -> Command {
    Command::Notebook(NotebookCommand::Cell(id.into(), command))
}
