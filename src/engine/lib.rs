//! The mathematics of attune: numbers in, numbers out.
//!
//! | module | job | start at |
//! |---|---|---|
//! | [`numerics`] | attention, models and their gradients on faer, forward and backward | [`numerics::reference`] |
//! | [`quantity`] | the catalogue: name, shape and meaning of every number | [`quantity`] |
//! | [`code`] | the language of code cells, in a sandbox | [`code`] |
//! | [`pretrained`] | model folders -> architecture, parameters and tokens | [`pretrained`] |
//! | [`vectors`] | files of word vectors (word2vec, fastText, GloVe, NumPy, safetensors, TSV) -> words and rows, and exact answers about them | [`vectors::read`] |
//! | [`recording`] | files of what any model did on a text -> its tokens and tensors, and whether they agree | [`recording::Recording::open`] |
//! | [`files`] | files that a user or another file names, opened without waiting and read up to a bound | [`files::open`] |
//! | [`messages`], [`panics`] | parts of messages: a count with its noun, the valid name most like a misspelt one; panics as values and as reports | |
//! | [`foreign`] | recognition of other programs' files by their first bytes, with advice on what to do | [`foreign::recognise`] |
//! | [`json`] | JSON forms of exact numbers, shared values and bounded lists | |
//!
//! `numerics` uses no other module except [`json`], and no module knows what a lesson is.

#[cfg(test)]
#[path = "../../tests/common/close.rs"]
mod close;
pub mod code;
pub mod files;
pub mod foreign;
pub mod json;
pub mod messages;
pub mod numerics;
pub mod panics;
pub mod pretrained;
pub mod quantity;
pub mod recording;
pub mod vectors;
