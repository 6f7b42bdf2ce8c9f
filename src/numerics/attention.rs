//! Multi-head self-attention (Vaswani et al. 2017, *Attention Is All You Need*, arXiv 1706.03762).
//!
//! For each head `h`, with its own columns of `W_Q`, `W_K`, `W_V` and rows of `W_O`:
//!
//! ```text
//! Q = X W_Q + b_Q          K = X W_K + b_K          V = X W_V + b_V
//! S_h = s · Q_h K_hᵀ       s = 1/√d_k, or 1 without scaling; −∞ where masked
//! A_h = softmax(S_h)       by rows: a row is a query, a column a key
//! M_h = A_h V_h            the mix
//! Y = [M_1 … M_H] W_O + b_O (+ X with a residual)
//! ```

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::prelude::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};

use super::linear::{linear_backward, linear_forward};
use super::params::{Parameters, TensorName};
use super::positions::Positions;
use super::softmax::{softmax_backward, softmax_forward};
use super::{Matrix, Scalar};

/// The shape of the layer.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionConfig {
    /// `D`
    pub width: usize,
    /// `H`
    pub heads: usize,
    /// `d_k`, of one head.
    pub key_width: usize,
    /// `d_v`, of one head.
    pub value_width: usize,
    /// `b_Q`, `b_K`, `b_V` and `b_O` exist.
    pub bias: bool,
    /// Scores are divided by `√d_k`.
    pub scale: bool,
    /// A query does not see the keys after it.
    pub causal: bool,
    /// The input is added to the output.
    pub residual: bool,
    pub positions: Positions,
    /// The longest sentence.
    pub max_tokens: usize,
}

impl AttentionConfig {
    /// `s`: what `q · k` is multiplied by.
    pub fn score_scale(&self) -> f64 {
        if self.scale { 1.0 / (self.key_width as f64).sqrt() } else { 1.0 }
    }

    /// The columns of `W_Q` and `W_K` that are one head's.
    pub fn key_columns(&self, head: usize) -> Range<usize> {
        head * self.key_width..(head + 1) * self.key_width
    }

    /// The columns of `W_V`, and rows of `W_O`, that are one head's.
    pub fn value_columns(&self, head: usize) -> Range<usize> {
        head * self.value_width..(head + 1) * self.value_width
    }

    /// The layer's tensors with their shapes.
    pub fn shapes(&self) -> Vec<(TensorName, usize, usize)> {
        use TensorName::*;
        let (d, keys, values) = (self.width, self.heads * self.key_width, self.heads * self.value_width);
        let weights =
            [(QueryWeights, d, keys), (KeyWeights, d, keys), (ValueWeights, d, values), (OutputWeights, values, d)];
        let biases = [(QueryBias, 1, keys), (KeyBias, 1, keys), (ValueBias, 1, values), (OutputBias, 1, d)];
        let mut shapes = Vec::new();
        for (weight, bias) in weights.into_iter().zip(biases) {
            shapes.push(weight);
            if self.bias {
                shapes.push(bias);
            }
        }
        shapes
    }
}

/// Sentences below one another: rows of the batch, without padding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Where each sentence starts, and where the last one ends.
    bounds: Vec<usize>,
}

impl Rows {
    pub fn with_capacity(sentences: usize) -> Self {
        let mut bounds = Vec::with_capacity(sentences + 1);
        bounds.push(0);
        Self { bounds }
    }

    pub fn one(tokens: usize) -> Self {
        Self { bounds: vec![0, tokens] }
    }

    pub fn clear(&mut self) {
        self.bounds.truncate(1);
    }

    pub fn push(&mut self, tokens: usize) {
        self.bounds.push(self.total() + tokens);
    }

    /// `N`
    pub fn total(&self) -> usize {
        self.bounds.last().copied().unwrap_or(0)
    }

    pub fn sentences(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.bounds.windows(2).map(|w| w[0]..w[1])
    }
}

