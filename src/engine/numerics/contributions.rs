//! The output of a block as an exact sum of contributions, one for each head and source token.
//!
//! `A_i = X_i + Σ_h Σ_j α_hij · V_hj W_O^h + b_O`, with `V_hj = z_j W_V^h + b_V^h`. Without a residual there is no
//! `X_i`; without `W_O` a value is written to its head's columns. The input of the first block is the static vector
//! plus its position, `X = E + P`, so with positions the path from the static point begins with the arrow `P_i`.
//!
//! The rest of the block keeps the sum exact, up to its output. A norm whose `σ` (of the whole sum) is held fixed is
//! linear in each term, `L t = γ ⊙ (t − mean t) / σ`, and adds its `β` once (Kobayashi et al. 2021, arXiv 2109.07152);
//! an RMSNorm subtracts no mean and has no `β`. If the attention's output has a norm of its own, `V_hj W_O^h` and `b_O`
//! go through that norm first. The feed-forward layer is nonlinear and counts as one more term. So
//!
//! ```text
//! Y_i = X_i + (L X_i − X_i) + Σ_h Σ_j α_hij · L(V_hj W_O^h) + L b_O + shifts + feed-forward part
//! ```
//!
//! and under a linear projection the terms are arrows, tip to tail, from the input to the contextual point.
//!
//! Only `V_hj W_O^h` is stored for each key. The terms themselves would be (H·T·T_k, D); each is computed on demand
//! from a key's vector and a weight.

use std::borrow::Cow;

use super::attention::HeadMode;
use super::block::{BlockConfig, Norm};
use super::linear::linear_forward;
use super::model::activations::BlockActivations;
use super::norm::{NormForm, inverse_deviations};
use super::params::pairs::{ATTENTION_NORM, ATTENTION_OUTPUT_NORM, FORWARD_NORM};
use super::params::{Learned, Parameters, TensorName};
use super::simd::vectorized;
use super::vectors::{add_scaled, norm};
use super::{Matrix, Scalar};

/// Writes a head's part of the attention's output to `to`: `X W_O^h`, or `X` in the head's columns without `W_O`. `x`
/// is the head's values or mixes.
fn through_output<S: Scalar>(block: Learned<'_, BlockConfig, S>, head: usize, x: &Matrix<S>, to: &mut Matrix<S>) {
    let columns = block.config.attention.mix_columns(head);
    if block.config.attention.output {
        let w = block.parameters.weights(TensorName::OutputWeights.of_block(block.number));
        let w = w.subrows(columns.start, columns.len());
        linear_forward(x.view(), w, &[], to.flat_mut());
    } else {
        to.flat_mut().fill(S::zero());
        (0..x.rows()).for_each(|row| to.row_mut(row)[columns.clone()].copy_from_slice(x.row(row)));
    }
}

/// A term of a block's output that does not come from a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockPart {
    /// `L X_i − X_i`: the change that the norms make to the input.
    Rescaled,
    /// `L b_O`, plus `β` of the norm of the attention's output.
    Bias,
    /// `β` of the norm after the attention, carried through the norm after the feed-forward layer.
    Shift,
    /// `F(A_i)` after the norm that follows it. Without a residual `F(A_i) − A_i`, because `F(A_i)` replaces `A_i`.
    FeedForward,
    /// `β` of the norm after the feed-forward layer.
    LastShift,
    /// `Y − X − Σ_h Σ_j α_hij V_hj W_O^h`: everything that a recorded block adds apart from its heads, biases and norms
    /// included.
    Rest,
}

impl BlockPart {
    /// All parts, in the order of the forward pass.
    pub const ALL: [Self; 6] =
        [Self::Rescaled, Self::Bias, Self::Shift, Self::FeedForward, Self::LastShift, Self::Rest];
}

/// A norm whose `σ` is held at that of the whole vector: the linear map `t ↦ γ ⊙ (t − mean t) / σ_i` and the shift `β`.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldNorm<S> {
    pub form: NormForm,
    /// Names of `γ` and `β`.
    pub names: [TensorName; 2],
    gain: Vec<S>,
    /// `β`; empty if the norm has none.
    shift: Vec<S>,
    /// `1 / σ` for each query.
    inverse_deviations: Vec<S>,
}

impl<S: Scalar> HeldNorm<S> {
    fn of(block: Learned<'_, BlockConfig, S>, names: [TensorName; 2], whole: &Matrix<S>) -> Self {
        let [gain, shift] = names.map(|name| block.values(name).to_vec());
        let form = block.config.norm_form;
        Self { form, names, gain, shift, inverse_deviations: inverse_deviations(form, whole) }
    }

