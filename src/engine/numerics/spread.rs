//! The mean and the covariance of vectors, from which axes are computed.
//!
//! The covariance `C = Xᵀ X / n` of n vectors of width D has D² numbers, and its decomposition takes D³ operations. If
//! the vectors are wider than they are many, the rows of `X` are kept instead: `aᵀ C b = (X a) · (X b) / n`, and the
//! components are `Xᵀ u` for the eigenvectors `u` of the Gram matrix `X Xᵀ`, which is (n, n).

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, Par, Side};

use super::vectors::dot;
use super::{Matrix, parallel};

/// Share of a sum of squares below which a remainder computed from it is only rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// Mean and covariance of vectors, in double precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    mean: Vec<f64>,
    covariance: Covariance,
}

/// A covariance in the smaller of its two forms.
#[derive(Clone, Debug, PartialEq)]
enum Covariance {
    /// `C`, (D, D)
    Whole(Mat<f64>),
    /// `X / √n` of the centred vectors, (n, D), and directions that no component may have, which are orthogonal to the
    /// rows.
    Rows { rows: Matrix<f64>, excluded: Vec<Vec<f64>> },
}

/// Width above which few vectors are kept as rows; for narrower ones the whole covariance costs next to nothing.
const ROWS_WIDTH_MIN: usize = 256;
/// Width above which no covariance matrix is made: at this width it takes 32 MB and seconds to decompose.
pub const COVARIANCE_WIDTH_MAX: usize = 2048;
/// Largest number of rows that are kept of wider vectors; if there are more, an even sample of them is kept.
const ROWS_MAX: usize = 1024;
/// Largest number of numbers in these rows.
const ROWS_NUMBERS_MAX: usize = 1 << 24;

impl Spread {
    /// Computes the mean and covariance of the rows.
    ///
    /// # Panics
    /// If there are no rows.
    pub fn of(vectors: &Matrix<f32>) -> Self {
        let (n, width) = (vectors.rows(), vectors.cols());
        assert!(n > 0, "spread: of no vectors");
        let mut mean = vec![0.0; width];
        for row in 0..n {
            mean.iter_mut().zip(vectors.row(row)).for_each(|(sum, x)| *sum += f64::from(*x));
        }
        mean.iter_mut().for_each(|sum| *sum /= n as f64);
        let covariance = match is_of_rows(n, width) {
            true => Covariance::of_rows(vectors, &mean, Self::sampled(n, width)),
            false => Covariance::whole(vectors, &mean),
        };
        Self { mean, covariance }
    }

    /// Returns the number of vectors, of `n` of the given width, that the covariance is computed from: all, or a sample
    /// if they are very wide.
    pub fn sampled(n: usize, width: usize) -> usize {
        if is_of_rows(n, width) { n.min(ROWS_MAX).min(ROWS_NUMBERS_MAX / width).max(1) } else { n }
    }

