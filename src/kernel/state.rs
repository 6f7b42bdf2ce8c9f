//! The kernel: one running lesson. [`Kernel::apply`] is the only way to change it.

use std::sync::Arc;

use super::command::Command;
use super::history::History;
use super::sentence::{Sentence, SentenceFrame};
use super::snapshot::{HistorySnapshot, ModelSnapshot, Progress, Snapshot, StaticSpace, TrainingSnapshot};
use super::space::{SpaceTrainer, index_of, network};
use super::trainer::{Trainer, TrainingState};
use crate::lesson::nearest;
use crate::lesson::schema::Lesson;
use crate::lesson::text::tokenize;
use crate::numerics::params::{Parameters, TensorName};

/// Optimiser steps in one [`Kernel::advance`]: a few milliseconds, so that commands wait no longer.
pub const STEPS_AT_ONCE: usize = 8;
/// What undo may remember.
pub const HISTORY_BYTES_MAX: usize = 64 << 20;
/// And in states, for models that are tiny.
pub const HISTORY_STATES_MAX: usize = 200;

/// One running lesson, without a thread or a clock: the same commands and advances lead to the
/// same snapshots, bit for bit.
pub struct Kernel {
    lesson: Arc<Lesson>,
    revision: u64,
    notice: Option<Arc<str>>,
    playing: bool,
    phase: Phase,
}

enum Phase {
    Embedding(Box<SpaceTrainer>),
    Ready(Box<Ready>),
}

/// The lesson once its static vectors are trained.
struct Ready {
    space: Arc<StaticSpace>,
    embedding_progress: Progress,
    trainer: Trainer,
    now: Present,
    history: History<Present>,
    /// The entry that the last command set, while nothing else happened.
    last_set: Option<(TensorName, usize, usize)>,
    frame: SentenceFrame,
    diverged: bool,
    /// Step at which play or step stands still.
    goal: usize,
}

/// What undo brings back.
#[derive(Clone)]
struct Present {
    training: Arc<TrainingState>,
    /// The parameters with the learner's changes; `None` where they are as training left them.
    edited: Option<Arc<Parameters<f32>>>,
    heads_enabled: Arc<[bool]>,
    sentence: Sentence,
}

impl Present {
    fn trained(&self) -> &Parameters<f32> {
        &self.training.parameters
    }

    fn live(&self) -> &Parameters<f32> {
        self.edited.as_deref().unwrap_or(&self.training.parameters)
    }
}

impl Kernel {
    pub fn new(lesson: Arc<Lesson>) -> Self {
        let phase = Phase::Embedding(Box::new(SpaceTrainer::new(&lesson)));
        Self { lesson, revision: 0, notice: None, playing: false, phase }
    }

    /// A kernel whose static vectors are trained and whose model is at its initialisation.
    pub fn embedded(lesson: Arc<Lesson>) -> Self {
        let mut kernel = Self::new(lesson);
        while matches!(kernel.phase, Phase::Embedding(_)) {
            kernel.advance();
        }
        kernel
    }

    /// A kernel that has trained to the lesson's last step.
    pub fn trained(lesson: Arc<Lesson>) -> Self {
        let mut kernel = Self::embedded(lesson);
        kernel.apply(Command::Play);
        while kernel.is_busy() {
            kernel.advance();
        }
        kernel
    }

    /// There is work that nobody has to ask for.
    pub fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Embedding(_)) || self.playing
    }

    /// Optimiser steps done.
    pub fn steps_done(&self) -> usize {
        match &self.phase {
            Phase::Embedding(_) => 0,
            Phase::Ready(ready) => ready.now.training.steps_done(),
        }
    }

    /// Does the next piece of that work: an epoch of the static vectors, or a few training steps.
    pub fn advance(&mut self) {
        self.revision += 1;
        match &mut self.phase {
            Phase::Embedding(trainer) => {
                if trainer.advance() {
                    let ready = Ready::new(&self.lesson, trainer);
                    self.phase = Phase::Ready(Box::new(ready));
                }
            }
            Phase::Ready(ready) => {
                if self.playing {
                    self.playing = ready.train();
                }
            }
        }
    }

    /// Applies one command. What cannot be done is said in the snapshot's notice.
    pub fn apply(&mut self, command: Command) {
        self.revision += 1;
        self.notice = None;
        let result = match (&mut self.phase, command) {
            (Phase::Embedding(_), Command::Play) => {
                self.playing = true;
                Ok(())
            }
            (Phase::Ready(ready), Command::Play) => {
                let begun = ready.begin_training("training".to_owned(), self.lesson.model.steps);
                self.playing = begun.is_ok();
                begun
            }
            (_, Command::Pause) => {
                self.playing = false;
                Ok(())
            }
            (Phase::Ready(ready), Command::Step(steps)) => {
                let goal = ready.now.training.steps_done().saturating_add(steps).min(self.lesson.model.steps);
                let begun = ready.begin_training(format!("{steps} training steps"), goal);
                self.playing = begun.is_ok();
                begun
            }
            (Phase::Ready(ready), Command::Undo | Command::Redo) if self.playing => {
                // The change to undo is the training that is under way.
                self.playing = false;
                ready.travel(History::undo, "undo")
            }
            (Phase::Ready(ready), command) => ready.apply(command, &self.lesson, &mut self.playing),
            (Phase::Embedding(_), _) => Err("wait until the static vectors are trained".to_owned()),
        };
        if let Err(notice) = result {
            self.notice = Some(notice.into());
        }
    }

    /// What a viewer may see now.
    pub fn snapshot(&self) -> Snapshot {
        let (space, embedding_progress, model) = match &self.phase {
            Phase::Embedding(trainer) => (None, trainer.progress(), None),
            Phase::Ready(ready) => {
                (Some(ready.space.clone()), ready.embedding_progress, Some(ready.snapshot(&self.lesson, self.playing)))
            }
        };
        let (lesson, notice) = (self.lesson.clone(), self.notice.clone());
        Snapshot { lesson, revision: self.revision, space, embedding_progress, model, notice }
    }
}

