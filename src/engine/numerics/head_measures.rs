//! Measures of a head: how spread out its attention weights are, how far they reach, and what share of them fits a
//! known kind of head.
//!
//! | measure | equation | source |
//! |---|---|---|
//! | entropy | `−1/T Σ_i Σ_j α_ij ln α_ij`, in nats | Clark et al. 2019, arXiv 1906.04341, section 3.3 |
//! | mean distance | `Σ_ij α_ij \|i − j\| / Σ_ij α_ij` | Vig & Belinkov 2019, arXiv 1906.04284 |
//! | a share | `Σ_ij α_ij P_ij / Σ_ij α_ij` with `P_ij` 0 or 1 | TransformerLens, `head_detector`, error measure "mul" |
//!
//! The pairs of a query `i` and a key `j` at which `P_ij = 1`, for tokens `t`:
//!
//! | share of | pairs |
//! |---|---|
//! | previous, same, next token | `j = i − 1`, `j = i`, `j = i + 1` (Clark et al. 2019, section 3.1) |
//! | first token | `j = 0` |
//! | added tokens | `j` is one that the tokenizer added, `[CLS]` or `[SEP]` (Clark et al. 2019, section 3.2) |
//! | duplicate token | `j < i`, `t_j = t_i` (TransformerLens, `duplicate_token_head`) |
//! | induction | `0 < j ≤ i`, `t_(j−1) = t_i`, `j − 1 ≠ i` (TransformerLens, `induction_head`): the one after an earlier copy |
//! | aligned word | `j` is the word of the source that is aligned with the word written after `i`; see [`alignment`] |

use std::ops::Range;

use crate::numerics::{Matrix, Scalar};

/// The texts that explain a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasureWords {
    pub title: &'static str,
    pub meaning: &'static str,
    pub formula: &'static str,
    pub source: &'static str,
}

