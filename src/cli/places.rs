//! Places in a model as an option names them, counted from 1: `2.3` is head 3 of layer 2.

use std::fmt;

use attune_core::kernel::snapshot::ModelSnapshot;

/// A head, given as its layer and its number in that layer, both counted from 1: `2.3`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadAt {
    pub layer: usize,
    pub head: usize,
}

impl fmt::Display for HeadAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.layer.saturating_add(1), self.head.saturating_add(1))
    }
}

impl HeadAt {
    /// Returns the index of the head, counted over all layers of the model.
    ///
    /// # Errors
    /// If the model does not have the head.
    pub fn of(self, model: &ModelSnapshot) -> Result<usize, String> {
        model.architecture.head_in(self.layer, self.head)
    }
}

/// Converts a number counted from 1 to an index; `None` if the text is not a number or is 0.
pub fn index(text: &str) -> Option<usize> {
    text.trim().parse::<usize>().ok()?.checked_sub(1)
}

/// Reads two numbers counted from 1 that the character `between` separates, and returns them as indices; `None` if the
/// text has another form.
pub fn two(text: &str, between: char) -> Option<(usize, usize)> {
    let (first, second) = text.split_once(between)?;
    Some((index(first)?, index(second)?))
}

/// Splits `2.3=off`, where `between` is `=`, into the head and the text after the sign; `None` if the text has another
/// form.
pub fn after_head(text: &str, between: char) -> Option<(HeadAt, &str)> {
    let (at, rest) = text.split_once(between)?;
    two(at, '.').map(|(layer, head)| (HeadAt { layer, head }, rest.trim()))
}
