//! Operations on vectors as slices: dot product, length, similarities, centroids, nearest rows, and the highest scores.

use std::ops::RangeInclusive;

pub use crate::numerics::simd::add_scaled;
use crate::numerics::simd::{self, Plain};
use crate::numerics::{Matrix, Scalar};

/// Computes `a · b`.
#[inline(always)]
pub fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    simd::dot(Plain, a, b)
}

/// Computes `‖a‖`.
pub fn norm<S: Scalar>(a: &[S]) -> S {
    dot(a, a).sqrt()
}

/// Computes `a · b / (‖a‖ ‖b‖)`: 0 if either is the zero vector, NaN if an entry is not finite.
///
/// ```
/// # use attune_engine::numerics::vectors::cosine;
/// assert_eq!(cosine(&[3.0, 0.0], &[5.0, 0.0]), 1.0);
/// assert_eq!(cosine(&[0.0, 0.0], &[5.0, 0.0]), 0.0);
/// ```
pub fn cosine<S: Scalar>(a: &[S], b: &[S]) -> S {
    /// Squared lengths that neither overflow nor lose digits in single precision.
    const PLAIN_SQUARES: RangeInclusive<f64> = 1e-24..=1e30;
    let squares = [dot(a, a), dot(b, b)];
    if squares.iter().all(|square| PLAIN_SQUARES.contains(&square.to_f64())) {
        return dot(a, b) / (squares[0].sqrt() * squares[1].sqrt());
    }
    let (a, b) = (scaled(a), scaled(b));
    let lengths = norm(&a) * norm(&b);
    S::from_f64(if lengths == 0.0 { 0.0 } else { dot(&a, &b) / lengths })
}

/// Divides a vector by the magnitude of its largest entry, so that none of its squares overflows.
fn scaled<S: Scalar>(vector: &[S]) -> Vec<f64> {
    let largest = vector.iter().map(|x| x.to_f64().abs()).fold(0.0, Scalar::max);
    let divisor = if largest == 0.0 { 1.0 } else { largest };
    vector.iter().map(|x| x.to_f64() / divisor).collect()
}

/// Computes the mean of some rows.
///
/// # Panics
/// If there are none.
pub fn centroid<S: Scalar>(vectors: &Matrix<S>, rows: &[usize]) -> Vec<S> {
    assert!(!rows.is_empty(), "centroid: of no rows");
    let share = S::one() / S::from_f64(rows.len() as f64);
    let mut mean = vec![S::zero(); vectors.cols()];
    for &row in rows {
        add_scaled(&mut mean, share, vectors.row(row));
    }
    mean
}

/// A measure of how similar two vectors are; larger is more similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// `a · b / (‖a‖ ‖b‖)`, from −1 to 1
    Cosine,
    /// `−‖a − b‖`, at most 0
    Euclidean,
}

impl Similarity {
    pub fn of<S: Scalar>(self, a: &[S], b: &[S]) -> S {
        match self {
            Self::Cosine => cosine(a, b),
            Self::Euclidean => -distance(a, b),
        }
    }
}

/// Computes `‖a − b‖`.
pub fn distance<S: Scalar>(a: &[S], b: &[S]) -> S {
    debug_assert_eq!(a.len(), b.len(), "distance: {} and {} entries", a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| (a - b) * (a - b)).sum::<S>().sqrt()
}

