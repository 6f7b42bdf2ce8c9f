//! Layer normalisation (Ba, Kiros & Hinton 2016, arXiv 1607.06450, Eq. 4).

use super::simd::{Plain, add_scaled, sum, vectorized};
use super::vectors::dot;
use super::{Matrix, Scalar};

/// `ε` where nothing else is said: PyTorch's value. It keeps a row without variance finite.
pub const NORM_EPSILON: f64 = 1e-5;

/// Values that the backward needs. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct NormCache<S> {
    /// `x̂ = (x − μ) / σ` (N, D)
    pub standardised: Matrix<S>,
    /// `1 / σ` (N)
    pub inverse_deviation: Vec<S>,
}

impl<S: Scalar> NormCache<S> {
    pub fn new(rows: usize, width: usize) -> Self {
        Self { standardised: Matrix::zeros(rows, width), inverse_deviation: vec![S::zero(); rows] }
    }
}

/// By rows: `y = γ ⊙ (x − μ) / σ + β`, with `μ` the row's mean and `σ = √(variance + ε)`.
///
/// # Shapes
/// `x`, `y` (N, D) row-major; `gain` γ and `bias` β (D)
///
/// # Panics
/// If the shapes do not fit, or the cache has no room for them.
pub fn norm_forward<S: Scalar>(x: &[S], [gain, bias]: [&[S]; 2], epsilon: f64, cache: &mut NormCache<S>, y: &mut [S]) {
    let width = gain.len();
    assert!(x.len().is_multiple_of(width), "norm: X of {} entries in rows of {width}", x.len());
    assert_eq!(x.len(), y.len(), "norm: X and Y of {} and {} entries", x.len(), y.len());
    assert_eq!(bias.len(), width, "norm: γ ({width}), β ({})", bias.len());
    let share = S::one() / S::from_f64(width as f64);
    let epsilon = S::from_f64(epsilon);
    vectorized!({
        for (row, (x, y)) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)).enumerate() {
            let standardised = cache.standardised.row_mut(row);
            let mean = sum(Plain, x) * share;
            standardised.iter_mut().zip(x).for_each(|(to, &x)| *to = x - mean);
            let variance = dot(standardised, standardised) * share;
            let inverse = S::one() / (variance + epsilon).sqrt();
            standardised.iter_mut().for_each(|x| *x *= inverse);
            cache.inverse_deviation[row] = inverse;
            for (((y, &x), &gain), &bias) in y.iter_mut().zip(&*standardised).zip(gain).zip(bias) {
                *y = gain * x + bias;
            }
        }
    },);
}

/// `1 / σ` of each row, as [`norm_forward`] has it.
pub fn inverse_deviations<S: Scalar>(x: &Matrix<S>, epsilon: f64) -> Vec<S> {
    let (share, epsilon) = (S::one() / S::from_f64(x.cols() as f64), S::from_f64(epsilon));
    let mut centred = vec![S::zero(); x.cols()];
    let mut found = vec![S::zero(); x.rows()];
    vectorized!(for (row, inverse) in found.iter_mut().enumerate() {
        let x = x.row(row);
        let mean = sum(Plain, x) * share;
        centred.iter_mut().zip(x).for_each(|(to, &x)| *to = x - mean);
        *inverse = S::one() / (dot(&centred, &centred) * share + epsilon).sqrt();
    });
    found
}

/// Gradients of [`norm_forward`]: those of `γ` and `β` are added; `d` holds `d_y` and becomes `d_x`.
///
/// With `g = γ ⊙ d_y`: `d_x = (g − mean(g) − x̂ mean(g ⊙ x̂)) / σ`,
/// `d_γ += Σ_n d_y ⊙ x̂`, `d_β += Σ_n d_y`
///
/// # Shapes
/// `d` (N, D) row-major; `gain`, `d_gain`, `d_bias` (D)
///
/// # Panics
/// If the shapes do not fit.
pub fn norm_backward<S: Scalar>(gain: &[S], cache: &NormCache<S>, d: &mut [S], d_gain: &mut [S], d_bias: &mut [S]) {
    let width = gain.len();
    assert!(d.len().is_multiple_of(width), "norm backward: d_Y of {} entries in rows of {width}", d.len());
    let (gains, biases) = (d_gain.len(), d_bias.len());
    assert_eq!((gains, biases), (width, width), "norm backward: γ ({width}) to d_γ ({gains}), d_β ({biases})");
    let share = S::one() / S::from_f64(width as f64);
    vectorized!({
        for (row, d) in d.chunks_exact_mut(width).enumerate() {
            let standardised = cache.standardised.row(row);
            add_scaled(d_bias, S::one(), d);
            for ((d_gain, &d), &x) in d_gain.iter_mut().zip(&*d).zip(standardised) {
                *d_gain += d * x;
            }
            d.iter_mut().zip(gain).for_each(|(d, &gain)| *d *= gain);
            let (mean, along) = (sum(Plain, d) * share, dot(d, standardised) * share);
            let inverse = cache.inverse_deviation[row];
            for (d, &x) in d.iter_mut().zip(standardised) {
                *d = (*d - mean - x * along) * inverse;
            }
        }
    },);
}