/// Declares the measures, each with its title, its meaning, its equation and its source.
macro_rules! measures {
    ($($(#[$attribute:meta])* $name:ident = $title:literal, $meaning:literal, $formula:literal, $source:literal;)*) => {
        /// A number that describes a head's weights.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum HeadMeasure {
            $($(#[$attribute])* $name,)*
        }

        impl HeadMeasure {
            pub const ALL: [Self; [$($title),*].len()] = [$(Self::$name),*];

            /// Returns the texts of the measure, as panels and the documentation show them.
            pub const fn words(self) -> MeasureWords {
                let [title, meaning, formula, source] = match self {
                    $(Self::$name => [$title, $meaning, $formula, $source],)*
                };
                MeasureWords { title, meaning, formula, source }
            }
        }
    };
}

measures! {
    #[default]
    Previous = "previous token", "The share of the head's weights on the token before the current one",
        "Σᵢ α[i, i−1] / Σ α", "Clark et al. 2019";
    Same = "same token", "The share of the head's weights on the current token itself",
        "Σᵢ α[i, i] / Σ α", "Clark et al. 2019";
    Next = "next token", "The share of the head's weights on the token after the current one",
        "Σᵢ α[i, i+1] / Σ α", "Clark et al. 2019";
    First = "first token", "The share of the head's weights on the first token",
        "Σᵢ α[i, 0] / Σ α", "Clark et al. 2019";
    Added = "special tokens", "The share of the head's weights on special tokens, such as [CLS] and [SEP]",
        "Σ α[i, j] with j added, / Σ α", "Clark et al. 2019";
    Duplicate = "duplicate token", "The share of the head's weights on an earlier copy of the same token",
        "Σ α[i, j] with j < i, t[j] = t[i], / Σ α", "TransformerLens, head_detector";
    Induction = "induction", "The share of the head's weights on the token that followed an earlier copy of the current token",
        "Σ α[i, j] with j ≤ i, t[j−1] = t[i], / Σ α", "TransformerLens, head_detector";
    Entropy = "entropy", "How spread out the head's weights are: 0 if each token looks at only one token, ln T if each token \
        looks at all T tokens equally",
        "−1/T Σ α ln α", "Clark et al. 2019";
    Distance = "mean distance", "How many tokens away the head looks, on average",
        "Σ α[i, j] |i − j| / Σ α", "Vig & Belinkov 2019";
    Aligned = "aligned word", "The share of a cross-attention head's weights on the aligned source word: by the lesson's rule, \
        or else the one that the heads of all cross-attention together weigh most",
        "Σᵢ α[i, a] / Σ α, a the j with the largest Σₕ αₕ[i, j]", "Garg et al. 2019, of the mean over heads";
    Monotony = "monotony", "The share of steps from one target token to the next at which the source token with the largest \
        weight does not move back",
        "mean over i > 0 of [b(i) ≥ b(i−1)], b(i) the j with the largest α[i, j]", "counted in the map";
}

impl HeadMeasure {
    /// Returns the index of the measure in [`Self::ALL`].
    pub fn place(self) -> usize {
        self as usize
    }

    /// Returns whether the measure is a share, between 0 and 1.
    pub fn is_share(self) -> bool {
        !matches!(self, Self::Entropy | Self::Distance)
    }

    /// Returns whether the measure is the share of the weights on certain pairs of a query and a key.
    pub fn counts_pairs(self) -> bool {
        !matches!(self, Self::Entropy | Self::Distance | Self::Monotony)
    }

    /// Returns the measure in words for a sentence whose tokens are the patches of a picture.
    pub fn words_of_patches(self) -> MeasureWords {
        match self {
            Self::Distance => MeasureWords {
                meaning: "How many patches away the head looks in the picture, on average over its patches",
                formula: "Σ α[i, j] ‖pᵢ − p[j]‖ / Σ α, p the row and column of a patch",
                ..self.words()
            },
            _ => self.words(),
        }
    }

    /// Returns whether the measure needs queries and keys of two different sentences.
    fn is_between_two_sentences(self) -> bool {
        matches!(self, Self::Aligned | Self::Monotony)
    }

    /// Returns whether the measure compares the positions or words of queries and keys, so that both must be of one
    /// sentence.
    fn is_within_one_sentence(self) -> bool {
        !matches!(self, Self::Entropy | Self::First | Self::Added | Self::Aligned | Self::Monotony)
    }
}

/// The properties of a token that measures use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredToken {
    /// Row of the vocabulary; a token with `None` is not the same word as any other.
    pub word: Option<usize>,
    /// Whether the tokenizer added it.
    pub is_added: bool,
}

/// The pairs of query and key that measures count in one attention layer. They are the same for all of its heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadPatterns {
    /// Whether queries and keys are the same tokens.
    is_self: bool,
    /// The pairs of each measure of [`HeadMeasure::ALL`]; empty for a measure that does not count pairs.
    pairs: Vec<Vec<(usize, usize)>>,
    /// The row and the column of each token that is a patch of a picture; `None` if the tokens are not patches.
    patches: Option<Vec<Option<[usize; 2]>>>,
}

impl HeadPatterns {
    /// Returns the patterns of a sentence that attends to itself.
    pub fn within(tokens: &[MeasuredToken]) -> Self {
        Self::of(tokens.len(), tokens, true)
    }

    /// Returns the patterns of the given number of queries that attend to another sentence.
    pub fn between(queries: usize, keys: &[MeasuredToken]) -> Self {
        Self::of(queries, keys, false)
    }

    fn of(queries: usize, keys: &[MeasuredToken], is_self: bool) -> Self {
        let is_copy = |a: usize, b: usize| a != b && keys[a].word.is_some() && keys[a].word == keys[b].word;
        let pairs = |measure: HeadMeasure| {
            // The keys that the query may be paired with.
            let of_query = |query: usize| -> Range<usize> {
                match measure {
                    _ if measure.is_within_one_sentence() && !is_self => 0..0,
                    HeadMeasure::Entropy | HeadMeasure::Distance | HeadMeasure::Aligned | HeadMeasure::Monotony => 0..0,
                    HeadMeasure::Previous => query.saturating_sub(1)..query,
                    HeadMeasure::Same => query..query + 1,
                    HeadMeasure::Next => query + 1..query + 2,
                    HeadMeasure::First => 0..1,
                    HeadMeasure::Added => 0..keys.len(),
                    HeadMeasure::Duplicate => 0..query,
                    HeadMeasure::Induction => 1..query + 1,
                }
            };
            let is_one = |query: usize, key: usize| match measure {
                HeadMeasure::Added => keys[key].is_added,
                HeadMeasure::Duplicate => is_copy(key, query),
                HeadMeasure::Induction => is_copy(key - 1, query),
                HeadMeasure::Previous | HeadMeasure::Same | HeadMeasure::Next | HeadMeasure::First => true,
                HeadMeasure::Entropy | HeadMeasure::Distance | HeadMeasure::Aligned | HeadMeasure::Monotony => false,
            };
            let pairs = (0..queries).flat_map(|query| of_query(query).map(move |key| (query, key)));
            pairs.filter(|(query, key)| *key < keys.len() && is_one(*query, *key)).collect()
        };
        Self { is_self, pairs: HeadMeasure::ALL.into_iter().map(pairs).collect(), patches: None }
    }

    /// Sets the key that is aligned with each query, for the measure of alignment.
    #[must_use]
    pub fn aligned(mut self, keys: &[usize]) -> Self {
        self.pairs[HeadMeasure::Aligned.place()] = keys.iter().copied().enumerate().collect();
        self
    }

    /// Measures distances on a picture's grid of patches with this number of columns. The patches are the tokens that
    /// the tokenizer did not add, row by row.
    #[must_use]
    pub fn on_grid(self, tokens: &[MeasuredToken], columns: usize) -> Self {
        let mut patch = 0;
        let place = |token: &MeasuredToken| {
            let at = (!token.is_added).then(|| [patch / columns, patch % columns]);
            patch += usize::from(at.is_some());
            at
        };
        Self { patches: Some(tokens.iter().map(place).collect()), ..self }
    }

    /// Computes `Σ α ‖p_i − p_j‖ / Σ α` over pairs of patches.
    fn patch_distance<S: Scalar>(patches: &[Option<[usize; 2]>], weights: &Matrix<S>) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for (row, from) in patches.iter().enumerate() {
            let Some(from) = from else { continue };
            for (to, weight) in patches.iter().zip(weights.row(row)) {
                let Some(to) = to else { continue };
                let [down, across] = [0, 1].map(|axis| from[axis].abs_diff(to[axis]) as f64);
                sum += weight.to_f64() * down.hypot(across);
                all += weight.to_f64();
            }
        }
        sum / all
    }

    /// Computes a measure of a head's weights (T, T_k). Returns `None` if the measure does not apply to such sentences,
    /// the sentence has no pair that it counts, or the result is not finite.
    pub fn measure<S: Scalar>(&self, measure: HeadMeasure, weights: &Matrix<S>) -> Option<f64> {
        let rows = || (0..weights.rows()).map(|row| weights.row(row));
        let all: f64 = rows().flatten().map(|x| x.to_f64()).sum();
        let found = match measure {
            HeadMeasure::Entropy => {
                // 0 ln 0 is 0.
                let term = |x: &S| if *x == S::zero() { 0.0 } else { -x.to_f64() * x.to_f64().ln() };
                rows().flatten().map(term).sum::<f64>() / weights.rows() as f64
            }
            _ if measure.is_between_two_sentences() && self.is_self => return None,
            HeadMeasure::Monotony => monotony(weights)?,
            HeadMeasure::Distance if !self.is_self => return None,
            HeadMeasure::Distance if let Some(patches) = &self.patches => Self::patch_distance(patches, weights),
            HeadMeasure::Distance => {
                let of_row = |(i, row): (usize, &[S])| -> f64 {
                    row.iter().enumerate().map(|(j, x)| x.to_f64() * i.abs_diff(j) as f64).sum()
                };
                rows().enumerate().map(of_row).sum::<f64>() / all
            }
            _ => {
                let pairs = &self.pairs[measure.place()];
                if pairs.is_empty() {
                    return None;
                }
                pairs.iter().map(|(query, key)| weights.get(*query, *key).to_f64()).sum::<f64>() / all
            }
        };
        found.is_finite().then_some(found)
    }

    /// Computes each measure, in the order of [`HeadMeasure::ALL`], of a head whose queries attend equally to all keys
    /// that they see.
    pub fn even(&self, queries: usize, keys: usize, sees: impl Fn(usize, usize) -> bool) -> Vec<Option<f64>> {
        let even: Vec<f64> = (0..queries).map(|query| even_weight((0..keys).map(|key| sees(query, key)))).collect();
        let weights = Matrix::from_fn(queries, keys, |query, key| if sees(query, key) { even[query] } else { 0.0 });
        HeadMeasure::ALL.into_iter().map(|measure| self.measure(measure, &weights)).collect()
    }
}

