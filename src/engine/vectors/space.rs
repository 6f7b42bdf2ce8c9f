//! A vector space as a whole: principal components of all rows, the mean similarity of its words, its hubs, and the
//! comparison of two spaces.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use super::Vectors;
use super::answers::{Measure, neighbours};
use super::expression::length;
use crate::numerics::alignment::turn_of;
use crate::numerics::spread::{COVARIANCE_WIDTH_MAX, Spread};
use crate::numerics::table::TableRef;
use crate::numerics::vectors::dot;
use crate::numerics::{Matrix, parallel};

/// Number of pairs of words that are converted to double precision at once.
const BLOCK: usize = 4096;
/// Number of partial sums over all pairs. It does not depend on the number of threads, because the last digits of a sum
/// depend on the order of addition.
const PARTS: usize = 16;
/// Largest number of numbers in all partial sums; for wide vectors there are fewer sums.
const PRODUCTS_MAX: usize = 1 << 24;

/// Principal components of all rows.
#[derive(Clone, Debug)]
pub struct Components {
    pub mean: Vec<f64>,
    /// Axes in rows, (count, d), in order of decreasing variance.
    pub axes: Matrix<f32>,
    /// Share of the total variance along each axis.
    pub shares: Vec<f64>,
}

/// Returns the first `count` principal components of all rows, or `None` if the decomposition fails.
///
/// # Panics
/// If there are no rows.
pub fn components(vectors: &Vectors, count: usize) -> Option<Components> {
    let spread = Spread::of(&vectors.rows);
    let found = spread.components(count)?;
    let total = spread.total();
    let share = |axis: &Vec<f64>| if total > 0.0 { spread.variance_along(axis).max(0.0) / total } else { 0.0 };
    let axes = Matrix::from_fn(found.len(), vectors.width(), |axis, entry| found[axis][entry] as f32);
    Some(Components { shares: found.iter().map(share).collect(), axes, mean: spread.mean().to_vec() })
}

/// Computes the exact mean cosine of all pairs of different rows: 0 if directions are spread evenly, near 1 if all
/// words are in a narrow cone.
pub fn mean_cosine(vectors: &Vectors) -> f64 {
    let mut sum = vec![0.0_f64; vectors.width()];
    let mut count = 0.0;
    for row in vectors.rows.flat().chunks_exact(vectors.width()) {
        let length = length(row);
        if length > 0.0 {
            count += 1.0;
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(*x) / length);
        }
    }
    // `‖Σ u‖²` counts each pair twice, and each row once with itself.
    let squares: f64 = sum.iter().map(|x| x * x).sum();
    if count > 1.0 { (squares - count) / (count * (count - 1.0)) } else { 0.0 }
}

/// A word that is a neighbour of many words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hub {
    pub row: usize,
    /// Number of sampled words that have this word as a neighbour.
    pub times: usize,
}

/// Returns the `count` words that are most often one of the `nearest` neighbours of `sample` words, which are spread
/// evenly over all words.
pub fn hubs(vectors: &Vectors, sample: usize, nearest: usize, count: usize) -> Vec<Hub> {
    let step = vectors.len().div_ceil(sample.max(1)).max(1);
    let mut times = vec![0_usize; vectors.len()];
    for row in (0..vectors.len()).step_by(step) {
        for near in neighbours(vectors, vectors.rows.row(row), Measure::Cosine, nearest, &[row]) {
            times[near.row] += 1;
        }
    }
    let mut hubs: Vec<Hub> = times.into_iter().enumerate().map(|(row, times)| Hub { row, times }).collect();
    hubs.sort_by_key(|hub| (std::cmp::Reverse(hub.times), hub.row));
    hubs.truncate(count);
    hubs
}

/// Two spaces, of which the first was turned onto the second.
#[derive(Clone, Debug)]
pub struct Compared {
    pub turn: Turn,
    /// Rows of each shared word in both spaces, with the cosine between its turned vector and its other one; smallest
    /// cosine first.
    pub moved: Vec<(usize, usize, f64)>,
}

