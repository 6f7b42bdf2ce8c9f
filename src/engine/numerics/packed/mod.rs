//! A large weight matrix as its product reads it: packed once, multiplied often, never trained.
//!
//! A general product packs `W` anew each time, which for a sentence of 16 tokens is as much work as the product. Here
//! `W` (in, out) lies in panels of [`PANEL`] columns, row by row, the last one filled up with zeros. A tile of `X` goes
//! through a whole panel while the sums stay in registers ([`tile`]), so that `W` is read once, in the order in
//! which it lies. Every sum runs over the inputs in their order, whatever rows and threads it shares its work with: the
//! same row has the same bits in any batch.

mod tile;

use faer::MatRef;

pub use tile::{PANEL, Product, on_plain_numbers};

#[cfg(target_arch = "x86_64")]
pub use tile::{on_avx2, on_avx512};

use super::{Matrix, Scalar, are_same};

/// `W` (in, out), in panels.
#[derive(Clone, Debug)]
pub struct Packed<S> {
    rows: usize,
    cols: usize,
    /// Panel by panel, each (in, [`PANEL`]).
    panels: Vec<[S; PANEL]>,
}

impl<S: Scalar> PartialEq for Packed<S> {
    fn eq(&self, other: &Self) -> bool {
        let has_shape = (self.rows, self.cols) == (other.rows, other.cols);
        has_shape && are_same(self.padded(), other.padded())
    }
}

impl<S: Scalar> Packed<S> {
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, panels: vec![[S::zero(); PANEL]; rows * cols.div_ceil(PANEL)] }
    }

    /// # Panics
    /// If there are not `rows · cols` values.
    pub fn from_row_major(rows: usize, cols: usize, values: &[S]) -> Self {
        let mut packed = Self::zeros(rows, cols);
        packed.set_row_major(values);
        packed
    }

    pub fn from_fn(rows: usize, cols: usize, mut entry: impl FnMut(usize, usize) -> S) -> Self {
        let mut packed = Self::zeros(rows, cols);
        for (first, panel) in (0..cols).step_by(PANEL).zip(packed.panels.chunks_exact_mut(rows.max(1))) {
            let width = PANEL.min(cols - first);
            for (i, to) in panel.iter_mut().enumerate() {
                to[..width].iter_mut().enumerate().for_each(|(j, to)| *to = entry(i, first + j));
            }
        }
        packed
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    /// # Panics
    /// If there is no such entry.
    pub fn get(&self, row: usize, col: usize) -> S {
        let (panel, lane) = self.place(row, col);
        self.panels[panel][lane]
    }

    /// # Panics
    /// If there is no such entry.
    pub fn set(&mut self, row: usize, col: usize, value: S) {
        let (panel, lane) = self.place(row, col);
        self.panels[panel][lane] = value;
    }

    fn place(&self, row: usize, col: usize) -> (usize, usize) {
        let (rows, cols) = (self.rows, self.cols);
        assert!(row < rows && col < cols, "packed: no entry ({row}, {col}) in ({rows}, {cols})");
        (col / PANEL * rows + row, col % PANEL)
    }

    /// # Panics
    /// If there are not as many values as entries.
    pub fn set_row_major(&mut self, values: &[S]) {
        let (rows, cols, found) = (self.rows, self.cols, values.len());
        assert_eq!(found, rows * cols, "packed: {found} values for ({rows}, {cols})");
        for (first, panel) in (0..cols).step_by(PANEL).zip(self.panels.chunks_exact_mut(rows.max(1))) {
            let width = PANEL.min(cols - first);
            for (to, row) in panel.iter_mut().zip(values.chunks_exact(cols)) {
                to[..width].copy_from_slice(&row[first..first + width]);
            }
        }
    }

    /// Writes a part of the matrix, from an entry on.
    ///
    /// # Panics
    /// If it reaches beyond the matrix.
    pub fn set_part(&mut self, (row, col): (usize, usize), from: MatRef<'_, S>) {
        let (rows, cols) = (self.rows, self.cols);
        let (end_row, end_col) = (row + from.nrows(), col + from.ncols());
        assert!(end_row <= rows && end_col <= cols, "packed: a part up to ({end_row}, {end_col}) of ({rows}, {cols})");
        let mut begin = col;
        while begin < end_col {
            let (at, lane) = (begin / PANEL, begin % PANEL);
            let width = (PANEL - lane).min(end_col - begin);
            let panel = self.panels[at * rows..][row..end_row].iter_mut().map(|to| &mut to[lane..lane + width]);
            let from = from.subcols(begin - col, width);
            match from.try_as_col_major() {
                Some(by_columns) => {
                    let columns: Vec<&[S]> = (0..width).map(|j| by_columns.col(j).as_slice()).collect();
                    let entry = |i: usize| columns.iter().map(move |column| column[i]);
                    panel.enumerate().for_each(|(i, to)| to.iter_mut().zip(entry(i)).for_each(|(to, from)| *to = from));
                }
                None => panel.zip(from.row_iter()).for_each(|(to, from)| {
                    to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = *from);
                }),
            }
            begin += width;
        }
    }

    /// All numbers in the order in which they lie, with the zeros that fill the last panel.
    pub fn padded(&self) -> &[S] {
        self.panels.as_flattened()
    }

    pub fn to_row_major(&self) -> Vec<S> {
        let mut values = vec![S::zero(); self.rows * self.cols];
        for (first, panel) in (0..self.cols).step_by(PANEL).zip(self.panels.chunks_exact(self.rows.max(1))) {
            let width = PANEL.min(self.cols - first);
            for (row, from) in values.chunks_exact_mut(self.cols).zip(panel) {
                row[first..first + width].copy_from_slice(&from[..width]);
            }
        }
        values
    }

    pub fn to_matrix(&self) -> Matrix<S> {
        Matrix::from_row_major(self.rows, self.cols, self.to_row_major())
    }

    /// `Y = X W + b`; an empty `b` stands for none.
    ///
    /// # Shapes
    /// `x` (N, in), `b` (out), `y` (N, out) row-major
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn multiply(&self, x: MatRef<'_, S>, b: &[S], y: &mut [S]) {
        self.all_rows().multiply(x, b, y);
    }

    /// The matrix, to multiply by.
    pub fn all_rows(&self) -> PackedRows<'_, S> {
        PackedRows { packed: self, first: 0, count: self.rows }
    }
}