/// What the forward leaves for the backward and for the viewer. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct AttentionCache<S> {
    /// `Q` (N, H·d_k)
    pub query: Matrix<S>,
    /// `K` (N, H·d_k)
    pub key: Matrix<S>,
    /// `V` (N, H·d_v)
    pub value: Matrix<S>,
    /// `S_h` of every sentence and head, (T, T) blocks one after the other.
    pub scores: Vec<S>,
    /// `A_h`, laid out as `scores`.
    pub weights: Vec<S>,
    /// `[M_1 … M_H]` (N, H·d_v)
    pub mix: Matrix<S>,
    /// `Y` (N, D)
    pub output: Matrix<S>,
}

impl<S: Scalar> AttentionCache<S> {
    /// Room for `rows` tokens in sentences of at most `longest`.
    pub fn new(config: &AttentionConfig, rows: usize, longest: usize) -> Self {
        let (keys, values) = (config.heads * config.key_width, config.heads * config.value_width);
        let blocks = config.heads * rows * longest;
        Self {
            query: Matrix::zeros(rows, keys),
            key: Matrix::zeros(rows, keys),
            value: Matrix::zeros(rows, values),
            scores: vec![S::zero(); blocks],
            weights: vec![S::zero(); blocks],
            mix: Matrix::zeros(rows, values),
            output: Matrix::zeros(rows, config.width),
        }
    }
}

/// Where the blocks of a sentence's heads lie in [`AttentionCache::scores`].
fn blocks(heads: usize, rows: &Rows) -> impl Iterator<Item = (Range<usize>, usize, Range<usize>)> + '_ {
    let mut offset = 0;
    rows.sentences().flat_map(move |sentence| {
        let block = sentence.len() * sentence.len();
        let start = offset;
        offset += heads * block;
        (0..heads).map(move |head| (sentence.clone(), head, start + head * block..start + (head + 1) * block))
    })
}

fn part<'a, S: Scalar>(x: &'a Matrix<S>, rows: &Range<usize>, cols: &Range<usize>) -> MatRef<'a, S> {
    x.view().submatrix(rows.start, cols.start, rows.len(), cols.len())
}

fn part_mut<'a, S: Scalar>(x: &'a mut Matrix<S>, rows: &Range<usize>, cols: &Range<usize>) -> MatMut<'a, S> {
    x.view_mut().submatrix_mut(rows.start, cols.start, rows.len(), cols.len())
}

/// The layer, as the module's equations say. A head that is not in `enabled` mixes nothing.
///
/// # Shapes
/// `x` (N, D); `enabled` (H); results in `cache`.
///
/// # Panics
/// If the shapes do not fit.
pub fn attention_forward<S: Scalar>(
    config: &AttentionConfig,
    parameters: &Parameters<S>,
    x: MatRef<'_, S>,
    rows: &Rows,
    enabled: &[bool],
    cache: &mut AttentionCache<S>,
) {
    use TensorName::*;
    let n = rows.total();
    assert_eq!((x.nrows(), x.ncols()), (n, config.width), "attention: X is not (N, D)");
    assert_eq!(enabled.len(), config.heads, "attention: {} switches for {} heads", enabled.len(), config.heads);
    let p = parameters;
    linear_forward(x, p.matrix(QueryWeights), p.values_of(QueryBias), cache.query.top_mut(n));
    linear_forward(x, p.matrix(KeyWeights), p.values_of(KeyBias), cache.key.top_mut(n));
    linear_forward(x, p.matrix(ValueWeights), p.values_of(ValueBias), cache.value.top_mut(n));

    let scale = S::from_f64(config.score_scale());
    for (sentence, head, block) in blocks(config.heads, rows) {
        let tokens = sentence.len();
        let keys = config.key_columns(head);
        let values = config.value_columns(head);
        let scores = &mut cache.scores[block.clone()];
        matmul(
            MatMut::from_row_major_slice_mut(scores, tokens, tokens),
            Accum::Replace,
            part(&cache.query, &sentence, &keys),
            part(&cache.key, &sentence, &keys).transpose(),
            scale,
            Par::Seq,
        );
        let weights = &mut cache.weights[block];
        for (query, (scores, weights)) in
            scores.chunks_exact_mut(tokens).zip(weights.chunks_exact_mut(tokens)).enumerate()
        {
            if config.causal {
                scores[query + 1..].fill(S::NEG_INFINITY);
            }
            softmax_forward(scores, weights);
        }
        let mut mix = part_mut(&mut cache.mix, &sentence, &values);
        if enabled[head] {
            let weights = MatRef::from_row_major_slice(weights, tokens, tokens);
            matmul(mix, Accum::Replace, weights, part(&cache.value, &sentence, &values), S::one(), Par::Seq);
        } else {
            mix.fill(S::zero());
        }
    }

    linear_forward(cache.mix.top(n), p.matrix(OutputWeights), p.values_of(OutputBias), cache.output.top_mut(n));
    if config.residual {
        faer::zip!(cache.output.top_mut(n), x).for_each(|faer::unzip!(y, x)| *y += *x);
    }
}

