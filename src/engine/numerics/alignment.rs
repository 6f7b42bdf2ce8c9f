//! Comparison of two sets of points for the same things: the rotation that aligns one with the other (orthogonal
//! Procrustes), and their similarity whatever their widths and axes (CKA).
//!
//! ```text
//! R = argmin ‖P R − Q‖_F   over R with R Rᵀ = I
//!   = U Vᵀ                 of Pᵀ Q = U Σ Vᵀ
//! ```
//!
//! (Schönemann 1966). `P` and `Q` have a row for each point, with coordinates about the same origin. `R` keeps every
//! length and angle. It may be a reflection, because the sign of an axis has no meaning.

use faer::Mat;

use crate::numerics::vectors::{dot, norm};
use crate::numerics::{Matrix, Scalar};

/// Number of axes of every picture.
pub const AXES: usize = 3;

/// An orthogonal matrix `R` (3, 3).
pub type Rotation = [[f64; AXES]; AXES];

pub const NO_TURN: Rotation = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Returns the rotation, possibly with a reflection, that brings the rows of `from`, (n, 3), nearest to the rows of
/// `to`. Only the `free` axes are mixed. Returns [`NO_TURN`] if a number is not finite.
///
/// # Panics
/// If the two have different sizes.
pub fn turn_between(from: &Matrix<f32>, to: &Matrix<f32>, free: &[usize]) -> Rotation {
    assert_eq!((from.rows(), from.cols()), (to.rows(), to.cols()), "procrustes: clouds of different sizes");
    let products = |i: usize, j: usize| -> f64 {
        let rows = 0..from.rows();
        rows.map(|row| f64::from(from.get(row, free[i])) * f64::from(to.get(row, free[j]))).sum()
    };
    let Some(found) = turn_of(&Mat::from_fn(free.len(), free.len(), products)) else { return NO_TURN };
    let mut turn = NO_TURN;
    for (i, &from) in free.iter().enumerate() {
        free.iter().enumerate().for_each(|(j, &to)| turn[from][to] = found[(i, j)]);
    }
    turn
}

/// Returns `R = U Vᵀ` of the products `Pᵀ Q` of two sets of points of any width, or `None` if a number is not finite.
pub fn turn_of(products: &Mat<f64>) -> Option<Mat<f64>> {
    let is_finite = |of: &Mat<f64>| of.col_iter().all(|column| column.iter().all(|x| x.is_finite()));
    let svd = is_finite(products).then(|| products.svd().ok()).flatten()?;
    Some(svd.U() * svd.V().transpose()).filter(is_finite)
}

// Linear centred kernel alignment: the similarity of two sets of vectors for the same things, whatever their widths and
// axes (Kornblith et al. 2019, arXiv 1905.00414).
//
// ```text
// CKA(X, Y) = ‖Yᵀ X‖²_F / (‖Xᵀ X‖_F ‖Yᵀ Y‖_F)     of columns whose mean is 0
//           = ⟨K, L⟩ / (‖K‖ ‖L‖)                  K = X Xᵀ, L = Y Yᵀ, (n, n)
// ```
//
// CKA is 1 if one set is a rotated, shifted and uniformly scaled copy of the other, and 0 if they have nothing in
// common. For a few vectors in a wide space it is large even by chance.