impl Compared {
    /// Returns the mean cosine of the shared words after the turn.
    pub fn mean_cosine(&self) -> f64 {
        self.moved.iter().map(|moved| moved.2).sum::<f64>() / self.moved.len() as f64
    }
}

/// `R` of [orthogonal Procrustes](crate::numerics::alignment), computed from the directions of the shared words.
#[derive(Clone, Debug)]
pub enum Turn {
    /// `R` (d, d).
    Whole(Mat<f64>),
    /// `R = F Tᵀ`, both (d, n), for fewer words than dimensions. It turns the span of these words; other directions are
    /// unknown.
    OfSpan { from: Mat<f64>, to: Mat<f64> },
}

impl Turn {
    /// Computes `x R` for rows `x`.
    ///
    /// # Panics
    /// If the width of the rows differs.
    pub fn turned(&self, rows: &Matrix<f64>) -> Matrix<f64> {
        Matrix::copied(
            match self {
                Self::Whole(turn) => rows.view() * turn,
                Self::OfSpan { from, to } => (rows.view() * from) * to.transpose(),
            }
            .as_ref(),
        )
    }
}

/// Returns the rows of the words that two spaces share, in the order of the first. A repeated word means its first row.
pub fn shared<'w>(
    words: impl Iterator<Item = &'w str>,
    row_of: impl Fn(&str) -> Option<usize>,
    other_row_of: impl Fn(&str) -> Option<usize>,
) -> Vec<(usize, usize)> {
    let firsts = words.enumerate().filter(|(row, word)| row_of(word) == Some(*row));
    firsts.filter_map(|(row, word)| Some((row, other_row_of(word)?))).collect()
}

/// Returns the rows of the words that two files [share](shared), without words that are only the numbers of their rows.
pub fn shared_words(from: &Vectors, to: &Vectors) -> Vec<(usize, usize)> {
    let row_of = |vectors: &Vectors, word: &str| vectors.row_of(word).filter(|row| vectors.has_word(*row));
    shared(from.words.iter().map(|word| &**word), |word| row_of(from, word), |word| row_of(to, word))
}

/// Turns one space onto another by the words that they [share](shared).
///
/// # Errors
/// If the widths differ, no word is shared, there are too many words of too great a width, or the numbers allow no
/// turn.
pub fn compare(from: TableRef<'_, f32>, to: TableRef<'_, f32>, shared: &[(usize, usize)]) -> Result<Compared, String> {
    let width = from.cols();
    if width != to.cols() {
        return Err(format!("vectors of {width} and of {} numbers; expected two spaces of the same width", to.cols()));
    }
    let has_direction = |pair: &&(usize, usize)| length(&from.row(pair.0)) > 0.0 && length(&to.row(pair.1)) > 0.0;
    let shared: Vec<(usize, usize)> = shared.iter().filter(has_direction).copied().collect();
    if shared.is_empty() {
        return Err("no word is in both spaces; expected two spaces of the same language".to_owned());
    }
    let are_few = width > SPAN_WIDTH_MIN && 2 * shared.len() < width;
    let (turn, mut moved) = if are_few || width > COVARIANCE_WIDTH_MAX {
        of_span(from, to, &shared)?
    } else {
        of_whole(from, to, &shared)?
    };
    moved.sort_by(|x, y| x.2.total_cmp(&y.2));
    Ok(Compared { turn, moved })
}

/// Rows of each shared word in both spaces, with the cosine after the turn.
type Moved = Vec<(usize, usize, f64)>;

const NO_TURN: &str = "the products of both spaces have no singular values";

/// Returns the directions of shared words in both spaces.
fn both(from: TableRef<'_, f32>, to: TableRef<'_, f32>, pairs: &[(usize, usize)]) -> (Matrix<f64>, Matrix<f64>) {
    (directions(from, pairs.iter().map(|pair| pair.0)), directions(to, pairs.iter().map(|pair| pair.1)))
}

