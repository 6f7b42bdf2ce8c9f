//! The words of a sentence that a tokenizer cut into pieces.

use std::ops::Range;

use attune_core::kernel::data::sentence::SentenceSnapshot;
use attune_core::kernel::data::token::{occurrence, subscript, word_pieces, written_word};

/// The pieces of each word of a sentence, where one has several.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// In their order; a piece that the tokenizer added is a word of its own.
    pub(super) pieces: Vec<Range<usize>>,
    pub(super) texts: Vec<String>,
}

impl Words {
    /// `None` where each word is one piece.
    pub fn of(sentence: &SentenceSnapshot) -> Option<Self> {
        let text = sentence.text.as_ref()?;
        let tokens = &sentence.tokens;
        let pieces = word_pieces(tokens);
        if pieces.len() == tokens.len() {
            return None;
        }
        let text_of = |range: &Range<usize>| {
            let own = tokens[range.start].text.clone();
            let written = written_word(tokens, range, text).filter(|_| range.len() > 1);
            written.map_or(own, str::to_owned)
        };
        let texts = pieces.iter().map(text_of).collect();
        Some(Self { pieces, texts })
    }

    /// The first piece of the word that a piece belongs to: it stands for the word.
    pub fn first(&self, piece: usize) -> usize {
        self.pieces.iter().find(|range| range.contains(&piece)).map_or(piece, |range| range.start)
    }

    /// The number of the word that a piece belongs to.
    pub(super) fn place(&self, piece: usize) -> usize {
        self.pieces.iter().position(|range| range.contains(&piece)).unwrap_or(piece)
    }

    /// `apple` or, where the sentence has more than one, `apple₂`.
    pub(super) fn labels(&self) -> Vec<String> {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let label = |at| match occurrence(&texts, at) {
            Some(n) => format!("{}{}", texts[at], subscript(n)),
            None => texts[at].to_owned(),
        };
        (0..texts.len()).map(label).collect()
    }
}
