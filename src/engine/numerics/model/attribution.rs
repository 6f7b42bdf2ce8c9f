//! Attribution of a logit to its terms, and the logit lens: the logits after each layer.
//!
//! ```text
//! lens(x_l) = Z(norm_Y(x_l))                         each layer's own μ and σ; nostalgebraist 2020, "interpreting GPT"
//! z_c = Σ_t t · u + β_Y · w_c + b_c                  u = (γ_Y ⊙ w_c − mean(γ_Y ⊙ w_c)) / σ
//! x_L = X + Σ_l (Σ_h Σ_j α_hij V_hj W_O^h + b_O + F)  the terms t of one word's vector
//! ```
//!
//! `w_c` is the class's row of `E` or column of `W_logits`. After all blocks a vector is a sum, because every block
//! adds to it. With the `σ` of the whole held, the norm is linear in each term (Elhage et al. 2021, *A Mathematical
//! Framework for Transformer Circuits*; `logit_attrs` and `apply_ln_to_stack` of TransformerLens). Without a norm `u`
//! is `w_c` itself.

use std::collections::HashMap;
use std::sync::Arc;

use super::{AttentionModel, Classes, Pooling, Tower};
use crate::numerics::block::Norm;
use crate::numerics::contributions::{BlockPart, Contributions};
use crate::numerics::model::activations::{Activations, Patch};
use crate::numerics::norm::inverse_deviations;
use crate::numerics::params::{Parameters, TensorName};
use crate::numerics::vectors::dot;
use crate::numerics::{Matrix, Scalar};

/// The origin of a term of a logit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermOf {
    /// The vector of the word and its position, before all blocks.
    Input,
    /// The vector that replaced another before a block; no term from before that block remains.
    Patch {
        block: usize,
    },
    /// The value of a word, times the weight that a head of a block gives to it.
    Head {
        block: usize,
        head: usize,
        key: usize,
    },
    /// `b_O` of a block, after the norm of the attention's output if there is one.
    OutputBias {
        block: usize,
    },
    FeedForward {
        block: usize,
    },
    /// `β_Y · w_c`
    Shift,
    /// `b_c`
    Bias,
}

/// The reason why a logit cannot be written as a sum of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSum {
    /// A layer of the readout whose activation is not linear.
    Transformed,
    /// A norm after the sum of a block.
    Blocks,
}

impl<S: Scalar> AttentionModel<S> {
    /// Computes the logits `Z` (R, C) that the readout gives for vectors between the blocks (R, D). The last norm uses
    /// each vector's own `μ` and `σ`.
    pub fn lens(&self, parameters: &Parameters<S>, states: Matrix<S>) -> Matrix<S> {
        self.logits_of(parameters, &self.behind_blocks(parameters, Tower::Sentence, states))
    }

    /// Returns `w_c` (D), the readout's vector of a class.
    pub fn class_vector(&self, parameters: &Parameters<S>, class: usize) -> Vec<S> {
        match (&self.classes, self.architecture.readout.is_by_static_vectors()) {
            (Classes::Words(candidates), true) => {
                self.embedding(parameters).row(candidates.words()[class]).into_owned()
            }
            _ => {
                let entry = |row| parameters.entry(TensorName::LogitWeights, row, class);
                (0..self.architecture.width).map(|row| entry(row).unwrap_or(S::zero())).collect()
            }
        }
    }

