//! Products with the rows of a table as it lies in memory: the logits of a tied readout, the words near a vector.
//!
//! ```text
//! Z = X Eᵀ + b
//! ```
//!
//! A general product first copies the table into another order, which for a few rows of `X` takes longer than the product.
//! Here the table is read once: [`LANES`] of its rows stay in the nearest cache while every row of `X` is multiplied by
//! them. Every sum runs in the same order, whatever rows it shares its work with: a row has the same bits in any product.

use super::simd::{LANES, Lane, Simd, Work, dispatch};
use super::{Matrix, Scalar};

/// `Z = X Eᵀ + b`; an empty `b` stands for none.
///
/// # Shapes
/// `x` (N, D), `table` (C, D), `b` (C); (N, C)
///
/// # Panics
/// If the shapes do not fit.
pub fn multiply_by_rows<S: Scalar>(x: &Matrix<S>, table: &Matrix<S>, b: &[S]) -> Matrix<S> {
    assert_eq!(x.cols(), table.cols(), "products with rows: of {} and {} entries", x.cols(), table.cols());
    assert!(b.is_empty() || b.len() == table.rows(), "products with {} rows: b ({})", table.rows(), b.len());
    let mut z = Matrix::zeros(x.rows(), table.rows());
    dispatch(Products { x, table, b, z: &mut z });
    z
}

struct Products<'a, S> {
    x: &'a Matrix<S>,
    table: &'a Matrix<S>,
    b: &'a [S],
    z: &'a mut Matrix<S>,
}

impl<S: Scalar> Work<S> for Products<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<S>>(self, simd: V) {
        let Self { x, table, b, z } = self;
        let rows = table.rows();
        for first in (0..rows).step_by(LANES) {
            let count = LANES.min(rows - first);
            // Beyond the end the last row again, which nobody reads.
            let of_table: [&[S]; LANES] = std::array::from_fn(
                #[inline(always)]
                |lane| table.row((first + lane).min(rows - 1)),
            );
            let mut bias = [S::zero(); LANES];
            bias.iter_mut().zip(b.get(first..).unwrap_or_default()).for_each(|(to, &b)| *to = b);
            let bias = simd.load(&bias);
            for row in 0..x.rows() {
                let mut products = [S::zero(); LANES];
                simd.store(simd.add(dots(simd, x.row(row), of_table), bias), &mut products);
                z.row_mut(row)[first..first + count].copy_from_slice(&products[..count]);
            }
        }
    }
}

/// `x · e_i` of some rows.
#[inline(always)]
fn dots<S: Scalar, V: Simd<S>>(simd: V, x: &[S], rows: [&[S]; LANES]) -> V::Vector {
    let (lanes, rest) = x.as_chunks::<LANES>();
    let mut sums = [simd.splat(S::zero()); LANES];
    let [a, b, c, d, e, f, g, h] = rows.map(
        #[inline(always)]
        |row| row.as_chunks::<LANES>().0,
    );
    // One iterator of them all: indices would be checked for every row, and push the sums out of the registers.
    let columns = lanes.iter().zip(a).zip(b).zip(c).zip(d).zip(e).zip(f).zip(g).zip(h);
    for ((((((((x, a), b), c), d), e), f), g), h) in columns {
        let x = simd.load(x);
        for (sum, w) in sums.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = simd.mul_add(x, simd.load(w), *sum);
        }
    }
    if !rest.is_empty() {
        let x = simd.load(&filled_up(rest));
        for (sum, row) in sums.iter_mut().zip(&rows) {
            *sum = simd.mul_add(x, simd.load(&filled_up(&row[row.len() - rest.len()..])), *sum);
        }
    }
    simd.sums(sums)
}

/// The last entries of a row, with zeros behind them.
#[inline(always)]
fn filled_up<S: Scalar>(rest: &[S]) -> Lane<S> {
    let mut lane = [S::zero(); LANES];
    lane[..rest.len()].copy_from_slice(rest);
    lane
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

    /// Rows, entries and rows of the table that no lane divides.
    const SHAPES: [(usize, usize, usize); 6] = [(1, 1, 1), (2, 7, 3), (3, 8, 8), (5, 19, 17), (1, 64, 30), (4, 3, 0)];

    /// The largest difference from sums in double precision.
    fn error<S: Scalar>((n, width, rows): (usize, usize, usize), has_bias: bool) -> f64 {
        let (x, table, b) = (random::<S>(n, width, 1), random::<S>(rows, width, 2), random::<S>(1, rows, 3));
        let z = multiply_by_rows(&x, &table, if has_bias { b.row(0) } else { &[] });
        assert_eq!((z.rows(), z.cols()), (n, rows));
        let exact = |i: usize, j: usize| {
            let sum: f64 = (0..width).map(|d| x.get(i, d).to_f64() * table.get(j, d).to_f64()).sum();
            sum + if has_bias { b.get(0, j).to_f64() } else { 0.0 }
        };
        let all = (0..n).flat_map(|i| (0..rows).map(move |j| (i, j)));
        all.map(|(i, j)| (z.get(i, j).to_f64() - exact(i, j)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn products_are_the_sums_in_double_precision() {
        for shape in SHAPES {
            for has_bias in [false, true] {
                assert!(error::<f32>(shape, has_bias) < 1e-5, "{shape:?}");
                assert!(error::<f64>(shape, has_bias) < 1e-14, "{shape:?}");
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_in_any_product() {
        let (x, table) = (random::<f32>(11, 37, 4), random::<f32>(21, 37, 5));
        let all = multiply_by_rows(&x, &table, &[]);
        for i in 0..11 {
            let alone = multiply_by_rows(&Matrix::from_row_major(1, 37, x.row(i).to_vec()), &table, &[]);
            assert_eq!(alone.row(0), all.row(i));
        }
    }
}
