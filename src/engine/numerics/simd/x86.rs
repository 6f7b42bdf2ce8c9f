//! Lanes of `f32` on processors with AVX2 and FMA (since 2013). A token of pulp proves that the processor has these
//! instructions, so that no unsafe code is needed.

use pulp::bytemuck::cast_ref;
use pulp::x86::V3;
use pulp::{NullaryFnOnce, cast, f32x8};

use super::{LANES, Lane, Simd, Work};
use crate::numerics::exp::parts::*;

/// Number of entries of a cache line, which is fetched as a whole.
const CACHE_LINE: usize = 64 / size_of::<f32>();

/// Runs work compiled for processors with AVX2 and FMA.
pub fn run<W: Work<f32>>(simd: V3, work: W) -> W::Output {
    struct Run<W>(V3, W);
    impl<W: Work<f32>> NullaryFnOnce for Run<W> {
        type Output = W::Output;

        #[inline(always)]
        fn call(self) -> W::Output {
            self.1.run(self.0)
        }
    }
    simd.vectorize(Run(simd, work))
}

impl Simd<f32> for V3 {
    type Vector = f32x8;

    #[inline(always)]
    fn splat(self, x: f32) -> f32x8 {
        cast(self.avx._mm256_broadcast_ss(&x))
    }
    #[inline(always)]
    fn load(self, x: &Lane<f32>) -> f32x8 {
        // The array is not copied: a copy would go through the stack and double the time of a product.
        *cast_ref(x)
    }
    #[inline(always)]
    fn store(self, x: f32x8, to: &mut Lane<f32>) {
        *to = cast(x);
    }
    #[inline(always)]
    fn add(self, a: f32x8, b: f32x8) -> f32x8 {
        self.add_f32x8(a, b)
    }
    #[inline(always)]
    fn div(self, a: f32x8, b: f32x8) -> f32x8 {
        self.div_f32x8(a, b)
    }
    #[inline(always)]
    fn sub(self, a: f32x8, b: f32x8) -> f32x8 {
        self.sub_f32x8(a, b)
    }
    #[inline(always)]
    fn mul(self, a: f32x8, b: f32x8) -> f32x8 {
        self.mul_f32x8(a, b)
    }
    #[inline(always)]
    fn mul_add(self, a: f32x8, b: f32x8, c: f32x8) -> f32x8 {
        self.mul_add_f32x8(a, b, c)
    }
    #[inline(always)]
    fn max(self, a: f32x8, b: f32x8) -> f32x8 {
        self.max_f32x8(a, b)
    }

    /// Computes [`crate::numerics::exp::exp_f32`] of eight numbers at once.
    #[inline(always)]
    fn exp(self, x: f32x8) -> f32x8 {
        // The argument is the second operand, so that a NaN passes through.
        let lowest = self.splat_f32x8(LOWEST);
        let clamped = self.max_f32x8(lowest, x);
        let round = self.splat_f32x8(ROUND);
        let rounded = self.mul_add_f32x8(clamped, self.splat_f32x8(std::f32::consts::LOG2_E), round);
        let n = self.sub_f32x8(rounded, round);
        let r = self.negate_mul_add_f32x8(n, self.splat_f32x8(LN_2_HIGH), clamped);
        let r = self.negate_mul_add_f32x8(n, self.splat_f32x8(LN_2_LOW), r);
        let mut polynomial = self.splat_f32x8(COEFFICIENTS[0]);
        for &coefficient in &COEFFICIENTS[1..] {
            polynomial = self.mul_add_f32x8(polynomial, r, self.splat_f32x8(coefficient));
        }
        let power = self.mul_add_f32x8(self.mul_f32x8(polynomial, r), r, r);
        let power = self.add_f32x8(power, self.splat_f32x8(1.0));
        let offset = self.splat_u32x8(EXPONENT_BIAS.wrapping_sub(ROUND.to_bits()));
        let exponent = self.wrapping_add_u32x8(cast(rounded), offset);
        let factor: f32x8 = cast(self.shl_const_u32x8::<{ MANTISSA_BITS as i32 }>(exponent));
        let power = self.mul_f32x8(power, factor);
        self.select_f32x8(self.cmp_lt_f32x8(x, lowest), self.splat_f32x8(0.0), power)
    }

    #[inline(never)]
    fn apart<R>(self, work: impl FnOnce() -> R) -> R {
        self.vectorize(work)
    }

