//! A lesson whose static vectors are trained: the attention model, its training, its weights in use, and the states for
//! undo.

pub mod beside;
pub mod cache;
pub mod commands;
pub mod corpus;
mod effects;
mod evidence;
pub mod live;
pub mod retraining;
mod shares;
pub mod snapshot;
pub mod untouched;

use std::mem::size_of_val;
use std::sync::Arc;

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::projection::Projection;

use self::cache::Cache;
use self::corpus::EmbeddedCorpus;
use self::snapshot::{CheckpointsSnapshot, LookSnapshot, ModelSnapshot, TrainingSnapshot};
use crate::kernel::command::Command;
use crate::kernel::evidence::AskedAnswer;
use crate::kernel::sentence_pass::recorded_check::{CheckedText, RecordedCheck};
use crate::kernel::sentence_pass::sentence::Sentence;
use crate::kernel::sentence_pass::{SecondState, SensesState, SentencePass, SentenceState};
use crate::kernel::static_embedding::LessonFault;
use crate::kernel::training::Training;
use crate::kernel::training::cache::StepCache;
use crate::kernel::training::run::Replay;
use crate::kernel::training::trainer::Trainer;
use crate::kernel::training::weights::{Comparison, WeightState};
use crate::kernel::values::sentence::{Pair, class_names};
use crate::kernel::values::space::{Basis, StaticSpace};
use crate::kernel::values::{Progress, Replaced};
use crate::lesson::Recipe;
use crate::lesson::recorded::ONE_PASS;
use crate::lesson::schema::Lesson;

/// Greatest memory of all states that undo keeps, in bytes.
pub const HISTORY_BYTES_MAX: usize = 64 << 20;
/// Greatest number of states that undo keeps, which limits the history of tiny models.
pub const HISTORY_STATES_MAX: usize = 200;

/// A lesson with its model. A clone, as in the history of undo, shares everything large and has an empty cache.
#[derive(Clone)]
pub struct LessonModel {
    /// The static vectors and examples from which the model was made, without the opening sentence.
    pub(crate) ground: EmbeddedCorpus,
    /// The static vectors as they are shown, in the learner's basis. If the model trains the embedding table, their
    /// rows are the present ones; see [`LessonModel::follow_table`].
    pub(crate) space: Arc<StaticSpace>,
    pub(crate) origin: ModelOrigin,
    pub(crate) training: Training,
    pub(crate) classes: Arc<[String]>,
    pub(crate) pass: SentencePass,
    /// The answer and the foil that the learner has chosen for evidence.
    pub(crate) asked: AskedAnswer,
    /// Changes by the last command, each with a label and the state before it.
    changes: Vec<(String, UndoPart)>,
    /// The parameters whose embedding table is in `space`, if the model trains the table.
    pub(crate) followed: Option<Arc<Parameters<f32>>>,
    pub(crate) cache: Cache,
}

/// The lesson and the recipe from which a model was made.
#[derive(Clone)]
pub struct ModelOrigin {
    /// The lesson with the recipe applied.
    pub lesson: Arc<Lesson>,
    pub recipe: Arc<Recipe>,
    /// The model that this one replaced, without the model that it had itself replaced.
    pub replaced: Option<Box<LessonModel>>,
}

/// The part of a model that a change replaced. Undo restores this part and leaves the others.
#[derive(Clone)]
pub enum UndoPart {
    Model(Box<WeightState>),
    Comparison(Option<Comparison>),
    Interventions(Arc<Interventions<f32>>),
    Sentence(SentenceState),
    Second(SecondState),
    Senses(SensesState),
    Basis(Box<(Basis, Projection)>),
    Asked(AskedAnswer),
    /// Several parts that one change replaced, in the order of the changes.
    Several(Vec<UndoPart>),
}

