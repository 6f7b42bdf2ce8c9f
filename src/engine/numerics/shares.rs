//! The mean and the covariance of vectors, and the share of their variance, or of the squared lengths of arrows, that
//! the axes of a picture show.
//!
//! With axes `u_a` and rows `x_i` (centred, except for arrows), the shares follow from the products `M = Σ_i (x_i ·
//! u_a)(x_i · u_b)`. The axes need not be orthogonal. Two or three of them together show the part of the rows in the
//! space that they span, `Σ_b bᵀ M b` over an orthonormal basis of it.

use std::borrow::Borrow;

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, Par, Side};

use crate::numerics::projection::{AXES, Projection};
use crate::numerics::vectors::dot;
use crate::numerics::{Matrix, parallel};

/// Shares in [0, 1] that the axes of a picture show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    axes: [f32; AXES],
    /// Share of the plane of the other two axes, for each axis.
    planes: [f32; AXES],
    space: f32,
}

/// Dot products of the axes with each other, or sums of products of coordinates along them.
type Products = [[f64; AXES]; AXES];

/// Share of the squares that a remainder is computed from, below which the remainder is rounding.
const ROUNDING: f64 = 1e-12;

impl Shares {
    /// Returns the shares of the variance of some rows, or `None` if they are all one point or not finite.
    ///
    /// # Panics
    /// If the rows are not as wide as the axes.
    pub fn of_variance(projection: &Projection, rows: &Matrix<f32>) -> Option<Self> {
        Self::of_variance_in(projection, rows.rows(), || std::iter::once(rows))
    }

    /// Computes [`Self::of_variance`] of `count` rows that come in parts. `parts` is called more than once and starts
    /// from the first part each time.
    ///
    /// # Panics
    /// If the rows are not as wide as the axes.
    pub fn of_variance_in<M: Borrow<Matrix<f32>>, P: Iterator<Item = M>>(
        projection: &Projection,
        count: usize,
        parts: impl Fn() -> P,
    ) -> Option<Self> {
        let mut mean = vec![0.0; projection.mean().len()];
        for part in parts() {
            let part = part.borrow();
            assert_eq!(part.cols(), mean.len(), "shares: rows of width {}", part.cols());
            for row in 0..part.rows() {
                mean.iter_mut().zip(part.row(row)).for_each(|(mean, x)| *mean += f64::from(*x) / count as f64);
            }
        }
        Self::about(projection, parts(), &mean)
    }

    /// Returns the shares of the squared lengths of some arrows, or `None` if all lengths are 0 or one is not finite.
    ///
    /// # Panics
    /// If the arrows are not as wide as the axes.
    pub fn of_arrows(projection: &Projection, arrows: &Matrix<f32>) -> Option<Self> {
        Self::about(projection, std::iter::once(arrows), &vec![0.0; arrows.cols()])
    }

    /// Returns the shares of the variance of vectors of which only the spread is known, or `None` if they are all one
    /// point.
    ///
    /// # Panics
    /// If the spread is not as wide as the axes.
    pub fn of_spread(projection: &Projection, spread: &Spread) -> Option<Self> {
        let axes: [Vec<f64>; AXES] =
            std::array::from_fn(|axis| projection.axis(axis).iter().map(|&x| f64::from(x)).collect());
        let square = spread.mean.iter().map(|x| x * x).sum::<f64>();
        let along = |a: usize, b: usize| spread.covariance_along(&axes[a], &axes[b]);
        Self::of_products(projection, from_pairs(along), spread.total(), spread.total() + square)
    }

    fn about<M: Borrow<Matrix<f32>>>(
        projection: &Projection,
        parts: impl Iterator<Item = M>,
        origin: &[f64],
    ) -> Option<Self> {
        assert_eq!(origin.len(), projection.mean().len(), "shares: rows of width {}", origin.len());
        let axes: [&[f32]; AXES] = std::array::from_fn(|axis| projection.axis(axis));
        let (mut total, mut whole) = (0.0, 0.0);
        let mut products = Products::default();
        for part in parts {
            let rows = part.borrow();
            for row in 0..rows.rows() {
                let mut along = [0.0; AXES];
                for (j, (x, origin)) in rows.row(row).iter().zip(origin).enumerate() {
                    let (x, off) = (f64::from(*x), f64::from(*x) - origin);
                    (whole, total) = (whole + x * x, total + off * off);
                    along.iter_mut().zip(axes).for_each(|(along, axis)| *along += off * f64::from(axis[j]));
                }
                products = from_pairs(|a, b| products[a][b] + along[a] * along[b]);
            }
        }
        Self::of_products(projection, products, total, whole)
    }