/// Returns the weight of each visible key if a query attends equally to all keys that it sees.
fn even_weight(is_visible: impl Iterator<Item = bool>) -> f64 {
    1.0 / is_visible.filter(|is_visible| *is_visible).count().max(1) as f64
}

/// Returns the key with the largest weight of those that `counts` accepts, the first of equal ones; `None` if it
/// accepts none.
fn strongest<S: Scalar>(row: &[S], counts: impl Fn(usize) -> bool) -> Option<usize> {
    let keys = (0..row.len()).filter(|&key| counts(key));
    keys.reduce(|best, key| if row[key] > row[best] { key } else { best })
}

/// Returns the share of steps from one query to the next at which the strongest key does not move back; `None` if there
/// is only one query or a weight is not finite.
pub fn monotony<S: Scalar>(weights: &Matrix<S>) -> Option<f64> {
    let is_finite = weights.flat().iter().all(|x| x.is_finite());
    let strongest: Option<Vec<usize>> = (0..weights.rows()).map(|row| strongest(weights.row(row), |_| true)).collect();
    let steps: Vec<bool> = strongest?.windows(2).map(|pair| pair[1] >= pair[0]).collect();
    let forward = steps.iter().filter(|is_forward| **is_forward).count();
    (is_finite && !steps.is_empty()).then(|| forward as f64 / steps.len() as f64)
}

