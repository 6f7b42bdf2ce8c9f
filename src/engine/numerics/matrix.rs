//! An owned row-major matrix. Rows are tokens or words, and each row is a slice.

use std::ops::Range;

use faer::{MatMut, MatRef};

use super::Scalar;

#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<S> {
    rows: usize,
    cols: usize,
    values: Vec<S>,
}

impl<S: Scalar> Matrix<S> {
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, values: vec![S::zero(); rows * cols] }
    }

    /// Makes a matrix of entries in row-major order.
    ///
    /// # Panics
    /// If `values` does not hold `rows · cols` entries.
    pub fn from_row_major(rows: usize, cols: usize, values: Vec<S>) -> Self {
        assert_eq!(values.len(), rows * cols, "matrix: {} entries given for ({rows}, {cols})", values.len());
        Self { rows, cols, values }
    }

    /// Stacks matrices, the rows of one below those of another.
    ///
    /// # Panics
    /// If a matrix does not have `cols` columns.
    pub fn stacked<'m>(cols: usize, parts: impl IntoIterator<Item = &'m Self>) -> Self
    where
        S: 'm,
    {
        let mut values = Vec::new();
        for part in parts {
            assert_eq!(part.cols(), cols, "rows are of one width");
            values.extend_from_slice(part.flat());
        }
        Self::from_row_major(values.len() / cols.max(1), cols, values)
    }

    pub fn from_fn(rows: usize, cols: usize, mut entry: impl FnMut(usize, usize) -> S) -> Self {
        let mut values = Vec::with_capacity(rows * cols);
        (0..rows).for_each(|i| values.extend((0..cols).map(|j| entry(i, j))));
        Self { rows, cols, values }
    }

    pub fn copied(view: MatRef<'_, S>) -> Self {
        Self::from_fn(view.nrows(), view.ncols(), |i, j| view[(i, j)])
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    pub fn row(&self, i: usize) -> &[S] {
        &self.values[i * self.cols..(i + 1) * self.cols]
    }

    pub fn row_mut(&mut self, i: usize) -> &mut [S] {
        &mut self.values[i * self.cols..(i + 1) * self.cols]
    }

    pub fn get(&self, i: usize, j: usize) -> S {
        self.row(i)[j]
    }

    /// Returns all entries, row by row.
    pub fn flat(&self) -> &[S] {
        &self.values
    }

    pub fn flat_mut(&mut self) -> &mut [S] {
        &mut self.values
    }

    pub fn view(&self) -> MatRef<'_, S> {
        MatRef::from_row_major_slice(&self.values, self.rows, self.cols)
    }

    pub fn view_mut(&mut self) -> MatMut<'_, S> {
        MatMut::from_row_major_slice_mut(&mut self.values, self.rows, self.cols)
    }

    /// Returns the first `rows` rows, so that a buffer for the largest batch serves a smaller one.
    pub fn top(&self, rows: usize) -> MatRef<'_, S> {
        MatRef::from_row_major_slice(&self.values[..rows * self.cols], rows, self.cols)
    }

    /// Returns the entries of the first `rows` rows, row by row.
    pub fn top_flat_mut(&mut self, rows: usize) -> &mut [S] {
        &mut self.values[..rows * self.cols]
    }

    /// Returns the entries of the first `rows` rows, row by row.
    pub fn top_flat(&self, rows: usize) -> &[S] {
        &self.values[..rows * self.cols]
    }

    /// Copies a range of rows.
    pub fn rows_in(&self, rows: &Range<usize>) -> Self {
        let values = self.values[rows.start * self.cols..rows.end * self.cols].to_vec();
        Self { rows: rows.len(), cols: self.cols, values }
    }

    /// Copies a range of columns of the first `rows` rows.
    pub fn top_columns(&self, rows: usize, columns: &Range<usize>) -> Self {
        let mut values = Vec::with_capacity(rows * columns.len());
        (0..rows).for_each(|i| values.extend_from_slice(&self.row(i)[columns.clone()]));
        Self { rows, cols: columns.len(), values }
    }

    /// Returns the matrix with every entry multiplied by a factor.
    #[must_use]
    pub fn scaled(&self, factor: S) -> Self {
        Self::from_row_major(self.rows(), self.cols(), self.flat().iter().map(|&x| factor * x).collect())
    }

    pub fn cast<R: Scalar>(&self) -> Matrix<R> {
        Matrix {
            rows: self.rows,
            cols: self.cols,
            values: self.values.iter().map(|x| R::from_f64(x.to_f64())).collect(),
        }
    }
}