impl LessonModel {
    /// Creates the model at its initialisation.
    ///
    /// # Errors
    /// If the corpus has no sentence to train on.
    pub fn new(origin: ModelOrigin, ground: &EmbeddedCorpus) -> Result<Self, LessonFault> {
        let EmbeddedCorpus { space, examples, pretrained, .. } = ground;
        let lesson = &*origin.lesson;
        let is_recorded = lesson.static_embedding.recording().is_some();
        let trainer = match pretrained {
            Some(model) => Trainer::of_pretrained(lesson, space, model, examples),
            None if is_recorded => Trainer::of_recording(lesson, space),
            None => Trainer::new(lesson, space, examples),
        };
        let classes = class_names(lesson, &trainer.model.classes, &space.vocabulary);
        let has_corpus = pretrained.is_none() && !is_recorded && !lesson.static_embedding.is_whole_file();
        if trainer.sentences() == 0 && (has_corpus || lesson.model.schedule.steps > 0) {
            let words = "no sentence of the corpus has a word that the model could be asked for".to_owned();
            return Err(LessonFault { words, field: &["model", "objective"] });
        }
        let sentence = ground.opening.clone().unwrap_or_else(|| Sentence::first(lesson, &space.vocabulary));
        let training = Training::new(trainer);
        Ok(Self {
            pass: SentencePass::new(lesson, space, &training, sentence),
            ground: EmbeddedCorpus { opening: None, ..ground.clone() },
            space: space.clone(),
            classes: classes.into(),
            origin,
            training,
            asked: AskedAnswer::default(),
            changes: Vec::new(),
            followed: None,
            cache: Cache::default(),
        })
    }

    /// Starts the training without a request, so that the learner finds a trained model. Undo does not reverse it.
    pub fn play_at_opening(&mut self) {
        // A model at its initialisation can always train, so there is no error to handle.
        let _ = self.training.play_to(self.training.trainer().steps());
    }

    /// Does a few optimiser steps, if any are left.
    pub fn advance(&mut self) {
        self.training.advance(&mut self.cache.steps);
    }

    /// Does `steps` optimiser steps, or as many as are left.
    pub fn train(&mut self, steps: usize) {
        self.training.train(&mut self.cache.steps, steps);
    }

    /// Passes a command to the owner of the state that it changes.
    ///
    /// # Errors
    /// A message for the learner if the command is refused. Nothing is changed in that case.
    pub fn apply(&mut self, command: Command, lesson: &Lesson) -> Result<(), String> {
        if self.is_recorded() && command.needs_model() {
            return Err(format!("{ONE_PASS}, so there is nothing to change or to run again"));
        }
        match command {
            Command::Training(command) => self.apply_to_training(command),
            Command::Weights(command) => self.apply_to_weights(command),
            Command::Interventions(command) => self.apply_to_interventions(command, lesson),
            Command::Sentence(command) => self.apply_to_sentences(command, lesson),
            Command::Axes(command) => self.apply_to_axes(command, lesson),
            Command::Senses(command) => self.apply_to_senses(command, lesson),
            Command::Answers(asked) => self.set_asked(asked),
            Command::Map => self.start_map(),
            Command::EndMap => {
                self.end_map();
                Ok(())
            }
            Command::Paths(head) => self.start_paths(head),
            Command::Words(asked) => self.start_words(asked),
            Command::EndWords => {
                self.cache.words.take();
                Ok(())
            }
            Command::Tables(head) => self.start_tables(head),
            Command::EndTables => {
                self.cache.tables.take();
                Ok(())
            }
            // These commands are applied by the kernel.
            Command::Tour
            | Command::Texts(_)
            | Command::Undo
            | Command::Redo
            | Command::Notebook(_)
            | Command::Retrain(_) => Ok(()),
        }
    }

    /// Returns whether this is a recording instead of a model.
    pub fn is_recorded(&self) -> bool {
        self.pass.frame().recorded().is_some()
    }

    /// Returns the findings so far of the check of the recorded text, or `None` if this is not a recording.
    fn checked(&self) -> Option<Arc<CheckedText>> {
        let place = &self.pass.frame().recorded()?.place;
        let check = self.cache.recorded.borrow();
        let check = check.as_ref().filter(|check| check.is_of(place));
        Some(Arc::new(check.map_or_else(|| CheckedText::begun(place), |check| check.found().clone())))
    }

    /// Returns whether the check of the recorded text is not finished.
    pub fn has_check_pending(&self) -> bool {
        let Some(recorded) = self.pass.frame().recorded() else { return false };
        let check = self.cache.recorded.borrow();
        !check.as_ref().is_some_and(|check| check.is_of(&recorded.place) && check.is_done())
    }

    /// Does the next piece of the check of the recorded text.
    pub fn advance_check(&self) {
        let Some(recorded) = self.pass.frame().recorded() else { return };
        let mut check = self.cache.recorded.borrow_mut();
        let kept = check.take().filter(|check| check.is_of(&recorded.place));
        check.insert(kept.unwrap_or_else(|| RecordedCheck::new(&recorded.place))).advance();
    }

