//! Pure maths on faer: no IO, clock, serde, Bevy or global random generator.
//!
//! [`mod@reference`] says in plain loops what the rest computes fast; start there.
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

pub mod activation;
pub mod alignment;
pub mod attention;
pub mod block;
pub mod contributions;
pub mod feed_forward;
pub mod head_measures;
pub mod linear;
pub mod matrix;
pub mod model;
pub mod moves;
pub mod norm;
pub mod optimiser;
pub mod packed;
pub mod parallel;
pub mod params;
pub mod positions;
pub mod projection;
pub mod reference;
pub mod rng;
pub mod senses;
pub mod shares;
pub mod simd;
pub mod softmax;
pub mod table;
pub mod tensor_norms;
pub mod vectors;
pub mod word2vec;

use std::fmt;
use std::iter::Sum;
use std::ops::Neg;

use self::activation::erf_f32;
use self::packed::Product;
use self::softmax::exp_f32;

#[cfg(target_arch = "x86_64")]
use self::simd::{Plain, Work, x86};

pub use matrix::Matrix;

/// `f32` in use, `f64` in gradient checks.
pub trait Scalar:
    faer::traits::RealField + Copy + Neg<Output = Self> + Sum + Default + fmt::Debug + fmt::Display
{
    const NEG_INFINITY: Self;
    /// The lowest finite number.
    const MIN: Self;
    /// The smallest number above 0 that is not subnormal.
    const MIN_POSITIVE: Self;

    fn from_f64(x: f64) -> Self;
    fn from_single(x: f32) -> Self;
    fn to_f64(self) -> f64;
    /// The nearest number in single precision.
    fn to_single(self) -> f32;
    /// `e^x`; for `f32` one that loops can run in vectors, see [`exp`].
    fn exp(self) -> Self;
    /// Runs work as compiled for the processor at hand: see [`simd::dispatch`].
    fn dispatch<W: simd::Work<Self>>(work: W) -> W::Output;
    /// Multiplies by packed weights as compiled for the processor at hand: see [`packed`].
    fn multiply_packed(product: packed::Product<'_, Self>);
    fn ln(self) -> Self;
    /// `erf(x) = 2/√π ∫₀ˣ e^(−t²) dt`; for `f32` within 1e-7, see [`erf`].
    fn erf(self) -> Self;
    fn sqrt(self) -> Self;
    fn tanh(self) -> Self;
    fn is_finite(self) -> bool;
    fn is_nan(self) -> bool;

    /// The same bit for bit: −0 is not 0, and NaN is NaN.
    fn is_same(self, other: Self) -> bool;

    /// The larger of the two; NaN if either is.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if other > self || other.is_nan() { other } else { self }
    }

    #[inline(always)]
    fn abs(self) -> Self {
        if self < Self::zero() { -self } else { self }
    }

    /// 0 if it is nearer to 0 than `least`; NaN stays.
    #[inline(always)]
    fn zero_below(self, least: Self) -> Self {
        if self.abs() < least { Self::zero() } else { self }
    }
}

/// Whether numbers are the same bit for bit; see [`Scalar::is_same`].
pub fn are_same<S: Scalar>(a: &[S], b: &[S]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| a.is_same(b))
}

macro_rules! scalar {
    ($float:ty, $exp:path, $erf:path, $tanh:path, $dispatch:path, $multiply:path) => {
        impl Scalar for $float {
            const NEG_INFINITY: Self = <$float>::NEG_INFINITY;
            const MIN: Self = <$float>::MIN;
            const MIN_POSITIVE: Self = <$float>::MIN_POSITIVE;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $float
            }
            #[inline(always)]
            fn from_single(x: f32) -> Self {
                <$float>::from(x)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn to_single(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn is_same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            fn dispatch<W: Work<Self>>(work: W) -> W::Output {
                $dispatch(work)
            }
            fn multiply_packed(product: Product<'_, Self>) {
                $multiply(product);
            }
            #[inline(always)]
            fn ln(self) -> Self {
                <$float>::ln(self)
            }
            #[inline(always)]
            fn erf(self) -> Self {
                $erf(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$float>::sqrt(self)
            }
            fn tanh(self) -> Self {
                $tanh(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$float>::is_finite(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                <$float>::is_nan(self)
            }
        }
    };
}

scalar!(f32, exp_f32, erf_f32, libm::tanhf, dispatch_f32, multiply_f32);
scalar!(f64, f64::exp, libm::erf, libm::tanh, dispatch_f64, packed::on_plain_numbers);

/// Runs work on the vectors of the processor at hand.
fn dispatch_f32<W: Work<f32>>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return x86::run(simd, work);
    }
    work.run(Plain)
}

/// Runs work on plain numbers: no vectors are written for double precision.
fn dispatch_f64<W: Work<f64>>(work: W) -> W::Output {
    work.run(Plain)
}

/// A product by packed weights on the vectors of the processor at hand.
fn multiply_f32(product: Product<'_, f32>) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(simd) = pulp::x86::V4::try_new() {
            return packed::on_avx512(simd, product);
        }
        if let Some(simd) = pulp::x86::V3::try_new() {
            return packed::on_avx2(simd, product);
        }
    }
    packed::on_plain_numbers(product);
}
