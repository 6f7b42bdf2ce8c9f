//! One head of one short sentence, for training. Its products are too small for the set-up of a
//! general one, so they are multiplied where they stand; the weights are kept transposed, `Aᵀ`
//! (T_k, T_q), so that the softmax runs down columns.

use super::head::{Head, HeadGradients};
use super::mask::{Mask, Window};
use super::tile::{
    Part, PartMut, lanes, mix_mean, outer, pack_transposed, product, product_transposed, product_vector,
};
use crate::numerics::Scalar;
use crate::numerics::positions::distance_column_gradient;
use crate::numerics::simd::{LANES, Lane, Simd, padded};
use crate::numerics::softmax::{softmax_columns, softmax_columns_gradient, softmax_columns_gradient_of_rows};

/// The most tokens of a short sentence.
pub const SHORT_TOKENS_MAX: usize = 48;

/// Room for an operand of a head.
#[derive(Clone, Debug)]
pub struct Tile<S>(Vec<Lane<S>>);

impl<S: Scalar> Tile<S> {
    /// For heads of at most `width` columns, and sentences of at most `longest` tokens.
    pub fn new(width: usize, longest: usize) -> Self {
        let entries = padded(width) * padded(longest.min(SHORT_TOKENS_MAX));
        Self(vec![[S::zero(); LANES]; entries / LANES])
    }

    /// A vector, padded with zeros.
    #[inline(always)]
    fn vector(&mut self, len: usize, entry: impl Fn(usize) -> S) -> &[Lane<S>] {
        let vector = &mut self.0[..lanes(len)];
        for (i, to) in vector.as_flattened_mut().iter_mut().enumerate() {
            *to = if i < len { entry(i) } else { S::zero() };
        }
        vector
    }
}

/// Neither queries nor keys are many.
pub fn is_short(queries: usize, keys: usize) -> bool {
    queries.max(keys) <= SHORT_TOKENS_MAX
}

/// Entries of the weights of one head.
pub fn transposed_entries(queries: usize, keys: usize) -> usize {
    keys * padded(queries)
}

impl<S: Scalar> Head<'_, S> {
    /// Whether training takes the way of short sentences, which knows no bound of the scores.
    #[inline(always)]
    pub fn is_short(&self) -> bool {
        self.cap.is_none() && is_short(self.query.rows, self.key.rows)
    }

    /// `weights` receives `Aᵀ`.
    #[inline(always)]
    pub fn short_forward<V: Simd<S>>(
        &self,
        simd: V,
        weights: &mut [S],
        means: Option<&mut [S]>,
        mix: &mut PartMut<'_, S>,
        tile: &mut Tile<S>,
    ) {
        let (queries, keys, stride) = (self.query.rows, self.key.rows, padded(self.query.rows));
        let weights = &mut weights[..transposed_entries(queries, keys)];
        let mut scores = PartMut { entries: &mut *weights, stride, rows: keys, cols: stride };
        product(simd, self.key, pack_transposed(simd, self.query, &mut tile.0), self.scale, &mut scores);
        for (key, row) in weights.chunks_exact_mut(stride).enumerate() {
            self.bias.add_to_column(key, &mut row[..queries]);
        }
        if *self.mask != Mask::None || self.window != Window::ALL {
            for (key, row) in weights.chunks_exact_mut(stride).enumerate() {
                for (query, score) in row[..queries].iter_mut().enumerate() {
                    if !(self.mask.sees(query, key) && self.window.sees(query, key)) {
                        *score = S::NEG_INFINITY;
                    }
                }
            }
        }
        softmax_columns(simd, weights, stride);
        let weights = Part { entries: &*weights, stride, rows: keys, cols: queries };
        match means {
            None => product_transposed(simd, weights, self.value, S::one(), mix),
            Some(means) => {
                let share = S::one() / S::from_f64(queries as f64);
                product_vector(simd, weights, tile.vector(queries, |_| share), means);
                mix_mean(simd, &means[..keys], self.value, mix);
            }
        }
    }

    /// Gradients of [`Head::short_forward`], which replace what is there, but for that of the distances.
    ///
    /// `d_V = Aᵀ d_M`, `d_Aᵀ = V d_Mᵀ`, `d_S` by the softmax, `d_Q = s d_S K`, `d_K = s d_Sᵀ Q`; a
    /// masked weight is 0, and so is its gradient.
    #[expect(clippy::too_many_arguments, reason = "one for each thing that the equations name")]
    #[inline(always)]
    pub fn short_backward<V: Simd<S>>(
        &self,
        simd: V,
        weights: &[S],
        means: Option<&mut [S]>,
        d_mix: Part<'_, S>,
        d_scores: &mut [S],
        tile: &mut Tile<S>,
        to: &mut HeadGradients<'_, S>,
    ) {
        let (queries, keys, stride) = (self.query.rows, self.key.rows, padded(self.query.rows));
        let weights = &weights[..transposed_entries(queries, keys)];
        let d_scores = &mut d_scores[..transposed_entries(queries, keys)];
        let a = Part { entries: weights, stride, rows: keys, cols: queries };
        match means {
            None => {
                let mut d_weights = PartMut { entries: &mut *d_scores, stride, rows: keys, cols: stride };
                product(simd, self.value, pack_transposed(simd, d_mix, &mut tile.0), S::one(), &mut d_weights);
                product(simd, a, d_mix, S::one(), &mut to.value);
                softmax_columns_gradient(simd, weights, d_scores, stride);
            }
            Some(means) => {
                outer(simd, &means[..keys], d_mix, &mut to.value);
                let d_mix = d_mix.row(0);
                let share = S::one() / S::from_f64(queries as f64);
                // From here on, the gradient of each weight, the same for every query.
                product_vector(simd, self.value, tile.vector(d_mix.len(), |i| share * d_mix[i]), means);
                softmax_columns_gradient_of_rows(simd, weights, means, d_scores, stride);
            }
        }
        for (key, d) in d_scores.chunks_exact(stride).enumerate() {
            distance_column_gradient(key, &d[..queries], to.bias);
        }
        let d_scores = Part { entries: &*d_scores, stride, rows: keys, cols: queries };
        product_transposed(simd, d_scores, self.key, self.scale, &mut to.query);
        product(simd, d_scores, self.query, self.scale, &mut to.key);
    }
}
