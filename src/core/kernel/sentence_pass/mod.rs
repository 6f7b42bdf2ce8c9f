//! The pass on the stage: a sentence, the learner's interventions on its forward pass, and the words that the model
//! generated after it.

pub mod axes;
pub mod interventions;
pub mod meaning;
pub mod near;
pub mod passes;
pub mod recorded;
pub mod recorded_check;
pub mod senses;
pub mod sentence;
mod shown;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{Edge, HeadMode, SecondHead};
use attune_engine::numerics::model::activations::{Interventions, Patch};
use attune_engine::numerics::model::generate::{NextWord, NextWordChoice};
use attune_engine::numerics::model::{Activations, Architecture, Sequences};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::projection::Projection;
use attune_engine::numerics::rng::{Generator, Stream, stream};

use self::interventions::{check_exchange, check_gain, check_temperature, shape_of};
use self::passes::Passes;
use self::senses::{SenseCache, SenseInput, SenseList, SenseModel, Senses};
use self::sentence::{Sentence, SentenceFrame, token};
use crate::kernel::targets::Targets;
use crate::kernel::training::Training;
use crate::kernel::values::sentence::{Generated, SentenceSnapshot, Token, cannot_generate_words, check_generates};
use crate::kernel::values::space::{Basis, StaticSpace};
use crate::lesson::limits::GENERATED_MAX;
use crate::lesson::schema::Lesson;

/// Cache of forward passes, which can be computed again.
#[derive(Default)]
pub struct PassCache {
    /// Passes of the sentence on the stage, and of the second sentence.
    pub stage: Passes,
    pub second: Passes,
    pub senses: RefCell<SenseCache>,
}

/// Largest frozen weight, a little above 1 because softmax rounds.
const WEIGHT_MAX: f32 = 1.001;

/// Returns whether a matrix has this shape, and weights as entries.
fn are_weights(weights: &Matrix<f32>, shape: (usize, usize)) -> bool {
    let is_weight = |weight: &f32| (0.0..=WEIGHT_MAX).contains(weight);
    (weights.rows(), weights.cols()) == shape && weights.flat().iter().all(is_weight)
}

/// The sentences on the stage with the learner's interventions. A clone shares everything large.
#[derive(Clone)]
pub struct SentencePass {
    space: Arc<StaticSpace>,
    frame: Arc<SentenceFrame>,
    /// The second sentence, which is compared with the first.
    second: Option<Arc<SentenceFrame>>,
    /// One word in the sentences of a list, for the comparison of its senses.
    senses: Senses,
    interventions: Arc<Interventions<f32>>,
    /// The maker of targets, if sentences are sources.
    targets: Option<Arc<Targets>>,
    written: Option<WrittenWords>,
    generator: Generator,
}

/// A list of sentences with a common word, and whether the stage shows it.
pub type SensesState = (Arc<SenseList>, bool);

/// The second sentence, if there is one, and the interventions, because a patch comes from that sentence.
pub type SecondState = (Option<Sentence>, Arc<Interventions<f32>>);

/// A sentence and the interventions, because some of them belong to that sentence.
pub type SentenceState = (Sentence, Arc<Interventions<f32>>);

/// Words that the model generated, and the weights that it used.
#[derive(Clone)]
struct WrittenWords {
    words: Vec<NextWord>,
    choice: NextWordChoice,
    by: Arc<Parameters<f32>>,
}

impl SentencePass {
    pub fn new(lesson: &Lesson, space: &Arc<StaticSpace>, training: &Training, sentence: Sentence) -> Self {
        let targets = Targets::of(lesson, &space.vocabulary, training.network(), training.start()).map(Arc::new);
        Self {
            frame: Arc::new(SentenceFrame::new(sentence, space, targets.as_deref())),
            interventions: Arc::new(interventions::none(&lesson.model.architecture)),
            second: None,
            senses: Senses::default(),
            targets,
            written: None,
            generator: stream(lesson.seed, Stream::Generation),
            space: space.clone(),
        }
    }

    /// Returns a copy without generated words, whose random generator starts again.
    #[must_use]
    pub fn without_written(&self, lesson: &Lesson) -> Self {
        Self { written: None, generator: stream(lesson.seed, Stream::Generation), ..self.clone() }
    }

    pub fn sentence(&self) -> &Sentence {
        &self.frame.sentence
    }

    pub fn interventions(&self) -> &Arc<Interventions<f32>> {
        &self.interventions
    }

    /// Returns the interventions that can be applied to another sentence too.
    fn for_any_sentence(&self) -> Interventions<f32> {
        interventions::for_any_sentence(&self.interventions)
    }

    /// Shows another sentence, and returns the earlier one with its interventions. Interventions that belong to the
    /// earlier sentence alone are dropped.
    pub fn show(&mut self, sentence: Sentence) -> SentenceState {
        self.restore((sentence, Arc::new(self.for_any_sentence())))
    }

