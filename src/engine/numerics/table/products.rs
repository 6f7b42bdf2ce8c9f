//! Products with the rows of a table as they are stored, such as the logits of a tied readout.
//!
//! ```text
//! Z = X Eᵀ + b
//! ```
//!
//! A general product first copies the table into another order, which for a few rows of `X` takes longer than the
//! product. Here the table is read once: a few of its rows stay in the first-level cache while every row of `X` is
//! multiplied by them, and the next rows are prefetched. Every sum runs in the same order, whatever rows and threads it
//! is computed with, so a row has the same bits in any product.

use super::TableRef;
use crate::numerics::numbers::TableProduct;
use crate::numerics::parallel::{available, each};
use crate::numerics::simd::{LANES, Lane, Simd, Work, dispatch};
use crate::numerics::{Matrix, Scalar};

/// Largest number of rows of `X` that are multiplied together; with three of the table their sums fit in 16 registers.
const ROWS_MAX: usize = 4;

/// Number of rows from the first one in use to the first one that is prefetched.
const AHEAD: usize = 6;

/// Number of multiplications from which another thread is worth starting; they take some milliseconds.
const WORK_OF_THREAD: usize = 100_000_000;
/// Largest number of threads; more would only wait for memory.
const THREADS_MAX: usize = 4;

/// Computes `Z = X Eᵀ + b`; an empty `b` means no bias.
///
/// # Shapes
/// `x` (N, D), `table` (C, D), `b` (C); (N, C)
///
/// # Panics
/// If the shapes do not fit.
pub fn multiply_by_rows<'t, S: Scalar + 't>(x: &Matrix<S>, table: impl Into<TableRef<'t, S>>, b: &[S]) -> Matrix<S> {
    let table = table.into();
    let wanted = x.rows() * x.cols() * table.rows() / WORK_OF_THREAD;
    let threads = if wanted > 1 { wanted.min(THREADS_MAX).min(available()) } else { 1 };
    multiply_on(threads, x, table, b)
}

fn multiply_on<S: Scalar>(threads: usize, x: &Matrix<S>, table: TableRef<'_, S>, b: &[S]) -> Matrix<S> {
    let (rows, cols) = (table.rows(), table.cols());
    assert_eq!(x.cols(), cols, "products with rows: of {} and {cols} entries", x.cols());
    assert!(b.is_empty() || b.len() == rows, "products with {rows} rows: b ({})", b.len());
    let mut z = Matrix::zeros(x.rows(), rows);
    let of_thread = rows.div_ceil(threads.max(1)).max(1);
    let mut rest: Vec<&mut [S]> = z.flat_mut().chunks_exact_mut(rows.max(1)).collect();
    let parts = (0..rows).step_by(of_thread).map(|first| {
        let end = rows.min(first + of_thread);
        let z = rest.iter_mut().filter_map(|row| row.split_off_mut(..end - first)).collect();
        TableProduct { x: x.into(), table, b, first, end, z }
    });
    each(parts, S::multiply_table);
    z
}

/// Computes the product with a range of the table's rows.
pub fn multiply_range<S: Scalar>(product: TableProduct<'_, S>) {
    dispatch(product);
}

impl<S: Scalar> Work<S> for TableProduct<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<S>>(self, simd: V) {
        // The rows are divided evenly: 5 become 3 and 2, not 4 and 1.
        let tiles = self.z.len().div_ceil(ROWS_MAX).max(1);
        match self.z.len().div_ceil(tiles) {
            0 => {}
            1 => self.one_row(simd),
            2 => self.tiles::<V, 2, 4>(simd),
            3 => self.tiles::<V, 3, 3>(simd),
            _ => self.tiles::<V, ROWS_MAX, 3>(simd),
        }
    }
}

