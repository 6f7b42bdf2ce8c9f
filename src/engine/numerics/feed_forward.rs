//! The position-wise feed-forward layer (Vaswani et al. 2017, Eq. 2): `F = φ(X W_1 + b_1) W_2 + b_2`, in that paper
//! with `φ(x) = max(0, x)`; see [`Activation`]. With a gate, `F = (φ(X W_g + b_g) ⊙ (X W_1 + b_1)) W_2 + b_2` (Shazeer
//! 2020, *GLU Variants Improve Transformer*, arXiv 2002.05202, section 2).

use faer::MatRef;

use super::activation::Activation;
use super::linear::{affine_backward, affine_forward};
use super::params::pairs::{FORWARD, GATE, HIDDEN};
use super::params::{Parameters, TensorId};
use super::simd::vectorized;
use super::{Matrix, Scalar};

/// Values that the backward pass needs, allocated once for the largest batch.
#[derive(Clone, Debug)]
pub struct FeedForwardCache<S> {
    activation: Activation,
    /// `X W_1 + b_1` (N, hidden)
    summed: Matrix<S>,
    /// `φ(X W_1 + b_1)`, or `φ(X W_g + b_g) ⊙ (X W_1 + b_1)` with a gate (N, hidden)
    pub hidden: Matrix<S>,
    d_hidden: Matrix<S>,
    gate: Option<GateCache<S>>,
}

#[derive(Clone, Debug)]
struct GateCache<S> {
    /// `X W_g + b_g` (N, hidden)
    summed: Matrix<S>,
    /// `φ(X W_g + b_g)` (N, hidden)
    opened: Matrix<S>,
    d_summed: Matrix<S>,
}

impl<S: Scalar> FeedForwardCache<S> {
    /// Allocates the values of `rows` tokens, and the gradients of `gradients` tokens.
    pub fn new(activation: Activation, gated: bool, [rows, gradients]: [usize; 2], hidden: usize) -> Self {
        let matrix = || Matrix::zeros(rows, hidden);
        let gradient = || Matrix::zeros(gradients, hidden);
        let gate = gated.then(|| GateCache { summed: matrix(), opened: matrix(), d_summed: gradient() });
        Self { activation, summed: matrix(), hidden: matrix(), d_hidden: gradient(), gate }
    }
}

/// Computes `F = φ(X W_1 + b_1) W_2 + b_2`, or the gated form of the module's equation.
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
    let summed = cache.summed.top_flat_mut(x.nrows());
    affine_forward(parameters, TensorId::pair(HIDDEN, block), x, summed);
    let hidden = cache.hidden.top_flat_mut(x.nrows());
    match &mut cache.gate {
        Some(GateCache { summed: of_gate, opened, .. }) => {
            let (of_gate, opened) = (of_gate.top_flat_mut(x.nrows()), opened.top_flat_mut(x.nrows()));
            affine_forward(parameters, TensorId::pair(GATE, block), x, of_gate);
            cache.activation.apply(of_gate, opened);
            vectorized!(for ((to, &gate), &x) in hidden.iter_mut().zip(&*opened).zip(&*summed) {
                *to = gate * x;
            });
        }
        None => cache.activation.apply(summed, hidden),
    }
    affine_forward(parameters, TensorId::pair(FORWARD, block), cache.hidden.top(x.nrows()), y);
}

/// Adds the gradients of [`feed_forward_forward`] to the given ones. With `Z = X W_1 + b_1`: `d_W_2 += φ(Z)ᵀ d_Y`, `d_Z
/// = φ'(Z) ⊙ d_Y W_2ᵀ`, `d_W_1 += Xᵀ d_Z`, `d_X += d_Z W_1ᵀ`; the gradients of the biases are the sums over rows. With
/// a gate and `G = X W_g + b_g`: `d_Z = φ(G) ⊙ d_Y W_2ᵀ`, `d_G = φ'(G) ⊙ Z ⊙ d_Y W_2ᵀ`, and the gate's tensors are
/// treated like `W_1` and `b_1`.
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
    let n = x.nrows();
    let FeedForwardCache { activation, summed, hidden, d_hidden, gate } = cache;
    let d_hidden = d_hidden.top_flat_mut(n);
    d_hidden.fill(S::zero());
    affine_backward(parameters, TensorId::pair(FORWARD, block), hidden.top(n), d_y, d_hidden, gradient);
    match gate {
        Some(GateCache { summed: of_gate, opened, d_summed }) => {
            let d_gate = d_summed.top_flat_mut(n);
            let entries = d_gate.iter_mut().zip(&mut *d_hidden).zip(opened.top_flat(n)).zip(summed.top_flat(n));
            vectorized!(for (((d_gate, d), &gate), &x) in entries {
                (*d_gate, *d) = (*d * x, *d * gate);
            });
            activation.backward(of_gate.top_flat(n), d_gate);
            affine_backward(parameters, TensorId::pair(GATE, block), x, d_gate, d_x, gradient);
        }
        None => activation.backward(summed.top_flat(n), d_hidden),
    }
    affine_backward(parameters, TensorId::pair(HIDDEN, block), x, d_hidden, d_x, gradient);
}