    #[inline(always)]
    fn fetch(self, x: &[f32]) {
        use std::arch::x86_64::_MM_HINT_T1;
        // The entries go into the second-level cache. The first-level cache can have few open requests, so the rows in
        // use would have to wait.
        for line in x.chunks(CACHE_LINE) {
            self.sse._mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast());
        }
    }

    /// Interleaves pairs of rows, then pairs of pairs, then swaps halves.
    #[inline(always)]
    fn transpose(self, r: [f32x8; LANES]) -> [f32x8; LANES] {
        let p = [
            low_pairs(self, r[0], r[1]),
            high_pairs(self, r[0], r[1]),
            low_pairs(self, r[2], r[3]),
            high_pairs(self, r[2], r[3]),
            low_pairs(self, r[4], r[5]),
            high_pairs(self, r[4], r[5]),
            low_pairs(self, r[6], r[7]),
            high_pairs(self, r[6], r[7]),
        ];
        let f = [
            first_pairs(self, p[0], p[2]),
            second_pairs(self, p[0], p[2]),
            first_pairs(self, p[1], p[3]),
            second_pairs(self, p[1], p[3]),
            first_pairs(self, p[4], p[6]),
            second_pairs(self, p[4], p[6]),
            first_pairs(self, p[5], p[7]),
            second_pairs(self, p[5], p[7]),
        ];
        [
            low_halves(self, f[0], f[4]),
            low_halves(self, f[1], f[5]),
            low_halves(self, f[2], f[6]),
            low_halves(self, f[3], f[7]),
            high_halves(self, f[0], f[4]),
            high_halves(self, f[1], f[5]),
            high_halves(self, f[2], f[6]),
            high_halves(self, f[3], f[7]),
        ]
    }
}

// Steps of the transposition.

#[inline(always)]
fn low_pairs(simd: V3, a: f32x8, b: f32x8) -> f32x8 {
    cast(simd.avx._mm256_unpacklo_ps(cast(a), cast(b)))
}

#[inline(always)]
fn high_pairs(simd: V3, a: f32x8, b: f32x8) -> f32x8 {
    cast(simd.avx._mm256_unpackhi_ps(cast(a), cast(b)))
}

#[inline(always)]
fn first_pairs(simd: V3, a: f32x8, b: f32x8) -> f32x8 {
    cast(simd.avx._mm256_shuffle_ps::<0b01_00_01_00>(cast(a), cast(b)))
}

#[inline(always)]
fn second_pairs(simd: V3, a: f32x8, b: f32x8) -> f32x8 {
    cast(simd.avx._mm256_shuffle_ps::<0b11_10_11_10>(cast(a), cast(b)))
}

#[inline(always)]
fn low_halves(simd: V3, a: f32x8, b: f32x8) -> f32x8 {
    cast(simd.avx._mm256_permute2f128_ps::<0x20>(cast(a), cast(b)))
}

#[inline(always)]
fn high_halves(simd: V3, a: f32x8, b: f32x8) -> f32x8 {
    cast(simd.avx._mm256_permute2f128_ps::<0x31>(cast(a), cast(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close_beside};
    use crate::numerics::simd::Plain;

    #[test]
    fn lanes_agree_with_those_of_any_processor() {
        let Some(simd) = V3::try_new() else { return eprintln!("SKIPPED: no AVX2 and FMA here") };
        let rows: [Lane<f32>; LANES] = std::array::from_fn(|i| std::array::from_fn(|j| (i * LANES + j) as f32));
        let transposed = Simd::transpose(simd, rows.map(|row| Simd::load(simd, &row)));
        let expected = Simd::<f32>::transpose(Plain, rows);
        assert_eq!(transposed.map(cast::<f32x8, Lane<f32>>), expected);

        for x in [-200.0, -87.4, -87.3, -1.0, -0.3, 0.0, f32::NEG_INFINITY, f32::NAN] {
            let found: Lane<f32> = cast(Simd::exp(simd, simd.splat_f32x8(x)));
            let expected = crate::numerics::exp::exp_f32(x);
            if x.is_nan() {
                assert!(found[0].is_nan(), "{found:?}");
            } else {
                assert_close_beside(2.0 * expected, format!("e^{x}"), found[0], expected, Tolerance::SINGLE_BITS);
            }
        }
    }
}
