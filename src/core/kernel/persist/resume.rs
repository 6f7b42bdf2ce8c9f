//! A model as it was left: it trains again to where it was, each change of the learner's at its step, and
//! then what was turned is turned again. What does not fit is left out, with words.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::kernel::data::senses::SenseList;
use crate::kernel::data::vocabulary::{index_of, rows_of};
use crate::kernel::model::LessonModel;
use crate::kernel::persist::saved::{SavedChange, SavedModel, SavedTensor, files};
use crate::kernel::scene::sentence::Sentence;
use crate::kernel::training::Training;
use crate::kernel::training::change_log::Change;
use crate::kernel::training::stop::Stopped;
use crate::lesson::issue::shorten;
use crate::lesson::pieces::pieces_max;
use crate::lesson::schema::{Lesson, StaticEmbedding};

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
    pub fn advance(&mut self, training: &mut Training, report: &mut Vec<String>) -> bool {
        if self.stage == Stage::Recalling {
            training.advance();
            let has_arrived = training.model().replay().is_none_or(crate::kernel::training::run::Replay::has_arrived);
            return has_arrived && self.finish(training, report);
        }
        if training.model().run.is_recovering() {
            training.advance();
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
            training.advance();
            return false;
        }
        if !self.changes.is_empty() {
            report.push(format!("Changes after step {done} are left out: training has no such steps now."));
            self.changes.clear();
        }
        if self.had_diverged {
            training.try_step();
        }
        let look = self.saved.training.look.filter(|look| *look < done);
        let Some(look) = look else { return self.finish(training, report) };
        turn(training, &self.saved.training.edits_at_latest, report);
        // The step is there: it was checked.
        let _ = training.scrub(look);
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
    /// Shows the sentence again, with its interventions.
    pub(in crate::kernel) fn put_back(&mut self, saved: &SavedModel, lesson: &Lesson, report: &mut Vec<String>) {
        if let Some(model) = &self.pretrained
            && !saved.files.is_empty()
            && saved.files != files(model)
        {
            report.push(
                "The model's files have changed since this was saved; changes of weights now apply to the new values."
                    .to_owned(),
            );
        }
        let is_back = saved.sentence.as_ref().is_none_or(|words| match self.known(words, lesson) {
            Ok(sentence) => {
                self.scene.show(sentence);
                true
            }
            Err(why) => {
                report.push(format!("The sentence on the stage was another: {why}."));
                false
            }
        });
        if let Some(words) = &saved.second {
            match self.known(words, lesson) {
                Ok(sentence) => {
                    self.scene.set_second(Some(sentence));
                }
                Err(why) => report.push(format!("The sentence beside it is left out: {why}.")),
            }
        }
        if let Some(senses) = &saved.senses {
            let sentences = SenseList::read_rows(&senses.sentences);
            let list = sentences.and_then(|sentences| SenseList { word: senses.word.clone(), sentences }.checked());
            match list {
                Ok(list) => {
                    self.scene.set_senses((Arc::new(list), senses.is_on));
                    self.scene.read_senses(lesson);
                }
                Err(why) => report.push(format!("The list of senses is left out: {why}.")),
            }
        }
        if let Some(basis) = &saved.basis {
            self.put_back_basis(basis, lesson, report);
        }
        if let Some(interventions) = &saved.interventions {
            self.intervene_again(interventions, is_back, lesson, report);
        }
    }

    fn known(&self, words: &[String], lesson: &Lesson) -> Result<Sentence, String> {
        if let (StaticEmbedding::Pretrained(_), [text]) = (&lesson.static_embedding, words) {
            return Sentence::read(text, lesson, &self.words);
        }
        let architecture = &lesson.model.architecture;
        let most = if lesson.static_embedding.is_pretrained() {
            pieces_max(architecture, self.words.len())
        } else {
            architecture.max_tokens
        };
        if words.is_empty() || words.len() > most {
            return Err(format!("it had {} words, and the model reads from 1 to {most}", words.len()));
        }
        let index = index_of(&self.words);
        let unknown = words.iter().find(|word| !index.contains_key(word.as_str()));
        let rows = rows_of(words, &index).ok_or_else(|| {
            format!("the lesson does not know its word “{}”", shorten(unknown.map_or("", String::as_str)))
        })?;
        let place = lesson.sentences.iter().position(|sentence| sentence == words);
        Ok(Sentence { index: place, words: rows, text: None })
    }
}
