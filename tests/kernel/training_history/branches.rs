//! Branches from a past step, and changes on the way.

use attune_core::kernel::Command;
use attune_core::kernel::command::{Reference, TrainingCommand};
use attune_core::kernel::training::run::CHANGED_ENTRIES_MAX;
use attune_core::kernel::training::stop::Stopped;
use attune_view::view_model::training::TrainingModel;

use super::{apply, log, long, model, notice, run, set, shown, weight};

#[test]
fn a_branch_goes_its_own_way_and_the_line_it_left_can_be_undone_to() {
    let mut kernel = run(&long(), &[Command::Training(TrainingCommand::Play)]);
    let (end, whole) = (shown(&kernel), log(&kernel));
    apply(&mut kernel, Command::Training(TrainingCommand::Scrub(333)));
    let at = shown(&kernel);
    apply(&mut kernel, Command::Training(TrainingCommand::Branch));
    let branched = model(&kernel).training;
    assert_eq!((branched.progress.done, branched.look, branched.stopped), (333, None, Some(Stopped::Paused)));
    assert!(shown(&kernel) == at && whole.starts_with(&log(&kernel)));

    // Unchanged, it is the same training once more; with another learning rate it is another.
    apply(&mut kernel, Command::Training(TrainingCommand::Play));
    assert!(shown(&kernel) == end && log(&kernel) == whole);
    apply(&mut kernel, Command::Undo);
    apply(&mut kernel, Command::Training(TrainingCommand::SetLearningRate(0.05)));
    apply(&mut kernel, Command::Training(TrainingCommand::Play));
    assert!(shown(&kernel) != end && log(&kernel).len() == whole.len());
    let other = shown(&kernel);
    apply(&mut kernel, Command::Training(TrainingCommand::Scrub(333)));
    assert_eq!(model(&kernel).training.learning_rate, 0.05);
    apply(&mut kernel, Command::Training(TrainingCommand::ShowLatest));

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
    let straight = run(
        &long(),
        &[
            Command::Training(TrainingCommand::Step(333)),
            Command::Training(TrainingCommand::SetLearningRate(0.05)),
            Command::Training(TrainingCommand::Step(100)),
        ],
    );
    apply(&mut kernel, Command::Training(TrainingCommand::Scrub(433)));
    assert!(shown(&kernel) == shown(&straight));
}

#[test]
fn weights_turned_at_a_past_step_go_with_the_branch() {
    let mut kernel = run(
        &long(),
        &[Command::Training(TrainingCommand::Step(200)), Command::Training(TrainingCommand::Scrub(50)), set(3.0)],
    );
    assert_eq!(weight(&kernel), 3.0);
    assert_ne!(model(&kernel).trained, model(&kernel).parameters);
    // Left behind by a look elsewhere, and brought back by undo.
    apply(&mut kernel, Command::Training(TrainingCommand::Scrub(60)));
    assert_ne!(weight(&kernel), 3.0);
    apply(&mut kernel, Command::Undo);
    assert_eq!((weight(&kernel), model(&kernel).training.step_shown()), (3.0, 50));
    apply(&mut kernel, Command::Training(TrainingCommand::Branch));
    assert_eq!((weight(&kernel), kernel.steps_done()), (3.0, 50));
    apply(&mut kernel, Command::Training(TrainingCommand::Step(10)));
    let branched = shown(&kernel);
    let straight = run(
        &long(),
        &[Command::Training(TrainingCommand::Step(50)), set(3.0), Command::Training(TrainingCommand::Step(10))],
    );
    assert!(branched == shown(&straight));
}

#[test]
fn playing_goes_on_from_the_latest_step() {
    let mut kernel = run(
        &long(),
        &[
            Command::Training(TrainingCommand::Step(100)),
            set(0.5),
            Command::Training(TrainingCommand::Scrub(40)),
            set(9.0),
        ],
    );
    apply(&mut kernel, Command::Training(TrainingCommand::Step(20)));
    let straight = run(
        &long(),
        &[Command::Training(TrainingCommand::Step(100)), set(0.5), Command::Training(TrainingCommand::Step(20))],
    );
    assert!(shown(&kernel) == shown(&straight), "nothing of the look back is in it");
    apply(&mut kernel, Command::Undo);
    assert_eq!((model(&kernel).training.step_shown(), weight(&kernel)), (40, 9.0));

    // And a look back stops the training.
    kernel.apply(Command::Training(TrainingCommand::Play));
    kernel.advance();
    kernel.apply(Command::Training(TrainingCommand::Scrub(3)));
    let training = model(&kernel).training;
    assert!(!training.playing && training.progress.done > 100 && training.step_shown() == 3);
    let said = TrainingModel::of(&kernel.snapshot());
    let done = kernel.steps_done();
    assert_eq!((said.shown, said.status), (Some(3), format!("looking back at step 3; training is at step {done}")));
}

