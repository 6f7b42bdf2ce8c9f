//! What cutting a text gives, before it is part of an encoding.

use std::ops::Range;

/// The side of a translator that a text is on. A tokenizer of one side treats both alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Source,
    Target,
}

/// A piece of a text.
#[derive(Clone, Debug)]
pub struct CutPiece {
    /// Number of the stretch of the text within which it may be a part of a word.
    pub word: usize,
    pub id: u32,
    pub bytes: Range<usize>,
    /// Whether it is never split.
    pub is_spelled: bool,
}