    /// Computes the terms of a class's logit, before its bound if it has one. Depending on what the model reads, they
    /// are the terms at the word `row`, at the last word, or the means of the terms over all words. They sum to the
    /// logit, up to rounding. `patch` must be the patch of the pass.
    ///
    /// # Errors
    /// If the logit is not such a sum.
    ///
    /// # Panics
    /// If there is no such word or class, or `contributions` are of another pass.
    pub fn attribution(
        &self,
        parameters: &Parameters<S>,
        activations: &Activations<S>,
        contributions: &[Arc<Contributions<S>>],
        patch: Option<&Patch<S>>,
        (row, class): (usize, usize),
    ) -> Result<Vec<(TermOf, S)>, NoSum> {
        let architecture = &self.architecture;
        if architecture.readout.activation().is_some() {
            return Err(NoSum::Transformed);
        }
        if architecture.blocks.iter().any(|block| block.norm == Norm::Post) {
            return Err(NoSum::Blocks);
        }
        let last = activations.output.rows() - 1;
        let rows = match architecture.pooling {
            Pooling::Every => row..=row,
            Pooling::Last => last..=last,
            Pooling::Mean => 0..=last,
        };
        let share = S::one() / S::from_f64(rows.clone().count() as f64);
        let mut terms: Vec<(TermOf, S)> = Vec::new();
        let mut places: HashMap<TermOf, usize> = HashMap::new();
        // A patch in the source changes the logit through the terms of cross-attention only.
        let sources = architecture.source_blocks.len();
        let terms_at = |row: usize| {
            let patched = patch.filter(|patch| patch.block >= sources && patch.position == row);
            let patched = patched.map(|patch| patch.block);
            self.terms_at(parameters, activations, contributions, patched, (row, class))
        };
        for (of, value) in rows.flat_map(terms_at) {
            let place = *places.entry(of).or_insert(terms.len());
            if place == terms.len() {
                terms.push((of, S::zero()));
            }
            terms[place].1 += share * value;
        }
        Ok(terms)
    }

    /// Computes the terms of a class's logit read at the word `row` only, whose vector before the block `patched` was
    /// replaced.
    fn terms_at(
        &self,
        parameters: &Parameters<S>,
        activations: &Activations<S>,
        contributions: &[Arc<Contributions<S>>],
        patched: Option<usize>,
        (row, class): (usize, usize),
    ) -> Vec<(TermOf, S)> {
        let architecture = &self.architecture;
        let before = architecture.source_blocks.len();
        let last = activations.blocks.last().map_or(&activations.input, |block| &block.output);
        let mut w = self.class_vector(parameters, class);
        if let Some(scale) = architecture.logit_scale.map(S::from_f64) {
            w.iter_mut().for_each(|w| *w *= scale);
        }
        let mut terms = Vec::new();
        let u = match self.final_norm(parameters, Tower::Sentence) {
            Some([gain, shift]) => {
                let form = architecture.norm_form;
                if form.shift {
                    terms.push((TermOf::Shift, dot(shift, &w)));
                }
                let whole = Matrix::from_row_major(1, w.len(), last.row(row).to_vec());
                let mut u = w;
                form.carry_back(gain, inverse_deviations(form, &whole)[0], &mut u);
                u
            }
            None => w,
        };
        if let Some(bias) = parameters.entry(TensorName::LogitBias, 0, class) {
            terms.push((TermOf::Bias, bias));
        }
        let (of_start, mut first) = patched.map_or((TermOf::Input, before), |block| (TermOf::Patch { block }, block));
        // No term from before a block without a residual remains after it.
        let ends_input = architecture.blocks.iter().rposition(|block| !block.residual).map(|block| before + block);
        match ends_input.filter(|block| *block >= first) {
            Some(block) => first = block,
            None => terms.push((of_start, dot(activations.blocks[first].input.row(row), &u))),
        }
        for (block, (of, added)) in activations.blocks.iter().zip(contributions).enumerate().skip(first) {
            for head in 0..of.heads.len() {
                let term = |key| (TermOf::Head { block, head, key }, dot(&added.arrow(of, head, row, key), &u));
                terms.extend((0..added.keys()).map(term));
            }
            for part in added.parts() {
                let of_part = match part {
                    BlockPart::Bias => TermOf::OutputBias { block },
                    BlockPart::FeedForward => TermOf::FeedForward { block },
                    // The first three come from norms after the sum, which these blocks do not have, and the last from
                    // recorded blocks.
                    BlockPart::Rescaled | BlockPart::Shift | BlockPart::LastShift | BlockPart::Rest => continue,
                };
                terms.push((of_part, dot(&added.part(*part, of, row), &u)));
            }
        }
        terms
    }
}
