//! Sides of attention: the sentence on the stage, and the source that it may look at.

/// The sentence that words belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Source,
    /// The tokens on the stage.
    Sentence,
}

impl Side {
    pub fn of_source(is_source: bool) -> Self {
        if is_source { Self::Source } else { Self::Sentence }
    }
}
