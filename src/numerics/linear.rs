//! The affine map of a layer.

use faer::linalg::matmul::matmul;
use faer::prelude::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};

use super::Scalar;

/// `Y = X W + b`; an empty `b` stands for none.
///
/// # Shapes
/// `x` (N, in), `w` (in, out), `b` (out), `y` (N, out)
pub fn linear_forward<S: Scalar>(x: MatRef<'_, S>, w: MatRef<'_, S>, b: &[S], mut y: MatMut<'_, S>) {
    matmul(y.as_mut(), Accum::Replace, x, w, S::one(), Par::Seq);
    if !b.is_empty() {
        add_bias(y, b);
    }
}

/// Gradients of [`linear_forward`], added to what is there: `d_W += Xᵀ d_Y`, `d_b += Σ_n d_Y`,
/// `d_X += d_Y Wᵀ`.
pub fn linear_backward<S: Scalar>(
    x: MatRef<'_, S>,
    w: MatRef<'_, S>,
    d_y: MatRef<'_, S>,
    d_x: Option<MatMut<'_, S>>,
    d_w: MatMut<'_, S>,
    d_b: &mut [S],
) {
    matmul(d_w, Accum::Add, x.transpose(), d_y, S::one(), Par::Seq);
    if !d_b.is_empty() {
        add_column_sums(d_y, d_b);
    }
    if let Some(d_x) = d_x {
        matmul(d_x, Accum::Add, d_y, w.transpose(), S::one(), Par::Seq);
    }
}

fn add_bias<S: Scalar>(mut y: MatMut<'_, S>, b: &[S]) {
    assert_eq!(y.ncols(), b.len(), "bias: ({}, {}) + ({})", y.nrows(), y.ncols(), b.len());
    for i in 0..y.nrows() {
        for (y, &b) in y.rb_mut().row_mut(i).iter_mut().zip(b) {
            *y += b;
        }
    }
}

fn add_column_sums<S: Scalar>(d_y: MatRef<'_, S>, d_b: &mut [S]) {
    assert_eq!(d_y.ncols(), d_b.len(), "bias gradient: ({}, {}) to ({})", d_y.nrows(), d_y.ncols(), d_b.len());
    for i in 0..d_y.nrows() {
        for (d_b, &d_y) in d_b.iter_mut().zip(d_y.row(i).iter()) {
            *d_b += d_y;
        }
    }
}
