//! One head of one sentence: `S = s Q Kᵀ`, `A = softmax(S)`, `M = A V`, and the way back.
//!
//! Short sentences go through [`super::tile`], long ones through general products, a panel of
//! queries at a time so that its scores stay in the cache.

use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::mask::Mask;
use super::tile::{Part, PartMut, pack_transposed, product, product_transposed};
use crate::numerics::simd::{LANES, Lane, padded};
use crate::numerics::softmax::{softmax_backward, softmax_forward};
use crate::numerics::{Matrix, Scalar};

/// The most keys of a sentence that goes through tiles.
pub const TILE_TOKENS_MAX: usize = 48;
/// Queries of a panel.
const PANEL: usize = 64;

/// The operands of one head of one sentence, as parts of the batch's matrices.
#[derive(Clone, Copy)]
pub struct Head<'a, S> {
    /// `Q` (T_q, d_k)
    pub query: Part<'a, S>,
    /// `K` (T_k, d_k)
    pub key: Part<'a, S>,
    /// `V` (T_k, d_v)
    pub value: Part<'a, S>,
    /// `s`
    pub scale: S,
    pub mask: &'a Mask,
}

impl<S: Scalar> PartMut<'_, S> {
    fn fill(&mut self, x: S) {
        self.entries.chunks_mut(self.stride).take(self.rows).for_each(|row| row[..self.cols].fill(x));
    }

    fn rows_mut(&mut self, from: usize, count: usize) -> MatMut<'_, S> {
        let Self { stride, cols, .. } = *self;
        let reach = reach_mut(&mut self.entries[from * stride..], count, cols, stride);
        // By its transpose: in faer 0.24.4 `from_row_major_slice_with_stride_mut` takes the stride for
        // that of the columns, and so reads and writes beyond the slice.
        MatMut::from_column_major_slice_with_stride_mut(reach, cols, count, stride).transpose_mut()
    }
}

/// The entries from the first to the last of a part.
fn reach<S>(entries: &[S], rows: usize, cols: usize, stride: usize) -> &[S] {
    &entries[..(rows - 1) * stride + cols]
}

fn reach_mut<S>(entries: &mut [S], rows: usize, cols: usize, stride: usize) -> &mut [S] {
    &mut entries[..(rows - 1) * stride + cols]
}

impl<'a, S: Scalar> Part<'a, S> {
    fn rows_from(&self, from: usize, count: usize) -> MatRef<'a, S> {
        let Self { entries, stride, cols, .. } = *self;
        MatRef::from_row_major_slice_with_stride(
            reach(&entries[from * stride..], count, cols, stride),
            count,
            cols,
            stride,
        )
    }

    fn all(&self) -> MatRef<'a, S> {
        self.rows_from(0, self.rows)
    }
}

/// Room for the tiles of a head.
#[derive(Clone, Debug)]
pub struct Tiles<S> {
    lanes: Vec<Lane<S>>,
}

impl<S: Scalar> Tiles<S> {
    /// For heads of at most `width` columns, and sentences of at most `longest` tokens.
    pub fn new(width: usize, longest: usize) -> Self {
        let tokens = longest.min(TILE_TOKENS_MAX);
        let entries = padded(width.max(1)) * padded(tokens);
        Self { lanes: vec![[S::zero(); LANES]; entries / LANES] }
    }
}

/// Entries of a row of scores or weights: the keys, and zeros up to whole lanes.
pub fn weights_stride(keys: usize) -> usize {
    padded(keys)
}

/// What a learner does to a head while looking at it; training knows only [`HeadMode::Live`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum HeadMode<S> {
    #[default]
    Live,
    /// It mixes nothing.
    Off,
    /// Every key that a query sees weighs the same.
    Uniform,
    /// These weights, (T_q, T_k), whatever the scores say.
    Frozen(Arc<Matrix<S>>),
}

impl<S: Scalar> HeadMode<S> {
    #[inline(always)]
    fn change(&self, mask: &Mask, query: usize, weights: &mut [S]) {
        match self {
            Self::Live | Self::Off => {}
            Self::Uniform => {
                let visible = (0..weights.len()).filter(|&key| mask.sees(query, key)).count();
                let share = S::one() / S::from_f64(visible.max(1) as f64);
                for (key, weight) in weights.iter_mut().enumerate() {
                    *weight = if mask.sees(query, key) { share } else { S::zero() };
                }
            }
            Self::Frozen(frozen) => weights.copy_from_slice(frozen.row(query)),
        }
    }
}

