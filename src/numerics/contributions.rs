//! Contributions to a token's movement: the output of a block as an exact sum over heads and source tokens.
//!
//! `A_i = X_i + Σ_h Σ_j α_hij · V_hj W_O^h + b_O`, with `V_hj = z_j W_V^h + b_V^h`; without a residual
//! `X_i` falls away, without `W_O` a value stands in its head's columns. Under a linear projection
//! the terms are arrows that lead tip to tail from the input to the contextual point. The input of
//! the first block is the static vector and its position, `X = E + P`: with positions, the way from
//! the static point begins with the arrow `P_i`.
//!
//! The sum holds at `A`. What the block does next, a norm or a feed-forward layer, is no sum over
//! tokens: [`Contributions::holds`] says so.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use super::attention::HeadMode;
use super::block::{BlockConfig, Norm};
use super::model::activations::BlockActivations;
use super::params::{Parameters, TensorName};
use super::simd::vectorized;
use super::vectors::{add_scaled, norm};
use super::{Matrix, Scalar};

/// A head's values or mixes as added to the tokens: `X W_O^h`, or `X` in the head's columns.
fn through_output<S: Scalar>(
    config: &BlockConfig,
    block: usize,
    parameters: &Parameters<S>,
    head: usize,
    x: &Matrix<S>,
    to: &mut Matrix<S>,
) {
    let columns = config.attention.value_columns(head);
    if config.attention.output {
        let w = parameters.matrix(TensorName::OutputWeights.of_block(block)).subrows(columns.start, columns.len());
        matmul(to.view_mut(), Accum::Replace, x.view(), w, S::one(), Par::Seq);
    } else {
        to.flat_mut().fill(S::zero());
        (0..x.rows()).for_each(|row| to.row_mut(row)[columns.clone()].copy_from_slice(x.row(row)));
    }
}

/// Every term of the sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Contributions<S> {
    queries: usize,
    keys: usize,
    /// Row `(h · T + i) · T_k + j` is `α_hij · V_hj W_O^h`; (H·T·T_k, D)
    terms: Matrix<S>,
    /// `b_O`, the same for every token; zero where the model has none.
    pub bias: Vec<S>,
    /// `‖Σ_j α_hij · V_hj W_O^h‖` by head and query.
    pub head_lengths: Vec<Vec<S>>,
    pub holds: Holds,
}

/// The point of the block at which the sum is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// At the block's output.
    AtOutput,
    /// Before the norm that follows the attention.
    BeforeNorm,
    /// Before the feed-forward layer.
    BeforeFeedForward,
}

impl<S: Scalar> Contributions<S> {
    /// The terms of a forward pass; those of a head that takes no part are zero.
    pub fn of(
        config: &BlockConfig,
        block: usize,
        parameters: &Parameters<S>,
        activations: &BlockActivations<S>,
        modes: &[HeadMode<S>],
    ) -> Self {
        let layer = &config.attention;
        let (queries, width) = (activations.input.rows(), layer.width);
        let keys = activations.heads[0].key.rows();
        let mut terms = Matrix::zeros(layer.heads * queries * keys, width);
        let mut head_lengths = Vec::with_capacity(layer.heads);
        let (mut moved, mut sums) = (Matrix::zeros(keys, width), Matrix::zeros(queries, width));
        let blocks = terms.flat_mut().chunks_exact_mut(queries * keys * width);
        for (head, (activation, terms)) in activations.heads.iter().zip(blocks).enumerate() {
            let gain = modes.get(head).map_or(S::one(), HeadMode::gain);
            if gain == S::zero() {
                head_lengths.push(vec![S::zero(); queries]);
                continue;
            }
            through_output(config, block, parameters, head, &activation.value, &mut moved); // V_h W_O^h
            if gain != S::one() {
                moved.flat_mut().iter_mut().for_each(|x| *x *= gain);
            }
            through_output(config, block, parameters, head, &activation.mix, &mut sums); // Σ_j α_j V_hj W_O^h
            let rows = terms.chunks_exact_mut(keys * width).zip(activation.weights.flat().chunks_exact(keys));
            vectorized!(for (terms, weights) in rows {
                let terms = terms.chunks_exact_mut(width).zip(weights).zip(moved.flat().chunks_exact(width));
                for ((term, &weight), moved) in terms {
                    term.iter_mut().zip(moved).for_each(
                        #[inline(always)]
                        |(to, &x)| *to = weight * x,
                    );
                }
            });
            head_lengths.push((0..queries).map(|query| norm(sums.row(query))).collect());
        }
        let mut bias = parameters.values_of(TensorName::OutputBias.of_block(block)).to_vec();
        bias.resize(width, S::zero());
        let holds = match (config.norm, config.feed_forward) {
            (Norm::Post, _) => Holds::BeforeNorm,
            (_, Some(_)) => Holds::BeforeFeedForward,
            _ => Holds::AtOutput,
        };
        Self { queries, keys, terms, bias, head_lengths, holds }
    }

    /// `α_hij · V_hj W_O^h` (D)
    pub fn term(&self, head: usize, query: usize, key: usize) -> &[S] {
        self.terms.row((head * self.queries + query) * self.keys + key)
    }

    /// How many keys a query has.
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// The largest entry, over all tokens, of `|A − X − Σ terms − b_O|`.
    pub fn error(&self, config: &BlockConfig, activations: &BlockActivations<S>) -> S {
        let mut worst = S::zero();
        for query in 0..self.queries {
            let mut rest = activations.summed.row(query).to_vec();
            if config.residual {
                add_scaled(&mut rest, -S::one(), activations.input.row(query));
            }
            add_scaled(&mut rest, -S::one(), &self.bias);
            for head in 0..config.attention.heads {
                for key in 0..self.keys {
                    add_scaled(&mut rest, -S::one(), self.term(head, query, key));
                }
            }
            worst = rest.iter().map(|x| x.abs()).fold(worst, Scalar::max);
        }
        worst
    }
}
