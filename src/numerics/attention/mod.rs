//! Multi-head attention (Vaswani et al. 2017, *Attention Is All You Need*, arXiv 1706.03762).
//!
//! For each head `h`, with its own columns of `W_Q`, `W_K`, `W_V` and rows of `W_O`:
//!
//! ```text
//! Q = X W_Q + b_Q          K = Z W_K + b_K          V = Z W_V + b_V
//! S_h = s · Q_h K_hᵀ       s = 1/(√d_k τ), without the root if not scaled; −∞ where masked
//! A_h = softmax(S_h)       by rows: a row is a query, a column a key
//! M_h = A_h V_h            the mix
//! ```
//!
//! In self-attention the keys and values come from the queries' own sentence, `Z = X`; in
//! cross-attention from another. The heads are folded without a copy: head `h` is a block of
//! columns of `Q`, `K`, `V` and `M`, and unfolded they stand beside one another, `[M_1 … M_H]`.
//! What becomes of the mix, `W_O` and the rest of the block, is in [`super::block`].

pub mod config;
pub mod head;
pub mod look_up;
pub mod mask;
pub mod rows;
mod short;
mod tile;

pub use config::AttentionConfig;
pub use head::HeadMode;
pub use mask::{Mask, MaskTable};
pub use rows::{Rows, Tokens};

use std::ops::Range;

use self::head::{Head, HeadGradients, panel_entries, weights_stride};
use self::look_up::{LookUpCache, look_up_backward, look_up_forward};
use self::short::{SHORT_TOKENS_MAX, Tile, is_short, transposed_entries};
use self::tile::{Part, PartMut};
use super::linear::{linear_backward, linear_forward};
use super::params::{Parameters, TensorId, TensorName};
use super::simd::{LANES, Simd, Work, add, dispatch, padded, vectorized};
use super::{Matrix, Scalar};

/// What the forward leaves for the backward and for the viewer. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct AttentionCache<S> {
    /// `Q` (N, H·d_k)
    pub query: Matrix<S>,
    /// `K` (N_k, H·d_k)
    pub key: Matrix<S>,
    /// `V` (N_k, H·d_v)
    pub value: Matrix<S>,
    /// `S_h` of every sentence and head, one (T_q, [`weights_stride`]) block after the other; empty
    /// where nobody will look at it.
    scores: Vec<S>,
    /// `A_h`, laid out as `scores`; without scores those of short sentences are transposed. Each is
    /// followed by room for the mean weights of its keys.
    weights: Vec<S>,
    /// `[M_1 … M_H]` (N, H·d_v)
    pub mix: Matrix<S>,
    tile: Tile<S>,
    look_up: Option<LookUpCache<S>>,
    /// Only the mean of a sentence's mixes is wanted.
    mixes_means: bool,
}

/// The largest batch: tokens in all, and of the longest sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub rows: usize,
    pub longest: usize,
}

impl Room {
    pub const NONE: Self = Self { rows: 0, longest: 0 };

    /// Room for these sentences.
    pub fn of(rows: &Rows) -> Self {
        Self { rows: rows.total(), longest: rows.longest() }
    }

    /// Room for one sentence.
    pub fn one(tokens: usize) -> Self {
        Self { rows: tokens, longest: tokens }
    }
}

impl<S: Scalar> AttentionCache<S> {
    /// Room for training, which does not look at the scores.
    pub fn new(config: &AttentionConfig, queries: Room, keys: Room) -> Self {
        let longest = queries.longest.max(keys.longest);
        // By queries, or by keys where short sentences have them transposed; sentences may differ in which is more.
        let by_query = queries.rows * weights_stride(keys.longest);
        let by_key = keys.rows * weights_stride(queries.longest.min(SHORT_TOKENS_MAX));
        let means = keys.rows * LANES;
        Self {
            query: with_lane_beyond(queries.rows, config.keys_width()),
            key: with_lane_beyond(keys.rows, config.keys_width()),
            value: with_lane_beyond(keys.rows, config.values_width()),
            scores: Vec::new(),
            weights: vec![S::zero(); config.heads * (by_query + by_key + means)],
            mix: Matrix::zeros(queries.rows, config.values_width()),
            tile: Tile::new(config.key_width.max(config.value_width), longest),
            look_up: None,
            mixes_means: false,
        }
    }

