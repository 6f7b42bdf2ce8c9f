//! Pure maths on faer: no IO, clock, serde, Bevy or global random generator.
//!
//! # Notation
//! | symbol | meaning |
//! |---|---|
//! | `T` | tokens in a sentence |
//! | `N` | tokens in a batch: the sentences' rows, one below the other, without padding |
//! | `D` | model width |
//! | `H` | heads |
//! | `d_k`, `d_v` | width of a head's queries and keys, of its values |
//! | `V` | vocabulary |
//!
//! Rows are tokens: `X` is `(T, D)` and `Q = X W_Q + b_Q`. Matrices are row-major. `d_x` is the
//! gradient of the loss with respect to `x`. Every forward has its backward directly under it.

pub mod adam;
pub mod attention;
pub mod contributions;
pub mod cross_entropy;
pub mod linear;
pub mod matrix;
pub mod model;
pub mod params;
pub mod positions;
pub mod projection;
pub mod rng;
pub mod softmax;
pub mod vectors;
pub mod word2vec;

pub use matrix::Matrix;

use std::fmt;
use std::iter::Sum;
use std::ops::Neg;

/// `f32` in use, `f64` in gradient checks.
pub trait Scalar:
    faer::traits::RealField + Copy + Neg<Output = Self> + Sum + Default + fmt::Debug + fmt::Display
{
    const NEG_INFINITY: Self;

    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn sqrt(self) -> Self;
    fn is_finite(self) -> bool;
    fn is_nan(self) -> bool;

    /// The larger of the two; NaN if either is.
    fn max(self, other: Self) -> Self {
        if other > self || other.is_nan() { other } else { self }
    }

    fn abs(self) -> Self {
        if self < Self::zero() { -self } else { self }
    }
}

macro_rules! scalar {
    ($float:ty) => {
        impl Scalar for $float {
            const NEG_INFINITY: Self = <$float>::NEG_INFINITY;

            fn from_f64(x: f64) -> Self {
                x as $float
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn exp(self) -> Self {
                <$float>::exp(self)
            }
            fn ln(self) -> Self {
                <$float>::ln(self)
            }
            fn sqrt(self) -> Self {
                <$float>::sqrt(self)
            }
            fn is_finite(self) -> bool {
                <$float>::is_finite(self)
            }
            fn is_nan(self) -> bool {
                <$float>::is_nan(self)
            }
        }
    };
}

scalar!(f32);
scalar!(f64);
