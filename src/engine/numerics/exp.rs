//! `e^x` for `f32` without branches or calls, so that the compiler can vectorise loops over it.

/// Constants of the method of [`exp_f32`].
pub(super) mod parts {
    /// Number whose addition leaves the nearest whole number in the lowest bits of the sum.
    pub const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³
    pub const LN_2_HIGH: f32 = 0.693_359_4;
    pub const LN_2_LOW: f32 = -2.121_944_4e-4;
    pub const COEFFICIENTS: [f32; 6] = [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1];
    pub const EXPONENT_BIAS: u32 = 127;
    pub const MANTISSA_BITS: u32 = 23;
    /// Smallest argument whose `e^x` is a normal `f32`.
    pub const LOWEST: f32 = -87.336_54;
    pub const HIGHEST: f32 = 88.722_83;
}

use parts::*;

/// Computes `e^x` to within 2 units in the last place; 0 below −87.3 and ∞ above 88.7, the limits of normal `f32`
/// numbers.
///
/// `x = n ln 2 + r` with `|r| ≤ ½ ln 2`. `e^r` is the polynomial of Cephes (Moshier, `expf.c`), and `n` is added to the
/// exponent.
#[inline(always)]
pub fn exp_f32(x: f32) -> f32 {
    let clamped = if x < LOWEST { LOWEST } else { x };
    let clamped = if clamped > HIGHEST { HIGHEST } else { clamped };
    let rounded = clamped * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = clamped - n * LN_2_HIGH - n * LN_2_LOW;
    let mut polynomial = COEFFICIENTS[0];
    for coefficient in &COEFFICIENTS[1..] {
        polynomial = polynomial * r + coefficient;
    }
    let power = polynomial * r * r + r + 1.0;
    // 2ⁿ as two factors, because n goes from −126 to 128 and a single exponent ends at 127.
    let (exponent, rest) = if n > 0.0 { (EXPONENT_BIAS - 1, 2.0) } else { (EXPONENT_BIAS, 1.0) };
    let factor = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(exponent) << MANTISSA_BITS;
    let power = power * f32::from_bits(factor) * rest;
    if x < LOWEST {
        0.0
    } else if x > HIGHEST {
        f32::INFINITY
    } else {
        power
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close_beside};

    #[test]
    fn agrees_with_the_library_over_the_whole_range() {
        let steps = 2_000_000;
        for i in 0..=steps {
            let x = -87.3 + 176.0 * i as f32 / steps as f32;
            assert_close_beside(2.0, x, f64::from(exp_f32(x)) / f64::from(x).exp(), 1.0, Tolerance::SINGLE_BITS);
        }
    }

    #[test]
    fn ends_where_f32_ends() {
        assert_eq!(exp_f32(0.0), 1.0);
        assert_eq!(exp_f32(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp_f32(-104.0), 0.0);
        assert_eq!(exp_f32(f32::INFINITY), f32::INFINITY);
        assert!(exp_f32(f32::NAN).is_nan());
        assert!(exp_f32(88.7).is_finite());
    }
}