/// Returns the key that is aligned with each query: the one with the largest mean weight over all heads of
/// cross-attention (Garg et al. 2019, arXiv 1909.02074). Keys that the tokenizer added count only if there are no
/// others. Empty if there are no heads.
pub fn alignment<'a, S: Scalar + 'a>(heads: impl Iterator<Item = &'a Matrix<S>>, keys: &[MeasuredToken]) -> Vec<usize> {
    let mut sum: Option<Matrix<S>> = None;
    for weights in heads {
        match &mut sum {
            Some(sum) => sum.flat_mut().iter_mut().zip(weights.flat()).for_each(|(sum, x)| *sum += *x),
            None => sum = Some(weights.clone()),
        }
    }
    let Some(sum) = sum else { return Vec::new() };
    let has_own = keys.iter().any(|key| !key.is_added);
    let counts = |key: usize| !has_own || !keys[key].is_added;
    (0..sum.rows()).map(|row| strongest(sum.row(row), counts).unwrap_or_default()).collect()
}

// Attention sinks: keys that most heads attend to, whatever the query is.
//
// The weight of a key `j` is the mean of `α_hij` over all heads and the queries that see it. Gu et al. 2024 (arXiv
// 2410.10781) call a key a sink of a head if that head's mean is above ε = 0.3. In a short sentence that is no sign of
// a sink: with even weights, the first of four words under a causal mask has 0.52. So a sink must also have
// [`TIMES_EVEN`] times the weight that even rows would give it.

/// Least mean weight of a sink: ε of Gu et al. 2024.
pub const LEAST_WEIGHT: f64 = 0.3;
/// Least ratio of a sink's mean weight to its weight in even rows.
pub const TIMES_EVEN: f64 = 2.0;

