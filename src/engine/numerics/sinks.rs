//! Attention sinks: keys at which most heads look, whatever the query is.
//!
//! The weight of a key `j` is the mean of `α_hij` over all heads and the queries that see it (Gu et al. 2024, arXiv
//! 2410.10781, who call a key a sink of a head where that head's mean is above ε = 0.3). In a short sentence everything
//! is above: with even weights, the first of four words under a causal mask has 0.52. So a sink must also have
//! [`TIMES_EVEN`] times the weight that even rows would give it.

use super::{Matrix, Scalar};

/// Gu et al.'s ε.
pub const LEAST_WEIGHT: f64 = 0.3;
/// How much more than with even weights.
pub const TIMES_EVEN: f64 = 2.0;

/// The weight that one key has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeyWeight {
    /// Mean over heads and the queries that see it.
    pub mean: f64,
    /// The same if every query weighed all keys that it sees alike.
    pub even: f64,
    /// Heads in which its mean is above [`LEAST_WEIGHT`].
    pub heads: usize,
}

impl KeyWeight {
    pub fn is_sink(&self) -> bool {
        self.mean > LEAST_WEIGHT && self.mean > TIMES_EVEN * self.even
    }
}

/// The weight of each key, of heads with the same queries and keys, each with its weights and its scores: a score of −∞
/// is of a key that the query does not see.
pub fn key_weights<'a, S: Scalar + 'a>(
    heads: impl Iterator<Item = (&'a Matrix<S>, &'a Matrix<S>)>,
    keys: usize,
) -> Vec<KeyWeight> {
    let mut found = vec![KeyWeight::default(); keys];
    let mut seen = vec![0usize; keys];
    for (weights, scores) in heads {
        let (mut own, mut own_seen) = (vec![0.0; keys], vec![0usize; keys]);
        for query in 0..weights.rows() {
            let seen = || scores.row(query).iter().map(|score| *score != S::NEG_INFINITY);
            let even = 1.0 / seen().filter(|is_seen| *is_seen).count() as f64;
            let row = weights.row(query).iter().zip(seen()).enumerate();
            for (key, (weight, _)) in row.filter(|(_, (_, is_seen))| *is_seen) {
                own[key] += weight.to_f64();
                own_seen[key] += 1;
                found[key].even += even;
            }
        }
        for key in 0..keys {
            found[key].mean += own[key];
            found[key].heads += usize::from(own[key] > LEAST_WEIGHT * own_seen[key] as f64);
            seen[key] += own_seen[key];
        }
    }
    for (found, seen) in found.iter_mut().zip(seen) {
        let share = 1.0 / seen.max(1) as f64;
        (found.mean, found.even) = (found.mean * share, found.even * share);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(weights: &[&Matrix<f32>], is_causal: bool) -> Vec<KeyWeight> {
        let size = weights[0].rows();
        let scores = Matrix::from_fn(size, size, |i, j| if is_causal && j > i { f32::NEG_INFINITY } else { 0.0 });
        key_weights(weights.iter().map(|weights| (*weights, &scores)), size)
    }

    fn sinks(weights: &[&Matrix<f32>], is_causal: bool) -> Vec<usize> {
        let found = found(weights, is_causal);
        (0..found.len()).filter(|key| found[*key].is_sink()).collect()
    }

    #[test]
    fn a_key_that_most_look_at_is_a_sink_and_one_that_all_must_look_at_is_none() {
        let even = Matrix::from_fn(4, 4, |i, j| if j <= i { 1.0 / (i + 1) as f32 } else { 0.0 });
        assert_eq!(sinks(&[&even], true), [0; 0]);
        let first = found(&[&even], true)[0];
        assert!((first.mean - 0.5208).abs() < 1e-4 && (first.even - first.mean).abs() < 1e-6, "{first:?}");
        // Of eight words, each looks with 0.6 at the last.
        let last = Matrix::from_fn(8, 8, |_, j| if j == 7 { 0.6 } else { 0.4 / 7.0 });
        let itself = Matrix::from_fn(8, 8, |i, j| f32::from(i == j));
        assert_eq!(sinks(&[&last], false), [7]);
        assert_eq!(sinks(&[&last, &last, &itself], false), [7]);
        assert_eq!(sinks(&[&last, &itself, &itself], false), [0; 0], "a mean of 0.28");
        let weight = found(&[&last, &last, &itself], false)[7];
        assert!((weight.mean - (0.6 + 0.6 + 0.125) / 3.0).abs() < 1e-6 && weight.heads == 2, "{weight:?}");
    }
}
