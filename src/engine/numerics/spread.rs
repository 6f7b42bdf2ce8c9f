//! The mean and the covariance of vectors: all that a basis is chosen from.

use faer::{Mat, Side};

use super::Matrix;

/// Mean and covariance of vectors, in double precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    mean: Vec<f64>,
    /// `Xᵀ X / n` of the vectors less their mean; (D, D)
    covariance: Mat<f64>,
}

impl Spread {
    /// # Panics
    /// If there are no rows.
    pub fn of(vectors: &Matrix<f32>) -> Self {
        let (n, width) = (vectors.rows(), vectors.cols());
        assert!(n > 0, "spread: of no vectors");
        let mean: Vec<f64> =
            (0..width).map(|j| (0..n).map(|i| f64::from(vectors.get(i, j))).sum::<f64>() / n as f64).collect();
        let centred = Mat::from_fn(n, width, |i, j| f64::from(vectors.get(i, j)) - mean[j]);
        let covariance = centred.transpose() * &centred * faer::Scale(1.0 / n as f64);
        // To the bit, which a product need not be.
        let symmetric = Mat::from_fn(width, width, |i, j| covariance[(i.max(j), i.min(j))]);
        Self { mean, covariance: symmetric }
    }

    /// From [`Self::mean`] and [`Self::packed`]; `None` if their sizes do not fit, or a number is none of vectors
    /// in single precision.
    pub fn from_packed(mean: Vec<f64>, packed: &[f64]) -> Option<Self> {
        const MOST: f64 = f32::MAX as f64;
        // No entry lies further from its mean than twice as far.
        const MOST_TOGETHER: f64 = 4.0 * MOST * MOST;
        let width = mean.len();
        let fits = width > 0
            && width.checked_mul(width + 1).map(|twice| twice / 2) == Some(packed.len())
            && mean.iter().all(|x| x.abs() <= MOST)
            && packed.iter().all(|x| x.abs() <= MOST_TOGETHER);
        let entry = |i: usize, j: usize| packed[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
        fits.then(|| Self { covariance: Mat::from_fn(width, width, entry), mean })
    }

    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance's lower triangle, row by row.
    pub fn packed(&self) -> Vec<f64> {
        (0..self.width()).flat_map(|i| (0..=i).map(move |j| self.covariance[(i, j)])).collect()
    }

    /// `D`
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// The variance along all directions.
    pub fn total(&self) -> f64 {
        (0..self.width()).map(|j| self.covariance[(j, j)]).sum()
    }

    /// `aᵀ C a`, along a direction of length 1.
    pub fn variance_along(&self, direction: &[f64]) -> f64 {
        let at = |i: usize| direction.iter().enumerate().map(|(j, x)| self.covariance[(i, j)] * x).sum::<f64>();
        direction.iter().enumerate().map(|(i, x)| x * at(i)).sum()
    }

    /// The remainder of the vectors at right angles to a basis, whose directions come last in
    /// [`Self::components`].
    pub(super) fn without(&self, basis: &[Vec<f64>]) -> Self {
        let width = self.width();
        let mut rows: Vec<Vec<f64>> =
            (0..width).map(|i| (0..width).map(|j| self.covariance[(i, j)]).collect()).collect();
        // P C P, with P = I − Σ b bᵀ: the rows, then, as what is left is symmetric, the columns.
        rows.iter_mut().for_each(|row| basis.iter().for_each(|b| remove(row, b)));
        for j in 0..width {
            let mut column: Vec<f64> = rows.iter().map(|row| row[j]).collect();
            basis.iter().for_each(|b| remove(&mut column, b));
            rows.iter_mut().zip(column).for_each(|(row, x)| row[j] = x);
        }
        // Nothing varies along the basis now; less than nothing sorts it behind other directions of which that is true.
        let below = 1.0 + self.total();
        let taken = |i: usize, j: usize| basis.iter().map(|b| b[i] * b[j]).sum::<f64>() * below;
        let covariance = Mat::from_fn(width, width, |i, j| rows[i][j] - taken(i, j));
        Self { mean: self.mean.clone(), covariance }
    }

    /// Directions of most variance, the first with the most, each pointing so that its largest entry is
    /// positive; `None` where the decomposition fails.
    pub(super) fn components(&self, count: usize) -> Option<Vec<Vec<f64>>> {
        let eigen = self.covariance.self_adjoint_eigen(Side::Lower).ok()?;
        let ascending = eigen.U().col_iter();
        let components = ascending.rev().take(count).map(|vector| {
            let largest = vector.iter().copied().fold(0.0, |best: f64, x| if x.abs() > best.abs() { x } else { best });
            vector.iter().map(|x| x * largest.signum()).collect()
        });
        Some(components.collect())
    }
}

/// A vector of length 1 in its direction; `None` if it is no longer than `least`, or not finite.
pub(super) fn unit(vector: Vec<f64>, least: f64) -> Option<Vec<f64>> {
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    (length.is_finite() && length > least).then(|| vector.into_iter().map(|x| x / length).collect())
}

/// Takes away what lies along an axis of length 1.
pub(super) fn remove(from: &mut [f64], axis: &[f64]) {
    let along: f64 = from.iter().zip(axis).map(|(x, a)| x * a).sum();
    from.iter_mut().zip(axis).for_each(|(x, a)| *x -= along * a);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_from_its_numbers() {
        let vectors = Matrix::from_fn(7, 5, |i, j| ((i * 31 + j * 17) % 11) as f32 / 3.0);
        let spread = Spread::of(&vectors);
        let again = Spread::from_packed(spread.mean().to_vec(), &spread.packed()).expect("it fits");
        assert_eq!((again.mean(), again.packed()), (spread.mean(), spread.packed()));
        assert!(again.components(2) == Spread::from_packed(spread.mean, &again.packed()).and_then(|s| s.components(2)));
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
