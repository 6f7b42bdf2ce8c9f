//! Plain values that snapshots are made of. They name no other module of the kernel.

pub mod sentence;
pub mod space;

use std::sync::Arc;

use self::sentence::SentenceSnapshot;
use self::space::StaticSpace;
use crate::lesson::Recipe;

/// A model that another one, trained by another recipe, has replaced.
#[derive(Clone, Debug)]
pub struct Replaced {
    pub recipe: Arc<Recipe>,
    pub space: Arc<StaticSpace>,
    /// The sentence that was shown, through that model.
    pub sentence: Arc<SentenceSnapshot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub of: usize,
}
