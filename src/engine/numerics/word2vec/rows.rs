//! A table of vectors laid out for the processor: each row starts on a cache line and is padded with zeros to the next,
//! so that it consists of whole processor vectors and no two rows share a line.

use pulp::Simd;

use crate::numerics::{Matrix, Scalar};

const CACHE_LINE_BYTES: usize = 64;

/// A matrix (V, D) whose rows are padded with zeros. The padding stays zero, because gradients are sums of rows.
#[derive(Debug)]
pub struct PaddedRows<S> {
    rows: usize,
    /// Width `D` of a row.
    pub(super) width: usize,
    /// Number of entries of a row with its padding.
    pub(super) stride: usize,
    values: Vec<S>,
    /// Index in `values` of the first row.
    start: usize,
}

impl<S: Lanes> PaddedRows<S> {
    pub fn zeros(rows: usize, width: usize) -> Self {
        let stride = width.next_multiple_of(LANES_MAX);
        let values = vec![S::zero(); rows * stride + LANES_MAX];
        let start = values.as_ptr().align_offset(CACHE_LINE_BYTES).min(LANES_MAX);
        Self { rows, width, stride, values, start }
    }

    pub fn new(matrix: &Matrix<S>) -> Self {
        let mut rows = Self::zeros(matrix.rows(), matrix.cols());
        for i in 0..matrix.rows() {
            rows.row_mut(i)[..matrix.cols()].copy_from_slice(matrix.row(i));
        }
        rows
    }

    /// Copies the rows to cache lines of their own; a clone of `values` might not be aligned.
    pub fn copy(&self) -> Self {
        let mut copy = Self::zeros(self.rows, self.width);
        copy.flat_mut().copy_from_slice(self.flat());
        copy
    }

    pub fn matrix(&self) -> Matrix<S> {
        Matrix::from_fn(self.rows, self.width, |i, j| self.row(i)[j])
    }

