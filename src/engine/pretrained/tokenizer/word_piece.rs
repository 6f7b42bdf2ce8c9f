//! WordPiece: a word is cut from its beginning, each time after the longest piece there is (Wu et al. 2016; the
//! `tokenize` of `WordpieceTokenizer` in BERT's `tokenization.py`).

use std::ops::Range;

use super::text_char::TextChar;
use super::trie::{ROOT, Trie};

/// A piece and its bytes in the text.
pub type Cut = (u32, Range<usize>);

/// Pieces that begin words, and pieces that continue them.
#[derive(Clone, Debug)]
pub struct WordPiece {
    trie: Trie,
    /// The node of pieces that continue a word, if there are any.
    continued: Option<u32>,
    /// The piece for words that cannot be cut.
    unknown: u32,
    /// Longer words are unknown.
    word_chars_max: usize,
}

impl WordPiece {
    /// Makes the model of all pieces; those behind `prefix` continue words.
    pub fn new<'a>(
        pieces: impl Iterator<Item = (&'a str, u32)>,
        prefix: &str,
        unknown: u32,
        word_chars_max: usize,
    ) -> Self {
        let mut trie = Trie::default();
        pieces.for_each(|(piece, id)| trie.insert(piece, id));
        Self { continued: trie.node(prefix), trie, unknown, word_chars_max }
    }

    /// Cuts a word into pieces.
    pub fn cut(&self, word: &[TextChar], cuts: &mut Vec<Cut>) {
        let before = cuts.len();
        let is_cut = word.len() <= self.word_chars_max && self.cut_known(word, cuts);
        if let ([first, .., last] | [first @ last], false) = (word, is_cut) {
            cuts.truncate(before);
            cuts.push((self.unknown, first.start..last.end));
        }
    }

    /// Cuts as far as there are pieces, and says if that is the whole word.
    fn cut_known(&self, word: &[TextChar], cuts: &mut Vec<Cut>) -> bool {
        let mut rest = word;
        let mut from = Some(ROOT);
        while !rest.is_empty() {
            let Some((length, id)) = from.and_then(|from| self.trie.longest(from, rest)) else { return false };
            let (piece, after) = rest.split_at(length);
            cuts.push((id, piece[0].start..piece[length - 1].end));
            rest = after;
            from = self.continued;
        }
        true
    }
}