/// Some rows of a packed matrix: of `W_O` those of one head.
#[derive(Clone, Copy, Debug)]
pub struct PackedRows<'a, S> {
    packed: &'a Packed<S>,
    first: usize,
    count: usize,
}

impl<S: Scalar> PackedRows<'_, S> {
    /// As [`Packed::multiply`], by these rows alone.
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
                copy.view().transpose().try_as_col_major().expect("a matrix of its own is row-major")
            }
        };
        let rows = (0..n).map(|i| x.col(i).as_slice()).collect();
        let y = y.chunks_exact_mut(outputs).collect();
        S::multiply_packed(Product { x: rows, panels: &packed.panels, stride: packed.rows, first, count, b, y });
    }
}

/// A weight matrix (in, out) to multiply by, plain or packed.
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

    /// Some of the rows.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::rng::{Stream, stream};
    use rand::RngExt;

    fn random<S: Scalar>(rows: usize, cols: usize, seed: u64) -> Matrix<S> {
        let mut rng = stream(seed, Stream::ModelInit);
        Matrix::from_fn(rows, cols, |_, _| S::from_f64(rng.random_range(-1.0..1.0)))
    }

    /// The largest difference from sums in double precision.
    fn error<S: Scalar>(n: usize, inputs: usize, outputs: usize, run: impl FnOnce(Product<'_, S>)) -> f64 {
        let (x, w, b) = (random::<S>(n, inputs, 1), random::<S>(inputs, outputs, 2), random::<S>(1, outputs, 3));
        let packed = Packed::from_row_major(inputs, outputs, w.flat());
        let mut y = Matrix::zeros(n, outputs);
        run(Product {
            x: (0..n).map(|i| x.row(i)).collect(),
            panels: &packed.panels,
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

    /// Rows, inputs and outputs that no tile, register or panel divides.
    const SHAPES: [(usize, usize, usize); 7] =
        [(1, 1, 1), (3, 7, 5), (8, 32, 32), (13, 40, 33), (16, 96, 64), (25, 17, 95), (30, 3, 31)];

    #[test]
    fn every_processor_s_tiles_multiply() {
        for (n, inputs, outputs) in SHAPES {
            assert!(error::<f32>(n, inputs, outputs, on_plain_numbers) < 1e-5);
            assert!(error::<f64>(n, inputs, outputs, on_plain_numbers) < 1e-14);
            #[cfg(target_arch = "x86_64")]
            {
                match pulp::x86::V3::try_new() {
                    Some(simd) => assert!(error::<f32>(n, inputs, outputs, |work| on_avx2(simd, work)) < 1e-5),
                    None => eprintln!("SKIPPED: no AVX2 and FMA here"),
                }
                match pulp::x86::V4::try_new() {
                    Some(simd) => assert!(error::<f32>(n, inputs, outputs, |work| on_avx512(simd, work)) < 1e-5),
                    None => eprintln!("SKIPPED: no AVX-512 here"),
                }
            }
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
}
