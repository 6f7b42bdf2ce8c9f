//! Softmax cross-entropy.

use super::softmax::softmax_with_shift;
use super::{Scalar, simd};

/// `L = ln Σ_v exp(z_v) − z_target`, in nats, for one row of logits.
///
/// In place: `logits` becomes `softmax(z)`, which is all that the backward needs.
///
/// # Panics
/// If the target is no class.
#[inline(always)]
pub fn cross_entropy_forward<S: Scalar>(logits: &mut [S], target: usize) -> S {
    assert!(target < logits.len(), "cross entropy: target {target} of {} classes", logits.len());
    let score = logits[target];
    let (max, sum) = softmax_with_shift(logits);
    (max - score) + sum.ln()
}

/// `d_z = scale · (softmax(z) − onehot(target))`, in place: `probabilities` becomes `d_z`.
#[inline(always)]
pub fn cross_entropy_backward<S: Scalar>(probabilities: &mut [S], target: usize, scale: S) {
    probabilities[target] -= S::one();
    simd::map(
        probabilities,
        #[inline(always)]
        |p| p * scale,
    );
}
