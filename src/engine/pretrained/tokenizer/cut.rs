//! The pieces of a text before they are part of an encoding.

use std::ops::Range;

/// The side of a translator to which a text belongs. A tokenizer without a table for each side treats both alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Source,
    Target,
}

/// One of the pieces into which a text was cut.
#[derive(Clone, Debug)]
pub struct CutPiece {
    /// Number of the stretch of the text that the piece comes from. Pieces of one word are always of one stretch.
    pub word: usize,
    pub id: u32,
    pub bytes: Range<usize>,
    /// Whether the piece is one that is never split.
    pub is_spelled: bool,
}
