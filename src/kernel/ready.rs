//! A lesson whose static vectors are trained: the attention model, its training, its weights in
//! use, and what undo remembers.

use std::sync::Arc;

use super::command::Command;
use super::history::History;
use super::sentence::{Sentence, SentenceFrame, read_sentence};
use super::snapshot::{HistorySnapshot, ModelSnapshot, Progress, StaticSpace, TrainingSnapshot};
use super::space::{SpaceTrainer, index_of, network, rows_of};
use super::trainer::{Trainer, TrainingState};
use crate::lesson::schema::Lesson;
use crate::numerics::params::{Parameters, TensorId};

/// What undo may remember, in bytes ...
pub const HISTORY_BYTES_MAX: usize = 64 << 20;
/// ... and in states, for models that are tiny.
pub const HISTORY_STATES_MAX: usize = 200;

pub struct Ready {
    space: Arc<StaticSpace>,
    embedding_progress: Progress,
    trainer: Trainer,
    model: ModelState,
    heads_enabled: Arc<[bool]>,
    frame: SentenceFrame,
    history: History<Part>,
    /// The entry that the last command set, while nothing else happened.
    last_set: Option<(TensorId, usize, usize)>,
    playing: bool,
    /// Step at which training stands still.
    goal: usize,
    diverged: bool,
}

/// The weights: as training left them, and in use.
#[derive(Clone)]
struct ModelState {
    training: Arc<TrainingState>,
    /// The parameters with the learner's changes; `None` where they are as training left them.
    edited: Option<Arc<Parameters<f32>>>,
}

impl ModelState {
    fn trained(&self) -> &Parameters<f32> {
        &self.training.parameters
    }

    fn live(&self) -> &Parameters<f32> {
        self.edited.as_deref().unwrap_or(&self.training.parameters)
    }
}

/// What one change was about, as it was before: undo brings back this part and leaves the others.
enum Part {
    Model(ModelState),
    Heads(Arc<[bool]>),
    Sentence(Sentence),
}

impl Ready {
    /// # Errors
    /// In words for the learner, if the corpus has no sentence to train on.
    pub fn new(lesson: &Lesson, space: StaticSpace, embedding: &SpaceTrainer) -> Result<Self, String> {
        let trainer = Trainer::new(network(lesson, &space), lesson.model.clone(), &embedding.corpus, lesson.seed);
        if trainer.sentences() == 0 {
            return Err("no sentence of the corpus has a word that the model could be asked for".to_owned());
        }
        let training = Arc::new(trainer.start());
        // A checked lesson has a first sentence, of known words.
        let sentence = chosen(lesson, &space, 0).unwrap_or(Sentence { index: None, words: vec![0] });
        // Parameters, gradient moments and losses.
        let state_bytes = (training.parameters.len() * 4 + lesson.model.steps) * size_of::<f32>();
        Ok(Self {
            frame: SentenceFrame::new(sentence, &space),
            model: ModelState { training, edited: None },
            heads_enabled: vec![true; lesson.model.architecture.heads()].into(),
            embedding_progress: embedding.progress(),
            space: Arc::new(space),
            trainer,
            history: History::new((HISTORY_BYTES_MAX / state_bytes).min(HISTORY_STATES_MAX)),
            last_set: None,
            playing: false,
            goal: 0,
            diverged: false,
        })
    }

    /// Training that nobody has to ask for: the learner finds a trained model, and undo does not take it away.
    pub fn play_at_opening(&mut self) {
        self.goal = self.trainer.steps();
        self.playing = true;
    }

    pub fn is_playing(&self) -> bool {
        self.playing
    }

    pub fn steps_done(&self) -> usize {
        self.model.training.steps_done()
    }

    pub fn embedding_progress(&self) -> Progress {
        self.embedding_progress
    }

    pub fn space(&self) -> Arc<StaticSpace> {
        self.space.clone()
    }

    /// A few optimiser steps, if training plays.
    pub fn advance(&mut self) {
        if !self.playing {
            return;
        }
        let state = Arc::make_mut(&mut self.model.training);
        for _ in 0..self.trainer.steps_at_once() {
            if state.steps_done() < self.goal {
                self.diverged = self.trainer.step(state).is_err();
            }
            if self.diverged || state.steps_done() >= self.goal {
                self.playing = false;
                return;
            }
        }
    }