    /// Shows a sentence with its interventions, and returns the earlier ones.
    pub fn restore(&mut self, (sentence, interventions): SentenceState) -> SentenceState {
        self.written = None;
        let frame = SentenceFrame::after(Some(&self.frame), sentence, &self.space, self.targets.as_deref());
        let before = std::mem::replace(&mut self.frame, Arc::new(frame));
        (before.sentence.clone(), self.set_interventions(interventions))
    }

    /// Sets or removes the second sentence, and returns the earlier one with the interventions. A patch and exchanged
    /// heads are removed, because their numbers came from the earlier sentence.
    pub fn set_second(&mut self, sentence: Option<Sentence>) -> SecondState {
        let mut kept = self.interventions.clone();
        let is_copied = |mode: &HeadMode<f32>| matches!(mode, HeadMode::Second(_));
        if kept.patch.is_some() || kept.heads.iter().any(is_copied) {
            let kept = Arc::make_mut(&mut kept);
            kept.patch = None;
            kept.heads.iter_mut().filter(|mode| is_copied(mode)).for_each(|mode| *mode = HeadMode::Live);
        }
        self.restore_second((sentence, kept))
    }

    /// Restores the second sentence with its interventions, and returns the earlier ones.
    pub fn restore_second(&mut self, (sentence, interventions): SecondState) -> SecondState {
        let frame = sentence.map(|sentence| self.frame_of(sentence));
        let before = std::mem::replace(&mut self.second, frame).map(|frame| frame.sentence.clone());
        (before, self.set_interventions(interventions))
    }

    fn frame_of(&self, sentence: Sentence) -> Arc<SentenceFrame> {
        Arc::new(SentenceFrame::new(sentence, &self.space, self.targets.as_deref()))
    }

    pub fn second(&self) -> Option<&Sentence> {
        self.second.as_ref().map(|frame| &frame.sentence)
    }

    pub fn second_frame(&self) -> Option<&Arc<SentenceFrame>> {
        self.second.as_ref()
    }

    pub fn senses(&self) -> &Senses {
        &self.senses
    }

    /// Replaces the list of senses, and returns the earlier one.
    pub fn set_senses(&mut self, (list, is_on): SensesState) -> SensesState {
        self.senses.set(list, is_on)
    }

    /// Reads the sentences in the list of senses, with the vocabulary of the lesson and the present targets.
    pub fn read_senses(&mut self, lesson: &Lesson) {
        let targets = self.targets.as_deref();
        // The word is sought in the source, which does not depend on the target, so no target has to be written.
        let frame = |sentence: Sentence| {
            let target = sentence.target.clone().or_else(|| Some(Arc::new(targets?.begun())));
            SentenceFrame::without_points(Sentence { target, ..sentence }, &self.space, targets)
        };
        self.senses.read(lesson, &self.space.vocabulary, frame);
    }

    /// Returns the model through which the sentences of the list run.
    pub fn sense_model<'a>(&'a self, training: &'a Training) -> SenseModel<'a> {
        let (model, parameters) = (training.network(), training.live());
        SenseModel { space: &self.space, model, parameters, interventions: self.for_any_sentence() }
    }

    /// Changes the basis of everything on the stage, including the space, and returns the earlier basis.
    pub fn rebase(
        &mut self,
        space: &mut Arc<StaticSpace>,
        (basis, projection): (Basis, Projection),
    ) -> (Basis, Projection) {
        let now = Arc::make_mut(space);
        (now.points, now.shares) = (now.points_in(&basis, &projection), OnceLock::new());
        let before = (std::mem::replace(&mut now.basis, basis), std::mem::replace(&mut now.projection, projection));
        self.set_space(space);
        before
    }

    /// Replaces the space, whose vectors or basis have changed, and prepares the sentences in it.
    pub fn set_space(&mut self, space: &Arc<StaticSpace>) {
        self.space = space.clone();
        let targets = self.targets.as_deref();
        let again = |frame: &Arc<SentenceFrame>| {
            // Only the recorded pass of the earlier frame stays valid; all other parts depend on the space.
            let before = frame.recorded().map(|_| &**frame);
            Arc::new(SentenceFrame::after(before, frame.sentence.clone(), space, targets))
        };
        (self.frame, self.second) = (again(&self.frame), self.second.as_ref().map(again));
    }

    pub fn set_interventions(&mut self, interventions: Arc<Interventions<f32>>) -> Arc<Interventions<f32>> {
        std::mem::replace(&mut self.interventions, interventions)
    }

