//! The learner's work on a lesson, as it is saved, shared and handed in: the shortest list of commands that leads to
//! the state in a snapshot, and the notebook. The work is also restored here.
//!
//! Training is deterministic, so the list contains only the learner's actions on the model: how far it was trained, the
//! weights that were changed during training, and those that were edited since. [`Resuming`] applies each command again
//! at the training step at which it was given. A command that is refused is left out, and the refusal is reported.

mod older;

use std::collections::VecDeque;
use std::ops::Not;
use std::sync::Arc;

use attune_engine::json;
use attune_engine::pretrained::Pretrained;
use attune_engine::pretrained::folder::PAIR;
use serde::{Deserialize, Serialize};

use self::older::AnyWork;
use crate::kernel::command::{
    AxisCommand, Command, InterventionCommand, SenseCommand, SenseList, SentenceCommand, TensorEntries,
    TrainingCommand, WeightCommand,
};
use crate::kernel::evidence::AskedAnswer;
use crate::kernel::evidence::over_texts::KeptTexts;
use crate::kernel::model::LessonModel;
use crate::kernel::notebook::saved::SavedNotebook;
use crate::kernel::sentence_pass::sentence::TextOrIds;
use crate::kernel::snapshot::{ModelSnapshot, Snapshot};
use crate::kernel::training::run::RunChange;
use crate::kernel::values::sentence::{SentenceSnapshot, Token};
use crate::kernel::values::space::{Axis, StaticSpace};
use crate::lesson::Recipe;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, from = "AnyWork")]
pub struct Saved {
    /// Id of the lesson.
    pub lesson: String,
    pub seed: Option<u64>,
    pub notebook: SavedNotebook,
    /// Whether a tour of the model was written into the notebook.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_toured: bool,
    /// Files of the pretrained model to which the commands were applied, each with its SHA-256.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
    /// Commands from the beginning of the lesson; empty if there was no model yet. A [`Command::Retrain`] as the first
    /// command is the recipe with which the lesson opens, and one as the last command is a retraining that was in
    /// progress.
    pub commands: Vec<Command>,
    /// The results of all heads over a file of texts.
    #[serde(skip_serializing_if = "Option::is_none", with = "json::maybe_shared")]
    pub texts: Option<Arc<KeptTexts>>,
}

impl Saved {
    pub fn of(snapshot: &Snapshot) -> Self {
        let awaited = snapshot.awaited.as_deref();
        let (commands, files) = match (&snapshot.model, awaited) {
            (Some(model), _) => {
                (commands_of(snapshot, model), model.pretrained.as_deref().map_or_else(Vec::new, files))
            }
            (None, Some(awaited)) => (awaited.commands.clone(), awaited.files.clone()),
            (None, None) => Default::default(),
        };
        Self {
            lesson: snapshot.lesson.id.clone(),
            seed: Some(snapshot.lesson.seed),
            notebook: SavedNotebook::of(&snapshot.notebook, &snapshot.lesson),
            is_toured: snapshot.is_toured,
            files,
            commands,
            texts: snapshot.texts.kept.clone(),
        }
    }

    /// Returns the recipe with which the lesson opens, or `None` for the lesson's own.
    pub(crate) fn recipe(&self) -> Option<&Recipe> {
        match self.commands.first()? {
            Command::Retrain(recipe) if !recipe.is_default() => Some(recipe),
            _ => None,
        }
    }

    /// Returns a message for the learner if the model's files have changed since the work was saved.
    pub(crate) fn compare_files(&self, model: &LessonModel) -> Option<String> {
        let model = model.ground.pretrained.as_deref()?;
        let are_others = !self.files.is_empty() && self.files != files(model);
        are_others.then(|| {
            "The model's files have changed since this was saved; changes of weights now apply to the new values."
                .to_owned()
        })
    }

    /// Returns the commands that are applied to the model; retrainings are left out.
    pub(crate) fn of_model(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| !matches!(command, Command::Retrain(_)))
    }

    /// Returns the recipe of a retraining that was in progress. It is started again once the model is restored.
    pub(crate) fn under_way(&self) -> Option<&Recipe> {
        match self.commands.split_first()?.1.last()? {
            Command::Retrain(recipe) => Some(recipe),
            _ => None,
        }
    }
}

