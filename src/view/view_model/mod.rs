//! Snapshot -> what each panel and the stage shows: plain data, tested as text, without a window.
//!
//! Nothing here computes a tensor: every number is an entry of a [`attune_core::kernel::Snapshot`].

pub mod all_heads;
pub mod answer_shifts;
pub mod answers;
pub mod attention;
pub mod attribution;
pub mod axes;
pub mod between;
pub mod compare;
pub mod compared;
pub mod course;
pub mod distance;
pub mod fold;
pub mod gauge;
pub mod glossary;
pub mod head_cells;
pub mod head_labels;
pub mod heads;
pub mod home;
pub mod lens;
pub mod live_text;
pub mod markdown;
pub mod models;
pub mod neighbours;
pub mod notebook;
pub mod output;
pub mod picture_size;
pub mod pieces;
pub mod plot;
pub mod reference;
pub mod retrain;
pub mod saved_view;
pub mod search;
pub mod senses;
pub mod sentence_arcs;
pub mod sentences;
pub mod shares;
pub mod side;
pub mod sinks;
pub mod sketch;
pub mod slides;
pub mod stage;
pub mod still;
pub mod table;
pub mod training;
pub mod variables;
pub mod weights;
pub mod what_if;
pub mod word_table;
pub mod words;

/// The words with a capital letter.
pub fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The words with a capital letter and a full stop, but behind a question.
pub fn sentence(words: &str) -> String {
    capitalised(words) + if words.ends_with('?') { "" } else { "." }
}

/// A word as a sentence names it.
pub(crate) fn quoted(word: &str) -> String {
    format!("“{word}”")
}