    /// Completes a mode: weights to freeze are taken from the present pass, a head of the second sentence from the pass
    /// of that sentence, and a gain of 1 or 0 becomes live or off.
    ///
    /// # Errors
    /// A message for the learner if the head cannot have this mode.
    pub fn mode(
        &self,
        mode: HeadMode<f32>,
        head: usize,
        cache: &PassCache,
        training: &Training,
    ) -> Result<HeadMode<f32>, String> {
        match mode {
            HeadMode::Gain(gain) => {
                check_gain(gain)?;
                Ok(interventions::mode_of_gain(gain))
            }
            HeadMode::Frozen(None) => {
                let pass = cache.stage.forward(&self.frame, training.network(), (training.live(), &self.interventions));
                let weights = pass.activations.heads().nth(head).map(|head| Arc::new(head.weights.clone()));
                Ok(weights.map_or(HeadMode::Live, |weights| HeadMode::Frozen(Some(weights))))
            }
            HeadMode::Frozen(Some(weights)) => {
                are_weights(&weights, shape_of(&training.network().architecture, head, &self.frame))
                    .then_some(HeadMode::Frozen(Some(weights)))
                    .ok_or_else(|| "its frozen weights do not fit the sentence".to_owned())
            }
            HeadMode::Second(copied) => self.second_head(copied, head, cache, training),
            mode => Ok(mode),
        }
    }

    /// Completes the change that copies a head from the second sentence. Without numbers, it gets the present ones.
    fn second_head(
        &self,
        copied: Option<Arc<SecondHead<f32>>>,
        head: usize,
        cache: &PassCache,
        training: &Training,
    ) -> Result<HeadMode<f32>, String> {
        let (model, live) = (training.network(), training.live());
        let second = self.second.as_ref().ok_or("there is no second sentence from which to take a head")?;
        let shape = check_exchange(&model.architecture, head, [&self.frame, second])?;
        let copied = copied.or_else(|| {
            let interventions = Arc::new(self.for_any_sentence());
            let pass = cache.second.forward(second, model, (live, &interventions));
            pass.activations.heads().nth(head).map(|head| Arc::new(SecondHead::of(head)))
        });
        let width = model.architecture.head(head).1.attention.value_width;
        let fits = |SecondHead { weights, values }: &SecondHead<f32>| {
            are_weights(weights, shape)
                && (values.rows(), values.cols()) == (shape.1, width)
                && values.flat().iter().all(|x| x.is_finite())
        };
        let fitting = copied.filter(|copied| fits(copied));
        fitting.map(|copied| HeadMode::Second(Some(copied))).ok_or_else(|| "it does not fit the sentence".to_owned())
    }

    /// Checks that the sentence has an edge, and that the query sees the key.
    ///
    /// # Errors
    /// A message for the learner if the sentence has no such edge, or the mask or the window hides it.
    pub fn check_edge(&self, architecture: &Architecture, edge: Edge) -> Result<(), String> {
        let (block, _, own) = architecture.head(edge.head);
        let (queries, keys) = shape_of(architecture, edge.head, &self.frame);
        let Edge { query, key, .. } = edge;
        if query >= queries || key >= keys {
            let (query, key) = (query.saturating_add(1), key.saturating_add(1));
            return Err(format!(
                "head {} has no weight from token {query} to token {key}; it has {queries} by {keys} weights",
                own + 1
            ));
        }
        if !self.interventions.sight(architecture, block).sees(query, key) {
            return Err("the mask or the window already hides this word".to_owned());
        }
        Ok(())
    }

    /// Completes a patch. If it has no vector, it gets the present one from its place in the second sentence.
    ///
    /// # Errors
    /// A message for the learner if there is no second sentence, one of the sentences has no such place, or the vector
    /// has another width or is not finite.
    pub fn patch(
        &self,
        Patch { block, position, from, vector }: Patch<f32>,
        cache: &PassCache,
        training: &Training,
    ) -> Result<Patch<f32>, String> {
        let (model, live) = (training.network(), training.live());
        let second = self.second.as_ref().ok_or("there is no second sentence from which to take a vector")?;
        let layers = model.architecture.numbered_blocks().count();
        if block >= layers {
            return Err(format!("there is no such layer; the sentence goes through layers 1 to {layers}"));
        }
        let tower = model.architecture.tower_of(block);
        let counts = [self.frame.tokens_of(tower).len(), second.tokens_of(tower).len()];
        for (which, at, count) in [("", position, counts[0]), ("second ", from, counts[1])] {
            if at >= count {
                let at = at.saturating_add(1);
                return Err(format!("the {which}sentence has {count} tokens, so there is no token {at}"));
            }
        }
        let vector = vector.unwrap_or_else(|| {
            let interventions = Arc::new(self.for_any_sentence());
            let pass = cache.second.forward(second, model, (live, &interventions));
            Arc::from(pass.activations.blocks[block].input.row(from))
        });
        let (numbers, width) = (vector.len(), model.architecture.width);
        if numbers != width || !vector.iter().all(|x| x.is_finite()) {
            return Err(format!("its vector of {numbers} numbers must be a vector of {width} finite numbers"));
        }
        Ok(Patch { block, position, from, vector: Some(vector) })
    }

