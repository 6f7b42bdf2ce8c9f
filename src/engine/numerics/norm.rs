//! Norms of a vector: layer normalisation (Ba, Kiros & Hinton 2016, arXiv 1607.06450, Eq. 4) and RMSNorm (Zhang &
//! Sennrich 2019, arXiv 1910.07467, Eq. 4).
//!
//! ```text
//! layer   y = γ ⊙ (x − μ) / σ + β       μ = mean x,  σ = √(mean (x − μ)² + ε)
//! rms     y = γ ⊙ x / ρ                 ρ = √(mean x² + ε): no mean is subtracted
//! ```
//!
//! Gemma's files store `γ − 1` instead of `γ`. The names of the layer norm are used for both forms: in an RMSNorm `μ`
//! is 0 and `σ` is `ρ`.

use super::simd::{Plain, add, add_scaled, sum, vectorized};
use super::vectors::dot;
use super::{Matrix, Scalar};

/// Default `ε`, as in PyTorch. It keeps a row without variance finite.
pub const NORM_EPSILON: f64 = 1e-5;

/// The form of a norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormForm {
    pub kind: NormKind,
    /// Whether the learned numbers are `γ − 1`, so that 0 means a gain of 1.
    pub gain_from_one: bool,
    /// Whether there is a `β`.
    pub shift: bool,
    /// Summand `ε` of the variance, which keeps the division finite.
    pub epsilon: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// Subtraction of the mean, and division by the standard deviation.
    Layer,
    /// Division by the root of the mean square.
    Rms,
}

impl NormForm {
    /// A layer norm with `γ` and `β`.
    pub const LAYER: Self = Self::layer(NORM_EPSILON);

    pub const fn layer(epsilon: f64) -> Self {
        Self { kind: NormKind::Layer, gain_from_one: false, shift: true, epsilon }
    }

    /// Returns the form of an RMSNorm, which has `γ` only.
    pub const fn rms(epsilon: f64) -> Self {
        Self { kind: NormKind::Rms, gain_from_one: false, shift: false, epsilon }
    }

    /// Returns the number to add to the learned numbers to get `γ`.
    pub fn gain_offset<S: Scalar>(self) -> S {
        if self.gain_from_one { S::one() } else { S::zero() }
    }

    /// Returns `μ` of a row.
    #[inline(always)]
    fn mean<S: Scalar>(self, x: &[S], share: S) -> S {
        if self.kind == NormKind::Layer { sum(Plain, x) * share } else { S::zero() }
    }

    /// Replaces a term `t` by `factor · γ ⊙ (t − mean t)`, where only a layer norm subtracts the mean. With `factor = 1
    /// / σ` of a whole sum this is the norm of the sum as a linear map of each of its terms.
    #[inline(always)]
    pub fn carry<S: Scalar>(self, gain: &[S], factor: S, term: &mut [S]) {
        let (mean, offset) = (self.mean(term, S::one() / S::from_f64(term.len() as f64)), self.gain_offset::<S>());
        term.iter_mut().zip(gain).for_each(
            #[inline(always)]
            |(x, &gain)| *x = (offset + gain) * ((*x - mean) * factor),
        );
    }

    /// Applies the transpose of [`Self::carry`]: replaces `u` by `factor · (γ ⊙ u − mean(γ ⊙ u))`, where only a layer
    /// norm subtracts the mean.
    pub fn carry_back<S: Scalar>(self, gain: &[S], factor: S, u: &mut [S]) {
        let offset = self.gain_offset::<S>();
        u.iter_mut().zip(gain).for_each(|(u, &gain)| *u *= offset + gain);
        let mean = self.mean(u, S::one() / S::from_f64(u.len() as f64));
        u.iter_mut().for_each(|u| *u = (*u - mean) * factor);
    }
}

/// Values that the backward pass needs, allocated once for the largest batch.
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

/// Computes `y = γ ⊙ (x − μ) / σ + β` row by row.
///
/// # Shapes
/// `x`, `y` (N, D) row-major; `gain` γ (D); `shift` β (D), or empty if there is none
///
/// # Panics
/// If the shapes do not fit, or the cache has no room for them.
pub fn norm_forward<S: Scalar>(form: NormForm, x: &[S], affine: [&[S]; 2], cache: &mut NormCache<S>, y: &mut [S]) {
    assert_eq!(x.len(), y.len(), "norm: X and Y of {} and {} entries", x.len(), y.len());
    y.copy_from_slice(x);
    norm_in_place(form, affine, cache, y);
}

