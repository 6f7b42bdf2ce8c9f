//! A step looked at is the step that was, at a bounded cost.

use std::sync::Arc;

use attune_core::kernel::command::Reference;
use attune_core::kernel::snapshot::LookSnapshot;
use attune_core::kernel::training::run::{CHECKPOINT_BYTES_MAX, CHECKPOINTS_MAX};
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Recipe;
use attune_core::lesson::schema::StaticEmbedding;
use attune_engine::numerics::optimiser::Method;

use super::{LONG, apply, lesson, log, long, model, run, shown, turn};
use crate::common::commands::{BRANCH, PLAY, SHOW_LATEST, compare, learning_rate, retraining, scrub, step};

/// A training with changes on its way, and what was shown after its steps.
fn eventful() -> (Kernel, Vec<(usize, Vec<u32>)>) {
    let mut kernel = run(&long(), &[]);
    let mut seen = vec![(0, shown(&kernel))];
    let steps = [
        (step(100), None),
        (step(33), Some(turn(0.7))),
        (step(1), Some(learning_rate(0.003))),
        (step(400), Some(learning_rate(0.02))),
        (step(1), Some(turn(-0.0))),
        (step(301), Some(turn(2.0))),
        (PLAY, None),
    ];
    for (steps, change) in steps {
        if let Some(change) = change {
            apply(&mut kernel, change);
            if let Some((step, state)) = seen.last_mut() {
                assert_eq!(*step, kernel.steps_done());
                *state = shown(&kernel);
            }
        }
        apply(&mut kernel, steps);
        seen.push((kernel.steps_done(), shown(&kernel)));
    }
    (kernel, seen)
}

#[test]
fn a_step_looked_at_is_what_it_was_bit_for_bit() {
    let (mut kernel, seen) = eventful();
    let before = log(&kernel);
    let kept = model(&kernel).training.checkpoints.steps;
    assert!(seen.iter().any(|(step, _)| !kept.contains(step)), "some must be recalled");
    // To and fro.
    for (step, state) in seen.iter().rev().chain(&seen) {
        apply(&mut kernel, scrub(*step));
        let model = model(&kernel);
        assert_eq!(model.training.step_shown(), *step);
        assert_eq!(model.training.look.is_none(), *step == LONG, "the latest step is no look back");
        assert!(shown(&kernel) == *state, "step {step} is not what it was");
        assert!(model.training.progress.done == LONG && log(&kernel) == before, "the later steps stay");
    }
    apply(&mut kernel, scrub(7));
    apply(&mut kernel, SHOW_LATEST);
    assert!(shown(&kernel) == seen[seen.len() - 1].1);
}

#[test]
fn a_change_while_training_plays_is_done_again() {
    // A few steps first, so that no checkpoint lies between a change and what is seen of it.
    let mut kernel = run(&long(), &[step(11)]);
    kernel.apply(PLAY);
    let mut seen = Vec::new();
    for change in [turn(0.4), learning_rate(0.05), turn(0.5), turn(0.6), learning_rate(0.01)] {
        (0..9).for_each(|_| kernel.advance());
        kernel.apply(change);
        assert!(model(&kernel).training.playing);
        let changed_at = kernel.steps_done();
        kernel.advance();
        seen.push((changed_at, kernel.steps_done(), shown(&kernel)));
    }
    apply(&mut kernel, PLAY);
    let kept = model(&kernel).training.checkpoints.steps;
    for (changed_at, step, state) in &seen {
        assert!(!kept.iter().any(|kept| (changed_at + 1..=*step).contains(kept)), "{changed_at} to {step}");
        apply(&mut kernel, scrub(*step));
        assert!(shown(&kernel) == *state, "step {step} is not what it was");
    }
}

#[test]
fn the_same_commands_give_the_same_history() {
    let commands = [
        step(300),
        scrub(100),
        BRANCH,
        learning_rate(0.03),
        step(200),
        Command::Undo,
        scrub(31),
        Command::Redo,
        compare(Reference::Step(77)),
    ];
    let (a, b) = (run(&long(), &commands), run(&long(), &commands));
    assert!(shown(&a) == shown(&b) && log(&a) == log(&b));
    assert_eq!(model(&a).training.checkpoints, model(&b).training.checkpoints);
    let difference = |kernel| model(kernel).comparison.expect("a comparison").difference;
    assert_eq!(difference(&a), difference(&b));
}

