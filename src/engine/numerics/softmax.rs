//! Softmax over a row, and the cross-entropy of its result.

use crate::numerics::Scalar;
use crate::numerics::simd::{self, LANES, Lane, Plain, Simd, Work, dispatch};

/// Computes `p_j = exp(s_j − max s) / Σ_k exp(s_k − max s)` in place: `row` holds the scores and becomes the weights.
///
/// The shift does not change the result but keeps `exp` finite. A row that is −∞ throughout (every key masked) attends
/// to nothing: all its weights are 0. A row with a NaN is NaN throughout.
///
/// ```
/// # use attune_engine::numerics::softmax::softmax_forward;
/// let mut weights = [6.0, 4.0];
/// softmax_forward(&mut weights);
/// assert!((weights[0] - 0.88080f64).abs() < 1e-5);
/// ```
pub fn softmax_forward<S: Scalar>(row: &mut [S]) {
    dispatch(Row(row));
}

struct Row<'a, S>(&'a mut [S]);

impl<S: Scalar> Work<S> for Row<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<S>>(self, simd: V) {
        softmax(simd, self.0);
    }
}

/// Computes [`softmax_forward`] and returns `max s` and `Σ_k exp(s_k − max s)`, from which the logarithm of the whole
/// sum follows.
#[inline(always)]
pub(super) fn softmax<S: Scalar, V: Simd<S>>(simd: V, row: &mut [S]) -> (S, S) {
    let max = simd::max(simd, row);
    if max == S::NEG_INFINITY && row.iter().all(|&score| score == S::NEG_INFINITY) {
        row.fill(S::zero());
        return (max, S::zero());
    }
    let shift = simd.splat(max);
    simd::map(
        simd,
        row,
        #[inline(always)]
        |score| simd.exp(simd.sub(score, shift)),
    );
    let sum = simd::sum(simd, row);
    let scale = simd.splat(S::one() / sum);
    simd::map(
        simd,
        row,
        #[inline(always)]
        |weight| simd.mul(weight, scale),
    );
    (max, sum)
}

/// Computes `d_s_j = p_j (d_p_j − Σ_k p_k d_p_k)` in place: `d` holds `d_p` and becomes `d_s`.
///
/// # Panics
/// If the numbers of gradients and weights differ.
pub fn softmax_backward<S: Scalar>(weights: &[S], d: &mut [S]) {
    assert_eq!(weights.len(), d.len(), "softmax backward: {} weights, {} gradients", weights.len(), d.len());
    softmax_gradient(Plain, weights, d);
}

/// Computes [`softmax_backward`] with the given vector instructions.
#[inline(always)]
pub(super) fn softmax_gradient<S: Scalar, V: Simd<S>>(simd: V, weights: &[S], d: &mut [S]) {
    let mean = simd.splat(simd::dot(simd, weights, d));
    simd::zip(
        simd,
        d,
        weights,
        #[inline(always)]
        |d, p| simd.mul(p, simd.sub(d, mean)),
    );
}

/// Computes [`softmax_forward`] of each column of a row-major matrix whose rows are whole vectors (lanes). No sum runs
/// across a vector; in short rows, such sums would be most of the work.
#[inline(always)]
pub(super) fn softmax_columns<S: Scalar, V: Simd<S>>(simd: V, entries: &mut [S], stride: usize) {
    let mut lane = 0;
    while lane < stride {
        let mut max = simd.splat(S::NEG_INFINITY);
        for row in entries.chunks_exact(stride) {
            max = simd.max(max, simd.load(lane_of(row, lane)));
        }
        // A column that is −∞ throughout becomes 0, because its shift is finite and its divisor is not 0.
        let shift = simd.max(simd.splat(S::MIN), max);
        let mut sum = simd.splat(S::zero());
        for row in entries.chunks_exact_mut(stride) {
            let to = lane_of_mut(row, lane);
            let weight = simd.exp(simd.sub(simd.load(to), shift));
            sum = simd.add(sum, weight);
            simd.store(weight, to);
        }
        let scale = simd.div(simd.splat(S::one()), simd.max(simd.splat(S::MIN_POSITIVE), sum));
        for row in entries.chunks_exact_mut(stride) {
            let to = lane_of_mut(row, lane);
            simd.store(simd.mul(simd.load(to), scale), to);
        }
        lane += LANES;
    }
}

