//! A lesson whose static vectors are trained: the attention model, its training, its weights in
//! use, and what undo remembers.

use std::sync::Arc;

use super::answers::class_names;
use super::basis::Basis;
use super::command::{Command, HeadSetting};
use super::comparison::Comparison;
use super::examples::Example;
use super::interventions::{self, check_gain, check_mask, check_temperature};
use super::line::Lookback;
use super::model_state::RestingModel;
use super::second::SecondSentence;
use super::sentence::Sentence;
use super::shown::{SentenceState, Shown};
use super::snapshot::{
    CheckpointsSnapshot, LookSnapshot, ModelSnapshot, Progress, Replaced, StaticSpace, TrainingSnapshot,
};
use super::space::{LessonFault, index_of, rows_of};
use super::trainer::Trainer;
use super::training::Training;
use crate::lesson::Recipe;
use crate::lesson::schema::Lesson;
use crate::numerics::attention::HeadMode;
use crate::numerics::model::activations::Interventions;
use crate::numerics::params::{Parameters, TensorId};
use crate::numerics::projection::Projection;

/// What undo may remember, in bytes ...
pub const HISTORY_BYTES_MAX: usize = 64 << 20;
/// ... and in states, for models that are tiny.
pub const HISTORY_STATES_MAX: usize = 200;

pub struct Ready {
    pub(super) space: Arc<StaticSpace>,
    /// Its vocabulary.
    pub(super) words: Arc<[String]>,
    /// What the model is trained on.
    pub(super) examples: Arc<[Example]>,
    pub(super) origin: Origin,
    pub(super) embedding_progress: Progress,
    pub(super) training: Training,
    pub(super) classes: Arc<[String]>,
    pub(super) shown: Shown,
    /// What the last command changed, each with what it was before.
    pub(super) changes: Vec<(String, Part)>,
    /// What the last command moved, while nothing else happened.
    pub(super) last_move: Option<Move>,
}

/// What a slider moves: its successive moves undo as one.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Move {
    Entry(TensorId, usize, usize),
    LearningRate,
    Look,
    Temperature,
    Sentence,
    Second,
    Gain(usize),
    Stroke(u64),
}

/// What a model was made of.
#[derive(Clone)]
pub struct Origin {
    /// The lesson with the recipe applied.
    pub lesson: Arc<Lesson>,
    pub recipe: Arc<Recipe>,
    /// What stood here before.
    pub replaced: Option<Arc<Replaced>>,
}

/// What one change was about, as it was before: undo brings back this part and leaves the others.
pub enum Part {
    Model(Box<RestingModel>),
    Comparison(Option<Comparison>),
    Interventions(Arc<Interventions<f32>>),
    Sentence(SentenceState),
    Second(Option<Sentence>),
    Basis(Box<(Basis, Projection)>),
}

impl Ready {
    /// # Errors
    /// If the corpus has no sentence to train on.
    pub fn new(
        origin: Origin,
        space: Arc<StaticSpace>,
        examples: Arc<[Example]>,
        embedding_progress: Progress,
    ) -> Result<Self, LessonFault> {
        let lesson = &*origin.lesson;
        let trainer = Trainer::new(lesson, &space, &examples);
        let classes = class_names(lesson, &trainer.model.classes, &space.vocabulary);
        if trainer.sentences() == 0 {
            let words = "no sentence of the corpus has a word that the model could be asked for".to_owned();
            return Err(LessonFault { words, field: &["model", "objective"] });
        }
        // A checked lesson has a first sentence, of known words.
        let sentence = chosen(lesson, &space, 0).unwrap_or(Sentence { index: None, words: vec![0] });
        let training = Training::new(trainer, lesson.model.stop.clone());
        Ok(Self {
            shown: Shown::new(lesson, &space, sentence),
            classes: classes.into(),
            words: space.vocabulary.as_slice().into(),
            embedding_progress,
            examples,
            origin,
            space,
            training,
            changes: Vec::new(),
            last_move: None,
        })
    }

