//! The position-wise feed-forward layer (Vaswani et al. 2017, Eq. 2): `F = max(0, X W_1 + b_1) W_2 + b_2`.

use faer::MatRef;

use super::linear::{linear_backward, linear_forward};
use super::params::{Parameters, TensorName};
use super::simd::vectorized;
use super::{Matrix, Scalar};

/// Values that the backward needs. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct FeedForwardCache<S> {
    /// `max(0, X W_1 + b_1)` (N, hidden)
    pub hidden: Matrix<S>,
    d_hidden: Matrix<S>,
}

impl<S: Scalar> FeedForwardCache<S> {
    pub fn new(rows: usize, hidden: usize) -> Self {
        Self { hidden: Matrix::zeros(rows, hidden), d_hidden: Matrix::zeros(rows, hidden) }
    }
}

/// `F = max(0, X W_1 + b_1) W_2 + b_2`
///
/// # Shapes
/// `x`, `y` (N, D); `y` row-major
///
/// # Panics
/// If the shapes do not fit, or the cache has no room for them.
pub fn feed_forward_forward<S: Scalar>(
    parameters: &Parameters<S>,
    block: usize,
    x: MatRef<'_, S>,
    cache: &mut FeedForwardCache<S>,
    y: &mut [S],
) {
    use TensorName::*;
    let tensor = |name: TensorName| name.of_block(block);
    let p = parameters;
    let hidden = cache.hidden.top_flat_mut(x.nrows());
    linear_forward(x, p.matrix(tensor(HiddenWeights)), p.values_of(tensor(HiddenBias)), hidden);
    // NaN stays NaN: a diverged weight must not look like a unit that is off.
    vectorized!(hidden.iter_mut().for_each(|h| *h = if *h < S::zero() { S::zero() } else { *h }),);
    let hidden = cache.hidden.top(x.nrows());
    linear_forward(hidden, p.matrix(tensor(ForwardWeights)), p.values_of(tensor(ForwardBias)), y);
}

/// Gradients of [`feed_forward_forward`], added to what is there. With `Z = max(0, X W_1 + b_1)`:
/// `d_W_2 += Zᵀ d_Y`, `d_Z = d_Y W_2ᵀ` where `Z > 0`, `d_W_1 += Xᵀ d_Z`, `d_X += d_Z W_1ᵀ`, and the
/// biases the sums of rows.
///
/// # Shapes
/// `x`, `d_x`, `d_y` (N, D); `d_x`, `d_y` row-major
///
/// # Panics
/// If the shapes do not fit.
pub fn feed_forward_backward<S: Scalar>(
    parameters: &Parameters<S>,
    block: usize,
    x: MatRef<'_, S>,
    cache: &mut FeedForwardCache<S>,
    d_y: &[S],
    gradient: &mut Parameters<S>,
    d_x: &mut [S],
) {
    use TensorName::*;
    let tensor = |name: TensorName| name.of_block(block);
    let n = x.nrows();
    let FeedForwardCache { hidden, d_hidden } = cache;
    let d_hidden = d_hidden.top_flat_mut(n);
    d_hidden.fill(S::zero());
    let (d_w, d_b) = gradient.matrix_and_row_mut(tensor(ForwardWeights), tensor(ForwardBias));
    let w = parameters.matrix(tensor(ForwardWeights));
    linear_backward(hidden.top(n), w, d_y, Some(&mut *d_hidden), d_w, d_b);
    vectorized!({
        for (d, &h) in d_hidden.iter_mut().zip(hidden.flat()) {
            *d = if h == S::zero() { S::zero() } else { *d };
        }
    },);
    let (d_w, d_b) = gradient.matrix_and_row_mut(tensor(HiddenWeights), tensor(HiddenBias));
    linear_backward(x, parameters.matrix(tensor(HiddenWeights)), d_hidden, Some(d_x), d_w, d_b);
}
