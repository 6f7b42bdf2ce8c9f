//! Training as data: every step can be looked at exactly, branched from and compared, at a bounded cost.

use std::sync::Arc;

use attune::kernel::checkpoints::{CHECKPOINT_BYTES_MAX, CHECKPOINTS_MAX};
use attune::kernel::command::Reference;
use attune::kernel::line::CHANGED_ENTRIES_MAX;
use attune::kernel::snapshot::{LookSnapshot, ModelSnapshot};
use attune::kernel::stop::{Overflow, Stopped};
use attune::kernel::{Command, Kernel};
use attune::lesson::Lesson;
use attune::lesson::schema::{StaticEmbedding, StopRule};
use attune::numerics::optimiser::Method;
use attune::numerics::params::TensorName;
use attune::view_model::training::{TrainingModel, TrainingStage};

/// The small lesson with more steps, so that not every one has a checkpoint.
fn lesson(change: impl FnOnce(&mut Lesson)) -> Arc<Lesson> {
    let mut lesson = attune::lesson::parse("small.ron", include_str!("fixtures/small.ron")).expect("no issues");
    change(&mut lesson);
    Arc::new(lesson)
}

const LONG: usize = 1200;

fn long() -> Arc<Lesson> {
    lesson(|lesson| lesson.model.steps = LONG)
}

fn run(lesson: &Arc<Lesson>, commands: &[Command]) -> Kernel {
    let mut kernel = Kernel::embedded(lesson.clone());
    commands.iter().for_each(|command| apply(&mut kernel, command.clone()));
    kernel
}

/// Applies a command and waits until all is done.
fn apply(kernel: &mut Kernel, command: Command) {
    kernel.apply(command);
    while kernel.is_busy() {
        kernel.advance();
    }
}

fn model(kernel: &Kernel) -> ModelSnapshot {
    kernel.snapshot().model.expect("a model")
}