#[test]
fn recalling_goes_in_pieces_over_true_steps() {
    let mut kernel = run(&long(), &[PLAY]);
    let kept = model(&kernel).training.checkpoints.steps;
    let (first, second) = (kept[20], kept[21]);
    let stride = second - first;
    assert!(stride > 1, "no gap to recall");
    // Undo and redo of the training leave the checkpoints. A model that was replaced comes back without them, and a
    // long way is to go.
    apply(&mut kernel, Command::Undo);
    apply(&mut kernel, Command::Redo);
    assert_eq!(model(&kernel).training.checkpoints.steps, kept);
    apply(&mut kernel, retraining(Recipe { seed: Some(11), ..Recipe::default() }));
    apply(&mut kernel, Command::Undo);
    assert_eq!(model(&kernel).training.checkpoints.steps, [0]);
    kernel.apply(scrub(second + 1));
    assert!(kernel.is_busy());
    let mut last = 0;
    while kernel.is_busy() {
        let LookSnapshot { step, target } = model(&kernel).training.look.expect("a look back");
        assert!(step > last && step - last <= 8 && target == second + 1, "{last} to {step} of {target}");
        last = step;
        kernel.advance();
    }
    let filled = model(&kernel).training.checkpoints.steps;
    assert!(kept[..=21].iter().all(|step| filled.contains(step)), "and the gap is filled");
    let fresh = run(&long(), &[step(second + 1)]);
    assert!(shown(&kernel) == shown(&fresh));
}

#[test]
fn memory_is_bounded_however_long_training_is() {
    for steps in [CHECKPOINTS_MAX - 1, 4 * CHECKPOINTS_MAX, 5 * CHECKPOINTS_MAX + 3] {
        let kernel = run(&lesson(|lesson| lesson.model.schedule.steps = steps), &[PLAY]);
        let checkpoints = model(&kernel).training.checkpoints;
        assert!(checkpoints.steps.len() <= CHECKPOINTS_MAX && checkpoints.bytes <= CHECKPOINT_BYTES_MAX);
        let bytes = 3 * 4 * model(&kernel).parameters.len();
        assert!(checkpoints.bytes >= checkpoints.steps.len() * bytes, "parameters and two moments are counted");
        assert_eq!(checkpoints.steps[0], 0);
        let stride = checkpoints.steps[1];
        assert!(checkpoints.steps.iter().enumerate().all(|(i, step)| *step == i * stride));
        assert!(stride < 2 * steps.div_ceil(CHECKPOINTS_MAX) + 1, "{stride} for {steps} steps");
    }
}

#[test]
fn sgd_trains_too_and_is_recalled_with_its_velocity() {
    for momentum in [0.0, 0.9] {
        let lesson = lesson(|lesson| {
            let StaticEmbedding::Word2Vec(config) = &mut lesson.static_embedding else { panic!("word2vec") };
            config.epochs = 40;
            lesson.model.schedule.steps = 600;
            // With momentum a gradient acts for 1 / (1 − momentum) steps.
            lesson.model.schedule.learning_rate = 0.1 * (1.0 - momentum);
            lesson.model.schedule.optimiser = Method::Sgd { momentum };
        });
        let mut kernel = run(&lesson, &[step(401)]);
        let at = shown(&kernel);
        apply(&mut kernel, PLAY);
        let log = model(&kernel).training.log;
        assert!(log.mean_loss(550, 600) < 0.8 * log.mean_loss(0, 50), "momentum {momentum}");
        apply(&mut kernel, scrub(401));
        assert!(shown(&kernel) == at, "momentum {momentum}");
    }
}

#[test]
fn a_snapshot_shares_what_it_shows() {
    let kernel = run(&long(), &[step(600)]);
    let (a, b) = (model(&kernel), model(&kernel));
    assert!(Arc::ptr_eq(&a.parameters, &b.parameters) && Arc::ptr_eq(&a.parameters, &a.trained));
    assert!(a.training.log.is_same(&b.training.log));
}
