//! Linear centred kernel alignment: how alike two sets of vectors for the same things are, whatever their widths and axes
//! (Kornblith et al. 2019, arXiv 1905.00414).
//!
//! ```text
//! CKA(X, Y) = ‖Yᵀ X‖²_F / (‖Xᵀ X‖_F ‖Yᵀ Y‖_F)     of columns whose mean is 0
//!           = ⟨K, L⟩ / (‖K‖ ‖L‖)                  K = X Xᵀ, L = Y Yᵀ, (n, n)
//! ```
//!
//! The alignment is 1 where one set is the other turned, moved and scaled as a whole, and 0 where they have nothing in common. For few
//! things in wide spaces it is large even by chance.

use super::vectors::{dot, norm};
use super::{Matrix, Scalar};

/// The products of rows with each other, less what their mean adds: as much of a set of vectors as the alignment sees.
#[derive(Clone, Debug)]
pub struct CentredGram(Matrix<f64>);

impl CentredGram {
    pub fn of<S: Scalar>(rows: &Matrix<S>) -> Self {
        let mut rows = rows.cast::<f64>();
        let (count, width) = (rows.rows(), rows.cols());
        for column in 0..width {
            let mean = (0..count).map(|row| rows.get(row, column)).sum::<f64>() / count.max(1) as f64;
            (0..count).for_each(|row| rows.row_mut(row)[column] -= mean);
        }
        Self(Matrix::from_fn(count, count, |i, j| dot(rows.row(i), rows.row(j))))
    }

    /// The alignment with another set of as many vectors; `None` where a set has no spread, or a number is not finite.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn alignment(&self, other: &Self) -> Option<f64> {
        assert_eq!(self.0.rows(), other.0.rows(), "alignment: as many vectors in both");
        let alike = dot(self.0.flat(), other.0.flat()) / (norm(self.0.flat()) * norm(other.0.flat()));
        alike.is_finite().then_some(alike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned<S: Scalar>(a: &Matrix<S>, b: &Matrix<S>) -> Option<f64> {
        CentredGram::of(a).alignment(&CentredGram::of(b))
    }

    fn some(rows: usize, cols: usize, turn: usize) -> Matrix<f64> {
        Matrix::from_fn(rows, cols, |i, j| (((i * 7 + j * 13 + turn * 5) * 31) % 23) as f64 - 11.0)
    }

    #[test]
    fn a_set_that_is_turned_moved_and_scaled_is_the_same() {
        let a = some(5, 2, 1);
        let (sin, cos) = 0.7f64.sin_cos();
        let turned = Matrix::from_fn(5, 2, |i, j| {
            let (x, y) = (a.get(i, 0), a.get(i, 1));
            3.0 * if j == 0 { cos * x - sin * y } else { sin * x + cos * y } + 40.0
        });
        assert!((aligned(&a, &turned).expect("a number") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn it_is_the_ratio_of_the_definition() {
        let (a, b) = (some(6, 3, 1), some(6, 4, 2));
        let centred = |x: &Matrix<f64>| {
            let mean = |j: usize| (0..x.rows()).map(|i| x.get(i, j)).sum::<f64>() / x.rows() as f64;
            Matrix::from_fn(x.rows(), x.cols(), |i, j| x.get(i, j) - mean(j))
        };
        let (x, y) = (centred(&a), centred(&b));
        let square = |x: &Matrix<f64>, y: &Matrix<f64>| {
            let product = |i: usize, j: usize| (0..x.rows()).map(|row| y.get(row, i) * x.get(row, j)).sum::<f64>();
            (0..y.cols())
                .flat_map(|i| (0..x.cols()).map(move |j| (i, j)))
                .map(|(i, j)| product(i, j).powi(2))
                .sum::<f64>()
        };
        let expected = square(&x, &y) / (square(&x, &x).sqrt() * square(&y, &y).sqrt());
        assert!((aligned(&a, &b).expect("a number") - expected).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_said_of_one_point() {
        let one = Matrix::from_fn(4, 3, |_, _| 0.5f32);
        assert_eq!(aligned(&one, &one), None);
        assert_eq!(aligned(&some(1, 3, 0), &some(1, 3, 0)), None);
        assert_eq!(aligned(&Matrix::<f64>::zeros(0, 3), &Matrix::zeros(0, 3)), None);
        let broken = Matrix::from_fn(3, 1, |i, _| if i == 0 { f32::NAN } else { 1.0 });
        assert_eq!(aligned(&broken, &broken), None);
    }
}