/// Computes [`softmax_backward`] of each column, as in [`softmax_columns`].
#[inline(always)]
pub(super) fn softmax_columns_gradient<S: Scalar, V: Simd<S>>(simd: V, weights: &[S], d: &mut [S], stride: usize) {
    let mut lane = 0;
    while lane < stride {
        let mut mean = simd.splat(S::zero());
        for (weights, d) in weights.chunks_exact(stride).zip(d.chunks_exact(stride)) {
            mean = simd.mul_add(simd.load(lane_of(weights, lane)), simd.load(lane_of(d, lane)), mean);
        }
        for (weights, d) in weights.chunks_exact(stride).zip(d.chunks_exact_mut(stride)) {
            let to = lane_of_mut(d, lane);
            let difference = simd.sub(simd.load(to), mean);
            simd.store(simd.mul(simd.load(lane_of(weights, lane)), difference), to);
        }
        lane += LANES;
    }
}

/// Computes [`softmax_columns_gradient`] if all entries of a row have the same `d_p`: `d` holds one `d_p` for each row.
#[inline(always)]
pub(super) fn softmax_columns_gradient_of_rows<S: Scalar, V: Simd<S>>(
    simd: V,
    weights: &[S],
    d: &[S],
    to: &mut [S],
    stride: usize,
) {
    let mut lane = 0;
    while lane < stride {
        let mut mean = simd.splat(S::zero());
        for (weights, &d) in weights.chunks_exact(stride).zip(d) {
            mean = simd.mul_add(simd.load(lane_of(weights, lane)), simd.splat(d), mean);
        }
        for ((weights, to), &d) in weights.chunks_exact(stride).zip(to.chunks_exact_mut(stride)).zip(d) {
            let difference = simd.sub(simd.splat(d), mean);
            simd.store(simd.mul(simd.load(lane_of(weights, lane)), difference), lane_of_mut(to, lane));
        }
        lane += LANES;
    }
}

#[inline(always)]
fn lane_of<S>(row: &[S], first: usize) -> &Lane<S> {
    row[first..].first_chunk().expect("rows of whole lanes")
}

#[inline(always)]
fn lane_of_mut<S>(row: &mut [S], first: usize) -> &mut Lane<S> {
    row[first..].first_chunk_mut().expect("rows of whole lanes")
}

// Softmax cross-entropy.

/// Computes `Σ_rows ln Σ_v exp(z_v) − z_target`, in nats, for rows of logits and the target class of each.
///
/// Works in place: each row becomes `softmax(z)`, which is all that the backward pass needs.
///
/// # Panics
/// If a target is not a class, or the numbers of targets and rows differ.
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
            // The difference comes first; otherwise a small loss would be rounded to the precision of a logit.
            loss += (max - score) + sum.ln();
        }
        assert!(targets.next().is_none(), "cross entropy: more targets than rows");
        loss
    }
}

/// Computes `d_z = scale · (softmax(z) − onehot(target))` by rows, in place: `probabilities` becomes `d_z`.
///
/// A probability that is too small to be squared, far below the rounding of its row's largest, counts as 0. Otherwise
/// the next products would be subnormal numbers, on which a processor takes a hundred times as long.
///
/// # Panics
/// If a target is not a class, or the numbers of targets and rows differ.
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
    use crate::close::{Tolerance, assert_close_beside};

    #[test]
    fn gradients_are_normal_numbers_that_can_be_squared() {
        let mut row = [0.0, -30.0, -50.0, -87.0, -100.0, f32::NEG_INFINITY];
        let classes = row.len();
        let loss = cross_entropy_forward(&mut row, classes, [4].into_iter());
        assert_eq!(loss, 100.0, "the loss knows what the probabilities cannot hold");
        cross_entropy_backward(&mut row, classes, [4].into_iter(), 0.5);
        assert_eq!(row[0], 0.5);
        assert_close_beside(1.0, "a tiny one", row[1] / (0.5 * (-30.0f32).exp()), 1.0, Tolerance::SINGLE);
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