impl<S: Scalar> TableProduct<'_, S> {
    /// Computes the products in tiles of `R` rows of `X` and `C` rows of the table.
    #[inline(always)]
    fn tiles<V: Simd<S>, const R: usize, const C: usize>(self, simd: V) {
        let Self { x, table, b, first, end, mut z } = self;
        let tiles = z.len().div_ceil(R).max(1);
        let mut widened = table.room_for(C);
        for begin in (first..end).step_by(C) {
            let rows = table.stretch::<C>(begin, end, &mut widened);
            // Each tile prefetches a part, because many requests at a time would delay the rows in use.
            let soon = table.flat_rows((begin + AHEAD).min(end)..(begin + AHEAD + C).min(end));
            let mut soon = soon.chunks(soon.len().div_ceil(tiles).max(1));
            for (row, z) in (0..).step_by(R).zip(z.chunks_mut(R)) {
                simd.fetch(soon.next().unwrap_or_default());
                let mut products = [[S::zero(); C]; R];
                multiply(simd, x.stretch(row, x.rows, &mut []), rows, &mut products);
                for (z, products) in z.iter_mut().zip(&products) {
                    put(products, &mut z[begin - first..], b, begin);
                }
            }
        }
    }

    /// Multiplies a single row by eight rows of the table at once, because only memory limits the speed of this case.
    #[inline(always)]
    fn one_row<V: Simd<S>>(self, simd: V) {
        let Self { x, table, b, first, end, mut z } = self;
        let ([x_lanes], [x_rest]) = lanes([x.flat_rows(0..1)]);
        let mut widened = table.room_for(LANES);
        for begin in (first..end).step_by(LANES) {
            let (of_table, rests) = lanes(table.stretch::<LANES>(begin, end, &mut widened));
            let [first_row, second_row, c, d, e, f, g, h] = of_table;
            let mut sums = [simd.splat(S::zero()); LANES];
            // A single iterator runs over all of them, because indices would make the compiler spill the sums from
            // registers.
            for ((((((((x, a), b), c), d), e), f), g), h) in
                x_lanes.iter().zip(first_row).zip(second_row).zip(c).zip(d).zip(e).zip(f).zip(g).zip(h)
            {
                let x = simd.load(x);
                for (sum, w) in sums.iter_mut().zip([a, b, c, d, e, f, g, h]) {
                    *sum = simd.mul_add(x, simd.load(w), *sum);
                }
            }
            let mut products = [S::zero(); LANES];
            simd.store(simd.sums(sums), &mut products);
            for (product, rest) in products.iter_mut().zip(rests) {
                *product += ends(x_rest, rest);
            }
            put(&products, &mut z[0][begin - first..], b, begin);
        }
    }
}

/// Writes products with the rows of the table from `begin` on, and adds the bias.
#[inline(always)]
fn put<S: Scalar>(products: &[S], to: &mut [S], b: &[S], begin: usize) {
    to.iter_mut().zip(products).for_each(|(to, product)| *to = *product);
    to.iter_mut().zip(b.get(begin..).unwrap_or_default()).take(products.len()).for_each(|(to, b)| *to += *b);
}

impl<'t, S: Scalar> TableRef<'t, S> {
    /// Allocates room to widen the given number of rows; empty if they need not be widened.
    #[inline(always)]
    fn room_for(self, rows: usize) -> Vec<S> {
        vec![S::zero(); if self.is_narrow() { rows * self.cols() } else { 0 }]
    }

    /// Returns `N` rows from `begin` on. Beyond `end` the last row is repeated, and its products are not used.
    /// `array::from_fn` is not used because it would not be compiled for each generation of processors.
    #[inline(always)]
    fn stretch<'a, const N: usize>(self, begin: usize, end: usize, widened: &'a mut [S]) -> [&'a [S]; N]
    where
        't: 'a,
    {
        let mut rows: [&[S]; N] = [&[]; N];
        if self.is_narrow() {
            let mut room = widened.chunks_exact_mut(self.cols().max(1));
            for (row, at) in rows.iter_mut().zip(begin..) {
                let to = room.next().unwrap_or_default();
                self.copy_row(at.min(end - 1), to);
                *row = to;
            }
        } else {
            for (row, at) in rows.iter_mut().zip(begin..) {
                let at = at.min(end - 1);
                *row = self.flat_rows(at..at + 1);
            }
        }
        rows
    }
}

