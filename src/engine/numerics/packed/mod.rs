//! Large weight matrices in the layout that products need: packed once, multiplied often, never trained.
//!
//! A general product packs `W` again each time, which for a sentence of 16 tokens is as much work as the product. Here
//! `W` (in, out) is stored in panels of [`PANEL`] columns, each row by row, the last one padded with zeros. Tiles of
//! `X` are multiplied by some rows of a panel while the sums stay in registers and the next rows are fetched
//! ([`tile`]), so `W` is read from memory once and in storage order. Every sum runs over the inputs in order, whatever
//! rows and threads it is computed with, so a row has the same bits in any batch. Numbers that a file stores in two
//! bytes stay that way in memory and are widened in the registers ([`Bf16`], [`F16`]); the sums are those of the
//! widened numbers, bit for bit.

mod halves;
mod pages;
mod tile;

pub use halves::{Bf16, F16};

use faer::MatRef;
use pages::Pages;
pub use tile::on_plain_numbers;

#[cfg(target_arch = "x86_64")]
pub use tile::{on_avx2, on_avx512};

pub use super::numbers::{NumberType, Numbers, PANEL, Product};
use super::{Matrix, Scalar};

/// `W` (in, out) in panels.
#[derive(Clone, Debug)]
pub struct Packed<S> {
    rows: usize,
    cols: usize,
    /// Panels one after the other, each (in, [`PANEL`]).
    numbers: Numbers<Pages<[S; PANEL]>, Pages<[u16; PANEL]>>,
}

impl<S: Scalar> Numbers<Pages<[S; PANEL]>, Pages<[u16; PANEL]>> {
    fn get(&self, row: usize, lane: usize) -> S {
        match self {
            Self::Whole(rows) => rows[row][lane],
            Self::Bf16(rows) => Bf16(rows[row][lane]).number(),
            Self::F16(rows) => F16(rows[row][lane]).number(),
        }
    }

    /// Writes the entries of a row from `lane` on. If a number does not fit in the type, the whole matrix is widened.
    fn set(&mut self, row: usize, lane: usize, from: impl Iterator<Item = S> + Clone) {
        let fits = match self {
            Self::Whole(rows) => write(rows[row][lane..].iter_mut(), from.clone(), whole),
            Self::Bf16(rows) => write(rows[row][lane..].iter_mut(), from.clone(), Bf16::narrowed),
            Self::F16(rows) => write(rows[row][lane..].iter_mut(), from.clone(), F16::narrowed),
        };
        if !fits {
            *self = Self::Whole(self.widened());
            self.set(row, lane, from);
        }
    }

    /// Writes columns of a panel from `row` and `lane` on. If a number does not fit in the type, the whole matrix is
    /// widened.
    fn set_columns(&mut self, row: usize, lane: usize, columns: &[&[S]]) {
        let fits = match self {
            Self::Whole(rows) => write_columns(&mut rows[row..], lane, columns, whole),
            Self::Bf16(rows) => write_columns(&mut rows[row..], lane, columns, Bf16::narrowed),
            Self::F16(rows) => write_columns(&mut rows[row..], lane, columns, F16::narrowed),
        };
        if !fits {
            *self = Self::Whole(self.widened());
            self.set_columns(row, lane, columns);
        }
    }

    fn widened(&self) -> Pages<[S; PANEL]> {
        match self {
            Self::Whole(rows) => rows.clone(),
            Self::Bf16(rows) => rows.map(|row| row.map(|bits| Bf16(bits).number())),
            Self::F16(rows) => rows.map(|row| row.map(|bits| F16(bits).number())),
        }
    }

    fn panels(&self) -> Numbers<&[[S; PANEL]], &[[u16; PANEL]]> {
        self.as_ref().map(|rows| &**rows, |rows| &**rows)
    }
}

/// Writes columns of the same length side by side from `lane` on. Returns false if a number does not fit in the type.
fn write_columns<S: Scalar, W>(
    to: &mut [[W; PANEL]],
    lane: usize,
    columns: &[&[S]],
    narrow: impl Fn(S) -> (W, bool),
) -> bool {
    /// Number of rows that are written column by column before the next, few enough to stay in the first-level cache.
    const ROWS: usize = 64;
    let mut fits = true;
    let count = columns.first().map_or(0, |column| column.len());
    for (first, to) in (0..count).step_by(ROWS).zip(to.chunks_mut(ROWS)) {
        let end = count.min(first + ROWS);
        for (lane, column) in (lane..).zip(columns) {
            let entries = to.iter_mut().map(|row| &mut row[lane]);
            fits &= write(entries, column[first..end].iter().copied(), &narrow);
        }
    }
    fits
}

