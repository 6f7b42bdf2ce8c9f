//! Tokens, and their labels where they stand beside others: words that occur twice are numbered.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    /// Row of the vocabulary; `None` at the start of a sentence that is yet to be written.
    pub word: Option<usize>,
    /// Its place in the learner's text, of a model that reads pieces of words.
    pub piece: Option<Piece>,
}

/// One piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The bytes of the text that it stands for; empty of one that the tokenizer added.
    pub bytes: Range<usize>,
    /// The number of the word that it is a part of; `None` of one that the tokenizer added.
    pub word: Option<usize>,
    /// The sentence of a pair that it belongs to, as the model is told.
    pub segment: usize,
    /// The tokenizer added it: `[CLS]`, `[SEP]`.
    pub is_added: bool,
}

/// A learner's text in the pieces that a model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceText {
    pub text: String,
    pub pieces: Vec<Piece>,
}

/// How a sentence stands for the start of one that is yet to be written.
pub use crate::lesson::schema::START_TOKEN as START;

/// The pieces of each word, in their order; a piece that the tokenizer added is a word of its own, and so is a token that no
/// tokenizer made.
pub fn word_pieces(tokens: &[Token]) -> Vec<Range<usize>> {
    let word = |at: usize| tokens[at].piece.as_ref().and_then(|piece| Some((piece.segment, piece.word?)));
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for at in 0..tokens.len() {
        match pieces.last_mut() {
            Some(last) if word(at).is_some() && word(at) == word(last.start) => last.end = at + 1,
            _ => pieces.push(at..at + 1),
        }
    }
    pieces
}

/// A word as it stands in the text; `None` of one that no letter of the text asked for.
pub fn written_word<'t>(tokens: &[Token], pieces: &Range<usize>, text: &'t PieceText) -> Option<&'t str> {
    let bytes = |at: usize| tokens[at].piece.as_ref().map(|piece| piece.bytes.clone());
    let (first, last) = bytes(pieces.start).zip(bytes(pieces.end - 1))?;
    text.text.get(first.start..last.end).map(str::trim).filter(|word| !word.is_empty())
}

/// Token texts, with a subscript where a word stands more than once: `apple₁ launched … apple₂`.
pub fn token_labels(tokens: &[Token]) -> Vec<String> {
    let texts: Vec<&str> = tokens.iter().map(|t| t.text.as_str()).collect();
    (0..texts.len())
        .map(|i| match occurrence(&texts, i) {
            Some(n) => format!("{}{}", texts[i], subscript(n)),
            None => texts[i].to_owned(),
        })
        .collect()
}

/// Which occurrence of its word position `i` is, from 1; `None` if the word stands once.
pub fn occurrence(tokens: &[&str], i: usize) -> Option<usize> {
    let same = |range: &[&str]| range.iter().filter(|t| **t == tokens[i]).count();
    (same(tokens) > 1).then(|| same(&tokens[..=i]))
}

/// `n` in subscript digits.
pub fn subscript(n: usize) -> String {
    n.to_string().chars().map(|c| char::from_u32('₀' as u32 + c as u32 - '0' as u32).unwrap_or(c)).collect()
}
