//! Training of the attention model, step by step: resumable, deterministic and without threads.

use std::sync::Arc;

use attune_engine::numerics::attention::BatchRoom;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::cost::forward_cost;
use attune_engine::numerics::model::{Activations, AttentionModel, Batch, Masking, Pooling, StepWorkspace};
use attune_engine::numerics::optimiser::{NUMBERS_PER_PARAMETER, Optimiser, OptimiserConfig};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::rng::{Generator, Stream, stream};
use attune_engine::numerics::tensor_norms::{TensorNorms, first_not_finite};
use attune_engine::pretrained::load::Pretrained;
use rand::RngExt;

use crate::kernel::objective::{Example, has_one_meaning, network};
use crate::kernel::training::log::StepRecord;
use crate::kernel::training::stop::{Diverged, Origin, Overflow, first_not_finite as first_activation, largest};
use crate::kernel::values::sentence::answers;
use crate::kernel::values::space::StaticSpace;
use crate::lesson::schema::{Lesson, ModelConfig, Objective, Schedule, StaticEmbedding, StopRule};

/// Everything that a training step reads and changes. Equal states lead to equal steps, bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingState {
    /// The parameters. If a snapshot shares them, the next step works on a copy.
    pub parameters: Arc<Parameters<f32>>,
    pub optimiser: Optimiser<f32>,
    step: usize,
    draws: Draws,
}

/// The random streams of training.
#[derive(Clone, Debug, PartialEq)]
struct Draws {
    batches: Generator,
    masking: Generator,
}

impl TrainingState {
    pub fn steps_done(&self) -> usize {
        self.step
    }

    /// Returns the memory of a state, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + NUMBERS_PER_PARAMETER * self.parameters.len() * size_of::<f32>()
    }
}

/// The training set and the model: all data of the training that no step changes.
pub struct Trainer {
    pub model: AttentionModel<f32>,
    config: ModelConfig,
    /// The masking of words, if the objective hides words.
    masking: Option<Masking>,
    examples: Arc<[Example]>,
    /// Indices of the examples from which the model can learn.
    fitting: Vec<usize>,
    /// For each word, whether it has the same meaning in every sentence, so that its output may be kept near its place.
    keeps: Vec<bool>,
    seed: u64,
    /// Number of words in the longest sentence, and greatest number of rows in a batch.
    longest: usize,
    rows: usize,
    /// The initial parameters of a pretrained model, or an empty set for a recording; `None` if they are drawn at
    /// random.
    read: Option<Arc<Parameters<f32>>>,
}

/// Buffers for a training step.
pub struct StepRoom {
    batch: Batch,
    workspace: StepWorkspace<f32>,
    norms: TensorNorms,
}

impl Trainer {
    /// Creates a trainer. Examples from which the model cannot learn are left out.
    pub fn new(lesson: &Lesson, space: &StaticSpace, examples: &Arc<[Example]>) -> Self {
        let (model, config) = (network(lesson, space), lesson.model.clone());
        let keeps = space.vocabulary.iter().map(|word| has_one_meaning(lesson, word)).collect();
        let max_tokens = config.architecture.max_tokens;
        let shortest = if config.objective == Objective::NextWord { 2 } else { 1 };
        let masking = masking(lesson);
        let fits = |example: &Example| {
            let words = example.words();
            (shortest..=max_tokens).contains(&words.len())
                && (masking.is_none()
                    || words.iter().any(|&word| model.classes.candidates().is_some_and(|c| c.class(word).is_some())))
        };
        let fitting: Vec<usize> = (0..examples.len()).filter(|&at| fits(&examples[at])).collect();
        let longest = fitting.iter().map(|&at| examples[at].words().len()).max().unwrap_or(0);
        let rows = config.schedule.batch * longest;
        Self {
            read: None,
            model,
            config,
            masking,
            examples: examples.clone(),
            fitting,
            keeps,
            seed: lesson.seed,
            longest,
            rows,
        }
    }

