//! Activation functions: what a hidden unit makes of its sum.
//!
//! ```text
//! ReLU          φ(x) = max(0, x)
//! GELU          φ(x) = x Φ(x) = ½ x (1 + erf(x / √2))
//! GELU, tanh    φ(x) = ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))
//! SiLU          φ(x) = x σ(x) = x / (1 + e^(−x))
//! ```
//!
//! GELU and SiLU: Hendrycks & Gimpel 2016, arXiv 1606.08415, section 2; BERT has the first form, GPT-2 the second, Llama the
//! last.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::Scalar;
use super::simd::vectorized;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    Relu,
    Gelu,
    /// GELU with a tanh in the place of the normal distribution.
    GeluTanh,
    /// The sigmoid-weighted line, *Swish*.
    Silu,
}

/// The cubic's share in the tanh form.
const CUBIC: f64 = 0.044_715;

impl Activation {
    pub const ALL: [Self; 4] = [Self::Relu, Self::Gelu, Self::GeluTanh, Self::Silu];

    /// `y = φ(x)`, entry by entry. NaN stays NaN: a diverged weight must not look like a unit that is off.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn apply<S: Scalar>(self, x: &[S], y: &mut [S]) {
        assert_eq!(x.len(), y.len(), "activation: {} entries of x, {} of y", x.len(), y.len());
        match self {
            // Loops, and not `for_each`: that is a function of its own, which knows nothing of the processor's vectors.
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

    /// The gradient of [`Self::apply`]: `d` holds that of `φ(x)` and becomes that of `x`.
    ///
    /// `φ' = 1` above 0 (ReLU); `Φ(x) + x e^(−x²/2) / √(2π)` (GELU); with `t = tanh(u(x))`,
    /// `½ (1 + t) + ½ x (1 − t²) u'(x)` (its tanh form); `σ(x) (1 + x (1 − σ(x)))` (SiLU).
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

/// `Φ(x) = ½ (1 + erf(x / √2))`
#[inline(always)]
fn normal_share<S: Scalar>(x: S) -> S {
    S::from_f64(0.5) * (S::one() + (x * S::from_f64(FRAC_1_SQRT_2)).erf())
}

/// `½ (1 + tanh u) = 1 / (1 + e^(−2u))` with `u = √(2/π) (x + 0.044715 x³)`.
#[inline(always)]
fn tanh_share<S: Scalar>(x: S) -> S {
    let twice = S::from_f64(2.0 * (2.0 / PI).sqrt()) * (x + S::from_f64(CUBIC) * x * x * x);
    sigmoid(twice)
}

/// `σ(x) = 1 / (1 + e^(−x))`
#[inline(always)]
fn sigmoid<S: Scalar>(x: S) -> S {
    S::one() / (S::one() + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::Activation;

    /// `φ(x)` as the formulas say, in double precision.
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
                let (found, exact) = (f64::from(found[0]), exact(activation, f64::from(x)));
                let bound = 2.0 * f64::from(f32::EPSILON) * f64::from(x).abs().max(1.0);
                assert!((found - exact).abs() <= bound, "{activation:?}({x}) = {exact}, not {found}");
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
}
