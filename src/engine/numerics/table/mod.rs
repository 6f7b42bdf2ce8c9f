//! A table of words' vectors, row by row, in the number type of its file.
//!
//! Two-byte numbers stay that way in memory and are widened, exactly, when a row is read. Results have the same bits as
//! with a table that was widened first.

mod products;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use faer::MatRef;

pub use products::{multiply_by_rows, multiply_range};

pub use super::numbers::TableRef;

use super::packed::{Bf16, F16, NumberType, Numbers, write};
use super::parallel::{available, map};
use super::vectors::centroid;
use super::{Matrix, Scalar};

/// `E` (V, D)
#[derive(Clone, Debug)]
pub struct Table<S> {
    rows: usize,
    cols: usize,
    /// Numbers, row by row.
    numbers: Numbers<Matrix<S>, Vec<u16>>,
}

/// Number of rows of a part in [`Table::parts`], few enough to stay in a cache after they are widened.
const AT_A_TIME: usize = 1024;

impl<S: Scalar> Table<S> {
    pub fn zeros_as(kind: NumberType, rows: usize, cols: usize) -> Self {
        Self { rows, cols, numbers: Numbers::new(kind, || Matrix::zeros(rows, cols), || vec![0; rows * cols]) }
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
        assert!(col < self.cols, "table: column {col} of {}", self.cols);
        let at = row * self.cols + col;
        match &self.numbers {
            Numbers::Whole(numbers) => numbers.flat()[at],
            Numbers::Bf16(numbers) => Bf16(numbers[at]).number(),
            Numbers::F16(numbers) => F16(numbers[at]).number(),
        }
    }

    /// Returns a row in the type of the arithmetic; two-byte numbers are copied.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> Cow<'_, [S]> {
        self.view().row(row)
    }

    /// Returns some rows, widened.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn gathered(&self, rows: impl ExactSizeIterator<Item = usize>) -> Matrix<S> {
        self.view().gathered(rows)
    }

    /// Returns all rows in the type of the arithmetic, a part of the table at a time.
    pub fn parts(&self) -> impl Iterator<Item = Matrix<S>> {
        (0..self.rows).step_by(AT_A_TIME).map(|first| self.part(first))
    }

    /// Returns the results of `work` on all rows, a part at a time and on all threads of the machine, in the order of
    /// the rows.
    pub fn map_parts<T: Send>(&self, work: impl Fn(Matrix<S>) -> T + Sync) -> Vec<T> {
        let parts: Vec<usize> = (0..self.rows).step_by(AT_A_TIME).collect();
        map(&parts, available(), |&first| work(self.part(first)))
    }

    fn part(&self, first: usize) -> Matrix<S> {
        self.gathered(first..self.rows.min(first + AT_A_TIME))
    }

    /// Computes the mean of some rows.
    ///
    /// # Panics
    /// If there are none.
    pub fn centroid(&self, rows: &[usize]) -> Vec<S> {
        centroid(&self.gathered(rows.iter().copied()), &(0..rows.len()).collect::<Vec<_>>())
    }

    /// Returns the whole table in the type of the arithmetic; two-byte numbers are copied.
    pub fn widened(&self) -> Cow<'_, Matrix<S>> {
        match &self.numbers {
            Numbers::Whole(numbers) => Cow::Borrowed(numbers),
            Numbers::Bf16(_) | Numbers::F16(_) => Cow::Owned(self.gathered(0..self.rows)),
        }
    }

    /// Returns the table in the type of the arithmetic, for training, which reads all of it at each step.
    #[must_use]
    pub fn to_whole(self: &Arc<Self>) -> Arc<Self> {
        match self.widened() {
            Cow::Borrowed(_) => self.clone(),
            Cow::Owned(whole) => Arc::new(whole.into()),
        }
    }

    /// Returns the size in bytes of the numbers in memory.
    pub fn bytes(&self) -> usize {
        match &self.numbers {
            Numbers::Whole(numbers) => size_of_val(numbers.flat()),
            Numbers::Bf16(numbers) | Numbers::F16(numbers) => size_of_val(&numbers[..]),
        }
    }

    /// Writes a part, starting at an entry. If a number does not fit in the table's type, the whole table is widened.
    ///
    /// # Panics
    /// If the part reaches beyond the table.
    pub fn set_part(&mut self, (row, col): (usize, usize), from: MatRef<'_, S>) {
        let (rows, cols) = (self.rows, self.cols);
        let (end_row, end_col) = (row + from.nrows(), col + from.ncols());
        assert!(end_row <= rows && end_col <= cols, "table: a part up to ({end_row}, {end_col}) of ({rows}, {cols})");
        let fits = match &mut self.numbers {
            Numbers::Whole(numbers) => {
                numbers.view_mut().submatrix_mut(row, col, from.nrows(), from.ncols()).copy_from(from);
                true
            }
            Numbers::Bf16(numbers) => write_part(numbers, cols, (row, col), from, Bf16::narrowed),
            Numbers::F16(numbers) => write_part(numbers, cols, (row, col), from, F16::narrowed),
        };
        if !fits {
            self.numbers = Numbers::Whole(self.widened().into_owned());
            self.set_part((row, col), from);
        }
    }

    /// Returns a view of the whole table.
    #[inline(always)]
    pub fn view(&self) -> TableRef<'_, S> {
        TableRef { rows: self.rows, cols: self.cols, numbers: self.numbers.as_ref().map(Matrix::flat, Vec::as_slice) }
    }
}

