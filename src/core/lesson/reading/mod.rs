//! A file becomes a tree of values, and values are taken out of it, each wrong one an issue with its place. Nothing here
//! knows what a lesson is.
//!
//! [`file`] has the text, `tree` reads it once, `decode` takes values out, [`issue`] is a problem with its place, and
//! [`places`] finds the place of one that shows itself later. [`text`] splits sentences into words.

pub(crate) mod decode;
pub mod file;
pub mod issue;
pub mod places;
pub mod text;
pub(crate) mod tree;
