//! A model as it was left: it trains again to where it was, each change of the learner's at its step, and
//! then what was turned is turned again. What does not fit is left out, with words.

use std::collections::VecDeque;
use std::sync::Arc;

use attune_engine::numerics::spread::Spread;

use crate::kernel::command::{
    Axis, AxisCommand, Command, InterventionCommand, SenseCommand, SenseList, SentenceCommand,
};
use crate::kernel::data::vocabulary::index_of;
use crate::kernel::model::LessonModel;
use crate::kernel::persist::saved::{SavedBasis, SavedChange, SavedModel, SavedSenses, SavedTensor, files};
use crate::kernel::training::Training;
use crate::kernel::training::change_log::Change;
use crate::kernel::training::stop::Stopped;
use crate::lesson::issue::shorten;
use crate::lesson::schema::Lesson;

/// Training on its way to where it was.
pub struct Resuming {
    goal: usize,
    changes: VecDeque<SavedChange>,
    saved: Arc<SavedModel>,
    stage: Stage,
    /// Asked to stand still on the way.
    pub is_paused: bool,
    /// Training goes on when it is where it was.
    pub plays: bool,
    /// Diverged training, which stood still while something was turned or looked at since.
    had_diverged: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Training,
    /// The past step that was shown is being recalled.
    Recalling,
}

impl Resuming {
    pub fn new(saved: Arc<SavedModel>, lesson: &Lesson) -> Self {
        let training = &saved.training;
        let goal = if training.is_at_end { lesson.model.steps } else { training.steps.min(lesson.model.steps) };
        let changes = training.changes.iter().cloned().collect();
        // Training that plays takes in what is turned, and shows its latest step.
        let is_still = !training.edits.is_empty() || !training.edits_at_latest.is_empty() || training.look.is_some();
        let (plays, had_diverged) = (training.is_playing && !is_still, training.is_playing && is_still);
        Self { goal, changes, stage: Stage::Training, is_paused: false, plays, had_diverged, saved }
    }

    /// Does the next piece; true when training is where it was.
    pub fn advance(&mut self, model: &mut LessonModel, report: &mut Vec<String>) -> bool {
        let LessonModel { training, cache, .. } = model;
        let cache = &mut cache.steps;
        if self.stage == Stage::Recalling {
            training.advance(cache);
            let has_arrived = training.model().replay().is_none_or(crate::kernel::training::run::Replay::has_arrived);
            return has_arrived && self.finish(training, report);
        }
        if training.model().run.is_recovering() {
            training.advance(cache);
            return false;
        }
        let done = training.steps_done();
        while let Some(change) = self.changes.pop_front_if(|change| change.step <= done) {
            let result = redo(training, &change);
            report.extend(result.err().map(|why| format!("A change at step {} is left out: {why}.", change.step)));
        }
        if let Some(Stopped::Diverged(_)) = training.stopped()
            && done < self.goal
        {
            report.push(format!("Training no longer comes to step {}: it stands at {done}.", self.goal));
            self.goal = done;
        }
        if done < self.goal {
            let next = self.changes.front().map_or(self.goal, |change| change.step.min(self.goal));
            if !training.is_playing() && training.play_to(next).is_err() {
                // It can only be at its end, where nothing is left to do.
                self.goal = done;
            }
            training.advance(cache);
            return false;
        }
        if !self.changes.is_empty() {
            report.push(format!("Changes after step {done} are left out: training has no such steps now."));
            self.changes.clear();
        }
        if self.had_diverged {
            training.try_step(cache);
        }
        let look = self.saved.training.look.filter(|look| *look < done);
        let Some(look) = look else { return self.finish(training, report) };
        turn(training, &self.saved.training.edits_at_latest, report);
        // The step is there: it was checked.
        let _ = training.scrub(look, cache);
        self.stage = Stage::Recalling;
        false
    }

    fn finish(&mut self, training: &mut Training, report: &mut Vec<String>) -> bool {
        turn(training, &self.saved.training.edits, report);
        if self.plays && training.model().replay().is_none() {
            // Where nothing is left to train, it stands still.
            let _ = training.play_to(training.trainer().steps());
        }
        true
    }
}

/// Does again what was changed while training was on its way.
fn redo(training: &mut Training, change: &SavedChange) -> Result<(), String> {
    if let Some(rate) = change.learning_rate {
        training.set_learning_rate(rate)?;
    }
    let mut entries = Vec::new();
    for tensor in &change.entries {
        entries.extend(tensor.entries(training.model().trained()).ok_or_else(|| misfit(tensor))?);
    }
    // What was turned in several tensors at once is one change again.
    if entries.is_empty() { Ok(()) } else { training.go_on_from(&Change::Entries(entries.into())) }
}

