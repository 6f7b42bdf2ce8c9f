//! What moves the points, in the basis: each block's contributions as arrows that lead, tip to tail, from
//! what goes in to the sum.

use crate::numerics::Matrix;
use crate::numerics::contributions::Contributions;
use crate::numerics::model::activations::BlockActivations;
use crate::numerics::projection::{AXES, Projection};

/// A point or an arrow in the basis.
pub type Point = [f32; AXES];

/// Of one block.
#[derive(Clone, Debug, PartialEq)]
pub struct Moves {
    queries: usize,
    keys: usize,
    /// Row `(h · T + i) · T_k + j` is `α_hij · V_hj W_O^h`; (H·T·T_k, 3)
    terms: Matrix<f32>,
    /// `b_O`
    pub bias: Point,
    /// Where the arrows of each query begin: what goes in, or, without a residual, the zero vector; (T, 3)
    pub from: Matrix<f32>,
    /// Where they end: `X + Σ … + b_O`; (T, 3)
    pub to: Matrix<f32>,
    /// What comes out of the block, after a norm or a feed-forward layer where there is one; (T, 3)
    pub output: Matrix<f32>,
}

impl Moves {
    pub fn of(
        projection: &Projection,
        block: &BlockActivations<f32>,
        contributions: &Contributions<f32>,
        has_residual: bool,
    ) -> Self {
        let (queries, keys, heads) = (block.input.rows(), contributions.keys(), block.heads.len());
        let mut terms = Matrix::zeros(heads * queries * keys, AXES);
        for row in 0..terms.rows() {
            let (head, query, key) = (row / (queries * keys), row / keys % queries, row % keys);
            terms.row_mut(row).copy_from_slice(&projection.direction(contributions.term(head, query, key)));
        }
        let nothing = || Matrix::zeros(queries, block.input.cols());
        Self {
            queries,
            keys,
            terms,
            bias: projection.direction(&contributions.bias),
            from: if has_residual { projection.points(&block.input) } else { projection.points(&nothing()) },
            to: projection.points(&block.summed),
            output: projection.points(&block.output),
        }
    }

    /// `α_hij · V_hj W_O^h` as an arrow.
    ///
    /// # Panics
    /// If there is no such head, query or key.
    pub fn term(&self, head: usize, query: usize, key: usize) -> Point {
        let row = self.terms.row((head * self.queries + query) * self.keys + key);
        std::array::from_fn(|axis| row[axis])
    }

    pub fn heads(&self) -> usize {
        self.terms.rows() / (self.queries * self.keys)
    }

    pub fn keys(&self) -> usize {
        self.keys
    }

    pub fn queries(&self) -> usize {
        self.queries
    }
}
