//! The encoding of a text: pieces with their ids, and the words that they belong to.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

/// The pieces of one text, or of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    pub pieces: Vec<Piece>,
    /// The words, by the numbers that pieces have.
    pub words: Vec<Word>,
}

/// A piece: one token of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub id: u32,
    /// Which text it is of: 0, or 1 for the second of a pair.
    pub text: usize,
    /// The bytes of that text that it stands for, a leading space of GPT-2's pieces included. They lie on the bounds of
    /// characters and never go back; a piece of a part of a character has the whole character.
    /// Empty for a piece that the tokenizer added, at the place where it stands.
    pub bytes: Range<usize>,
    /// The number of the word that it belongs to; none for a piece that the tokenizer added.
    pub word: Option<usize>,
    /// The token type that the model is given.
    pub segment: usize,
    pub origin: Origin,
}

/// How a piece came to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Cut from the text.
    Text,
    /// The text spells it out: `[MASK]`, `<|endoftext|>` and others that are never cut.
    Spelled,
    /// The tokenizer added it: `[CLS]`, `[SEP]`.
    Added,
}

/// A word, as the tokenizer finds words before it cuts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Which text it is of.
    pub text: usize,
    /// The bytes to show: without space around it, and with all marks on its last letter.
    pub bytes: Range<usize>,
}

impl Word {
    /// The word within these bytes of a text.
    pub(super) fn within(text: usize, whole: &str, bytes: Range<usize>) -> Self {
        let found = &whole[bytes.clone()];
        let trimmed = found.trim();
        if trimmed.is_empty() {
            return Self { text, bytes };
        }
        let start = bytes.start + (found.len() - found.trim_start().len());
        let end = start + trimmed.len();
        // Marks that a normaliser strips are no part of a piece, and yet of the word.
        let marks = whole[end..].chars().take_while(|sign| is_combining_mark(*sign));
        Self { text, bytes: start..end + marks.map(char::len_utf8).sum::<usize>() }
    }
}
