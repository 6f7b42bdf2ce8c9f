//! The numbers of attention between its forward and its backward: one block of weights
//! for each head of each sentence, and the heads as columns of the batch's matrices.

use std::ops::Range;

use super::config::AttentionConfig;
use super::head::{Head, panel_entries, weights_stride};
use super::look_up::LookUpCache;
use super::rows::BatchRows;
use super::tile::{PartMut, Strided};
use super::tile::{SHORT_TOKENS_MAX, Tile, is_short, transposed_entries};
use crate::numerics::norm::NormCache;
use crate::numerics::positions::Distances;
use crate::numerics::positions::Turns;
use crate::numerics::simd::{LANES, padded};
use crate::numerics::{Matrix, Scalar};

/// Values that the forward leaves for the backward and for the viewer. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct AttentionCache<S> {
    /// `Q` (N, H·d_k), normed and turned where the layer does that.
    pub query: Matrix<S>,
    /// `K` (N_k, K·d_k), alike.
    pub key: Matrix<S>,
    /// `V` (N_k, K·d_v)
    pub value: Matrix<S>,
    /// The norms of queries and of keys.
    pub(super) own_norms: Option<[NormCache<S>; 2]>,
    pub(super) turns: Turns<S>,
    /// `B / τ`
    pub(super) bias: Distances<S>,
    /// `S_h` of every sentence and head, one (T_q, [`weights_stride`]) block after the other; empty
    /// where nobody will look at it.
    pub(super) scores: Vec<S>,
    /// `A_h`, laid out as `scores`; without scores those of short sentences are transposed. Each is
    /// followed by room for the mean weights of its keys.
    pub(super) weights: Vec<S>,
    /// `[M_1 … M_H]` (N, H·d_v)
    pub mix: Matrix<S>,
    pub(super) tile: Tile<S>,
    pub(super) look_up: Option<LookUpCache<S>>,
    /// Only the mean of a sentence's mixes is wanted: one row for each sentence in `mix`. A mean is linear, so it goes before
    /// the values: `mean(A V) = mean(A) V`, as many times less work as there are queries.
    pub mixes_means: bool,
}

/// The largest batch: tokens in all, and of the longest sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchRoom {
    pub rows: usize,
    pub longest: usize,
}

impl BatchRoom {
    pub const NONE: Self = Self { rows: 0, longest: 0 };

    /// Room for these sentences.
    pub fn of(rows: &BatchRows) -> Self {
        Self { rows: rows.total(), longest: rows.longest() }
    }

    /// Room for one sentence.
    pub fn one(tokens: usize) -> Self {
        Self { rows: tokens, longest: tokens }
    }
}

impl<S: Scalar> AttentionCache<S> {
    /// Room for training, which does not look at the scores.
    pub fn new(config: &AttentionConfig, queries: BatchRoom, keys: BatchRoom) -> Self {
        let longest = queries.longest.max(keys.longest);
        // By queries, or by keys where short sentences have them transposed; sentences may differ in which is more.
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

    /// There is room for scores, and so no backward: see [`Self::with_scores`].
    pub fn is_viewers(&self) -> bool {
        !self.scores.is_empty()
    }

    /// Adds room for projecting tables of the given number of words and positions: see [`look_up`].
    pub fn look_up_in(&mut self, words: usize, places: usize) {
        let width = self.query.cols().max(self.value.cols());
        self.look_up = Some(LookUpCache::new(words, places, width));
    }

    /// The same for a viewer, who wants the scores too and no gradients: the weights of all sentences lie by queries.
    #[must_use]
    pub fn with_scores(self) -> Self {
        Self { scores: self.weights.clone(), ..self }
    }

    /// `S_h` and `A_h` of the one sentence that went through, (T_q, T_k) each.
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

/// Room for the given number of rows; products may read a lane beyond the last.
pub(in crate::numerics) fn with_lane_beyond<S: Scalar>(rows: usize, cols: usize) -> Matrix<S> {
    Matrix::zeros(rows + LANES.div_ceil(cols), cols)
}

/// Entries of the weights of one head of one sentence, transposed or not, and of their means.
fn block_entries(queries: usize, keys: usize) -> usize {
    weights_entries(queries, keys) + padded(keys)
}

fn weights_entries(queries: usize, keys: usize) -> usize {
    let rows = queries * weights_stride(keys);
    if is_short(queries, keys) { rows.max(transposed_entries(queries, keys)) } else { rows }
}

/// The weights of a head, and the means if they are wanted.
#[inline(always)]
pub(super) fn weights_and_means<'a, S: Scalar>(
    block: &'a mut [S],
    head: &Head<'_, S>,
    means: bool,
) -> (&'a mut [S], Option<&'a mut [S]>) {
    let (weights, room) = block.split_at_mut(weights_entries(head.query.rows, head.key.rows));
    (weights, means.then_some(room))
}

/// Gradients that live only during the backward. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct AttentionScratch<S> {
    pub(super) d_query: Matrix<S>,
    /// Gradients of the keys and values that each head reads, (N_k, H·d_k) and (N_k, H·d_v) ...
    pub(super) d_key: Matrix<S>,
    pub(super) d_value: Matrix<S>,
    /// ... and their sums over the heads that share them, (N_k, K·d_k) and (N_k, K·d_v); without rows where none do.
    pub(super) d_shared: [Matrix<S>; 2],
    /// The gradient of `B / τ`, (H · distances).
    pub(super) d_bias: Vec<S>,
    /// The scores' gradient, a panel at a time.
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

/// The rows of one head of one sentence, in matrices that have those of all.
pub(super) struct HeadRanges {
    pub sentence: usize,
    pub head: usize,
    pub queries: Range<usize>,
    pub keys: Range<usize>,
    /// Its block of the scores and the weights.
    pub block: Range<usize>,
}

impl HeadRanges {
    /// The rows of the mixes: one for each query, or one for their mean.
    #[inline(always)]
    pub fn mixes(&self, means: bool) -> Range<usize> {
        if means { self.sentence..self.sentence + 1 } else { self.queries.clone() }
    }
}

/// Sentence by sentence, head by head.
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

/// Some rows and columns of a matrix: a fold of the heads.
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
