//! Words as rows of the vocabulary.

use std::collections::HashMap;

/// Row of each word.
pub fn index_of(vocabulary: &[String]) -> HashMap<&str, usize> {
    vocabulary.iter().enumerate().map(|(row, word)| (word.as_str(), row)).collect()
}

/// The rows of a sentence's words; `None` if one is unknown.
pub fn rows_of(words: &[String], index: &HashMap<&str, usize>) -> Option<Vec<usize>> {
    words.iter().map(|word| index.get(word.as_str()).copied()).collect()
}