    /// Returns row `i` with its padding.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[S] {
        &self.flat()[i * self.stride..][..self.stride]
    }

    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [S] {
        let stride = self.stride;
        &mut self.flat_mut()[i * stride..][..stride]
    }

    /// Prefetches a row that is needed soon.
    #[inline(always)]
    pub fn prefetch(&self, i: usize) {
        prefetch(self.row(i));
    }

    /// Returns all entries with the padding.
    #[inline(always)]
    pub fn flat(&self) -> &[S] {
        &self.values[self.start..][..self.rows * self.stride]
    }

    #[inline(always)]
    pub fn flat_mut(&mut self) -> &mut [S] {
        &mut self.values[self.start..][..self.rows * self.stride]
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch<S>(row: &[S]) {
    use std::arch::x86_64::_MM_HINT_T0;
    // Every x86-64 processor has SSE, so this costs nothing at run time.
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        for line in row.chunks(CACHE_LINE_BYTES / size_of::<S>()) {
            sse._mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch<S>(_row: &[S]) {}

// Vectors of the processor: AVX-512, AVX2, NEON or single numbers, whichever is available when the program runs. `A` is
// the instruction set, known inside [`pulp::WithSimd::with_simd`].

/// Number of entries of the widest vector, AVX-512 in single precision.
pub const LANES_MAX: usize = 16;

/// Numbers that the processor handles as vectors.
pub trait Lanes: Scalar + Send + Sync {
    type Vector<A: Simd>: Copy;

    /// Returns the number of entries of a vector.
    fn lanes<A: Simd>() -> usize {
        size_of::<Self::Vector<A>>() / size_of::<Self>()
    }
    /// Returns the whole vectors of a row, without the last entries if they do not fill one.
    fn vectors<A: Simd>(row: &[Self]) -> &[Self::Vector<A>];
    fn vectors_mut<A: Simd>(row: &mut [Self]) -> &mut [Self::Vector<A>];
    fn splat<A: Simd>(simd: A, x: Self) -> Self::Vector<A>;
    /// Computes `a · b + c`, rounded once if the processor can.
    fn mul_add<A: Simd>(simd: A, a: Self::Vector<A>, b: Self::Vector<A>, c: Self::Vector<A>) -> Self::Vector<A>;
    fn add_lanes<A: Simd>(simd: A, a: Self::Vector<A>, b: Self::Vector<A>) -> Self::Vector<A>;
    fn sum_lanes<A: Simd>(simd: A, a: Self::Vector<A>) -> Self;
    /// Computes `σ(x) = 1 / (1 + e^−x)`.
    fn sigmoid(x: Self) -> Self;
}

macro_rules! lanes {
    ($float:ident, $vector:ident, $vectors:ident, $vectors_mut:ident, $splat:ident, $mul_add:ident, $add:ident, $sum:ident, $sigmoid:path) => {
        impl Lanes for $float {
            type Vector<A: Simd> = A::$vector;

            #[inline(always)]
            fn vectors<A: Simd>(row: &[Self]) -> &[A::$vector] {
                A::$vectors(row).0
            }
            #[inline(always)]
            fn vectors_mut<A: Simd>(row: &mut [Self]) -> &mut [A::$vector] {
                A::$vectors_mut(row).0
            }
            #[inline(always)]
            fn splat<A: Simd>(simd: A, x: Self) -> A::$vector {
                simd.$splat(x)
            }
            #[inline(always)]
            fn mul_add<A: Simd>(simd: A, a: A::$vector, b: A::$vector, c: A::$vector) -> A::$vector {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn add_lanes<A: Simd>(simd: A, a: A::$vector, b: A::$vector) -> A::$vector {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn sum_lanes<A: Simd>(simd: A, a: A::$vector) -> Self {
                simd.$sum(a)
            }
            #[inline(always)]
            fn sigmoid(x: Self) -> Self {
                $sigmoid(x)
            }
        }
    };
}

lanes!(f32, f32s, as_simd_f32s, as_mut_simd_f32s, splat_f32s, mul_add_e_f32s, add_f32s, reduce_sum_f32s, sigmoid_f32);
lanes!(f64, f64s, as_simd_f64s, as_mut_simd_f64s, splat_f64s, mul_add_e_f64s, add_f64s, reduce_sum_f64s, sigmoid_f64);

fn sigmoid_f64(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Computes `σ(x)` without a call or a branch: `e^−x = 2^n 2^f` with `n` whole and `|f| ≤ 1/2`. `2^n` is written into
/// the exponent's bits, and `2^f` is a polynomial.
#[inline(always)]
fn sigmoid_f32(x: f32) -> f32 {
    use std::f32::consts::{LN_2, LOG2_E};
    /// Magnitude to which arguments are clamped: `e^±80` is finite, and `σ` is then within 2e-35 of 0 or 1.
    const SATURATED: f32 = 80.0;
    /// Number that rounds another to a whole number when it is added and subtracted; after the addition the lowest bits
    /// hold the result.
    const ROUNDING: f32 = 12_582_912.0; // 1.5 · 2^23
    const EXPONENT_BIAS: u32 = 127;
    const MANTISSA_BITS: u32 = 23;
    /// Coefficients of `2^f = Σ c_i f^i`, `c_i = (ln 2)^i / i!`; the terms left out are below 2e-7.
    const C: [f32; 7] = [1.0, LN_2, 0.240_226_5, 0.055_504_11, 0.009_618_129, 0.001_333_355_8, 0.000_154_035_3];

    let t = -x.clamp(-SATURATED, SATURATED) * LOG2_E;
    let rounded = t + ROUNDING;
    let f = t - (rounded - ROUNDING);
    let scale = f32::from_bits(rounded.to_bits().wrapping_add(EXPONENT_BIAS) << MANTISSA_BITS);
    // In pairs, so that fewer operations wait for each other (Estrin's scheme).
    let f2 = f * f;
    let (low, middle, high) = (C[0] + C[1] * f, C[2] + C[3] * f, C[4] + C[5] * f + C[6] * f2);
    let power = low + f2 * middle + f2 * f2 * high;
    1.0 / (1.0 + scale * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close_beside};

    #[test]
    fn the_fast_sigmoid_is_the_sigmoid() {
        for i in -100_000..=100_000 {
            let x = i as f32 * 1e-3;
            assert_close_beside(2.0, x, f32::sigmoid(x), f64::sigmoid(f64::from(x)), Tolerance::SINGLE_BITS);
        }
        assert_eq!(f32::sigmoid(0.0), 0.5);
        assert_eq!([f32::sigmoid(f32::NEG_INFINITY), f32::sigmoid(f32::INFINITY)].map(f32::round), [0.0, 1.0]);
    }
}
