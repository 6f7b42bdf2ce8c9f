//! Training of the attention model, step by step: resumable, deterministic, without threads.

use rand::RngExt;

use crate::lesson::schema::{ModelConfig, Objective};
use crate::numerics::adam::{Adam, AdamConfig};
use crate::numerics::attention::Room;
use crate::numerics::model::cost::forward_multiplications;
use crate::numerics::model::{AttentionModel, Batch, Classes, Workspace, model_backward, model_forward};
use crate::numerics::params::Parameters;
use crate::numerics::rng::{Generator, Stream, stream};

/// Everything that training changes: a value to keep for undo, and to return to.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingState {
    pub parameters: Parameters<f32>,
    optimiser: Adam<f32>,
    /// Mean cross-entropy of each step done, in nats.
    pub losses: Vec<f32>,
    batches: Generator,
    masking: Generator,
}

impl TrainingState {
    pub fn steps_done(&self) -> usize {
        self.losses.len()
    }

    /// Room for the losses up to step `goal`.
    pub fn reserve(&mut self, goal: usize) {
        self.losses.reserve_exact(goal.saturating_sub(self.losses.len()));
    }
}

/// The training set, the model, and room for one step.
pub struct Trainer {
    pub model: AttentionModel<f32>,
    config: ModelConfig,
    corpus: Vec<Vec<usize>>,
    seed: u64,
    /// The longest sentence, and the most rows of a batch.
    longest: usize,
    rows: usize,
    batch: Batch,
    workspace: Workspace<f32>,
}

/// The loss or the gradient of a step is no longer finite; the parameters are as before the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diverged {
    pub step: usize,
}

impl Trainer {
    /// `corpus` holds word indices; sentences that the model cannot learn from are left out.
    pub fn new(model: AttentionModel<f32>, config: ModelConfig, corpus: &[Vec<usize>], seed: u64) -> Self {
        let max_tokens = config.architecture.max_tokens;
        let shortest = match config.objective {
            Objective::MaskedWord { .. } => 1,
            Objective::NextWord => 2,
        };
        let masked = matches!(config.objective, Objective::MaskedWord { .. });
        let fits = |sentence: &&Vec<usize>| {
            (shortest..=max_tokens).contains(&sentence.len())
                && (!masked
                    || sentence.iter().any(|&word| model.classes.candidates().is_some_and(|c| c.class(word).is_some())))
        };
        let corpus: Vec<Vec<usize>> = corpus.iter().filter(fits).cloned().collect();
        let longest = corpus.iter().map(Vec::len).max().unwrap_or(0);
        let rows = config.batch * longest;
        Self {
            batch: Batch::with_capacity(config.batch, rows),
            workspace: Workspace::new(&model, Room { rows, longest }, Room::NONE),
            model,
            config,
            corpus,
            seed,
            longest,
            rows,
        }
    }

    /// Sentences that the model can learn from.
    pub fn sentences(&self) -> usize {
        self.corpus.len()
    }

    /// The optimiser steps that the lesson asks for.
    pub fn steps(&self) -> usize {
        self.config.steps
    }

    /// How many steps are worth one look at the commands: a few milliseconds of work.
    pub fn steps_at_once(&self) -> usize {
        const MULTIPLICATIONS_AT_ONCE: f64 = 2e7;
        const STEPS_AT_ONCE_MAX: f64 = 8.0;
        let classes = self.model.classes.count();
        let step = forward_multiplications(&self.config.architecture, classes, self.rows, self.longest);
        (MULTIPLICATIONS_AT_ONCE / step).clamp(1.0, STEPS_AT_ONCE_MAX) as usize
    }

    /// The initialisation: the same whenever it is asked for.
    pub fn start(&self) -> TrainingState {
        let parameters = self.model.init(self.seed);
        TrainingState {
            optimiser: Adam::new(self.adam(), &parameters),
            parameters,
            losses: Vec::with_capacity(self.config.steps),
            batches: stream(self.seed, Stream::Batches),
            masking: stream(self.seed, Stream::Masking),
        }
    }

    fn adam(&self) -> AdamConfig {
        let ModelConfig { learning_rate, weight_decay, .. } = self.config;
        AdamConfig { weight_decay, ..AdamConfig::with_learning_rate(learning_rate) }
    }

    /// One optimiser step.
    ///
    /// # Errors
    /// If the loss or the gradient is not finite; the parameters are then unchanged.
    pub fn step(&mut self, state: &mut TrainingState) -> Result<(), Diverged> {
        self.draw_batch(state);
        let Self { model, batch, workspace, .. } = self;
        let loss = model_forward(model, &state.parameters, batch, workspace);
        model_backward(model, &state.parameters, batch, workspace);
        if !loss.is_finite() || !workspace.gradient.flat().iter().all(|g| g.is_finite()) {
            return Err(Diverged { step: state.steps_done() });
        }
        state.optimiser.update(&mut state.parameters, &workspace.gradient);
        state.losses.push(loss);
        Ok(())
    }

    fn draw_batch(&mut self, state: &mut TrainingState) {
        self.batch.clear();
        if self.corpus.is_empty() {
            return;
        }
        let max_tokens = self.config.architecture.max_tokens;
        let Classes::Words(candidates) = &self.model.classes else { return };
        for _ in 0..self.config.batch {
            let sentence = &self.corpus[state.batches.random_range(0..self.corpus.len())];
            // Sentences begin anywhere, so that the model learns how far apart words stand and not where.
            let first = state.batches.random_range(0..=max_tokens - sentence.len());
            match self.config.objective {
                Objective::MaskedWord { rate, .. } => {
                    self.batch.push_masked(sentence, first, candidates, rate, &mut state.masking);
                }
                Objective::NextWord => self.batch.push_next(sentence, first, candidates),
            }
        }
    }
}
