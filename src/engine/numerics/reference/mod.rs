//! The mathematics of models and of word2vec as the papers write it: plain loops, one sentence at a time, without
//! regard to speed. **Read this first.** The engine computes the same numbers faster, and `tests/numerics` compares its
//! fast functions with these, forward and backward. The code is in `src` because tests of several crates use it.
//!
//! From the top down:
//!
//! 1. this file: products, affine maps, the norm and the feed-forward layer, which work on each row separately;
//! 2. [`attention`]: the softmax, one head, and all heads;
//! 3. [`block`]: attention and feed-forward layer with residuals and norms;
//! 4. [`model`]: from words to a loss, and the gradient of every parameter;
//! 5. [`word2vec`]: the static vectors that a model starts from.
//!
//! # How to read it
//!
//! Rows are tokens. A function is named after what it computes and returns. `x_backward` takes the arguments of `x` and
//! `d_y`, the gradient of the loss with respect to the result of `x`, and returns the gradients with respect to the
//! arguments. It computes the values of the forward pass that it needs again. Gradients of parameters are added to
//! those in `gradient`, because a tensor may be used many times. Everything is generic over the [`Scalar`]: `f64` as a
//! definition, `f32` to round as the engine does.
//!
//! ```
//! use attune_engine::numerics::Matrix;
//! use attune_engine::numerics::reference::product;
//!
//! let a = Matrix::from_row_major(1, 2, vec![3.0, 4.0]);
//! let b = Matrix::from_row_major(2, 2, vec![1.0, 0.0, 0.5, 2.0]);
//! assert_eq!(product(&a, &b).flat(), [5.0, 8.0]);
//! ```

pub mod attention;
pub mod block;
pub mod model;
pub mod word2vec;

use std::f64::consts::PI;

use super::activation::Activation;
use super::block::BlockConfig;
use super::norm::{NormForm, NormKind};
use super::params::pairs::{FORWARD, GATE, HIDDEN};
use super::params::{Learned, Parameters, TensorId};
use super::{Matrix, Scalar};

/// A block with its tensors.
pub type Block<'a, S> = Learned<'a, BlockConfig, S>;

/// Computes `a · b = Σ_k a_k b_k`.
///
/// # Panics
/// If the numbers of entries differ.
pub fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    assert_eq!(a.len(), b.len(), "dot: {} and {} entries", a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| a * b).sum()
}

/// Computes `A B`, `(A B)_ij = Σ_k a_ik b_kj`.
///
/// # Shapes
/// `a` (N, K), `b` (K, M) to (N, M)
///
/// # Panics
/// If the inner widths differ.
pub fn product<S: Scalar>(a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    assert_eq!(a.cols(), b.rows(), "product: {} columns with {} rows", a.cols(), b.rows());
    Matrix::from_fn(a.rows(), b.cols(), |i, j| (0..a.cols()).map(|k| a.get(i, k) * b.get(k, j)).sum())
}

/// Computes `Aᵀ`.
pub fn transposed<S: Scalar>(a: &Matrix<S>) -> Matrix<S> {
    Matrix::from_fn(a.cols(), a.rows(), |i, j| a.get(j, i))
}

/// Computes `A + B`.
///
/// # Panics
/// If the shapes differ.
pub fn sum<S: Scalar>(a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()), "sum: two shapes");
    Matrix::from_fn(a.rows(), a.cols(), |i, j| a.get(i, j) + b.get(i, j))
}

/// Returns a tensor of the model, or `None` if the model does not have it.
pub fn tensor<S: Scalar>(parameters: &Parameters<S>, id: impl Into<TensorId>) -> Option<Matrix<S>> {
    let spec = parameters.spec(id)?;
    Some(Matrix::from_row_major(spec.rows, spec.cols, parameters.values_of(spec.id).to_vec()))
}

/// Adds to the gradient of a tensor; does nothing if the model does not have it.
fn add_to<S: Scalar>(gradient: &mut Parameters<S>, id: TensorId, d: &Matrix<S>) {
    for (to, &d) in gradient.values_of_mut(id).iter_mut().zip(d.flat()) {
        *to += d;
    }
}

