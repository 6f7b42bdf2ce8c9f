//! Paragraphs of a sheet, and the prominence of each.

/// A paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub words: String,
    pub tone: Tone,
    /// The explanation that appears under the pointer; may be empty.
    pub hint: String,
}

/// The purpose of a paragraph, which determines its colour, its size and its font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Text that is less prominent than the numbers.
    Soft,
    /// A caution.
    Warning,
    /// A note in small letters.
    Small,
    /// Text that the window shows only as the tooltip of another item, but that exports write.
    Tooltip,
    /// Code or a value, in a font with characters of equal width.
    Code,
}

impl Text {
    pub fn toned(words: impl Into<String>, tone: Tone) -> Self {
        Self { words: words.into(), tone, hint: String::new() }
    }
}
