//! Products of the small blocks that belong to one head of one sentence. They are too small for the set-up of a general
//! matrix product, so they are multiplied directly, one vector (lane) of columns and a few rows at a time. Training
//! uses them for short sentences, whose weights are stored transposed, `Aᵀ` (T_k, T_q), so that the softmax runs down
//! columns.

use faer::{MatMut, MatRef};

use crate::numerics::Scalar;
use crate::numerics::simd::{LANES, Lane, Simd, padded};

/// Returns the number of vectors (lanes) that hold a row.
pub fn lanes(cols: usize) -> usize {
    cols.div_ceil(LANES)
}

/// A part of a larger row-major matrix; `entries` starts at the part's first entry.
#[derive(Clone, Copy)]
pub struct Strided<'a, S> {
    pub entries: &'a [S],
    /// Number of entries from one row to the next.
    pub stride: usize,
    pub rows: usize,
    pub cols: usize,
}

impl<'a, S> Strided<'a, S> {
    #[inline(always)]
    pub fn row(&self, i: usize) -> &'a [S] {
        &self.entries[i * self.stride..][..self.cols]
    }
}

/// A part of a larger row-major matrix, for writing.
pub struct PartMut<'a, S> {
    pub entries: &'a mut [S],
    pub stride: usize,
    pub rows: usize,
    pub cols: usize,
}

impl<S: Scalar> PartMut<'_, S> {
    pub fn fill(&mut self, x: S) {
        self.entries.chunks_mut(self.stride).take(self.rows).for_each(|row| row[..self.cols].fill(x));
    }

    /// Returns `count` rows from `from` on, as an operand of a general product.
    pub fn rows_mut(&mut self, from: usize, count: usize) -> MatMut<'_, S> {
        let Self { stride, cols, .. } = *self;
        let entries = &mut self.entries[from * stride..][..(count - 1) * stride + cols];
        // The matrix is made as a transpose, because `from_row_major_slice_with_stride_mut` of faer 0.24.4 takes the
        // stride for that of the columns, and so reads and writes beyond the slice.
        MatMut::from_column_major_slice_with_stride_mut(entries, cols, count, stride).transpose_mut()
    }

    /// Returns the number of entries of a lane, which is smaller at the end of a row.
    #[inline(always)]
    fn room(&self, lane: usize) -> usize {
        (self.cols - lane * LANES).min(LANES)
    }
}

/// Loads the first `room` entries from `at` on into a vector and fills the rest with zeros.
#[inline(always)]
fn load<S: Scalar, V: Simd<S>>(simd: V, entries: &[S], at: usize, room: usize) -> V::Vector {
    if room == LANES {
        return simd.load(lane_at(entries, at));
    }
    let mut lane = [S::zero(); LANES];
    for (i, x) in lane.iter_mut().enumerate() {
        *x = if i < room { entries[at + i] } else { S::zero() };
    }
    simd.load(&lane)
}

/// Stores the first `room` entries of a lane.
#[inline(always)]
fn store<S: Scalar, V: Simd<S>>(simd: V, sums: V::Vector, entries: &mut [S], at: usize, room: usize) {
    if room == LANES {
        let to = entries[at..at + LANES].first_chunk_mut().expect("a whole lane");
        return simd.store(sums, to);
    }
    let mut lane = [S::zero(); LANES];
    simd.store(sums, &mut lane);
    // A loop is used and not a copy of slices, which could become a function call, for which the compiler would spill
    // the vectors from registers.
    for (i, x) in lane.into_iter().enumerate() {
        if i < room {
            entries[at + i] = x;
        }
    }
}

#[inline(always)]
fn lane_at<S>(entries: &[S], at: usize) -> &Lane<S> {
    entries[at..at + LANES].first_chunk().expect("a whole lane")
}

impl<'a, S: Scalar> Strided<'a, S> {
    /// Returns `count` rows from `from` on, as an operand of a general product.
    pub fn rows_from(&self, from: usize, count: usize) -> MatRef<'a, S> {
        let Self { stride, cols, .. } = *self;
        let entries = &self.entries[from * stride..][..(count - 1) * stride + cols];
        MatRef::from_row_major_slice_with_stride(entries, count, cols, stride)
    }

    /// Returns a lane of a row. Entries after the part's last column belong to other parts and are ignored; the
    /// matrices have a lane of room after their last row.
    #[inline(always)]
    fn lane(&self, row: usize, lane: usize) -> &'a Lane<S> {
        lane_at(self.entries, row * self.stride + lane * LANES)
    }
}