    /// Only the mean of a sentence's mixes is wanted: one row for each sentence in `mix`. A mean is
    /// linear, so it goes before the values: `mean(A V) = mean(A) V`, as many times less work as there are queries.
    pub fn mix_means(&mut self) {
        self.mixes_means = true;
    }

    pub fn mixes_means(&self) -> bool {
        self.mixes_means
    }

    /// And room for projecting tables of so many words and positions: see [`look_up`].
    pub fn look_up_in(&mut self, words: usize, places: usize) {
        let width = self.query.cols().max(self.value.cols());
        self.look_up = Some(LookUpCache::new(words, places, width));
    }

    /// Room for a viewer, who wants the scores too.
    pub fn with_scores(config: &AttentionConfig, queries: Room, keys: Room) -> Self {
        let cache = Self::new(config, queries, keys);
        Self { scores: cache.weights.clone(), ..cache }
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

/// Room for so many rows; products may read a lane beyond the last.
pub(super) fn with_lane_beyond<S: Scalar>(rows: usize, cols: usize) -> Matrix<S> {
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
fn weights_and_means<'a, S: Scalar>(
    block: &'a mut [S],
    head: &Head<'_, S>,
    means: bool,
) -> (&'a mut [S], Option<&'a mut [S]>) {
    let (weights, room) = block.split_at_mut(weights_entries(head.query.rows, head.key.rows));
    (weights, means.then_some(room))
}

/// Where one head of one sentence lies.
struct Place {
    sentence: usize,
    head: usize,
    queries: Range<usize>,
    keys: Range<usize>,
    /// Its block of the scores and the weights.
    block: Range<usize>,
}

impl Place {
    /// The rows of the mixes: one for each query, or one for their mean.
    #[inline(always)]
    fn mixes(&self, means: bool) -> Range<usize> {
        if means { self.sentence..self.sentence + 1 } else { self.queries.clone() }
    }
}

/// Sentence by sentence, head by head.
#[inline(always)]
fn for_each_head(heads: usize, queries: &Rows, keys: &Rows, mut work: impl FnMut(Place)) {
    let mut start = 0;
    for (sentence, (queries, keys)) in queries.sentences().zip(keys.sentences()).enumerate() {
        let entries = block_entries(queries.len(), keys.len());
        for head in 0..heads {
            let block = start..start + entries;
            start = block.end;
            work(Place { sentence, head, queries: queries.clone(), keys: keys.clone(), block });
        }
    }
}

/// Some rows and columns of a matrix: a fold of the heads.
#[inline(always)]
fn part<'a, S: Scalar>(x: &'a Matrix<S>, rows: &Range<usize>, cols: &Range<usize>) -> Part<'a, S> {
    let entries = &x.flat()[rows.start * x.cols() + cols.start..];
    Part { entries, stride: x.cols(), rows: rows.len(), cols: cols.len() }
}

#[inline(always)]
fn part_mut<'a, S: Scalar>(x: &'a mut Matrix<S>, rows: &Range<usize>, cols: &Range<usize>) -> PartMut<'a, S> {
    let stride = x.cols();
    let entries = &mut x.flat_mut()[rows.start * stride + cols.start..];
    PartMut { entries, stride, rows: rows.len(), cols: cols.len() }
}

#[inline(always)]
fn head_of<'a, S: Scalar>(
    config: &'a AttentionConfig,
    scale: S,
    place: &Place,
    [query, key, value]: [&'a Matrix<S>; 3],
) -> Head<'a, S> {
    let (key_columns, value_columns) = (config.key_columns(place.head), config.value_columns(place.head));
    Head {
        query: part(query, &place.queries, &key_columns),
        key: part(key, &place.keys, &key_columns),
        value: part(value, &place.keys, &value_columns),
        scale,
        mask: &config.mask,
    }
}

