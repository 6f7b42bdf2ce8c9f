//! The rules about the words that a model writes.

/// The words that begin and end the text that a model writes, and the words that it never writes, whatever its logits
/// are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WritingRules {
    /// The word before the first one of a sentence that is written from a source. If it is `None`, that place is
    /// hidden.
    pub start: Option<usize>,
    /// The word that is written first, whatever the source is: a language, for example.
    pub first: Option<usize>,
    pub never: Vec<usize>,
    /// Words that end the sentence. None of them is written.
    pub ends: Vec<usize>,
}