    pub fn inverse_deviation(&self, query: usize) -> S {
        self.inverse_deviations[query]
    }

    /// Replaces a query's term `t` by `L t`.
    pub fn carry(&self, query: usize, term: &mut [S]) {
        self.apply(self.inverse_deviations[query], term);
    }

    /// Replaces a term `t` by `factor · γ ⊙ (t − mean t)`.
    #[inline(always)]
    fn apply(&self, factor: S, term: &mut [S]) {
        self.form.carry(&self.gain, factor, term);
    }
}

/// All terms of the sum. Those of the heads are stored as `V_hj W_O^h`, to be multiplied by the weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Contributions<S> {
    keys: usize,
    /// `V_hj W_O^h`, times the head's gain, in row `h · T_k + j`; (H·T_k, D)
    moved: Matrix<S>,
    /// Whether each head is on; one that is off has no terms.
    is_on: Vec<bool>,
    /// `Σ_h Σ_j α_hij · V_hj W_O^h` (T, D)
    pub added: Matrix<S>,
    /// `b_O` (D), the same for every token; zero if the model has none.
    pub bias: Vec<S>,
    /// `‖Σ_j α_hij · V_hj W_O^h‖` for each head and query.
    pub head_lengths: Vec<Vec<S>>,
    /// `‖Σ_j α_hij · L(V_hj W_O^h)‖` for each head and query: the lengths of the heads' terms at the block's output.
    pub head_arrow_lengths: Vec<Vec<S>>,
    /// Norms that the heads' terms go through, in order: of the attention's output, of the sum, and of the block's
    /// output.
    norms: Vec<HeldNorm<S>>,
    /// Number of these norms that come before the residual is added.
    own_norms: usize,
    /// Number of these norms that come before the feed-forward layer.
    attended_norms: usize,
    parts: Vec<BlockPart>,
}

impl<S: Scalar> Contributions<S> {
    /// Computes the terms of a forward pass. The terms of a head that is off are zero.
    pub fn of(
        config: &BlockConfig,
        block: usize,
        parameters: &Parameters<S>,
        activations: &BlockActivations<S>,
        modes: &[HeadMode<S>],
    ) -> Self {
        let (layer, of_block) = (&config.attention, Learned { config, parameters, number: block });
        let (queries, width) = (activations.input.rows(), layer.width);
        let keys = activations.heads[0].key.rows();
        let norms = held_norms(of_block, activations);
        let own_norms = usize::from(config.output_norms);
        let attended_norms = own_norms + usize::from(config.norms_attended());
        let mut found = Self {
            keys,
            moved: Matrix::zeros(layer.heads * keys, width),
            is_on: Vec::with_capacity(layer.heads),
            added: Matrix::zeros(queries, width),
            bias: of_block.values(TensorName::OutputBias).to_vec(),
            head_lengths: Vec::with_capacity(layer.heads),
            head_arrow_lengths: Vec::new(),
            parts: Vec::new(),
            norms,
            own_norms,
            attended_norms,
        };
        let has_shift = config.norm_form.shift;
        let is_there = |part: &BlockPart| match part {
            BlockPart::Rescaled => config.residual && found.norms.len() > own_norms,
            BlockPart::Bias => !found.bias.is_empty() || (has_shift && own_norms > 0),
            BlockPart::Shift => has_shift && attended_norms > own_norms,
            BlockPart::FeedForward => config.feed_forward.is_some(),
            BlockPart::LastShift => has_shift && found.norms.len() > attended_norms,
            BlockPart::Rest => false,
        };
        found.parts = BlockPart::ALL.into_iter().filter(is_there).collect();
        found.bias.resize(width, S::zero());

        let (mut moved, mut sums) = (Matrix::zeros(keys, width), Matrix::zeros(queries, width));
        let mut arrow_lengths = Vec::new();
        for (head, activation) in activations.heads.iter().enumerate() {
            let gain = modes.get(head).map_or(S::one(), HeadMode::gain);
            found.is_on.push(gain != S::zero());
            if gain == S::zero() {
                found.head_lengths.push(vec![S::zero(); queries]);
                arrow_lengths.push(vec![S::zero(); queries]);
                continue;
            }
            through_output(of_block, head, &activation.value, &mut moved); // V_h W_O^h
            if gain != S::one() {
                moved.flat_mut().iter_mut().for_each(|x| *x *= gain);
            }
            found.moved.flat_mut()[head * moved.flat().len()..][..moved.flat().len()].copy_from_slice(moved.flat());
            through_output(of_block, head, &activation.mix, &mut sums); // Σ_j α_j V_hj W_O^h
            found.head_lengths.push((0..queries).map(|query| norm(sums.row(query))).collect());
            vectorized!(add_scaled(found.added.flat_mut(), S::one(), sums.flat()),);
            if found.is_normed() {
                (0..queries).for_each(|query| found.carry(query, sums.row_mut(query)));
                arrow_lengths.push((0..queries).map(|query| norm(sums.row(query))).collect());
            }
        }
        found.head_arrow_lengths = if found.is_normed() { arrow_lengths } else { found.head_lengths.clone() };
        found
    }

