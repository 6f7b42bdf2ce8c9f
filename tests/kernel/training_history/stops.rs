//! Reasons for training to stop: rules, and numbers that overflow.

use attune_core::kernel::training::stop::{Overflow, Stopped};
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::lesson::schema::StopRule;
use attune_engine::numerics::optimiser::Method;
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::training::{TrainingModel, TrainingStage};

use super::{LONG, apply, lesson, log, long, model, run, shown};
use crate::common::commands::{BRANCH, PLAY, learning_rate, scrub, set, step, train_to};

#[test]
fn stop_rules_stop_at_their_step_and_only_once() {
    let plain = run(&long(), &[PLAY]);
    let losses: Vec<f32> = model(&plain).training.log.losses().collect();
    let limit = 1.45;
    let first = losses.iter().position(|loss| f64::from(*loss) < limit).expect("it learns") + 1;
    assert!(first > 1 && first < LONG);
    let rule = StopRule::LossBelow(limit);
    let ruled = lesson(|lesson| {
        lesson.model.schedule.steps = LONG;
        lesson.model.schedule.stop = vec![StopRule::GradientBelow(1e-12), rule];
    });
    let mut kernel = run(&ruled, &[PLAY]);
    let training = model(&kernel).training;
    assert_eq!((training.progress.done, training.stopped), (first, Some(Stopped::Rule(rule))));
    let said = TrainingModel::of(&kernel.snapshot());
    assert_eq!((said.stage, said.status.as_str()), (TrainingStage::Stopped, "stopped: the loss is below 1.45"));
    // Asked for a step, it passes the rule, and is the same training.
    let mut through = run(&ruled, &[train_to(Some(first + 2))]);
    assert_eq!((through.steps_done(), model(&through).training.stopped), (first + 2, Some(Stopped::Paused)));
    // Asked for a step that is behind it, it pauses while it plays, too.
    through.apply(PLAY);
    through.apply(train_to(Some(first)));
    assert_eq!((through.steps_done(), model(&through).training.playing), (first + 2, false));
    apply(&mut through, train_to(None));
    assert!(log(&through) == log(&plain));
    // Asked to play on, it does; a branch from before the stop is stopped again.
    apply(&mut kernel, PLAY);
    assert_eq!(model(&kernel).training.stopped, Some(Stopped::LastStep));
    assert!(log(&kernel) == log(&plain));
    apply(&mut kernel, scrub(first - 1));
    apply(&mut kernel, BRANCH);
    apply(&mut kernel, PLAY);
    assert_eq!((kernel.steps_done(), model(&kernel).training.stopped), (first, Some(Stopped::Rule(rule))));

    // A branch at the stop stands there for the same reason, opened again too.
    apply(&mut kernel, PLAY);
    apply(&mut kernel, scrub(first));
    apply(&mut kernel, BRANCH);
    let mut opened = Kernel::open(ruled, Some(Saved::of(&kernel.snapshot())));
    opened.settle();
    for kernel in [&kernel, &opened] {
        assert_eq!((kernel.steps_done(), model(kernel).training.stopped), (first, Some(Stopped::Rule(rule))));
    }

    const BY: f64 = 0.01;
    let plateau = StopRule::Plateau { steps: 50, by: BY };
    let mean =
        |block: usize| losses[50 * block..50 * (block + 1)].iter().map(|loss| f64::from(*loss)).sum::<f64>() / 50.0;
    let block = (1..LONG / 50).find(|block| mean(block - 1) - mean(*block) < BY).expect("a plateau");
    let kernel = run(
        &lesson(|lesson| {
            lesson.model.schedule.steps = LONG;
            lesson.model.schedule.stop = vec![plateau];
        }),
        &[PLAY],
    );
    assert_eq!(
        (kernel.steps_done(), model(&kernel).training.stopped),
        (50 * (block + 1), Some(Stopped::Rule(plateau)))
    );
}

/// The training stands at its last good step, says what overflowed where, and can go on once that is mended.
#[track_caller]
fn check_divergence(kernel: &mut Kernel, step: usize, overflow: Overflow, words: &str) {
    apply(kernel, PLAY);
    let training = model(kernel).training;
    let diverged = training.diverged().expect("it diverges");
    assert_eq!((diverged.step, diverged.overflow), (step, overflow));
    assert_eq!((training.progress.done, training.log.len(), training.playing), (step - 1, step - 1, false));
    let said = TrainingModel::of(&kernel.snapshot());
    assert_eq!((said.stage, said.status), (TrainingStage::Diverged, format!("{words}; the last good step is kept")));
    assert!(model(kernel).parameters.flat().iter().all(|x| x.is_finite()));
    // The same step diverges again: the state is really the one before it.
    let before = shown(kernel);
    apply(kernel, PLAY);
    assert_eq!(model(kernel).training.diverged(), Some(diverged));
    assert!(shown(kernel) == before);
}

