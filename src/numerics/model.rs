//! The whole model: static vectors and positions, attention, and a readout tied to the static
//! vectors; its loss and the gradient.
//!
//! ```text
//! X = E[words] + P          a hidden word has the zero vector instead of E's row
//! Y = attention(X)
//! Z = Y Eᵀ + b_logits       tied: a word is likely where the output is like its static vector
//! L = mean over the targets of cross_entropy(Z_row, word)
//! ```
//!
//! `E` stays as SGNS left it, so that static and contextual vectors share one space.

use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use rand::RngExt;

use super::attention::{
    AttentionCache, AttentionConfig, AttentionScratch, Rows, attention_backward, attention_forward,
};
use super::cross_entropy::{cross_entropy_backward, cross_entropy_forward};
use super::linear::linear_forward;
use super::params::{Parameters, TensorName};
use super::positions::{Positions, sinusoidal};
use super::rng::{Generator, Stream, stream};
use super::vectors::add_scaled;
use super::{Matrix, Scalar};

/// What does not change in training.
#[derive(Clone, Debug)]
pub struct AttentionModel<S> {
    pub config: AttentionConfig,
    /// `E` (V, D)
    pub embedding: Arc<Matrix<S>>,
    /// `P` (T_max, D) where it is not learned.
    fixed_positions: Option<Matrix<S>>,
}

/// Standard deviation of learned positions at the start.
const POSITION_INIT: f64 = 0.1;

impl<S: Scalar> AttentionModel<S> {
    /// # Panics
    /// If the embedding is not `D` wide.
    pub fn new(config: AttentionConfig, embedding: Arc<Matrix<S>>) -> Self {
        assert_eq!(embedding.cols(), config.width, "model: E is {} wide, D is {}", embedding.cols(), config.width);
        let fixed_positions =
            (config.positions == Positions::Sinusoidal).then(|| sinusoidal(config.max_tokens, config.width));
        Self { config, embedding, fixed_positions }
    }

    /// Zeros in the model's shapes.
    pub fn zeros(&self) -> Parameters<S> {
        let mut shapes = Vec::new();
        if self.config.positions == Positions::Learned {
            shapes.push((TensorName::Positions, self.config.max_tokens, self.config.width));
        }
        shapes.extend(self.config.shapes());
        shapes.push((TensorName::LogitBias, 1, self.embedding.rows()));
        Parameters::zeros(&shapes)
    }

    /// The initialisation of a seed: weights uniform in `±√(6 / (rows + cols))` (Glorot & Bengio
    /// 2010, Eq. 16), biases zero.
    pub fn init(&self, seed: u64) -> Parameters<S> {
        let mut rng = stream(seed, Stream::ModelInit);
        let mut parameters = self.zeros();
        let specs: Vec<_> = parameters.tensors().map(|(spec, _)| *spec).collect();
        for spec in specs {
            let bound = match spec.name {
                TensorName::Positions => POSITION_INIT * 3f64.sqrt(), // a uniform's deviation is bound/√3
                _ if spec.rows == 1 => continue,
                _ => (6.0 / (spec.rows + spec.cols) as f64).sqrt(),
            };
            for value in parameters.values_of_mut(spec.name) {
                *value = S::from_f64(rng.random_range(-bound..bound));
            }
        }
        parameters
    }

    /// `P`, empty rows where the model has none.
    fn position<'a>(&'a self, parameters: &'a Parameters<S>, t: usize) -> &'a [S] {
        let width = self.config.width;
        match (&self.fixed_positions, self.config.positions) {
            (Some(fixed), _) => fixed.row(t),
            (None, Positions::Learned) => &parameters.values_of(TensorName::Positions)[t * width..(t + 1) * width],
            (None, _) => &[],
        }
    }

    /// `X` of one sentence, nothing hidden, (T, D).
    pub fn input(&self, parameters: &Parameters<S>, words: &[usize]) -> Matrix<S> {
        let mut x = Matrix::zeros(words.len(), self.config.width);
        for (t, &word) in words.iter().enumerate() {
            self.input_row(parameters, Some(word), t, x.row_mut(t));
        }
        x
    }

    fn input_row(&self, parameters: &Parameters<S>, word: Option<usize>, t: usize, x: &mut [S]) {
        match word {
            Some(word) => x.copy_from_slice(self.embedding.row(word)),
            None => x.fill(S::zero()),
        }
        let position = self.position(parameters, t);
        if !position.is_empty() {
            add_scaled(x, S::one(), position);
        }
    }
}

/// The sentences of one training step.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub rows: Rows,
    /// The word at each row; `None` is hidden.
    pub words: Vec<Option<usize>>,
    /// Rows whose output is scored, with the word it must name.
    pub targets: Vec<(usize, usize)>,
}

impl Batch {
    /// Room for the largest batch.
    pub fn with_capacity(sentences: usize, rows: usize) -> Self {
        Self {
            rows: Rows::with_capacity(sentences),
            words: Vec::with_capacity(rows),
            targets: Vec::with_capacity(rows),
        }
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.words.clear();
        self.targets.clear();
    }

