//! Distances in scores: `S_ij += B_h[j − i] / τ`, a learned number for each head and each distance from a query to a key
//! (Raffel et al. 2020, *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*, arXiv
//! 1910.10683, section 2.1, without its buckets).
//!
//! Positions then affect only the attention weights. They add nothing to the words' vectors, and so move no point by
//! themselves.

use super::config::AttentionConfig;
use crate::numerics::Scalar;
use crate::numerics::simd::add;

/// `B / τ` of a layer, stored in both orders: rows of scores read one, columns the other.
#[derive(Clone, Debug)]
pub struct Distances<S> {
    /// Length of the longest sentence; 0 if the layer does not use distances.
    tokens: usize,
    /// One row for each head, from the furthest key before the query to the furthest after it.
    rows: Vec<S>,
    /// The numbers of `rows`, each row reversed.
    columns: Vec<S>,
}

impl<S: Scalar> Distances<S> {
    pub fn new(config: &AttentionConfig) -> Self {
        let entries = vec![S::zero(); config.heads * config.distance_count()];
        Self { tokens: config.distances.unwrap_or(0), rows: entries.clone(), columns: entries }
    }

    /// Sets the numbers to `B / τ`, where `B` is the parameter (H · distances).
    ///
    /// # Panics
    /// If it has another size.
    pub fn set(&mut self, bias: &[S], config: &AttentionConfig) {
        let (found, wanted) = (bias.len(), self.rows.len());
        assert_eq!(found, wanted, "attention: B of {found} entries, {wanted} distances");
        let share = S::from_f64(1.0 / config.temperature);
        self.rows.iter_mut().zip(bias).for_each(|(to, &x)| *to = share * x);
        let count = config.distance_count().max(1);
        for (to, row) in self.columns.chunks_exact_mut(count).zip(self.rows.chunks_exact(count)) {
            to.iter_mut().zip(row.iter().rev()).for_each(|(to, &x)| *to = x);
        }
    }

    #[inline(always)]
    pub fn of_head(&self, head: usize) -> HeadDistances<'_, S> {
        let count = (2 * self.tokens).saturating_sub(1);
        let range = head * count..(head + 1) * count;
        HeadDistances { tokens: self.tokens, row: &self.rows[range.clone()], column: &self.columns[range] }
    }
}

/// [`Distances`] of one head.
#[derive(Clone, Copy)]
pub struct HeadDistances<'a, S> {
    tokens: usize,
    row: &'a [S],
    column: &'a [S],
}

impl<S: Scalar> HeadDistances<'_, S> {
    /// Adds the distances to a query's scores, which are those of the first keys.
    #[inline(always)]
    pub fn add_to_row(&self, query: usize, scores: &mut [S]) {
        if self.tokens > 0 {
            add(scores, &self.row[self.tokens - 1 - query..][..scores.len()]);
        }
    }

    /// Adds the distances to a key's scores, which are those of the first queries.
    #[inline(always)]
    pub fn add_to_column(&self, key: usize, scores: &mut [S]) {
        if self.tokens > 0 {
            add(scores, &self.column[self.tokens - 1 - key..][..scores.len()]);
        }
    }
}

/// Adds the gradient of [`HeadDistances::add_to_row`] to `d_bias`.
#[inline(always)]
pub fn distance_gradient<S: Scalar>(query: usize, d_scores: &[S], d_bias: &mut [S]) {
    if !d_bias.is_empty() {
        let tokens = d_bias.len().div_ceil(2);
        add(&mut d_bias[tokens - 1 - query..][..d_scores.len()], d_scores);
    }
}

/// Adds the gradient of [`HeadDistances::add_to_column`] to `d_bias`.
#[inline(always)]
pub fn distance_column_gradient<S: Scalar>(key: usize, d_scores: &[S], d_bias: &mut [S]) {
    if !d_bias.is_empty() {
        let tokens = d_bias.len().div_ceil(2);
        for (query, &d) in d_scores.iter().enumerate() {
            d_bias[tokens - 1 + key - query] += d;
        }
    }
}
