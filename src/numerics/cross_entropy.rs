//! Softmax cross-entropy.

use super::{Scalar, softmax};

/// `L = ln Σ_v exp(z_v) − z_target`, in nats, for one row of logits.
///
/// `probabilities` receives `softmax(z)`, which is all that the backward needs.
///
/// # Panics
/// If the target is no class.
pub fn cross_entropy_forward<S: Scalar>(logits: &[S], target: usize, probabilities: &mut [S]) -> S {
    assert!(target < logits.len(), "cross entropy: target {target} of {} classes", logits.len());
    softmax::softmax_forward(logits, probabilities);
    let max = logits.iter().copied().fold(S::NEG_INFINITY, Scalar::max);
    let sum: S = logits.iter().map(|&z| (z - max).exp()).sum();
    max + sum.ln() - logits[target]
}

/// `d_z = scale · (softmax(z) − onehot(target))`, in place: `probabilities` becomes `d_z`.
pub fn cross_entropy_backward<S: Scalar>(probabilities: &mut [S], target: usize, scale: S) {
    probabilities[target] -= S::one();
    for p in probabilities {
        *p *= scale;
    }
}