/// Gradients that live only during the backward. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct AttentionScratch<S> {
    d_query: Matrix<S>,
    d_key: Matrix<S>,
    d_value: Matrix<S>,
    d_mix: Matrix<S>,
    /// One (T, T) block.
    d_scores: Vec<S>,
}

impl<S: Scalar> AttentionScratch<S> {
    /// Room for `rows` tokens in sentences of at most `longest`.
    pub fn new(config: &AttentionConfig, rows: usize, longest: usize) -> Self {
        let (keys, values) = (config.heads * config.key_width, config.heads * config.value_width);
        Self {
            d_query: Matrix::zeros(rows, keys),
            d_key: Matrix::zeros(rows, keys),
            d_value: Matrix::zeros(rows, values),
            d_mix: Matrix::zeros(rows, values),
            d_scores: vec![S::zero(); longest * longest],
        }
    }
}

/// Gradients of [`attention_forward`] with all heads enabled, step by step in reverse; those of
/// the parameters are added to `gradient`, that of the input replaces `d_x`.
///
/// # Shapes
/// `x`, `d_y`, `d_x` (N, D)
#[expect(clippy::too_many_arguments, reason = "one for each thing that the equations name")]
pub fn attention_backward<S: Scalar>(
    config: &AttentionConfig,
    parameters: &Parameters<S>,
    x: MatRef<'_, S>,
    rows: &Rows,
    cache: &AttentionCache<S>,
    d_y: MatRef<'_, S>,
    scratch: &mut AttentionScratch<S>,
    gradient: &mut Parameters<S>,
    mut d_x: MatMut<'_, S>,
) {
    use TensorName::*;
    let n = rows.total();
    let p = parameters;
    let AttentionScratch { d_query, d_key, d_value, d_mix, d_scores } = scratch;

    // Y = M W_O + b_O (+ X)
    if config.residual {
        d_x.copy_from(d_y);
    } else {
        d_x.fill(S::zero());
    }
    d_mix.top_flat_mut(n).fill(S::zero());
    let mix = cache.mix.top(n);
    backward_of(mix, p, OutputWeights, OutputBias, d_y, Some(d_mix.top_mut(n)), gradient);

    let scale = S::from_f64(config.score_scale());
    for (sentence, head, block) in blocks(config.heads, rows) {
        let tokens = sentence.len();
        let keys = config.key_columns(head);
        let values = config.value_columns(head);
        let weights = &cache.weights[block];
        let a = MatRef::from_row_major_slice(weights, tokens, tokens);
        let d_mix = part(d_mix, &sentence, &values);
        let d_scores = &mut d_scores[..tokens * tokens];

        // M = A V
        matmul(part_mut(d_value, &sentence, &values), Accum::Replace, a.transpose(), d_mix, S::one(), Par::Seq);
        let v = part(&cache.value, &sentence, &values);
        let d_a = MatMut::from_row_major_slice_mut(&mut *d_scores, tokens, tokens);
        matmul(d_a, Accum::Replace, d_mix, v.transpose(), S::one(), Par::Seq);

        // A = softmax(S); a masked weight is 0, and so is its gradient
        for (weights, d) in weights.chunks_exact(tokens).zip(d_scores.chunks_exact_mut(tokens)) {
            softmax_backward(weights, d);
        }

        // S = s Q Kᵀ
        let d_s = MatRef::from_row_major_slice(&*d_scores, tokens, tokens);
        let (q, k) = (part(&cache.query, &sentence, &keys), part(&cache.key, &sentence, &keys));
        matmul(part_mut(d_query, &sentence, &keys), Accum::Replace, d_s, k, scale, Par::Seq);
        matmul(part_mut(d_key, &sentence, &keys), Accum::Replace, d_s.transpose(), q, scale, Par::Seq);
    }

    // Q = X W_Q + b_Q, and K and V alike
    backward_of(x, p, QueryWeights, QueryBias, d_query.top(n), Some(d_x.rb_mut()), gradient);
    backward_of(x, p, KeyWeights, KeyBias, d_key.top(n), Some(d_x.rb_mut()), gradient);
    backward_of(x, p, ValueWeights, ValueBias, d_value.top(n), Some(d_x.rb_mut()), gradient);
}

