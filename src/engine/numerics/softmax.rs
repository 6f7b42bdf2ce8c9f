//! Softmax over a row.

use super::Scalar;
use super::simd::{self, LANES, Lane, Plain, Simd, Work, dispatch};

/// `p_j = exp(s_j − max s) / Σ_k exp(s_k − max s)`
///
/// The shift changes nothing but keeps `exp` finite. A row that is −∞ throughout (every key
/// masked) attends to nothing: all its weights are 0. A row with a NaN is NaN throughout.
///
/// ```
/// # use attune_engine::numerics::softmax::softmax_forward;
/// let mut weights = [6.0, 4.0];
/// softmax_forward(&mut weights);
/// assert!((weights[0] - 0.88080f64).abs() < 1e-5);
/// ```
///
/// In place: `row` holds the scores and becomes the weights.
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

/// As [`softmax_forward`]; returns `max s` and `Σ_k exp(s_k − max s)`, whose logarithm they are parts of.
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

/// `d_s_j = p_j (d_p_j − Σ_k p_k d_p_k)`, in place: `d` holds `d_p` and becomes `d_s`.
///
/// # Panics
/// If there are not as many gradients as weights.
pub fn softmax_backward<S: Scalar>(weights: &[S], d: &mut [S]) {
    assert_eq!(weights.len(), d.len(), "softmax backward: {} weights, {} gradients", weights.len(), d.len());
    softmax_gradient(Plain, weights, d);
}

/// As [`softmax_backward`].
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

/// [`softmax_forward`] of each column of a row-major matrix whose rows are whole lanes: no row has to
/// be added up across its lane, which for short ones is most of the work.
#[inline(always)]
pub(super) fn softmax_columns<S: Scalar, V: Simd<S>>(simd: V, entries: &mut [S], stride: usize) {
    let mut lane = 0;
    while lane < stride {
        let mut max = simd.splat(S::NEG_INFINITY);
        for row in entries.chunks_exact(stride) {
            max = simd.max(max, simd.load(lane_of(row, lane)));
        }
        // A column that is −∞ throughout stays 0: it is shifted by, and divided by, something finite.
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

/// [`softmax_backward`] of each column, as [`softmax_columns`].
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

/// [`softmax_columns_gradient`] where `d_p` is the same in all of a row: `d` holds `d_p` by rows.
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