    /// Computes the terms of a recorded block, of whose weights only the output map (H·d_v, D) can be known. Without
    /// it, [`BlockPart::Rest`] is the only term.
    pub fn of_recorded(config: &BlockConfig, output_map: Option<&[S]>, activations: &BlockActivations<S>) -> Self {
        let (keys, width) = (activations.heads.first().map_or(0, |head| head.weights.cols()), config.attention.width);
        let parts = vec![BlockPart::Rest];
        let Some(output_map) = output_map.filter(|_| keys > 0) else {
            return Self {
                keys,
                moved: Matrix::zeros(0, width),
                is_on: Vec::new(),
                added: Matrix::zeros(activations.input.rows(), width),
                bias: vec![S::zero(); width],
                head_lengths: Vec::new(),
                head_arrow_lengths: Vec::new(),
                norms: Vec::new(),
                own_norms: 0,
                attended_norms: 0,
                parts,
            };
        };
        let id = TensorName::OutputWeights.of_block(0);
        let mut parameters = Parameters::zeros(&[(id, config.attention.mixes_width(), width)]);
        parameters.set_row_major(id, output_map);
        Self { parts, ..Self::of(config, 0, &parameters, activations, &[]) }
    }

    /// Returns whether the terms of keys are known: in a recorded block without its output map they are not.
    pub fn has_terms(&self) -> bool {
        !self.is_on.is_empty()
    }

    /// Returns whether there is a norm between a value and the block's output.
    fn is_normed(&self) -> bool {
        !self.norms.is_empty()
    }

    /// Returns the number of leading [`Self::norms`] that a part skips, because it is added after them.
    pub fn norms_before(&self, part: BlockPart) -> usize {
        match part {
            BlockPart::Bias => 0,
            BlockPart::Rescaled => self.own_norms,
            BlockPart::Shift | BlockPart::FeedForward | BlockPart::Rest => self.attended_norms,
            BlockPart::LastShift => self.norms.len(),
        }
    }

    /// Returns the norm whose shift `β` a part is or contains; `None` if it contains none.
    pub fn norm_of(&self, part: BlockPart) -> Option<&HeldNorm<S>> {
        match part {
            BlockPart::Bias => self.norms[..self.own_norms].last(),
            BlockPart::Shift => self.norms[self.own_norms..self.attended_norms].last(),
            BlockPart::LastShift => self.norms[self.attended_norms..].last(),
            BlockPart::Rescaled | BlockPart::FeedForward | BlockPart::Rest => None,
        }
    }

    /// Computes `α_hij · V_hj W_O^h` (D); `activations` must be the ones from which the contributions were computed.
    pub fn term(&self, activations: &BlockActivations<S>, head: usize, query: usize, key: usize) -> Vec<S> {
        let weight = self.weight(activations, head, query, key);
        self.moved.row(head * self.keys + key).iter().map(|&x| weight * x).collect()
    }

    /// Computes the term at the block's output, `α_hij · L(V_hj W_O^h)` (D).
    pub fn arrow(&self, activations: &BlockActivations<S>, head: usize, query: usize, key: usize) -> Vec<S> {
        let mut term = self.term(activations, head, query, key);
        self.carry(query, &mut term);
        term
    }

    /// Returns `α_hij`, or 0 if the head is off, even if its weights are not finite.
    pub fn weight(&self, activations: &BlockActivations<S>, head: usize, query: usize, key: usize) -> S {
        if self.is_on[head] { activations.heads[head].weights.get(query, key) } else { S::zero() }
    }

    /// Returns the terms that do not come from a head, in the order of the forward pass.
    pub fn parts(&self) -> &[BlockPart] {
        &self.parts
    }

