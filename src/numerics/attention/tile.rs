//! Products of the small blocks that a sentence's heads are: too small for the set-up of a general
//! product, so they are multiplied where they stand, a lane of columns and a few rows at a time.

use crate::numerics::Scalar;
use crate::numerics::simd::{LANES, Lane, padded};

/// Rows of `C` that share a look at a lane of `B`.
const ROWS: usize = 4;

/// Lanes of a row.
pub fn lanes(cols: usize) -> usize {
    cols.div_ceil(LANES)
}

/// A part of a larger row-major matrix: its first entry stands first.
#[derive(Clone, Copy)]
pub struct Part<'a, S> {
    pub entries: &'a [S],
    /// From a row to the next.
    pub stride: usize,
    pub rows: usize,
    pub cols: usize,
}

impl<'a, S> Part<'a, S> {
    #[inline(always)]
    pub fn row(&self, i: usize) -> &'a [S] {
        &self.entries[i * self.stride..][..self.cols]
    }
}

/// A part of a larger row-major matrix, to write to.
pub struct PartMut<'a, S> {
    pub entries: &'a mut [S],
    pub stride: usize,
    pub rows: usize,
    pub cols: usize,
}

impl<S: Scalar> PartMut<'_, S> {
    /// Stores one lane of a product, as far as the part reaches.
    #[inline(always)]
    fn store(&mut self, row: usize, lane: usize, sums: &Lane<S>, scale: S) {
        let row = &mut self.entries[row * self.stride..][lane * LANES..self.cols];
        if let Some(to) = row.first_chunk_mut::<LANES>() {
            *to = sums.map(
                #[inline(always)]
                |sum| scale * sum,
            );
        } else {
            for (to, &sum) in row.iter_mut().zip(sums) {
                *to = scale * sum;
            }
        }
    }
}

impl<'a, S: Scalar> Part<'a, S> {
    /// A lane of a row. What lies behind the part's last column is somebody else's, and of no matter.
    #[inline(always)]
    fn lane(&self, row: usize, lane: usize) -> &'a Lane<S> {
        let entries = &self.entries[row * self.stride + lane * LANES..];
        entries.first_chunk().expect("matrices reach a lane beyond their last row")
    }
}

/// `partᵀ` as a tile: its rows are padded with zeros to whole lanes.
#[inline(always)]
pub fn pack_transposed<'t, S: Scalar>(part: Part<'_, S>, tile: &'t mut [Lane<S>]) -> Part<'t, S> {
    let (width, cols) = (lanes(part.rows), part.cols);
    let tile = &mut tile[..padded(cols) * width];
    for (lane, first) in (0..part.rows).step_by(LANES).enumerate() {
        for block in 0..lanes(cols) {
            let rows: [Lane<S>; LANES] = std::array::from_fn(
                #[inline(always)]
                |i| if first + i < part.rows { *part.lane(first + i, block) } else { [S::zero(); LANES] },
            );
            for j in 0..LANES {
                tile[(block * LANES + j) * width + lane] = std::array::from_fn(
                    #[inline(always)]
                    |i| rows[i][j],
                );
            }
        }
    }
    let entries = tile.as_flattened();
    Part { entries, stride: width * LANES, rows: cols, cols: part.rows }
}

/// `C = s A B`
///
#[inline(always)]
pub fn product<S: Scalar>(a: Part<'_, S>, b: Part<'_, S>, scale: S, to: &mut PartMut<'_, S>) {
    debug_assert_eq!(a.cols, b.rows, "product: ({}, {}) by ({}, {})", a.rows, a.cols, b.rows, b.cols);
    for lane in 0..lanes(b.cols) {
        let mut i = 0;
        while i + ROWS <= a.rows {
            let mut sums = [[S::zero(); LANES]; ROWS];
            let rows = a.row(i).iter().zip(a.row(i + 1)).zip(a.row(i + 2)).zip(a.row(i + 3));
            for (k, (((&a0, &a1), &a2), &a3)) in rows.enumerate() {
                let b = b.lane(k, lane);
                add_product(&mut sums[0], a0, b);
                add_product(&mut sums[1], a1, b);
                add_product(&mut sums[2], a2, b);
                add_product(&mut sums[3], a3, b);
            }
            to.store(i, lane, &sums[0], scale);
            to.store(i + 1, lane, &sums[1], scale);
            to.store(i + 2, lane, &sums[2], scale);
            to.store(i + 3, lane, &sums[3], scale);
            i += ROWS;
        }
        while i < a.rows {
            let mut sums = [S::zero(); LANES];
            for (k, &a) in a.row(i).iter().enumerate() {
                add_product(&mut sums, a, b.lane(k, lane));
            }
            to.store(i, lane, &sums, scale);
            i += 1;
        }
    }
}

/// `C = s Aᵀ B`; the rows of `a` must reach to whole lanes.
#[inline(always)]
pub fn product_transposed<S: Scalar>(a: Part<'_, S>, b: Part<'_, S>, scale: S, to: &mut PartMut<'_, S>) {
    debug_assert_eq!(a.rows, b.rows, "product: ({}, {})ᵀ by ({}, {})", a.rows, a.cols, b.rows, b.cols);
    for lane in 0..lanes(b.cols) {
        let mut i = 0;
        while i < a.cols {
            let mut sums = [[S::zero(); LANES]; ROWS];
            for k in 0..a.rows {
                let (a, b) = (&a.entries[k * a.stride + i..][..ROWS], b.lane(k, lane));
                add_product(&mut sums[0], a[0], b);
                add_product(&mut sums[1], a[1], b);
                add_product(&mut sums[2], a[2], b);
                add_product(&mut sums[3], a[3], b);
            }
            to.store(i, lane, &sums[0], scale);
            for (row, sums) in sums.iter().enumerate().skip(1) {
                if i + row < a.cols {
                    to.store(i + row, lane, sums, scale);
                }
            }
            i += ROWS;
        }
    }
}

#[inline(always)]
fn add_product<S: Scalar>(sums: &mut Lane<S>, a: S, b: &Lane<S>) {
    for (sum, &b) in sums.iter_mut().zip(b) {
        *sum = a.mul_add(b, *sum);
    }
}