    /// Computes the shares from the products along the axes and the total of all squares. `whole` is the sum of squares
    /// that `total` is a remainder of.
    fn of_products(projection: &Projection, products: Products, total: f64, whole: f64) -> Option<Self> {
        if !(total.is_finite() && total > ROUNDING * whole) {
            return None;
        }
        let axes: [&[f32]; AXES] = std::array::from_fn(|axis| projection.axis(axis));
        let angles = from_pairs(|a, b| axes[a].iter().zip(axes[b]).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum());
        // The axes of a turned picture of fewer than 3 dimensions are shorter than 1, and orthogonalising would
        // lengthen them.
        let squares = |chosen: &[usize]| -> f64 {
            if projection.is_turned() {
                chosen.iter().map(|axis| products[*axis][*axis]).sum()
            } else {
                within(chosen, &angles, &products)
            }
        };
        let share = |chosen: &[usize]| (squares(chosen) / total).clamp(0.0, 1.0) as f32;
        Some(Self {
            axes: [0, 1, 2].map(|axis| share(&[axis])),
            planes: [[1, 2], [0, 2], [0, 1]].map(|others| share(&others)),
            space: share(&[0, 1, 2]),
        })
    }

    /// Returns the share that one axis shows. The shares of axes that are not orthogonal overlap.
    ///
    /// # Panics
    /// If there is no such axis.
    pub fn along(&self, axis: usize) -> f32 {
        self.axes[axis]
    }

    /// Returns the share that all axes show together, or the two others in a flat picture that looks along an axis.
    ///
    /// # Panics
    /// If there is no such axis.
    pub fn seen(&self, flat_along: Option<usize>) -> f32 {
        flat_along.map_or(self.space, |axis| self.planes[axis])
    }
}

fn from_pairs(of: impl Fn(usize, usize) -> f64) -> Products {
    std::array::from_fn(|a| std::array::from_fn(|b| of(a, b)))
}

/// Returns the sum of the squared lengths of the rows' parts in the span of some axes (Gram-Schmidt).
fn within(chosen: &[usize], angles: &Products, products: &Products) -> f64 {
    let inner = |of: &Products, a: &[f64; AXES], b: &[f64; AXES]| -> f64 {
        (0..AXES).flat_map(|i| (0..AXES).map(move |j| (i, j))).map(|(i, j)| a[i] * of[i][j] * b[j]).sum()
    };
    let mut basis: Vec<[f64; AXES]> = Vec::new();
    for &axis in chosen {
        let mut rest: [f64; AXES] = std::array::from_fn(|i| f64::from(u8::from(i == axis)));
        for other in &basis {
            let along = inner(angles, &rest, other);
            rest = std::array::from_fn(|i| rest[i] - along * other[i]);
        }
        let square = inner(angles, &rest, &rest);
        // In single precision, an axis that repeats another leaves a remainder of this size. An axis of no length spans
        // nothing.
        if square > f64::from(f32::EPSILON) {
            basis.push(rest.map(|x| x / square.sqrt()));
        }
    }
    basis.iter().map(|direction| inner(products, direction, direction)).sum()
}