/// Computes `Σ_n d_n`, the gradient of a row that is added to every row.
fn sum_of_rows<S: Scalar>(d: &Matrix<S>) -> Matrix<S> {
    Matrix::from_fn(1, d.cols(), |_, j| (0..d.rows()).map(|i| d.get(i, j)).sum())
}

/// Computes `Y = X W + b` with the model's tensors `W` and `b`; without `W` it is `X` itself, without `b` it is `X W`.
///
/// # Shapes
/// `x` (N, D), `W` (D, M), `b` (1, M) to (N, M)
///
/// # Panics
/// If `x` is not as wide as `W` has rows.
pub fn affine<S: Scalar>(parameters: &Parameters<S>, [weights, bias]: [TensorId; 2], x: &Matrix<S>) -> Matrix<S> {
    let Some(w) = tensor(parameters, weights) else { return x.clone() };
    let y = product(x, &w);
    match tensor(parameters, bias) {
        Some(b) => Matrix::from_fn(y.rows(), y.cols(), |i, j| y.get(i, j) + b.get(0, j)),
        None => y,
    }
}

/// Computes `d_X = d_Y Wᵀ`, `d_W += Xᵀ d_Y`, `d_b += Σ_n d_Y_n`.
///
/// # Shapes
/// `x` (N, D), `d_y` (N, M) to (N, D)
///
/// # Panics
/// If the shapes do not fit.
pub fn affine_backward<S: Scalar>(
    parameters: &Parameters<S>,
    [weights, bias]: [TensorId; 2],
    x: &Matrix<S>,
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> Matrix<S> {
    let Some(w) = tensor(parameters, weights) else { return d_y.clone() };
    add_to(gradient, weights, &product(&transposed(x), d_y));
    add_to(gradient, bias, &sum_of_rows(d_y));
    product(d_y, &transposed(&w))
}

/// Computes `x̂ = (x − μ) / σ` by rows, and each row's `σ`, with `σ² = 1/D Σ_j (x_j − μ)² + ε`; in an RMSNorm `μ` is 0.
fn standardised<S: Scalar>(form: NormForm, x: &Matrix<S>) -> (Matrix<S>, Vec<S>) {
    let width = S::from_f64(x.cols() as f64);
    let mean_of = |row: &[S]| match form.kind {
        NormKind::Layer => row.iter().copied().sum::<S>() / width,
        NormKind::Rms => S::zero(),
    };
    let mean: Vec<S> = (0..x.rows()).map(|i| mean_of(x.row(i))).collect();
    let centred = Matrix::from_fn(x.rows(), x.cols(), |i, j| x.get(i, j) - mean[i]);
    let variance = |i: usize| dot(centred.row(i), centred.row(i)) / width;
    let deviation: Vec<S> = (0..x.rows()).map(|i| (variance(i) + S::from_f64(form.epsilon)).sqrt()).collect();
    (Matrix::from_fn(x.rows(), x.cols(), |i, j| centred.get(i, j) / deviation[i]), deviation)
}

/// Computes the layer normalisation (Ba, Kiros & Hinton 2016, arXiv 1607.06450, Eq. 4), `Y = γ ⊙ (X − μ) / σ + β` by
/// rows. An RMSNorm (Zhang & Sennrich 2019, arXiv 1910.07467, Eq. 4) has no `μ`, and `β` may be left out.
///
/// # Shapes
/// `x` (N, D), `γ` and `β` (1, D) to (N, D)
///
/// # Panics
/// If the model does not have `γ`, or its width differs.
///
/// ```
/// use attune_engine::numerics::Matrix;
/// use attune_engine::numerics::norm::NormForm;
/// use attune_engine::numerics::params::{Parameters, TensorName};
/// use attune_engine::numerics::reference::norm;
///
/// let ids = [TensorName::AttentionNormGain.of_block(0), TensorName::AttentionNormBias.of_block(0)];
/// let mut parameters = Parameters::<f64>::zeros(&ids.map(|id| (id, 1, 2)));
/// parameters.values_of_mut(ids[0]).fill(10.0);
/// let y = norm(&parameters, ids, NormForm::LAYER, &Matrix::from_row_major(1, 2, vec![7.0, 3.0]));
/// assert!((y.get(0, 0) - 10.0).abs() < 1e-4 && (y.get(0, 1) + 10.0).abs() < 1e-4);
/// ```
pub fn norm<S: Scalar>(
    parameters: &Parameters<S>,
    [gain, bias]: [TensorId; 2],
    form: NormForm,
    x: &Matrix<S>,
) -> Matrix<S> {
    let (gain, bias) = (gain_of(form, parameters, gain), parameters.values_of(bias));
    assert_eq!(gain.len(), x.cols(), "norm: γ for a width of {}", x.cols());
    let (standard, _) = standardised(form, x);
    let shift = |j: usize| if form.shift { bias[j] } else { S::zero() };
    Matrix::from_fn(x.rows(), x.cols(), |i, j| gain[j] * standard.get(i, j) + shift(j))
}

/// Returns `γ` of a norm; some files store `γ − 1`.
fn gain_of<S: Scalar>(form: NormForm, parameters: &Parameters<S>, gain: TensorId) -> Vec<S> {
    let offset = if form.gain_from_one { S::one() } else { S::zero() };
    parameters.values_of(gain).iter().map(|&learned| offset + learned).collect()
}

/// Computes the gradients of [`norm`]. With `g = γ ⊙ d_Y`: `d_X = (g − mean(g) − x̂ mean(g ⊙ x̂)) / σ` by rows, `d_γ +=
/// Σ_n d_Y ⊙ x̂`, `d_β += Σ_n d_Y`.
///
/// The first mean is there because `μ` depends on `x`, so an RMSNorm does not have it; the second because `σ` does.
///
/// # Shapes
/// `x`, `d_y` (N, D) to (N, D)
///
/// # Panics
/// If the shapes do not fit.
pub fn norm_backward<S: Scalar>(
    parameters: &Parameters<S>,
    [gain, bias]: [TensorId; 2],
    form: NormForm,
    x: &Matrix<S>,
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> Matrix<S> {
    let (standard, deviation) = standardised(form, x);
    let along = Matrix::from_fn(x.rows(), x.cols(), |i, j| d_y.get(i, j) * standard.get(i, j));
    add_to(gradient, gain, &sum_of_rows(&along));
    if form.shift {
        add_to(gradient, bias, &sum_of_rows(d_y));
    }

    let (gain, width) = (gain_of(form, parameters, gain), S::from_f64(x.cols() as f64));
    let g = Matrix::from_fn(x.rows(), x.cols(), |i, j| gain[j] * d_y.get(i, j));
    let mean = |i: usize| match form.kind {
        NormKind::Layer => g.row(i).iter().copied().sum::<S>() / width,
        NormKind::Rms => S::zero(),
    };
    let mean_along = |i: usize| dot(g.row(i), standard.row(i)) / width;
    Matrix::from_fn(x.rows(), x.cols(), |i, j| {
        (g.get(i, j) - mean(i) - standard.get(i, j) * mean_along(i)) / deviation[i]
    })
}

/// Returns `φ(x)` of a unit and its slope `φ'(x)`, by the formulas of [`Activation`].
fn activated<S: Scalar>(activation: Activation, x: S) -> (S, S) {
    let of = S::from_f64;
    match activation {
        Activation::Relu => (S::zero().max(x), if x > S::zero() { S::one() } else { S::zero() }),
        Activation::Gelu => {
            let share = of(0.5) * (S::one() + (x / of(2.0).sqrt()).erf());
            let density = (-x * x / of(2.0)).exp() / of(2.0 * PI).sqrt();
            (x * share, share + x * density)
        }
        Activation::GeluTanh => {
            let u = of((2.0 / PI).sqrt()) * (x + of(0.044_715) * x * x * x);
            let d_u = of((2.0 / PI).sqrt()) * (S::one() + of(3.0 * 0.044_715) * x * x);
            let t = S::one() - of(2.0) / (S::one() + (of(2.0) * u).exp());
            let (share, d_t) = (of(0.5) * (S::one() + t), S::one() - t * t);
            (x * share, share + of(0.5) * x * d_t * d_u)
        }
        Activation::Silu => {
            let share = S::one() / (S::one() + (-x).exp());
            (x * share, share * (S::one() + x * (S::one() - share)))
        }
    }
}

/// Computes `φ(x)` of every entry.
fn activations<S: Scalar>(activation: Activation, x: &Matrix<S>) -> Matrix<S> {
    Matrix::from_fn(x.rows(), x.cols(), |i, j| activated(activation, x.get(i, j)).0)
}

/// Computes `φ'(x) d` of every entry.
fn activations_backward<S: Scalar>(activation: Activation, x: &Matrix<S>, d: &Matrix<S>) -> Matrix<S> {
    Matrix::from_fn(x.rows(), x.cols(), |i, j| activated(activation, x.get(i, j)).1 * d.get(i, j))
}

/// Computes `A ⊙ B`, entry by entry.
fn entrywise<S: Scalar>(a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    Matrix::from_fn(a.rows(), a.cols(), |i, j| a.get(i, j) * b.get(i, j))
}

/// Computes the feed-forward layer (Vaswani et al. 2017, Eq. 2), `F(X) = φ(X W_1 + b_1) W_2 + b_2`; with a gate
/// (Shazeer 2020, arXiv 2002.05202, section 2) `F(X) = (φ(X W_g + b_g) ⊙ (X W_1 + b_1)) W_2 + b_2`.
///
/// # Shapes
/// `x` (N, D) to (N, D)
///
/// # Panics
/// If the shapes do not fit.
pub fn feed_forward<S: Scalar>(block: Block<'_, S>, x: &Matrix<S>) -> Matrix<S> {
    let (parameters, activation) = (block.parameters, block.config.activation);
    let [first, gate, second] = [HIDDEN, GATE, FORWARD].map(|pair| TensorId::pair(pair, block.number));
    let summed = affine(parameters, first, x);
    let hidden = match tensor(parameters, gate[0]) {
        Some(_) => entrywise(&activations(activation, &affine(parameters, gate, x)), &summed),
        None => activations(activation, &summed),
    };
    affine(parameters, second, &hidden)
}

/// Computes the gradients of the affine maps and of the units between them. With a gate, `G = X W_g + b_g` and `Z = X
/// W_1 + b_1`: `d_Z = φ(G) ⊙ d_H` and `d_G = φ'(G) ⊙ Z ⊙ d_H`.
///
/// # Shapes
/// `x`, `d_y` (N, D) to (N, D)
///
/// # Panics
/// If the shapes do not fit.
pub fn feed_forward_backward<S: Scalar>(
    block: Block<'_, S>,
    x: &Matrix<S>,
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> Matrix<S> {
    let (parameters, activation) = (block.parameters, block.config.activation);
    let [first, gate_ids, second] = [HIDDEN, GATE, FORWARD].map(|pair| TensorId::pair(pair, block.number));
    let summed = affine(parameters, first, x);
    if tensor(parameters, gate_ids[0]).is_none() {
        let d_hidden = affine_backward(parameters, second, &activations(activation, &summed), d_y, gradient);
        return affine_backward(parameters, first, x, &activations_backward(activation, &summed, &d_hidden), gradient);
    }
    let gate = affine(parameters, gate_ids, x);
    let opened = activations(activation, &gate);
    let d_hidden = affine_backward(parameters, second, &entrywise(&opened, &summed), d_y, gradient);
    let d_gate = activations_backward(activation, &gate, &entrywise(&summed, &d_hidden));
    let d_of_gate = affine_backward(parameters, gate_ids, x, &d_gate, gradient);
    sum(&d_of_gate, &affine_backward(parameters, first, x, &entrywise(&opened, &d_hidden), gradient))
}

/// Computes `c tanh(z / c)` of every entry if there is a bound `c` (Gemma 2: arXiv 2408.00118, section 2).
fn held_below<S: Scalar>(cap: Option<f64>, z: &[S]) -> Vec<S> {
    let held = |z: S, cap: S| cap * (z / cap).tanh();
    z.iter().map(|&z| cap.map_or(z, |cap| held(z, S::from_f64(cap)))).collect()
}

/// Returns the slope of [`held_below`] where its value is `y`: `1 − (y / c)²`.
fn held_below_slope<S: Scalar>(cap: Option<f64>, y: S) -> S {
    cap.map_or(S::one(), |cap| S::one() - (y / S::from_f64(cap)) * (y / S::from_f64(cap)))
}