/// Computes the turn from the products of all dimensions, `Pᵀ Q`, (d, d).
fn of_whole(
    from: TableRef<'_, f32>,
    to: TableRef<'_, f32>,
    shared: &[(usize, usize)],
) -> Result<(Turn, Moved), String> {
    let width = from.cols();
    let count = (PRODUCTS_MAX / (width * width).max(1)).clamp(1, PARTS);
    let parts: Vec<&[(usize, usize)]> = shared.chunks(shared.len().div_ceil(count)).collect();
    let of_parts = parallel::map(&parts, parallel::available(), |pairs| {
        let mut products = Mat::<f64>::zeros(width, width);
        for pairs in pairs.chunks(BLOCK) {
            let (a, b) = both(from, to, pairs);
            matmul(products.as_mut(), Accum::Add, a.view().transpose(), b.view(), 1.0, Par::Seq);
        }
        products
    });
    let products = of_parts.into_iter().fold(Mat::zeros(width, width), |sum, part| sum + part);
    let turn = Turn::Whole(turn_of(&products).ok_or(NO_TURN)?);
    let blocks: Vec<&[(usize, usize)]> = shared.chunks(BLOCK).collect();
    let moved = parallel::map(&blocks, parallel::available(), |pairs| {
        let (a, b) = both(from, to, pairs);
        let turned = turn.turned(&a);
        let cosine = |(i, &(p, q)): (usize, &(usize, usize))| (p, q, dot(turned.row(i), b.row(i)));
        pairs.iter().enumerate().map(cosine).collect::<Vec<_>>()
    });
    Ok((turn, moved.concat()))
}

/// Width above which the turn for few words is computed within their span. For narrower vectors the products of all
/// dimensions cost next to nothing.
const SPAN_WIDTH_MIN: usize = 256;
/// Largest number of words for which the turn is computed within their span.
const SPAN_WORDS_MAX: usize = 1024;
/// Largest number of numbers in the directions of these words together.
const SPAN_NUMBERS_MAX: usize = 1 << 24;

/// Computes the turn within the span of n words, where n is less than the number of dimensions.
/// With `Pᵀ = A S` and `Qᵀ = B T`, where `A` and `B` have orthonormal columns, the products are `Pᵀ Q = A (S Tᵀ) Bᵀ`,
/// and only the (n, n) matrix in the middle is decomposed.
///
/// # Errors
/// If there are too many words.
fn of_span(from: TableRef<'_, f32>, to: TableRef<'_, f32>, shared: &[(usize, usize)]) -> Result<(Turn, Moved), String> {
    let (width, count) = (from.cols(), shared.len());
    let most = SPAN_WORDS_MAX.min(SPAN_NUMBERS_MAX / width);
    if count > most {
        return Err(format!(
            "vectors of {width} numbers and {count} words in both spaces; expected at most {COVARIANCE_WIDTH_MAX} numbers, \
             or at most {most} words; compare files with fewer words, such as the most frequent ones"
        ));
    }
    let (p, q) = both(from, to, shared);
    let (p, q) = (p.view().transpose().qr(), q.view().transpose().qr());
    let (s, t) = (p.thin_R(), q.thin_R());
    let middle = turn_of(&(s * t.transpose())).ok_or(NO_TURN)?;
    let turned = s.transpose() * &middle;
    let cosine = |i: usize| (0..count).map(|j| turned[(i, j)] * t[(j, i)]).sum();
    let moved = shared.iter().enumerate().map(|(i, &(here, there))| (here, there, cosine(i))).collect();
    Ok((Turn::OfSpan { from: p.compute_thin_Q() * middle, to: q.compute_thin_Q() }, moved))
}

/// Returns rows as vectors of length 1.
fn directions(table: TableRef<'_, f32>, rows: impl ExactSizeIterator<Item = usize>) -> Matrix<f64> {
    let mut unit = Matrix::zeros(rows.len(), table.cols());
    for (at, row) in rows.enumerate() {
        let row = table.row(row);
        let length = length(&row);
        unit.row_mut(at).iter_mut().zip(&*row).for_each(|(unit, x)| *unit = f64::from(*x) / length);
    }
    unit
}