impl<S: Scalar> PartialEq for Packed<S> {
    fn eq(&self, other: &Self) -> bool {
        (self.rows, self.cols) == (other.rows, other.cols) && self.differences(other) == 0
    }
}

impl<S: Scalar> Packed<S> {
    /// Returns zeros of a number type.
    pub fn zeros_as(kind: NumberType, rows: usize, cols: usize) -> Self {
        let of_panels = rows * cols.div_ceil(PANEL);
        let numbers = Numbers::new(kind, || Pages::zeros(of_panels), || Pages::zeros(of_panels));
        Self { rows, cols, numbers }
    }

    /// Packs a row-major matrix.
    ///
    /// # Panics
    /// If there are not `rows · cols` values.
    pub fn from_row_major(rows: usize, cols: usize, values: &[S]) -> Self {
        let found = values.len();
        assert_eq!(found, rows * cols, "packed: {found} values for ({rows}, {cols})");
        Self::from_fn(rows, cols, |row, col| values[row * cols + col])
    }

    pub fn from_fn(rows: usize, cols: usize, mut entry: impl FnMut(usize, usize) -> S) -> Self {
        let mut panels: Pages<[S; PANEL]> = Pages::zeros(rows * cols.div_ceil(PANEL));
        for (first, panel) in (0..cols).step_by(PANEL).zip(panels.chunks_exact_mut(rows.max(1))) {
            let width = PANEL.min(cols - first);
            for (i, to) in panel.iter_mut().enumerate() {
                to[..width].iter_mut().enumerate().for_each(|(j, to)| *to = entry(i, first + j));
            }
        }
        Self { rows, cols, numbers: Numbers::Whole(panels) }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns an entry.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn get(&self, row: usize, col: usize) -> S {
        let (row, lane) = self.place(row, col);
        self.numbers.get(row, lane)
    }

    /// Changes an entry.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn set(&mut self, row: usize, col: usize, value: S) {
        let (row, lane) = self.place(row, col);
        self.numbers.set(row, lane, std::iter::once(value));
    }

    fn place(&self, row: usize, col: usize) -> (usize, usize) {
        let (rows, cols) = (self.rows, self.cols);
        assert!(row < rows && col < cols, "packed: no entry ({row}, {col}) in ({rows}, {cols})");
        (col / PANEL * rows + row, col % PANEL)
    }

    /// Writes a part of the matrix, starting at an entry.
    ///
    /// # Panics
    /// If the part reaches beyond the matrix.
    pub fn set_part(&mut self, (row, col): (usize, usize), from: MatRef<'_, S>) {
        let (rows, cols) = (self.rows, self.cols);
        let (end_row, end_col) = (row + from.nrows(), col + from.ncols());
        assert!(end_row <= rows && end_col <= cols, "packed: a part up to ({end_row}, {end_col}) of ({rows}, {cols})");
        let mut begin = col;
        while begin < end_col {
            let (at, lane) = (begin / PANEL, begin % PANEL);
            let width = (PANEL - lane).min(end_col - begin);
            let from = from.subcols(begin - col, width);
            match from.try_as_col_major() {
                Some(by_columns) => {
                    let columns: Vec<&[S]> = (0..width).map(|j| by_columns.col(j).as_slice()).collect();
                    self.numbers.set_columns(at * rows + row, lane, &columns);
                }
                None => (at * rows + row..at * rows + end_row)
                    .enumerate()
                    .for_each(|(i, to)| self.numbers.set(to, lane, (0..width).map(move |j| from[(i, j)]))),
            }
            begin += width;
        }
    }

    /// Returns the number of entries that differ, bit for bit, from those of another matrix of the same shape.
    pub fn differences(&self, other: &Self) -> usize {
        let lanes = |row: usize| (0..PANEL).map(move |lane| (row, lane));
        let rows = self.rows * self.cols.div_ceil(PANEL);
        let differs =
            |&(row, lane): &(usize, usize)| !self.numbers.get(row, lane).is_same(other.numbers.get(row, lane));
        (0..rows).flat_map(lanes).filter(differs).count()
    }

    /// Returns the size in bytes of the numbers in memory.
    pub fn bytes(&self) -> usize {
        match &self.numbers {
            Numbers::Whole(rows) => size_of_val(&rows[..]),
            Numbers::Bf16(numbers) | Numbers::F16(numbers) => size_of_val(&numbers[..]),
        }
    }

