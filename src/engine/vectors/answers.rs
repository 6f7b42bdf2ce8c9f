//! Exact answers about all words in the full width of their vectors: nearest neighbours, and the words at the ends of
//! an axis.

use crate::numerics::parallel;
use crate::numerics::simd::{LANES, Simd, Work, dispatch};
use crate::numerics::vectors::{cosine, highest};
use crate::vectors::Vectors;
use crate::vectors::expression::length;

/// The measure of how near two words are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// `a · b / (‖a‖ ‖b‖)`; larger is nearer.
    #[default]
    Cosine,
    /// `‖a − b‖`; smaller is nearer.
    Distance,
}

/// A word, with the measure between its vector and a given one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    pub row: usize,
    pub value: f32,
}

/// Returns the `count` words nearest to a vector, nearest first, without the rows `except`. Rows of zeros have a cosine
/// of 0.
///
/// # Panics
/// If the width of `to` differs.
pub fn neighbours(vectors: &Vectors, to: &[f32], measure: Measure, count: usize, except: &[usize]) -> Vec<Neighbour> {
    let mut scores = scores(vectors, to, measure);
    if measure == Measure::Distance {
        scores.iter_mut().for_each(|distance| *distance = -*distance);
    }
    except.iter().for_each(|row| scores[*row] = f32::NEG_INFINITY);
    let found = highest(&scores, count.min(vectors.len()));
    let value = |row: usize| if measure == Measure::Distance { -scores[row] } else { scores[row] };
    let found = found.into_iter().filter(|row| !except.contains(row));
    found.map(|row| Neighbour { row, value: value(row) }).collect()
}

/// Computes the measure of every word to a vector.
///
/// # Panics
/// If the width of `to` differs.
pub fn scores(vectors: &Vectors, to: &[f32], measure: Measure) -> Vec<f32> {
    assert_eq!(to.len(), vectors.width(), "scores: a vector of another width");
    let mut scores = vec![0.0; vectors.len()];
    let (width, numbers) = (vectors.width(), vectors.rows.flat());
    let share = vectors.len().div_ceil(parallel::available()).max(ROWS_FOR_A_THREAD);
    let parts = numbers.chunks(share * width).zip(scores.chunks_mut(share));
    parallel::each(parts, |(rows, scores)| match measure {
        Measure::Cosine => cosines(rows, to, scores),
        Measure::Distance => dispatch(Distances { rows, to, scores }),
    });
    scores
}

/// Number of rows for which another thread is worth starting.
const ROWS_FOR_A_THREAD: usize = 4096;

/// Squared length below which digits are lost; above its inverse, squares may overflow.
const SMALL: f32 = 1e-30;

fn cosines(rows: &[f32], to: &[f32], scores: &mut [f32]) {
    let own = length(to) as f32;
    let has_length = own > SMALL.sqrt() && own < SMALL.sqrt().recip();
    let mut squares = [0.0; ROWS_AT_ONCE];
    for (rows, scores) in rows.chunks(ROWS_AT_ONCE * to.len()).zip(scores.chunks_mut(ROWS_AT_ONCE)) {
        let squares = &mut squares[..scores.len()];
        dispatch(Products { rows, to, dots: scores, squares });
        let is_plain = |square: &f32| (SMALL..SMALL.recip()).contains(square);
        if has_length && squares.iter().fold(true, |all, square| all & is_plain(square)) {
            scores.iter_mut().zip(&*squares).for_each(|(score, square)| *score /= square.sqrt() * own);
            continue;
        }
        for (row, score) in rows.chunks_exact(to.len()).zip(scores) {
            *score = cosine(row, to);
        }
    }
}

/// Number of rows whose dot products and squared lengths are computed before they are divided, so that they stay in a
/// cache.
const ROWS_AT_ONCE: usize = 1024;

/// A computation of `x · to` and `x · x` for each row `x`. Each row is read only once and in storage order, which is
/// fastest.
struct Products<'a> {
    rows: &'a [f32],
    to: &'a [f32],
    dots: &'a mut [f32],
    squares: &'a mut [f32],
}

