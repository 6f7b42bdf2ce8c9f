//! A training step allocates nothing.

use std::sync::Arc;

use attune_core::kernel::static_embedding::SpaceTrainer;
use attune_core::kernel::training::log::TrainingLog;
use attune_core::kernel::training::trainer::Trainer;

use crate::common::top::at;
use crate::counting::allocations;

/// A lesson of each objective and form.
const LESSONS: [&str; 6] = [
    "lessons/apple.ron",
    "tests/fixtures/forms/label.ron",
    "tests/fixtures/forms/next_word.ron",
    "tests/fixtures/forms/reversal.ron",
    "tests/fixtures/forms/translation.ron",
    "tests/fixtures/forms/custom_mask.ron",
];

#[test]
fn a_training_step_allocates_nothing() {
    for lesson in LESSONS {
        check(lesson);
    }
    assert!(allocations(|| drop(vec![0u8; 64])) > 0, "the counter counts");
}

fn check(path: &str) {
    let lesson = Arc::new(attune_core::lesson::read(&at(path)).expect("the lesson is valid"));
    let mut embedding = SpaceTrainer::new(&lesson);
    while !embedding.advance(&lesson) {}
    let space = embedding.finish(&lesson).expect("finite");
    let trainer = Trainer::new(&lesson, &space, embedding.examples());
    let (mut room, mut state) = (trainer.room(), trainer.start());
    let mut log = TrainingLog::new(state.parameters.specs().len());
    // The first steps fill the matrix product's packing buffers, once per thread.
    for _ in 0..20 {
        log.push(&trainer.step(&mut room, &mut state).expect("finite"));
    }
    let made = allocations(|| {
        for _ in 0..50 {
            log.push(&trainer.step(&mut room, &mut state).expect("finite"));
        }
    });
    assert_eq!(made, 0, "{path}: allocations in 50 training steps");
}
