//! The arithmetic of a head between its projections and its weights, every number of it.
//!
//! The forward pass keeps `Q`, `K`, the scores and the weights; what it passes through on the way is
//! here, for those who want to follow it by hand: `q·k`, what distance adds, `exp(s − max s)` and the sum.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use super::model::activations::HeadActivations;
use super::{Matrix, Scalar};

/// From products to weights, a row for each query.
#[derive(Clone, Debug, PartialEq)]
pub struct Arithmetic<S> {
    /// `Q Kᵀ` (T, T_k)
    pub products: Matrix<S>,
    /// The factor of a product, [`AttentionConfig::score_scale`](super::attention::AttentionConfig::score_scale).
    pub scale: S,
    /// `B[j − i] / τ` (T, T_k), added to the scaled products; `None` where distances do not count.
    pub distances: Option<Matrix<S>>,
    /// `max_j s_ij` (T); −∞ where a query sees no key.
    pub largest: Vec<S>,
    /// `exp(s_ij − max s_i)` (T, T_k); 0 where masked.
    pub exponentials: Matrix<S>,
    /// `Σ_j exp(s_ij − max s_i)` (T)
    pub sums: Vec<S>,
}

impl<S: Scalar> Arithmetic<S> {
    /// Arithmetic of a head whose products were scaled by `scale`, and `distances` added where they count.
    pub fn of(head: &HeadActivations<S>, scale: f64, distances: Option<Matrix<S>>) -> Self {
        let (queries, keys) = (head.query.rows(), head.key.rows());
        let mut products = Matrix::zeros(queries, keys);
        matmul(products.view_mut(), Accum::Replace, head.query.view(), head.key.view().transpose(), S::one(), Par::Seq);
        let largest: Vec<S> =
            (0..queries).map(|i| head.scores.row(i).iter().copied().fold(S::NEG_INFINITY, Scalar::max)).collect();
        let mut exponentials = Matrix::zeros(queries, keys);
        for (i, &max) in largest.iter().enumerate().filter(|(_, max)| **max > S::NEG_INFINITY) {
            let row = exponentials.row_mut(i).iter_mut().zip(head.scores.row(i));
            row.for_each(|(to, &score)| *to = (score - max).exp());
        }
        let sums =
            (0..queries).map(|i| exponentials.row(i).iter().copied().fold(S::zero(), |sum, x| sum + x)).collect();
        Self { products, scale: S::from_f64(scale), distances, largest, exponentials, sums }
    }
}

/// `B[j − i] / τ` of the first queries and keys, (T, T_k), from a head's row of `B`, (2 T_max − 1).
///
/// # Panics
/// If there are more than `T_max` queries or keys.
pub fn distance_scores<S: Scalar>(bias: &[S], temperature: f64, queries: usize, keys: usize) -> Matrix<S> {
    let (itself, share) = (bias.len() / 2, S::from_f64(1.0 / temperature));
    Matrix::from_fn(queries, keys, |query, key| share * bias[itself + key - query])
}
