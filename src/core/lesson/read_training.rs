//! Reads how the model is trained: how long, in what steps, by which optimiser, and when to stop.

use std::ops::RangeInclusive;

use attune_engine::numerics::optimiser::Method;

use super::decode::{list, number, positive, share, whole};
use super::limits::{BATCH_MAX, LEARNING_RATE_MAX, STEPS_MAX, STOP_RULES_MAX};
use super::record::{Record, complete, fields};
use super::schema::StopRule;
use super::source::Node;

/// How a model is trained, from wherever it starts.
pub(super) struct Schedule {
    pub steps: usize,
    pub batch: usize,
    pub learning_rate: f64,
    pub weight_decay: f64,
    pub optimiser: Method,
    pub stop: Vec<StopRule>,
}

/// Values where a lesson says nothing.
pub(super) struct Usual {
    pub steps: usize,
    pub batch: usize,
    pub learning_rate: f64,
}

pub(super) fn read_schedule(record: &mut Record<'_>, range: RangeInclusive<usize>, usual: &Usual) -> Option<Schedule> {
    fields! { record;
        steps: whole(range), or usual.steps;
        batch: whole(1..=BATCH_MAX), or usual.batch;
        learning_rate: number(is_learning_rate, LEARNING_RATE), or usual.learning_rate;
        weight_decay: share, or 0.0;
        optimiser: read_optimiser, or Method::ADAM;
        stop: read_stop, or Vec::new();
    }
    complete!(Schedule { steps, batch, learning_rate, weight_decay, optimiser, stop })
}

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
