//! The effect of each weight on a word: how fast the word's output moves in a picture when the weight grows.
//!
//! ```text
//! e(w) = ‖P ∂y_i/∂w‖ = √Σ_k (∂(p_k · y_i)/∂w)²      p_k: the axes of the picture
//! ```
//!
//! Every `∂(p_k · y_i)/∂w` is exact: one forward pass, and one backward pass for each axis, give it for all
//! weights of the blocks.

use super::gradient::{KeptBlock, block_backward, through_blocks};
use crate::numerics::attention::BatchRows;
use crate::numerics::model::Architecture;
use crate::numerics::params::{Learned, Parameters};
use crate::numerics::{Matrix, Scalar};

/// A word in a pass through the blocks of a model without a source, with all heads live.
#[derive(Clone, Copy)]
pub struct WordOf<'a, S> {
    pub architecture: &'a Architecture,
    pub parameters: &'a Parameters<S>,
    /// The vectors that go into the first block (T, D).
    pub input: &'a Matrix<S>,
    /// Position of the word.
    pub word: usize,
}

impl<S: Scalar> WordOf<'_, S> {
    /// Computes for each weight of the blocks the length of the derivative of the word's output, projected on the given
    /// axes of width D. Weights outside the blocks get 0.
    pub fn effects(&self, axes: &[Vec<S>]) -> Parameters<S> {
        let Self { architecture, parameters, input, .. } = *self;
        let rows = BatchRows::one(input.rows());
        let mut kept = through_blocks(architecture, parameters, &rows, &mut input.clone());
        let mut squares = parameters.zeros_like();
        for axis in axes {
            let gradient = self.backward(&rows, &mut kept, axis);
            squares.flat_mut().iter_mut().zip(gradient.flat()).for_each(|(sum, d)| *sum += *d * *d);
        }
        squares.flat_mut().iter_mut().for_each(|sum| *sum = S::from_f64(sum.to_f64().sqrt()));
        squares
    }

    /// Computes the gradient of `axis · y_i`, where `y_i` is the word's output, with respect to the weights of the
    /// blocks.
    fn backward(&self, rows: &BatchRows, kept: &mut [KeptBlock<S>], axis: &[S]) -> Parameters<S> {
        let Self { architecture, parameters, input, word } = *self;
        let mut d = Matrix::zeros(input.rows(), input.cols());
        d.row_mut(word).copy_from_slice(axis);
        let mut gradient = parameters.zeros_like();
        for ((number, config), kept) in architecture.blocks.iter().enumerate().zip(kept).rev() {
            block_backward(Learned { config, parameters, number }, rows, kept, &mut gradient, &mut d);
        }
        gradient
    }
}