/// Copies `partᵀ` into a tile, whose rows are padded with zeros to whole lanes.
#[inline(always)]
pub fn pack_transposed<'t, S: Scalar, V: Simd<S>>(
    simd: V,
    part: Strided<'_, S>,
    tile: &'t mut [Lane<S>],
) -> Strided<'t, S> {
    let (width, cols) = (lanes(part.rows), part.cols);
    let tile = &mut tile[..padded(cols) * width];
    for lane in 0..width {
        for block in 0..lanes(cols) {
            let mut rows = [simd.splat(S::zero()); LANES];
            for (i, row) in rows.iter_mut().enumerate() {
                if lane * LANES + i < part.rows {
                    *row = simd.load(part.lane(lane * LANES + i, block));
                }
            }
            for (j, row) in simd.transpose(rows).into_iter().enumerate() {
                simd.store(row, &mut tile[(block * LANES + j) * width + lane]);
            }
        }
    }
    Strided { entries: tile.as_flattened(), stride: width * LANES, rows: cols, cols: part.rows }
}

/// Computes `C = s A B`.
#[inline(always)]
pub fn product<S: Scalar, V: Simd<S>>(
    simd: V,
    a: Strided<'_, S>,
    b: Strided<'_, S>,
    scale: S,
    to: &mut PartMut<'_, S>,
) {
    debug_assert_eq!(a.cols, b.rows, "product: ({}, {}) by ({}, {})", a.rows, a.cols, b.rows, b.cols);
    let whole = a.cols / LANES * LANES;
    for lane in 0..lanes(b.cols) {
        let room = to.room(lane);
        let mut first = 0;
        while first < whole {
            // Eight rows of `b` stay in registers while the loop runs over all rows of `a`.
            let (b0, b1) = (simd.load(b.lane(first, lane)), simd.load(b.lane(first + 1, lane)));
            let (b2, b3) = (simd.load(b.lane(first + 2, lane)), simd.load(b.lane(first + 3, lane)));
            let (b4, b5) = (simd.load(b.lane(first + 4, lane)), simd.load(b.lane(first + 5, lane)));
            let (b6, b7) = (simd.load(b.lane(first + 6, lane)), simd.load(b.lane(first + 7, lane)));
            let (mut from, mut into) = (first, lane * LANES);
            for _ in 0..a.rows {
                let row = lane_at(a.entries, from);
                from += a.stride;
                let even = simd.mul(simd.splat(row[0]), b0);
                let odd = simd.mul(simd.splat(row[1]), b1);
                let even = simd.mul_add(simd.splat(row[2]), b2, even);
                let odd = simd.mul_add(simd.splat(row[3]), b3, odd);
                let even = simd.mul_add(simd.splat(row[4]), b4, even);
                let odd = simd.mul_add(simd.splat(row[5]), b5, odd);
                let even = simd.mul_add(simd.splat(row[6]), b6, even);
                let odd = simd.mul_add(simd.splat(row[7]), b7, odd);
                let sums = simd.mul(simd.splat(scale), simd.add(even, odd));
                let sums = if first == 0 { sums } else { simd.add(sums, load(simd, to.entries, into, room)) };
                store(simd, sums, to.entries, into, room);
                into += to.stride;
            }
            first += LANES;
        }
        for k in whole..a.cols {
            let b = simd.mul(simd.splat(scale), simd.load(b.lane(k, lane)));
            let (mut from, mut into) = (k, lane * LANES);
            for _ in 0..a.rows {
                let sums = simd.mul(simd.splat(a.entries[from]), b);
                let sums = if k == 0 { sums } else { simd.add(sums, load(simd, to.entries, into, room)) };
                store(simd, sums, to.entries, into, room);
                (from, into) = (from + a.stride, into + to.stride);
            }
        }
    }
}