/// The heads' mixes, `[M_1 … M_H]`, left in the cache; the module's equations.
///
/// # Shapes
/// `queries` (N, D), `keys` (N_k, D), as many sentences in both; `modes` one for each head, or none
/// where every head is live.
///
/// # Panics
/// If the shapes do not fit.
pub fn attention_forward<S: Scalar>(
    config: &AttentionConfig,
    parameters: &Parameters<S>,
    block: usize,
    queries: Tokens<'_, S>,
    keys: Tokens<'_, S>,
    modes: &[HeadMode<S>],
    cache: &mut AttentionCache<S>,
) {
    use TensorName::*;
    let counts = (queries.rows.count(), keys.rows.count());
    assert_eq!(counts.0, counts.1, "attention: {} sentences of queries, {} of keys", counts.0, counts.1);
    assert!(
        modes.is_empty() || modes.len() == config.heads,
        "attention: {} modes, {} heads",
        modes.len(),
        config.heads
    );
    let AttentionCache { query, key, value, look_up, .. } = cache;
    for (x, to, weight, bias) in [
        (queries, &mut *query, QueryWeights, QueryBias),
        (keys, &mut *key, KeyWeights, KeyBias),
        (keys, &mut *value, ValueWeights, ValueBias),
    ] {
        let to = to.top_flat_mut(x.rows.total());
        if config.projected {
            let (w, b) = (parameters.matrix(weight.of_block(block)), parameters.values_of(bias.of_block(block)));
            match (x.look_up, &mut *look_up) {
                (Some(from), Some(cache)) => look_up_forward(from, w, b, cache, to),
                _ => linear_forward(x.view(config.width), w, b, to),
            }
        } else {
            to.copy_from_slice(x.vectors);
        }
    }
    dispatch(Forward { config, queries: queries.rows, keys: keys.rows, modes, cache });
}

/// The heads of [`attention_forward`].
struct Forward<'a, S> {
    config: &'a AttentionConfig,
    queries: &'a Rows,
    keys: &'a Rows,
    modes: &'a [HeadMode<S>],
    cache: &'a mut AttentionCache<S>,
}

impl<S: Scalar> Work<S> for Forward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<S>>(self, simd: V) {
        let Self { config, queries, keys, modes, cache } = self;
        let AttentionCache { query, key, value, scores, weights, mix, tile, mixes_means, .. } = cache;
        let scale = S::from_f64(config.score_scale());
        let for_training = scores.is_empty() && modes.is_empty();
        for_each_head(
            config.heads,
            queries,
            keys,
            #[inline(always)]
            |place| {
                let head = head_of(config, scale, &place, [query, key, value]);
                let mut mix = part_mut(mix, &place.mixes(*mixes_means), &config.value_columns(place.head));
                let (weights, means) = weights_and_means(&mut weights[place.block.clone()], &head, *mixes_means);
                if for_training && is_short(head.query.rows, head.key.rows) {
                    head.short_forward(simd, weights, means, &mut mix, tile);
                } else {
                    let mode = modes.get(place.head).unwrap_or(&HeadMode::Live);
                    let scores = scores.get_mut(place.block);
                    head.forward(simd, mode, scores, weights, means, &mut mix);
                }
            },
        );
    }
}

/// Gradients that live only during the backward. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct AttentionScratch<S> {
    d_query: Matrix<S>,
    d_key: Matrix<S>,
    d_value: Matrix<S>,
    /// Of a panel.
    d_scores: Vec<S>,
}

impl<S: Scalar> AttentionScratch<S> {
    pub fn new(config: &AttentionConfig, queries: Room, keys: Room) -> Self {
        Self {
            d_query: Matrix::zeros(queries.rows, config.keys_width()),
            d_key: Matrix::zeros(keys.rows, config.keys_width()),
            d_value: Matrix::zeros(keys.rows, config.values_width()),
            d_scores: vec![S::zero(); panel_entries(queries.longest.max(keys.longest))],
        }
    }
}

