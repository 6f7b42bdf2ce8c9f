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
    // ln Σ exp(z) = z_v − ln p_v for every v; the largest p_v loses nothing to rounding.
    let largest = (0..logits.len()).fold(0, |best, v| if logits[v] > logits[best] { v } else { best });
    logits[largest] - probabilities[largest].ln() - logits[target]
}

/// `d_z = scale · (softmax(z) − onehot(target))`, in place: `probabilities` becomes `d_z`.
pub fn cross_entropy_backward<S: Scalar>(probabilities: &mut [S], target: usize, scale: S) {
    probabilities[target] -= S::one();
    for p in probabilities {
        *p *= scale;
    }
}
