//! Words of a sheet, with their weight among the others.

/// A paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub words: String,
    pub tone: Tone,
    /// An explanation for who points at it, or empty.
    pub hint: String,
}

/// The weight of a paragraph among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Steps back behind the numbers.
    Soft,
    /// A caution.
    Warning,
    /// A note in small letters.
    Small,
    /// Not drawn in the window, where the tooltip of what it is about says it.
    Tooltip,
    /// Code or a value, in letters of one width.
    Code,
}

impl Text {
    pub fn toned(words: impl Into<String>, tone: Tone) -> Self {
        Self { words: words.into(), tone, hint: String::new() }
    }
}
