//! A table of vectors laid out for the processor: each row begins on a cache line and ends in zeros
//! up to the next, so that no row is handled in parts and none shares a line with another.

use crate::numerics::Matrix;

use super::lanes::{LANES_MAX, Lanes};

const CACHE_LINE_BYTES: usize = 64;

/// `(V, D)`, each row padded with zeros. Zeros they stay: a gradient is a sum of rows.
#[derive(Debug)]
pub struct Rows<S> {
    rows: usize,
    /// `D`
    width: usize,
    /// Entries of a row with its zeros.
    stride: usize,
    values: Vec<S>,
    /// Index in `values` at which the first row begins.
    start: usize,
}

impl<S: Lanes> Rows<S> {
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

    /// On cache lines of its own: a clone of `values` would begin wherever its memory does.
    pub fn copy(&self) -> Self {
        let mut copy = Self::zeros(self.rows, self.width);
        copy.flat_mut().copy_from_slice(self.flat());
        copy
    }

    pub fn matrix(&self) -> Matrix<S> {
        Matrix::from_fn(self.rows, self.width, |i, j| self.row(i)[j])
    }

    /// `D`
    pub fn width(&self) -> usize {
        self.width
    }

    /// Entries of a row with its zeros.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Row `i` with its zeros.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[S] {
        &self.flat()[i * self.stride..][..self.stride]
    }

    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [S] {
        let stride = self.stride;
        &mut self.flat_mut()[i * stride..][..stride]
    }

    /// Asks for a row that is needed soon, so that it comes from memory meanwhile.
    #[inline(always)]
    pub fn prefetch(&self, i: usize) {
        prefetch(self.row(i));
    }

    /// Every entry, with the zeros.
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
    // Part of every such processor: nothing is looked up.
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        for line in row.chunks(CACHE_LINE_BYTES / size_of::<S>()) {
            sse._mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch<S>(_row: &[S]) {}