// The mean and the covariance of vectors, from which axes are computed.
//
// The covariance `C = Xᵀ X / n` of n vectors of width D has D² numbers, and its decomposition takes D³ operations. If
// the vectors are wider than they are many, the rows of `X` are kept instead: `aᵀ C b = (X a) · (X b) / n`, and the
// components are `Xᵀ u` for the eigenvectors `u` of the Gram matrix `X Xᵀ`, which is (n, n).

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
/// Largest number of rows that are kept of wider vectors; of more, an even sample is kept.
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

    /// Returns `D`.
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
    fn covariance_along(&self, a: &[f64], b: &[f64]) -> f64 {
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

    /// Returns the spread of the vectors' remainders orthogonal to a basis. Its directions come last in
    /// [`Self::components`].
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

    /// Keeps the given number of centred rows, sampled evenly.
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
        // Twice, because the first pass leaves rounding.
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
    use crate::numerics::shares::Spread;

    /// Returns points with variances 4, 81, 1 and 16 along the four dimensions.
    fn cloud() -> Matrix<f32> {
        let deviations = [2.0, 9.0, 1.0, 4.0];
        Matrix::from_fn(64, 4, |i, j| if (i >> j) & 1 == 1 { deviations[j] } else { -deviations[j] } + 10.0)
    }

    #[track_caller]
    fn assert_close(found: f32, expected: f32) {
        assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
    }

    #[test]
    fn a_flat_picture_shows_the_variance_of_two_axes() {
        let shares = Shares::of_variance(&Projection::principal_components(&cloud()), &cloud()).expect("a cloud");
        for (axis, expected) in [81.0, 16.0, 4.0].into_iter().enumerate() {
            assert_close(shares.along(axis), expected / 102.0);
            assert_close(shares.seen(Some(axis)), (101.0 - expected) / 102.0);
        }
        assert_close(shares.seen(None), 101.0 / 102.0);
    }

    #[test]
    fn axes_at_any_angle_show_together_what_the_space_that_they_span_does() {
        let [x, y] = [[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]];
        let skewed = Projection::along(&Spread::of(&cloud()), [Some(&x), Some(&y), Some(&x)]).expect("directions");
        let shares = Shares::of_variance(&skewed, &cloud()).expect("a cloud");
        assert_close(shares.along(1), 42.5 / 102.0);
        assert_close(shares.seen(None), 85.0 / 102.0);
        assert_close(shares.seen(Some(2)), 85.0 / 102.0);
        assert_close(shares.seen(Some(1)), 4.0 / 102.0);
    }

    #[test]
    fn arrows_count_by_their_squared_lengths_and_not_from_their_mean() {
        let same = Matrix::from_fn(3, 4, |_, j| [3.0, 0.0, 0.0, 4.0][j]);
        let shares = Shares::of_arrows(&Projection::coordinates(4), &same).expect("lengths");
        assert_close(shares.along(0), 9.0 / 25.0);
        assert_close(shares.seen(None), 9.0 / 25.0);
        assert_eq!(Shares::of_variance(&Projection::coordinates(4), &same), None, "they are one point");
        assert_eq!(Shares::of_arrows(&Projection::coordinates(4), &Matrix::zeros(2, 4)), None);
    }

    #[test]
    fn what_is_no_number_has_no_share() {
        for entry in [f32::NAN, f32::INFINITY] {
            let rows = Matrix::from_fn(2, 4, |i, j| if (i, j) == (1, 2) { entry } else { 1.0 });
            assert_eq!(Shares::of_variance(&Projection::coordinates(4), &rows), None);
            assert_eq!(Shares::of_arrows(&Projection::coordinates(4), &rows), None);
        }
        let far = Matrix::from_fn(2, 4, |i, _| if i == 0 { f32::MAX } else { -f32::MAX });
        assert_close(Shares::of_variance(&Projection::coordinates(4), &far).expect("finite").seen(None), 0.75);
    }

    #[test]
    fn an_axis_without_length_shows_nothing() {
        let flat = Matrix::from_fn(8, 2, |i, j| (i * i * (j + 1)) as f32);
        let shares = Shares::of_variance(&Projection::principal_components(&flat), &flat).expect("it varies");
        assert_eq!((shares.along(2), shares.seen(None), shares.seen(Some(2))), (0.0, 1.0, 1.0));
    }

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
            assert_near(rows.variance_along(&across), whole.variance_along(&across));
            let (found, expected) = (rows.components(3).expect("rows"), whole.components(3).expect("whole"));
            for (found, expected) in found.iter().zip(&expected) {
                found.iter().zip(expected).for_each(|(found, expected)| assert_near(*found, *expected));
            }
        }
        assert_near(rows.total(), whole.total());
        rows.packed().iter().zip(whole.packed()).for_each(|(found, expected)| assert_near(*found, expected));
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{found}, not {expected}");
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
                for (j, b) in components.iter().enumerate() {
                    assert!((dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-9, "{width}: {i}, {j}");
                }
            }
            let variance: f64 = components.iter().take(3).map(|component| spread.variance_along(component)).sum();
            assert_near(variance, spread.total());
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