/// Gradients of [`attention_forward`] with all heads live: those of the parameters and of the
/// inputs are added to what is there. `d_keys` is `None` in self-attention, where the keys'
/// gradient belongs to the queries' vectors.
///
/// # Shapes
/// `d_mix` (N, H·d_v), `d_queries` (N, D), `d_keys` (N_k, D)
#[expect(clippy::too_many_arguments, reason = "one for each thing that the equations name")]
pub fn attention_backward<S: Scalar>(
    config: &AttentionConfig,
    parameters: &Parameters<S>,
    block: usize,
    queries: Tokens<'_, S>,
    keys: Tokens<'_, S>,
    cache: &mut AttentionCache<S>,
    d_mix: &Matrix<S>,
    scratch: &mut AttentionScratch<S>,
    gradient: &mut Parameters<S>,
    d_queries: &mut [S],
    d_keys: Option<&mut [S]>,
) {
    use TensorName::*;
    let (query_rows, key_rows) = (queries.rows, keys.rows);
    dispatch(Backward { config, queries: query_rows, keys: key_rows, cache, d_mix, scratch: &mut *scratch });
    let AttentionScratch { d_query, d_key, d_value, .. } = scratch;

    let mut back = |x: Tokens<'_, S>, d: &Matrix<S>, weights: TensorName, bias: TensorName, d_x: &mut [S]| {
        let ids = [weights.of_block(block), bias.of_block(block)];
        match (x.look_up.filter(|_| config.projected), &mut cache.look_up) {
            (Some(from), Some(cache)) => {
                look_up_backward(from, ids, parameters, d.top_flat(x.rows.total()), cache, gradient);
            }
            _ => projection_backward(config, parameters, ids, x, d, gradient, d_x),
        }
    };
    back(queries, d_query, QueryWeights, QueryBias, d_queries);
    let d_keys = d_keys.unwrap_or(d_queries);
    back(keys, d_key, KeyWeights, KeyBias, d_keys);
    back(keys, d_value, ValueWeights, ValueBias, d_keys);
}

/// The heads of [`attention_backward`].
struct Backward<'a, S> {
    config: &'a AttentionConfig,
    queries: &'a Rows,
    keys: &'a Rows,
    cache: &'a mut AttentionCache<S>,
    d_mix: &'a Matrix<S>,
    scratch: &'a mut AttentionScratch<S>,
}

impl<S: Scalar> Work<S> for Backward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<S>>(self, simd: V) {
        let Self { config, queries, keys, cache, d_mix, scratch } = self;
        let AttentionScratch { d_query, d_key, d_value, d_scores } = scratch;
        let AttentionCache { query, key, value, weights, tile, mixes_means, .. } = cache;
        let scale = S::from_f64(config.score_scale());
        for_each_head(
            config.heads,
            queries,
            keys,
            #[inline(always)]
            |place| {
                let head = head_of(config, scale, &place, [query, key, value]);
                let (key_columns, value_columns) = (config.key_columns(place.head), config.value_columns(place.head));
                let d_mix = part(d_mix, &place.mixes(*mixes_means), &value_columns);
                let mut to = HeadGradients {
                    query: part_mut(d_query, &place.queries, &key_columns),
                    key: part_mut(d_key, &place.keys, &key_columns),
                    value: part_mut(d_value, &place.keys, &value_columns),
                };
                let (weights, means) = weights_and_means(&mut weights[place.block], &head, *mixes_means);
                if is_short(head.query.rows, head.key.rows) {
                    head.short_backward(simd, weights, means, d_mix, d_scores, tile, &mut to);
                } else {
                    head.backward(simd, weights, means, d_mix, d_scores, &mut to);
                }
            },
        );
    }
}

/// `Q = X W_Q + b_Q`, and `K` and `V` alike.
fn projection_backward<S: Scalar>(
    config: &AttentionConfig,
    parameters: &Parameters<S>,
    [weights, bias]: [TensorId; 2],
    x: Tokens<'_, S>,
    d: &Matrix<S>,
    gradient: &mut Parameters<S>,
    d_x: &mut [S],
) {
    let d = d.top_flat(x.rows.total());
    if config.projected {
        let (d_w, d_b) = gradient.matrix_and_row_mut(weights, bias);
        linear_backward(x.view(config.width), parameters.matrix(weights), d, Some(d_x), d_w, d_b);
    } else {
        vectorized!(add(d_x, d));
    }
}