impl Ready {
    fn new(lesson: &Lesson, embedding: &SpaceTrainer) -> Self {
        let space = Arc::new(embedding.finish(lesson));
        let trainer = Trainer::new(network(lesson, &space), lesson.model.clone(), &embedding.corpus, lesson.seed);
        let training = Arc::new(trainer.start());
        let sentence = chosen(lesson, &space, 0).unwrap_or(Sentence { index: None, words: vec![0] });
        let state_bytes = training.parameters.len() * 4 * size_of::<f32>();
        let most = (HISTORY_BYTES_MAX / state_bytes.max(1)).min(HISTORY_STATES_MAX);
        Self {
            frame: SentenceFrame::new(sentence.clone(), &space),
            now: Present {
                training,
                edited: None,
                heads_enabled: vec![true; lesson.model.attention.heads].into(),
                sentence,
            },
            embedding_progress: embedding.progress(),
            space,
            trainer,
            history: History::new(most),
            last_set: None,
            diverged: false,
            goal: 0,
        }
    }

    fn apply(&mut self, command: Command, lesson: &Lesson, playing: &mut bool) -> Result<(), String> {
        let last_set = self.last_set.take();
        match command {
            Command::ResetTraining => {
                *playing = false;
                self.diverged = false;
                self.remember("reset of the training");
                self.now.training = Arc::new(self.trainer.start());
                self.now.edited = None;
                Ok(())
            }
            Command::SetWeight { tensor, row, col, value } => {
                self.set_weight(tensor, row, col, value, last_set == Some((tensor, row, col)))?;
                self.last_set = Some((tensor, row, col));
                Ok(())
            }
            Command::ResetWeight { tensor, row, col } => {
                let index = self.entry(tensor, row, col)?;
                let trained = self.now.trained().flat()[index];
                self.set_weight(tensor, row, col, trained, false)
            }
            Command::ResetTensor(tensor) => {
                self.remember(format!("reset of {}", tensor.symbol()));
                let trained = self.now.trained().values_of(tensor).to_vec();
                self.edit(|live| live.values_of_mut(tensor).copy_from_slice(&trained));
                Ok(())
            }
            Command::ResetWeights => {
                self.remember("reset of all weights");
                self.now.edited = None;
                Ok(())
            }
            Command::SetHeadEnabled { head, enabled } => {
                self.check_head(head)?;
                self.remember(format!("head {} {}", head + 1, if enabled { "on" } else { "off" }));
                let mut heads = self.now.heads_enabled.to_vec();
                heads[head] = enabled;
                self.now.heads_enabled = heads.into();
                Ok(())
            }
            Command::SoloHead(solo) => {
                solo.map_or(Ok(()), |head| self.check_head(head))?;
                self.remember(solo.map_or("all heads".to_owned(), |head| format!("head {} alone", head + 1)));
                let heads = 0..self.now.heads_enabled.len();
                self.now.heads_enabled = heads.map(|head| solo.is_none_or(|solo| solo == head)).collect();
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
                let words = read_sentence(&text, &self.space.vocabulary, lesson.model.attention.max_tokens)?;
                self.show(Sentence { index: None, words });
                Ok(())
            }
            Command::Undo => self.travel(History::undo, "undo"),
            Command::Redo => self.travel(History::redo, "redo"),
            Command::Play | Command::Pause | Command::Step(_) => Ok(()), // the kernel's own
        }
    }

    fn remember(&mut self, label: impl Into<String>) {
        self.history.push(label, self.now.clone());
    }

    fn travel(
        &mut self,
        go: impl FnOnce(&mut History<Present>, Present) -> Result<Present, Present>,
        verb: &str,
    ) -> Result<(), String> {
        self.last_set = None;
        self.diverged = false;
        match go(&mut self.history, self.now.clone()) {
            Ok(state) => {
                self.now = state;
                self.frame = SentenceFrame::new(self.now.sentence.clone(), &self.space);
                Ok(())
            }
            Err(_) => Err(format!("there is nothing to {verb}")),
        }
    }