    pub fn to_row_major(&self) -> Vec<S> {
        match self.numbers.panels() {
            Numbers::Whole(panels) => self.unpacked(panels, |number| number),
            Numbers::Bf16(panels) => self.unpacked(panels, |bits| Bf16(bits).number()),
            Numbers::F16(panels) => self.unpacked(panels, |bits| F16(bits).number()),
        }
    }

    fn unpacked<W: Copy>(&self, panels: &[[W; PANEL]], number: impl Fn(W) -> S) -> Vec<S> {
        let mut values = vec![S::zero(); self.rows * self.cols];
        for first in (0..self.cols).step_by(PANEL) {
            let (width, panel) = (PANEL.min(self.cols - first), first / PANEL * self.rows);
            for (row, from) in values.chunks_exact_mut(self.cols).zip(&panels[panel..]) {
                row[first..first + width].iter_mut().zip(from).for_each(|(to, &from)| *to = number(from));
            }
        }
        values
    }

    /// Computes `Y = X W + b`; an empty `b` means no bias.
    ///
    /// # Shapes
    /// `x` (N, in), `b` (out), `y` (N, out) row-major
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn multiply(&self, x: MatRef<'_, S>, b: &[S], y: &mut [S]) {
        self.all_rows().multiply(x, b, y);
    }

    /// Returns a view of the whole matrix, for products with it.
    pub fn all_rows(&self) -> PackedRows<'_, S> {
        PackedRows { packed: self, first: 0, count: self.rows }
    }
}

/// A range of rows of a packed matrix, such as one head's rows of `W_O`.
#[derive(Clone, Copy, Debug)]
pub struct PackedRows<'a, S> {
    packed: &'a Packed<S>,
    first: usize,
    count: usize,
}

impl<S: Scalar> PackedRows<'_, S> {
    /// Computes [`Packed::multiply`] with these rows only.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn multiply(&self, x: MatRef<'_, S>, b: &[S], y: &mut [S]) {
        let Self { packed, first, count } = *self;
        let outputs = packed.cols;
        assert_eq!(x.ncols(), count, "packed: X {:?} by {count} rows of W", x.shape());
        assert!(b.is_empty() || b.len() == outputs, "packed: b ({}) of {outputs} outputs", b.len());
        let (n, found) = (x.nrows(), y.len());
        assert_eq!(found, n * outputs, "packed: {found} entries for Y ({n}, {outputs})");
        if outputs == 0 {
            return;
        }
        let copy;
        let x = match x.transpose().try_as_col_major() {
            Some(x) => x,
            None => {
                copy = Matrix::copied(x);
                copy.view().transpose().try_as_col_major().expect("an owned matrix is row-major")
            }
        };
        let rows = (0..n).map(|i| x.col(i).as_slice()).collect();
        let y = y.chunks_exact_mut(outputs).collect();
        S::multiply_packed(Product {
            x: rows,
            panels: packed.numbers.panels(),
            stride: packed.rows,
            first,
            count,
            b,
            y,
        });
    }
}

/// A weight matrix (in, out) for products, plain or packed.
#[derive(Clone, Copy, Debug)]
pub enum Weights<'a, S> {
    Plain(MatRef<'a, S>),
    Packed(PackedRows<'a, S>),
}

impl<'a, S: Scalar> Weights<'a, S> {
    pub fn nrows(&self) -> usize {
        match self {
            Self::Plain(w) => w.nrows(),
            Self::Packed(w) => w.count,
        }
    }

    pub fn ncols(&self) -> usize {
        match self {
            Self::Plain(w) => w.ncols(),
            Self::Packed(w) => w.packed.cols,
        }
    }

    /// Returns `count` rows from `first` on.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn subrows(self, first: usize, count: usize) -> Self {
        assert!(first + count <= self.nrows(), "weights: {count} rows from {first} on, of {}", self.nrows());
        match self {
            Self::Plain(w) => Self::Plain(w.subrows(first, count)),
            Self::Packed(w) => Self::Packed(PackedRows { first: w.first + first, count, ..w }),
        }
    }
}

impl<'a, S> From<MatRef<'a, S>> for Weights<'a, S> {
    fn from(w: MatRef<'a, S>) -> Self {
        Self::Plain(w)
    }
}

impl<'a, S: Scalar> From<&'a Packed<S>> for Weights<'a, S> {
    fn from(w: &'a Packed<S>) -> Self {
        Self::Packed(w.all_rows())
    }
}

