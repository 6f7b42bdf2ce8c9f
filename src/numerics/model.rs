//! The whole model: static vectors and positions, attention, and a readout tied to the static
//! vectors; its loss and the gradient.
//!
//! ```text
//! X = E[words] + P          a hidden word has the zero vector instead of E's row
//! Y = attention(X)
//! Z = Y E_Cᵀ + b_logits     tied: a word is likely where the output is like its static vector
//! L = mean over the targets of cross_entropy(Z_row, word)
//! ```
//!
//! `E_C` are the rows of the candidates, the words that the objective chooses among: all of them,
//! or those that a lesson is about. `E` stays as SGNS left it, so that static and contextual vectors share one space.

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
    pub candidates: Candidates,
    /// `E_C` (C, D)
    readout: Matrix<S>,
    /// `P` (T_max, D) where it is not learned.
    fixed_positions: Option<Matrix<S>>,
}

/// Standard deviation of learned positions at the start.
const POSITION_INIT: f64 = 0.5;

impl<S: Scalar> AttentionModel<S> {
    /// # Panics
    /// If the embedding is not `D` wide.
    pub fn new(config: AttentionConfig, embedding: Arc<Matrix<S>>, candidates: Candidates) -> Self {
        assert_eq!(embedding.cols(), config.width, "model: E is {} wide, D is {}", embedding.cols(), config.width);
        let fixed_positions =
            (config.positions == Positions::Sinusoidal).then(|| sinusoidal(config.max_tokens, config.width));
        let readout =
            Matrix::from_fn(candidates.words.len(), config.width, |i, j| embedding.get(candidates.words[i], j));
        Self { config, embedding, candidates, readout, fixed_positions }
    }

    /// Zeros in the model's shapes.
    pub fn zeros(&self) -> Parameters<S> {
        let mut shapes = Vec::new();
        if self.config.positions == Positions::Learned {
            shapes.push((TensorName::Positions, self.config.max_tokens, self.config.width));
        }
        shapes.extend(self.config.shapes());
        shapes.push((TensorName::LogitBias, 1, self.candidates.words.len()));
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

/// The words that the objective chooses among. A candidate's number is its class.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// By word.
    class: Vec<Option<usize>>,
    words: Vec<usize>,
}

impl Candidates {
    /// # Panics
    /// If there are none, or one is not below `vocabulary`.
    pub fn new(vocabulary: usize, words: Vec<usize>) -> Self {
        assert!(!words.is_empty(), "candidates: none");
        let mut class = vec![None; vocabulary];
        for (i, &word) in words.iter().enumerate() {
            class[word] = Some(i);
        }
        Self { class, words }
    }

    /// Every word of the vocabulary.
    pub fn all(vocabulary: usize) -> Self {
        Self::new(vocabulary, (0..vocabulary).collect())
    }

    pub fn words(&self) -> &[usize] {
        &self.words
    }

    pub fn class(&self, word: usize) -> Option<usize> {
        self.class[word]
    }

    fn draw(&self, rng: &mut Generator) -> usize {
        self.words[rng.random_range(0..self.words.len())]
    }
}

/// Share of the masked-word targets whose word is hidden; the others are replaced.
const HIDDEN_SHARE: f64 = 0.5;

/// The sentences of one training step.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub rows: Rows,
    /// The word at each row; `None` is hidden.
    pub words: Vec<Option<usize>>,
    /// The position of each row, as an index into `P`.
    pub positions: Vec<usize>,
    /// Rows whose output is scored, with the class of the word it must name.
    pub targets: Vec<(usize, usize)>,
}

impl Batch {
    /// Room for the largest batch.
    pub fn with_capacity(sentences: usize, rows: usize) -> Self {
        Self {
            rows: Rows::with_capacity(sentences),
            words: Vec::with_capacity(rows),
            positions: Vec::with_capacity(rows),
            targets: Vec::with_capacity(rows),
        }
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.words.clear();
        self.positions.clear();
        self.targets.clear();
    }

    /// Adds a sentence for the masked-word objective (after Devlin et al. 2019, section 3.1).
    ///
    /// Each word is hidden with probability `rate`, and one of the candidates for certain; a
    /// sentence without candidates is not added. The candidates among these are the targets; half of
    /// them are replaced by a random candidate instead of being hidden, so that it is the context
    /// that has to tell what belongs there.
    pub fn push_masked(
        &mut self,
        sentence: &[usize],
        first: usize,
        candidates: &Candidates,
        rate: f64,
        rng: &mut Generator,
    ) {
        let count = sentence.iter().filter(|&&word| candidates.class(word).is_some()).count();
        if count == 0 {
            return;
        }
        let certain = rng.random_range(0..count);
        let start = self.words.len();
        let mut seen = 0;
        for (t, &word) in sentence.iter().enumerate() {
            let target = candidates.class(word).filter(|_| {
                seen += 1;
                seen - 1 == certain || rng.random_bool(rate)
            });
            match target {
                Some(class) => {
                    self.targets.push((start + t, class));
                    self.words.push(if rng.random_bool(HIDDEN_SHARE) { None } else { Some(candidates.draw(rng)) });
                }
                None => self.words.push(if rng.random_bool(rate) { None } else { Some(word) }),
            }
        }
        self.push_rows(sentence.len(), first);
    }

