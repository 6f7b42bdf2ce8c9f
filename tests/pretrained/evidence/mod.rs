//! Evidence: maps, splits of scores, measures of words, heads over texts.

mod laws;
mod values;