/// Returns the names of a pretrained model's files, each with its SHA-256.
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
    let of = (&model.architecture, model.sentence.tokens.len());
    let interventions = InterventionCommand::all_of(&model.interventions, Some(of));
    commands.extend(interventions.into_iter().map(Command::Interventions));
    commands.extend((model.asked != AskedAnswer::default()).then(|| Command::Answers(model.asked.clone())));
    match &snapshot.awaited {
        // Commands that have not been applied again yet are kept as they were saved.
        Some(awaited) => {
            commands.extend(awaited.of_model().filter(|command| command.concerns_training()).cloned());
            commands.extend(awaited.under_way().map(retrain));
        }
        None => {
            commands.extend(training_of(model));
            commands.extend(snapshot.retraining.iter().map(|under_way| retrain(&under_way.recipe)));
        }
    }
    commands
}

fn sentences_of(model: &ModelSnapshot) -> Vec<SentenceCommand> {
    let ids = |tokens: &[Token]| TextOrIds::Ids(tokens.iter().filter_map(|token| token.word).collect());
    let choice = |sentence: &SentenceSnapshot| match &sentence.text {
        // The target is not part of the sentence's text, so it is saved beside the source.
        text if sentence.has_own_target && text.as_ref().is_none_or(|text| !text.text.contains(PAIR)) => {
            let source = text.as_ref().map(|text| TextOrIds::Text(text.text.clone()));
            let source = source.unwrap_or_else(|| ids(sentence.chosen()));
            SentenceCommand::Pair { source, target: ids(&sentence.tokens) }
        }
        None if model.pretrained.is_some() => {
            SentenceCommand::Words(sentence.chosen().iter().map(|token| token.text.clone()).collect())
        }
        _ => SentenceCommand::Set(sentence.written()),
    };
    if let Some(recorded) = &model.recorded {
        let place = &recorded.place;
        let select = (place.text > 0).then_some(SentenceCommand::Select(place.text));
        let stretch = (place.first > 0).then_some(SentenceCommand::Stretch(place.first));
        let second = model.second.as_ref().and_then(|second| second.other.index);
        let second = second.map(|text| SentenceCommand::SetSecond(Some(place.model.title(text))));
        return select.into_iter().chain(stretch).chain(second).collect();
    }
    let first = (model.sentence.index != Some(0)).then(|| choice(&model.sentence));
    let second = model.second.as_ref().map(|second| SentenceCommand::SetSecond(Some(second.other.written())));
    first.into_iter().chain(second).collect()
}

/// Returns the commands for the list of senses, or none if the list is empty and not shown.
fn senses_of(list: &SenseList, is_on: bool) -> Vec<SenseCommand> {
    let replace = (is_on || !list.is_empty()).then(|| SenseCommand::Replace(list.clone()));
    replace.into_iter().chain(is_on.then_some(SenseCommand::Show(true))).collect()
}

/// Returns the commands for the axes, or none if they are the lesson's.
fn axes_of(space: &StaticSpace) -> Vec<AxisCommand> {
    let basis = &space.basis;
    if *basis == space.own_basis {
        return Vec::new();
    }
    let raw = basis.raw.then_some(AxisCommand::SetRaw(true));
    let fit = basis.fitted.iter().map(|fit| AxisCommand::Fit {
        mean: fit.mean().to_vec(),
        covariance: fit.packed(),
        meaning: basis.meaning.as_deref().cloned().map(Box::new),
    });
    let chosen = Axis::ALL.into_iter().zip(&basis.chosen).filter_map(|(axis, chosen)| {
        let chosen = chosen.as_ref()?;
        Some(AxisCommand::Set { axis, from: chosen.from.text.clone(), to: chosen.to.text.clone() })
    });
    raw.into_iter().chain(fit).chain(chosen).collect()
}

/// Returns the commands for the training. Each change precedes the [`TrainingCommand::TrainTo`] that continues from it.
/// Changes after the last [`TrainingCommand::TrainTo`] did not affect the training.
fn training_of(model: &ModelSnapshot) -> Vec<Command> {
    let training = &model.training;
    let mut commands = Vec::new();
    for done in training.changes.iter() {
        commands.push(train_to(Some(done.step)));
        match &done.change {
            RunChange::LearningRate(rate) => commands.push(Command::Training(TrainingCommand::SetLearningRate(*rate))),
            RunChange::Entries(entries) => commands.extend(put(TensorEntries::all(&model.parameters, entries))),
        }
    }
    let progress = training.progress;
    commands.push(train_to((progress.done < progress.of).then_some(progress.done)));
    // The next step overflows again, which restores the message.
    commands.extend(training.diverged().map(|_| Command::Training(TrainingCommand::Step(1))));
    let latest = training.edited_latest.as_ref();
    commands.extend(latest.into_iter().flat_map(|(trained, live)| put(TensorEntries::between(trained, live))));
    commands.extend(training.look.map(|look| Command::Training(TrainingCommand::Scrub(look.target))));
    commands.extend(put(TensorEntries::between(&model.trained, &model.parameters)));
    commands.extend(training.playing.then_some(Command::Training(TrainingCommand::Play)));
    commands
}

