//! Numbers of two bytes, as today's files have them: widened to single precision where they are read, which is exact.

use half::{bf16, f16};

use crate::numerics::Scalar;

/// The type of packed numbers in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberType {
    /// That of the arithmetic.
    #[default]
    Whole,
    /// The upper half of an `f32`.
    Bf16,
    /// IEEE 754's half precision.
    F16,
}

/// A number as it lies in memory.
pub trait Stored<S>: Copy {
    /// The number of the arithmetic that it is.
    fn number(self) -> S;
    /// The form in memory of a number; `None` if it has more digits than fit.
    fn of(number: S) -> Option<Self>;
}

impl<S: Scalar> Stored<S> for S {
    #[inline(always)]
    fn number(self) -> S {
        self
    }

    #[inline(always)]
    fn of(number: S) -> Option<S> {
        Some(number)
    }
}

/// The same number, if it is: a number that was narrowed and widened again.
fn same<S: Scalar, W: Stored<S>>(narrowed: W, number: S) -> Option<W> {
    narrowed.number().is_same(number).then_some(narrowed)
}

#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl Bf16 {
    #[inline(always)]
    fn single(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

impl<S: Scalar> Stored<S> for Bf16 {
    #[inline(always)]
    fn number(self) -> S {
        S::from_single(self.single())
    }

    fn of(number: S) -> Option<Self> {
        same(Self(bf16::from_f64(number.to_f64()).to_bits()), number)
    }
}

#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct F16(pub u16);

/// `2^112`: the exponents of `f32` begin so much lower than those of half precision.
const EXPONENTS: f32 = f32::from_bits((127 + 112) << 23);
/// The bits of a half's exponent and digits, and those of an infinity.
const SIZE: u16 = 0x7fff;
const INFINITE: u16 = 0x7c00;
/// The exponent of infinities and what is no number, in an `f32`.
const ALL_ONES: u32 = 0xff << 23;

impl F16 {
    /// The digits in the place of those of an `f32`, and the exponent by a product that is exact, for subnormal numbers too. A
    /// loop over it becomes vectors.
    #[inline(always)]
    fn single(self) -> f32 {
        let Self(bits) = self;
        let size = bits & SIZE;
        let finite = (f32::from_bits(u32::from(size) << 13) * EXPONENTS).to_bits();
        let exponent = if size >= INFINITE { ALL_ONES } else { 0 };
        f32::from_bits(finite | exponent | (u32::from(bits & !SIZE) << 16))
    }
}

impl<S: Scalar> Stored<S> for F16 {
    #[inline(always)]
    fn number(self) -> S {
        S::from_single(self.single())
    }

    fn of(number: S) -> Option<Self> {
        same(Self(f16::from_f64(number.to_f64()).to_bits()), number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<W: Stored<f32>>(narrowed: W, expected: f32, bits: impl Fn(W) -> u16) {
        let found = narrowed.number();
        assert!(
            found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
            "{found}, not {expected}"
        );
        if !expected.is_nan() {
            assert_eq!(W::of(expected).map(&bits), Some(bits(narrowed)));
        }
    }

    #[test]
    fn every_number_of_two_bytes_is_widened_as_the_standard_says() {
        for bits in 0..=u16::MAX {
            check(Bf16(bits), bf16::from_bits(bits).to_f32(), |Bf16(bits)| bits);
            check(F16(bits), f16::from_bits(bits).to_f32(), |F16(bits)| bits);
        }
        assert!(Bf16::of(0.1f32).is_none() && F16::of(1e9f32).is_none());
    }
}
