//! The first tensor of a forward pass that is not finite.

use std::fmt;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::Edge;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Architecture};
use attune_engine::numerics::params::{Parameters, TensorId};
use attune_engine::numerics::tensor_norms::TensorNorms;

/// A tensor of a forward pass; it prints as `attune trace` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivationId {
    name: &'static str,
    part: Part,
}

/// Blocks and heads are counted from 0 over the whole model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Block(usize),
    Head(usize),
}

impl ActivationId {
    /// True of the input of the first block: static vectors and positions alone.
    pub fn is_input(self) -> bool {
        matches!(self.name, INPUT | SOURCE)
    }
}

impl fmt::Display for ActivationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Part::Whole => f.write_str(self.name),
            Part::Block(block) => write!(f, "{}[block {block}]", self.name),
            Part::Head(head) => write!(f, "{}[{head}]", self.name),
        }
    }
}

const INPUT: &str = "X";
const SOURCE: &str = "X[source]";

/// The first tensor, in the order of the computation, with an entry that is not finite. A score of
/// −∞ is as it should be where the mask hides the key, or the edge is taken out.
pub fn first_not_finite(
    architecture: &Architecture,
    interventions: &Interventions<f32>,
    activations: &Activations<f32>,
    logits: &Matrix<f32>,
) -> Option<ActivationId> {
    let whole = |name, matrix| (!is_finite(matrix)).then_some(ActivationId { name, part: Part::Whole });
    let source = || whole(SOURCE, activations.source.as_ref()?);
    source()
        .or_else(|| whole(INPUT, &activations.input))
        .or_else(|| first_in_blocks(architecture, interventions, activations))
        .or_else(|| whole("logits", logits))
}

fn first_in_blocks(
    architecture: &Architecture,
    interventions: &Interventions<f32>,
    activations: &Activations<f32>,
) -> Option<ActivationId> {
    let mut heads_before = 0;
    for ((b, config), block) in architecture.numbered_blocks().zip(&activations.blocks) {
        for (h, head) in (heads_before..).zip(&block.heads) {
            let scores = &head.scores;
            let sees = |q: usize, k: usize| interventions.sees(config, b < architecture.source_blocks.len(), q, k);
            let is_out = |query, key| interventions.edges.contains(&Edge { head: h, query, key });
            let is_right = |q: usize, k: usize| scores.get(q, k).is_finite() || !sees(q, k) || is_out(q, k);
            let are_right = (0..scores.rows()).all(|q| (0..scores.cols()).all(|k| is_right(q, k)));
            let tensors = [
                ("Q", is_finite(&head.query)),
                ("K", is_finite(&head.key)),
                ("V", is_finite(&head.value)),
                ("scores", are_right),
                ("weights", is_finite(&head.weights)),
                ("mix", is_finite(&head.mix)),
            ];
            if let Some((name, _)) = tensors.into_iter().find(|(_, fine)| !fine) {
                return Some(ActivationId { name, part: Part::Head(h) });
            }
        }
        heads_before += block.heads.len();
        let tensors = [("summed", &block.summed), ("output", &block.output)];
        if let Some((name, _)) = tensors.into_iter().find(|(_, matrix)| !is_finite(matrix)) {
            return Some(ActivationId { name, part: Part::Block(b) });
        }
    }
    None
}

fn is_finite(matrix: &Matrix<f32>) -> bool {
    matrix.flat().iter().all(|x| x.is_finite())
}

/// The tensor with the largest norm.
pub fn largest(parameters: &Parameters<f32>) -> Option<TensorId> {
    let norms = TensorNorms::of(parameters).by_tensor;
    let tensors = parameters.specs().iter().map(|spec| spec.id).zip(norms);
    tensors.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(tensor, _)| tensor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use attune_engine::numerics::params::TensorName;

    #[test]
    fn the_largest_tensor_has_the_largest_norm() {
        let (q, o) = (TensorName::QueryWeights.into(), TensorName::OutputWeights.into());
        let mut parameters = Parameters::zeros(&[(q, 1, 4), (o, 1, 1)]);
        parameters.values_of_mut(q).fill(-2.0);
        parameters.values_of_mut(o).fill(3.0);
        assert_eq!(largest(&parameters), Some(q));
        parameters.values_of_mut(o).fill(1e30);
        assert_eq!(largest(&parameters), Some(o));
    }
}