/// Computes the dot products `x_r · e_c` of `R` rows of `X` with `C` rows of the table.
#[inline(always)]
fn multiply<S: Scalar, V: Simd<S>, const R: usize, const C: usize>(
    simd: V,
    x: [&[S]; R],
    rows: [&[S]; C],
    products: &mut [[S; C]; R],
) {
    let mut sums = [[simd.splat(S::zero()); C]; R];
    let (x_lanes, x_rests) = lanes(x);
    let (lanes, rests) = lanes(rows);
    for at in 0..lanes[0].len() {
        let mut of_rows = [simd.splat(S::zero()); C];
        for (of_row, row) in of_rows.iter_mut().zip(&lanes) {
            *of_row = simd.load(&row[at]);
        }
        for (sums, x) in sums.iter_mut().zip(&x_lanes) {
            let x = simd.load(&x[at]);
            for (sum, row) in sums.iter_mut().zip(&of_rows) {
                *sum = simd.mul_add(x, *row, *sum);
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        for (c, sum) in sums.into_iter().enumerate() {
            products[r][c] = joined(simd, sum) + ends(x_rests[r], rests[c]);
        }
    }
}

/// Sums a lane, in the order of [`Simd::sums`].
#[inline(always)]
fn joined<S: Scalar, V: Simd<S>>(simd: V, sum: V::Vector) -> S {
    let mut lane = [S::zero(); LANES];
    simd.store(sum, &mut lane);
    let [a, b, c, d, e, f, g, h] = lane;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Computes the dot product of the entries after the whole lanes.
#[inline(always)]
fn ends<S: Scalar>(x: &[S], row: &[S]) -> S {
    x.iter().zip(row).fold(
        S::zero(),
        #[inline(always)]
        |sum, (&x, &e)| sum + x * e,
    )
}

/// Splits rows into whole lanes and the rest. The lanes are cut to one length that the compiler can see, as each would
/// be bounds-checked otherwise.
#[inline(always)]
fn lanes<S, const N: usize>(rows: [&[S]; N]) -> ([&[Lane<S>]; N], [&[S]; N]) {
    let (mut lanes, mut rests): ([&[Lane<S>]; N], [&[S]; N]) = ([&[]; N], [&[]; N]);
    let whole = rows[0].len() / LANES;
    for ((row, lanes), rest) in rows.iter().zip(&mut lanes).zip(&mut rests) {
        (*lanes, *rest) = row.as_chunks();
        *lanes = &lanes[..whole];
    }
    (lanes, rests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close_beside};
    use crate::numerics::rng::{Stream, stream};
    use rand::RngExt;

    fn random<S: Scalar>(rows: usize, cols: usize, seed: u64) -> Matrix<S> {
        let mut rng = stream(seed, Stream::ModelInit);
        Matrix::from_fn(rows, cols, |_, _| S::from_f64(rng.random_range(-1.0..1.0)))
    }

    /// Rows, entries and rows of the table that are not multiples of a lane.
    const SHAPES: [(usize, usize, usize); 7] =
        [(1, 1, 1), (2, 7, 3), (3, 8, 8), (5, 19, 17), (1, 64, 30), (4, 3, 0), (0, 5, 4)];

    /// Returns the largest difference from sums in double precision.
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
                assert_close_beside(
                    1.0,
                    format!("{shape:?}"),
                    error::<f32>(shape, has_bias),
                    0.0,
                    Tolerance::SINGLE_PASS,
                );
                assert_close_beside(1.0, format!("{shape:?}"), error::<f64>(shape, has_bias), 0.0, Tolerance::DOUBLE);
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_in_any_product() {
        let (x, table, b) = (random::<f32>(11, 37, 4), random::<f32>(22, 37, 5), random::<f32>(1, 22, 6));
        let all = multiply_by_rows(&x, &table, b.row(0));
        for threads in 2..6 {
            assert_eq!(
                multiply_on(threads, &x, TableRef::from(&table), b.row(0)).flat(),
                all.flat(),
                "{threads} threads"
            );
        }
        for i in 0..11 {
            let alone = multiply_by_rows(&Matrix::from_row_major(1, 37, x.row(i).to_vec()), &table, b.row(0));
            assert_eq!(alone.row(0), all.row(i));
        }
    }
}
