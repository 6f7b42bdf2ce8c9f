//! The reasons why training stops, and the first tensor of the forward pass that is not finite after an overflow of the
//! loss.

use std::fmt;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::Edge;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Architecture};
use attune_engine::numerics::params::{Parameters, TensorId};
use attune_engine::numerics::tensor_norms::TensorNorms;

use crate::kernel::training::log::TrainingLog;
use crate::lesson::schema::StopRule;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stopped {
    /// A pause, or a training that was never started.
    Paused,
    /// The end of the training, after the lesson's last step.
    LastStep,
    /// A stop rule of the lesson that is met at the latest step.
    Rule(StopRule),
    Diverged(Diverged),
}

/// A step that overflowed; the training is in the state before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// Number of the step, counted from 1.
    pub step: usize,
    pub overflow: Overflow,
    /// The source of an overflow of the loss; `None` for other overflows, which name their tensor.
    pub origin: Option<Origin>,
}

impl Diverged {
    /// Returns whether the initial numbers of the lesson are the cause, because no step has changed them yet.
    pub fn is_at_start(&self) -> bool {
        self.step == 1 && !matches!(self.overflow, Overflow::Parameter(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The first tensor of the batch's forward pass that is not finite.
    Activation(ActivationId),
    /// The parameter tensor with the largest norm, if all tensors of the pass are finite.
    Largest(TensorId),
}

/// The first quantity of a step, in the order of computation, that is not finite or whose square would overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    Loss,
    Gradient(TensorId),
    /// A parameter after the update.
    Parameter(TensorId),
}

/// Returns whether a rule is met at the last step of the log.
pub fn holds(rule: StopRule, log: &TrainingLog) -> bool {
    let Some(last) = log.steps().next_back() else { return false };
    match rule {
        StopRule::LossBelow(limit) => f64::from(last.loss) < limit,
        StopRule::GradientBelow(limit) => f64::from(last.gradient_norm) < limit,
        StopRule::Plateau { steps, by } => {
            let done = log.len();
            // The rule is checked every `steps` steps, so that its cost per step does not depend on `steps`.
            done.is_multiple_of(steps)
                && done >= 2 * steps
                && log.mean_loss(done - 2 * steps, done - steps) - log.mean_loss(done - steps, done) < by
        }
    }
}

/// A tensor of a forward pass, which is displayed by its name in `attune trace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivationId {
    name: &'static str,
    part: OverflowPart,
}

/// The block or head of a tensor, counted from 0 over the whole model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OverflowPart {
    Whole,
    Block(usize),
    Head(usize),
}

impl ActivationId {
    /// Returns true for the input of the first block, which depends on static vectors and positions alone.
    pub fn is_input(self) -> bool {
        matches!(self.name, INPUT | SOURCE)
    }
}

impl fmt::Display for ActivationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            OverflowPart::Whole => f.write_str(self.name),
            OverflowPart::Block(block) => write!(f, "{}[block {block}]", self.name),
            OverflowPart::Head(head) => write!(f, "{}[{head}]", self.name),
        }
    }
}

const INPUT: &str = "X";
const SOURCE: &str = "X[source]";

/// Returns the first tensor, in the order of computation, with an entry that is not finite. A score of −∞ is allowed if
/// the mask hides the key or the edge is removed.
pub fn first_not_finite(
    architecture: &Architecture,
    interventions: &Interventions<f32>,
    activations: &Activations<f32>,
    logits: &Matrix<f32>,
) -> Option<ActivationId> {
    let whole = |name, matrix| (!is_finite(matrix)).then_some(ActivationId { name, part: OverflowPart::Whole });
    let source = || whole(SOURCE, &activations.source.as_ref()?.input);
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
    for ((b, _), block) in architecture.numbered_blocks().zip(&activations.blocks) {
        for (h, head) in (heads_before..).zip(&block.heads) {
            let scores = &head.scores;
            let sight = interventions.sight(architecture, b);
            let is_out = |query, key| interventions.edges.contains(&Edge { head: h, query, key });
            let is_right = |q: usize, k: usize| scores.get(q, k).is_finite() || !sight.sees(q, k) || is_out(q, k);
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
                return Some(ActivationId { name, part: OverflowPart::Head(h) });
            }
        }
        heads_before += block.heads.len();
        let tensors = [("summed", &block.summed), ("output", &block.output)];
        if let Some((name, _)) = tensors.into_iter().find(|(_, matrix)| !is_finite(matrix)) {
            return Some(ActivationId { name, part: OverflowPart::Block(b) });
        }
    }
    None
}

fn is_finite(matrix: &Matrix<f32>) -> bool {
    matrix.flat().iter().all(|x| x.is_finite())
}

/// Returns the tensor with the largest norm.
pub fn largest(parameters: &Parameters<f32>) -> Option<TensorId> {
    let norms = TensorNorms::of(parameters).by_tensor;
    let tensors = parameters.specs().iter().map(|spec| spec.id).zip(norms);
    tensors.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(tensor, _)| tensor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::training::log::StepRecord;
    use attune_engine::numerics::params::TensorName;

    /// Returns the steps, counted from 1, at which the rule is met; each record is a loss and its gradient norm.
    fn holding(rule: StopRule, records: &[(f32, f32)]) -> Vec<usize> {
        let mut log = TrainingLog::new(0);
        assert!(!holds(rule, &log), "before the first step nothing holds");
        let mut at = Vec::new();
        for &(loss, gradient_norm) in records {
            log.push(&StepRecord { loss, gradient_norm, by_tensor: &[] });
            if holds(rule, &log) {
                at.push(log.len());
            }
        }
        at
    }

    #[test]
    fn below_means_below() {
        let records = [(2.0, 9.0), (1.0, 0.5), (0.5, 1.0), (1.5, 0.25)];
        assert_eq!(holding(StopRule::LossBelow(1.0), &records), [3]);
        assert_eq!(holding(StopRule::GradientBelow(0.5), &records), [4]);
    }

    #[test]
    fn a_plateau_is_a_mean_that_no_longer_falls() {
        let losses = [4.0, 2.0, 3.0, 1.0, 2.0, 1.5, 9.0, 9.0].map(|loss| (loss, 1.0));
        // The means of two losses each are 3, 2, 1.75 and 9.
        let plateau = |by| holding(StopRule::Plateau { steps: 2, by }, &losses);
        assert_eq!(plateau(0.0), [8]);
        assert_eq!(plateau(0.25), [8], "a fall by just so much is enough");
        assert_eq!(plateau(0.5), [6, 8]);
        assert_eq!(plateau(2.0), [4, 6, 8]);
    }

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