    /// Changes the weights and their training, as one change for undo.
    pub(crate) fn change_model(
        &mut self,
        label: &str,
        change: impl FnOnce(&mut Training, &mut StepCache) -> Result<(), String>,
    ) -> Result<(), String> {
        let before = Box::new(self.training.model().clone());
        change(&mut self.training, &mut self.cache.steps)?;
        self.remember(label, UndoPart::Model(before));
        Ok(())
    }

    /// Notes a change for the history, with the state before it.
    fn remember(&mut self, label: impl Into<String>, before: UndoPart) {
        self.changes.push((label.into(), before));
    }

    /// Takes the changes of the last command, which are then added to the history.
    pub fn take_changes(&mut self) -> Vec<(String, UndoPart)> {
        std::mem::take(&mut self.changes)
    }

    /// Makes everything that `change` does a single step of undo.
    ///
    /// # Errors
    /// The error of the change.
    fn as_one(&mut self, label: &str, change: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        let before = std::mem::take(&mut self.changes);
        let result = change(self);
        let mut parts: Vec<UndoPart> =
            std::mem::replace(&mut self.changes, before).into_iter().map(|it| it.1).collect();
        let whole = if parts.len() > 1 { Some(UndoPart::Several(parts)) } else { parts.pop() };
        self.changes.extend(whole.map(|part| (label.to_owned(), part)));
        result
    }

    /// Returns the model that this one replaced, as it was shown last.
    fn replaced(&self) -> Option<Arc<Replaced>> {
        let before = self.origin.replaced.as_ref()?;
        // A clone is shown, so that the passes of the replaced model are not kept.
        Some(self.cache.replaced.get_or_init(|| Arc::new(LessonModel::clone(before).shown())).clone())
    }

    /// Returns the static vectors and the examples from which the model was made.
    pub fn corpus(&self) -> EmbeddedCorpus {
        // The changes that training made to the embedding table are not passed on to another model.
        let space = if self.trains_table() { &self.ground.space } else { &self.space };
        EmbeddedCorpus { recipe: self.origin.recipe.clone(), space: space.clone(), ..self.ground.clone() }
    }

    /// Returns whether the model trains the embedding table, so that the static vectors change with each step.
    fn trains_table(&self) -> bool {
        self.training.network().architecture.train_embedding
    }

    /// Returns the model for storage in the one that replaces it, without the model that it had itself replaced.
    pub fn without_ghost(&self) -> Self {
        Self { origin: ModelOrigin { replaced: None, ..self.origin.clone() }, ..self.clone() }
    }

    /// Returns the part of this model that is still shown when another one has replaced it.
    pub fn shown(&self) -> Replaced {
        let sentence = self.pass.run(&self.cache.passes, &self.training);
        Replaced { recipe: self.origin.recipe.clone(), space: self.space.clone(), sentence }
    }

    /// Restores a part and returns the present one. Restoring a model ends its training.
    pub fn swap(&mut self, part: UndoPart) -> UndoPart {
        let Self { training, pass, space, origin, asked, .. } = self;
        let present = match part {
            UndoPart::Model(before) => return UndoPart::Model(Box::new(training.replace(*before))),
            UndoPart::Comparison(before) => return UndoPart::Comparison(training.set_comparison(before)),
            UndoPart::Asked(before) => return UndoPart::Asked(std::mem::replace(asked, before)),
            UndoPart::Interventions(before) => UndoPart::Interventions(pass.set_interventions(before)),
            UndoPart::Sentence(before) => UndoPart::Sentence(pass.restore(before)),
            UndoPart::Second(before) => UndoPart::Second(pass.restore_second(before)),
            UndoPart::Senses(before) => UndoPart::Senses(pass.set_senses(before)),
            UndoPart::Basis(before) => UndoPart::Basis(Box::new(pass.rebase(space, *before))),
            UndoPart::Several(parts) => {
                // The latest change is reversed first.
                return UndoPart::Several(parts.into_iter().rev().map(|part| self.swap(part)).collect());
            }
        };
        pass.read_senses(&origin.lesson);
        present
    }

