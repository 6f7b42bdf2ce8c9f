//! The two tables of vectors, laid out for the processor, and one step of gradient descent on an example.

use pulp::{Arch, Simd, WithSimd};

use crate::numerics::word2vec::objective::{Buffers, objective_forward, objective_step, pair_step};
use crate::numerics::{Matrix, Scalar};

/// The two tables that word2vec learns.
#[derive(Debug)]
pub struct Tables<S> {
    /// `v` (V, D): the vectors that a lesson shows.
    pub(super) vectors: PaddedRows<S>,
    /// `u` (V, D): the vectors of words as contexts of others.
    pub(super) contexts: PaddedRows<S>,
}

/// The words of one step, as rows of the tables.
#[derive(Clone, Copy, Debug)]
pub struct WordStep<'a> {
    /// Input words.
    pub inputs: &'a [usize],
    /// Whether the mean of the inputs is the only input vector, `h = 1/m Σ_i v_i`, as in CBOW; otherwise `h_i = v_i`.
    pub mean: bool,
    /// The near word, then the noise words.
    pub targets: &'a [usize],
}

impl<S: Lanes> Tables<S> {
    pub fn new(vectors: &Matrix<S>, contexts: &Matrix<S>) -> Self {
        Self { vectors: PaddedRows::new(vectors), contexts: PaddedRows::new(contexts) }
    }

    pub fn copy(&self) -> Self {
        Self { vectors: self.vectors.copy(), contexts: self.contexts.copy() }
    }

    pub fn vectors(&self) -> Matrix<S> {
        self.vectors.matrix()
    }

    pub fn contexts(&self) -> Matrix<S> {
        self.contexts.matrix()
    }

    /// Computes `L` of an example.
    pub fn loss(&self, example: WordStep) -> S {
        struct Loss<'a, S>(&'a Tables<S>, WordStep<'a>);
        impl<S: Lanes> WithSimd for Loss<'_, S> {
            type Output = S;

            #[inline(always)]
            fn with_simd<A: Simd>(self, simd: A) -> S {
                let Loss(tables, example) = self;
                let mut h = PaddedRows::zeros(example.inputs.len(), tables.vectors.width);
                let inputs = tables.gather(simd, example, &mut h);
                objective_forward(inputs, &h, &tables.contexts, example.targets)
            }
        }
        Arch::new().dispatch(Loss(self, example))
    }

    /// Takes one step of gradient descent on an example.
    pub fn descend(&mut self, example: WordStep, rate: S) {
        struct Descend<'a, S>(&'a mut Tables<S>, WordStep<'a>, S);
        impl<S: Lanes> WithSimd for Descend<'_, S> {
            type Output = ();

            #[inline(always)]
            fn with_simd<A: Simd>(self, simd: A) {
                let Descend(tables, example, rate) = self;
                let mut buffers = Buffers::new(example.inputs.len(), tables.vectors.width);
                tables.step(simd, example, rate, &mut buffers);
            }
        }
        Arch::new().dispatch(Descend(self, example, rate));
    }

    /// Computes `u −= η ∂L/∂u`, and `v_i −= η ∂L/∂h_i`, or `v_i −= η/m ∂L/∂h` for a mean. Each word gets its share of
    /// the gradient; the original program gives each the whole (Irsoy et al. 2021, arXiv 2012.15332).
    #[inline(always)]
    pub(super) fn step<A: Simd>(&mut self, simd: A, example: WordStep, rate: S, buffers: &mut Buffers<S>) {
        if let [word] = *example.inputs {
            let Self { vectors, contexts } = self;
            return pair_step(simd, vectors.row_mut(word), &mut buffers.scores, contexts, example.targets, rate);
        }
        let inputs = self.gather(simd, example, &mut buffers.h);
        objective_step(simd, inputs, buffers, &mut self.contexts, example.targets, rate);
        let share = share(example);
        for (i, &word) in example.inputs.iter().enumerate() {
            let step = buffers.step_h.row(if example.mean { 0 } else { i });
            add_scaled(simd, self.vectors.row_mut(word), share, step);
        }
    }

    /// Writes the input vectors to `h` and returns their number.
    #[inline(always)]
    fn gather<A: Simd>(&self, simd: A, example: WordStep, h: &mut PaddedRows<S>) -> usize {
        let count = if example.mean { 1 } else { example.inputs.len() };
        h.flat_mut()[..count * self.vectors.stride].fill(S::zero());
        let share = share(example);
        for (i, &word) in example.inputs.iter().enumerate() {
            add_scaled(simd, h.row_mut(if example.mean { 0 } else { i }), share, self.vectors.row(word));
        }
        count
    }
}

/// Returns `∂h/∂v` of an input word.
#[inline(always)]
fn share<S: Lanes>(example: WordStep) -> S {
    if example.mean { S::one() / S::from_f64(example.inputs.len() as f64) } else { S::one() }
}

/// Computes `to += scale · x` for padded rows.
#[inline(always)]
fn add_scaled<A: Simd, S: Lanes>(simd: A, to: &mut [S], scale: S, x: &[S]) {
    let scale = S::splat(simd, scale);
    for (to, &x) in S::vectors_mut::<A>(to).iter_mut().zip(S::vectors::<A>(x)) {
        *to = S::mul_add(simd, scale, x, *to);
    }
}

// A table of vectors laid out for the processor: each row starts on a cache line and is padded with zeros to the next,
// so that no row is processed in parts and no two rows share a line.

const CACHE_LINE_BYTES: usize = 64;

/// A matrix (V, D) whose rows are padded with zeros. They stay zeros, because gradients are sums of rows.
#[derive(Debug)]
pub struct PaddedRows<S> {
    rows: usize,
    /// `D`
    width: usize,
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
    /// Magnitude to which arguments are clamped: `e^±80` is finite, and `σ` is 0 or 1 in single precision well before.
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

    #[test]
    fn the_fast_sigmoid_is_the_sigmoid() {
        let mut worst = 0.0f64;
        for i in -100_000..=100_000 {
            let x = i as f32 * 1e-3;
            worst = worst.max((f64::from(f32::sigmoid(x)) - f64::sigmoid(f64::from(x))).abs());
        }
        assert!(worst < 2e-7, "off by {worst}");
        assert_eq!(f32::sigmoid(0.0), 0.5);
        assert_eq!([f32::sigmoid(f32::NEG_INFINITY), f32::sigmoid(f32::INFINITY)].map(f32::round), [0.0, 1.0]);
    }
}
