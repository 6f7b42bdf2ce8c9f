//! Vectors as slices: dot product, length, cosine, centroids.

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

/// Rows nearest to `to` by cosine, best first, without the row `except`.
pub fn nearest<S: Scalar>(vectors: &Matrix<S>, to: &[S], count: usize, except: Option<usize>) -> Vec<(usize, S)> {
    let mut all: Vec<(usize, S)> =
        (0..vectors.rows()).filter(|&row| Some(row) != except).map(|row| (row, cosine(vectors.row(row), to))).collect();
    // Vectors that are not finite sort last: the list stays a list, and divergence is reported elsewhere.
    let order = |a: &(usize, S), b: &(usize, S)| b.1.to_f64().total_cmp(&a.1.to_f64()).then(a.0.cmp(&b.0));
    if count < all.len() {
        all.select_nth_unstable_by(count, order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
    all
}
