//! Word under the pointer: panels and stage light the same word in the next frame.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hover {
    word: Option<String>,
    word_before: Option<String>,
}

impl Hover {
    /// The pointer is over this word of the vocabulary.
    pub fn point_at(&mut self, word: &str) {
        self.word = Some(word.to_owned());
    }

    /// The word that was pointed at in the frame before.
    pub fn word(&self) -> Option<&str> {
        self.word_before.as_deref()
    }

    /// Begins a frame. True if another word is pointed at than in the last one.
    pub fn begin_frame(&mut self) -> bool {
        let is_other = self.word != self.word_before;
        self.word_before = self.word.take();
        is_other
    }
}
