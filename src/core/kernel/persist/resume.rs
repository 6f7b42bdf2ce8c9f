//! A model as it was left: it trains again to where it was, each change of the learner's at its step, and
//! then what was turned is turned again. What does not fit is left out, with words.

use std::collections::VecDeque;
use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskTable};
use attune_engine::numerics::model::activations::{Interventions, Patch};

use crate::kernel::command::PatchPlace;
use crate::kernel::data::senses::SenseList;
use crate::kernel::data::vocabulary::{index_of, rows_of};
use crate::kernel::model::LessonModel;
use crate::kernel::persist::saved::{
    HIDDEN, SEEN, SavedChange, SavedHead, SavedInterventions, SavedMask, SavedModel, SavedPatch, SavedTensor, files,
};
use crate::kernel::scene::interventions::{self, check_temperature};
use crate::kernel::scene::sentence::Sentence;
use crate::kernel::training::Training;
use crate::kernel::training::change_log::Change;
use crate::kernel::training::stop::Stopped;
use crate::lesson::budget::pieces_max;
use crate::lesson::issue::shorten;
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
            let put_back = self.interventions(interventions, is_back, lesson, report);
            self.scene.set_interventions(Arc::new(put_back));
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

    /// The saved interventions, as far as they fit; some belong to their sentence.
    fn interventions(
        &self,
        saved: &SavedInterventions,
        has_sentence: bool,
        lesson: &Lesson,
        report: &mut Vec<String>,
    ) -> Interventions<f32> {
        let mut put_back = interventions::none(&lesson.model.architecture);
        put_back.scale = saved.scale;
        match saved.temperature.map(check_temperature) {
            Some(Err(why)) => report.push(format!("The temperature is left out: {why}.")),
            Some(Ok(())) | None => put_back.temperature = saved.temperature,
        }
        if saved.heads.len() == put_back.heads.len() {
            for (head, saved) in saved.heads.iter().enumerate() {
                match self.mode_of(saved, head, has_sentence) {
                    Ok(mode) => put_back.heads[head] = mode,
                    Err(why) => report.push(format!("Head {} is live: {why}.", head + 1)),
                }
            }
        } else if !saved.heads.is_empty() {
            report.push("The model has another number of heads now: all are live.".to_owned());
        }
        match saved.mask.as_ref().map(|mask| self.mask_of(mask, has_sentence)) {
            Some(None) => report.push("The mask does not fit the sentence: it is the lesson's.".to_owned()),
            Some(mask) => put_back.mask = mask,
            None => {}
        }
        let edges = saved.edges.iter().map(|&(head, query, key)| Edge { head, query, key });
        for edge in edges {
            match self.with_edge(&put_back, edge, has_sentence) {
                Ok(edges) => put_back.edges = edges,
                Err(why) => report.push(format!("A removed edge is put back: {why}.")),
            }
        }
        if let Some(patch) = &saved.patch {
            match self.patch_of(patch, has_sentence) {
                Ok(patch) => put_back.patch = Some(patch),
                Err(why) => report.push(format!("The patch is left out: {why}.")),
            }
        }
        put_back
    }

    fn with_edge(&self, now: &Interventions<f32>, edge: Edge, has_sentence: bool) -> Result<Vec<Edge>, String> {
        let model = &self.training.trainer().model;
        if !has_sentence || edge.head >= model.architecture.heads() {
            return Err("it does not fit the sentence or the model".to_owned());
        }
        self.scene.check_edge(model, edge)?;
        interventions::with_edge(&now.edges, edge, true)
    }

    /// The vector as it was taken, for places that there still are.
    fn patch_of(&self, saved: &SavedPatch, has_sentence: bool) -> Result<Patch<f32>, String> {
        let SavedPatch { block, position, from, vector } = saved;
        let place = PatchPlace { block: *block, position: *position, from: *from };
        let patch = self.scene.patch(place, &self.training.trainer().model, self.training.model().live())?;
        if !has_sentence || vector.len() != patch.vector.len() || !vector.iter().all(|x| x.is_finite()) {
            return Err("its vector does not fit the sentence or the model".to_owned());
        }
        Ok(Patch { vector: vector.as_slice().into(), ..patch })
    }

    fn mode_of(&self, saved: &SavedHead, head: usize, has_sentence: bool) -> Result<HeadMode<f32>, String> {
        Ok(match saved {
            SavedHead::Live => HeadMode::Live,
            SavedHead::Off => HeadMode::Off,
            SavedHead::Uniform => HeadMode::Uniform,
            SavedHead::Mean => HeadMode::Mean,
            SavedHead::Gain(gain) => {
                interventions::check_gain(*gain)?;
                interventions::mode_of_gain(*gain)
            }
            SavedHead::Frozen { rows, weights } => {
                let (network, live) = (&self.training.trainer().model, self.training.model().live());
                let now = self.scene.frame().forward(network, live, &Arc::default());
                let now =
                    now.activations.heads().nth(head).map_or((0, 0), |head| (head.weights.rows(), head.weights.cols()));
                let fits = has_sentence
                    && now.0 == *rows
                    && now.0 * now.1 == weights.len()
                    && weights.iter().all(|weight| (0.0..=WEIGHT_MAX).contains(weight));
                let matrix = || Matrix::from_fn(now.0, now.1, |row, col| weights[row * now.1 + col]);
                let frozen = fits.then(|| HeadMode::Frozen(Arc::new(matrix())));
                frozen.ok_or_else(|| "its frozen weights do not fit the sentence".to_owned())?
            }
        })
    }

    fn mask_of(&self, saved: &SavedMask, has_sentence: bool) -> Option<Mask> {
        let tokens = self.scene.tokens().len();
        match saved {
            SavedMask::None => Some(Mask::None),
            SavedMask::Causal => Some(Mask::Causal),
            SavedMask::Custom(rows) => {
                let is_row =
                    |row: &String| row.len() == tokens && row.chars().all(|sign| [SEEN, HIDDEN].contains(&sign));
                let fits = has_sentence && rows.len() == tokens && rows.iter().all(is_row);
                let sees = |query: usize, key: usize| rows[query].as_bytes()[key] == SEEN as u8;
                fits.then(|| Mask::custom(MaskTable::from_fn(tokens, tokens, sees)))
            }
        }
    }
}

/// A little above 1, for a softmax rounds.
const WEIGHT_MAX: f32 = 1.001;