    /// Creates a trainer that starts from the parameters of a pretrained model.
    pub fn of_pretrained(
        lesson: &Lesson,
        space: &StaticSpace,
        pretrained: &Pretrained,
        examples: &Arc<[Example]>,
    ) -> Self {
        if lesson.model.schedule.steps == 0 {
            // A model that is not trained needs no examples.
            let trainer = Self::new(lesson, space, &Arc::from([]));
            return Self { read: Some(pretrained.parameters.clone()), ..trainer };
        }
        let trainer = Self::new(lesson, space, examples);
        // Packed weights have no gradient, so they are unpacked.
        let mut start = trainer.model.zeros();
        for spec in start.specs().to_vec() {
            match spec.id.name {
                TensorName::Embedding => start.values_of_mut(spec.id).copy_from_slice(space.vectors.widened().flat()),
                _ => start.set_row_major(spec.id, &pretrained.parameters.row_major(spec.id)),
            }
        }
        Self { read: Some(Arc::new(start)), ..trainer }
    }

    /// Makes the trainer of a recording, which has no parameters and is never trained.
    pub fn of_recording(lesson: &Lesson, space: &StaticSpace) -> Self {
        let trainer = Self::new(lesson, space, &Arc::from([]));
        Self { read: Some(Arc::new(Parameters::zeros(&[]))), ..trainer }
    }

    /// Allocates buffers for a step, which can be used again for the following steps.
    pub fn room(&self) -> StepRoom {
        let Self { model, config, rows, longest, .. } = self;
        // A target is as long as its source.
        let room = BatchRoom { rows: *rows, longest: *longest };
        let workspace = StepWorkspace::new(model, room, room);
        let batch = Batch::with_capacity(config.schedule.batch, *rows);
        let batch =
            if config.architecture.has_source() { batch.with_source(config.schedule.batch, *rows) } else { batch };
        StepRoom { batch, norms: TensorNorms::new(&workspace.gradient), workspace }
    }

    /// Returns the number of sentences from which the model can learn.
    pub fn sentences(&self) -> usize {
        self.fitting.len()
    }

    /// Returns the rules that stop the lesson's training early.
    pub fn stop_rules(&self) -> &[StopRule] {
        &self.config.schedule.stop
    }

    /// Returns the number of optimiser steps in the lesson.
    pub fn steps(&self) -> usize {
        self.config.schedule.steps
    }

    /// Returns the number of steps that take a few milliseconds, after which commands are checked.
    pub fn steps_at_once(&self) -> usize {
        const MULTIPLICATIONS_AT_ONCE: f64 = 2e7;
        const STEPS_AT_ONCE_MAX: f64 = 8.0;
        let classes = self.model.classes.count();
        let step = forward_cost(&self.config.architecture, classes, self.rows, self.longest);
        (MULTIPLICATIONS_AT_ONCE / step).clamp(1.0, STEPS_AT_ONCE_MAX) as usize
    }

    /// Returns the initialisation, which is the same for every call.
    pub fn start(&self) -> TrainingState {
        let Schedule { optimiser: method, learning_rate, weight_decay, .. } = self.config.schedule;
        let draws = Draws { batches: stream(self.seed, Stream::Batches), masking: stream(self.seed, Stream::Masking) };
        let config = OptimiserConfig { method, learning_rate, weight_decay };
        if let Some(parameters) = self.read.clone() {
            // The optimiser needs no moments if nothing is learned.
            let none = Parameters::zeros(&[]);
            let optimiser = Optimiser::new(config, if self.config.schedule.steps > 0 { &parameters } else { &none });
            return TrainingState { parameters, optimiser, step: 0, draws };
        }
        let mut parameters = self.model.init(self.seed);
        for (tensor, values) in &self.config.weights {
            parameters.values_of_mut(*tensor).copy_from_slice(values.flat());
        }
        TrainingState {
            optimiser: Optimiser::new(config, &parameters),
            parameters: Arc::new(parameters),
            step: 0,
            draws,
        }
    }