fn misfit(tensor: &SavedTensor) -> String {
    let SavedTensor { name, rows, cols, .. } = tensor;
    format!("the model cannot take entries of a tensor {} of {rows} by {cols}", shorten(name))
}

/// Turns again what was turned at the step that is shown.
fn turn(training: &mut Training, edits: &[SavedTensor], report: &mut Vec<String>) {
    if edits.is_empty() {
        return;
    }
    let mut live = training.model().live().as_ref().clone();
    for tensor in edits {
        match tensor.entries(&live) {
            Some(entries) => entries.into_iter().for_each(|(index, value)| live.set_at(index, value)),
            None => report.push(format!("Your change of a weight is left out: {}.", misfit(tensor))),
        }
    }
    report.extend(training.edit(live).err().map(|why| format!("Your change of a weight is left out: {why}.")));
}

impl LessonModel {
    /// Applies again the commands that led to what was shown; undo begins after them.
    pub(in crate::kernel) fn put_back(&mut self, saved: &SavedModel, report: &mut Vec<String>) {
        if let Some(model) = &self.pretrained
            && !saved.files.is_empty()
            && saved.files != files(model)
        {
            report.push(
                "The model's files have changed since this was saved; changes of weights now apply to the new values."
                    .to_owned(),
            );
        }
        let lesson = self.origin.lesson.clone();
        let mut has_sentence = true;
        for command in self.commands_of(saved, report) {
            let done = match &command {
                Command::Interventions(of_sentence) if of_sentence.is_of_sentence() && !has_sentence => {
                    Err("its sentence is no longer there".to_owned())
                }
                _ => self.apply(command.clone(), &lesson),
            };
            let chooses = matches!(command, Command::Sentence(SentenceCommand::Set(_) | SentenceCommand::Ids(_)));
            has_sentence &= done.is_ok() || !chooses;
            report.extend(done.err().map(|why| command.left_out(&why)));
            self.changes.clear();
        }
        self.end_move();
    }

    /// The commands that lead to what was shown. What no command could make is reported.
    fn commands_of(&self, saved: &SavedModel, report: &mut Vec<String>) -> Vec<Command> {
        let mut commands = Vec::new();
        commands.extend(saved.sentence.as_ref().map(|words| Command::Sentence(self.choice_of(words))));
        let second = saved.second.as_ref().map(|words| SentenceCommand::SetSecond(Some(words.join(" "))));
        commands.extend(second.map(Command::Sentence));
        if let Some(SavedSenses { word, sentences, is_on }) = &saved.senses {
            match SenseList::read_rows(sentences) {
                Ok(sentences) => {
                    let list = SenseCommand::Replace(SenseList { word: word.clone(), sentences });
                    commands.extend([list, SenseCommand::Show(*is_on)].map(Command::Senses));
                }
                Err(why) => report.push(format!("The list of senses is left out: {why}.")),
            }
        }
        if let Some(basis) = &saved.basis {
            commands.extend(basis.commands(report).into_iter().map(Command::Axes));
        }
        if let Some(interventions) = &saved.interventions {
            let mut changes = interventions.clone();
            if ![0, self.scene.interventions().heads.len()].contains(&changes.heads.len()) {
                report.push("The model has another number of heads now: all are live.".to_owned());
                changes.heads.clear();
            }
            commands.extend(InterventionCommand::all_of(&changes).into_iter().map(Command::Interventions));
        }
        commands
    }

    /// The choice of a sentence by its words; of a model that was read from files they are a text, or several tokens.
    fn choice_of(&self, words: &[String]) -> SentenceCommand {
        if self.pretrained.is_none() || words.len() == 1 {
            return SentenceCommand::Set(words.join(" "));
        }
        let index = index_of(&self.words);
        // A token that the model no longer has is refused as one that it never had.
        let id = |word: &String| index.get(word.as_str()).copied().unwrap_or(self.words.len());
        SentenceCommand::Ids(words.iter().map(id).collect())
    }
}

impl SavedBasis {
    fn commands(&self, report: &mut Vec<String>) -> Vec<AxisCommand> {
        let mut commands: Vec<AxisCommand> = self.raw.then_some(AxisCommand::SetRaw(true)).into_iter().collect();
        if !self.mean.is_empty() {
            match Spread::from_packed(self.mean.clone(), &self.covariance) {
                Some(spread) => commands.push(AxisCommand::Fit(Arc::new(spread))),
                None => report.push("The axes are not those that you fitted: their numbers are no spread.".to_owned()),
            }
        }
        commands.extend(self.axes.iter().filter_map(|(letter, from, to)| {
            let axis = Axis::ALL.into_iter().find(|axis| axis.letter() == letter)?;
            Some(AxisCommand::Set { axis, from: from.clone(), to: to.clone() })
        }));
        commands
    }
}