    fn show(&mut self, sentence: Sentence) {
        self.remember("choice of the sentence");
        self.frame = SentenceFrame::new(sentence.clone(), &self.space);
        self.now.sentence = sentence;
    }

    fn check_head(&self, head: usize) -> Result<(), String> {
        let heads = self.now.heads_enabled.len();
        if head < heads { Ok(()) } else { Err(format!("there is no head {}: the model has {heads}", head + 1)) }
    }

    fn entry(&self, tensor: TensorName, row: usize, col: usize) -> Result<usize, String> {
        let index = self.now.live().index(tensor, row, col);
        index.ok_or_else(|| format!("the model has no {}[{row}, {col}]", tensor.symbol()))
    }

    fn set_weight(&mut self, tensor: TensorName, row: usize, col: usize, value: f32, same: bool) -> Result<(), String> {
        let index = self.entry(tensor, row, col)?;
        if !value.is_finite() {
            return Err(format!("{}[{row}, {col}] cannot be {value}: a weight is a finite number", tensor.symbol()));
        }
        if !same {
            self.remember(format!("{}[{row}, {col}]", tensor.symbol()));
        }
        self.edit(|live| live.flat_mut()[index] = value);
        Ok(())
    }

    fn edit(&mut self, change: impl FnOnce(&mut Parameters<f32>)) {
        let edited = self.now.edited.take();
        let mut edited = edited.unwrap_or_else(|| Arc::new(self.now.trained().clone()));
        change(Arc::make_mut(&mut edited));
        self.now.edited = (*edited != *self.now.trained()).then_some(edited);
    }

    /// Training goes on from the weights in use: what the learner changed is where it starts.
    fn begin_training(&mut self, label: String, goal: usize) -> Result<(), String> {
        if self.now.training.steps_done() >= goal {
            return Err(format!("training is at its last step, {goal}; reset it to train again"));
        }
        self.remember(label);
        self.last_set = None;
        self.goal = goal;
        if let Some(edited) = self.now.edited.take() {
            Arc::make_mut(&mut self.now.training).parameters = Arc::unwrap_or_clone(edited);
        }
        Ok(())
    }

    /// A few steps; false when training stands still.
    fn train(&mut self) -> bool {
        // Play may be asked for before there is anything to train.
        if self.goal == 0 && self.begin_training("training".to_owned(), self.trainer.steps()).is_err() {
            return false;
        }
        let state = Arc::make_mut(&mut self.now.training);
        for _ in 0..STEPS_AT_ONCE {
            if state.steps_done() >= self.goal {
                return false;
            }
            if self.trainer.step(state).is_err() {
                self.diverged = true;
                return false;
            }
        }
        state.steps_done() < self.goal
    }

    fn snapshot(&self, lesson: &Lesson, playing: bool) -> ModelSnapshot {
        let now = &self.now;
        let sentence = self.frame.run(&self.space, &self.trainer.model, now.live(), now.trained(), &now.heads_enabled);
        let trained = Arc::new(now.trained().clone());
        ModelSnapshot {
            config: lesson.model.attention.clone(),
            parameters: now.edited.clone().unwrap_or_else(|| trained.clone()),
            trained,
            training: TrainingSnapshot {
                playing,
                progress: Progress { done: now.training.steps_done(), of: lesson.model.steps },
                losses: Arc::new(now.training.losses.clone()),
                diverged: self.diverged,
            },
            heads_enabled: now.heads_enabled.clone(),
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
    let rows = index_of(&space.vocabulary);
    let words = words.iter().map(|word| rows.get(word.as_str()).copied()).collect::<Option<Vec<usize>>>()?;
    Some(Sentence { index: Some(index), words })
}

/// A learner's sentence as rows of the vocabulary.
///
/// # Errors
/// In words for the learner: nothing to read, too many words, or the first unknown one with the
/// nearest known.
pub fn read_sentence(text: &str, vocabulary: &[String], max_tokens: usize) -> Result<Vec<usize>, String> {
    let words = tokenize(text);
    if words.is_empty() {
        return Err("the sentence has no words".to_owned());
    }
    if words.len() > max_tokens {
        return Err(format!("the sentence has {} words: the model reads at most {max_tokens}", words.len()));
    }
    let rows = index_of(vocabulary);
    let row = |word: &String| {
        rows.get(word.as_str()).copied().ok_or_else(|| {
            let known = nearest(word, vocabulary.iter().map(String::as_str));
            let hint = known.map_or(String::new(), |known| format!("; did you mean {known:?}?"));
            format!("the word {word:?} is not in the lesson's vocabulary of {}{hint}", vocabulary.len())
        })
    };
    words.iter().map(row).collect()
}