    /// Does one optimiser step. Allocates nothing, unless a snapshot shares the parameters.
    ///
    /// # Errors
    /// If a number overflows. The state is then as it was before the step, unless a parameter overflowed: the update
    /// has then already overwritten the parameters. A copy for that rare case would slow down every step, so
    /// [`crate::kernel::training::run::TrainingRun`] restores the state from a checkpoint.
    pub fn step<'r>(&self, room: &'r mut StepRoom, state: &mut TrainingState) -> Result<StepRecord<'r>, Diverged> {
        let diverged = |overflow| Diverged { step: state.step + 1, overflow, origin: None };
        let mut draws = state.draws.clone();
        let (model, StepRoom { batch, workspace, norms }) = (&self.model, room);
        self.draw_batch(batch, &mut draws);
        let loss = workspace.forward(model, &state.parameters, batch);
        if !loss.is_finite() {
            return Err(Diverged { origin: origin(model, batch, &state.parameters), ..diverged(Overflow::Loss) });
        }
        workspace.backward(model, &state.parameters, batch);
        norms.measure(&workspace.gradient).map_err(|tensor| diverged(Overflow::Gradient(tensor)))?;
        let parameters = Arc::make_mut(&mut state.parameters);
        state.optimiser.update(parameters, &workspace.gradient);
        if let Some(tensor) = first_not_finite(parameters) {
            return Err(diverged(Overflow::Parameter(tensor)));
        }
        state.step += 1;
        state.draws = draws;
        Ok(StepRecord { loss, gradient_norm: norms.overall, by_tensor: &norms.by_tensor })
    }

    fn draw_batch(&self, batch: &mut Batch, draws: &mut Draws) {
        batch.clear();
        if self.fitting.is_empty() {
            return;
        }
        let max_tokens = self.config.architecture.max_tokens;
        for _ in 0..self.config.schedule.batch {
            let example = &self.examples[self.fitting[draws.batches.random_range(0..self.fitting.len())]];
            // Sentences begin at random positions, so that the model learns distances between words and not absolute
            // positions. Sentences of a pretrained model begin where they did in its training.
            let last_first = if self.read.is_some() { 0 } else { max_tokens - example.words().len() };
            let first = draws.batches.random_range(0..=last_first);
            let sentences = batch.input.rows.count();
            match (example, &self.masking, self.model.classes.candidates()) {
                (Example::Words(words), Some(masking), Some(candidates)) => {
                    batch.push_masked(words, first, candidates, masking, &mut draws.masking);
                }
                (Example::Words(words), _, Some(candidates)) => batch.push_next(words, first, candidates),
                (Example::Labelled { words, label }, ..) => batch.push_labelled(words, first, *label),
                (Example::Pair { source, target }, _, Some(candidates)) => {
                    batch.push_pair(source, target, candidates);
                }
                // The objective asks for words, but there are none to choose between.
                (Example::Words(_) | Example::Pair { .. }, _, None) => {}
            }
            if self.config.costs.keep > 0.0 && batch.input.rows.count() > sentences {
                batch.keep_last(self.config.architecture.pooling, |word| self.keeps[word]);
            }
        }
    }
}

/// Returns the masking of the objective, or `None` if it hides no words.
fn masking(lesson: &Lesson) -> Option<Masking> {
    let Objective::MaskedWord { rate, .. } = lesson.model.objective else { return None };
    let StaticEmbedding::Pretrained(model) = &lesson.static_embedding else { return Some(Masking::of_lessons(rate)) };
    let (_, mask) = model.hidden()?;
    // Pieces that the tokenizer adds to a text are never hidden.
    let added = model.pieces("").unwrap_or_default().into_iter().map(|piece| piece.id as usize);
    Some(Masking::of_bert(rate, mask as usize, added.collect()))
}

/// Finds the cause of a batch's overflowing loss, sentence by sentence.
fn origin(model: &AttentionModel<f32>, batch: &Batch, parameters: &Parameters<f32>) -> Option<Origin> {
    let architecture = &model.architecture;
    let of_rows = architecture.pooling == Pooling::Every;
    let first = (0..batch.input.rows.count()).find_map(|i| {
        let one = batch.sentences(i..i + 1, of_rows);
        let source = architecture.has_source().then_some(&one.source);
        let none = Interventions::default();
        let run = Activations::of(model, parameters, &one.input, source, &none);
        first_activation(architecture, &none, &run, &answers(model, parameters, &run.output).logits)
    });
    first.map(Origin::Activation).or_else(|| largest(parameters).map(Origin::Largest))
}
