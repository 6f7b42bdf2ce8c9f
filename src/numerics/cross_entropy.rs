//! Softmax cross-entropy.

use super::Scalar;
use super::simd::{self, Simd, Work, dispatch};
use super::softmax::softmax;

/// `Σ_rows ln Σ_v exp(z_v) − z_target`, in nats, for rows of logits and the class that is right in each.
///
/// In place: a row becomes `softmax(z)`, which is all that the backward needs.
///
/// # Panics
/// If a target is no class.
pub fn cross_entropy_forward<S: Scalar>(logits: &mut [S], classes: usize, targets: impl Iterator<Item = usize>) -> S {
    dispatch(Forward { logits, classes, targets })
}

struct Forward<'a, S, T> {
    logits: &'a mut [S],
    classes: usize,
    targets: T,
}

impl<S: Scalar, T: Iterator<Item = usize>> Work<S> for Forward<'_, S, T> {
    type Output = S;

    #[inline(always)]
    fn run<V: Simd<S>>(self, simd: V) -> S {
        let mut loss = S::zero();
        for (row, target) in self.logits.chunks_exact_mut(self.classes).zip(self.targets) {
            assert!(target < row.len(), "cross entropy: target {target} of {} classes", row.len());
            let score = row[target];
            let (max, sum) = softmax(simd, row);
            // The difference first: the other way round a small loss is rounded at the size of a logit.
            loss += (max - score) + sum.ln();
        }
        loss
    }
}

/// `d_z = scale · (softmax(z) − onehot(target))` by rows, in place: `probabilities` becomes `d_z`.
pub fn cross_entropy_backward<S: Scalar>(
    probabilities: &mut [S],
    classes: usize,
    targets: impl Iterator<Item = usize>,
    scale: S,
) {
    for (row, target) in probabilities.chunks_exact_mut(classes).zip(targets) {
        row[target] -= S::one();
    }
    simd::vectorized!(probabilities.iter_mut().for_each(
        #[inline(always)]
        |p| *p *= scale
    ));
}
