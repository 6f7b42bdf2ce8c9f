//! Training as data: every step can be looked at exactly, branched from and compared, at a bounded cost.

mod branches;
mod recall;
mod records;
mod stops;

use std::sync::Arc;

use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Lesson;
use attune_engine::numerics::params::TensorName;

use crate::common::commands::set;
use crate::common::lessons::{apply, changed as lesson, model, notice};

/// The small lesson with more steps, so that not every one has a checkpoint.
const LONG: usize = 1200;

fn long() -> Arc<Lesson> {
    lesson(|lesson| lesson.model.schedule.steps = LONG)
}

fn run(lesson: &Arc<Lesson>, commands: &[Command]) -> Kernel {
    let mut kernel = Kernel::embedded(lesson.clone());
    commands.iter().for_each(|command| apply(&mut kernel, command.clone()));
    kernel
}

/// All that is shown of the model, bit for bit.
fn shown(kernel: &Kernel) -> Vec<u32> {
    let model = model(kernel);
    let sentence = &model.sentence;
    let numbers = [model.parameters.flat(), sentence.activations.output.flat(), sentence.end.flat()].concat();
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// The whole log, bit for bit.
fn log(kernel: &Kernel) -> Vec<u32> {
    let log = model(kernel).training.log;
    let rows = log.steps().flat_map(|step| [&[step.loss, step.gradient_norm], step.by_tensor].concat());
    rows.map(f32::to_bits).collect()
}

/// Sets an entry of `W_Q`.
fn turn(value: f32) -> Command {
    set(TensorName::QueryWeights, 0, 1, value)
}

fn weight(kernel: &Kernel) -> f32 {
    model(kernel).parameters.matrix(TensorName::QueryWeights)[(0, 1)]
}