#[test]
fn changes_on_the_way_are_bounded_too() {
    let mut kernel = run(&long(), &[]);
    kernel.apply(Command::Training(TrainingCommand::Play));
    (0..CHANGED_ENTRIES_MAX).for_each(|i| kernel.apply(set(1.0 + (i % 2) as f32)));
    assert_eq!(notice(&kernel), None);
    let before = (shown(&kernel), kernel.snapshot().history);
    let refused = [set(5.0), Command::Training(TrainingCommand::SetLearningRate(0.5))];
    for command in refused {
        kernel.apply(command);
        assert!(notice(&kernel).expect("a notice").contains("at most 65536 changes"));
        assert!((shown(&kernel), kernel.snapshot().history) == before && model(&kernel).training.playing);
    }
    apply(&mut kernel, Command::Training(TrainingCommand::Reset));
    apply(&mut kernel, Command::Training(TrainingCommand::SetLearningRate(0.5)));
    assert_eq!(notice(&kernel), None);
}

#[test]
fn looks_along_a_slider_undo_as_one() {
    let mut kernel = run(&long(), &[Command::Training(TrainingCommand::Step(50))]);
    for step in [40, 30, 20, 50, 10] {
        apply(&mut kernel, Command::Training(TrainingCommand::Scrub(step)));
    }
    for rate in [0.02, 0.03, 0.04] {
        apply(&mut kernel, Command::Training(TrainingCommand::SetLearningRate(rate)));
        assert!(notice(&kernel).expect("a notice").contains("branch from that step"), "a past step has had its rate");
    }
    apply(&mut kernel, Command::Undo);
    assert_eq!(model(&kernel).training.look, None);
    for rate in [0.02, 0.03, 0.04] {
        apply(&mut kernel, Command::Training(TrainingCommand::SetLearningRate(rate)));
    }
    assert_eq!(model(&kernel).training.learning_rate, 0.04);
    apply(&mut kernel, Command::Undo);
    assert_eq!(model(&kernel).training.learning_rate, 0.01);
    assert_eq!(kernel.snapshot().history.undo.as_deref(), Some("training by 50"));
}

#[test]
fn what_cannot_be_done_with_the_past_is_said() {
    let mut kernel = run(&long(), &[Command::Training(TrainingCommand::Step(5))]);
    let rate = |rate| {
        (
            Command::Training(TrainingCommand::SetLearningRate(rate)),
            format!("a learning rate must be above 0 and at most 1, not {rate}"),
        )
    };
    let cases = [
        (Command::Training(TrainingCommand::Scrub(6)), "there is no step 6 yet; training has done 5 so far".to_owned()),
        (
            Command::Training(TrainingCommand::Compare(Some(Reference::Step(6)))),
            "there is no step 6 yet; training has done 5 so far".to_owned(),
        ),
        (Command::Training(TrainingCommand::Branch), "this is already the latest step".to_owned()),
        rate(0.0),
        rate(1.5),
        rate(-1.0),
        rate(f64::NAN),
        rate(f64::INFINITY),
    ];
    let before = (shown(&kernel), kernel.snapshot().history);
    for (command, words) in cases {
        apply(&mut kernel, command);
        assert_eq!(notice(&kernel), Some(words));
        assert!((shown(&kernel), kernel.snapshot().history) == before);
    }
    for command in [
        Command::Training(TrainingCommand::Scrub(5)),
        Command::Training(TrainingCommand::ShowLatest),
        Command::Training(TrainingCommand::Compare(None)),
        Command::Training(TrainingCommand::SetLearningRate(0.01)),
    ] {
        apply(&mut kernel, command.clone());
        assert_eq!(notice(&kernel), None);
        assert_eq!(kernel.snapshot().history, before.1, "{command:?} changes nothing and leaves no trace");
    }
}