/// Number of partial sums of one row. With a single sum, each addition would wait for the one before it.
const SUMS: usize = 4;

impl Work<f32> for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<f32>>(self, simd: V) {
        let (to, to_rest) = self.to.as_chunks::<LANES>();
        for ((row, dot), square) in self.rows.chunks_exact(self.to.len()).zip(self.dots).zip(self.squares) {
            let (lanes, rest) = row.as_chunks::<LANES>();
            let (mut dots, mut squares) = ([simd.splat(0.0); SUMS], [simd.splat(0.0); SUMS]);
            let ((many, few), (to_many, to_few)) = (lanes.as_chunks::<SUMS>(), to.as_chunks::<SUMS>());
            for (xs, tos) in many.iter().zip(to_many) {
                for at in 0..SUMS {
                    let x = simd.load(&xs[at]);
                    dots[at] = simd.mul_add(x, simd.load(&tos[at]), dots[at]);
                    squares[at] = simd.mul_add(x, x, squares[at]);
                }
            }
            for (x, to) in few.iter().zip(to_few) {
                let x = simd.load(x);
                dots[0] = simd.mul_add(x, simd.load(to), dots[0]);
                squares[0] = simd.mul_add(x, x, squares[0]);
            }
            let [a, b, c, d] = dots;
            *dot = simd.sum(simd.add(simd.add(a, b), simd.add(c, d)));
            let [a, b, c, d] = squares;
            *square = simd.sum(simd.add(simd.add(a, b), simd.add(c, d)));
            for (x, to) in rest.iter().zip(to_rest) {
                *dot += x * to;
                *square += x * x;
            }
        }
    }
}

struct Distances<'a> {
    rows: &'a [f32],
    to: &'a [f32],
    scores: &'a mut [f32],
}

impl Work<f32> for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<f32>>(self, simd: V) {
        let (to, to_rest) = self.to.as_chunks::<LANES>();
        for (row, score) in self.rows.chunks_exact(self.to.len()).zip(self.scores) {
            let (row, rest) = row.as_chunks::<LANES>();
            let mut squares = simd.splat(0.0);
            for (x, to) in row.iter().zip(to) {
                let difference = simd.sub(simd.load(x), simd.load(to));
                squares = simd.mul_add(difference, difference, squares);
            }
            let mut sum = simd.sum(squares);
            for (x, to) in rest.iter().zip(to_rest) {
                sum += (x - to) * (x - to);
            }
            *score = sum.sqrt();
        }
    }
}

/// Returns the axis from one group of words to another: the difference of their mean directions.
///
/// # Panics
/// If a group is empty.
pub fn axis(vectors: &Vectors, from: &[usize], to: &[usize]) -> Vec<f32> {
    assert!(!from.is_empty() && !to.is_empty(), "axis: a group without words");
    let mut axis = vec![0.0; vectors.width()];
    for (group, sign) in [(from, -1.0), (to, 1.0)] {
        for &row in group {
            let row = vectors.rows.row(row);
            let scale = sign / (length(row).max(f64::MIN_POSITIVE) * group.len() as f64);
            axis.iter_mut().zip(row).for_each(|(axis, x)| *axis += scale * f64::from(*x));
        }
    }
    axis.into_iter().map(|x| x as f32).collect()
}

/// Returns the `count` words at each end of an axis, by their cosine with it: first those at its beginning.
pub fn ends(vectors: &Vectors, axis: &[f32], count: usize) -> [Vec<Neighbour>; 2] {
    let backwards: Vec<f32> = axis.iter().map(|x| -x).collect();
    let mut low = neighbours(vectors, &backwards, Measure::Cosine, count, &[]);
    low.iter_mut().for_each(|end| end.value = -end.value);
    [low, neighbours(vectors, axis, Measure::Cosine, count, &[])]
}
