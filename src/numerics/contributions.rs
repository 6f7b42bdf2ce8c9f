//! What moved a token: the output as an exact sum over heads and source tokens.
//!
//! `Y_i = X_i + Σ_h Σ_j α_hij · V_hj W_O^h + b_O`, with `V_hj = x_j W_V^h + b_V^h`, given a residual
//! and before any norm; without a residual `X_i` falls away. Under a linear projection the terms
//! are arrows that lead tip to tail from the input to the contextual point. The input is the static
//! vector and its position, `X = E + P`: with positions, the way from the static point begins with
//! the arrow `P_i`.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use super::attention::{Activations, AttentionConfig};
use super::params::{Parameters, TensorName};
use super::vectors::{add_scaled, norm};
use super::{Matrix, Scalar};

/// Every term of the sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Contributions<S> {
    tokens: usize,
    /// Row `(h · T + i) · T + j` is `α_hij · V_hj W_O^h`; (H·T·T, D)
    terms: Matrix<S>,
    /// `b_O`, the same for every token; zero where the model has none.
    pub bias: Vec<S>,
    /// `‖Σ_j α_hij · V_hj W_O^h‖` by head and query.
    pub head_lengths: Vec<Vec<S>>,
}

impl<S: Scalar> Contributions<S> {
    /// The terms of a forward pass; those of a head that takes no part are zero.
    pub fn of(
        config: &AttentionConfig,
        parameters: &Parameters<S>,
        activations: &Activations<S>,
        enabled: &[bool],
    ) -> Self {
        let tokens = activations.input.rows();
        let width = config.width;
        let output_weights = parameters.matrix(TensorName::OutputWeights);
        let mut terms = Matrix::zeros(config.heads * tokens * tokens, width);
        let mut head_lengths = Vec::with_capacity(config.heads);
        let mut moved = Matrix::zeros(tokens, width); // V_h W_O^h
        for (head, activation) in activations.heads.iter().enumerate() {
            let rows = config.value_columns(head);
            let w = output_weights.subrows(rows.start, rows.len());
            matmul(moved.view_mut(), Accum::Replace, activation.value.view(), w, S::one(), Par::Seq);
            if !enabled[head] {
                head_lengths.push(vec![S::zero(); tokens]);
                continue;
            }
            let lengths = (0..tokens).map(|query| {
                let mut sum = vec![S::zero(); width];
                for key in 0..tokens {
                    let term = terms.row_mut((head * tokens + query) * tokens + key);
                    add_scaled(term, activation.weights.get(query, key), moved.row(key));
                    add_scaled(&mut sum, S::one(), term);
                }
                norm(&sum)
            });
            head_lengths.push(lengths.collect());
        }
        let mut bias = parameters.values_of(TensorName::OutputBias).to_vec();
        bias.resize(width, S::zero());
        Self { tokens, terms, bias, head_lengths }
    }

    /// `α_hij · V_hj W_O^h` (D)
    pub fn term(&self, head: usize, query: usize, key: usize) -> &[S] {
        self.terms.row((head * self.tokens + query) * self.tokens + key)
    }

    /// The largest entry, over all tokens, of `|output − input − Σ terms − b_O|`.
    pub fn error(&self, config: &AttentionConfig, activations: &Activations<S>) -> S {
        let mut worst = S::zero();
        for query in 0..self.tokens {
            let mut rest = activations.output.row(query).to_vec();
            if config.residual {
                add_scaled(&mut rest, -S::one(), activations.input.row(query));
            }
            add_scaled(&mut rest, -S::one(), &self.bias);
            for head in 0..config.heads {
                for key in 0..self.tokens {
                    add_scaled(&mut rest, -S::one(), self.term(head, query, key));
                }
            }
            worst = rest.iter().map(|x| x.abs()).fold(worst, Scalar::max);
        }
        worst
    }
}
