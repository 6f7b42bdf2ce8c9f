//! `D` dimensions to 3 by one fixed linear map.

use faer::Side;

use super::Matrix;

/// The axes of every picture.
pub const AXES: usize = 3;

/// `point = (x − mean) · axes`. The same map for every vector of a lesson, so that motion means
/// something; a difference of vectors projects without the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    mean: Vec<f32>,
    /// (3, D), orthonormal rows (zero rows where `D < 3`)
    axes: Matrix<f32>,
    /// Share of the variance along each axis, in [0, 1].
    explained: [f32; AXES],
    kind: Kind,
}

/// What the axes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    PrincipalComponents,
    /// Too few dimensions to choose among.
    Coordinates,
}

impl Projection {
    /// Centred principal components of the rows of `vectors`, largest variance first; the
    /// coordinates themselves where `D ≤ 3`. Each axis points so that its largest entry is positive.
    ///
    /// # Panics
    /// If there are no rows.
    pub fn principal_components(vectors: &Matrix<f32>) -> Self {
        let (n, width) = (vectors.rows(), vectors.cols());
        assert!(n > 0, "projection: of no vectors");
        let mean: Vec<f64> =
            (0..width).map(|j| (0..n).map(|i| f64::from(vectors.get(i, j))).sum::<f64>() / n as f64).collect();
        let centred = Matrix::from_fn(n, width, |i, j| f64::from(vectors.get(i, j)) - mean[j]);
        let covariance = centred.view().transpose() * centred.view() * faer::Scale(1.0 / n as f64);
        let total: f64 = (0..width).map(|j| covariance[(j, j)]).sum();
        let share = |variance: f64| if total > 0.0 { (variance / total).max(0.0) as f32 } else { 0.0 };

        let mut axes = Matrix::zeros(AXES, width);
        let mut explained = [0.0; AXES];
        let eigen = if width > AXES { covariance.self_adjoint_eigen(Side::Lower).ok() } else { None };
        // Where the decomposition fails, the coordinates still make a picture.
        let eigen_found = eigen.is_some();
        match eigen {
            Some(eigen) => {
                for (axis, explained) in explained.iter_mut().enumerate() {
                    let component = width - 1 - axis; // eigenvalues ascend
                    let vector = eigen.U().col(component);
                    let largest =
                        vector.iter().copied().fold(0.0, |best: f64, x| if x.abs() > best.abs() { x } else { best });
                    for (entry, &x) in axes.row_mut(axis).iter_mut().zip(vector.iter()) {
                        *entry = (x * largest.signum()) as f32;
                    }
                    *explained = share(eigen.S().column_vector()[component]);
                }
            }
            None => {
                for axis in 0..AXES.min(width) {
                    axes.row_mut(axis)[axis] = 1.0;
                    explained[axis] = share(covariance[(axis, axis)]);
                }
            }
        }
        let kind = if eigen_found { Kind::PrincipalComponents } else { Kind::Coordinates };
        Self { mean: mean.iter().map(|&x| x as f32).collect(), axes, explained, kind }
    }

    /// Rows as points, (n, 3).
    ///
    /// # Panics
    /// If the vectors are not `D` wide.
    pub fn points(&self, vectors: &Matrix<f32>) -> Matrix<f32> {
        assert_eq!(vectors.cols(), self.mean.len(), "projection: vectors of width {}", vectors.cols());
        Matrix::from_fn(vectors.rows(), AXES, |i, axis| {
            let x = vectors.row(i).iter().zip(&self.mean);
            x.zip(self.axes.row(axis)).map(|((x, mean), a)| (x - mean) * a).sum()
        })
    }

    /// A difference of two vectors as an arrow.
    pub fn direction(&self, vector: &[f32]) -> [f32; AXES] {
        std::array::from_fn(|axis| super::vectors::dot(vector, self.axes.row(axis)))
    }

    /// What each axis is: `PC1` or `x₁`, and so on.
    pub fn names(&self) -> [&'static str; AXES] {
        match self.kind {
            Kind::PrincipalComponents => ["PC1", "PC2", "PC3"],
            Kind::Coordinates => ["x₁", "x₂", "x₃"],
        }
    }

    /// Share along each axis, in [0, 1], of the variance of the vectors that chose the axes.
    pub fn explained(&self) -> [f32; AXES] {
        self.explained
    }
}
