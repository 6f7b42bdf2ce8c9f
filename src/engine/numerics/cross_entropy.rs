//! Softmax cross-entropy.

use super::Scalar;
use super::simd::{self, Simd, Work, dispatch};
use super::softmax::softmax;

/// `Σ_rows ln Σ_v exp(z_v) − z_target`, in nats, for rows of logits and the class that is right in each.
///
/// In place: a row becomes `softmax(z)`, which is all that the backward needs.
///
/// # Panics
/// If a target is no class, or there are not as many targets as rows.
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
        let mut targets = self.targets;
        for (i, row) in self.logits.chunks_exact_mut(self.classes).enumerate() {
            let target = targets.next().unwrap_or_else(|| panic!("cross entropy: row {i} has no target"));
            assert!(target < row.len(), "cross entropy: target {target} of {} classes", row.len());
            let score = row[target];
            let (max, sum) = softmax(simd, row);
            // The difference first: the other way round a small loss is rounded at the size of a logit.
            loss += (max - score) + sum.ln();
        }
        assert!(targets.next().is_none(), "cross entropy: more targets than rows");
        loss
    }
}

/// `d_z = scale · (softmax(z) − onehot(target))` by rows, in place: `probabilities` becomes `d_z`.
///
/// A probability too small to be squared, far below the rounding of its row's largest, counts as 0:
/// what would be made of it are subnormal numbers, on which a processor takes a hundred times as long.
///
/// # Panics
/// If a target is no class, or there are not as many targets as rows.
pub fn cross_entropy_backward<S: Scalar>(
    probabilities: &mut [S],
    classes: usize,
    targets: impl Iterator<Item = usize>,
    scale: S,
) {
    let mut found = 0;
    for (row, target) in targets.enumerate() {
        probabilities[row * classes..][..classes][target] -= S::one();
        found += 1;
    }
    let rows = probabilities.len() / classes;
    assert_eq!(found, rows, "cross entropy backward: {found} targets, {rows} rows");
    let least = S::MIN_POSITIVE.sqrt();
    simd::vectorized!(probabilities.iter_mut().for_each(
        #[inline(always)]
        |p| *p = p.zero_below(least) * scale
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_normal_numbers_that_can_be_squared() {
        let mut row = [0.0, -30.0, -50.0, -87.0, -100.0, f32::NEG_INFINITY];
        let classes = row.len();
        let loss = cross_entropy_forward(&mut row, classes, [4].into_iter());
        assert_eq!(loss, 100.0, "the loss knows what the probabilities cannot hold");
        cross_entropy_backward(&mut row, classes, [4].into_iter(), 0.5);
        assert_eq!(row[0], 0.5);
        assert!((row[1] / (0.5 * (-30.0f32).exp()) - 1.0).abs() < 1e-6, "{row:?}");
        assert_eq!(row[2..], [0.0, 0.0, -0.5, 0.0]);
    }

    #[test]
    fn nan_stays() {
        let mut row = [0.0, f32::NAN];
        assert!(cross_entropy_forward(&mut row, 2, [0].into_iter()).is_nan());
        cross_entropy_backward(&mut row, 2, [0].into_iter(), 1.0);
        assert!(row.iter().all(|d| d.is_nan()), "{row:?}");
    }
}