    /// Adds a sentence for the masked-word objective (Devlin et al. 2019, section 3.1): each
    /// position is a target with probability `rate`, at least one is. A target's own word is
    /// hidden, replaced by another or kept, so that the context has to tell what belongs there.
    pub fn push_masked(&mut self, sentence: &[usize], vocabulary: usize, rate: f64, rng: &mut Generator) {
        /// Shares of the targets whose word is hidden, and hidden or replaced.
        const HIDDEN: f64 = 0.5;
        const HIDDEN_OR_REPLACED: f64 = 0.9;
        let start = self.words.len();
        let certain = rng.random_range(0..sentence.len());
        for (t, &word) in sentence.iter().enumerate() {
            if t != certain && !rng.random_bool(rate) {
                self.words.push(Some(word));
                continue;
            }
            self.targets.push((start + t, word));
            let kind: f64 = rng.random();
            self.words.push(match kind {
                _ if kind < HIDDEN => None,
                _ if kind < HIDDEN_OR_REPLACED => Some(rng.random_range(0..vocabulary)),
                _ => Some(word),
            });
        }
        self.rows.push(sentence.len());
    }

    /// Adds a sentence for the next-word objective: every position names the word after it.
    pub fn push_next(&mut self, sentence: &[usize]) {
        let start = self.words.len();
        self.words.extend(sentence.iter().copied().map(Some));
        self.targets.extend(sentence.iter().skip(1).enumerate().map(|(t, &next)| (start + t, next)));
        self.rows.push(sentence.len());
    }
}

/// Everything a training step needs besides the parameters. Made once; a step allocates nothing.
pub struct Workspace<S> {
    x: Matrix<S>,
    cache: AttentionCache<S>,
    scratch: AttentionScratch<S>,
    d_x: Matrix<S>,
    d_output: Matrix<S>,
    /// The scored rows of the output, (targets, D).
    scored: Matrix<S>,
    logits: Matrix<S>,
    /// Probabilities, then the gradient of the logits.
    d_logits: Matrix<S>,
    all_heads: Vec<bool>,
    pub gradient: Parameters<S>,
}

impl<S: Scalar> Workspace<S> {
    /// Room for batches of `rows` tokens.
    pub fn new(model: &AttentionModel<S>, rows: usize) -> Self {
        let (width, vocabulary) = (model.config.width, model.embedding.rows());
        Self {
            x: Matrix::zeros(rows, width),
            cache: AttentionCache::new(&model.config, rows),
            scratch: AttentionScratch::new(&model.config, rows),
            d_x: Matrix::zeros(rows, width),
            d_output: Matrix::zeros(rows, width),
            scored: Matrix::zeros(rows, width),
            logits: Matrix::zeros(rows, vocabulary),
            d_logits: Matrix::zeros(rows, vocabulary),
            all_heads: vec![true; model.config.heads],
            gradient: model.zeros(),
        }
    }
}

/// The mean loss over the batch's targets, in nats; 0 if there are none.
pub fn model_forward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
    workspace: &mut Workspace<S>,
) -> S {
    let Workspace { x, cache, scored, logits, d_logits, all_heads, .. } = workspace;
    for sentence in batch.rows.sentences() {
        for (t, row) in sentence.enumerate() {
            model.input_row(parameters, batch.words[row], t, x.row_mut(row));
        }
    }
    attention_forward(&model.config, parameters, x.top(batch.rows.total()), &batch.rows, all_heads, cache);

    for (i, &(row, _)) in batch.targets.iter().enumerate() {
        scored.row_mut(i).copy_from_slice(cache.output.row(row));
    }
    let count = batch.targets.len();
    let bias = parameters.values_of(TensorName::LogitBias);
    linear_forward(scored.top(count), model.embedding.view().transpose(), bias, logits.top_mut(count));
    let losses = batch.targets.iter().enumerate();
    let sum: S = losses.map(|(i, &(_, word))| cross_entropy_forward(logits.row(i), word, d_logits.row_mut(i))).sum();
    sum / S::from_f64(count.max(1) as f64)
}

/// The gradient of [`model_forward`], left in `workspace.gradient`.
pub fn model_backward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
    workspace: &mut Workspace<S>,
) {
    let Workspace { x, cache, scratch, d_x, d_output, scored, d_logits, gradient, .. } = workspace;
    let (n, count) = (batch.rows.total(), batch.targets.len());
    gradient.flat_mut().fill(S::zero());

    // L = mean of cross_entropy(Z_row, word)
    let scale = S::one() / S::from_f64(count.max(1) as f64);
    for (i, &(_, word)) in batch.targets.iter().enumerate() {
        cross_entropy_backward(d_logits.row_mut(i), word, scale);
    }

    // Z = Y Eᵀ + b_logits
    for i in 0..count {
        add_scaled(gradient.values_of_mut(TensorName::LogitBias), S::one(), d_logits.row(i));
    }
    matmul(scored.top_mut(count), Accum::Replace, d_logits.top(count), model.embedding.view(), S::one(), Par::Seq);
    d_output.top_flat_mut(n).fill(S::zero());
    for (i, &(row, _)) in batch.targets.iter().enumerate() {
        add_scaled(d_output.row_mut(row), S::one(), scored.row(i));
    }

    // Y = attention(X)
    let (x, d_y) = (x.top(n), d_output.top(n));
    attention_backward(&model.config, parameters, x, &batch.rows, cache, d_y, scratch, gradient, d_x.top_mut(n));

    // X = E[words] + P
    if model.config.positions == Positions::Learned {
        let width = model.config.width;
        let d_positions = gradient.values_of_mut(TensorName::Positions);
        for sentence in batch.rows.sentences() {
            for (t, row) in sentence.enumerate() {
                add_scaled(&mut d_positions[t * width..(t + 1) * width], S::one(), d_x.row(row));
            }
        }
    }
}
