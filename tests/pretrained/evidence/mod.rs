//! Evidence: maps, splits of scores, measures of words, heads over texts.

mod as_code;
mod laws;
mod live;
mod over;
mod values;
