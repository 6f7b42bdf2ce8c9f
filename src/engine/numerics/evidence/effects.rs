//! The effect of each weight on a word: how fast the word's output moves in a picture when the weight grows.
//!
//! ```text
//! e(w) = ‖P ∂y_i/∂w‖ = √Σ_k (∂(p_k · y_i)/∂w)²      p_k: the axes of the picture
//! ```
//!
//! Every `∂(p_k · y_i)/∂w` is exact: one forward pass, and one backward pass for each axis, give it for all
//! weights of the blocks.

use crate::numerics::attention::{BatchRoom, BatchRows, HeadChanges, Tokens};
use crate::numerics::block::{BlockCache, attend_backward, attend_forward, tail_backward, tail_forward};
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
        let mut pass = self.forward();
        let mut squares = self.parameters.zeros_like();
        for axis in axes {
            let gradient = self.backward(&mut pass, axis);
            squares.flat_mut().iter_mut().zip(gradient.flat()).for_each(|(sum, d)| *sum += *d * *d);
        }
        squares.flat_mut().iter_mut().for_each(|sum| *sum = S::from_f64(sum.to_f64().sqrt()));
        squares
    }

    /// Runs the blocks, and returns the input of each together with the values that its backward pass reads.
    fn forward(&self) -> Vec<(Matrix<S>, BlockCache<S>)> {
        let Self { architecture, parameters, input, .. } = *self;
        let rows = BatchRows::one(input.rows());
        let room = BatchRoom { rows: rows.total(), longest: rows.total() };
        let mut x = input.clone();
        let pass = |(number, config)| {
            let mut cache = BlockCache::new(config, room, room);
            let block = Learned { config, parameters, number };
            attend_forward(block, Tokens::new(x.flat(), &rows), None, HeadChanges::NONE, &mut cache);
            tail_forward(block, cache.attention.mix.top_flat(rows.total()), x.flat(), &mut cache.tail);
            let output = cache.tail.output().clone();
            (std::mem::replace(&mut x, output), cache)
        };
        architecture.blocks.iter().enumerate().map(pass).collect()
    }

    /// Computes the gradient of `axis · y_i`, where `y_i` is the word's output, with respect to the weights of the
    /// blocks.
    fn backward(&self, pass: &mut [(Matrix<S>, BlockCache<S>)], axis: &[S]) -> Parameters<S> {
        let Self { architecture, parameters, input, word } = *self;
        let rows = BatchRows::one(input.rows());
        let mut d = Matrix::zeros(input.rows(), input.cols());
        d.row_mut(word).copy_from_slice(axis);
        let mut gradient = parameters.zeros_like();
        for ((number, config), (x, cache)) in architecture.blocks.iter().enumerate().zip(pass).rev() {
            let block = Learned { config, parameters, number };
            let (mix, d_mix) = (cache.attention.mix.top_flat(rows.total()), cache.d_mix.top_flat_mut(rows.total()));
            tail_backward(block, mix, &mut cache.tail, &mut gradient, d.flat_mut(), d_mix);
            attend_backward(block, Tokens::new(x.flat(), &rows), None, cache, &mut gradient, d.flat_mut(), None);
        }
        gradient
    }
}