/// Returns the command that trains to a step, or to the lesson's last if it is `None`.
fn train_to(step: Option<usize>) -> Command {
    Command::Training(TrainingCommand::TrainTo(step))
}

fn put(entries: Vec<TensorEntries>) -> impl Iterator<Item = Command> {
    entries.into_iter().map(|entries| Command::Weights(WeightCommand::Put(entries)))
}

/// A model that is being restored to its saved state.
pub struct Resuming {
    rest: VecDeque<Command>,
    /// Training step that the last command requested; `None` once it has been compared with the step that training
    /// reached.
    goal: Option<usize>,
    /// Whether the saved sentence was refused, so that commands about it are left out.
    has_no_sentence: bool,
    has_no_senses: bool,
    /// Whether the learner has paused the restoration.
    pub is_paused: bool,
    /// Whether training continues after the restoration.
    plays: bool,
}

impl Resuming {
    pub fn new(saved: &Saved, plays: bool) -> Self {
        let rest = saved.of_model().cloned().collect();
        Self { rest, goal: None, has_no_sentence: false, has_no_senses: false, is_paused: false, plays }
    }

    /// Does the next part of the restoration, and returns true once the model is restored.
    pub fn advance(&mut self, model: &mut LessonModel, report: &mut Vec<String>) -> bool {
        /// Greatest number of commands that one call applies; more would take noticeable time.
        const AT_ONCE: usize = 256;
        for _ in 0..AT_ONCE {
            if model.training.is_busy() {
                model.advance();
                return false;
            }
            self.arrive(model, report);
            match self.rest.pop_front() {
                Some(Command::Training(TrainingCommand::Play)) if self.rest.is_empty() => self.plays = true,
                Some(command) => report.extend(self.redo(command, model)),
                None => {
                    if self.plays && model.training.model().replay().is_none() {
                        model.play_at_opening();
                    }
                    return true;
                }
            }
        }
        false
    }

    /// Resumes the restoration, after which training continues.
    pub fn play(&mut self) {
        (self.is_paused, self.plays) = (false, true);
    }

    /// Pauses the restoration.
    pub fn pause(&mut self) {
        (self.is_paused, self.plays) = (true, false);
        self.rest.pop_back_if(|last| *last == Command::Training(TrainingCommand::Play));
    }

    /// Applies a command. Returns the reason if it is left out.
    fn redo(&mut self, command: Command, model: &mut LessonModel) -> Option<String> {
        let shows =
            matches!(&command, Command::Sentence(sentence) if !matches!(sentence, SentenceCommand::SetSecond(_)));
        let lists = matches!(command, Command::Senses(SenseCommand::Replace(_)));
        if let Command::Training(TrainingCommand::TrainTo(step)) = command {
            self.goal = Some(step.unwrap_or(model.training.trainer().steps()));
        }
        let lesson = model.origin.lesson.clone();
        let mut done = match &command {
            Command::Interventions(of_sentence) if of_sentence.is_of_sentence() && self.has_no_sentence => {
                Err("its sentence is no longer there".to_owned())
            }
            // The refusal of the list has been reported already.
            Command::Senses(_) if self.has_no_senses && !lists => Ok(()),
            _ => model.apply(command.clone(), &lesson),
        };
        // A new sentence may refit the axes. They are reset, because the saved axes are the lesson's, or a later
        // command sets them.
        if shows && done.is_ok() {
            done = model.apply(Command::Axes(AxisCommand::ResetAll), &lesson);
        }
        // Restored changes are not added to the undo history.
        model.take_changes();
        self.has_no_sentence |= shows && done.is_err();
        self.has_no_senses |= lists && done.is_err();
        done.err().map(|why| command.left_out(&why))
    }

    /// Adds a line to the report if training stopped before its goal. The changes that were made between that step and
    /// the goal are then left out.
    fn arrive(&mut self, model: &LessonModel, report: &mut Vec<String>) {
        let Some(goal) = self.goal.take() else { return };
        let (done, last) = (model.training.steps_done(), model.training.trainer().steps());
        if done >= goal {
            return;
        }
        if done < last {
            let goal = goal.min(last);
            report.push(format!("Training now ends at step {done}; the saved step {goal} cannot be reached."));
        }
        let trains = |command: &Command| matches!(command, Command::Training(TrainingCommand::TrainTo(_)));
        let Some(end) = self.rest.iter().rposition(trains) else { return };
        if !self.rest.drain(..=end).all(|command| trains(&command)) {
            report.push(format!("Changes after step {done} are left out, because training no longer has such steps."));
        }
    }
}
