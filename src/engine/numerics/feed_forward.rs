//! The position-wise feed-forward layer (Vaswani et al. 2017, Eq. 2): `F = φ(X W_1 + b_1) W_2 + b_2`, there with
//! `φ(x) = max(0, x)`; see [`Activation`].

use faer::MatRef;

use super::activation::Activation;
use super::linear::{linear_backward, linear_forward};
use super::params::{Parameters, TensorName};
use super::{Matrix, Scalar};

/// Values that the backward needs. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct FeedForwardCache<S> {
    activation: Activation,
    /// `X W_1 + b_1` (N, hidden)
    summed: Matrix<S>,
    /// `φ(X W_1 + b_1)` (N, hidden)
    pub hidden: Matrix<S>,
    d_hidden: Matrix<S>,
}

impl<S: Scalar> FeedForwardCache<S> {
    pub fn new(activation: Activation, rows: usize, hidden: usize) -> Self {
        let matrix = || Matrix::zeros(rows, hidden);
        Self { activation, summed: matrix(), hidden: matrix(), d_hidden: matrix() }
    }
}

/// `F = φ(X W_1 + b_1) W_2 + b_2`
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
    let summed = cache.summed.top_flat_mut(x.nrows());
    linear_forward(x, p.weights(tensor(HiddenWeights)), p.values_of(tensor(HiddenBias)), summed);
    let hidden = cache.hidden.top_flat_mut(x.nrows());
    cache.activation.apply(summed, hidden);
    let hidden = cache.hidden.top(x.nrows());
    linear_forward(hidden, p.weights(tensor(ForwardWeights)), p.values_of(tensor(ForwardBias)), y);
}

/// Gradients of [`feed_forward_forward`], added to what is there. With `Z = X W_1 + b_1`:
/// `d_W_2 += φ(Z)ᵀ d_Y`, `d_Z = φ'(Z) ⊙ d_Y W_2ᵀ`, `d_W_1 += Xᵀ d_Z`, `d_X += d_Z W_1ᵀ`, and the biases the sums
/// of rows.
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
    let FeedForwardCache { activation, summed, hidden, d_hidden } = cache;
    let d_hidden = d_hidden.top_flat_mut(n);
    d_hidden.fill(S::zero());
    let (d_w, d_b) = gradient.matrix_and_row_mut(tensor(ForwardWeights), tensor(ForwardBias));
    let w = parameters.matrix(tensor(ForwardWeights));
    linear_backward(hidden.top(n), w, d_y, Some(&mut *d_hidden), d_w, d_b);
    activation.backward(summed.top_flat(n), d_hidden);
    let (d_w, d_b) = gradient.matrix_and_row_mut(tensor(HiddenWeights), tensor(HiddenBias));
    linear_backward(x, parameters.matrix(tensor(HiddenWeights)), d_hidden, Some(d_x), d_w, d_b);
}