/// The weight of one key.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeyWeight {
    /// Mean over heads and the queries that see the key.
    pub mean: f64,
    /// The same mean if every query attended equally to all keys that it sees.
    pub even: f64,
    /// Number of heads in which the key's mean is above [`LEAST_WEIGHT`].
    pub heads: usize,
}

impl KeyWeight {
    pub fn is_sink(&self) -> bool {
        self.mean > LEAST_WEIGHT && self.mean > TIMES_EVEN * self.even
    }
}

/// Computes the weight of each key from heads with the same queries and keys. Each head is its weights and its scores;
/// a score of −∞ means that the query does not see the key.
pub fn key_weights<'a, S: Scalar + 'a>(
    heads: impl Iterator<Item = (&'a Matrix<S>, &'a Matrix<S>)>,
    keys: usize,
) -> Vec<KeyWeight> {
    let mut found = vec![KeyWeight::default(); keys];
    let mut queries = vec![0usize; keys];
    for (weights, scores) in heads {
        let (mut own, mut own_queries) = (vec![0.0; keys], vec![0usize; keys]);
        for query in 0..weights.rows() {
            let visible = || scores.row(query).iter().map(|score| *score != S::NEG_INFINITY);
            let even = even_weight(visible());
            let row = weights.row(query).iter().zip(visible()).enumerate();
            for (key, (weight, _)) in row.filter(|(_, (_, is_visible))| *is_visible) {
                own[key] += weight.to_f64();
                own_queries[key] += 1;
                found[key].even += even;
            }
        }
        for key in 0..keys {
            found[key].mean += own[key];
            found[key].heads += usize::from(own[key] > LEAST_WEIGHT * own_queries[key] as f64);
            queries[key] += own_queries[key];
        }
    }
    for (found, queries) in found.iter_mut().zip(queries) {
        let share = 1.0 / queries.max(1) as f64;
        (found.mean, found.even) = (found.mean * share, found.even * share);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    fn tokens(words: &[usize]) -> Vec<MeasuredToken> {
        words.iter().map(|word| MeasuredToken { word: Some(*word), is_added: *word == 0 }).collect()
    }

    /// Returns weights with which each query attends to one key only.
    fn looking_at(keys: &[usize]) -> Matrix<f32> {
        Matrix::from_fn(keys.len(), keys.len(), |query, key| f32::from(keys[query] == key))
    }

    #[track_caller]
    fn check(words: &[usize], weights: &Matrix<f32>, expected: &[(HeadMeasure, Option<f64>)]) {
        let patterns = HeadPatterns::within(&tokens(words));
        for (measure, expected) in expected {
            let found = patterns.measure(*measure, weights);
            assert_eq!(found.is_some(), expected.is_some(), "{measure:?}");
            let [found, expected] = [found, *expected].map(Vec::from_iter);
            assert_close(format!("{measure:?}"), found, expected, Tolerance::SINGLE);
        }
    }

    #[test]
    fn maps_made_by_hand_measure_what_is_known() {
        use HeadMeasure::*;
        // [CLS], a, b, c, a: each attends to the token before it.
        let words = [0, 1, 2, 3, 1];
        let before = [
            (Previous, Some(0.8)),
            (Same, Some(0.2)),
            (Next, Some(0.0)),
            (First, Some(0.4)),
            (Added, Some(0.4)),
            (Duplicate, Some(0.0)),
            (Induction, Some(0.0)),
            (Entropy, Some(0.0)),
            (Distance, Some(0.8)),
        ];
        check(&words, &looking_at(&[0, 0, 1, 2, 3]), &before);
        // The second a attends to the first a, and then to b, the token after the first a.
        check(&words, &looking_at(&[0, 0, 0, 0, 1]), &[(Duplicate, Some(0.2)), (Induction, Some(0.0))]);
        check(&words, &looking_at(&[0, 0, 0, 0, 2]), &[(Duplicate, Some(0.0)), (Induction, Some(0.2))]);
        check(&words, &looking_at(&[1, 2, 3, 4, 4]), &[(Next, Some(0.8)), (Same, Some(0.2)), (Distance, Some(0.8))]);
        let even = Matrix::from_fn(5, 5, |_, _| 0.2);
        check(
            &words,
            &even,
            &[(Entropy, Some(5f64.ln())), (Same, Some(0.2)), (Next, Some(0.16)), (Distance, Some(1.6))],
        );
    }

    #[test]
    fn a_sentence_without_such_a_pair_has_no_such_measure() {
        use HeadMeasure::*;
        let none = [(Previous, None), (Next, None), (Added, None), (Duplicate, None), (Induction, None)];
        check(&[7], &looking_at(&[0]), &none);
        check(&[7], &looking_at(&[0]), &[(Same, Some(1.0)), (First, Some(1.0)), (Entropy, Some(0.0))]);
        let broken = Matrix::from_fn(2, 2, |_, _| f32::NAN);
        check(&[1, 1], &broken, &HeadMeasure::ALL.map(|measure| (measure, None)));
        let between = HeadPatterns::between(2, &tokens(&[0, 1]));
        let measures = HeadMeasure::ALL.map(|measure| between.measure(measure, &looking_at(&[0, 1])).is_some());
        assert_eq!(measures, HeadMeasure::ALL.map(|measure| matches!(measure, Entropy | First | Added | Monotony)));
    }

    #[test]
    fn heads_that_align_are_told_from_those_that_do_not() {
        use HeadMeasure::*;
        // Three words of the source, and a token that the tokenizer added, at which two of three heads look most.
        let keys = tokens(&[1, 2, 3, 0]);
        let looking = |at: [usize; 3], rest: f32| {
            Matrix::from_fn(3, 4, |query, key| if key == at[query] { 1.0 - rest } else { rest / 3.0 })
        };
        let (aligns, goes_back) = (looking([0, 1, 2], 0.1), looking([2, 1, 0], 0.1));
        let ends = looking([3, 3, 3], 0.6);
        let found = alignment([&aligns, &aligns, &goes_back, &ends, &ends].into_iter(), &keys);
        assert_eq!(found, [0, 1, 2]);
        let patterns = HeadPatterns::between(3, &keys).aligned(&found);
        let measure = |measure, weights: &Matrix<f32>| patterns.measure(measure, weights).expect("a measure");
        assert_close("aligned", measure(Aligned, &aligns), 0.9, Tolerance::SINGLE);
        assert_close("turned", measure(Aligned, &goes_back), (0.9 + 0.2 / 3.0) / 3.0, Tolerance::SINGLE);
        assert_close("steps", measure(Monotony, &aligns), 1.0, Tolerance::SINGLE);
        assert_eq!((measure(Monotony, &goes_back), measure(Monotony, &ends)), (0.0, 1.0));
        let within = HeadPatterns::within(&keys);
        assert_eq!([Aligned, Monotony].map(|of| within.measure(of, &looking_at(&[0, 1, 2, 3]))), [None, None]);
    }

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
        assert_close("the mean", first.mean, 0.5208, Tolerance::of_digits(4));
        assert_close("of even weights", first.even, first.mean, Tolerance::SINGLE);
        // Each of eight words attends to the last with weight 0.6.
        let last = Matrix::from_fn(8, 8, |_, j| if j == 7 { 0.6 } else { 0.4 / 7.0 });
        let itself = Matrix::from_fn(8, 8, |i, j| f32::from(i == j));
        assert_eq!(sinks(&[&last], false), [7]);
        assert_eq!(sinks(&[&last, &last, &itself], false), [7]);
        assert_eq!(sinks(&[&last, &itself, &itself], false), [0; 0], "a mean of 0.28");
        let weight = found(&[&last, &last, &itself], false)[7];
        assert_close("the mean", weight.mean, (0.6 + 0.6 + 0.125) / 3.0, Tolerance::SINGLE);
        assert_eq!(weight.heads, 2);
    }
}