impl<S: Scalar> Head<'_, S> {
    fn is_small(&self) -> bool {
        self.key.rows <= TILE_TOKENS_MAX && self.query.rows <= TILE_TOKENS_MAX
    }

    /// Queries that are worked on together.
    fn panel(&self) -> usize {
        if self.is_small() { self.query.rows } else { PANEL }
    }

    /// The keys that any query of a panel sees.
    fn seen(&self, first: usize, queries: usize) -> usize {
        if *self.mask == Mask::Causal { self.key.rows.min(first + queries) } else { self.key.rows }
    }

    /// `weights` (T_q, [`weights_stride`]) receives `A`, `scores` alike `S` if there is room for it.
    ///
    /// # Panics
    /// If frozen weights have another shape.
    #[inline(always)]
    pub fn forward(
        &self,
        mode: &HeadMode<S>,
        scores: Option<&mut [S]>,
        weights: &mut [S],
        mut mix: PartMut<'_, S>,
        tiles: &mut Tiles<S>,
    ) {
        let (keys, stride) = (self.key.rows, weights_stride(self.key.rows));
        let mut kept = scores;
        for (panel, weights) in weights.chunks_mut(self.panel() * stride).enumerate() {
            let (first, queries) = (panel * self.panel(), weights.len() / stride);
            let seen = if self.is_small() { keys } else { self.seen(first, queries) };
            self.scores(first, seen, weights, tiles);
            if let Some(kept) = &mut kept {
                kept[first * stride..][..weights.len()].copy_from_slice(weights);
            }
            for (query, row) in weights.chunks_exact_mut(stride).enumerate() {
                // Of a short row the −∞ behind the keys come along: whole lanes are quicker.
                softmax_forward(if self.is_small() { &mut *row } else { &mut row[..seen] });
                row[seen..].fill(S::zero());
                mode.change(self.mask, first + query, &mut row[..keys]);
            }
            if *mode == HeadMode::Off {
                mix.fill(S::zero());
            } else {
                let reach = if *mode == HeadMode::Live { seen } else { keys };
                self.mix(first, Part { cols: reach, ..weights_part(weights, queries, keys) }, &mut mix);
            }
        }
    }

    /// `S = s Q Kᵀ` of the queries from `first` on, and −∞ where masked and behind the keys that are seen.
    #[inline(always)]
    fn scores(&self, first: usize, seen: usize, scores: &mut [S], tiles: &mut Tiles<S>) {
        let stride = weights_stride(self.key.rows);
        let query = self.query.slice(first, scores.len() / stride);
        let key = self.key.slice(0, seen);
        if self.is_small() {
            let mut to = PartMut { entries: &mut *scores, stride, rows: query.rows, cols: stride };
            product(query, pack_transposed(key, &mut tiles.lanes), self.scale, &mut to);
        } else {
            let to = MatMut::from_row_major_slice_mut(&mut *scores, query.rows, stride).subcols_mut(0, seen);
            matmul(to, Accum::Replace, query.all(), key.all().transpose(), self.scale, Par::Seq);
        }
        for (query, row) in scores.chunks_exact_mut(stride).enumerate() {
            row[seen..].fill(S::NEG_INFINITY);
            self.mask.hide(first + query, &mut row[..seen]);
        }
    }

    /// `M = A V` of the queries from `first` on.
    #[inline(always)]
    fn mix(&self, first: usize, weights: Part<'_, S>, mix: &mut PartMut<'_, S>) {
        let value = self.value.slice(0, weights.cols);
        if self.is_small() {
            product(weights, value, S::one(), mix);
        } else {
            let to = mix.rows_mut(first, weights.rows);
            matmul(to, Accum::Replace, weights.all(), value.all(), S::one(), Par::Seq);
        }
    }
}

impl<'a, S> Part<'a, S> {
    fn slice(self, from: usize, rows: usize) -> Self {
        Self { entries: &self.entries[from * self.stride..], rows, ..self }
    }
}