/// Returns the number itself, which always fits in the type of the arithmetic.
#[inline(always)]
pub fn whole<S: Scalar>(number: S) -> (S, bool) {
    (number, true)
}

/// Writes numbers as they are stored, and returns false if one does not fit in the type. All are written in any case,
/// because the compiler vectorises a loop without an early exit.
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
    use super::*;
    use crate::close::{Tolerance, assert_close_beside};
    use crate::numerics::rng::{Stream, stream};
    use ::half::{bf16, f16};
    use rand::RngExt;

    fn random<S: Scalar>(rows: usize, cols: usize, seed: u64) -> Matrix<S> {
        let mut rng = stream(seed, Stream::ModelInit);
        Matrix::from_fn(rows, cols, |_, _| S::from_f64(rng.random_range(-1.0..1.0)))
    }

    /// Returns the largest difference from sums in double precision.
    fn error<S: Scalar>(n: usize, inputs: usize, outputs: usize, run: impl FnOnce(Product<'_, S>)) -> f64 {
        let (x, w, b) = (random::<S>(n, inputs, 1), random::<S>(inputs, outputs, 2), random::<S>(1, outputs, 3));
        let packed = Packed::from_row_major(inputs, outputs, w.flat());
        let mut y = Matrix::zeros(n, outputs);
        run(Product {
            x: (0..n).map(|i| x.row(i)).collect(),
            panels: packed.numbers.panels(),
            stride: inputs,
            first: 0,
            count: inputs,
            b: b.row(0),
            y: y.flat_mut().chunks_exact_mut(outputs).collect(),
        });
        let exact = |i: usize, j: usize| {
            let sum: f64 = (0..inputs).map(|k| x.get(i, k).to_f64() * w.get(k, j).to_f64()).sum();
            sum + b.get(0, j).to_f64()
        };
        let all = (0..n).flat_map(|i| (0..outputs).map(move |j| (i, j)));
        all.map(|(i, j)| (y.get(i, j).to_f64() - exact(i, j)).abs()).fold(0.0, f64::max)
    }

    /// Rows, inputs and outputs that are not multiples of a tile, register or panel; the last two have more inputs than
    /// are multiplied at a time.
    const SHAPES: [(usize, usize, usize); 9] = [
        (1, 1, 1),
        (3, 7, 5),
        (8, 32, 32),
        (13, 40, 33),
        (16, 96, 64),
        (25, 17, 95),
        (30, 3, 31),
        (1, 385, 33),
        (26, 200, 40),
    ];

    #[test]
    fn every_processor_s_tiles_multiply() {
        for (n, inputs, outputs) in SHAPES {
            assert_close_beside(
                1.0,
                "the error",
                error::<f32>(n, inputs, outputs, on_plain_numbers),
                0.0,
                Tolerance::SINGLE_PASS,
            );
            assert_close_beside(
                1.0,
                "the error",
                error::<f64>(n, inputs, outputs, on_plain_numbers),
                0.0,
                Tolerance::DOUBLE,
            );
            #[cfg(target_arch = "x86_64")]
            {
                match pulp::x86::V3::try_new() {
                    Some(simd) => assert_close_beside(
                        1.0,
                        "the error",
                        error::<f32>(n, inputs, outputs, |work| on_avx2(simd, work)),
                        0.0,
                        Tolerance::SINGLE_PASS,
                    ),
                    None => eprintln!("SKIPPED: no AVX2 and FMA here"),
                }
                match pulp::x86::V4::try_new() {
                    Some(simd) => assert_close_beside(
                        1.0,
                        "the error",
                        error::<f32>(n, inputs, outputs, |work| on_avx512(simd, work)),
                        0.0,
                        Tolerance::SINGLE_PASS,
                    ),
                    None => eprintln!("SKIPPED: no AVX-512 here"),
                }
            }
        }
    }

    /// Checks that a product with two-byte numbers has the same bits as one with the widened numbers, on every
    /// processor.
    #[test]
    fn numbers_of_two_bytes_multiply_as_widened_ones() {
        for kind in [NumberType::Bf16, NumberType::F16] {
            for (n, inputs, outputs) in SHAPES {
                let x = random::<f32>(n, inputs, 1);
                let narrow = |x: f32| match kind {
                    NumberType::Whole => x,
                    NumberType::Bf16 => ::half::bf16::from_f32(x).to_f32(),
                    NumberType::F16 => ::half::f16::from_f32(x).to_f32(),
                };
                let w = random::<f32>(inputs, outputs, 2);
                let w = Matrix::from_fn(inputs, outputs, |i, j| narrow(w.get(i, j)));
                let (mut half, whole) =
                    (Packed::zeros_as(kind, inputs, outputs), Packed::from_row_major(inputs, outputs, w.flat()));
                half.set_part((0, 0), w.view());
                assert_eq!(half.bytes() * 2, whole.bytes());
                assert_eq!(half, whole);
                let [mut found, mut expected] = [Matrix::zeros(n, outputs), Matrix::zeros(n, outputs)];
                half.multiply(x.view(), &[], found.flat_mut());
                whole.multiply(x.view(), &[], expected.flat_mut());
                assert_eq!(found, expected);
                // A number with more digits widens the matrix and changes no other entry.
                half.set(0, 0, 0.1);
                assert_eq!((half.get(0, 0), half.bytes(), half.differences(&whole)), (0.1, whole.bytes(), 1));
            }
        }
    }

    #[test]
    fn a_part_that_lies_by_columns_is_that_by_rows() {
        for kind in [NumberType::Whole, NumberType::Bf16, NumberType::F16] {
            let fits = |x: f32| ::half::bf16::from_f32(::half::f16::from_f32(x).to_f32()).to_f32();
            let w = random::<f32>(140, 66, 1);
            let mut w = Matrix::from_fn(140, 66, |i, j| fits(w.get(i, j)));
            let written = |w: &Matrix<f32>| {
                let turned = Matrix::copied(w.view().transpose());
                [w.view(), turned.view().transpose()].map(|part| {
                    let mut packed = Packed::zeros_as(kind, 150, 75);
                    packed.set_part((3, 5), part);
                    packed
                })
            };
            let [by_rows, by_columns] = written(&w);
            assert_eq!((by_columns.get(142, 70), by_columns.get(143, 70)), (w.get(139, 65), 0.0));
            assert_eq!((&by_columns, by_columns.bytes()), (&by_rows, by_rows.bytes()));
            // A number with more digits widens the matrix.
            w.row_mut(100)[40] = 0.1;
            let [by_rows, by_columns] = written(&w);
            assert_eq!((by_columns.get(103, 45), &by_columns), (0.1, &by_rows));
            assert_eq!(by_columns.bytes(), Packed::<f32>::zeros_as(NumberType::Whole, 150, 75).bytes());
        }
    }

    #[test]
    fn a_row_has_the_same_bits_in_any_batch() {
        let (x, w) = (random::<f32>(29, 70, 4), random::<f32>(70, 45, 5));
        let packed = Packed::from_row_major(70, 45, w.flat());
        let mut all = Matrix::zeros(29, 45);
        packed.multiply(x.view(), &[], all.flat_mut());
        for i in 0..29 {
            let mut alone = Matrix::zeros(1, 45);
            packed.multiply(x.view().subrows(i, 1), &[], alone.flat_mut());
            assert_eq!(alone.row(0), all.row(i));
        }
    }

    #[test]
    fn entries_are_where_they_were_put() {
        for (rows, cols) in [(1, 1), (3, 32), (5, 33), (7, 70), (4, 0), (0, 4)] {
            let w = random::<f32>(rows, cols, 6);
            let mut packed = Packed::from_row_major(rows, cols, w.flat());
            assert_eq!(packed, Packed::from_fn(rows, cols, |i, j| w.get(i, j)));
            assert_eq!((packed.rows(), packed.cols(), packed.to_row_major()), (rows, cols, w.flat().to_vec()));
            if rows * cols > 0 {
                packed.set(rows - 1, cols - 1, 7.0);
                assert_eq!((packed.get(rows - 1, cols - 1), packed.get(0, 0) == 7.0), (7.0, rows * cols == 1));
            }
        }
    }

    #[test]
    fn some_rows_multiply_alone_and_x_may_lie_by_columns() {
        let (x, w) = (random::<f32>(9, 11, 7), random::<f32>(40, 50, 8));
        let packed = Packed::from_row_major(40, 50, w.flat());
        let mut found = Matrix::zeros(9, 50);
        let Weights::Packed(rows) = Weights::from(&packed).subrows(13, 11) else { panic!("it is packed") };
        rows.multiply(x.view(), &[], found.flat_mut());
        let by_columns = Matrix::copied(x.view().transpose());
        let own = Packed::from_fn(11, 50, |i, j| w.get(13 + i, j));
        let mut expected = Matrix::zeros(9, 50);
        own.multiply(by_columns.view().transpose(), &[], expected.flat_mut());
        assert_eq!(found, expected);
    }

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