/// [`linear_backward`] with the gradients of a weight tensor and its bias, if there is one.
fn backward_of<S: Scalar>(
    x: MatRef<'_, S>,
    parameters: &Parameters<S>,
    weights: TensorName,
    bias: TensorName,
    d_y: MatRef<'_, S>,
    d_x: Option<MatMut<'_, S>>,
    gradient: &mut Parameters<S>,
) {
    let (d_w, d_b) = gradient.matrix_and_row_mut(weights, bias);
    linear_backward(x, parameters.matrix(weights), d_y, d_x, d_w, d_b);
}

/// One sentence's tensors, head by head: what a viewer may see.
#[derive(Clone, Debug, PartialEq)]
pub struct Activations<S> {
    /// `X` (T, D)
    pub input: Matrix<S>,
    pub heads: Vec<HeadActivations<S>>,
    /// `Y` (T, D)
    pub output: Matrix<S>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeadActivations<S> {
    /// (T, d_k)
    pub query: Matrix<S>,
    /// (T, d_k)
    pub key: Matrix<S>,
    /// (T, d_v)
    pub value: Matrix<S>,
    /// (T, T), scaled; −∞ where masked
    pub scores: Matrix<S>,
    /// (T, T), rows sum to 1
    pub weights: Matrix<S>,
    /// (T, d_v)
    pub mix: Matrix<S>,
}

impl<S: Scalar> Activations<S> {
    /// The forward pass of one sentence.
    ///
    /// # Panics
    /// If `x` has no rows or more than `config.max_tokens`.
    pub fn of(config: &AttentionConfig, parameters: &Parameters<S>, x: Matrix<S>, enabled: &[bool]) -> Self {
        let tokens = x.rows();
        assert!((1..=config.max_tokens).contains(&tokens), "attention: a sentence of {tokens} tokens");
        let rows = Rows::one(tokens);
        let mut cache = AttentionCache::new(config, tokens, tokens);
        attention_forward(config, parameters, x.view(), &rows, enabled, &mut cache);
        let heads = blocks(config.heads, &rows)
            .map(|(sentence, head, block)| {
                let keys = config.key_columns(head);
                let values = config.value_columns(head);
                let square = |entries: &[S]| Matrix::from_row_major(tokens, tokens, entries[block.clone()].to_vec());
                HeadActivations {
                    query: Matrix::copied(part(&cache.query, &sentence, &keys)),
                    key: Matrix::copied(part(&cache.key, &sentence, &keys)),
                    value: Matrix::copied(part(&cache.value, &sentence, &values)),
                    scores: square(&cache.scores),
                    weights: square(&cache.weights),
                    mix: Matrix::copied(part(&cache.mix, &sentence, &values)),
                }
            })
            .collect();
        Self { input: x, heads, output: cache.output }
    }
}
