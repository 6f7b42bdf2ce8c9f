//! A second sentence beside the one on the stage: the words that both have, and how far attention takes
//! each of them apart.

use super::ready::{Move, Part, Ready};
use super::sentence::{Sentence, read_sentence};
use super::snapshot::{SentenceSnapshot, StaticSpace};
use crate::lesson::schema::Lesson;
use crate::numerics::vectors::Similarity;

/// In the same basis, with the same weights.
#[derive(Clone, Debug)]
pub struct SecondSentence {
    pub sentence: SentenceSnapshot,
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
    /// Of its static vector and itself.
    pub before: Likeness,
    /// Of its two outputs.
    pub after: Likeness,
}

/// Of two vectors in the true space.
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
    pub fn of(space: &StaticSpace, first: &SentenceSnapshot, sentence: SentenceSnapshot) -> Self {
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
                    before: Likeness::of(vector, vector),
                    after: Likeness::of(outputs.0, outputs.1),
                });
            }
        }
        Self { sentence, shared }
    }
}

impl Ready {
    /// A learner's words as a sentence, which may be one of the lesson's.
    pub(super) fn read(&self, text: &str, lesson: &Lesson) -> Result<Sentence, String> {
        let words = read_sentence(text, &self.words, lesson.model.architecture.max_tokens)?;
        let texts = || words.iter().map(|&word| &self.words[word]);
        let index = lesson.sentences.iter().position(|sentence| sentence.iter().eq(texts()));
        Ok(Sentence { index, words })
    }

    /// `goes_on`: the last command set one too.
    pub(super) fn set_second(&mut self, text: Option<String>, goes_on: bool, lesson: &Lesson) -> Result<(), String> {
        let sentence = text.map(|text| self.read(&text, lesson)).transpose()?;
        let (was, is) = (self.shown.second().is_some(), sentence.is_some());
        let is_other = sentence.as_ref() != self.shown.second();
        if is_other {
            let before = self.shown.set_second(sentence);
            let label = if is { "second sentence" } else { "end of the comparison" };
            if !goes_on {
                self.changes.push((label.to_owned(), Part::Second(before)));
            }
        }
        // What begins the comparison, or ends it, undoes by itself.
        self.last_move = (was && is && (is_other || goes_on)).then_some(Move::Second);
        Ok(())
    }
}
