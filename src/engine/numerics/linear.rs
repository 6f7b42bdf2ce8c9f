//! The affine map of a layer.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::Scalar;
use super::packed::Weights;
use super::params::{Parameters, TensorId};
use super::simd::{add, vectorized};

/// Computes `Y = X W + b`; an empty `b` means no bias.
///
/// # Shapes
/// `x` (N, in), `w` (in, out) plain or packed, `b` (out), `y` (N, out) row-major
///
/// # Panics
/// If the shapes do not fit.
pub fn linear_forward<'w, S: Scalar + 'w>(x: MatRef<'_, S>, w: impl Into<Weights<'w, S>>, b: &[S], y: &mut [S]) {
    let w = match w.into() {
        Weights::Plain(w) => w,
        Weights::Packed(w) => return w.multiply(x, b, y),
    };
    let (n, outputs) = (x.nrows(), w.ncols());
    assert_eq!(x.ncols(), w.nrows(), "linear: X {:?} by W {:?}", x.shape(), w.shape());
    assert_eq!(y.len(), n * outputs, "linear: {} entries for Y ({n}, {outputs})", y.len());
    let accum = if b.is_empty() {
        Accum::Replace
    } else {
        assert_eq!(b.len(), outputs, "linear: Y ({n}, {outputs}) + b ({})", b.len());
        vectorized!(y.chunks_exact_mut(outputs).for_each(|row| row.copy_from_slice(b)),);
        Accum::Add
    };
    matmul(MatMut::from_row_major_slice_mut(y, n, outputs), accum, x, w, S::one(), Par::Seq);
}

/// Adds the gradients of [`linear_forward`] to the given ones: `d_W += Xᵀ d_Y`, `d_b += Σ_n d_Y`, `d_X += d_Y Wᵀ`.
///
/// # Panics
/// If the shapes do not fit.
pub fn linear_backward<S: Scalar>(
    x: MatRef<'_, S>,
    w: MatRef<'_, S>,
    d_y: &[S],
    d_x: &mut [S],
    d_w: MatMut<'_, S>,
    d_b: &mut [S],
) {
    linear_backward_weights(x, d_y, d_w, d_b);
    linear_backward_input(w, d_y, d_x);
}

/// Computes `d_W += Xᵀ d_Y` and `d_b += Σ_n d_Y`; an empty `d_b` means no bias.
///
/// # Panics
/// If the shapes do not fit.
pub fn linear_backward_weights<S: Scalar>(x: MatRef<'_, S>, d_y: &[S], d_w: MatMut<'_, S>, d_b: &mut [S]) {
    let (n, outputs) = (x.nrows(), d_w.ncols());
    assert_eq!(d_y.len(), n * outputs, "linear backward: {} entries for d_Y ({n}, {outputs})", d_y.len());
    assert_eq!(x.ncols(), d_w.nrows(), "linear backward: X {:?} to d_W {:?}", x.shape(), d_w.shape());
    matmul(d_w, Accum::Add, x.transpose(), MatRef::from_row_major_slice(d_y, n, outputs), S::one(), Par::Seq);
    if !d_b.is_empty() {
        assert_eq!(d_b.len(), outputs, "linear backward: d_Y ({n}, {outputs}) to d_b ({})", d_b.len());
        vectorized!(d_y.chunks_exact(outputs).for_each(|row| add(d_b, row)));
    }
}

/// Computes `d_X += d_Y Wᵀ`.
///
/// # Panics
/// If the shapes do not fit.
pub fn linear_backward_input<S: Scalar>(w: MatRef<'_, S>, d_y: &[S], d_x: &mut [S]) {
    let (inputs, outputs) = (w.nrows(), w.ncols());
    let n = d_y.len() / outputs;
    assert_eq!(d_y.len(), n * outputs, "linear backward: {} entries for d_Y ({n}, {outputs})", d_y.len());
    assert_eq!(d_x.len(), n * inputs, "linear backward: {} entries for d_X ({n}, {inputs})", d_x.len());
    let d_x = MatMut::from_row_major_slice_mut(d_x, n, inputs);
    matmul(d_x, Accum::Add, MatRef::from_row_major_slice(d_y, n, outputs), w.transpose(), S::one(), Par::Seq);
}

/// Computes `Y = X W + b` with weights of a model and their bias, if it has one.
///
/// # Shapes
/// See [`linear_forward`].
///
/// # Panics
/// If the shapes do not fit, or the model does not have the weights.
pub fn affine_forward<S: Scalar>(
    parameters: &Parameters<S>,
    [weights, bias]: [TensorId; 2],
    x: MatRef<'_, S>,
    y: &mut [S],
) {
    linear_forward(x, parameters.weights(weights), parameters.values_of(bias), y);
}

/// Adds the gradients of [`affine_forward`] to the given ones.
///
/// # Panics
/// If the shapes do not fit, or the weights are packed.
pub fn affine_backward<S: Scalar>(
    parameters: &Parameters<S>,
    [weights, bias]: [TensorId; 2],
    x: MatRef<'_, S>,
    d_y: &[S],
    d_x: &mut [S],
    gradient: &mut Parameters<S>,
) {
    let (d_w, d_b) = gradient.matrix_and_row_mut(weights, bias);
    linear_backward(x, parameters.matrix(weights), d_y, d_x, d_w, d_b);
}
