//! The values that attention's forward pass leaves for its backward pass: one block of weights for each head of each
//! sentence. The heads are columns of the batch's matrices.

use std::ops::Range;

use super::config::AttentionConfig;
use super::distances::Distances;
use super::head::{Head, panel_entries, weights_stride};
use super::look_up::LookUpCache;
use super::rotary::Turns;
use super::rows::BatchRows;
use super::tile::{PartMut, Strided};
use super::tile::{SHORT_TOKENS_MAX, Tile, is_short, transposed_entries};
use crate::numerics::norm::NormCache;
use crate::numerics::simd::{LANES, padded};
use crate::numerics::{Matrix, Scalar};

/// Values of the forward pass that the backward pass and the views need, allocated once for the largest batch.
#[derive(Clone, Debug)]
pub struct AttentionCache<S> {
    /// `Q` (N, H·d_k), normed and turned if the layer does that.
    pub query: Matrix<S>,
    /// `K` (N_k, K·d_k), normed and turned likewise.
    pub key: Matrix<S>,
    /// Values `V` (N_k, K·d_v).
    pub value: Matrix<S>,
    /// Caches of the norms of queries and of keys.
    pub(super) own_norms: Option<[NormCache<S>; 2]>,
    pub(super) turns: Turns<S>,
    /// Numbers of distances over the temperature, `B / τ`.
    pub(super) bias: Distances<S>,
    /// `S_h` of every sentence and head, as (T_q, [`weights_stride`]) blocks one after another; empty unless views show
    /// them.
    pub(super) scores: Vec<S>,
    /// `A_h`, laid out like `scores`. If there are no scores, the weights of short sentences are transposed. Each block
    /// is followed by room for the mean weights of its keys.
    pub(super) weights: Vec<S>,
    /// Mixes of all heads side by side, `[M_1 … M_H]` (N, H·d_v).
    pub mix: Matrix<S>,
    pub(super) tile: Tile<S>,
    pub(super) look_up: Option<LookUpCache<S>>,
    /// Whether only the mean of a sentence's mixes is computed, as one row of `mix` for each sentence. As the mean is
    /// linear, it is taken of the weights: `mean(A V) = mean(A) V`, which divides the work by the number of queries.
    pub mixes_means: bool,
}

/// Size of the largest batch: tokens in all, and tokens of the longest sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchRoom {
    pub rows: usize,
    pub longest: usize,
}

impl BatchRoom {
    pub const NONE: Self = Self { rows: 0, longest: 0 };

    /// Returns the room for these sentences.
    pub fn of(rows: &BatchRows) -> Self {
        Self { rows: rows.total(), longest: rows.longest() }
    }

    /// Returns the room for one sentence.
    pub fn one(tokens: usize) -> Self {
        Self { rows: tokens, longest: tokens }
    }
}

impl<S: Scalar> AttentionCache<S> {
    /// Allocates the cache for training, which does not need the scores.
    pub fn new(config: &AttentionConfig, queries: BatchRoom, keys: BatchRoom) -> Self {
        let longest = queries.longest.max(keys.longest);
        // Weights are stored by query, or by key in short sentences. Which takes more room depends on the sentence, so
        // there is room for both.
        let by_query = queries.rows * weights_stride(keys.longest);
        let by_key = keys.rows * weights_stride(queries.longest.min(SHORT_TOKENS_MAX));
        let means = keys.rows * LANES;
        Self {
            query: with_lane_beyond(queries.rows, config.queries_width()),
            key: with_lane_beyond(keys.rows, config.keys_width()),
            value: with_lane_beyond(keys.rows, config.values_width()),
            own_norms: config.query_key_norm.map(|norm| {
                let cache = |rows: usize, heads: usize| match norm.each_head {
                    true => NormCache::new(rows * heads, config.key_width),
                    false => NormCache::new(rows, heads * config.key_width),
                };
                [cache(queries.rows, config.heads), cache(keys.rows, config.key_value_heads())]
            }),
            turns: Turns::new(config.rotary.as_ref(), longest),
            bias: Distances::new(config),
            scores: Vec::new(),
            weights: vec![S::zero(); config.heads * (by_query + by_key + means)],
            mix: Matrix::zeros(queries.rows, config.mixes_width()),
            tile: Tile::new(config.key_width.max(config.value_width), longest),
            look_up: None,
            mixes_means: false,
        }
    }

    /// Returns whether there is room for scores. Such a cache has no backward pass: see [`Self::with_scores`].
    pub fn is_viewers(&self) -> bool {
        !self.scores.is_empty()
    }

    /// Adds room for the projected tables of the given number of words and positions: see [`look_up`](super::look_up).
    pub fn look_up_in(&mut self, words: usize, places: usize) {
        let width = self.query.cols().max(self.value.cols());
        self.look_up = Some(LookUpCache::new(words, places, width));
    }

    /// Adds room for the scores, for views, which need no gradients. All weights are then stored by query.
    #[must_use]
    pub fn with_scores(self) -> Self {
        Self { scores: vec![S::zero(); self.weights.len()], ..self }
    }