    /// Restores a spread from [`Self::mean`] and [`Self::packed`]. Returns `None` if their sizes do not fit, or a
    /// number cannot come from vectors in single precision.
    pub fn from_packed(mean: Vec<f64>, packed: &[f64]) -> Option<Self> {
        const MOST: f64 = f32::MAX as f64;
        // No entry is further from its mean than 2 · MOST.
        const MOST_TOGETHER: f64 = 4.0 * MOST * MOST;
        let width = mean.len();
        let fits = width > 0
            && width.checked_mul(width + 1).map(|twice| twice / 2) == Some(packed.len())
            && mean.iter().all(|x| x.abs() <= MOST)
            && packed.iter().all(|x| x.abs() <= MOST_TOGETHER);
        let entry = |i: usize, j: usize| packed[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
        fits.then(|| Self { covariance: Covariance::Whole(Mat::from_fn(width, width, entry)), mean })
    }

    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Returns the covariance's lower triangle, row by row, for vectors of width [`COVARIANCE_WIDTH_MAX`] at most.
    pub fn packed(&self) -> Vec<f64> {
        (0..self.width()).flat_map(|i| (0..=i).map(move |j| self.covariance.entry(i, j))).collect()
    }

    /// Returns the width `D` of the vectors.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// Returns the total variance.
    pub fn total(&self) -> f64 {
        match &self.covariance {
            Covariance::Whole(whole) => (0..self.width()).map(|j| whole[(j, j)]).sum(),
            Covariance::Rows { rows, .. } => rows.flat().iter().map(|x| x * x).sum(),
        }
    }

    /// Computes `aᵀ C a`, the variance along a direction of length 1.
    pub fn variance_along(&self, direction: &[f64]) -> f64 {
        self.covariance_along(direction, direction)
    }

    /// Computes `aᵀ C b`.
    pub(super) fn covariance_along(&self, a: &[f64], b: &[f64]) -> f64 {
        match &self.covariance {
            Covariance::Whole(whole) => {
                let at = |i: usize| b.iter().enumerate().map(|(j, x)| whole[(i, j)] * x).sum::<f64>();
                a.iter().enumerate().map(|(i, x)| x * at(i)).sum()
            }
            Covariance::Rows { rows, .. } => {
                (0..rows.rows()).map(|row| dot(rows.row(row), a) * dot(rows.row(row), b)).sum()
            }
        }
    }

    /// Returns the spread of the vectors' remainders orthogonal to a basis. The directions of the basis come last in
    /// [`Self::components`], or not at all if the rows are kept.
    pub(super) fn without(&self, basis: &[Vec<f64>]) -> Self {
        let covariance = match &self.covariance {
            Covariance::Whole(whole) => without(whole, basis, 1.0 + self.total()),
            Covariance::Rows { rows, excluded } => {
                let mut rows = rows.clone();
                (0..rows.rows()).for_each(|row| basis.iter().for_each(|b| remove(rows.row_mut(row), b)));
                Covariance::Rows { rows, excluded: [excluded, basis].concat() }
            }
        };
        Self { mean: self.mean.clone(), covariance }
    }

    /// Returns the directions of most variance, in decreasing order, each pointing so that its largest entry is
    /// positive; `None` if the decomposition fails.
    pub fn components(&self, count: usize) -> Option<Vec<Vec<f64>>> {
        let mut components = match &self.covariance {
            Covariance::Whole(whole) => {
                let eigen = whole.self_adjoint_eigen(Side::Lower).ok()?;
                eigen.U().col_iter().rev().take(count).map(|vector| vector.iter().copied().collect()).collect()
            }
            Covariance::Rows { rows, excluded } => components_of_rows(rows, excluded, count)?,
        };
        for component in &mut components {
            let larger = |best: f64, x: &f64| if x.abs() > best.abs() { *x } else { best };
            let sign = component.iter().fold(0.0, larger).signum();
            component.iter_mut().for_each(|x| *x *= sign);
        }
        Some(components)
    }
}

/// Returns whether the rows are kept instead of the covariance.
fn is_of_rows(n: usize, width: usize) -> bool {
    width > ROWS_WIDTH_MIN && 2 * n < width || width > COVARIANCE_WIDTH_MAX
}

impl Covariance {
    fn whole(vectors: &Matrix<f32>, mean: &[f64]) -> Self {
        /// Number of partial sums. It is fixed, so that the result does not depend on the number of threads.
        const PARTS: usize = 8;
        let (n, width) = (vectors.rows(), mean.len());
        let part = n.div_ceil(PARTS).max(BLOCK) * width.max(1);
        let parts: Vec<&[f32]> = vectors.flat().chunks(part).collect();
        let sums = parallel::map(&parts, parallel::available(), |part| products(part, mean));
        let sum = sums.into_iter().reduce(|sum, next| sum + next).unwrap_or_else(|| Mat::zeros(width, width));
        let covariance = sum * faer::Scale(1.0 / n as f64);
        // The product fills the lower half only.
        Self::Whole(Mat::from_fn(width, width, |i, j| covariance[(i.max(j), i.min(j))]))
    }