#[test]
fn a_learning_rate_that_explodes_names_the_tensor() {
    let exploding = |rate: f64| {
        lesson(|lesson| {
            lesson.model.schedule.optimiser = Method::Sgd { momentum: 0.0 };
            lesson.model.schedule.learning_rate = rate;
        })
    };
    let mut kernel = run(&exploding(1e45), &[]);
    let start = shown(&kernel);
    let positions = Overflow::Parameter(TensorName::Positions.into());
    check_divergence(&mut kernel, 1, positions, "training diverged at step 1: an entry of P is no longer finite");
    assert!(shown(&kernel) == start);
    apply(&mut kernel, learning_rate(0.1));
    assert_eq!(model(&kernel).training.stopped, Some(Stopped::Paused));
    apply(&mut kernel, PLAY);
    assert_eq!(model(&kernel).training.stopped, Some(Stopped::LastStep));

    let mut kernel = run(&exploding(1e30), &[]);
    check_divergence(&mut kernel, 2, Overflow::Loss, "training diverged at step 2: the loss is no longer finite");
}

#[test]
fn a_loss_that_overflows_can_be_undone() {
    let mut kernel = run(&long(), &[step(601)]);
    let last_good = shown(&kernel);
    for col in 0..6 {
        let huge = set(TensorName::OutputBias, 0, col, f32::MAX);
        apply(&mut kernel, huge);
    }
    check_divergence(&mut kernel, 602, Overflow::Loss, "training diverged at step 602: the loss is no longer finite");
    for _ in 0..8 {
        apply(&mut kernel, Command::Undo);
    }
    assert!(shown(&kernel) == last_good);
}

/// The update has spoilt the state by then; it is run again from the checkpoint before, with all that
/// was changed since.
#[test]
fn a_parameter_that_overflows_leaves_the_last_good_step() {
    const DECAY: f64 = 2.5;
    // Its vector is trained, but no sentence that is short enough has it: it may be of any size.
    const UNREAD: &str = "while";
    let lesson = lesson(|lesson| {
        (lesson.model.schedule.steps, lesson.model.schedule.weight_decay) = (LONG, DECAY);
        (lesson.model.architecture.train_embedding, lesson.model.architecture.max_tokens) = (true, 5);
        lesson.sentences.retain(|sentence| sentence.len() <= 5);
    });
    let mut kernel = run(&lesson, &[step(601), learning_rate(0.02), step(3)]);
    assert_eq!(model(&kernel).training.checkpoints.steps.last(), Some(&600), "there are steps to run again");
    let space = kernel.snapshot().space.expect("a space");
    let row = space.vocabulary.iter().position(|word| word == UNREAD).expect("a word of the corpus");
    let tensor = TensorName::Embedding.into();
    let near_the_end = f32::MAX / 1.2;
    apply(&mut kernel, set(tensor, row, 0, near_the_end));
    // From here on, a step multiplies every parameter by 1 − 2.5.
    apply(&mut kernel, learning_rate(1.0));
    let last_good = shown(&kernel);
    let words = "training diverged at step 605: an entry of E is no longer finite";
    check_divergence(&mut kernel, 605, Overflow::Parameter(tensor), words);
    assert!(shown(&kernel) == last_good, "it is not the state before the step");
    assert_eq!(model(&kernel).parameters.matrix(tensor)[(row, 0)], near_the_end);
    apply(&mut kernel, learning_rate(0.01));
    apply(&mut kernel, step(10));
    assert_eq!(kernel.steps_done(), 614, "mended, it goes on");
}

#[test]
fn a_gradient_that_overflows_is_named() {
    let mut kernel = run(&long(), &[step(3)]);
    // Large enough for its square to overflow on the way back to W_V, not for the loss.
    apply(&mut kernel, set(TensorName::OutputWeights, 0, 0, 1e25));
    let gradient = Overflow::Gradient(TensorName::ValueBias.into());
    check_divergence(&mut kernel, 4, gradient, "training diverged at step 4: the gradient of b_V overflows");
}