    /// Returns `S_h` and `A_h` of the last pass, (T_q, T_k) each. That pass must have been of one sentence.
    ///
    /// # Panics
    /// If the cache has no room for scores.
    pub fn scores_and_weights(&self, head: usize, queries: usize, keys: usize) -> (Matrix<S>, Matrix<S>) {
        let stride = weights_stride(keys);
        let block = |entries: &[S]| {
            let mut block = Vec::with_capacity(queries * keys);
            let rows = entries[head * block_entries(queries, keys)..][..queries * stride].chunks_exact(stride);
            rows.for_each(|row| block.extend_from_slice(&row[..keys]));
            Matrix::from_row_major(queries, keys, block)
        };
        (block(&self.scores), block(&self.weights))
    }
}

/// Allocates the given number of rows, plus one vector (lane) that products may read beyond the last row.
pub(in crate::numerics) fn with_lane_beyond<S: Scalar>(rows: usize, cols: usize) -> Matrix<S> {
    Matrix::zeros(rows + LANES.div_ceil(cols), cols)
}

/// Returns the number of entries of one head's block for one sentence: the weights, transposed or not, and room for
/// their means.
fn block_entries(queries: usize, keys: usize) -> usize {
    weights_entries(queries, keys) + padded(keys)
}

fn weights_entries(queries: usize, keys: usize) -> usize {
    let rows = queries * weights_stride(keys);
    if is_short(queries, keys) { rows.max(transposed_entries(queries, keys)) } else { rows }
}

/// Splits a head's block into its weights and room for their means, which is `None` unless `means` is set.
#[inline(always)]
pub(super) fn weights_and_means<'a, S: Scalar>(
    block: &'a mut [S],
    head: &Head<'_, S>,
    means: bool,
) -> (&'a mut [S], Option<&'a mut [S]>) {
    let (weights, room) = block.split_at_mut(weights_entries(head.query.rows, head.key.rows));
    (weights, means.then_some(room))
}

/// Gradients that are needed only during the backward pass, allocated once for the largest batch.
#[derive(Clone, Debug)]
pub struct AttentionScratch<S> {
    pub(super) d_query: Matrix<S>,
    /// Gradients of the keys and values that each head reads, (N_k, H·d_k) and (N_k, H·d_v).
    pub(super) d_key: Matrix<S>,
    pub(super) d_value: Matrix<S>,
    /// Sums of `d_key` and `d_value` over the heads that share keys and values, (N_k, K·d_k) and (N_k, K·d_v); without
    /// rows if no heads share.
    pub(super) d_shared: [Matrix<S>; 2],
    /// Gradient of `B / τ`, (H · distances).
    pub(super) d_bias: Vec<S>,
    /// Gradient of the scores of one panel of queries.
    pub(super) d_scores: Vec<S>,
}

impl<S: Scalar> AttentionScratch<S> {
    pub fn new(config: &AttentionConfig, queries: BatchRoom, keys: BatchRoom) -> Self {
        let shared = if config.group_size > 1 { keys.rows } else { 0 };
        Self {
            d_query: Matrix::zeros(queries.rows, config.queries_width()),
            d_key: Matrix::zeros(keys.rows, config.queries_width()),
            d_value: Matrix::zeros(keys.rows, config.mixes_width()),
            d_shared: [config.keys_width(), config.values_width()].map(|width| Matrix::zeros(shared, width)),
            d_bias: vec![S::zero(); config.heads * config.distance_count()],
            d_scores: vec![S::zero(); panel_entries(queries.longest.max(keys.longest))],
        }
    }
}

/// The rows of one head of one sentence within the matrices of the batch.
pub(super) struct HeadRanges {
    pub sentence: usize,
    pub head: usize,
    pub queries: Range<usize>,
    pub keys: Range<usize>,
    /// Range of the head's block within the scores and weights.
    pub block: Range<usize>,
}

impl HeadRanges {
    /// Returns the rows of the mixes: one for each query, or one for their mean.
    #[inline(always)]
    pub fn mixes(&self, means: bool) -> Range<usize> {
        if means { self.sentence..self.sentence + 1 } else { self.queries.clone() }
    }
}

/// Runs `work` for each head of each sentence, sentence by sentence.
#[inline(always)]
pub(super) fn for_each_head(heads: usize, queries: &BatchRows, keys: &BatchRows, mut work: impl FnMut(HeadRanges)) {
    let mut start = 0;
    for (sentence, (queries, keys)) in queries.sentences().zip(keys.sentences()).enumerate() {
        let entries = block_entries(queries.len(), keys.len());
        for head in 0..heads {
            let block = start..start + entries;
            start = block.end;
            work(HeadRanges { sentence, head, queries: queries.clone(), keys: keys.clone(), block });
        }
    }
}

/// Returns a range of rows and columns of a matrix, such as those of one head.
#[inline(always)]
pub(super) fn part<'a, S: Scalar>(x: &'a Matrix<S>, rows: &Range<usize>, cols: &Range<usize>) -> Strided<'a, S> {
    let entries = &x.flat()[rows.start * x.cols() + cols.start..];
    Strided { entries, stride: x.cols(), rows: rows.len(), cols: cols.len() }
}

#[inline(always)]
pub(super) fn part_mut<'a, S: Scalar>(
    x: &'a mut Matrix<S>,
    rows: &Range<usize>,
    cols: &Range<usize>,
) -> PartMut<'a, S> {
    let stride = x.cols();
    let entries = &mut x.flat_mut()[rows.start * stride + cols.start..];
    PartMut { entries, stride, rows: rows.len(), cols: cols.len() }
}
