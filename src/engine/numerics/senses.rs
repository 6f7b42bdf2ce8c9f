//! Scores of how far apart the occurrences of one word are in a layer, and of whether its senses separate.
//!
//! For vectors `xᵢ` of one word in several sentences, each with a sense `sᵢ` or none, by their cosines `c_ij`:
//!
//! | score | definition |
//! |---|---|
//! | all | mean of `c_ij` over all pairs `i < j` |
//! | within, between | the mean over the pairs with `sᵢ = s_j`; and over those with `sᵢ ≠ s_j` |
//! | nearest | leave-one-out 1-nearest-neighbour score: the share of the occurrences with a sense whose nearest other one, by cosine, has the same sense; of several that are equally near, the share of them that do (Coenen et al. 2019, arXiv 1906.02715, ask the same of BERT) |
//! | baseline | the layer's anisotropy: mean cosine over all pairs of different tokens of the layer (Ethayarajh 2019, arXiv 1909.00512). A cosine less the baseline says how much more similar two vectors are than any two on average |

use std::collections::BTreeMap;

use super::vectors::{add_scaled, cosine, dot, norm};
use super::{Matrix, Scalar};

/// Difference below which cosines count as equal, because it may be only the rounding between equal vectors.
const TIE: f64 = 1e-9;

/// Scores of one word in one layer. Each is `None` if there is no such pair or a vector is not finite; `nearest` also
/// if all senses are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenseScores {
    pub all: Option<f64>,
    pub within: Option<f64>,
    pub between: Option<f64>,
    pub nearest: Option<f64>,
    pub baseline: Option<f64>,
}

/// Returns `c_ij` for every pair of rows.
pub fn cosines<S: Scalar>(rows: &Matrix<S>) -> Matrix<f64> {
    let rows = rows.cast::<f64>();
    Matrix::from_fn(rows.rows(), rows.rows(), |i, j| cosine(rows.row(i), rows.row(j)))
}