/// Writes a part of two-byte numbers. Returns false if one does not fit.
fn write_part<S: Scalar>(
    to: &mut [u16],
    cols: usize,
    (row, col): (usize, usize),
    from: MatRef<'_, S>,
    narrow: impl Fn(S) -> (u16, bool),
) -> bool {
    let by_rows = from.transpose().try_as_col_major();
    let rows = to.chunks_exact_mut(cols.max(1)).skip(row).take(from.nrows()).enumerate();
    rows.fold(true, |fits, (i, to)| {
        let to = to[col..].iter_mut();
        fits & match by_rows {
            Some(rows) => write(to, rows.col(i).as_slice().iter().copied(), &narrow),
            None => write(to, (0..from.ncols()).map(|j| from[(i, j)]), &narrow),
        }
    })
}

/// Equality of all numbers, whatever their types.
impl<S: Scalar> PartialEq for Table<S> {
    fn eq(&self, other: &Self) -> bool {
        let shape = |table: &Self| (table.rows, table.cols);
        shape(self) == shape(other) && (0..self.rows).all(|row| self.row(row) == other.row(row))
    }
}

impl<S: Scalar> From<Matrix<S>> for Table<S> {
    fn from(numbers: Matrix<S>) -> Self {
        Self { rows: numbers.rows(), cols: numbers.cols(), numbers: Numbers::Whole(numbers) }
    }
}

impl<'a, S: Scalar> TableRef<'a, S> {
    /// Returns a view of numbers as rows of the given width.
    #[inline(always)]
    pub fn of_rows(numbers: &'a [S], cols: usize) -> Self {
        Self { rows: numbers.len() / cols.max(1), cols, numbers: Numbers::Whole(numbers) }
    }

    #[inline(always)]
    pub fn rows(self) -> usize {
        self.rows
    }

    #[inline(always)]
    pub fn cols(self) -> usize {
        self.cols
    }