    /// Prepares another sentence, which is not shown, with the interventions that can be applied to any sentence.
    pub fn beside(&self, sentence: Sentence) -> (Arc<SentenceFrame>, Interventions<f32>) {
        let frame = SentenceFrame::without_points(sentence, &self.space, self.targets.as_deref());
        (Arc::new(frame), self.for_any_sentence())
    }

    /// Returns the maker of targets, or `None` if sentences are not sources.
    pub fn targets(&self) -> Option<&Arc<Targets>> {
        self.targets.as_ref()
    }

    pub fn frame(&self) -> &Arc<SentenceFrame> {
        &self.frame
    }

    pub fn tokens(&self) -> &[Token] {
        self.frame.tokens()
    }

    /// Generates words that continue the sentence, or that are the target if the sentence is a source.
    ///
    /// # Errors
    /// A message for the learner if no words can be generated. Words that were generated before stay in that case.
    pub fn generate(
        &mut self,
        count: usize,
        choice: NextWordChoice,
        lesson: &Lesson,
        training: &Training,
    ) -> Result<(), String> {
        check_generates(&lesson.model.objective)?;
        if !(1..=GENERATED_MAX).contains(&count) {
            return Err(format!("from 1 to {GENERATED_MAX} words can be written at once, not {count}"));
        }
        if let NextWordChoice::Sampled(sampling) = choice {
            check_temperature(sampling.temperature)?;
        }
        let (prompt, source) = self.frame.sentence.begun(self.targets.is_some());
        let live = training.live();
        let words = training.network().go_on(live, &prompt, source, count, choice, &mut self.generator);
        self.written = Some(WrittenWords { words: words.map_err(cannot_generate_words)?, choice, by: live.clone() });
        Ok(())
    }

    /// Returns the forward pass with its contributions and its points.
    pub fn run(&self, cache: &PassCache, training: &Training) -> Arc<SentenceSnapshot> {
        let (live, trained) = (training.live(), training.model().trained());
        self.frame.run(&cache.stage, &self.space, training.network(), live, trained, &self.interventions)
    }

    /// Returns the forward passes of both sentences.
    pub fn passes(&self, cache: &PassCache, training: &Training) -> Vec<(Arc<SentenceFrame>, Activations<f32>)> {
        let pass = |frame: &Arc<SentenceFrame>, passes: &Passes, interventions: &Arc<Interventions<f32>>| {
            let pass = passes.forward(frame, training.network(), (training.live(), interventions));
            (frame.clone(), pass.activations.clone())
        };
        let interventions = Arc::new(self.for_any_sentence());
        let second = self.second.as_ref().map(|second| pass(second, &cache.second, &interventions));
        std::iter::once(pass(&self.frame, &cache.stage, &self.interventions)).chain(second).collect()
    }

    /// Returns the passes of the sentences in the list of senses, each with the sequence that contains the word, and
    /// the range of the word's pieces. The iterator computes one pass after the other.
    pub fn passes_of_senses(
        &self,
        training: &Training,
    ) -> impl Iterator<Item = (Sequences, Activations<f32>, Range<usize>)> {
        let interventions = self.for_any_sentence();
        let inputs = self.senses.inputs().into_iter();
        let pass = move |of: &SenseInput<'_>| match of.recorded {
            Some(pass) => pass.activations.clone(),
            None => Activations::of(training.network(), training.live(), of.input, of.source, &interventions),
        };
        inputs.map(move |of| (of.source.unwrap_or(of.input).clone(), pass(&of), of.pieces))
    }

    /// Returns the forward pass of the second sentence in the form of [`Self::run`], without the interventions that
    /// belong to the first sentence; `None` if there is no second sentence.
    pub fn run_second(&self, cache: &PassCache, training: &Training) -> Option<Arc<SentenceSnapshot>> {
        let Some(second) = &self.second else {
            cache.second.clear();
            return None;
        };
        let interventions = Arc::new(self.for_any_sentence());
        let (live, trained) = (training.live(), training.model().trained());
        Some(second.run(&cache.second, &self.space, training.network(), live, trained, &interventions))
    }

    pub fn generated(&self, live: &Arc<Parameters<f32>>) -> Option<Arc<Generated>> {
        let WrittenWords { words, choice, by } = self.written.as_ref()?;
        let rows = words.iter().map(|next| next.rows).collect();
        let words = words.iter().map(|next| token(Some(next.word), &self.space)).collect();
        Some(Arc::new(Generated { words, rows, choice: *choice, is_current: by == live }))
    }
}