impl SenseScores {
    /// Computes the scores of occurrences from their cosines and senses.
    ///
    /// # Panics
    /// If the numbers of senses and occurrences differ.
    pub fn of<T: PartialEq>(cosines: &Matrix<f64>, senses: &[Option<T>], baseline: Option<f64>) -> Self {
        assert_eq!(cosines.rows(), senses.len(), "a sense for each occurrence");
        let count = senses.len();
        let pairs = || (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
        let are_alike = |(i, j): (usize, usize)| Some(senses[i].as_ref()? == senses[j].as_ref()?);
        let mean = |is_of: &dyn Fn((usize, usize)) -> bool| {
            mean(pairs().filter(|pair| is_of(*pair)).map(|(i, j)| cosines.get(i, j)))
        };
        Self {
            all: mean(&|_| true),
            within: mean(&|pair| are_alike(pair) == Some(true)),
            between: mean(&|pair| are_alike(pair) == Some(false)),
            nearest: nearest_score(cosines, senses),
            baseline,
        }
    }
}

fn nearest_score<T: PartialEq>(cosines: &Matrix<f64>, senses: &[Option<T>]) -> Option<f64> {
    let with_sense: Vec<usize> = (0..senses.len()).filter(|i| senses[*i].is_some()).collect();
    let is_one = with_sense.iter().all(|i| senses[*i] == senses[with_sense[0]]);
    if is_one || with_sense.iter().any(|i| with_sense.iter().any(|j| !cosines.get(*i, *j).is_finite())) {
        return None;
    }
    let hit = |i: &usize| {
        let others = || with_sense.iter().filter(|j| *j != i);
        let best = others().map(|j| cosines.get(*i, *j)).fold(f64::NEG_INFINITY, f64::max);
        let nearest = others().filter(|j| best - cosines.get(*i, **j) < TIE);
        mean(nearest.map(|j| f64::from(u8::from(senses[*i] == senses[*j]))))
    };
    mean(with_sense.iter().filter_map(hit))
}

/// Returns the mean cosine over all pairs of different tokens among the rows of a layer, each with its token. The sum
/// over pairs is `(‖Σ u‖² − Σ ‖u‖²) / 2` of unit vectors `u`, for all and for those of each token, so the cost is
/// linear in the rows.
pub fn baseline<'r, S: Scalar + 'r>(rows: impl Iterator<Item = (Option<usize>, &'r [S])>) -> Option<f64> {
    let mut all = PairSum::default();
    let mut by_token: BTreeMap<usize, PairSum> = BTreeMap::new();
    for (token, row) in rows {
        let unit = unit(row);
        // A row without a token differs from all others.
        token.into_iter().for_each(|token| by_token.entry(token).or_default().add(&unit));
        all.add(&unit);
    }
    let (mut sum, mut count) = (all.sum(), all.pairs());
    for same in by_token.values() {
        sum -= same.sum();
        count -= same.pairs();
    }
    (count > 0.0 && sum.is_finite()).then(|| sum / count)
}

/// Sums from which the sum of the dot products of all pairs of vectors is computed.
#[derive(Default)]
struct PairSum {
    total: Vec<f64>,
    squares: f64,
    count: f64,
}

impl PairSum {
    fn add(&mut self, vector: &[f64]) {
        self.total.resize(vector.len(), 0.0);
        add_scaled(&mut self.total, 1.0, vector);
        self.squares += dot(vector, vector);
        self.count += 1.0;
    }

    fn sum(&self) -> f64 {
        (dot(&self.total, &self.total) - self.squares) / 2.0
    }

    fn pairs(&self) -> f64 {
        self.count * (self.count - 1.0) / 2.0
    }
}

/// Scales the vector to length 1; zero stays zero.
fn unit<S: Scalar>(row: &[S]) -> Vec<f64> {
    let mut vector: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
    let length = norm(&vector);
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    (count > 0.0 && sum.is_finite()).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, is_close_beside};

    fn near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| is_close_beside(1.0, found, expected, Tolerance::DOUBLE_PASS).is_ok())
    }

    #[test]
    fn two_senses_at_right_angles_are_told_apart() {
        let rows = Matrix::from_row_major(4, 2, vec![1.0f32, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 3.0]);
        let scores = SenseScores::of(&cosines(&rows), &[Some('A'), Some('A'), Some('B'), Some('B')], None);
        assert!(near(scores.within, 1.0) && near(scores.between, 0.0) && near(scores.all, 1.0 / 3.0), "{scores:?}");
        assert!(near(scores.nearest, 1.0));
        let mixed = SenseScores::of(&cosines(&rows), &[Some('A'), Some('B'), Some('A'), Some('B')], None);
        assert!(near(mixed.nearest, 0.0) && near(mixed.within, 0.0), "{mixed:?}");
    }

    #[test]
    fn vectors_that_are_one_score_as_chance_does() {
        let rows = Matrix::from_fn(5, 3, |_, j| 0.1f32 * (j + 1) as f32);
        let senses = [Some(0), Some(0), Some(1), Some(1), Some(1)];
        let scores = SenseScores::of(&cosines(&rows), &senses, None);
        // Each occurrence has four others, of which one or two have the same sense.
        assert!(near(scores.nearest, (2.0 * 0.25 + 3.0 * 0.5) / 5.0), "{scores:?}");
        assert!(near(scores.within, 1.0) && near(scores.between, 1.0));
    }

    #[test]
    fn an_occurrence_without_a_sense_counts_for_distances_alone() {
        let rows = Matrix::from_row_major(3, 2, vec![1.0f64, 0.0, 0.0, 1.0, 1.0, 1.0]);
        let scores = SenseScores::of(&cosines(&rows), &[Some('A'), Some('B'), None], None);
        assert!(near(scores.between, 0.0) && scores.within.is_none() && near(scores.nearest, 0.0), "{scores:?}");
        assert!(near(scores.all, 2f64.sqrt() / 3.0));
        let without = SenseScores::of::<char>(&cosines(&rows), &[None, None, None], Some(0.5));
        assert!(near(without.all, 2f64.sqrt() / 3.0) && near(without.baseline, 0.5));
        assert_eq!((without.within, without.between, without.nearest), (None, None, None));
    }

    #[test]
    fn nothing_is_said_of_what_is_not_there() {
        let none = SenseScores::of::<char>(&Matrix::zeros(0, 0), &[], None);
        assert_eq!(none, SenseScores::default());
        let broken = Matrix::from_row_major(2, 1, vec![f32::NAN, 1.0]);
        let scores = SenseScores::of(&cosines(&broken), &[Some(1), Some(2)], None);
        assert_eq!(scores, SenseScores::default());
        assert_eq!(baseline([(Some(1), broken.row(0)), (Some(2), broken.row(1))].into_iter()), None);
        assert_eq!(baseline([(Some(1), broken.row(1)), (Some(1), broken.row(1))].into_iter()), None, "one token");
    }

    #[test]
    fn the_baseline_is_the_mean_over_the_pairs() {
        let tokens = [Some(3), Some(1), Some(3), Some(2), None, None];
        let rows = Matrix::from_fn(tokens.len(), 4, |i, j| ((7 * i + 3 * j) % 5) as f32 - 1.5);
        let of = cosines(&rows);
        let pairs = (0..tokens.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let differ = |(i, j): &(usize, usize)| tokens[*i].is_none() || tokens[*i] != tokens[*j];
        let expected = mean(pairs.filter(differ).map(|(i, j)| of.get(i, j))).expect("some pairs");
        let found = baseline(tokens.iter().enumerate().map(|(i, token)| (*token, rows.row(i))));
        assert!(near(found, expected), "{found:?}, not {expected}");
    }
}
