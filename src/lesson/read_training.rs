//! Reads how the model is trained: the optimiser and when to stop.

use crate::numerics::optimiser::Method;

use super::decode::{list, number, positive, whole};
use super::limits::{LEARNING_RATE_MAX, STEPS_MAX, STOP_RULES_MAX};
use super::record::{Record, fields};
use super::schema::StopRule;
use super::source::Node;

/// The values that [`is_learning_rate`] takes, in words.
pub(super) const LEARNING_RATE: &str = "a number above 0 and at most 1";

pub(super) fn is_learning_rate(x: f64) -> bool {
    x > 0.0 && x <= LEARNING_RATE_MAX
}

pub(super) fn read_optimiser(node: Node<'_>) -> Option<Method> {
    let mut record = Record::open(node, &["Adam", "Sgd"])?;
    let method = match record.name {
        "Sgd" => fields! { record => Method::Sgd {
            momentum: number(|x| (0.0..1.0).contains(&x), "a number from 0 to below 1"), or 0.0;
        } },
        _ => Some(Method::ADAM),
    };
    record.finish();
    method
}

pub(super) fn read_stop(node: Node<'_>) -> Option<Vec<StopRule>> {
    list(node, STOP_RULES_MAX, read_stop_rule)
}

fn read_stop_rule(node: Node<'_>) -> Option<StopRule> {
    let mut record = Record::open(node, &["LossBelow", "GradientBelow", "Plateau"])?;
    let rule = match record.name {
        "LossBelow" => record.take_item("number", positive).map(StopRule::LossBelow),
        "GradientBelow" => record.take_item("number", positive).map(StopRule::GradientBelow),
        _ => fields! { record => StopRule::Plateau {
            steps: whole(1..=STEPS_MAX);
            by: number(|x| x >= 0.0, "a number from 0");
        } },
    };
    record.finish();
    rule
}
