//! Numbers of two bytes, as today's files have them: widened to single precision where they are read, which is exact.

use half::f16;

use crate::numerics::Scalar;

/// The type of packed numbers in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberType {
    /// That of the arithmetic.
    #[default]
    Whole,
    /// The upper half of an `f32`.
    Bf16,
    /// IEEE 754's half precision; a matrix with an infinity or NaN is kept whole.
    F16,
}

#[derive(Clone, Copy, Debug)]
pub struct Bf16(pub u16);

/// Places by which the digits of a `bfloat16` stand higher in an `f32`.
pub const BF16_SHIFT: u32 = 16;

impl Bf16 {
    #[inline(always)]
    pub fn number<S: Scalar>(self) -> S {
        S::from_single(f32::from_bits(u32::from(self.0) << BF16_SHIFT))
    }

    /// The number in two bytes; `None` if it does not fit.
    #[inline(always)]
    pub fn of<S: Scalar>(number: S) -> Option<Self> {
        // Cut off: where digits are lost, it is no longer the same.
        let narrowed = Self((number.to_single().to_bits() >> BF16_SHIFT) as u16);
        narrowed.number::<S>().is_same(number).then_some(narrowed)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct F16(pub u16);

/// `2^112`: the exponents of `f32` begin so much lower than those of half precision.
pub const F16_EXPONENTS: f32 = f32::from_bits((127 + 112) << 23);
/// Places by which the exponent and the digits of a half stand higher in an `f32`, and its sign.
pub const F16_SHIFT: u32 = 13;
pub const F16_SIGN_SHIFT: u32 = 16;
/// The bits of a half's exponent and digits, and of its sign.
pub const F16_SIZE: u32 = 0x7fff;
pub const F16_SIGN: u32 = 0x8000;

impl F16 {
    /// A finite number: its digits in the place of those of an `f32`, and its exponent by a product that is exact, for
    /// subnormal numbers too.
    #[inline(always)]
    pub fn number<S: Scalar>(self) -> S {
        let bits = u32::from(self.0);
        let size = f32::from_bits((bits & F16_SIZE) << F16_SHIFT) * F16_EXPONENTS;
        S::from_single(f32::from_bits(size.to_bits() | ((bits & F16_SIGN) << F16_SIGN_SHIFT)))
    }

    /// The number in two bytes; `None` if it does not fit.
    #[inline(always)]
    pub fn of<S: Scalar>(number: S) -> Option<Self> {
        let narrowed = Self(f16::from_f32(number.to_single()).to_bits());
        (number.is_finite() && narrowed.number::<S>().is_same(number)).then_some(narrowed)
    }
}

/// Writes numbers in their type; false if one does not fit.
pub fn write<S, W>(to: &mut [W], from: impl Iterator<Item = S>, narrow: impl Fn(S) -> Option<W>) -> bool {
    for (to, number) in to.iter_mut().zip(from) {
        let Some(stored) = narrow(number) else { return false };
        *to = stored;
    }
    true
}

#[cfg(test)]
mod tests {
    use half::bf16;

    use super::*;

    #[test]
    fn every_number_of_two_bytes_is_widened_as_the_standard_says() {
        for bits in 0..=u16::MAX {
            let (found, expected) = (Bf16(bits).number::<f32>(), bf16::from_bits(bits).to_f32());
            assert!(found.is_same(expected) || found.is_nan() && expected.is_nan());
            assert!(expected.is_nan() || Bf16::of(expected).is_some_and(|Bf16(found)| found == bits));
            let (found, expected) = (F16(bits).number::<f32>(), f16::from_bits(bits).to_f32());
            if expected.is_finite() {
                assert!(found.is_same(expected) && F16::of(expected).is_some_and(|F16(found)| found == bits));
            }
        }
        assert!(Bf16::of(0.1f32).is_none() && F16::of(1e9f32).is_none() && F16::of(f32::INFINITY).is_none());
    }
}
