//! The form of words, numbers and names in sentences for the learner.

use attune_core::kernel::snapshot::Token;
use attune_core::kernel::snapshot::sentence::token_labels;

/// Returns a text with an initial capital letter.
pub fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns a text with an initial capital letter and, unless it is a question, a full stop.
pub fn sentence(words: &str) -> String {
    capitalised(words) + if words.ends_with('?') { "" } else { "." }
}

/// Formats a number with two decimals and a long minus sign.
pub fn number(x: f64) -> String {
    format!("{x:.2}").replace('-', "−")
}

/// Quotes a word for use in a sentence.
pub(crate) fn quoted(word: &str) -> String {
    format!("“{word}”")
}

/// Quotes a token for use in a sentence; empty if there is no such token.
pub(crate) fn quoted_token(tokens: &[Token], at: usize) -> String {
    token_labels(tokens).get(at).map_or_else(String::new, |label| quoted(label))
}
