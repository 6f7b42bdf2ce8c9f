//! Pure mathematics on faer, without IO, clock, Bevy or a global random generator.
//!
//! [`mod@reference`] has the models in plain loops; start there. The other modules compute the same faster, and more.
//!
//! # Notation
//! | symbol | meaning |
//! |---|---|
//! | `T` | tokens in a sentence |
//! | `N` | tokens in a batch: the sentences' rows, one below the other, without padding |
//! | `D` | model width |
//! | `H` | heads |
//! | `d_k`, `d_v` | width of a head's queries and keys; of its values |
//! | `V` | vocabulary |
//!
//! Rows are tokens: `X` is `(T, D)` and `Q = X W_Q + b_Q`. Matrices are row-major. `d_x` is the gradient of the loss
//! with respect to `x`. Every forward function is followed by its backward function.

pub mod activation;
pub mod alignment;
pub mod attention;
pub mod block;
pub mod contributions;
pub mod evidence;
pub mod exp;
pub mod feed_forward;
pub mod head_measures;
pub mod linear;
pub mod matrix;
pub mod model;
pub mod moves;
pub mod norm;
mod numbers;
pub mod optimiser;
pub mod packed;
pub mod parallel;
pub mod params;
pub mod positions;
pub mod projection;
pub mod reference;
pub mod rng;
mod scalar;
pub mod senses;
pub mod shares;
pub mod simd;
pub mod softmax;
pub mod spread;
pub mod table;
pub mod tensor_norms;
pub mod vectors;
pub mod word2vec;

use self::activation::erf_f32;
use self::exp::exp_f32;
use self::numbers::{Product, TableProduct};
#[cfg(target_arch = "x86_64")]
use self::simd::x86;
use self::simd::{Plain, Work};

pub use matrix::Matrix;
pub use scalar::{Scalar, are_same};

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
            fn multiply_table(product: TableProduct<'_, Self>) {
                table::multiply_range(product);
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

/// Runs work in single precision, with the processor's vector instructions if they are supported.
fn dispatch_f32<W: Work<f32>>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return x86::run(simd, work);
    }
    work.run(Plain)
}

/// Runs work in double precision, one number at a time, because there are no vector types for it.
fn dispatch_f64<W: Work<f64>>(work: W) -> W::Output {
    work.run(Plain)
}

/// Multiplies by packed weights with the widest vector instructions that the processor supports.
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
