//! Why training stands still.

use attune_engine::numerics::params::TensorId;

use crate::kernel::training::log::TrainingLog;
use crate::kernel::training::overflow::ActivationId;
use crate::lesson::schema::StopRule;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stopped {
    /// Nobody asked it to go on.
    Paused,
    /// The last step that the lesson asks for is done.
    LastStep,
    /// The lesson's rule holds since the step just done.
    Rule(StopRule),
    Diverged(Diverged),
}

/// A step could not be done; the training is as before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// The step, counted from 1.
    pub step: usize,
    pub overflow: Overflow,
    /// The source of an overflow of the loss; `None` for the others, which name their tensor.
    pub origin: Option<Origin>,
}

impl Diverged {
    /// The numbers that the lesson begins with are to blame: no step has changed them yet.
    pub fn is_at_start(&self) -> bool {
        self.step == 1 && !matches!(self.overflow, Overflow::Parameter(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The first tensor of the batch's forward pass that is not finite.
    Activation(ActivationId),
    /// All of them are finite: the tensor of parameters with the largest norm.
    Largest(TensorId),
}

/// The first quantity of a step, in the order of the computation, that is not finite or too large to be squared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    Loss,
    Gradient(TensorId),
    /// After the update.
    Parameter(TensorId),
}

/// Whether the rule holds at the last step of the log.
pub fn holds(rule: StopRule, log: &TrainingLog) -> bool {
    let Some(last) = log.steps().next_back() else { return false };
    match rule {
        StopRule::LossBelow(limit) => f64::from(last.loss) < limit,
        StopRule::GradientBelow(limit) => f64::from(last.gradient_norm) < limit,
        StopRule::Plateau { steps, by } => {
            let done = log.len();
            // Looked at every `steps` steps, it costs as much a step however long it is.
            done.is_multiple_of(steps)
                && done >= 2 * steps
                && log.mean_loss(done - 2 * steps, done - steps) - log.mean_loss(done - steps, done) < by
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::training::log::StepRecord;

    /// The steps, counted from 1, at which the rule holds; each record is a loss with its gradient's norm.
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
        // Means of two: 3, 2, 1.75, 9.
        let plateau = |by| holding(StopRule::Plateau { steps: 2, by }, &losses);
        assert_eq!(plateau(0.0), [8]);
        assert_eq!(plateau(0.25), [8], "a fall by just so much is enough");
        assert_eq!(plateau(0.5), [6, 8]);
        assert_eq!(plateau(2.0), [4, 6, 8]);
    }
}
