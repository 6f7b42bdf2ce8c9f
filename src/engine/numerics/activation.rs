//! Activation functions, which a hidden unit applies to its sum.
//!
//! ```text
//! ReLU          φ(x) = max(0, x)
//! GELU          φ(x) = x Φ(x) = ½ x (1 + erf(x / √2))
//! GELU, tanh    φ(x) = ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))
//! SiLU          φ(x) = x σ(x) = x / (1 + e^(−x))
//! ```
//!
//! GELU and SiLU are from Hendrycks & Gimpel 2016, arXiv 1606.08415, section 2. BERT uses the first form of GELU, GPT-2
//! the tanh form, and Llama SiLU.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::numerics::Scalar;
use crate::numerics::exp::exp_f32;
use crate::numerics::simd::vectorized;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    Relu,
    Gelu,
    /// GELU with `½ (1 + tanh u)` in place of the normal distribution function.
    GeluTanh,
    /// The sigmoid-weighted linear unit, also called *Swish*.
    Silu,
}

/// Coefficient of `x³` in the tanh form.
const CUBIC: f64 = 0.044_715;

impl Activation {
    pub const ALL: [Self; 4] = [Self::Relu, Self::Gelu, Self::GeluTanh, Self::Silu];

    /// Computes `y = φ(x)` entry by entry. NaN stays NaN, so that a diverged weight does not look like an inactive
    /// unit.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn apply<S: Scalar>(self, x: &[S], y: &mut [S]) {
        assert_eq!(x.len(), y.len(), "activation: {} entries of x, {} of y", x.len(), y.len());
        match self {
            // These are loops and not `for_each`, whose closure would be compiled without the processor's vector
            // instructions.
            Self::Relu => vectorized!(for (y, &x) in y.iter_mut().zip(x) {
                *y = if x < S::zero() { S::zero() } else { x };
            }),
            Self::Gelu => vectorized!(for (y, &x) in y.iter_mut().zip(x) {
                *y = x * normal_share(x);
            }),
            Self::GeluTanh => vectorized!(for (y, &x) in y.iter_mut().zip(x) {
                *y = x * tanh_share(x);
            }),
            Self::Silu => vectorized!(for (y, &x) in y.iter_mut().zip(x) {
                *y = x * sigmoid(x);
            }),
        }
    }

    /// Computes the gradient of [`Self::apply`] in place: `d` holds the gradient of `φ(x)` and becomes that of `x`.
    ///
    /// `φ'(x)` is 1 above 0 (ReLU); `Φ(x) + x e^(−x²/2) / √(2π)` (GELU); `½ (1 + t) + ½ x (1 − t²) u'(x)` with `t =
    /// tanh(u(x))` (GELU, tanh); `σ(x) (1 + x (1 − σ(x)))` (SiLU).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn backward<S: Scalar>(self, x: &[S], d: &mut [S]) {
        assert_eq!(x.len(), d.len(), "activation backward: {} entries of x, {} of d", x.len(), d.len());
        let [half, density, slope, cubic] =
            [0.5, 1.0 / (2.0 * PI).sqrt(), (2.0 / PI).sqrt(), 3.0 * CUBIC].map(S::from_f64);
        let one = S::one();
        match self {
            Self::Relu => vectorized!(for (d, &x) in d.iter_mut().zip(x) {
                *d = if x <= S::zero() { S::zero() } else { *d };
            }),
            Self::Gelu => vectorized!(for (d, &x) in d.iter_mut().zip(x) {
                *d *= normal_share(x) + x * density * (-half * x * x).exp();
            }),
            Self::GeluTanh => vectorized!(for (d, &x) in d.iter_mut().zip(x) {
                let share = tanh_share(x);
                let t = share + share - one;
                *d *= share + half * x * (one - t * t) * slope * (one + cubic * x * x);
            }),
            Self::Silu => vectorized!(for (d, &x) in d.iter_mut().zip(x) {
                let share = sigmoid(x);
                *d *= share * (one + x * (one - share));
            }),
        }
    }
}

/// Computes `Φ(x) = ½ (1 + erf(x / √2))`.
#[inline(always)]
fn normal_share<S: Scalar>(x: S) -> S {
    S::from_f64(0.5) * (S::one() + (x * S::from_f64(FRAC_1_SQRT_2)).erf())
}

/// Computes `½ (1 + tanh u) = 1 / (1 + e^(−2u))` with `u = √(2/π) (x + 0.044715 x³)`.
#[inline(always)]
fn tanh_share<S: Scalar>(x: S) -> S {
    let twice = S::from_f64(2.0 * (2.0 / PI).sqrt()) * (x + S::from_f64(CUBIC) * x * x * x);
    sigmoid(twice)
}