    /// Keeps `count` centred rows, sampled evenly.
    fn of_rows(vectors: &Matrix<f32>, mean: &[f64], count: usize) -> Self {
        let (n, width) = (vectors.rows(), mean.len());
        let scale = (count as f64).sqrt().recip();
        let entry = |i: usize, j: usize| (f64::from(vectors.get(i * n / count, j)) - mean[j]) * scale;
        Self::Rows { rows: Matrix::from_fn(count, width, entry), excluded: Vec::new() }
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Whole(whole) => whole[(i, j)],
            Self::Rows { rows, .. } => (0..rows.rows()).map(|row| rows.get(row, i) * rows.get(row, j)).sum(),
        }
    }
}

/// Computes `P C P − below · Σ b bᵀ`, with `P = I − Σ b bᵀ`. Nothing varies along the basis then; the negative variance
/// sorts it after other directions of no variance.
fn without(whole: &Mat<f64>, basis: &[Vec<f64>], below: f64) -> Covariance {
    let width = whole.nrows();
    let mut rows: Vec<Vec<f64>> = (0..width).map(|i| (0..width).map(|j| whole[(i, j)]).collect()).collect();
    // First the rows, then the columns of the result.
    rows.iter_mut().for_each(|row| basis.iter().for_each(|b| remove(row, b)));
    for j in 0..width {
        let mut column: Vec<f64> = rows.iter().map(|row| row[j]).collect();
        basis.iter().for_each(|b| remove(&mut column, b));
        rows.iter_mut().zip(column).for_each(|(row, x)| row[j] = x);
    }
    let taken = |i: usize, j: usize| basis.iter().map(|b| b[i] * b[j]).sum::<f64>() * below;
    Covariance::Whole(Mat::from_fn(width, width, |i, j| rows[i][j] - taken(i, j)))
}

/// Returns the directions of most variance, `Xᵀ u` for the eigenvectors `u` of `X Xᵀ`, followed by directions of no
/// variance. All are orthogonal to each other and to the excluded directions.
fn components_of_rows(rows: &Matrix<f64>, excluded: &[Vec<f64>], count: usize) -> Option<Vec<Vec<f64>>> {
    let width = rows.cols();
    let view = rows.view();
    let gram = view * view.transpose();
    let eigen = gram.self_adjoint_eigen(Side::Lower).ok()?;
    let weights = eigen.S().column_vector();
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let mut basis = excluded.to_vec();
    let whole = (excluded.len() + count).min(width);
    let along = (0..gram.nrows()).rev().filter(|at| weights[*at] > ROUNDING * largest).map(|at| {
        let direction = view.transpose() * eigen.U().col(at);
        direction.iter().copied().collect::<Vec<f64>>()
    });
    let axes = (0..width).map(|axis| (0..width).map(|j| f64::from(u8::from(j == axis))).collect());
    for mut direction in along.chain(axes) {
        if basis.len() >= whole {
            break;
        }
        let length = dot(&direction, &direction).sqrt();
        // The parts are removed twice, because the first pass leaves rounding errors.
        (0..2).for_each(|_| basis.iter().for_each(|b| remove(&mut direction, b)));
        basis.extend(unit(direction, length * ROUNDING.sqrt()));
    }
    Some(basis.split_off(excluded.len()))
}

/// Number of rows that are converted to double precision at once.
const BLOCK: usize = 4096;