    pub fn snapshot(&self, lesson: &Lesson) -> ModelSnapshot {
        let Self { training, pass, cache, .. } = self;
        let (model, network) = (training.model(), training.network());
        let sentence = pass.run(&cache.passes, training);
        let second = pass.run_second(&cache.passes, training);
        let of_tokens = Arc::new(self.shares_of_tokens(&sentence, second.as_deref()));
        let of_words = self.shares_of_words(&sentence, second.as_deref()).map(Arc::new);
        let second =
            second.map(|second| Arc::new(Pair::with_second(&self.space, &sentence, second, self.is_recorded())));
        ModelSnapshot {
            shares: of_tokens,
            shares_of_words: of_words,
            architecture: network.architecture.clone(),
            parameters: model.live().clone(),
            trained: model.trained().clone(),
            edits: if model.is_edited() { model.trained().differences(model.live()).into() } else { Arc::from([]) },
            start: training.start().clone(),
            comparison: training.comparison().map(|comparison| comparison.snapshot(model)),
            training: self.training_snapshot(lesson),
            interventions: pass.interventions().clone(),
            classes: self.classes.clone(),
            fixed_positions: network.fixed_positions().cloned(),
            generated: pass.generated(model.live()),
            sentence,
            second,
            senses: Arc::new(
                pass.senses().snapshot(&mut cache.passes.senses.borrow_mut(), &pass.sense_model(training)),
            ),
            pretrained: self.ground.pretrained.clone(),
            recorded: pass.frame().recorded().cloned(),
            checked: self.checked(),
            asked: self.asked.clone(),
            map: self.map_snapshot(),
            words: self.asked_words(),
            tables: self.asked_tables(),
            recipe: self.origin.recipe.clone(),
            made_of: self.origin.lesson.clone(),
            replaced: self.replaced(),
        }
    }

    fn training_snapshot(&self, lesson: &Lesson) -> TrainingSnapshot {
        let training = &self.training;
        let model = training.model();
        let look = |replay: &Replay| LookSnapshot { step: replay.state.steps_done(), target: replay.target };
        let steps = training.checkpoint_steps(&self.cache.steps);
        TrainingSnapshot {
            playing: training.is_playing(),
            progress: Progress { done: training.steps_done(), of: lesson.model.schedule.steps },
            look: model.replay().map(look),
            learning_rate: training.learning_rate(),
            chance: (training.network().classes.count() as f32).ln(),
            log: model.run.log().clone(),
            stopped: training.stopped(),
            changes: model.run.changes().clone(),
            edited_latest: model.edited_latest(),
            checkpoints: CheckpointsSnapshot { bytes: steps.len() * model.run.latest().bytes(), steps },
        }
    }
}

impl LessonModel {
    /// Returns the size of the model's large parts, in bytes.
    pub fn bytes(&self) -> usize {
        let examples = self.ground.examples.iter().map(|example| size_of_val(example.words()));
        let spaces = std::iter::once(&self.space).chain(self.trains_table().then_some(&self.ground.space));
        let vectors: usize = spaces.map(|space| space.vectors.bytes()).sum();
        self.training.model().bytes() + vectors + examples.sum::<usize>() + of_interventions(self.pass.interventions())
    }
}

impl UndoPart {
    /// Returns the size of the large data in the part, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Model(weights) => weights.bytes(),
            Self::Comparison(Some(Comparison::Step(Replay { state, .. }))) => state.bytes(),
            Self::Comparison(_) => 0,
            Self::Interventions(interventions)
            | Self::Sentence((_, interventions))
            | Self::Second((_, interventions)) => of_interventions(interventions),
            Self::Senses((list, _)) => list.sentences.iter().map(|sentence| sentence.text.len()).sum(),
            Self::Basis(basis) => of_basis(&basis.0),
            Self::Asked(_) => 0,
            Self::Several(parts) => parts.iter().map(Self::bytes).sum(),
        }
    }
}

/// Returns the size of the weights and values that heads have from other passes, in bytes.
fn of_interventions(interventions: &Interventions<f32>) -> usize {
    let copied = |mode: &HeadMode<f32>| {
        let matrices = [mode.given_weights(), mode.given_values()].into_iter().flatten();
        matrices.map(|matrix| size_of_val(matrix.flat())).sum::<usize>()
    };
    interventions.heads.iter().map(copied).sum()
}

/// Returns the size of the covariance to which axes were fitted, in bytes.
fn of_basis(basis: &Basis) -> usize {
    basis.fitted.as_ref().map_or(0, |spread| spread.width() * (spread.width() + 1) / 2 * size_of::<f64>())
}