    /// Training that nobody has to ask for: the learner finds a trained model, and undo does not take it away.
    pub fn play_at_opening(&mut self) {
        // At the initialisation there is nothing that could be in the way.
        let _ = self.training.play_to(self.training.trainer().steps());
    }

    /// There is training or recalling to do.
    pub fn is_busy(&self) -> bool {
        self.training.is_busy()
    }

    pub fn steps_done(&self) -> usize {
        self.training.steps_done()
    }

    pub fn embedding_progress(&self) -> Progress {
        self.embedding_progress
    }

    pub fn space(&self) -> Arc<StaticSpace> {
        self.space.clone()
    }

    /// A few optimiser steps, if there are any to do.
    pub fn advance(&mut self) {
        self.training.advance();
    }

    /// Nothing but training is to do.
    pub fn is_training(&self) -> bool {
        self.training.is_training()
    }

    /// So many optimiser steps, if there are so many to do.
    pub fn train(&mut self, steps: usize) {
        self.training.train(steps);
    }

    /// # Errors
    /// In words for the learner, if there is nothing that the command could do; nothing has changed then.
    pub fn apply(&mut self, command: Command, lesson: &Lesson) -> Result<(), String> {
        let last_move = self.last_move.take();
        let goes_on = |next| last_move == Some(next);
        match command {
            Command::Play if self.training.plays_to_the_end() => Ok(()),
            Command::Play => {
                let goal = self.training.trainer().steps();
                self.change_model("training", false, |training| training.play_to(goal))
            }
            Command::Step(0) => Err("a step back or in place is no training step".to_owned()),
            Command::Step(steps) => {
                let goal = self.steps_done().saturating_add(steps).min(self.training.trainer().steps());
                self.change_model(&format!("training by {steps}"), false, |training| training.play_to(goal))
            }
            Command::Pause => {
                self.training.pause();
                Ok(())
            }
            Command::ResetTraining => self.change_model("reset of the training", false, |training| {
                training.reset();
                Ok(())
            }),
            Command::Scrub(step) => self.scrub(step, goes_on(Move::Look)),
            Command::ShowLatest => self.scrub(self.steps_done(), goes_on(Move::Look)),
            Command::Branch => {
                let label = format!("branch from step {}", self.training.model().shown().steps_done());
                self.change_model(&label, false, Training::branch)
            }
            Command::SetLearningRate(rate) => {
                if rate != self.training.learning_rate() {
                    let label = format!("learning rate {rate}");
                    let goes_on = goes_on(Move::LearningRate);
                    self.change_model(&label, goes_on, |training| training.set_learning_rate(rate))?;
                }
                self.last_move = Some(Move::LearningRate);
                Ok(())
            }
            Command::Compare(with) => {
                let before = self.training.comparison().cloned();
                if before.as_ref().map(Comparison::reference) != with {
                    self.training.compare(with)?;
                    self.changes.push(("choice of a comparison".to_owned(), Part::Comparison(before)));
                }
                Ok(())
            }
            Command::SetWeight { tensor, row, col, value } => {
                let entry = Move::Entry(tensor, row, col);
                self.set_weight((tensor, row, col), value, goes_on(entry))?;
                self.last_move = Some(entry);
                Ok(())
            }
            Command::Paint { tensor, entries, brush, stroke } => {
                self.paint(tensor, &entries, brush, goes_on(Move::Stroke(stroke)))?;
                self.last_move = Some(Move::Stroke(stroke));
                Ok(())
            }
            Command::Perturb { tensor, scale, draw } => self.perturb(tensor, scale, draw),
            Command::ResetWeight { tensor, row, col } => {
                let index = self.index((tensor, row, col))?;
                let trained = self.training.model().trained().flat()[index];
                self.set_weight((tensor, row, col), trained, false)
            }
            Command::ResetTensor(tensor) => self.reset_tensor(tensor),
            Command::ResetWeights if !self.training.model().is_edited() => Ok(()),
            Command::ResetWeights => self.change_model("reset of all weights", false, |training| {
                training.discard_edits();
                Ok(())
            }),
            Command::SetHead { head, setting } => {
                let gain = matches!(setting, HeadSetting::Gain(_)).then_some(Move::Gain(head));
                self.set_head(head, setting, gain.is_some_and(goes_on))?;
                self.last_move = gain;
                Ok(())
            }
            Command::SoloHead(solo) => self.solo(solo),
            Command::SetTemperature(temperature) => {
                temperature.map_or(Ok(()), check_temperature)?;
                let label = temperature.map_or("temperature of the lesson".to_owned(), |t| format!("temperature {t}"));
                self.intervene(&label, goes_on(Move::Temperature), |changed| changed.temperature = temperature);
                self.last_move = Some(Move::Temperature);
                Ok(())
            }
            Command::SetScale(scale) => {
                let label = scale.map_or("scale of the lesson", |on| if on { "scale on" } else { "scale off" });
                self.intervene(label, false, |changed| changed.scale = scale);
                Ok(())
            }
            Command::ToggleMask { query, key } => {
                let mask = self.shown.toggled_mask(&self.training.trainer().model, (query, key))?;
                self.intervene("mask", false, |changed| changed.mask = mask);
                Ok(())
            }
            Command::SetMask(mask) => {
                mask.as_ref().map_or(Ok(()), |mask| check_mask(mask, self.shown.tokens().len()))?;
                self.intervene("mask", false, |changed| changed.mask = mask);
                Ok(())
            }
            Command::ResetMask => {
                self.intervene("reset of the mask", false, |changed| changed.mask = None);
                Ok(())
            }
            Command::ResetInterventions => {
                let none = interventions::none(&lesson.model.architecture);
                self.intervene("reset of the interventions", false, |changed| *changed = none);
                Ok(())
            }
            Command::Generate { count, choice } => {
                let (model, live) = (&self.training.trainer().model, self.training.model().live());
                self.shown.generate((count, choice), lesson, model, live)
            }
            Command::SelectSentence(index) => {
                let count = lesson.sentences.len();
                let sentence = chosen(lesson, &self.space, index).ok_or_else(|| {
                    format!("there is no sentence {}: the lesson has {count}", index.saturating_add(1))
                })?;
                self.show(sentence, false);
                Ok(())
            }
            Command::SetSentence(text) => {
                self.show(self.read(&text, lesson)?, false);
                Ok(())
            }
            Command::TypeSentence(text) => {
                let goes_on = goes_on(Move::Sentence);
                // One that cannot be read yet is on its way to another that can.
                self.last_move = goes_on.then_some(Move::Sentence);
                if self.show(self.read(&text, lesson)?, goes_on) {
                    self.last_move = Some(Move::Sentence);
                }
                Ok(())
            }
            Command::SetSecondSentence(text) => self.set_second(text, goes_on(Move::Second), lesson),
            Command::Refit => self.refit(lesson),
            Command::SetAxis { axis, from, to } => self.set_axis(axis, Some((&from, &to)), lesson),
            Command::ResetAxis(axis) => self.set_axis(axis, None, lesson),
            Command::ResetBasis => self.reset_basis(lesson),
            // The kernel's own.
            Command::Undo | Command::Redo | Command::Notebook(_) | Command::Retrain(_) => Ok(()),
        }
    }

