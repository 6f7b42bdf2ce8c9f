//! The types of numbers, and what the mathematics needs of them.

use std::fmt;
use std::iter::Sum;
use std::ops::Neg;

use super::numbers::{Product, TableProduct};
use super::simd::Work;

/// The type of numbers: `f32` in models, `f64` in gradient checks and where a measure needs more digits.
pub trait Scalar:
    faer::traits::RealField + pulp::bytemuck::Pod + Neg<Output = Self> + Sum + Default + fmt::Debug + fmt::Display
{
    const NEG_INFINITY: Self;
    /// The lowest finite number.
    const MIN: Self;
    /// The smallest positive number that is not subnormal.
    const MIN_POSITIVE: Self;

    fn from_f64(x: f64) -> Self;
    fn from_single(x: f32) -> Self;
    fn to_f64(self) -> f64;
    /// Rounds to the nearest number in single precision.
    fn to_single(self) -> f32;
    /// Computes `e^x`; for `f32` in a form that the compiler can vectorise, see [`exp_f32`](super::exp::exp_f32).
    fn exp(self) -> Self;
    /// Runs work compiled for the processor's vector instructions: see [`dispatch`](super::simd::dispatch).
    fn dispatch<W: Work<Self>>(work: W) -> W::Output;
    /// Multiplies by packed weights with the processor's vector instructions: see [`packed`](super::packed).
    fn multiply_packed(product: Product<'_, Self>);
    /// Multiplies by rows of a table: see [`table`](super::table). It is a method so that it is compiled, and
    /// optimised, in this crate and not in the one that calls it.
    fn multiply_table(product: TableProduct<'_, Self>);
    fn ln(self) -> Self;
    /// Computes `erf(x) = 2/√π ∫₀ˣ e^(−t²) dt`; for `f32` with an error of at most 1e-7, see
    /// [`erf_f32`](super::activation::erf_f32).
    fn erf(self) -> Self;
    fn sqrt(self) -> Self;
    fn tanh(self) -> Self;
    fn is_finite(self) -> bool;
    fn is_nan(self) -> bool;

    /// Returns whether two numbers are the same bit for bit: −0 differs from 0, and NaN equals NaN.
    fn is_same(self, other: Self) -> bool;

    /// Returns the larger of the two, or NaN if either is NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if other > self || other.is_nan() { other } else { self }
    }

    #[inline(always)]
    fn abs(self) -> Self {
        if self < Self::zero() { -self } else { self }
    }

    /// Returns 0 if the number's magnitude is below `least`, and otherwise the number; NaN stays NaN.
    #[inline(always)]
    fn zero_below(self, least: Self) -> Self {
        if self.abs() < least { Self::zero() } else { self }
    }
}

/// Returns whether two slices are the same bit for bit; see [`Scalar::is_same`].
pub fn are_same<S: Scalar>(a: &[S], b: &[S]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| a.is_same(b))
}
