//! The sentence on the stage beside another reading in the same space, word by word: beside itself without the learner's
//! changes, or beside a second sentence.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::vectors::Similarity;

use super::sentence::{SentenceSnapshot, UnchangedResult};
use super::space::StaticSpace;

/// The sentence on the stage and another reading of its words, in the same space.
#[derive(Clone, Debug)]
pub struct Pair<Other> {
    /// The other reading; the same `Arc` as long as nothing changes it.
    pub other: Arc<Other>,
    /// Each position of the sentence on the stage with each of the same word in the other reading.
    pub words: Vec<PairedWord>,
}

/// A word in both readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedWord {
    /// Position in the sentence on the stage.
    pub first: usize,
    /// Position in the other reading.
    pub second: usize,
    /// Likeness of the word's static vector and itself.
    pub before: Likeness,
    /// Likeness of the word's two outputs.
    pub after: Likeness,
}

/// Two vectors compared in the true space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness {
    pub cosine: f32,
    /// `‖a − b‖`
    pub distance: f32,
}

impl Likeness {
    const SAME: Self = Self { cosine: 1.0, distance: 0.0 };

    fn of(a: &[f32], b: &[f32]) -> Self {
        Self { cosine: Similarity::Cosine.of(a, b), distance: -Similarity::Euclidean.of(a, b) }
    }
}

impl Pair<UnchangedResult> {
    /// The outputs of a sentence (T, D) beside those without the learner's changes.
    pub fn with_unchanged(output: &Matrix<f32>, other: Arc<UnchangedResult>) -> Self {
        let word = |at: usize| PairedWord {
            first: at,
            second: at,
            before: Likeness::SAME,
            after: Likeness::of(output.row(at), other.activations.output.row(at)),
        };
        Self { words: (0..output.rows()).map(word).collect(), other }
    }

    /// `‖y_i − y_i'‖` in the true space: how far the changes move the output of a token.
    ///
    /// # Panics
    /// If there is no such token.
    pub fn moved(&self, token: usize) -> f32 {
        self.words[token].after.distance
    }

    /// The token that moves most; of equals the last.
    pub fn moved_most(&self) -> Option<usize> {
        (0..self.words.len()).max_by(|a, b| self.moved(*a).total_cmp(&self.moved(*b)))
    }
}

impl Pair<SentenceSnapshot> {
    /// Two sentences, by each pair of occurrences of a word that both have.
    pub fn with_second(space: &StaticSpace, first: &SentenceSnapshot, other: Arc<SentenceSnapshot>) -> Self {
        let mut words = Vec::new();
        for (i, token) in first.tokens.iter().enumerate() {
            let Some(word) = token.word else { continue };
            let vector = space.vectors.row(word);
            for j in (0..other.tokens.len()).filter(|&j| other.tokens[j].word == Some(word)) {
                words.push(PairedWord {
                    first: i,
                    second: j,
                    before: Likeness::of(vector, vector),
                    after: Likeness::of(first.activations.output.row(i), other.activations.output.row(j)),
                });
            }
        }
        Self { other, words }
    }

    /// The words, the least alike after attention first.
    pub fn least_alike_first(&self) -> Vec<PairedWord> {
        let mut words = self.words.clone();
        words.sort_by(|a, b| a.after.cosine.total_cmp(&b.after.cosine));
        words
    }
}