    /// Changes the model and its training, which undo can take back as a whole. `goes_on`: it is one
    /// more move of the same slider, and undoes together with the last.
    fn change_model(
        &mut self,
        label: &str,
        goes_on: bool,
        change: impl FnOnce(&mut Training) -> Result<(), String>,
    ) -> Result<(), String> {
        let before = (!goes_on).then(|| Box::new(self.training.model().rest()));
        change(&mut self.training)?;
        if let Some(before) = before {
            self.changes.push((label.to_owned(), Part::Model(before)));
        }
        Ok(())
    }

    fn scrub(&mut self, step: usize, goes_on: bool) -> Result<(), String> {
        if step != self.training.step_in_sight() {
            // Weights turned at a past step are left behind with it, and undo brings them back.
            let model = self.training.model();
            let leaves_edits = model.lookback().is_some() && model.is_edited();
            self.change_model("look at another step", goes_on && !leaves_edits, |training| training.scrub(step))?;
        }
        self.last_move = Some(Move::Look);
        Ok(())
    }

    /// What the last command changed, for undo to remember.
    pub fn take_changes(&mut self) -> Vec<(String, Part)> {
        std::mem::take(&mut self.changes)
    }

    /// A slider's move that comes next undoes by itself.
    pub fn end_move(&mut self) {
        self.last_move = None;
    }