/// Returns the `count` rows most similar to `to`, best first, without the rows `except`.
pub fn nearest<S: Scalar>(
    similarity: Similarity,
    vectors: &Matrix<S>,
    to: &[S],
    count: usize,
    except: &[usize],
) -> Vec<(usize, S)> {
    let rows = (0..vectors.rows()).filter(|row| !except.contains(row));
    let mut all: Vec<(usize, S)> = rows.map(|row| (row, similarity.of(vectors.row(row), to))).collect();
    // Vectors that are not finite sort last. Divergence is reported elsewhere.
    let rank = |similarity: S| if similarity.is_finite() { similarity.to_f64() } else { f64::NEG_INFINITY };
    let order = |a: &(usize, S), b: &(usize, S)| rank(b.1).total_cmp(&rank(a.1)).then(a.0.cmp(&b.0));
    if count < all.len() {
        all.select_nth_unstable_by(count, order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
    all
}

// The highest of many scores, for the few words of a vocabulary that are listed.

/// Number of scores that are tested together; most such stretches contain no score that is high enough and are skipped.
const STRETCH: usize = 64;

/// Returns the indices of the `count` highest scores, highest first; the first of equal ones comes first. NaN counts as
/// the lowest score.
///
/// ```
/// use attune_engine::numerics::vectors::highest;
///
/// assert_eq!(highest(&[0.1, 0.7, 0.2, 0.7], 3), [1, 3, 2]);
/// ```
pub fn highest<S: Scalar>(scores: &[S], count: usize) -> Vec<usize> {
    let rank = |score: S| if score.is_nan() { S::NEG_INFINITY } else { score };
    // Sorted from highest to lowest.
    let mut found: Vec<usize> = Vec::with_capacity(count + 1);
    for (first, stretch) in (0..).step_by(STRETCH).zip(scores.chunks(STRETCH)) {
        if found.len() == count {
            let Some(&last) = found.last() else { return found };
            let least = rank(scores[last]);
            if !stretch.iter().fold(false, |any, score| any | (*score > least)) {
                continue;
            }
        }
        for (place, &score) in (first..).zip(stretch) {
            let score = rank(score);
            if found.len() < count || found.last().is_some_and(|&last| score > rank(scores[last])) {
                let at = found.partition_point(|&other| rank(scores[other]) >= score);
                found.insert(at, place);
                found.truncate(count);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    #[test]
    fn each_similarity_has_its_own_nearest() {
        let vectors = Matrix::from_row_major(4, 2, vec![9.0, 9.0, 2.0, 0.0, 1.0, 0.5, -1.0, 0.0]);
        let order = |similarity, except: &[usize]| -> Vec<usize> {
            nearest(similarity, &vectors, &[1.0, 0.0], 3, except).into_iter().map(|(row, _)| row).collect()
        };
        assert_eq!(order(Similarity::Cosine, &[]), [1, 2, 0]);
        assert_eq!(order(Similarity::Euclidean, &[]), [2, 1, 3]);
        assert_eq!(order(Similarity::Cosine, &[1, 2]), [0, 3], "as many as there are");
        assert_eq!(Similarity::Euclidean.of(&[3.0, 4.0], &[0.0, 0.0]), -5.0);
    }

    #[test]
    fn a_cosine_is_that_of_the_directions_however_long_the_vectors() {
        for length in [1e-45f32, 1e-38, 1e-23, 1e-12, 1.0, 1e15, 1e20, 3e38] {
            for other in [1e-45f32, 1e-23, 1.0, 3e38] {
                let cosine = cosine(&[length, 0.0], &[other, other]);
                assert_close(format!("{length}, {other}"), cosine, 0.5f32.sqrt(), Tolerance::SINGLE);
            }
            assert_eq!(cosine(&[length, 0.0], &[length, 0.0]), 1.0);
            assert_eq!(cosine(&[length, 0.0], &[0.0, 0.0]), 0.0);
        }
        assert_eq!(cosine(&[1e-200], &[-1e200]), -1.0);
        for bad in [f32::NAN, f32::INFINITY] {
            assert!(cosine(&[bad, 0.0], &[1.0, 0.0]).is_nan() && cosine(&[0.0, 0.0], &[1.0, bad]).is_nan());
        }
    }

    #[test]
    fn what_is_not_finite_is_nobodys_neighbour() {
        let vectors = Matrix::from_row_major(4, 1, vec![f32::NAN, 1.0, f32::INFINITY, -1.0]);
        for similarity in [Similarity::Cosine, Similarity::Euclidean] {
            let found = nearest(similarity, &vectors, &[2.0], 4, &[]);
            assert_eq!(found.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 3, 0, 2], "{similarity:?}");
        }
    }
    use rand::RngExt;

    use crate::numerics::rng::{Stream, stream};

    #[test]
    fn the_highest_are_the_first_of_all_in_order() {
        let mut rng = stream(1, Stream::ModelInit);
        for length in [0, 1, 5, 63, 64, 65, 1000] {
            // Few distinct values, so that many are equal.
            let scores: Vec<f32> = (0..length).map(|_| rng.random_range(0..40) as f32).collect();
            let mut all: Vec<usize> = (0..length).collect();
            all.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            for count in [0, 1, 5, 70] {
                assert_eq!(highest(&scores, count), all[..count.min(length)], "{count} of {length}");
            }
        }
    }

    #[test]
    fn nan_counts_as_the_lowest_score() {
        const NAN: f32 = f32::NAN;
        assert_eq!(highest(&[NAN, NAN], 2), [0, 1]);
        assert_eq!(highest(&[NAN, NAN, 5.0, 9.0], 3), [3, 2, 0]);
        assert_eq!(highest(&[5.0, NAN, 3.0, 7.0, 1.0], 2), [3, 0]);
        assert_eq!(highest(&[NAN, 1.0, NAN, 2.0, NAN, 3.0, 4.0, 5.0], 5), [7, 6, 5, 3, 1]);
    }
}