/// Computes the lower half of `Xᵀ X` of the centred rows.
fn products(rows: &[f32], mean: &[f64]) -> Mat<f64> {
    let width = mean.len();
    let mut sum = Mat::zeros(width, width);
    for block in rows.chunks((BLOCK * width).max(1)) {
        let centred = Mat::from_fn(block.len() / width, width, |i, j| f64::from(block[i * width + j]) - mean[j]);
        let (half, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        matmul(sum.as_mut(), half, Accum::Add, centred.transpose(), whole, &centred, whole, 1.0, Par::Seq);
    }
    sum
}

/// Scales a vector to length 1. Returns `None` if it is no longer than `least` or not finite.
pub(super) fn unit(vector: Vec<f64>, least: f64) -> Option<Vec<f64>> {
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    (length.is_finite() && length > least).then(|| vector.into_iter().map(|x| x / length).collect())
}

/// Removes the part along a unit vector.
pub(super) fn remove(from: &mut [f64], axis: &[f64]) {
    let along: f64 = from.iter().zip(axis).map(|(x, a)| x * a).sum();
    from.iter_mut().zip(axis).for_each(|(x, a)| *x -= along * a);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    #[test]
    fn it_is_the_same_from_its_numbers() {
        let vectors = Matrix::from_fn(7, 5, |i, j| ((i * 31 + j * 17) % 11) as f32 / 3.0);
        let spread = Spread::of(&vectors);
        let again = Spread::from_packed(spread.mean().to_vec(), &spread.packed()).expect("it fits");
        assert_eq!((again.mean(), again.packed()), (spread.mean(), spread.packed()));
        assert!(again.components(2) == Spread::from_packed(spread.mean, &again.packed()).and_then(|s| s.components(2)));
    }

    /// Compares both forms on the same vectors.
    #[test]
    fn the_rows_of_few_vectors_say_the_same_as_their_covariance() {
        let vectors = Matrix::from_fn(9, 40, |i, j| ((i * 31 + j * j * 17) % 23) as f32 / 3.0 - (i * j % 5) as f32);
        let whole = Spread::of(&vectors);
        assert!(matches!(whole.covariance, Covariance::Whole(_)));
        let rows = Spread { covariance: Covariance::of_rows(&vectors, whole.mean(), 9), ..whole.clone() };
        let direction = |turn: usize| unit((0..40).map(|j| ((j * turn) % 7) as f64 - 3.0).collect(), 0.0).expect("one");
        let basis = [direction(3)];
        // A direction orthogonal to the basis, whose own variance the covariance form makes negative.
        let mut across = direction(5);
        remove(&mut across, &basis[0]);
        for (whole, rows) in [(&whole, &rows), (&whole.without(&basis), &rows.without(&basis))] {
            assert_close("along", rows.variance_along(&across), whole.variance_along(&across), Tolerance::DOUBLE_SUMS);
            let (found, expected) = (rows.components(3).expect("rows"), whole.components(3).expect("whole"));
            for (found, expected) in found.iter().zip(&expected) {
                assert_close("a component", found, expected, Tolerance::DOUBLE_SUMS);
            }
        }
        assert_close("the total", rows.total(), whole.total(), Tolerance::DOUBLE_SUMS);
        assert_close("the spread", rows.packed(), whole.packed(), Tolerance::DOUBLE_SUMS);
    }

    /// Checks that the first three components of four vectors have variance and that the others are orthogonal to
    /// these.
    #[test]
    fn few_vectors_of_any_width_have_as_many_components_as_are_asked_for() {
        for width in [300, 3000, 1 << 16] {
            let vectors = Matrix::from_fn(4, width, |i, j| ((i * 7 + j * (i + 3)) % 11) as f32);
            let spread = Spread::of(&vectors);
            let components = spread.components(5).expect("they are finite");
            assert_eq!(components.len(), 5);
            for (i, a) in components.iter().enumerate() {
                let dots: Vec<f64> = components.iter().map(|b| dot(a, b)).collect();
                let expected: [f64; 5] = std::array::from_fn(|j| f64::from(u8::from(i == j)));
                assert_close(format!("{width}: {i}"), dots, expected, Tolerance::DOUBLE_SUMS);
            }
            let variance: f64 = components.iter().take(3).map(|component| spread.variance_along(component)).sum();
            assert_close("the variance", variance, spread.total(), Tolerance::DOUBLE_SUMS);
        }
    }

    #[test]
    fn numbers_that_are_no_spread_are_none() {
        let none = [
            (vec![], vec![]),
            (vec![0.0; 2], vec![0.0; 2]),
            (vec![0.0], vec![f64::NAN]),
            (vec![f64::INFINITY], vec![0.0]),
            (vec![1e200], vec![0.0]),
            (vec![1e39], vec![0.0]),
            (vec![0.0], vec![1e90]),
        ];
        for (mean, packed) in none {
            assert_eq!(Spread::from_packed(mean, &packed), None);
        }
    }
}
