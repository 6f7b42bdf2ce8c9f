//! A second sentence beside the one on the stage: the words that both have, and how far attention takes
//! each of them apart.

use std::sync::Arc;

use attune_engine::numerics::vectors::Similarity;

use crate::kernel::data::sentence::SentenceSnapshot;
use crate::kernel::data::space::StaticSpace;

/// In the same basis, with the same weights.
#[derive(Clone, Debug)]
pub struct SecondSentence {
    pub sentence: Arc<SentenceSnapshot>,
    /// Each occurrence in the one with each in the other, by their positions.
    pub shared: Vec<SharedWord>,
}

/// A word that stands in both sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedWord {
    /// Row of the vocabulary.
    pub word: usize,
    /// Positions in the two sentences.
    pub first: usize,
    pub second: usize,
    /// Likeness of its static vector and itself.
    pub before: Likeness,
    /// Likeness of its two outputs.
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
    fn of(a: &[f32], b: &[f32]) -> Self {
        Self { cosine: Similarity::Cosine.of(a, b), distance: -Similarity::Euclidean.of(a, b) }
    }
}

impl SecondSentence {
    pub fn of(space: &StaticSpace, first: &SentenceSnapshot, sentence: Arc<SentenceSnapshot>) -> Self {
        let mut shared = Vec::new();
        for (i, token) in first.tokens.iter().enumerate() {
            let Some(word) = token.word else { continue };
            for j in (0..sentence.tokens.len()).filter(|&j| sentence.tokens[j].word == Some(word)) {
                let vector = space.vectors.row(word);
                let outputs = (first.activations.output.row(i), sentence.activations.output.row(j));
                shared.push(SharedWord {
                    word,
                    first: i,
                    second: j,
                    before: Likeness::of(&vector, &vector),
                    after: Likeness::of(outputs.0, outputs.1),
                });
            }
        }
        Self { sentence, shared }
    }
}
