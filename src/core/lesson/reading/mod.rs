//! The reading of a file, which becomes a tree of values that are then decoded; each wrong value is an issue with its
//! place. This folder is independent of the contents of lessons.
//!
//! [`file`] reads the text, `tree` parses it, `decode` takes values out, [`issue`] is an issue with its place, and
//! [`places`] finds places for issues that are found later. [`text`] splits sentences into words.

pub(crate) mod decode;
pub mod file;
pub mod issue;
pub mod places;
pub mod text;
pub(crate) mod tree;