    /// Adds a sentence for the next-word objective: every position names the word after it.
    /// Words after it that are no candidates are not asked for.
    pub fn push_next(&mut self, sentence: &[usize], first: usize, candidates: &Candidates) {
        let start = self.words.len();
        self.words.extend(sentence.iter().copied().map(Some));
        let next = sentence.iter().skip(1).enumerate();
        self.targets.extend(next.filter_map(|(t, &next)| Some((start + t, candidates.class(next)?))));
        self.push_rows(sentence.len(), first);
    }

    fn push_rows(&mut self, tokens: usize, first: usize) {
        self.positions.extend(first..first + tokens);
        self.rows.push(tokens);
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
    /// Room for batches of `rows` tokens in sentences of at most `longest`.
    pub fn new(model: &AttentionModel<S>, rows: usize, longest: usize) -> Self {
        let (width, classes) = (model.config.width, model.candidates.words.len());
        Self {
            x: Matrix::zeros(rows, width),
            cache: AttentionCache::new(&model.config, rows, longest),
            scratch: AttentionScratch::new(&model.config, rows, longest),
            d_x: Matrix::zeros(rows, width),
            d_output: Matrix::zeros(rows, width),
            scored: Matrix::zeros(rows, width),
            logits: Matrix::zeros(rows, classes),
            d_logits: Matrix::zeros(rows, classes),
            all_heads: vec![true; model.config.heads],
            gradient: model.zeros(),
        }
    }
}

/// Entries of a [`Workspace`], without the gradient: what a lesson's sizes cost in memory.
pub fn workspace_entries(config: &AttentionConfig, classes: usize, rows: usize, longest: usize) -> f64 {
    let [heads, keys, values, width] =
        [config.heads, config.key_width, config.value_width, config.width].map(|n| n as f64);
    // X, d_X, Y, d_Y and the scored rows; Q, K and V with their gradients; the mix with its own.
    let per_row =
        5.0 * width + heads * (4.0 * keys + 4.0 * values) + 2.0 * heads * longest as f64 + 2.0 * classes as f64;
    rows as f64 * per_row + (longest * longest) as f64
}

/// Multiplications of a forward pass, roughly: what a lesson's sizes cost in time.
pub fn forward_multiplications(config: &AttentionConfig, classes: usize, rows: usize, longest: usize) -> f64 {
    /// An exponential of the softmax costs as much as this many multiplications.
    const WEIGHT_OVERHEAD: f64 = 8.0;
    let [heads, width, longest] = [config.heads, config.width, longest].map(|n| n as f64);
    let heads_width = heads * (config.key_width + config.value_width) as f64;
    let softmax = heads * longest * WEIGHT_OVERHEAD;
    rows as f64 * (2.0 * width * heads_width + longest * heads_width + softmax + width * classes as f64)
}

/// The mean loss over the batch's targets, in nats; 0 if there are none.
pub fn model_forward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
    workspace: &mut Workspace<S>,
) -> S {
    let Workspace { x, cache, scored, logits, d_logits, all_heads, .. } = workspace;
    for (row, (&word, &t)) in batch.words.iter().zip(&batch.positions).enumerate() {
        model.input_row(parameters, word, t, x.row_mut(row));
    }
    attention_forward(&model.config, parameters, x.top(batch.rows.total()), &batch.rows, all_heads, cache);

    for (i, &(row, _)) in batch.targets.iter().enumerate() {
        scored.row_mut(i).copy_from_slice(cache.output.row(row));
    }
    let count = batch.targets.len();
    let bias = parameters.values_of(TensorName::LogitBias);
    linear_forward(scored.top(count), model.readout.view().transpose(), bias, logits.top_mut(count));
    let losses = batch.targets.iter().enumerate();
    let sum: S = losses.map(|(i, &(_, class))| cross_entropy_forward(logits.row(i), class, d_logits.row_mut(i))).sum();
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
    for (i, &(_, class)) in batch.targets.iter().enumerate() {
        cross_entropy_backward(d_logits.row_mut(i), class, scale);
    }

    // Z = Y E_Cᵀ + b_logits
    for i in 0..count {
        add_scaled(gradient.values_of_mut(TensorName::LogitBias), S::one(), d_logits.row(i));
    }
    matmul(scored.top_mut(count), Accum::Replace, d_logits.top(count), model.readout.view(), S::one(), Par::Seq);
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
        for (row, &t) in batch.positions.iter().enumerate() {
            add_scaled(&mut d_positions[t * width..(t + 1) * width], S::one(), d_x.row(row));
        }
    }
}
