//! Two-byte numbers, as in today's model files. They are widened to single precision, exactly, when they are read.

use half::f16;

use crate::numerics::Scalar;

#[derive(Clone, Copy, Debug)]
pub struct Bf16(pub u16);

/// Number of bits that a `bfloat16` is shifted left in an `f32`.
pub const BF16_SHIFT: u32 = 16;

impl Bf16 {
    #[inline(always)]
    pub fn number<S: Scalar>(self) -> S {
        S::from_single(f32::from_bits(u32::from(self.0) << BF16_SHIFT))
    }

    /// Returns the two bytes of a number, and whether they represent exactly this number.
    #[inline(always)]
    pub fn narrowed<S: Scalar>(number: S) -> (u16, bool) {
        // The lower half is cut off; if it is not 0, the number has changed.
        let narrowed = Self((number.to_single().to_bits() >> BF16_SHIFT) as u16);
        (narrowed.0, narrowed.number::<S>().is_same(number))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct F16(pub u16);

/// `2^112`, where 112 is the difference between the exponent biases of `f32` and half precision.
pub const F16_EXPONENTS: f32 = f32::from_bits((127 + 112) << 23);
/// Number of bits that the exponent and digits of a half are shifted left in an `f32`.
pub const F16_SHIFT: u32 = 13;
pub const F16_SIGN_SHIFT: u32 = 16;
/// Mask of a half's exponent and digits; the remaining bit is the sign.
pub const F16_SIZE: u32 = 0x7fff;
pub const F16_SIGN: u32 = 0x8000;

impl F16 {
    /// Converts a finite half to a number. Its digits are shifted to those of an `f32`, and its exponent is adjusted by
    /// a multiplication, which is exact for subnormal numbers too.
    #[inline(always)]
    pub fn number<S: Scalar>(self) -> S {
        let bits = u32::from(self.0);
        let size = f32::from_bits((bits & F16_SIZE) << F16_SHIFT) * F16_EXPONENTS;
        S::from_single(f32::from_bits(size.to_bits() | ((bits & F16_SIGN) << F16_SIGN_SHIFT)))
    }

    /// Returns the two bytes of a number, and whether they represent exactly this number and it is finite.
    #[inline(always)]
    pub fn narrowed<S: Scalar>(number: S) -> (u16, bool) {
        let narrowed = Self(f16::from_f32(number.to_single()).to_bits());
        (narrowed.0, number.is_finite() && narrowed.number::<S>().is_same(number))
    }
}