    /// Brings back a part and returns the present one. Bringing back a model ends the training that is
    /// under way.
    pub fn swap(&mut self, part: Part) -> Part {
        let Self { training, shown, .. } = self;
        match part {
            Part::Model(before) => Part::Model(Box::new(training.replace(before.wake()).rest())),
            Part::Comparison(before) => Part::Comparison(training.set_comparison(before)),
            Part::Interventions(before) => Part::Interventions(shown.set_interventions(before)),
            Part::Sentence(before) => Part::Sentence(shown.restore(before)),
            Part::Second(before) => Part::Second(shown.set_second(before)),
            Part::Basis(before) => Part::Basis(Box::new(self.rebase(*before))),
        }
    }

    /// True if it is another one; `goes_on` as in [`Self::change_model`].
    fn show(&mut self, sentence: Sentence, goes_on: bool) -> bool {
        if sentence == *self.shown.sentence() {
            return false;
        }
        let before = self.shown.show(sentence);
        if !goes_on {
            self.changes.push(("choice of the sentence".to_owned(), Part::Sentence(before)));
        }
        true
    }

    /// Changes the interventions; `goes_on` as in [`Self::change_model`].
    pub(super) fn intervene(&mut self, label: &str, goes_on: bool, change: impl FnOnce(&mut Interventions<f32>)) {
        let mut changed = Interventions::clone(self.shown.interventions());
        change(&mut changed);
        if changed != **self.shown.interventions() {
            let before = self.shown.set_interventions(Arc::new(changed));
            if !goes_on {
                self.changes.push((label.to_owned(), Part::Interventions(before)));
            }
        }
    }

    fn set_head(&mut self, head: usize, setting: HeadSetting, goes_on: bool) -> Result<(), String> {
        self.check_head(head)?;
        if let HeadSetting::Gain(gain) = setting {
            check_gain(gain)?;
        }
        let mode = self.shown.mode(setting, head, &self.training.trainer().model, self.training.model().live());
        let what = match setting {
            HeadSetting::Live => "on",
            HeadSetting::Off => "off",
            HeadSetting::Uniform => "uniform",
            HeadSetting::Frozen => "frozen",
            HeadSetting::Gain(_) => "gain",
        };
        self.intervene(&format!("head {} {what}", head + 1), goes_on, |changed| changed.heads[head] = mode);
        Ok(())
    }

    fn solo(&mut self, solo: Option<usize>) -> Result<(), String> {
        solo.map_or(Ok(()), |head| self.check_head(head))?;
        let label = solo.map_or("all heads on".to_owned(), |head| format!("head {} alone", head + 1));
        self.intervene(&label, false, |changed| {
            for (head, mode) in changed.heads.iter_mut().enumerate() {
                *mode = if solo.is_none_or(|solo| solo == head) { HeadMode::Live } else { HeadMode::Off };
            }
        });
        Ok(())
    }

    fn check_head(&self, head: usize) -> Result<(), String> {
        let heads = self.shown.interventions().heads.len();
        if head < heads {
            Ok(())
        } else {
            Err(format!("there is no head {}: the model has {heads}", head.saturating_add(1)))
        }
    }