    /// Returns a row in the type of the arithmetic; two-byte numbers are copied.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(self, row: usize) -> Cow<'a, [S]> {
        let entries = self.entries(row);
        match self.numbers {
            Numbers::Whole(numbers) => Cow::Borrowed(&numbers[entries]),
            Numbers::Bf16(_) | Numbers::F16(_) => {
                let mut widened = vec![S::zero(); self.cols];
                self.copy_row(row, &mut widened);
                Cow::Owned(widened)
            }
        }
    }

    /// Copies a row, widened, to `to`.
    ///
    /// # Panics
    /// If there is no such row, or `to` is not as long.
    #[inline(always)]
    pub fn copy_row(self, row: usize, to: &mut [S]) {
        let entries = self.entries(row);
        match self.numbers {
            Numbers::Whole(numbers) => to.copy_from_slice(&numbers[entries]),
            Numbers::Bf16(numbers) => {
                to.iter_mut().zip(&numbers[entries]).for_each(
                    #[inline(always)]
                    |(to, bits)| *to = Bf16(*bits).number(),
                );
            }
            Numbers::F16(numbers) => {
                to.iter_mut().zip(&numbers[entries]).for_each(
                    #[inline(always)]
                    |(to, bits)| *to = F16(*bits).number(),
                );
            }
        }
    }

    /// Returns some rows, widened.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn gathered(self, rows: impl ExactSizeIterator<Item = usize>) -> Matrix<S> {
        let mut gathered = Matrix::zeros(rows.len(), self.cols);
        rows.enumerate().for_each(|(i, row)| self.copy_row(row, gathered.row_mut(i)));
        gathered
    }

    /// Returns all rows in the type of the arithmetic; two-byte numbers are copied.
    pub fn widened(self) -> Cow<'a, [S]> {
        match self.numbers {
            Numbers::Whole(numbers) => Cow::Borrowed(numbers),
            Numbers::Bf16(_) | Numbers::F16(_) => {
                let mut widened = vec![S::zero(); self.rows * self.cols];
                let rows = widened.chunks_exact_mut(self.cols.max(1)).enumerate();
                rows.for_each(|(row, to)| self.copy_row(row, to));
                Cow::Owned(widened)
            }
        }
    }

    #[inline(always)]
    fn entries(self, row: usize) -> Range<usize> {
        row * self.cols..(row + 1) * self.cols
    }

    /// Returns the numbers of some rows as they are stored; empty if they have to be widened.
    #[inline(always)]
    fn flat_rows(self, rows: Range<usize>) -> &'a [S] {
        match self.numbers {
            Numbers::Whole(numbers) => &numbers[rows.start * self.cols..rows.end * self.cols],
            Numbers::Bf16(_) | Numbers::F16(_) => &[],
        }
    }

    /// Returns whether rows have to be widened before they are multiplied.
    #[inline(always)]
    fn is_narrow(self) -> bool {
        !matches!(self.numbers, Numbers::Whole(_))
    }
}

impl<'a, S: Scalar> From<&'a Table<S>> for TableRef<'a, S> {
    fn from(table: &'a Table<S>) -> Self {
        table.view()
    }
}

impl<'a, S: Scalar> From<&'a Matrix<S>> for TableRef<'a, S> {
    fn from(matrix: &'a Matrix<S>) -> Self {
        Self::of_rows(matrix.flat(), matrix.cols())
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::numerics::rng::{Stream, stream};

    /// Returns random numbers that fit in the type, in that type and widened.
    fn tables(kind: NumberType, rows: usize, cols: usize) -> [Table<f32>; 2] {
        let mut rng = stream(9, Stream::ModelInit);
        let whole = Matrix::from_fn(rows, cols, |_, _| {
            let number = rng.random_range(-1.0f32..1.0);
            match kind {
                NumberType::F16 => half::f16::from_f32(number).to_f32(),
                _ => half::bf16::from_f32(number).to_f32(),
            }
        });
        let mut narrow = Table::zeros_as(kind, rows, cols);
        narrow.set_part((0, 0), whole.view());
        [narrow, whole.into()]
    }

    #[test]
    fn narrow_numbers_are_read_as_if_they_had_been_widened_first() {
        let x = Matrix::from_fn(6, 37, |i, j| (i * 5 + j) as f32 / 9.0 - 2.0);
        for kind in [NumberType::Bf16, NumberType::F16] {
            let [narrow, whole] = tables(kind, 1500, 37);
            assert_eq!((narrow.bytes() * 2, &narrow), (whole.bytes(), &whole));
            assert_eq!((narrow.get(9, 36), narrow.row(1499)), (whole.get(9, 36), whole.row(1499)));
            assert_eq!(narrow.widened(), whole.widened());
            assert_eq!(narrow.view().widened(), whole.view().widened());
            assert!(narrow.parts().eq(whole.parts()) && narrow.parts().count() == 2);
            for rows in 1..=x.rows() {
                let some = Matrix::from_row_major(rows, 37, x.top_flat(rows).to_vec());
                let [found, expected] = [&narrow, &whole].map(|table| multiply_by_rows(&some, table, &[]));
                assert_eq!(found, expected, "{kind:?}, {rows} rows");
            }
        }
    }

    #[test]
    fn a_number_that_does_not_fit_widens_the_table_and_changes_nothing_else() {
        for kind in [NumberType::Bf16, NumberType::F16] {
            let [mut narrow, whole] = tables(kind, 5, 7);
            narrow.set_part((4, 6), Matrix::from_row_major(1, 1, vec![0.1]).view());
            assert_eq!((narrow.get(4, 6), narrow.bytes()), (0.1, whole.bytes()));
            narrow.set_part((4, 6), Matrix::from_row_major(1, 1, vec![whole.get(4, 6)]).view());
            assert_eq!(narrow, whole);
        }
    }
}
