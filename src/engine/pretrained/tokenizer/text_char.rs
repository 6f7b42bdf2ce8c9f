//! Characters on their way from a text to pieces.

/// A character with the bytes of the original text that it stands for.
///
/// Normalising replaces, drops and adds characters; each result keeps the bytes of its origin, so that every piece
/// leads back to what the learner typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextChar {
    pub value: char,
    pub start: usize,
    pub end: usize,
}

impl TextChar {
    /// Another character in place of this one.
    pub fn with(self, value: char) -> Self {
        Self { value, ..self }
    }
}

/// The characters of a text, each standing for itself.
pub fn text_chars(text: &str) -> Vec<TextChar> {
    text.char_indices().map(|(start, value)| TextChar { value, start, end: start + value.len_utf8() }).collect()
}