fn notice(kernel: &Kernel) -> Option<String> {
    kernel.snapshot().notice.as_deref().map(str::to_owned)
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

fn set(value: f32) -> Command {
    Command::SetWeight { tensor: TensorName::QueryWeights.into(), row: 0, col: 1, value }
}

fn weight(kernel: &Kernel) -> f32 {
    model(kernel).parameters.matrix(TensorName::QueryWeights)[(0, 1)]
}

/// A training with changes on its way, and what was shown after its steps.
fn eventful() -> (Kernel, Vec<(usize, Vec<u32>)>) {
    let mut kernel = run(&long(), &[]);
    let mut seen = vec![(0, shown(&kernel))];
    let steps = [
        (Command::Step(100), None),
        (Command::Step(33), Some(set(0.7))),
        (Command::Step(1), Some(Command::SetLearningRate(0.003))),
        (Command::Step(400), Some(Command::SetLearningRate(0.02))),
        (Command::Step(1), Some(set(-0.0))),
        (Command::Step(301), Some(set(2.0))),
        (Command::Play, None),
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
        apply(&mut kernel, Command::Scrub(*step));
        let model = model(&kernel);
        assert_eq!(model.training.step_shown(), *step);
        assert_eq!(model.training.look.is_none(), *step == LONG, "the latest step is no look back");
        assert!(shown(&kernel) == *state, "step {step} is not what it was");
        assert!(model.training.progress.done == LONG && log(&kernel) == before, "the later steps stay");
    }
    apply(&mut kernel, Command::Scrub(7));
    apply(&mut kernel, Command::ShowLatest);
    assert!(shown(&kernel) == seen[seen.len() - 1].1);
}

#[test]
fn a_change_while_training_plays_is_done_again() {
    // A few steps first, so that no checkpoint lies between a change and what is seen of it.
    let mut kernel = run(&long(), &[Command::Step(11)]);
    kernel.apply(Command::Play);
    let mut seen = Vec::new();
    for change in [set(0.4), Command::SetLearningRate(0.05), set(0.5), set(0.6), Command::SetLearningRate(0.01)] {
        (0..9).for_each(|_| kernel.advance());
        kernel.apply(change);
        assert!(model(&kernel).training.playing);
        let changed_at = kernel.steps_done();
        kernel.advance();
        seen.push((changed_at, kernel.steps_done(), shown(&kernel)));
    }
    apply(&mut kernel, Command::Play);
    let kept = model(&kernel).training.checkpoints.steps;
    for (changed_at, step, state) in &seen {
        assert!(!kept.iter().any(|kept| (changed_at + 1..=*step).contains(kept)), "{changed_at} to {step}");
        apply(&mut kernel, Command::Scrub(*step));
        assert!(shown(&kernel) == *state, "step {step} is not what it was");
    }
}

#[test]
fn the_same_commands_give_the_same_history() {
    let commands = [
        Command::Step(300),
        Command::Scrub(100),
        Command::Branch,
        Command::SetLearningRate(0.03),
        Command::Step(200),
        Command::Undo,
        Command::Scrub(31),
        Command::Redo,
        Command::Compare(Some(Reference::Step(77))),
    ];
    let (a, b) = (run(&long(), &commands), run(&long(), &commands));
    assert!(shown(&a) == shown(&b) && log(&a) == log(&b));
    assert_eq!(model(&a).training.checkpoints, model(&b).training.checkpoints);
    let difference = |kernel| model(kernel).comparison.expect("a comparison").difference;
    assert_eq!(difference(&a), difference(&b));
}

#[test]
fn recalling_goes_in_pieces_over_true_steps() {
    let mut kernel = run(&long(), &[Command::Play]);
    let kept = model(&kernel).training.checkpoints.steps;
    let (first, second) = (kept[20], kept[21]);
    let stride = second - first;
    assert!(stride > 1, "no gap to recall");
    // After an undo and a redo the checkpoints of the undone steps are gone, and a long way is to go.
    apply(&mut kernel, Command::Undo);
    apply(&mut kernel, Command::Redo);
    assert_eq!(model(&kernel).training.checkpoints.steps, [0, LONG], "those of the ends are still in use");
    kernel.apply(Command::Scrub(second + 1));
    assert!(kernel.is_busy());
    let mut last = 0;
    while kernel.is_busy() {
        let LookSnapshot { step, target } = model(&kernel).training.look.expect("a look back");
        assert!(step > last && step - last <= 8 && target == second + 1, "{last} to {step} of {target}");
        last = step;
        kernel.advance();
    }
    assert!(model(&kernel).training.checkpoints.steps.starts_with(&kept[..=21]), "and the gap is filled");
    let fresh = run(&long(), &[Command::Step(second + 1)]);
    assert!(shown(&kernel) == shown(&fresh));
}

#[test]
fn memory_is_bounded_however_long_training_is() {
    for steps in [CHECKPOINTS_MAX - 1, 4 * CHECKPOINTS_MAX, 5 * CHECKPOINTS_MAX + 3] {
        let kernel = run(&lesson(|lesson| lesson.model.steps = steps), &[Command::Play]);
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
fn a_branch_goes_its_own_way_and_the_line_it_left_can_be_undone_to() {
    let mut kernel = run(&long(), &[Command::Play]);
    let (end, whole) = (shown(&kernel), log(&kernel));
    apply(&mut kernel, Command::Scrub(333));
    let at = shown(&kernel);
    apply(&mut kernel, Command::Branch);
    let branched = model(&kernel).training;
    assert_eq!((branched.progress.done, branched.look, branched.stopped), (333, None, Some(Stopped::Paused)));
    assert!(shown(&kernel) == at && whole.starts_with(&log(&kernel)));

    // Unchanged, it is the same training once more; with another learning rate it is another.
    apply(&mut kernel, Command::Play);
    assert!(shown(&kernel) == end && log(&kernel) == whole);
    apply(&mut kernel, Command::Undo);
    apply(&mut kernel, Command::SetLearningRate(0.05));
    apply(&mut kernel, Command::Play);
    assert!(shown(&kernel) != end && log(&kernel).len() == whole.len());
    let other = shown(&kernel);
    apply(&mut kernel, Command::Scrub(333));
    assert_eq!(model(&kernel).training.learning_rate, 0.05);
    apply(&mut kernel, Command::ShowLatest);

    let labels =
        ["look at another step", "training", "learning rate 0.05", "branch from step 333", "look at another step"];
    for label in labels {
        assert_eq!(model(&kernel).history.undo.as_deref(), Some(label));
        apply(&mut kernel, Command::Undo);
    }
    assert!(shown(&kernel) == end && log(&kernel) == whole);
    for _ in labels {
        apply(&mut kernel, Command::Redo);
    }
    assert!(shown(&kernel) == other);
    // Each line is recalled as it was.
    let straight = run(&long(), &[Command::Step(333), Command::SetLearningRate(0.05), Command::Step(100)]);
    apply(&mut kernel, Command::Scrub(433));
    assert!(shown(&kernel) == shown(&straight));
}

#[test]
fn weights_turned_at_a_past_step_go_with_the_branch() {
    let mut kernel = run(&long(), &[Command::Step(200), Command::Scrub(50), set(3.0)]);
    assert_eq!(weight(&kernel), 3.0);
    assert_ne!(model(&kernel).trained, model(&kernel).parameters);
    // Left behind by a look elsewhere, and brought back by undo.
    apply(&mut kernel, Command::Scrub(60));
    assert_ne!(weight(&kernel), 3.0);
    apply(&mut kernel, Command::Undo);
    assert_eq!((weight(&kernel), model(&kernel).training.step_shown()), (3.0, 50));
    apply(&mut kernel, Command::Branch);
    assert_eq!((weight(&kernel), kernel.steps_done()), (3.0, 50));
    apply(&mut kernel, Command::Step(10));
    let branched = shown(&kernel);
    let straight = run(&long(), &[Command::Step(50), set(3.0), Command::Step(10)]);
    assert!(branched == shown(&straight));
}

#[test]
fn playing_goes_on_from_the_latest_step() {
    let mut kernel = run(&long(), &[Command::Step(100), set(0.5), Command::Scrub(40), set(9.0)]);
    apply(&mut kernel, Command::Step(20));
    let straight = run(&long(), &[Command::Step(100), set(0.5), Command::Step(20)]);
    assert!(shown(&kernel) == shown(&straight), "nothing of the look back is in it");
    apply(&mut kernel, Command::Undo);
    assert_eq!((model(&kernel).training.step_shown(), weight(&kernel)), (40, 9.0));

    // And a look back stops the training.
    kernel.apply(Command::Play);
    kernel.advance();
    kernel.apply(Command::Scrub(3));
    let training = model(&kernel).training;
    assert!(!training.playing && training.progress.done > 100 && training.step_shown() == 3);
    let said = TrainingModel::of(&kernel.snapshot());
    let done = kernel.steps_done();
    assert_eq!((said.shown, said.status), (Some(3), format!("a look back at step 3; training is at {done}")));
}

#[test]
fn changes_on_the_way_are_bounded_too() {
    let mut kernel = run(&long(), &[]);
    kernel.apply(Command::Play);
    (0..CHANGED_ENTRIES_MAX).for_each(|i| kernel.apply(set(1.0 + (i % 2) as f32)));
    assert_eq!(notice(&kernel), None);
    let before = (shown(&kernel), model(&kernel).history);
    let refused = [set(5.0), Command::SetLearningRate(0.5)];
    for command in refused {
        kernel.apply(command);
        assert!(notice(&kernel).expect("a notice").contains("at most 65536 changes"));
        assert!((shown(&kernel), model(&kernel).history) == before && model(&kernel).training.playing);
    }
    apply(&mut kernel, Command::ResetTraining);
    apply(&mut kernel, Command::SetLearningRate(0.5));
    assert_eq!(notice(&kernel), None);
}

#[test]
fn looks_along_a_slider_undo_as_one() {
    let mut kernel = run(&long(), &[Command::Step(50)]);
    for step in [40, 30, 20, 50, 10] {
        apply(&mut kernel, Command::Scrub(step));
    }
    for rate in [0.02, 0.03, 0.04] {
        apply(&mut kernel, Command::SetLearningRate(rate));
        assert!(notice(&kernel).expect("a notice").contains("branch from it"), "a past step has had its rate");
    }
    apply(&mut kernel, Command::Undo);
    assert_eq!(model(&kernel).training.look, None);
    for rate in [0.02, 0.03, 0.04] {
        apply(&mut kernel, Command::SetLearningRate(rate));
    }
    assert_eq!(model(&kernel).training.learning_rate, 0.04);
    apply(&mut kernel, Command::Undo);
    assert_eq!(model(&kernel).training.learning_rate, 0.01);
    assert_eq!(model(&kernel).history.undo.as_deref(), Some("training by 50"));
}

#[test]
fn what_cannot_be_done_with_the_past_is_said() {
    let mut kernel = run(&long(), &[Command::Step(5)]);
    let rate = |rate| (Command::SetLearningRate(rate), format!("a learning rate is above 0 and at most 1, not {rate}"));
    let cases = [
        (Command::Scrub(6), "there is no step 6 yet: training has done 5".to_owned()),
        (Command::Compare(Some(Reference::Step(6))), "there is no step 6 yet: training has done 5".to_owned()),
        (Command::Branch, "this is the latest step, from which training goes on anyway".to_owned()),
        rate(0.0),
        rate(1.5),
        rate(-1.0),
        rate(f64::NAN),
        rate(f64::INFINITY),
    ];
    let before = (shown(&kernel), model(&kernel).history);
    for (command, words) in cases {
        apply(&mut kernel, command);
        assert_eq!(notice(&kernel), Some(words));
        assert!((shown(&kernel), model(&kernel).history) == before);
    }
    for command in [Command::Scrub(5), Command::ShowLatest, Command::Compare(None), Command::SetLearningRate(0.01)] {
        apply(&mut kernel, command.clone());
        assert_eq!(notice(&kernel), None);
        assert_eq!(model(&kernel).history, before.1, "{command:?} changes nothing and leaves no trace");
    }
}

#[test]
fn differences_are_data() {
    let mut kernel = run(&long(), &[Command::Step(300)]);
    assert!(model(&kernel).comparison.is_none());
    let states: Vec<_> =
        [0, 120, 300].map(|step| (step, model(&run(&long(), &[Command::Step(step.max(1))])).parameters)).into();
    let start = model(&run(&long(), &[])).parameters;
    let check = |kernel: &Kernel, with: Reference, reference: &[f32]| {
        let model = model(kernel);
        let comparison = model.comparison.expect("a comparison");
        assert_eq!((comparison.with, comparison.reference.flat()), (with, reference));
        let expected: Vec<f32> =
            model.parameters.flat().iter().zip(reference).map(|(live, other)| live - other).collect();
        assert_eq!(comparison.difference.flat(), expected);
        let length = expected.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        assert!((f64::from(comparison.norms.overall) - length).abs() < 1e-6 * length.max(1.0));
        assert_eq!(comparison.norms.by_tensor.len(), model.parameters.tensors().count());
    };
    apply(&mut kernel, set(4.0));
    apply(&mut kernel, Command::Compare(Some(Reference::Trained)));
    check(&kernel, Reference::Trained, model(&kernel).trained.flat());
    assert_eq!(model(&kernel).comparison.expect("one").difference.flat().iter().filter(|x| **x != 0.0).count(), 1);
    apply(&mut kernel, Command::Compare(Some(Reference::Start)));
    check(&kernel, Reference::Start, start.flat());
    apply(&mut kernel, Command::Compare(Some(Reference::Step(120))));
    check(&kernel, Reference::Step(120), states[1].1.flat());
    // Between two steps: the one shown, and the other.
    apply(&mut kernel, Command::Scrub(299));
    check(&kernel, Reference::Step(120), states[1].1.flat());
    // It outlives its line: two branches can be compared.
    apply(&mut kernel, Command::Compare(Some(Reference::Step(300))));
    check(&kernel, Reference::Step(300), states[2].1.flat());
    apply(&mut kernel, Command::Scrub(10));
    apply(&mut kernel, Command::Branch);
    check(&kernel, Reference::Step(300), states[2].1.flat());
    for _ in 0..3 {
        apply(&mut kernel, Command::Undo);
    }
    check(&kernel, Reference::Step(120), states[1].1.flat());
    assert_eq!(model(&kernel).training.step_shown(), 299);
}

#[test]
fn gradient_norms_are_recorded_by_tensor() {
    let kernel = run(&long(), &[Command::Step(30)]);
    let model = model(&kernel);
    assert_eq!(model.training.log.len(), 30);
    for step in model.training.log.steps() {
        assert_eq!(step.by_tensor.len(), model.parameters.tensors().count());
        let whole = step.by_tensor.iter().map(|norm| norm * norm).sum::<f32>().sqrt();
        assert!(whole > 0.0 && (whole - step.gradient_norm).abs() < 1e-5 * whole, "{whole}");
    }
    let tensors = TrainingModel::of(&kernel.snapshot()).tensors;
    assert_eq!(tensors, ["P", "W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V", "W_O", "b_O", "b_logits"]);
}

#[test]
fn a_snapshot_shares_what_it_shows() {
    let kernel = run(&long(), &[Command::Step(600)]);
    let (a, b) = (model(&kernel), model(&kernel));
    assert!(Arc::ptr_eq(&a.parameters, &b.parameters) && Arc::ptr_eq(&a.parameters, &a.trained));
    assert!(a.training.log.is_same(&b.training.log));
}

#[test]
fn stop_rules_stop_at_their_step_and_only_once() {
    let plain = run(&long(), &[Command::Play]);
    let losses: Vec<f32> = model(&plain).training.log.losses().collect();
    let limit = 1.45;
    let first = losses.iter().position(|loss| f64::from(*loss) < limit).expect("it learns") + 1;
    assert!(first > 1 && first < LONG);
    let rule = StopRule::LossBelow(limit);
    let ruled = lesson(|lesson| {
        lesson.model.steps = LONG;
        lesson.model.stop = vec![StopRule::GradientBelow(1e-12), rule];
    });
    let mut kernel = run(&ruled, &[Command::Play]);
    let training = model(&kernel).training;
    assert_eq!((training.progress.done, training.stopped), (first, Some(Stopped::Rule(rule))));
    let said = TrainingModel::of(&kernel.snapshot());
    assert_eq!((said.stage, said.status.as_str()), (TrainingStage::Stopped, "stopped: the loss is below 1.45"));
    // Asked to play on, it does; a branch from before the stop is stopped again.
    apply(&mut kernel, Command::Play);
    assert_eq!(model(&kernel).training.stopped, Some(Stopped::LastStep));
    assert!(log(&kernel) == log(&plain));
    apply(&mut kernel, Command::Scrub(first - 1));
    apply(&mut kernel, Command::Branch);
    apply(&mut kernel, Command::Play);
    assert_eq!((kernel.steps_done(), model(&kernel).training.stopped), (first, Some(Stopped::Rule(rule))));

    let plateau = StopRule::Plateau { steps: 50, by: 0.01 };
    let mean =
        |block: usize| losses[50 * block..50 * (block + 1)].iter().map(|loss| f64::from(*loss)).sum::<f64>() / 50.0;
    let block = (1..LONG / 50).find(|block| mean(block - 1) - mean(*block) < 0.01).expect("a plateau");
    let kernel = run(
        &lesson(|lesson| {
            lesson.model.steps = LONG;
            lesson.model.stop = vec![plateau];
        }),
        &[Command::Play],
    );
    assert_eq!(
        (kernel.steps_done(), model(&kernel).training.stopped),
        (50 * (block + 1), Some(Stopped::Rule(plateau)))
    );
}

#[test]
fn sgd_trains_too_and_is_recalled_with_its_velocity() {
    for momentum in [0.0, 0.9] {
        let lesson = lesson(|lesson| {
            let StaticEmbedding::Word2Vec(config) = &mut lesson.static_embedding else { panic!("word2vec") };
            config.epochs = 40;
            lesson.model.steps = 600;
            // With momentum a gradient acts for 1 / (1 − momentum) steps.
            lesson.model.learning_rate = 0.1 * (1.0 - momentum);
            lesson.model.optimiser = Method::Sgd { momentum };
        });
        let mut kernel = run(&lesson, &[Command::Step(401)]);
        let at = shown(&kernel);
        apply(&mut kernel, Command::Play);
        let log = model(&kernel).training.log;
        assert!(log.mean_loss(550, 600) < 0.8 * log.mean_loss(0, 50), "momentum {momentum}");
        apply(&mut kernel, Command::Scrub(401));
        assert!(shown(&kernel) == at, "momentum {momentum}");
    }
}

/// The training stands at its last good step, says what overflowed where, and can go on once that is mended.
#[track_caller]
fn check_divergence(kernel: &mut Kernel, step: usize, overflow: Overflow, words: &str) {
    apply(kernel, Command::Play);
    let training = model(kernel).training;
    let diverged = training.diverged().expect("it diverges");
    assert_eq!((diverged.step, diverged.overflow), (step, overflow));
    assert_eq!((training.progress.done, training.log.len(), training.playing), (step - 1, step - 1, false));
    let said = TrainingModel::of(&kernel.snapshot());
    assert_eq!((said.stage, said.status), (TrainingStage::Diverged, format!("{words}; the last good step is kept")));
    assert!(model(kernel).parameters.flat().iter().all(|x| x.is_finite()));
    // The same step diverges again: the state is really the one before it.
    let before = shown(kernel);
    apply(kernel, Command::Play);
    assert_eq!(model(kernel).training.diverged(), Some(diverged));
    assert!(shown(kernel) == before);
}

#[test]
fn a_learning_rate_that_explodes_names_the_tensor() {
    let exploding = |rate: f64| {
        lesson(|lesson| {
            lesson.model.optimiser = Method::Sgd { momentum: 0.0 };
            lesson.model.learning_rate = rate;
        })
    };
    let mut kernel = run(&exploding(1e45), &[]);
    let start = shown(&kernel);
    let positions = Overflow::Parameter(TensorName::Positions.into());
    check_divergence(&mut kernel, 1, positions, "training diverged at step 1: an entry of P is no longer finite");
    assert!(shown(&kernel) == start);
    apply(&mut kernel, Command::SetLearningRate(0.1));
    assert_eq!(model(&kernel).training.stopped, Some(Stopped::Paused));
    apply(&mut kernel, Command::Play);
    assert_eq!(model(&kernel).training.stopped, Some(Stopped::LastStep));

    let mut kernel = run(&exploding(1e30), &[]);
    check_divergence(&mut kernel, 2, Overflow::Loss, "training diverged at step 2: the loss is no longer finite");
    // Right after the divergence and far from a checkpoint, too.
    let mut kernel = run(&long(), &[Command::Step(601)]);
    let last_good = shown(&kernel);
    for col in 0..6 {
        let huge = Command::SetWeight { tensor: TensorName::OutputBias.into(), row: 0, col, value: f32::MAX };
        apply(&mut kernel, huge);
    }
    check_divergence(&mut kernel, 602, Overflow::Loss, "training diverged at step 602: the loss is no longer finite");
    for _ in 0..8 {
        apply(&mut kernel, Command::Undo);
    }
    assert!(shown(&kernel) == last_good);
}

#[test]
fn a_gradient_that_overflows_is_named() {
    let mut kernel = run(&long(), &[Command::Step(3)]);
    // Large enough for its square to overflow on the way back to W_V, not for the loss.
    apply(&mut kernel, Command::SetWeight { tensor: TensorName::OutputWeights.into(), row: 0, col: 0, value: 1e25 });
    let gradient = Overflow::Gradient(TensorName::ValueBias.into());
    check_divergence(&mut kernel, 4, gradient, "training diverged at step 4: the gradient of b_V overflows");
}