/// Computes `σ(x) = 1 / (1 + e^(−x))`.
#[inline(always)]
fn sigmoid<S: Scalar>(x: S) -> S {
    S::one() / (S::one() + (-x).exp())
}

// `erf(x)` for `f32` without branches or calls, so that the compiler can vectorise loops over it.

/// Coefficients of `p` in `erf(x) = x + x p(x²)` for `x ≤ 1`, highest power first. These and the next two are from
/// Cephes (Moshier, `ndtrf.c`).
const UP_TO_ONE: [f32; 7] =
    [7.853_861e-5, -8.010_194e-4, 5.188_327_6e-3, -2.685_381e-2, 1.128_358_5e-1, -3.761_262_6e-1, 1.283_791_7e-1];
/// Coefficients of `p` in `erf(x) = 1 − e^(−x²)/x p(1/x²)` for `1 < x ≤ 2`.
const UP_TO_TWO: [f32; 9] = [
    2.326_82e-2,
    -1.387_039_4e-1,
    3.687_424_7e-1,
    -5.824_733e-1,
    6.210_004_6e-1,
    -4.944_515_3e-1,
    3.404_88e-1,
    -2.741_127e-1,
    5.638_259_4e-1,
];
/// Coefficients of the same `p` for `x > 2`.
const BEYOND: [f32; 8] =
    [-1.047_766_4e1, 1.297_72e1, -7.495_518_7, 2.921_019, -1.015_265_3, 4.218_463_4e-1, -2.820_767_4e-1, 5.641_895e-1];

/// Computes `erf(x)` with an error of at most 1e-7.
#[inline(always)]
pub fn erf_f32(x: f32) -> f32 {
    let size = x.abs();
    let inverse = 1.0 / size;
    let square = inverse * inverse;
    let tail = if size < 2.0 { polynomial(&UP_TO_TWO, square) } else { polynomial(&BEYOND, square) };
    let outer = 1.0 - exp_f32(-size * size) * inverse * tail;
    if size < 1.0 { x + x * polynomial(&UP_TO_ONE, x * x) } else { outer.copysign(x) }
}

#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f32; N], x: f32) -> f32 {
    let mut sum = coefficients[0];
    for coefficient in &coefficients[1..] {
        sum = sum * x + coefficient;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::Activation;
    use super::erf_f32;
    use crate::close::{Tolerance, assert_close_beside};

    /// Computes `φ(x)` in double precision directly from its formula.
    fn exact(activation: Activation, x: f64) -> f64 {
        match activation {
            Activation::Relu => x.max(0.0),
            Activation::Gelu => 0.5 * x * libm::erfc(-x / 2f64.sqrt()),
            Activation::Silu => x / (1.0 + (-x).exp()),
            Activation::GeluTanh => {
                0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
            }
        }
    }

    #[test]
    fn single_precision_is_near_the_formula_everywhere() {
        for activation in Activation::ALL {
            for i in -200_000..=200_000 {
                let x = i as f32 * 5e-5;
                let mut found = [x];
                activation.apply(&[x], &mut found);
                let (exact, size) = (exact(activation, f64::from(x)), 2.0 * f64::from(x).abs().max(1.0));
                assert_close_beside(size, x, found[0], exact, Tolerance::SINGLE_BITS);
            }
        }
    }

    #[test]
    fn what_is_no_number_stays_so_and_the_ends_hold() {
        for activation in Activation::ALL {
            let mut y = [1.0; 5];
            activation.apply(&[f32::NAN, f32::MAX, -1e30, f32::INFINITY, 0.0], &mut y);
            assert!(y[0].is_nan() && y[1] == f32::MAX && y[3] == f32::INFINITY, "{activation:?}: {y:?}");
            assert!(y[2] == 0.0 && y[4] == 0.0, "{activation:?}: {y:?}");
        }
    }

    #[test]
    fn agrees_with_the_library_over_the_whole_range() {
        for i in -600_000..=600_000 {
            let x = i as f32 * 2e-5;
            assert_close_beside(1.0, x, erf_f32(x), libm::erf(f64::from(x)), Tolerance::SINGLE_BITS);
        }
    }

    #[test]
    fn ends_at_one() {
        assert!(erf_f32(f32::NAN).is_nan());
        assert_eq!((erf_f32(f32::INFINITY), erf_f32(f32::NEG_INFINITY), erf_f32(0.0)), (1.0, -1.0, 0.0));
    }
}
