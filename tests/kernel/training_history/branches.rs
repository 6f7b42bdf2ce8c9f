//! Branches from a past step, and changes on the way.

use attune_core::kernel::Command;
use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::training::run::CHANGED_ENTRIES_MAX;
use attune_core::kernel::training::stop::Stopped;
use attune_view::view_model::training::TrainingModel;

use super::{apply, log, long, model, notice, run, shown, turn, weight};
use crate::common::commands::{BRANCH, PLAY, RESET, SHOW_LATEST, learning_rate, scrub, step};

#[test]
fn a_branch_goes_its_own_way_and_the_line_it_left_can_be_undone_to() {
    let mut kernel = run(&long(), &[PLAY]);
    let (end, whole) = (shown(&kernel), log(&kernel));
    apply(&mut kernel, scrub(333));
    let at = shown(&kernel);
    apply(&mut kernel, BRANCH);
    let branched = model(&kernel).training;
    assert_eq!((branched.progress.done, branched.look, branched.stopped), (333, None, Some(Stopped::Paused)));
    assert!(shown(&kernel) == at && whole.starts_with(&log(&kernel)));

    // Unchanged, it is the same training once more; with another learning rate it is another.
    apply(&mut kernel, PLAY);
    assert!(shown(&kernel) == end && log(&kernel) == whole);
    apply(&mut kernel, Command::Undo);
    apply(&mut kernel, learning_rate(0.05));
    apply(&mut kernel, PLAY);
    assert!(shown(&kernel) != end && log(&kernel).len() == whole.len());
    let other = shown(&kernel);
    apply(&mut kernel, scrub(333));
    assert_eq!(model(&kernel).training.learning_rate, 0.05);
    apply(&mut kernel, SHOW_LATEST);

    let labels =
        ["look at another step", "training", "learning rate 0.05", "branch from step 333", "look at another step"];
    for label in labels {
        assert_eq!(kernel.snapshot().history.undo.as_deref(), Some(label));
        apply(&mut kernel, Command::Undo);
    }
    assert!(shown(&kernel) == end && log(&kernel) == whole);
    for _ in labels {
        apply(&mut kernel, Command::Redo);
    }
    assert!(shown(&kernel) == other);
    // Each line is recalled as it was.
    let straight = run(&long(), &[step(333), learning_rate(0.05), step(100)]);
    apply(&mut kernel, scrub(433));
    assert!(shown(&kernel) == shown(&straight));
}

#[test]
fn weights_turned_at_a_past_step_go_with_the_branch() {
    let mut kernel = run(&long(), &[step(200), scrub(50), turn(3.0)]);
    assert_eq!(weight(&kernel), 3.0);
    assert_ne!(model(&kernel).trained, model(&kernel).parameters);
    // Left behind by a look elsewhere, and brought back by undo.
    apply(&mut kernel, scrub(60));
    assert_ne!(weight(&kernel), 3.0);
    apply(&mut kernel, Command::Undo);
    assert_eq!((weight(&kernel), model(&kernel).training.step_shown()), (3.0, 50));
    apply(&mut kernel, BRANCH);
    assert_eq!((weight(&kernel), kernel.steps_done()), (3.0, 50));
    apply(&mut kernel, step(10));
    let branched = shown(&kernel);
    let straight = run(&long(), &[step(50), turn(3.0), step(10)]);
    assert!(branched == shown(&straight));
}

#[test]
fn playing_goes_on_from_the_latest_step() {
    let mut kernel = run(&long(), &[step(100), turn(0.5), scrub(40), turn(9.0)]);
    apply(&mut kernel, step(20));
    let straight = run(&long(), &[step(100), turn(0.5), step(20)]);
    assert!(shown(&kernel) == shown(&straight), "nothing of the look back is in it");
    apply(&mut kernel, Command::Undo);
    assert_eq!((model(&kernel).training.step_shown(), weight(&kernel)), (40, 9.0));

    // And a look back stops the training.
    kernel.apply(PLAY);
    kernel.advance();
    kernel.apply(scrub(3));
    let training = model(&kernel).training;
    assert!(!training.playing && training.progress.done > 100 && training.step_shown() == 3);
    let said = TrainingModel::of(&kernel.snapshot());
    let done = kernel.steps_done();
    assert_eq!((said.shown, said.status), (Some(3), format!("looking back at step 3; training is at step {done}")));
}

#[test]
fn changes_on_the_way_are_bounded_too() {
    let mut kernel = run(&long(), &[]);
    kernel.apply(PLAY);
    (0..CHANGED_ENTRIES_MAX).for_each(|i| kernel.apply(turn(1.0 + (i % 2) as f32)));
    assert_eq!(notice(&kernel), None);
    let before = (shown(&kernel), kernel.snapshot().history);
    let refused = [turn(5.0), learning_rate(0.5)];
    for command in refused {
        kernel.apply(command);
        assert!(notice(&kernel).expect("a notice").contains("at most 65536 changes"));
        assert!((shown(&kernel), kernel.snapshot().history) == before && model(&kernel).training.playing);
    }
    apply(&mut kernel, RESET);
    apply(&mut kernel, learning_rate(0.5));
    assert_eq!(notice(&kernel), None);
}

#[test]
fn looks_along_a_slider_undo_as_one() {
    let mut kernel = run(&long(), &[step(50)]);
    for step in [40, 30, 20, 50, 10] {
        apply(&mut kernel, scrub(step));
    }
    for rate in [0.02, 0.03, 0.04] {
        apply(&mut kernel, learning_rate(rate));
        assert!(notice(&kernel).expect("a notice").contains("branch from that step"), "a past step has had its rate");
    }
    apply(&mut kernel, Command::Undo);
    assert_eq!(model(&kernel).training.look, None);
    for rate in [0.02, 0.03, 0.04] {
        apply(&mut kernel, learning_rate(rate));
    }
    assert_eq!(model(&kernel).training.learning_rate, 0.04);
    apply(&mut kernel, Command::Undo);
    assert_eq!(model(&kernel).training.learning_rate, 0.01);
    assert_eq!(kernel.snapshot().history.undo.as_deref(), Some("training by 50"));
}

#[test]
fn what_is_so_already_leaves_no_trace() {
    let mut kernel = run(&long(), &[step(5)]);
    let before = kernel.snapshot().history;
    for command in [scrub(5), SHOW_LATEST, Command::Training(TrainingCommand::Compare(None)), learning_rate(0.01)] {
        apply(&mut kernel, command.clone());
        assert_eq!((notice(&kernel), kernel.snapshot().history), (None, before.clone()), "{command:?}");
    }
}
