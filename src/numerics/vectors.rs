//! Vectors as slices: dot product, length, similarities, centroids; nearest rows and analogies.

pub use super::simd::add_scaled;
use super::simd::{self, Plain};
use super::{Matrix, Scalar};

/// `a · b`
#[inline(always)]
pub fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    simd::dot(Plain, a, b)
}

/// `‖a‖`
pub fn norm<S: Scalar>(a: &[S]) -> S {
    dot(a, a).sqrt()
}

/// `a · b / (‖a‖ ‖b‖)`, and 0 if either is the zero vector.
///
/// ```
/// # use attune::numerics::vectors::cosine;
/// assert_eq!(cosine(&[3.0, 0.0], &[5.0, 0.0]), 1.0);
/// assert_eq!(cosine(&[0.0, 0.0], &[5.0, 0.0]), 0.0);
/// ```
pub fn cosine<S: Scalar>(a: &[S], b: &[S]) -> S {
    let lengths = norm(a) * norm(b);
    if lengths > S::zero() { dot(a, b) / lengths } else { S::zero() }
}

/// The mean of some rows.
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

/// How alike two vectors are; the more, the larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// `a · b`
    Dot,
    /// `a · b / (‖a‖ ‖b‖)`, from −1 to 1
    Cosine,
    /// `−‖a − b‖`, at most 0
    Euclidean,
}

impl Similarity {
    pub fn of<S: Scalar>(self, a: &[S], b: &[S]) -> S {
        match self {
            Self::Dot => dot(a, b),
            Self::Cosine => cosine(a, b),
            Self::Euclidean => -distance(a, b),
        }
    }
}

/// `‖a − b‖`
fn distance<S: Scalar>(a: &[S], b: &[S]) -> S {
    debug_assert_eq!(a.len(), b.len(), "distance: {} and {} entries", a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| (a - b) * (a - b)).sum::<S>().sqrt()
}

/// Rows most similar to `to`, best first, without the rows `except`.
pub fn nearest<S: Scalar>(
    similarity: Similarity,
    vectors: &Matrix<S>,
    to: &[S],
    count: usize,
    except: &[usize],
) -> Vec<(usize, S)> {
    let rows = (0..vectors.rows()).filter(|row| !except.contains(row));
    let mut all: Vec<(usize, S)> = rows.map(|row| (row, similarity.of(vectors.row(row), to))).collect();
    // Vectors that are not finite sort last: the list stays a list, and divergence is reported elsewhere.
    let order = |a: &(usize, S), b: &(usize, S)| b.1.to_f64().total_cmp(&a.1.to_f64()).then(a.0.cmp(&b.0));
    if count < all.len() {
        all.select_nth_unstable_by(count, order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
    all
}

/// What is to `c` as `b` is to `a`: rows by cosine to `b̂ − â + ĉ`, of vectors of length 1, without the
/// three words themselves (3CosAdd; Mikolov, Yih & Zweig 2013, "Linguistic Regularities in Continuous
/// Space Word Representations", section 4).
pub fn analogy<S: Scalar>(vectors: &Matrix<S>, a: usize, b: usize, c: usize, count: usize) -> Vec<(usize, S)> {
    let mut wanted = vec![S::zero(); vectors.cols()];
    for (sign, row) in [(S::one(), b), (-S::one(), a), (S::one(), c)] {
        let length = norm(vectors.row(row));
        // A zero vector has no direction to add.
        if length > S::zero() {
            add_scaled(&mut wanted, sign / length, vectors.row(row));
        }
    }
    nearest(Similarity::Cosine, vectors, &wanted, count, &[a, b, c])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_similarity_has_its_own_nearest() {
        let vectors = Matrix::from_row_major(4, 2, vec![9.0, 9.0, 2.0, 0.0, 1.0, 0.5, -1.0, 0.0]);
        let order = |similarity, except: &[usize]| -> Vec<usize> {
            nearest(similarity, &vectors, &[1.0, 0.0], 3, except).into_iter().map(|(row, _)| row).collect()
        };
        assert_eq!(order(Similarity::Dot, &[]), [0, 1, 2]);
        assert_eq!(order(Similarity::Cosine, &[]), [1, 2, 0]);
        assert_eq!(order(Similarity::Euclidean, &[]), [2, 1, 3]);
        assert_eq!(order(Similarity::Cosine, &[1, 2]), [0, 3], "as many as there are");
        assert_eq!(Similarity::Euclidean.of(&[3.0, 4.0], &[0.0, 0.0]), -5.0);
    }

    #[test]
    fn analogies_leave_their_words_out() {
        // man, woman, king, queen, and what is like king: one axis of rank, one of gender.
        let rows = vec![1.0, 0.0, 0.1, 1.0, 1.0, 0.0, 5.0, 0.0, 5.0, 1.0, 1.0, 1.0, 5.1, 0.1, 5.0];
        let vectors = Matrix::from_row_major(5, 3, rows);
        let found = analogy(&vectors, 0, 1, 2, 2);
        assert_eq!(found.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [3, 4]);
        assert!(analogy(&Matrix::<f64>::zeros(3, 2), 0, 1, 2, 5).is_empty());
        assert_eq!(analogy(&Matrix::<f64>::zeros(4, 2), 0, 1, 2, 5), [(3, 0.0)], "zero vectors");
    }
}
