//! One number of a quantity.

use super::Quantity;
use crate::numerics::params::{TensorId, TensorName};

/// Most indices that a quantity has.
const INDICES_MAX: usize = 3;

/// One number of a snapshot: a quantity, what it belongs to, and where in it the number lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub quantity: Quantity,
    pub owner: Owner,
    /// As many as the quantity has; the rest are 0.
    pub index: [usize; INDICES_MAX],
}

/// Owner of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    Model,
    /// The source's blocks are counted first.
    Block(usize),
    /// Counted over all blocks, the source's first.
    Head(usize),
    Point(StagePoint),
}

/// A vector that has a point on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StagePoint {
    /// A word of the vocabulary.
    Word(usize),
    /// A token of the sentence, before attention.
    Static(usize),
    /// A token of the sentence after a block that is not the last one, by their numbers.
    After(usize, usize),
    /// A token of the sentence, after attention.
    Contextual(usize),
}

impl Owner {
    /// Number of the block or head; 0 for others.
    pub fn number(self) -> usize {
        match self {
            Self::Block(number) | Self::Head(number) => number,
            Self::Model | Self::Point(_) => 0,
        }
    }

    pub fn point(self) -> Option<StagePoint> {
        match self {
            Self::Point(point) => Some(point),
            _ => None,
        }
    }
}

impl Quantity {
    pub fn of_model<const N: usize>(self, index: [usize; N]) -> Entry {
        self.of(Owner::Model, index)
    }

    pub fn of_block<const N: usize>(self, block: usize, index: [usize; N]) -> Entry {
        self.of(Owner::Block(block), index)
    }

    pub fn of_head<const N: usize>(self, head: usize, index: [usize; N]) -> Entry {
        self.of(Owner::Head(head), index)
    }

    pub fn of_point(self, point: StagePoint, index: usize) -> Entry {
        self.of(Owner::Point(point), [index])
    }

    pub fn of<const N: usize>(self, owner: Owner, index: [usize; N]) -> Entry {
        debug_assert_eq!(self.definition().indices.len(), N, "{self:?} has other indices");
        let mut all = [0; INDICES_MAX];
        all[..N].copy_from_slice(&index);
        Entry { quantity: self, owner, index: all }
    }
}

impl Entry {
    /// An entry of a learned tensor.
    pub fn parameter(tensor: TensorId, row: usize, col: usize) -> Self {
        Quantity::Parameter(tensor.name).of_block(tensor.block, [row, col])
    }

    /// The learned tensor that it lies in.
    pub fn tensor(self) -> Option<TensorId> {
        match (self.quantity, self.owner) {
            (Quantity::Parameter(name), Owner::Block(block)) => Some(TensorName::of_block(name, block)),
            _ => None,
        }
    }

    /// The same kind of entry, further along its row: another key, another entry of a vector.
    #[must_use]
    pub fn along(mut self, steps: usize) -> Self {
        if let Some(last) = self.quantity.definition().indices.len().checked_sub(1) {
            self.index[last] += steps;
        }
        self
    }

    /// The same entry of another head, so many further on.
    #[must_use]
    pub fn of_later_head(mut self, steps: usize) -> Self {
        if let Owner::Head(head) = &mut self.owner {
            *head += steps;
        }
        self
    }
}