    /// Adds a query's part to `to` (D).
    pub fn add_part(&self, part: BlockPart, activations: &BlockActivations<S>, query: usize, to: &mut [S]) {
        let mut term = match part {
            BlockPart::Rescaled => activations.input.row(query).to_vec(),
            BlockPart::Bias => {
                let mut bias = self.bias.clone();
                if let Some(norm) = self.norm_of(part) {
                    norm.carry(query, &mut bias);
                    norm.shift.iter().zip(&mut bias).for_each(|(&shift, bias)| *bias += shift);
                }
                bias
            }
            BlockPart::Shift | BlockPart::LastShift => {
                self.norm_of(part).map_or_else(Vec::new, |norm| norm.shift.clone())
            }
            BlockPart::FeedForward | BlockPart::Rest => {
                let mut joined = activations.joined().row(query).to_vec();
                add_scaled(&mut joined, -S::one(), activations.attended().row(query));
                joined
            }
        };
        carry(&self.norms[self.norms_before(part).max(self.own_norms)..], query, &mut term);
        add_scaled(to, S::one(), &term);
        if part == BlockPart::Rescaled {
            add_scaled(to, -S::one(), activations.input.row(query));
        }
    }

    /// Computes a query's part (D).
    pub fn part(&self, part: BlockPart, activations: &BlockActivations<S>, query: usize) -> Vec<S> {
        let mut found = vec![S::zero(); self.bias.len()];
        self.add_part(part, activations, query, &mut found);
        found
    }

    /// Returns the norms that the heads' terms go through up to the block's output, each as a linear map.
    pub fn norms(&self) -> &[HeldNorm<S>] {
        &self.norms
    }

    /// Replaces a query's term `t` by `L t`.
    pub fn carry(&self, query: usize, term: &mut [S]) {
        carry(&self.norms, query, term);
    }

    /// Returns all `V_hj W_O^h` at the block's output, without the query's factor `1 / σ` (see [`Self::shrinking`]);
    /// (H·T_k, D)
    pub fn carried(&self) -> Cow<'_, Matrix<S>> {
        if !self.is_normed() {
            return Cow::Borrowed(&self.moved);
        }
        let mut carried = self.moved.clone();
        vectorized!(for row in carried.flat_mut().chunks_exact_mut(self.bias.len()) {
            self.norms.iter().for_each(|norm| norm.apply(S::one(), row));
        });
        Cow::Owned(carried)
    }

    /// Returns the row of one head and key in [`Self::carried`]; (D)
    pub fn carried_term(&self, head: usize, key: usize) -> Vec<S> {
        let mut row = self.moved.row(head * self.keys + key).to_vec();
        self.norms.iter().for_each(|norm| norm.apply(S::one(), &mut row));
        row
    }

    /// Returns a query's factor `1 / σ`, multiplied over all norms.
    pub fn shrinking(&self, query: usize) -> S {
        self.norms.iter().fold(S::one(), |factor, norm| factor * norm.inverse_deviations[query])
    }

    /// Returns the number of keys.
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// Returns the largest entry of `|Y − Σ terms|` over all tokens.
    pub fn error(&self, config: &BlockConfig, activations: &BlockActivations<S>) -> S {
        let mut worst = S::zero();
        let mut sum = vec![S::zero(); self.bias.len()];
        for query in 0..activations.output.rows() {
            sum.fill(S::zero());
            for (head, key) in (0..self.is_on.len()).flat_map(|head| (0..self.keys).map(move |key| (head, key))) {
                let weight = self.weight(activations, head, query, key);
                add_scaled(&mut sum, weight, self.moved.row(head * self.keys + key));
            }
            self.carry(query, &mut sum); // linear: the sum of what it makes of each
            if config.residual {
                add_scaled(&mut sum, S::one(), activations.input.row(query));
            }
            self.parts.iter().for_each(|part| self.add_part(*part, activations, query, &mut sum));
            let rest = sum.iter().zip(activations.output.row(query)).map(|(&x, &y)| (x - y).abs());
            worst = rest.fold(worst, Scalar::max);
        }
        worst
    }
}

/// Replaces a query's term `t` by `L t` through the given norms.
fn carry<S: Scalar>(norms: &[HeldNorm<S>], query: usize, term: &mut [S]) {
    vectorized!(for norm in norms {
        norm.apply(norm.inverse_deviations[query], term);
    });
}

fn held_norms<S: Scalar>(block: Learned<'_, BlockConfig, S>, activations: &BlockActivations<S>) -> Vec<HeldNorm<S>> {
    let config = block.config;
    let norms_output = config.norm == Norm::Post && config.feed_forward.is_some();
    let own = activations.branch.as_ref().map(|branch| (ATTENTION_OUTPUT_NORM, branch));
    let of_sum = (ATTENTION_NORM, &activations.summed);
    let of_output = (FORWARD_NORM, activations.joined());
    let norms = [own, config.norms_attended().then_some(of_sum), norms_output.then_some(of_output)];
    let held = |(names, whole)| HeldNorm::of(block, names, whole);
    norms.into_iter().flatten().map(held).collect()
}
