//! Things under the pointer: panels, sentence and stage light the same one in the next frame.

use attune_view::view_model::sentence_arcs::{Pair, WordAt};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hover {
    now: Pointed,
    before: Pointed,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pointed {
    word: Option<String>,
    at: Option<WordAt>,
    pair: Option<Pair>,
}

impl Hover {
    /// The pointer is over this word of the vocabulary.
    pub fn point_at(&mut self, word: &str) {
        self.now.word = Some(word.to_owned());
    }

    /// The pointer is over this word of the sentence or of its source.
    pub fn point_at_token(&mut self, at: WordAt) {
        self.now.at = Some(at);
    }

    /// The pointer is over the weight of a pair.
    pub fn point_at_pair(&mut self, pair: Pair) {
        self.now.pair = Some(pair);
    }

    /// The word that was pointed at in the frame before.
    pub fn word(&self) -> Option<&str> {
        self.before.word.as_deref()
    }

    /// The word of the sentence or of its source that was pointed at in the frame before.
    pub fn at(&self) -> Option<WordAt> {
        self.before.at
    }

    /// Position in the sentence that was pointed at in the frame before.
    pub fn token(&self) -> Option<usize> {
        self.before.at.and_then(WordAt::token)
    }

    /// The pair whose weight was pointed at in the frame before.
    pub fn pair(&self) -> Option<Pair> {
        self.before.pair
    }

    /// Begins a frame. True if another thing is pointed at than in the last one.
    pub fn begin_frame(&mut self) -> bool {
        let is_other = self.now != self.before;
        self.before = std::mem::take(&mut self.now);
        is_other
    }
}