    /// # Errors
    /// In words for the learner, if there is nothing that the command could do; nothing has changed then.
    pub fn apply(&mut self, command: Command, lesson: &Lesson) -> Result<(), String> {
        let last_set = self.last_set.take();
        match command {
            Command::Play if self.playing && self.goal == self.trainer.steps() => Ok(()),
            Command::Play => self.begin_training("training".to_owned(), self.trainer.steps()),
            Command::Step(0) => Err("a step back or in place is no training step".to_owned()),
            Command::Step(steps) => {
                let goal = self.steps_done().saturating_add(steps).min(self.trainer.steps());
                self.begin_training(format!("training by {steps}"), goal)
            }
            Command::Pause => {
                self.playing = false;
                Ok(())
            }
            Command::ResetTraining => {
                self.remember_model("reset of the training");
                self.playing = false;
                self.diverged = false;
                self.model = ModelState { training: Arc::new(self.trainer.start()), edited: None };
                Ok(())
            }
            Command::SetWeight { tensor, row, col, value } => {
                let entry = (tensor, row, col);
                self.set_weight(entry, value, last_set == Some(entry))?;
                self.last_set = Some(entry);
                Ok(())
            }
            Command::ResetWeight { tensor, row, col } => {
                let index = self.index((tensor, row, col))?;
                let trained = self.model.trained().flat()[index];
                self.set_weight((tensor, row, col), trained, false)
            }
            Command::ResetTensor(tensor) => self.reset_tensor(tensor),
            Command::ResetWeights => {
                if self.model.edited.is_some() {
                    self.remember_model("reset of all weights");
                    self.model.edited = None;
                }
                Ok(())
            }
            Command::SetHeadEnabled { head, enabled } => {
                self.check_head(head)?;
                let mut heads = self.heads_enabled.to_vec();
                heads[head] = enabled;
                self.set_heads(format!("head {} {}", head + 1, if enabled { "on" } else { "off" }), heads);
                Ok(())
            }
            Command::SoloHead(solo) => {
                solo.map_or(Ok(()), |head| self.check_head(head))?;
                let label = solo.map_or("all heads on".to_owned(), |head| format!("head {} alone", head + 1));
                let heads = 0..self.heads_enabled.len();
                self.set_heads(label, heads.map(|head| solo.is_none_or(|solo| solo == head)).collect());
                Ok(())
            }
            Command::SelectSentence(index) => {
                let count = lesson.sentences.len();
                let sentence = chosen(lesson, &self.space, index)
                    .ok_or_else(|| format!("there is no sentence {}: the lesson has {count}", index + 1))?;
                self.show(sentence);
                Ok(())
            }
            Command::SetSentence(text) => {
                let words = read_sentence(&text, &self.space.vocabulary, lesson.model.architecture.max_tokens)?;
                let text = || words.iter().map(|&word| &self.space.vocabulary[word]);
                let index = lesson.sentences.iter().position(|sentence| sentence.iter().eq(text()));
                self.show(Sentence { index, words });
                Ok(())
            }
            Command::Undo => self.travel("undo", History::undo),
            Command::Redo => self.travel("redo", History::redo),
        }
    }

    fn remember_model(&mut self, label: impl Into<String>) {
        self.history.push(label, Part::Model(self.model.clone()));
    }

    /// Undo or redo. Bringing back a model ends the training that is under way.
    fn travel(
        &mut self,
        verb: &str,
        go: impl FnOnce(&mut History<Part>, &mut dyn FnMut(Part) -> Part) -> bool,
    ) -> Result<(), String> {
        let Self { history, model, heads_enabled, frame, space, playing, diverged, .. } = self;
        let mut swap = |part| match part {
            Part::Model(state) => {
                (*playing, *diverged) = (false, false);
                Part::Model(std::mem::replace(model, state))
            }
            Part::Heads(heads) => Part::Heads(std::mem::replace(heads_enabled, heads)),
            Part::Sentence(sentence) => {
                let before = std::mem::replace(frame, SentenceFrame::new(sentence, space));
                Part::Sentence(before.sentence)
            }
        };
        if go(history, &mut swap) { Ok(()) } else { Err(format!("there is nothing to {verb}")) }
    }

    fn show(&mut self, sentence: Sentence) {
        if sentence != self.frame.sentence {
            let frame = SentenceFrame::new(sentence, &self.space);
            let before = std::mem::replace(&mut self.frame, frame);
            self.history.push("choice of the sentence", Part::Sentence(before.sentence));
        }
    }

