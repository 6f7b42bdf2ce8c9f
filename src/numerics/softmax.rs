//! Softmax over a row.

use super::{Scalar, simd};

/// `p_j = exp(s_j − max s) / Σ_k exp(s_k − max s)`
///
/// The shift changes nothing but keeps `exp` finite. A row that is −∞ throughout (every key
/// masked) attends to nothing: all its weights are 0. A row with a NaN is NaN throughout.
///
/// ```
/// # use attune::numerics::softmax::softmax_forward;
/// let mut weights = [6.0, 4.0];
/// softmax_forward(&mut weights);
/// assert!((weights[0] - 0.88080f64).abs() < 1e-5);
/// ```
///
/// In place: `row` holds the scores and becomes the weights.
#[inline(always)]
pub fn softmax_forward<S: Scalar>(row: &mut [S]) {
    softmax_with_shift(row);
}

/// As [`softmax_forward`]; returns `max s` and `Σ_k exp(s_k − max s)`, whose logarithm they are parts of.
#[inline(always)]
pub(super) fn softmax_with_shift<S: Scalar>(row: &mut [S]) -> (S, S) {
    let max = simd::max(row);
    if max == S::NEG_INFINITY && row.iter().all(|&score| score == S::NEG_INFINITY) {
        row.fill(S::zero());
        return (max, S::zero());
    }
    simd::map(
        row,
        #[inline(always)]
        |score| (score - max).exp(),
    );
    let sum = simd::sum(row);
    let scale = S::one() / sum;
    simd::map(
        row,
        #[inline(always)]
        |weight| weight * scale,
    );
    (max, sum)
}

/// `d_s_j = p_j (d_p_j − Σ_k p_k d_p_k)`, in place: `d` holds `d_p` and becomes `d_s`.
#[inline(always)]
pub fn softmax_backward<S: Scalar>(weights: &[S], d: &mut [S]) {
    debug_assert_eq!(weights.len(), d.len(), "softmax backward: {} weights, {} gradients", weights.len(), d.len());
    let mean = simd::dot(weights, d);
    simd::zip(
        d,
        weights,
        #[inline(always)]
        |d, p| p * (d - mean),
    );
}
