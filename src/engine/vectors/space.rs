//! A space as a whole: principal components of all its rows, how similar its words are, its hubs, and two spaces
//! compared.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use super::Vectors;
use super::answers::{Measure, neighbours};
use super::expression::length;
use crate::numerics::alignment::turn_of;
use crate::numerics::shares::Spread;
use crate::numerics::table::TableRef;
use crate::numerics::vectors::dot;
use crate::numerics::{Matrix, parallel};

/// Pairs of words whose directions are in double precision at once.
const BLOCK: usize = 4096;
/// Parts of a sum over all pairs, whatever the number of threads: in another order it would have other last digits.
const PARTS: usize = 16;
/// Numbers in all these sums, at most: of wide vectors there are fewer parts.
const PRODUCTS_MAX: usize = 1 << 24;

/// Principal components of all rows.
#[derive(Clone, Debug)]
pub struct Components {
    pub mean: Vec<f64>,
    /// (count, d): an axis a row, the widest first.
    pub axes: Matrix<f32>,
    /// The part of the whole variance along each axis.
    pub shares: Vec<f64>,
}

/// The `count` widest principal components, of the covariance of all rows; none where the decomposition fails.
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

/// The mean cosine of all pairs of different rows, exactly: 0 where directions are spread evenly, near 1 where all words
/// lie in a narrow cone.
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
    // ‖Σ u‖² has each pair twice, and each row once with itself.
    let squares: f64 = sum.iter().map(|x| x * x).sum();
    if count > 1.0 { (squares - count) / (count * (count - 1.0)) } else { 0.0 }
}

/// A word that is among the neighbours of many words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hub {
    pub row: usize,
    /// Sampled words that have it among their neighbours.
    pub times: usize,
}

/// The words that are most often among the `nearest` neighbours of `sample` words, which are taken evenly from all.
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

/// Two spaces with the first turned onto the second.
#[derive(Clone, Debug)]
pub struct Compared {
    /// (d, d): `R` of [orthogonal Procrustes](crate::numerics::alignment), over the directions of the shared words.
    pub turn: Matrix<f64>,
    /// Shared words by their rows in both, with the cosine of the turned vector and the other; the smallest first.
    pub moved: Vec<(usize, usize, f64)>,
}

impl Compared {
    /// The mean cosine of the shared words, after the turn.
    pub fn mean_cosine(&self) -> f64 {
        self.moved.iter().map(|moved| moved.2).sum::<f64>() / self.moved.len() as f64
    }
}

/// Rows of the words that two spaces share, in the order of the first. A word means its first row.
pub fn shared<'w>(
    words: impl Iterator<Item = &'w str>,
    row_of: impl Fn(&str) -> Option<usize>,
    other_row_of: impl Fn(&str) -> Option<usize>,
) -> Vec<(usize, usize)> {
    let firsts = words.enumerate().filter(|(row, word)| row_of(word) == Some(*row));
    firsts.filter_map(|(row, word)| Some((row, other_row_of(word)?))).collect()
}

/// Turns one space onto another by the [`shared`] words.
///
/// # Errors
/// If the widths differ, no word is shared, or the numbers allow no turn.
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
    let both = |pairs: &[(usize, usize)]| {
        (directions(from, pairs.iter().map(|pair| pair.0)), directions(to, pairs.iter().map(|pair| pair.1)))
    };
    let count = (PRODUCTS_MAX / (width * width).max(1)).clamp(1, PARTS);
    let parts: Vec<&[(usize, usize)]> = shared.chunks(shared.len().div_ceil(count)).collect();
    let of_parts = parallel::map(&parts, parallel::available(), |pairs| {
        let mut products = Mat::<f64>::zeros(width, width);
        for pairs in pairs.chunks(BLOCK) {
            let (a, b) = both(pairs);
            matmul(products.as_mut(), Accum::Add, a.view().transpose(), b.view(), 1.0, Par::Seq);
        }
        products
    });
    let products = of_parts.into_iter().fold(Mat::zeros(width, width), |sum, part| sum + part);
    let turn = turn_of(&products).ok_or("the products of both spaces have no singular values")?;
    let blocks: Vec<&[(usize, usize)]> = shared.chunks(BLOCK).collect();
    let moved = parallel::map(&blocks, parallel::available(), |pairs| {
        let (a, b) = both(pairs);
        let turned = Matrix::copied((a.view() * &turn).as_ref());
        let cosine = |(i, &(p, q)): (usize, &(usize, usize))| (p, q, dot(turned.row(i), b.row(i)));
        pairs.iter().enumerate().map(cosine).collect::<Vec<_>>()
    });
    let mut moved = moved.concat();
    moved.sort_by(|x, y| x.2.total_cmp(&y.2));
    Ok(Compared { turn: Matrix::copied(turn.as_ref()), moved })
}

/// Rows as vectors of length 1.
fn directions(table: TableRef<'_, f32>, rows: impl ExactSizeIterator<Item = usize>) -> Matrix<f64> {
    let mut unit = Matrix::zeros(rows.len(), table.cols());
    for (at, row) in rows.enumerate() {
        let row = table.row(row);
        let length = length(&row);
        unit.row_mut(at).iter_mut().zip(&*row).for_each(|(unit, x)| *unit = f64::from(*x) / length);
    }
    unit
}
