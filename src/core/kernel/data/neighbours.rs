//! Words near a vector.

/// How many neighbours a list has.
pub const NEIGHBOURS: usize = 8;

/// Words near a vector in the true space, the nearest first, by cosine and by distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    pub by_cosine: Vec<Neighbour>,
    /// By the Euclidean distance.
    pub by_distance: Vec<Neighbour>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// Row of the vocabulary.
    pub word: usize,
    pub cosine: f32,
    /// `‖a − b‖`
    pub distance: f32,
}