    pub(super) fn index(&self, (tensor, row, col): (TensorId, usize, usize)) -> Result<usize, String> {
        let live = self.training.model().live();
        let has_entry = live.spec(tensor).is_some_and(|spec| row < spec.rows && col < spec.cols);
        let index = has_entry.then(|| live.index(tensor, row, col)).flatten();
        index.ok_or_else(|| format!("the model has no {tensor}[{row}, {col}]"))
    }

    fn set_weight(&mut self, entry: (TensorId, usize, usize), value: f32, goes_on: bool) -> Result<(), String> {
        let index = self.index(entry)?;
        let (tensor, row, col) = entry;
        if !value.is_finite() {
            return Err(format!("{tensor}[{row}, {col}] cannot be {value}: a weight is a finite number"));
        }
        if self.training.model().live().flat()[index] == value {
            return Ok(());
        }
        let label = format!("{tensor}[{row}, {col}]");
        self.edit(&label, goes_on, |live| live.flat_mut()[index] = value)
    }

    fn reset_tensor(&mut self, tensor: TensorId) -> Result<(), String> {
        let model = self.training.model();
        if model.live().spec(tensor).is_none() {
            return Err(format!("the model has no {tensor}"));
        }
        let trained = model.trained().values_of(tensor).to_vec();
        if model.live().values_of(tensor) == trained {
            return Ok(());
        }
        let label = format!("reset of {tensor}");
        self.edit(&label, false, |live| live.values_of_mut(tensor).copy_from_slice(&trained))
    }

    pub(super) fn edit(
        &mut self,
        label: &str,
        goes_on: bool,
        change: impl FnOnce(&mut Parameters<f32>),
    ) -> Result<(), String> {
        let mut live = Parameters::clone(self.training.model().live());
        change(&mut live);
        self.change_model(label, goes_on, |training| training.edit(live))
    }

    pub fn snapshot(&self, lesson: &Lesson) -> ModelSnapshot {
        let Self { training, shown, .. } = self;
        let (model, network) = (training.model(), &training.trainer().model);
        let sentence = shown.run(network, model.live(), model.trained());
        let second = shown.run_second(network, model.live(), model.trained());
        let second = second.map(|second| Arc::new(SecondSentence::of(&self.space, &sentence, second)));
        ModelSnapshot {
            architecture: network.architecture.clone(),
            parameters: model.live().clone(),
            trained: model.trained().clone(),
            start: training.start().clone(),
            comparison: training.comparison().map(|comparison| comparison.snapshot(model)),
            training: self.training_snapshot(lesson),
            interventions: shown.interventions().clone(),
            classes: self.classes.clone(),
            fixed_positions: network.fixed_positions().cloned(),
            generated: shown.generated(model.live()),
            sentence: Arc::new(sentence),
            second,
            recipe: self.origin.recipe.clone(),
            made_of: self.origin.lesson.clone(),
            replaced: self.origin.replaced.clone(),
        }
    }

    fn training_snapshot(&self, lesson: &Lesson) -> TrainingSnapshot {
        let training = &self.training;
        let model = training.model();
        let look = |lookback: &Lookback| LookSnapshot { step: lookback.state.steps_done(), target: lookback.target };
        let steps = model.line.checkpoint_steps();
        TrainingSnapshot {
            playing: training.is_playing(),
            progress: Progress { done: training.steps_done(), of: lesson.model.steps },
            look: model.lookback().map(look),
            learning_rate: training.learning_rate(),
            chance: (training.trainer().model.classes.count() as f32).ln(),
            log: model.line.log().clone(),
            stopped: training.stopped(),
            changes: model.line.changes().clone(),
            edited_latest: model.edited_latest(),
            checkpoints: CheckpointsSnapshot { bytes: steps.len() * model.line.latest().bytes(), steps },
        }
    }
}

/// One of the lesson's sentences.
fn chosen(lesson: &Lesson, space: &StaticSpace, index: usize) -> Option<Sentence> {
    let words = lesson.sentences.get(index)?;
    Some(Sentence { index: Some(index), words: rows_of(words, &index_of(&space.vocabulary))? })
}