    fn set_heads(&mut self, label: String, heads: Vec<bool>) {
        if heads[..] != self.heads_enabled[..] {
            let before = std::mem::replace(&mut self.heads_enabled, heads.into());
            self.history.push(label, Part::Heads(before));
        }
    }

    fn check_head(&self, head: usize) -> Result<(), String> {
        let heads = self.heads_enabled.len();
        if head < heads { Ok(()) } else { Err(format!("there is no head {}: the model has {heads}", head + 1)) }
    }

    fn index(&self, (tensor, row, col): (TensorId, usize, usize)) -> Result<usize, String> {
        let index = self.model.live().index(tensor, row, col);
        index.ok_or_else(|| format!("the model has no {tensor}[{row}, {col}]"))
    }

    /// `goes_on`: it is one more move of the same slider, and undoes together with the last.
    fn set_weight(&mut self, entry: (TensorId, usize, usize), value: f32, goes_on: bool) -> Result<(), String> {
        let index = self.index(entry)?;
        let (tensor, row, col) = entry;
        if !value.is_finite() {
            return Err(format!("{tensor}[{row}, {col}] cannot be {value}: a weight is a finite number"));
        }
        if self.model.live().flat()[index] == value {
            return Ok(());
        }
        if !goes_on {
            self.remember_model(format!("{tensor}[{row}, {col}]"));
        }
        self.edit(|live| live.flat_mut()[index] = value);
        Ok(())
    }

    fn reset_tensor(&mut self, tensor: TensorId) -> Result<(), String> {
        if self.model.live().spec(tensor).is_none() {
            return Err(format!("the model has no {tensor}"));
        }
        let trained = self.model.trained().values_of(tensor).to_vec();
        if self.model.live().values_of(tensor) != trained {
            self.remember_model(format!("reset of {tensor}"));
            self.edit(|live| live.values_of_mut(tensor).copy_from_slice(&trained));
        }
        Ok(())
    }

    /// While training plays, it goes on from the change; else the change stands beside what
    /// training left, and can be reset to it.
    fn edit(&mut self, change: impl FnOnce(&mut Parameters<f32>)) {
        let ModelState { training, edited } = &mut self.model;
        if self.playing {
            change(&mut Arc::make_mut(training).parameters);
            return;
        }
        let mut live = edited.take().unwrap_or_else(|| Arc::new(training.parameters.clone()));
        change(Arc::make_mut(&mut live));
        *edited = (*live != training.parameters).then_some(live);
    }

    /// Training goes on from the weights in use: what the learner changed is where it starts.
    fn begin_training(&mut self, label: String, goal: usize) -> Result<(), String> {
        if self.steps_done() >= goal {
            return Err(format!("training is at its last step, {goal}; reset it to train again"));
        }
        self.remember_model(label);
        self.goal = goal;
        self.playing = true;
        self.diverged = false;
        let training = Arc::make_mut(&mut self.model.training);
        // The copy just made has no room to spare, and a training step allocates nothing.
        training.reserve(goal);
        if let Some(edited) = self.model.edited.take() {
            training.parameters = Arc::unwrap_or_clone(edited);
        }
        Ok(())
    }

    pub fn snapshot(&self, lesson: &Lesson) -> ModelSnapshot {
        let Self { model, space, trainer, heads_enabled, frame, .. } = self;
        let network = &trainer.model;
        let sentence = frame.run(space, network, model.live(), model.trained(), heads_enabled);
        let trained = Arc::new(model.trained().clone());
        ModelSnapshot {
            architecture: network.architecture.clone(),
            parameters: model.edited.clone().unwrap_or_else(|| trained.clone()),
            trained,
            training: TrainingSnapshot {
                playing: self.playing,
                progress: Progress { done: model.training.steps_done(), of: lesson.model.steps },
                chance: (network.classes.count() as f32).ln(),
                losses: Arc::new(model.training.losses.clone()),
                diverged: self.diverged,
            },
            heads_enabled: heads_enabled.clone(),
            sentence: Arc::new(sentence),
            history: HistorySnapshot {
                undo: self.history.undo_label().map(str::to_owned),
                redo: self.history.redo_label().map(str::to_owned),
            },
        }
    }
}

/// One of the lesson's sentences.
fn chosen(lesson: &Lesson, space: &StaticSpace, index: usize) -> Option<Sentence> {
    let words = lesson.sentences.get(index)?;
    Some(Sentence { index: Some(index), words: rows_of(words, &index_of(&space.vocabulary))? })
}