fn weights_part<S>(weights: &[S], queries: usize, keys: usize) -> Part<'_, S> {
    Part { entries: weights, stride: weights_stride(keys), rows: queries, cols: keys }
}

/// What the backward of a head writes.
pub struct HeadGradients<'a, S> {
    /// `d_Q` (T_q, d_k)
    pub query: PartMut<'a, S>,
    /// `d_K` (T_k, d_k)
    pub key: PartMut<'a, S>,
    /// `d_V` (T_k, d_v)
    pub value: PartMut<'a, S>,
}

/// Entries of the scratch of [`Head::backward`], for sentences of at most these lengths.
pub fn scores_scratch(queries: usize, keys: usize) -> usize {
    let rows = if queries <= TILE_TOKENS_MAX && keys <= TILE_TOKENS_MAX {
        queries
    } else {
        queries.min(PANEL).max(TILE_TOKENS_MAX)
    };
    rows * weights_stride(keys)
}

impl<S: Scalar> Head<'_, S> {
    /// Gradients of [`Head::forward`], which replace what is there.
    ///
    /// `d_V = Aᵀ d_M`, `d_A = d_M Vᵀ`, `d_S` by the softmax, `d_Q = s d_S K`, `d_K = s d_Sᵀ Q`; a
    /// masked weight is 0, and so is its gradient.
    #[inline(always)]
    pub fn backward(
        &self,
        weights: &[S],
        d_mix: Part<'_, S>,
        d_scores: &mut [S],
        tiles: &mut Tiles<S>,
        mut to: HeadGradients<'_, S>,
    ) {
        let (queries, keys, stride) = (self.query.rows, self.key.rows, weights_stride(self.key.rows));
        if !self.is_small() {
            return self.backward_by_panels(weights, d_mix, d_scores, to);
        }
        let d_scores = &mut d_scores[..queries * stride];
        let mut d_weights = PartMut { entries: &mut *d_scores, stride, rows: queries, cols: stride };
        product(d_mix, pack_transposed(self.value, &mut tiles.lanes), S::one(), &mut d_weights);
        for (weights, d) in weights.chunks_exact(stride).zip(d_scores.chunks_exact_mut(stride)) {
            softmax_backward(weights, d);
        }
        let (weights, d_scores) = (weights_part(weights, queries, keys), weights_part(d_scores, queries, keys));
        product(d_scores, self.key, self.scale, &mut to.query);
        product_transposed(d_scores, self.query, self.scale, &mut to.key);
        product_transposed(weights, d_mix, S::one(), &mut to.value);
    }

    #[inline(always)]
    fn backward_by_panels(&self, weights: &[S], d_mix: Part<'_, S>, d_scores: &mut [S], mut to: HeadGradients<'_, S>) {
        let keys = self.key.rows;
        let stride = weights_stride(keys);
        to.key.fill(S::zero());
        to.value.fill(S::zero());
        for (panel, weights) in weights.chunks(PANEL * stride).enumerate() {
            let (first, queries) = (panel * PANEL, weights.len() / stride);
            let seen = self.seen(first, queries);
            let d_scores = &mut d_scores[..queries * stride];
            let part = |entries| Part { cols: seen, ..weights_part(entries, queries, keys) };
            let d_mix = d_mix.rows_from(first, queries);

            let weights_seen = part(weights).all();
            matmul(to.value.rows_mut(0, seen), Accum::Add, weights_seen.transpose(), d_mix, S::one(), Par::Seq);
            let d_a = MatMut::from_row_major_slice_mut(&mut *d_scores, queries, stride).subcols_mut(0, seen);
            matmul(d_a, Accum::Replace, d_mix, self.value.slice(0, seen).all().transpose(), S::one(), Par::Seq);
            for (weights, d) in weights.chunks_exact(stride).zip(d_scores.chunks_exact_mut(stride)) {
                softmax_backward(&weights[..seen], &mut d[..seen]);
            }
            let d_s = part(d_scores).all();
            let (key, query) = (self.key.slice(0, seen).all(), self.query.rows_from(first, queries));
            matmul(to.query.rows_mut(first, queries), Accum::Replace, d_s, key, self.scale, Par::Seq);
            matmul(to.key.rows_mut(0, seen), Accum::Add, d_s.transpose(), query, self.scale, Par::Seq);
        }
    }
}
