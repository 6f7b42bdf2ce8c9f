//! Single and double precision as scalars, and what each runs its work on.

use super::Scalar;
use super::activation::erf_f32;
use super::packed::{self, Product};
#[cfg(target_arch = "x86_64")]
use super::simd::{Plain, Work, x86};
use super::softmax::exp_f32;

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
