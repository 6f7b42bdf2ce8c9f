//! A head of a short sentence in training, by products of small blocks; its weights are stored transposed, `Aᵀ` (T_k,
//! T_q), so that the softmax runs down columns.

use super::distances::distance_column_gradient;
use super::head::{Head, HeadGradients};
use super::mask::{Mask, Window};
use super::tile::{
    PartMut, Strided, Tile, is_short, mix_mean, outer, pack_transposed, product, product_transposed, product_vector,
    transposed_entries,
};
use crate::numerics::Scalar;
use crate::numerics::simd::{Simd, padded};
use crate::numerics::softmax::{softmax_columns, softmax_columns_gradient, softmax_columns_gradient_of_rows};

impl<S: Scalar> Head<'_, S> {
    /// Returns whether training uses the functions for short sentences, which do not support a bound of the scores.
    #[inline(always)]
    pub fn is_short(&self) -> bool {
        self.cap.is_none() && is_short(self.query.rows, self.key.rows)
    }

    /// Computes the head; `weights` receives `Aᵀ`.
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
        product(simd, self.key, pack_transposed(simd, self.query, tile.lanes()), self.scale, &mut scores);
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
        let weights = Strided { entries: &*weights, stride, rows: keys, cols: queries };
        match means {
            None => product_transposed(simd, weights, self.value, S::one(), mix),
            Some(means) => {
                let share = S::one() / S::from_f64(queries as f64);
                product_vector(simd, weights, tile.vector(queries, |_| share), means);
                mix_mean(simd, &means[..keys], self.value, mix);
            }
        }
    }

    /// Computes the gradients of [`Head::short_forward`]. They replace the given values, except that the gradient of
    /// the distances is added.
    ///
    /// `d_V = Aᵀ d_M`, `d_Aᵀ = V d_Mᵀ`, `d_S` from `d_A` through the softmax, `d_Q = s d_S K`, `d_K = s d_Sᵀ Q`. A
    /// masked weight is 0, and so is its gradient.
    #[expect(clippy::too_many_arguments, reason = "one for each thing that the equations name")]
    #[inline(always)]
    pub fn short_backward<V: Simd<S>>(
        &self,
        simd: V,
        weights: &[S],
        means: Option<&mut [S]>,
        d_mix: Strided<'_, S>,
        d_scores: &mut [S],
        tile: &mut Tile<S>,
        to: &mut HeadGradients<'_, S>,
    ) {
        let (queries, keys, stride) = (self.query.rows, self.key.rows, padded(self.query.rows));
        let weights = &weights[..transposed_entries(queries, keys)];
        let d_scores = &mut d_scores[..transposed_entries(queries, keys)];
        let a = Strided { entries: weights, stride, rows: keys, cols: queries };
        match means {
            None => {
                let mut d_weights = PartMut { entries: &mut *d_scores, stride, rows: keys, cols: stride };
                product(simd, self.value, pack_transposed(simd, d_mix, tile.lanes()), S::one(), &mut d_weights);
                product(simd, a, d_mix, S::one(), &mut to.value);
                softmax_columns_gradient(simd, weights, d_scores, stride);
            }
            Some(means) => {
                outer(simd, &means[..keys], d_mix, &mut to.value);
                let d_mix = d_mix.row(0);
                let share = S::one() / S::from_f64(queries as f64);
                // From here on `means` holds the gradient of each key's weight, which is the same for every query.
                product_vector(simd, self.value, tile.vector(d_mix.len(), |i| share * d_mix[i]), means);
                softmax_columns_gradient_of_rows(simd, weights, means, d_scores, stride);
            }
        }
        for (key, d) in d_scores.chunks_exact(stride).enumerate() {
            distance_column_gradient(key, &d[..queries], to.bias);
        }
        let d_scores = Strided { entries: &*d_scores, stride, rows: keys, cols: queries };
        product_transposed(simd, d_scores, self.key, self.scale, &mut to.query);
        product(simd, d_scores, self.query, self.scale, &mut to.key);
    }
}
