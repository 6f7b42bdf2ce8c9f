//! Reader of work that any version of the program has saved. In older versions, the model's part was a table of results
//! instead of a list of commands.

use std::sync::Arc;

use attune_engine::json::{self, beginning};
use attune_engine::numerics::model::activations::Interventions;
use serde::Deserialize;

use crate::kernel::command::{
    Axis, AxisCommand, Command, InterventionCommand, SenseList, SenseSentence, SentenceCommand, TensorEntries,
    TrainingCommand,
};
use crate::kernel::evidence::over_texts::KeptTexts;
use crate::kernel::notebook::saved::SavedNotebook;
use crate::kernel::saved_work::{Saved, put, senses_of, train_to};
use crate::kernel::sentence_pass::senses::LISTED_MAX;
use crate::lesson::Recipe;

/// Greatest number of commands that are read: twice as many as the longest list of changes in a training takes, with
/// two commands for each changed entry.
const COMMANDS_MAX: usize = 1 << 18;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AnyWork {
    lesson: String,
    seed: Option<u64>,
    notebook: SavedNotebook,
    is_toured: bool,
    files: Vec<(String, String)>,
    #[serde(deserialize_with = "beginning::<COMMANDS_MAX, _, _>")]
    commands: Vec<Command>,
    #[serde(with = "json::maybe_shared")]
    texts: Option<Arc<KeptTexts>>,
    /// The model's part in files of older versions.
    model: Option<Model>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Model {
    recipe: Option<Recipe>,
    retraining: Option<Recipe>,
    sentence: Option<Vec<String>>,
    second: Option<Vec<String>>,
    senses: Option<Senses>,
    basis: Option<Basis>,
    interventions: Option<Interventions<f32>>,
    training: Training,
    files: Vec<(String, String)>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Senses {
    word: String,
    /// Sentences, one on each line; the letter of a sentence's sense and a tab may precede it.
    sentences: String,
    is_on: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Basis {
    #[serde(with = "json::numbers")]
    mean: Vec<f64>,
    #[serde(with = "json::numbers")]
    covariance: Vec<f64>,
    axes: Vec<(String, String, String)>,
    raw: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Training {
    steps: usize,
    is_at_end: bool,
    is_playing: bool,
    look: Option<usize>,
    changes: Vec<TimedChange>,
    edits: Vec<TensorEntries>,
    edits_at_latest: Vec<TensorEntries>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TimedChange {
    step: usize,
    learning_rate: Option<f64>,
    entries: Vec<TensorEntries>,
}

impl From<AnyWork> for Saved {
    fn from(work: AnyWork) -> Self {
        let AnyWork { lesson, seed, notebook, is_toured, files, commands, texts, model } = work;
        let (files, mut commands) = match model {
            Some(mut model) => (std::mem::take(&mut model.files), model.commands()),
            None => (files, commands),
        };
        commands.truncate(COMMANDS_MAX);
        Self { lesson, seed, notebook, is_toured, files, commands, texts }
    }
}

impl Model {
    fn commands(self) -> Vec<Command> {
        let Self { recipe, retraining, sentence, second, senses, basis, interventions, training, files } = self;
        let retrain = |recipe| Command::Retrain(Box::new(recipe));
        let words = |words: Vec<String>| match words.len() {
            // Only the work on a pretrained model lists files.
            0 | 2.. if !files.is_empty() => SentenceCommand::Words(words),
            _ => SentenceCommand::Set(words.join(" ")),
        };
        let mut commands: Vec<Command> = recipe.map(retrain).into_iter().collect();
        commands.extend(sentence.map(words).map(Command::Sentence));
        let second = second.map(|words| SentenceCommand::SetSecond(Some(words.join(" "))));
        commands.extend(second.map(Command::Sentence));
        commands
            .extend(senses.into_iter().flat_map(|senses| senses_of(&senses.list(), senses.is_on)).map(Command::Senses));
        commands.extend(basis.into_iter().flat_map(Basis::commands).map(Command::Axes));
        let changes = interventions.iter().flat_map(|changes| InterventionCommand::all_of(changes, None));
        commands.extend(changes.take(COMMANDS_MAX).map(Command::Interventions));
        commands.extend(training.commands());
        commands.extend(retraining.map(retrain));
        commands
    }
}

impl Senses {
    fn list(&self) -> SenseList {
        // One sentence more than a list may hold is read, so that a longer list is refused.
        let rows = self.sentences.lines().take(LISTED_MAX + 1);
        SenseList { word: self.word.clone(), sentences: rows.map(SenseSentence::read).collect() }
    }
}

impl Basis {
    fn commands(self) -> Vec<AxisCommand> {
        let Self { mean, covariance, axes, raw } = self;
        let raw = raw.then_some(AxisCommand::SetRaw(true));
        let fit = (!mean.is_empty()).then_some(AxisCommand::Fit { mean, covariance, meaning: None });
        let chosen = axes.into_iter().filter_map(|(letter, from, to)| {
            let axis = Axis::ALL.into_iter().find(|axis| axis.letter() == letter)?;
            Some(AxisCommand::Set { axis, from, to })
        });
        raw.into_iter().chain(fit).chain(chosen).collect()
    }
}

impl Training {
    fn commands(self) -> Vec<Command> {
        let Self { steps, is_at_end, is_playing, look, changes, edits, edits_at_latest } = self;
        let train = Command::Training;
        let mut commands = Vec::new();
        for TimedChange { step, learning_rate, entries } in changes {
            commands.push(train_to(Some(step)));
            commands.extend(learning_rate.map(|rate| train(TrainingCommand::SetLearningRate(rate))));
            commands.extend(put(entries));
        }
        commands.push(train_to((!is_at_end).then_some(steps)));
        // While training plays, edits become part of it and its latest step is shown. A file that has edits or shows a
        // past step is therefore from a training that overflowed.
        let has_overflowed = is_playing && (look.is_some() || !edits.is_empty());
        commands.extend(has_overflowed.then_some(train(TrainingCommand::Step(1))));
        if let Some(look) = look.filter(|look| is_at_end || *look < steps) {
            commands.extend(put(edits_at_latest));
            commands.push(train(TrainingCommand::Scrub(look)));
        }
        commands.extend(put(edits));
        commands.extend((is_playing && !has_overflowed).then_some(train(TrainingCommand::Play)));
        commands
    }
}
