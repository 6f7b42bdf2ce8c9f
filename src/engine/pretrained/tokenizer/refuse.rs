//! Refusals of a tokenizer's file, with the place in it.

use crate::pretrained::Refusal;
use crate::pretrained::refusal::{FETCH_AGAIN, quoted};

/// Length in characters of the longest word that is split into WordPiece's pieces, whatever the file says. The crate
/// tries every end of a piece, which takes time in proportion to the cube of the length.
pub const WORD_CHARS_MAX: usize = 512;

/// Longest piece of SentencePiece in bytes. At each character the crate copies all pieces that begin there.
pub const UNIGRAM_PIECE_BYTES_MAX: usize = 1 << 8;
/// Largest total size of SentencePiece's pieces in bytes. The crate keeps a table for each byte.
pub const UNIGRAM_BYTES_MAX: usize = 4 << 20;

pub type Read<T> = Result<T, Refusal>;

/// Advice if a tokenizer is intact but not supported.
pub const SAVE_AGAIN: &str =
    "load the tokenizer in transformers and save it with tokenizer.backend_tokenizer.save(\"tokenizer.json\")";

/// Returns a refusal of something at a place of the file, with advice.
pub fn refuse<T>(place: &str, found: impl AsRef<str>, expected: impl Into<String>, advice: &str) -> Read<T> {
    Err(Refusal::new(format!("{} at {}", found.as_ref(), quoted(place)), expected, advice))
}

/// Returns a refusal of something that an intact file cannot have.
pub fn damaged<T>(place: &str, found: impl AsRef<str>, expected: impl Into<String>) -> Read<T> {
    refuse(place, found, expected, FETCH_AGAIN)
}

pub fn missing<T>(place: &str, field: &str) -> Read<T> {
    damaged(place, format!("no {}", quoted(field)), "this field")
}
