//! The words of a sentence whose tokenizer splits some into pieces, and pairs of words in a head.

use std::ops::Range;

use attune_core::kernel::snapshot::sentence::{SentenceSnapshot, labels, word_pieces};

/// A query and a key of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The index of the head, counted over all blocks.
    pub head: usize,
    pub query: usize,
    pub key: usize,
}

/// The words of a sentence in which at least one has several pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// The pieces of each word, in order. A piece that the tokenizer added is a word of its own.
    pub(super) pieces: Vec<Range<usize>>,
    pub(super) texts: Vec<String>,
}

impl Words {
    /// Returns the words; `None` if each is one piece.
    pub fn of(sentence: &SentenceSnapshot) -> Option<Self> {
        sentence.text.as_ref()?;
        let tokens = &sentence.tokens;
        let pieces = word_pieces(tokens);
        if pieces.len() == tokens.len() {
            return None;
        }
        let text_of = |range: &Range<usize>| {
            let own = tokens[range.start].text.clone();
            let written = sentence.written_word(range).filter(|_| range.len() > 1);
            written.map_or(own, str::to_owned)
        };
        let texts = pieces.iter().map(text_of).collect();
        Some(Self { pieces, texts })
    }

    /// Returns the first piece of a piece's word, which stands for the word.
    pub fn first(&self, piece: usize) -> usize {
        self.pieces.iter().find(|range| range.contains(&piece)).map_or(piece, |range| range.start)
    }

    /// Returns the index of a piece's word.
    pub(super) fn place(&self, piece: usize) -> usize {
        self.pieces.iter().position(|range| range.contains(&piece)).unwrap_or(piece)
    }

    /// Returns the labels of the words: `apple`, or `apple₂` if the sentence has the word more than once.
    pub(super) fn labels(&self) -> Vec<String> {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        labels(&texts)
    }
}
