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

    /// The bits of a number in two bytes, and whether they are the same number.
    #[inline(always)]
    pub fn narrowed<S: Scalar>(number: S) -> (u16, bool) {
        // Cut off: where digits are lost, it is no longer the same.
        let narrowed = Self((number.to_single().to_bits() >> BF16_SHIFT) as u16);
        (narrowed.0, narrowed.number::<S>().is_same(number))
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

    /// The bits of a number in two bytes, and whether they are the same number, which is finite.
    #[inline(always)]
    pub fn narrowed<S: Scalar>(number: S) -> (u16, bool) {
        let narrowed = Self(f16::from_f32(number.to_single()).to_bits());
        (narrowed.0, number.is_finite() && narrowed.number::<S>().is_same(number))
    }
}

/// A number as it lies in memory in the type of the arithmetic, which every number fits.
#[inline(always)]
pub fn whole<S: Scalar>(number: S) -> (S, bool) {
    (number, true)
}

/// Writes numbers as they lie in memory; false if one does not fit in its type. All are written in any case: a loop that
/// never ends early is one of vectors.
#[inline(always)]
pub fn write<'a, S, W: 'a>(
    to: impl Iterator<Item = &'a mut W>,
    from: impl Iterator<Item = S>,
    narrow: impl Fn(S) -> (W, bool),
) -> bool {
    let mut fits = true;
    to.zip(from).for_each(
        #[inline(always)]
        |(to, number)| {
            let (stored, is_same) = narrow(number);
            *to = stored;
            fits &= is_same;
        },
    );
    fits
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
            assert!(expected.is_nan() || Bf16::narrowed(expected) == (bits, true));
            let (found, expected) = (F16(bits).number::<f32>(), f16::from_bits(bits).to_f32());
            if expected.is_finite() {
                assert!(found.is_same(expected) && F16::narrowed(expected) == (bits, true));
            }
        }
        let fit = [Bf16::narrowed(0.1f32), F16::narrowed(1e9f32), F16::narrowed(f32::INFINITY)].map(|(_, fits)| fits);
        assert_eq!(fit, [false; 3]);
    }
}