/// The centred Gram matrix `K` (n, n) of a set of vectors, which is all that CKA depends on.
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

    /// Computes the CKA with another set of as many vectors. Returns `None` if all vectors of a set are the same, or a
    /// number is not finite.
    ///
    /// # Panics
    /// If the numbers of vectors differ.
    pub fn alignment(&self, other: &Self) -> Option<f64> {
        assert_eq!(self.0.rows(), other.0.rows(), "alignment: the numbers of vectors differ");
        let alike = dot(self.0.flat(), other.0.flat()) / (norm(self.0.flat()) * norm(other.0.flat()));
        alike.is_finite().then_some(alike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};
    use crate::numerics::rng::{Stream, stream};
    use rand::RngExt;

    const ALL: [usize; AXES] = [0, 1, 2];

    fn cloud(seed: u64) -> Matrix<f32> {
        let mut rng = stream(seed, Stream::ModelInit);
        Matrix::from_fn(40, AXES, |_, axis| rng.random_range(-1.0f32..1.0) * (axis + 1) as f32)
    }

    fn turned(points: &Matrix<f32>, turn: &Rotation) -> Matrix<f32> {
        Matrix::from_fn(points.rows(), AXES, |row, axis| {
            (0..AXES).map(|k| f64::from(points.get(row, k)) * turn[k][axis]).sum::<f64>() as f32
        })
    }

    fn distance(a: &Matrix<f32>, b: &Matrix<f32>) -> f64 {
        let squares = a.flat().iter().zip(b.flat()).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Returns a rotation about the x axis followed by one about the z axis.
    fn rotation(x: f64, z: f64) -> Rotation {
        let (a, b, c, d) = (x.cos(), x.sin(), z.cos(), z.sin());
        [[c, d, 0.0], [-a * d, a * c, b], [b * d, -b * c, a]]
    }

    #[track_caller]
    fn assert_orthogonal(turn: &Rotation) {
        for i in 0..AXES {
            let dots: [f64; AXES] = std::array::from_fn(|j| (0..AXES).map(|k| turn[i][k] * turn[j][k]).sum());
            assert_close(i, dots, NO_TURN[i], Tolerance::DOUBLE_PASS);
        }
    }

    #[test]
    fn a_turned_cloud_is_turned_back_mirrored_or_not() {
        let points = cloud(1);
        let mut mirrored = rotation(-2.1, 0.4);
        mirrored[1] = mirrored[1].map(|x| -x);
        for wanted in [NO_TURN, rotation(0.7, 1.9), rotation(3.0, -2.5), mirrored] {
            assert_orthogonal(&wanted);
            let found = turn_between(&points, &turned(&points, &wanted), &ALL);
            assert_orthogonal(&found);
            assert_close("the turn", found.concat(), wanted.concat(), Tolerance::SINGLE);
        }
    }

    #[test]
    fn axes_that_are_not_free_stay() {
        let points = cloud(5);
        // `to` is `from` rotated about the first axis and mirrored; the free axes are the other two.
        let (c, s) = (0.8, 0.6);
        let wanted = [[1.0, 0.0, 0.0], [0.0, c, s], [0.0, s, -c]];
        let mut to = turned(&points, &wanted);
        (0..to.rows()).for_each(|row| to.row_mut(row)[0] = -to.get(row, 0));
        let found = turn_between(&points, &to, &[1, 2]);
        assert_close("the turn", found.concat(), wanted.concat(), Tolerance::SINGLE);
        assert_eq!(turn_between(&points, &to, &[]), NO_TURN);
        let mirrored =
            turn_between(&points, &turned(&points, &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]), &[2]);
        assert_eq!(mirrored[2], [0.0, 0.0, -1.0]);
    }

    /// Compares the error with that of many other rotations, near the answer and far from it.
    #[test]
    fn no_other_turn_brings_two_clouds_nearer() {
        let (from, to) = (cloud(2), cloud(3));
        let best = distance(&turned(&from, &turn_between(&from, &to, &ALL)), &to);
        for i in 0..60 {
            for j in 0..60 {
                let other = rotation(f64::from(i) * 0.1047, f64::from(j) * 0.1047);
                let flipped = other.map(|row| row.map(|x| -x));
                for turn in [other, flipped] {
                    assert!(distance(&turned(&from, &turn), &to) >= best - Tolerance::SINGLE.part());
                }
            }
        }
        assert!(best < distance(&from, &to));
    }

    #[test]
    fn clouds_without_form_give_some_turn() {
        let zeros = Matrix::zeros(4, AXES);
        assert_orthogonal(&turn_between(&zeros, &zeros, &ALL));
        assert_orthogonal(&turn_between(&Matrix::zeros(0, AXES), &Matrix::zeros(0, AXES), &ALL));
        let flat = Matrix::from_fn(9, AXES, |row, axis| if axis == 2 { 0.0 } else { (row * (axis + 1)) as f32 });
        assert_orthogonal(&turn_between(&flat, &cloud(4).clone_rows(9), &ALL));
        let wild = Matrix::from_fn(9, AXES, |_, _| f32::NAN);
        assert_eq!(turn_between(&wild, &flat, &ALL), NO_TURN);
    }

    impl Matrix<f32> {
        fn clone_rows(&self, rows: usize) -> Self {
            Matrix::from_fn(rows, self.cols(), |i, j| self.get(i, j))
        }
    }

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
        assert_close("the alignment", aligned(&a, &turned).expect("a number"), 1.0, Tolerance::DOUBLE_PASS);
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
        assert_close("the alignment", aligned(&a, &b).expect("a number"), expected, Tolerance::DOUBLE_PASS);
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
