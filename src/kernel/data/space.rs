//! The static vectors and the axes that they are drawn along.

use std::sync::Arc;

use super::word_group::WordGroup;
use crate::numerics::Matrix;
use crate::numerics::projection::{AXES, Projection};
use crate::numerics::spread::Spread;

/// The vocabulary with its static vectors and the one basis of all pictures.
#[derive(Clone, Debug)]
pub struct StaticSpace {
    /// Row order of `vectors`.
    pub vocabulary: Vec<String>,
    /// `E` (V, D)
    pub vectors: Matrix<f32>,
    /// Fixed when the static vectors are trained, and changed by the learner's choice alone.
    pub projection: Projection,
    /// The choice behind the projection.
    pub basis: Basis,
    /// The projection of the beginning, which a reset brings back.
    pub own_projection: Projection,
    /// `E` in the basis, (V, 3)
    pub points: Matrix<f32>,
    /// Index into [`Lesson::groups`] of each word that belongs to one.
    pub group_of: Vec<Option<usize>>,
}

/// The choice behind the axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Basis {
    /// Spread of the vectors on the stage at the last refit; none: of those at the lesson's beginning.
    pub fitted: Option<Arc<Spread>>,
    pub chosen: [Option<ChosenAxis>; AXES],
}

/// From the centre of the static vectors of one group to that of another.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenAxis {
    pub from: WordGroup,
    pub to: WordGroup,
}

/// An axis of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    pub const ALL: [Self; AXES] = [Self::X, Self::Y, Self::Z];

    pub fn index(self) -> usize {
        self as usize
    }

    pub fn letter(self) -> &'static str {
        ["X", "Y", "Z"][self.index()]
    }
}
