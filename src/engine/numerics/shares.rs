//! The share of the variance of vectors, or of the squared lengths of arrows, that the axes of a picture show.
//!
//! With axes `u_a` and rows `x_i` (centred, except for arrows), the shares follow from the products `M = Σ_i (x_i ·
//! u_a)(x_i · u_b)`. The axes need not be orthogonal. Two or three of them together show the part of the rows in the
//! space that they span, `Σ_b bᵀ M b` over an orthonormal basis of it.

use std::borrow::Borrow;

use crate::numerics::Matrix;
use crate::numerics::projection::{AXES, Projection};
use crate::numerics::spread::{ROUNDING, Spread};

/// The shares, in [0, 1], of a variance or of squared lengths that the axes of a picture show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    axes: [f32; AXES],
    /// Share that the plane of the other two axes shows, for each axis.
    planes: [f32; AXES],
    space: f32,
}

/// Dot products of the axes with each other, or sums of products of coordinates along them.
type Products = [[f64; AXES]; AXES];

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
        let square = spread.mean().iter().map(|x| x * x).sum::<f64>();
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

    /// Computes the shares from the products along the axes and the total of all squares. Returns `None` if the total
    /// is not finite, or is only the rounding of `whole`, from which it was computed as a remainder.
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

    /// Returns the share that all axes show together; in a flat picture that looks along an axis, the share that the
    /// two others show.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    /// Returns points with variances 4, 81, 1 and 16 along the four dimensions.
    fn cloud() -> Matrix<f32> {
        let deviations = [2.0, 9.0, 1.0, 4.0];
        Matrix::from_fn(64, 4, |i, j| if (i >> j) & 1 == 1 { deviations[j] } else { -deviations[j] } + 10.0)
    }

    #[track_caller]
    fn assert_share(found: f32, expected: f32) {
        assert_close("the share", found, expected, Tolerance::SINGLE);
    }

    #[test]
    fn a_flat_picture_shows_the_variance_of_two_axes() {
        let shares = Shares::of_variance(&Projection::principal_components(&cloud()), &cloud()).expect("a cloud");
        for (axis, expected) in [81.0, 16.0, 4.0].into_iter().enumerate() {
            assert_share(shares.along(axis), expected / 102.0);
            assert_share(shares.seen(Some(axis)), (101.0 - expected) / 102.0);
        }
        assert_share(shares.seen(None), 101.0 / 102.0);
    }

    #[test]
    fn axes_at_any_angle_show_together_what_the_space_that_they_span_does() {
        let [x, y] = [[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]];
        let skewed = Projection::along(&Spread::of(&cloud()), [Some(&x), Some(&y), Some(&x)]).expect("directions");
        let shares = Shares::of_variance(&skewed, &cloud()).expect("a cloud");
        assert_share(shares.along(1), 42.5 / 102.0);
        assert_share(shares.seen(None), 85.0 / 102.0);
        assert_share(shares.seen(Some(2)), 85.0 / 102.0);
        assert_share(shares.seen(Some(1)), 4.0 / 102.0);
    }

    #[test]
    fn arrows_count_by_their_squared_lengths_and_not_from_their_mean() {
        let same = Matrix::from_fn(3, 4, |_, j| [3.0, 0.0, 0.0, 4.0][j]);
        let shares = Shares::of_arrows(&Projection::coordinates(4), &same).expect("lengths");
        assert_share(shares.along(0), 9.0 / 25.0);
        assert_share(shares.seen(None), 9.0 / 25.0);
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
        assert_share(Shares::of_variance(&Projection::coordinates(4), &far).expect("finite").seen(None), 0.75);
    }

    #[test]
    fn an_axis_without_length_shows_nothing() {
        let flat = Matrix::from_fn(8, 2, |i, j| (i * i * (j + 1)) as f32);
        let shares = Shares::of_variance(&Projection::principal_components(&flat), &flat).expect("it varies");
        assert_eq!((shares.along(2), shares.seen(None), shares.seen(Some(2))), (0.0, 1.0, 1.0));
    }
}
