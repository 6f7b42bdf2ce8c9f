//! Plain values of which snapshots are made, independent of all other modules of the kernel.

pub mod meaning;
pub mod sentence;
pub mod space;

use std::sync::Arc;

use self::sentence::SentenceSnapshot;
use self::space::StaticSpace;
use crate::lesson::Recipe;

/// A model that was replaced by one trained with another recipe.
#[derive(Clone, Debug)]
pub struct Replaced {
    pub recipe: Arc<Recipe>,
    pub space: Arc<StaticSpace>,
    /// The sentence on the stage, run through that model.
    pub sentence: Arc<SentenceSnapshot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub of: usize,
}