/// Computes `C = s Aᵀ B`; the rows of `a` must be whole lanes.
#[inline(always)]
pub fn product_transposed<S: Scalar, V: Simd<S>>(
    simd: V,
    a: Strided<'_, S>,
    b: Strided<'_, S>,
    scale: S,
    to: &mut PartMut<'_, S>,
) {
    debug_assert_eq!(a.rows, b.rows, "product: ({}, {})ᵀ by ({}, {})", a.rows, a.cols, b.rows, b.cols);
    let scale = simd.splat(scale);
    for lane in 0..lanes(b.cols) {
        let room = to.room(lane);
        let mut i = 0;
        while i < a.cols {
            let zero = simd.splat(S::zero());
            let [mut c0, mut c1, mut c2, mut c3, mut c4, mut c5, mut c6, mut c7] = [zero; LANES];
            let (mut from, mut by) = (i, lane * LANES);
            for _ in 0..a.rows {
                let (row, b_row) = (lane_at(a.entries, from), simd.load(lane_at(b.entries, by)));
                (from, by) = (from + a.stride, by + b.stride);
                c0 = simd.mul_add(simd.splat(row[0]), b_row, c0);
                c1 = simd.mul_add(simd.splat(row[1]), b_row, c1);
                c2 = simd.mul_add(simd.splat(row[2]), b_row, c2);
                c3 = simd.mul_add(simd.splat(row[3]), b_row, c3);
                c4 = simd.mul_add(simd.splat(row[4]), b_row, c4);
                c5 = simd.mul_add(simd.splat(row[5]), b_row, c5);
                c6 = simd.mul_add(simd.splat(row[6]), b_row, c6);
                c7 = simd.mul_add(simd.splat(row[7]), b_row, c7);
            }
            let rows = a.cols - i;
            for (row, sums) in [c0, c1, c2, c3, c4, c5, c6, c7].into_iter().enumerate() {
                if row < rows {
                    let into = (i + row) * to.stride + lane * LANES;
                    store(simd, simd.mul(scale, sums), to.entries, into, room);
                }
            }
            i += LANES;
        }
    }
}

/// Computes `y = A x` in whole lanes. `x` is padded with zeros, and the entries of `A` that are multiplied by them must
/// be finite.
#[inline(always)]
pub fn product_vector<S: Scalar, V: Simd<S>>(simd: V, a: Strided<'_, S>, x: &[Lane<S>], y: &mut [S]) {
    debug_assert_eq!(lanes(a.cols), x.len(), "product: ({}, {}) by {} lanes", a.rows, a.cols, x.len());
    for (block, y) in y.as_chunks_mut().0.iter_mut().enumerate().take(lanes(a.rows)) {
        let mut rows = [simd.splat(S::zero()); LANES];
        for (i, row) in rows.iter_mut().enumerate() {
            if block * LANES + i < a.rows {
                for (lane, x) in x.iter().enumerate() {
                    *row = simd.mul_add(simd.load(a.lane(block * LANES + i, lane)), simd.load(x), *row);
                }
            }
        }
        simd.store(simd.sums(rows), y);
    }
}

/// Computes `m = Σ_k a_k B_k`, the mix of mean weights.
#[inline(always)]
pub fn mix_mean<S: Scalar, V: Simd<S>>(simd: V, a: &[S], b: Strided<'_, S>, to: &mut PartMut<'_, S>) {
    product(simd, Strided { entries: a, stride: a.len(), rows: 1, cols: a.len() }, b, S::one(), to);
}

/// Computes `C_ij = a_i b_j`.
#[inline(always)]
pub fn outer<S: Scalar, V: Simd<S>>(simd: V, a: &[S], b: Strided<'_, S>, to: &mut PartMut<'_, S>) {
    for lane in 0..lanes(b.cols) {
        let (b, room) = (simd.load(b.lane(0, lane)), to.room(lane));
        let mut into = lane * LANES;
        for &a in a {
            store(simd, simd.mul(simd.splat(a), b), to.entries, into, room);
            into += to.stride;
        }
    }
}

/// Largest number of tokens of a short sentence.
pub const SHORT_TOKENS_MAX: usize = 48;

/// A buffer for one operand of a head, in whole lanes.
#[derive(Clone, Debug)]
pub struct Tile<S>(Vec<Lane<S>>);

impl<S: Scalar> Tile<S> {
    /// Allocates room for heads of at most `width` columns and sentences of at most `longest` tokens.
    pub fn new(width: usize, longest: usize) -> Self {
        let entries = padded(width) * padded(longest.min(SHORT_TOKENS_MAX));
        Self(vec![[S::zero(); LANES]; entries / LANES])
    }

    pub fn lanes(&mut self) -> &mut [Lane<S>] {
        &mut self.0
    }

    /// Fills the tile with a vector, padded with zeros.
    #[inline(always)]
    pub fn vector(&mut self, len: usize, entry: impl Fn(usize) -> S) -> &[Lane<S>] {
        let vector = &mut self.0[..lanes(len)];
        for (i, to) in vector.as_flattened_mut().iter_mut().enumerate() {
            *to = if i < len { entry(i) } else { S::zero() };
        }
        vector
    }
}

/// Returns whether neither the queries nor the keys are more than [`SHORT_TOKENS_MAX`].
pub fn is_short(queries: usize, keys: usize) -> bool {
    queries.max(keys) <= SHORT_TOKENS_MAX
}

/// Returns the number of entries of one head's transposed weights, with rows padded to whole lanes.
pub fn transposed_entries(queries: usize, keys: usize) -> usize {
    keys * padded(queries)
}
