//! Distances in scores: `S_ij += B_h[j − i] / τ`, a learned number for each head and each distance from a query to a
//! key, or for each bucket of distances (Raffel et al. 2020, *Exploring the Limits of Transfer Learning with a Unified
//! Text-to-Text Transformer*, arXiv 1910.10683, section 2.1).
//!
//! Positions then affect only the attention weights. They add nothing to the words' vectors, and so move no point by
//! themselves.

use super::config::AttentionConfig;
use crate::numerics::Scalar;
use crate::numerics::simd::add;

/// The form of a layer's `B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistanceForm {
    /// `T_max`, the length of the longest sentence.
    pub tokens: usize,
    /// Buckets of distances that share a number. Without them each distance has its own.
    pub buckets: Option<DistanceBuckets>,
    /// The block, counted over all blocks, whose `B` the layer reads. `None` if it has its own.
    pub table: Option<usize>,
}

impl DistanceForm {
    /// Returns the form in which each distance has a number of its own.
    pub fn of_each(tokens: usize) -> Self {
        Self { tokens, buckets: None, table: None }
    }

    /// Returns `2 T_max − 1`, the number of distances.
    pub fn count(self) -> usize {
        2 * self.tokens - 1
    }

    /// Returns the number of columns of `B`.
    pub fn columns(self) -> usize {
        self.buckets.map_or(self.count(), |buckets| buckets.count)
    }

    /// Returns the column of `B` for the distance from a query to a key.
    pub fn column(self, query: usize, key: usize) -> usize {
        self.column_of(self.tokens - 1 + key - query)
    }

    /// Returns the column of `B` for a distance, counted so that the key furthest before its query has 0.
    pub fn column_of(self, distance: usize) -> usize {
        let itself = self.tokens - 1;
        match self.buckets {
            None => distance,
            Some(buckets) => buckets.bucket(distance > itself, distance.abs_diff(itself)),
        }
    }
}

/// Buckets of distances: near ones of one distance each, and wider ones further away.
///
/// ```text
/// both directions   n' = n div 2, b = n' for keys after the query and 0 for others
/// causal            n' = n, b = 0, and later keys count as the query itself
/// e = n' div 2      r < e: b + r      else b + min(n' − 1, e + ⌊ln(r/e) / ln(most/e) · (n' − e)⌋)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistanceBuckets {
    /// `n`, at least 4 for both directions and 2 otherwise.
    pub count: usize,
    /// The distance from which on all distances are in the last bucket; greater than `e`.
    pub most: usize,
    /// Whether keys after the query have buckets of their own.
    pub both_directions: bool,
}

impl DistanceBuckets {
    /// Returns `e`, the number of distances in one direction that have a bucket each.
    pub fn exact(self) -> usize {
        self.in_one_direction() / 2
    }

    /// Returns `n'`, the number of buckets of one direction.
    fn in_one_direction(self) -> usize {
        if self.both_directions { self.count / 2 } else { self.count }
    }

    /// Returns the bucket of the keys at a distance before or after the query.
    pub fn bucket(self, is_after: bool, distance: usize) -> usize {
        let (own, exact) = (self.in_one_direction(), self.exact());
        let (first, distance) = match (is_after, self.both_directions) {
            (true, true) => (own, distance),
            (true, false) => (0, 0),
            (false, _) => (0, distance),
        };
        if distance < exact {
            return first + distance;
        }
        let share = (distance as f64 / exact as f64).ln() / (self.most as f64 / exact as f64).ln();
        first + (exact + (share * (own - exact) as f64) as usize).min(own - 1)
    }
}

/// `B / τ` of a layer, stored in both orders: rows of scores read one, columns the other.
#[derive(Clone, Debug)]
pub struct Distances<S> {
    /// Length of the longest sentence; 0 if the layer does not use distances.
    tokens: usize,
    /// Column of `B` of each distance.
    columns_of_b: Vec<usize>,
    /// The numbers of each head in one row, from the furthest key before the query to the furthest after it.
    rows: Vec<S>,
    /// The numbers of `rows`, each row reversed.
    columns: Vec<S>,
}

impl<S: Scalar> Distances<S> {
    pub fn new(config: &AttentionConfig) -> Self {
        let entries = vec![S::zero(); config.heads * config.distance_count()];
        let columns_of_b =
            config.distances.map_or(Vec::new(), |form| (0..form.count()).map(|it| form.column_of(it)).collect());
        let tokens = config.distances.map_or(0, |form| form.tokens);
        Self { tokens, columns_of_b, rows: entries.clone(), columns: entries }
    }

    /// Sets the numbers to `B / τ`, where `B` is the parameter (H · distances), or (H · buckets).
    ///
    /// # Panics
    /// If it has another size.
    pub fn set(&mut self, bias: &[S], config: &AttentionConfig) {
        let Some(form) = config.distances else { return };
        let (found, wanted) = (bias.len(), config.heads * form.columns());
        assert_eq!(found, wanted, "attention: B of {found} entries, {wanted} wanted");
        let (share, count) = (S::from_f64(1.0 / config.temperature), form.count());
        for (to, bias) in self.rows.chunks_exact_mut(count).zip(bias.chunks_exact(form.columns())) {
            to.iter_mut().zip(&self.columns_of_b).for_each(|(to, &column)| *to = share * bias[column]);
        }
        for (to, row) in self.columns.chunks_exact_mut(count).zip(self.rows.chunks_exact(count)) {
            to.iter_mut().zip(row.iter().rev()).for_each(|(to, &x)| *to = x);
        }
    }

    /// Adds the gradient of the numbers, times `share`, to the gradient of `B`.
    pub fn set_backward(&self, d_rows: &[S], share: S, config: &AttentionConfig, d_bias: &mut [S]) {
        let Some(form) = config.distances else { return };
        for (d_bias, d_row) in d_bias.chunks_exact_mut(form.columns()).zip(d_rows.chunks_exact(form.count())) {
            d_row.iter().zip(&self.columns_of_b).for_each(|(&d, &column)| d_bias[column] += share * d);
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
    /// Adds to each score of a query the learned number of its distance. `scores` may stop before the last key.
    #[inline(always)]
    pub fn add_to_row(&self, query: usize, scores: &mut [S]) {
        if self.tokens > 0 {
            add(scores, &self.row[self.tokens - 1 - query..][..scores.len()]);
        }
    }

    /// Adds the learned numbers of the distances to a key's scores for the first queries, as many as there are scores.
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
