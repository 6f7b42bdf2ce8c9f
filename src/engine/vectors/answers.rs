//! Exact answers about all words in the full width of their vectors: nearest neighbours, and the order along an axis.

use crate::numerics::parallel;
use crate::numerics::simd::{LANES, Simd, Work, dispatch};
use crate::numerics::vectors::{cosine, highest};
use crate::vectors::Vectors;
use crate::vectors::expression::length;

/// The measure by which words are near.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// `a · b / (‖a‖ ‖b‖)`: the larger, the nearer
    Cosine,
    /// `‖a − b‖`: the smaller, the nearer
    Distance,
}

/// A word and its measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    pub row: usize,
    pub value: f32,
}

/// The words nearest to a vector, the nearest first, without the rows `except`. Rows of zeros have the cosine 0.
///
/// # Panics
/// If the vector has another width.
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

/// The measure of every word to a vector.
///
/// # Panics
/// If the vector has another width.
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

/// Fewer rows are not worth a thread.
const ROWS_FOR_A_THREAD: usize = 4096;

/// Squares below this lose digits, and above its inverse they may overflow.
const SMALL: f32 = 1e-30;

fn cosines(rows: &[f32], to: &[f32], scores: &mut [f32]) {
    let mut squares = vec![0.0; scores.len()];
    let own = length(to);
    dispatch(Products { rows, to, dots: &mut *scores, squares: &mut squares });
    for (at, (score, square)) in scores.iter_mut().zip(squares).enumerate() {
        let is_plain = (SMALL..SMALL.recip()).contains(&square) && own > f64::from(SMALL.sqrt()) && score.is_finite();
        *score = match is_plain {
            true => (f64::from(*score) / (f64::from(square).sqrt() * own)) as f32,
            false => cosine(&rows[at * to.len()..(at + 1) * to.len()], to),
        };
    }
}

/// `x · to` and `x · x` of each row `x`, which is read once.
struct Products<'a> {
    rows: &'a [f32],
    to: &'a [f32],
    dots: &'a mut [f32],
    squares: &'a mut [f32],
}

impl Work<f32> for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<f32>>(self, simd: V) {
        let width = self.to.len();
        let (rows, rest) = self.rows.split_at(self.dots.len() / BLOCK * BLOCK * width);
        let (dots, dots_rest) = self.dots.as_chunks_mut::<BLOCK>();
        let (squares, squares_rest) = self.squares.as_chunks_mut::<BLOCK>();
        for ((rows, dots), squares) in rows.chunks_exact(BLOCK * width).zip(dots).zip(squares) {
            products(simd, rows, self.to, dots, squares);
        }
        for ((row, dot), square) in rest.chunks_exact(width).zip(dots_rest).zip(squares_rest) {
            products(simd, row, self.to, std::array::from_mut(dot), std::array::from_mut(square));
        }
    }
}

/// Rows whose sums run side by side: the sum of one row alone waits for itself at every step.
const BLOCK: usize = 4;

#[inline(always)]
fn products<const N: usize, V: Simd<f32>>(
    simd: V,
    rows: &[f32],
    to: &[f32],
    dots: &mut [f32; N],
    squares: &mut [f32; N],
) {
    let width = to.len();
    let whole = width / LANES * LANES;
    let mut sums = [[simd.splat(0.0); 2]; N];
    for (at, to) in (0..whole).step_by(LANES).zip(to.as_chunks::<LANES>().0) {
        let to = simd.load(to);
        for (row, [dot, square]) in sums.iter_mut().enumerate() {
            let Some(x) = rows[row * width + at..].first_chunk() else { continue };
            let x = simd.load(x);
            *dot = simd.mul_add(x, to, *dot);
            *square = simd.mul_add(x, x, *square);
        }
    }
    for (row, [dot, square]) in sums.into_iter().enumerate() {
        (dots[row], squares[row]) = (simd.sum(dot), simd.sum(square));
        for at in whole..width {
            let x = rows[row * width + at];
            dots[row] += x * to[at];
            squares[row] += x * x;
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

/// The axis from one group of words to another: the difference of their mean directions.
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

/// The words at both ends of an axis, by their cosine with it: those of its beginning, then those of its end.
pub fn ends(vectors: &Vectors, axis: &[f32], count: usize) -> [Vec<Neighbour>; 2] {
    let backwards: Vec<f32> = axis.iter().map(|x| -x).collect();
    let mut low = neighbours(vectors, &backwards, Measure::Cosine, count, &[]);
    low.iter_mut().for_each(|end| end.value = -end.value);
    [low, neighbours(vectors, axis, Measure::Cosine, count, &[])]
}