/// Computes [`norm_forward`] in place: `x` becomes `y`.
///
/// # Panics
/// If the shapes do not fit, or the cache has no room for them.
pub fn norm_in_place<S: Scalar>(form: NormForm, [gain, shift]: [&[S]; 2], cache: &mut NormCache<S>, x: &mut [S]) {
    let width = gain.len();
    assert!(x.len().is_multiple_of(width), "norm: X of {} entries in rows of {width}", x.len());
    assert!(shift.is_empty() != form.shift, "norm: β of {} entries", shift.len());
    assert!(shift.is_empty() || shift.len() == width, "norm: γ ({width}), β ({})", shift.len());
    let share = S::one() / S::from_f64(width as f64);
    let (epsilon, offset) = (S::from_f64(form.epsilon), form.gain_offset::<S>());
    vectorized!({
        for (row, x) in x.chunks_exact_mut(width).enumerate() {
            let standardised = cache.standardised.row_mut(row);
            let mean = form.mean(x, share);
            standardised.iter_mut().zip(&*x).for_each(|(to, &x)| *to = x - mean);
            let variance = dot(standardised, standardised) * share;
            let inverse = S::one() / (variance + epsilon).sqrt();
            standardised.iter_mut().for_each(|x| *x *= inverse);
            cache.inverse_deviation[row] = inverse;
            for ((y, &x), &gain) in x.iter_mut().zip(&*standardised).zip(gain) {
                *y = (offset + gain) * x;
            }
            if !shift.is_empty() {
                add(x, shift);
            }
        }
    },);
}

/// Computes [`norm_forward`] of rows (N, D), and keeps nothing for a backward pass.
///
/// # Panics
/// If the shapes do not fit.
pub fn normed<S: Scalar>(form: NormForm, affine: [&[S]; 2], mut x: Matrix<S>) -> Matrix<S> {
    norm_in_place(form, affine, &mut NormCache::new(x.rows(), x.cols()), x.flat_mut());
    x
}

/// Returns `1 / σ` of each row, as in [`norm_forward`].
pub fn inverse_deviations<S: Scalar>(form: NormForm, x: &Matrix<S>) -> Vec<S> {
    let (share, epsilon) = (S::one() / S::from_f64(x.cols() as f64), S::from_f64(form.epsilon));
    let mut centred = vec![S::zero(); x.cols()];
    let mut found = vec![S::zero(); x.rows()];
    vectorized!(for (row, inverse) in found.iter_mut().enumerate() {
        let x = x.row(row);
        let mean = form.mean(x, share);
        centred.iter_mut().zip(x).for_each(|(to, &x)| *to = x - mean);
        *inverse = S::one() / (dot(&centred, &centred) * share + epsilon).sqrt();
    });
    found
}

/// Computes the gradients of [`norm_forward`]. Those of `γ` and `β` are added; `d` holds `d_y` and becomes `d_x`.
///
/// With `g = γ ⊙ d_y`: `d_x = (g − mean(g) − x̂ mean(g ⊙ x̂)) / σ`, in an RMSNorm without `mean(g)`; `d_γ += Σ_n d_y ⊙
/// x̂`, `d_β += Σ_n d_y`.
///
/// # Shapes
/// `d` (N, D) row-major; `gain`, `d_gain` (D); `d_shift` (D), or empty if there is no `β`
///
/// # Panics
/// If the shapes do not fit.
pub fn norm_backward<S: Scalar>(
    form: NormForm,
    gain: &[S],
    cache: &NormCache<S>,
    d: &mut [S],
    [d_gain, d_shift]: [&mut [S]; 2],
) {
    let width = gain.len();
    assert!(d.len().is_multiple_of(width), "norm backward: d_Y of {} entries in rows of {width}", d.len());
    let (gains, shifts) = (d_gain.len(), d_shift.len());
    let wanted = (width, if form.shift { width } else { 0 });
    assert_eq!((gains, shifts), wanted, "norm backward: γ ({width}) to d_γ ({gains}), d_β ({shifts})");
    let (share, offset) = (S::one() / S::from_f64(width as f64), form.gain_offset::<S>());
    vectorized!({
        for (row, d) in d.chunks_exact_mut(width).enumerate() {
            let standardised = cache.standardised.row(row);
            if !d_shift.is_empty() {
                add_scaled(d_shift, S::one(), d);
            }
            for ((d_gain, &d), &x) in d_gain.iter_mut().zip(&*d).zip(standardised) {
                *d_gain += d * x;
            }
            d.iter_mut().zip(gain).for_each(|(d, &gain)| *d *= offset + gain);
            let (mean, along) = (form.mean(d, share), dot(d, standardised) * share);
            let inverse = cache.inverse_deviation[row];
            for (d, &x) in d.iter_mut().zip(standardised) {
                *d = (*d - mean - x * along) * inverse;
            }
        }
    },);
}
