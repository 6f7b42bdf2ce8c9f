//! Everything that a learner can do, saved and opened again.

use std::sync::Arc;

use attune_core::kernel::command::{
    AxisCommand, InterventionCommand, Reference, SenseCommand, SenseList, SentenceCommand, WeightCommand,
};
use attune_core::kernel::evidence::AskedAnswer;
use attune_core::kernel::notebook::document::{Answer, Attempts, OwnKind};
use attune_core::kernel::notebook::snapshot::{CellStatus, RunSnapshot};
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel, Worker};
use attune_core::lesson::{Lesson, Recipe};
use attune_engine::code::Output;
use attune_engine::numerics::attention::{HeadMode, Mask};
use attune_engine::numerics::params::TensorName;

use super::{apply, cell, found, ids, kernel, lesson, open, outputs, reopened, report, saved, text, write};
use crate::common::commands::{
    BRANCH, PAUSE, PLAY, REFIT, RESET, RESET_AXES, RESET_WEIGHTS, SHOW_LATEST, auto_run, axis, beside, compare, head,
    learning_rate, of_cell, reset_tensor, retraining, scrub, select, sentence, set, step, temperature, toggle,
    train_to,
};
use crate::common::lessons::{form, model};
use crate::common::waiting::wait_for;

fn busy_learner() -> Kernel {
    let mut kernel = kernel();
    apply(&mut kernel, select(1));
    apply(&mut kernel, sentence("the warm seal sank"));
    apply(&mut kernel, temperature(0.7));
    apply(&mut kernel, Command::Interventions(InterventionCommand::SetScale(Some(false))));
    apply(&mut kernel, toggle(1, 0));
    apply(&mut kernel, head(0, HeadMode::Frozen(None)));
    apply(&mut kernel, head(1, HeadMode::Uniform));
    apply(&mut kernel, set(TensorName::ValueWeights, 0, 1, -0.25));
    cell(&mut kernel, "double", CellCommand::Run);
    cell(&mut kernel, "uses", CellCommand::Run);
    write(&mut kernel, "reads", "show(0.0 / 0.0); show(\"caption\", E[0]); nearest(E, E[0], 3)");
    cell(&mut kernel, "reads", CellCommand::Run);
    cell(&mut kernel, "intro", CellCommand::Insert { kind: OwnKind::Code, is_above: false });
    write(&mut kernel, "own 1", "show(-1.0 / 0.0); show(E); show(A); A[0]");
    cell(&mut kernel, "own 1", CellCommand::Run);
    cell(&mut kernel, "own 1", CellCommand::Shift(2));
    cell(&mut kernel, "end", CellCommand::SetKind(OwnKind::Code));
    write(&mut kernel, "end", "1 + 1");
    cell(&mut kernel, "both", CellCommand::Delete);
    cell(&mut kernel, "double", CellCommand::Fold(true));
    cell(&mut kernel, "broken", CellCommand::SetAutoRun(true));
    cell(&mut kernel, "turn", CellCommand::Slide(3.5));
    cell(&mut kernel, "guess", CellCommand::Choose(0));
    cell(&mut kernel, "guess", CellCommand::Reveal);
    cell(&mut kernel, "middle", CellCommand::Hint);
    cell(&mut kernel, "middle", CellCommand::Run);
    cell(&mut kernel, "gate", CellCommand::Skip);
    apply(&mut kernel, auto_run(false));
    kernel
}

fn runs(kernel: &Kernel) -> Vec<Option<RunSnapshot>> {
    let cells = kernel.snapshot().notebook.cells.clone();
    let run =
        |run: RunSnapshot| RunSnapshot { is_from_before: true, defined: Vec::new(), variables: Arc::from([]), ..run };
    cells.into_iter().map(|cell| cell.run.map(|shown| run(RunSnapshot::clone(&shown)))).collect()
}

/// NaN is itself here.
fn said(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

#[test]
fn everything_is_back() {
    let before = busy_learner();
    let after = reopened(&before, lesson());
    assert_eq!(report(&after), [""; 0]);
    assert_eq!(ids(&after), ids(&before));
    for (before, after) in before.snapshot().notebook.cells.iter().zip(&after.snapshot().notebook.cells) {
        assert_eq!(before.cell, after.cell);
    }
    // Plots and checks by hand run by themselves; what they show has no number, and is the same.
    let elapsed = |mut runs: Vec<Option<RunSnapshot>>| {
        runs.iter_mut().flatten().for_each(|run| run.elapsed = std::time::Duration::ZERO);
        said(&runs)
    };
    assert_eq!(elapsed(runs(&before)), elapsed(runs(&after)));
    let (before, after) = (model(&before), model(&after));
    assert_eq!(before.parameters, after.parameters);
    assert_eq!(before.trained, after.trained);
    assert_eq!(before.interventions, after.interventions);
    assert_eq!(before.sentence.tokens, after.sentence.tokens);
    assert_eq!(said(&before.sentence.activations), said(&after.sentence.activations));
    assert_eq!(before.training.stopped, after.training.stopped);
}

#[test]
fn a_second_time_is_as_the_first() {
    let first = saved(&busy_learner());
    let second = saved(&open(lesson(), first.clone()));
    // What ran by itself meanwhile is of this session, and looks the same.
    assert!(said(&first) == said(&second), "{first:#?}\n{second:#?}");
}

#[test]
fn outputs_of_before_are_marked_and_their_variables_are_gone() {
    let mut after = reopened(&busy_learner(), lesson());
    let double = found(&after, "double");
    assert!(double.run.expect("it ran").is_from_before);
    assert_eq!(double.status, CellStatus::Stale);
    assert_eq!(outputs(&after, "uses"), [Output::Number(7.0)]);
    cell(&mut after, "uses", CellCommand::Run);
    let fault = found(&after, "uses").run.and_then(|run| run.fault.clone()).expect("`a` does not exist yet");
    assert!(fault.to_string().contains("`a`"), "{fault}");
    cell(&mut after, "double", CellCommand::Run);
    cell(&mut after, "uses", CellCommand::Run);
    assert_eq!(outputs(&after, "uses"), [Output::Number(7.0)]);
    assert_eq!(found(&after, "uses").status, CellStatus::Fresh);
    let number = found(&after, "uses").run.and_then(|run| run.number);
    assert!(number > Some(5), "numbers go on: {number:?}");
}

/// Edits of two tensors before training goes on are one change, and stay one.
#[test]
fn a_change_of_several_tensors_is_one_again() {
    let mut before = kernel();
    apply(&mut before, RESET);
    for tensor in [TensorName::QueryWeights, TensorName::KeyWeights] {
        apply(&mut before, set(tensor, 0, 1, 0.5));
    }
    apply(&mut before, step(5));
    let after = reopened(&before, lesson());
    let changes = |kernel: &Kernel| model(kernel).training.changes.iter().cloned().collect::<Vec<_>>();
    assert_eq!(changes(&before).len(), 1);
    assert_eq!(changes(&after), changes(&before));
}

/// Training that overflowed stood still; what is turned or looked at after that is no part of it when the work opens.
#[test]
fn what_is_turned_after_an_overflow_stays_beside_the_training() {
    let set = |name: TensorName, value| set(name, 0, 0, value);
    for is_looking in [false, true] {
        let mut before = kernel();
        apply(&mut before, RESET);
        apply(&mut before, step(2));
        apply(&mut before, set(TensorName::OutputWeights, 1e30));
        apply(&mut before, PLAY);
        assert!(model(&before).training.diverged().is_some());
        apply(&mut before, set(TensorName::ValueWeights, 0.25));
        if is_looking {
            apply(&mut before, scrub(1));
            apply(&mut before, set(TensorName::KeyWeights, 0.5));
        }
        let after = reopened(&before, lesson());
        let all = |kernel: &Kernel| {
            let ModelSnapshot { parameters, trained, training, .. } = model(kernel);
            let changes: Vec<_> = training.changes.iter().cloned().collect();
            (parameters, trained, changes, training.edited_latest, training.stopped, training.look)
        };
        assert!(all(&after) == all(&before), "{is_looking}: {:?}", all(&after));
        let second = reopened(&after, lesson());
        assert!(all(&second) == all(&before));
    }
}

#[test]
fn a_notebook_without_cells_runs_by_itself_still() {
    let mut before = form("custom_mask");
    apply(&mut before, auto_run(true));
    let lesson = before.snapshot().lesson;
    assert!(lesson.cells.is_empty());
    assert!(reopened(&before, lesson).snapshot().notebook.auto_run);
}

#[test]
fn answers_are_back() {
    let after = reopened(&busy_learner(), lesson());
    assert_eq!(found(&after, "turn").cell.answer, Answer::Slider(3.5));
    assert_eq!(found(&after, "guess").cell.answer, Answer::Predict { chosen: Some(0), is_locked: true });
    let attempts = Attempts { tried: 1, hints: 1, is_revealed: false, is_passed: false };
    assert_eq!(found(&after, "middle").cell.attempts(), attempts);
    assert_eq!(found(&after, "gate").cell.answer, Answer::Skipped);
    assert!(found(&after, "guess").run.is_some_and(|run| run.verdict.is_some()));
}

#[test]
fn a_cell_that_wrote_does_not_write_again_by_itself() {
    let mut before = kernel();
    cell(&mut before, "writes", CellCommand::Run);
    apply(&mut before, auto_run(true));
    let after = reopened(&before, lesson());
    assert_eq!(model(&before).parameters, model(&after).parameters);
    assert_ne!(model(&after).parameters, model(&after).trained);
}

fn turn(kernel: &mut Kernel, row: usize, value: f32) {
    apply(kernel, set(TensorName::QueryWeights, row, 0, value));
}

/// Steps 1 to 5, a weight and a learning rate changed on the way, to step 12, a weight turned there,
/// back to step 7, and a weight turned there too.
fn traveller() -> Kernel {
    let mut kernel = Kernel::embedded(lesson());
    apply(&mut kernel, step(5));
    turn(&mut kernel, 0, 0.5);
    turn(&mut kernel, 1, 0.25);
    apply(&mut kernel, step(3));
    apply(&mut kernel, learning_rate(0.05));
    apply(&mut kernel, step(4));
    turn(&mut kernel, 2, -1.0);
    apply(&mut kernel, scrub(7));
    turn(&mut kernel, 3, 2.0);
    kernel
}

#[test]
fn training_is_where_it_was_bit_for_bit() {
    let (mut before, mut after) = (traveller(), reopened(&traveller(), lesson()));
    assert_eq!(report(&after), [""; 0]);
    for command in [None, Some(scrub(10)), Some(SHOW_LATEST), Some(step(4)), Some(PLAY)] {
        if let Some(command) = command {
            apply(&mut before, command.clone());
            apply(&mut after, command);
        }
        let (before, after) = (model(&before), model(&after));
        assert_eq!(before.parameters, after.parameters);
        assert_eq!(before.trained, after.trained);
        assert_eq!(before.training.progress, after.training.progress);
        assert_eq!(before.training.look, after.training.look);
        assert_eq!(before.training.learning_rate, after.training.learning_rate);
        assert_eq!(before.training.changes, after.training.changes);
    }
}

#[test]
fn what_is_yet_to_be_put_back_is_saved_as_it_was() {
    let first = saved(&traveller());
    let mut kernel = Kernel::open(lesson(), Some(first.clone()));
    let mut looks = 0;
    while kernel.is_busy() {
        assert_eq!(saved(&kernel).commands, first.commands);
        kernel.advance();
        looks += 1;
    }
    assert!(looks > 3 && kernel.snapshot().awaited.is_none());
    assert_eq!(saved(&kernel), first);
}

#[test]
fn on_the_way_back_the_learner_may_do_other_things() {
    let mut kernel = Kernel::open(lesson(), Some(saved(&traveller())));
    while kernel.snapshot().model.is_none() {
        kernel.advance();
    }
    kernel.apply(set(TensorName::QueryWeights, 0, 0, 1.0));
    assert_eq!(kernel.snapshot().notice.as_deref(), Some("wait until training is back where you left it"));
    kernel.apply(Command::Interventions(InterventionCommand::SetMask(Some(Mask::Causal))));
    kernel.apply(PAUSE);
    assert!(!kernel.is_busy());
    let of_training = |kernel: &Kernel| {
        let is_of = |command: &Command| matches!(command, Command::Training(_) | Command::Weights(_));
        saved(kernel).commands.into_iter().filter(is_of).collect::<Vec<_>>()
    };
    assert_eq!(of_training(&kernel), of_training(&traveller()));
    kernel.apply(of_cell("intro", CellCommand::SetText("Mine".into())));
    kernel.apply(PLAY);
    kernel.settle();
    // Asked to play, it goes on; but where a past step is shown, it stays there.
    assert_eq!(model(&kernel).training.look, model(&traveller()).training.look);
    assert_eq!(model(&kernel).interventions.mask, Some(Mask::Causal));
}

/// A kernel before training, in which everything that runs by itself has run.
fn untrained() -> Kernel {
    let mut kernel = Kernel::embedded(lesson());
    kernel.settle();
    kernel
}

#[test]
fn a_training_under_way_goes_on() {
    let mut kernel = untrained();
    kernel.apply(PLAY);
    kernel.advance();
    let steps = model(&kernel).training.progress.done;
    assert!((1..20).contains(&steps));
    let after = reopened(&kernel, lesson());
    assert_eq!(model(&after).training.progress.done, 20);
    apply(&mut kernel, PAUSE);
    assert_eq!(model(&reopened(&kernel, lesson())).training.progress.done, steps);
}

#[test]
fn large_outputs_are_left_out_and_said_to_be() {
    let mut kernel = kernel();
    write(&mut kernel, "double", "show(1); show(zeros(900, 900)); show(2)");
    cell(&mut kernel, "double", CellCommand::Run);
    assert_eq!(outputs(&kernel, "double").len(), 3, "{:?}", found(&kernel, "double").run);
    let kept = saved(&kernel);
    assert!(serde_json::to_string(&kept).expect("plain data").len() < 100_000);
    let after = open(lesson(), kept);
    let Output::Text(words) = outputs(&after, "double").pop().expect("words") else { panic!("no words") };
    assert_eq!(&*words, "2 outputs were too large to be kept; run the cell again.");
}

#[test]
fn another_seed_is_said() {
    let with_seed = |seed| Arc::new(Lesson { seed, ..Lesson::clone(&lesson()) });
    let mut kernel = Kernel::trained(with_seed(9));
    turn(&mut kernel, 0, 0.5);
    assert_eq!(report(&reopened(&kernel, with_seed(9))), [""; 0]);
    let said = "You left this lesson with seed 9; it now trains with seed 5, so your changes apply to other weights.";
    let after = reopened(&kernel, lesson());
    assert_eq!(report(&after), [said]);
    assert_eq!(report(&reopened(&after, lesson())), [""; 0], "it is said once");
}

#[test]
fn only_what_is_to_be_saved_differs() {
    let mut kernel = untrained();
    let mut last = 0;
    let mut differs = |kernel: &Kernel| {
        let now = kernel.snapshot().work_revision;
        std::mem::replace(&mut last, now) != now
    };
    assert!(differs(&kernel), "there is a model");
    kernel.apply(PLAY);
    kernel.advance();
    assert!(differs(&kernel), "it plays");
    kernel.advance();
    assert!(kernel.is_busy() && !differs(&kernel), "it only trains");
    kernel.settle();
    assert!(differs(&kernel), "it stands");
    for command in [
        set(TensorName::QueryWeights, 0, 0, 1.0),
        set(TensorName::QueryWeights, 0, 0, 2.0),
        scrub(3),
        temperature(2.0),
        select(1),
        auto_run(true),
        of_cell("intro", CellCommand::SetText("Mine".into())),
        of_cell("double", CellCommand::Run),
        Command::Undo,
    ] {
        apply(&mut kernel, command.clone());
        assert!(differs(&kernel), "{command:?}");
        assert!(!differs(&kernel), "{command:?}");
    }
    for command in [
        compare(Reference::Start),
        // There is no such entry.
        set(TensorName::QueryWeights, 99, 0, 1.0),
    ] {
        kernel.apply(command.clone());
        assert!(!differs(&kernel), "{command:?}");
    }
}

#[test]
fn a_command_that_changes_nothing_leaves_nothing_to_save() {
    let mut kernel = kernel();
    let tensor = TensorName::QueryWeights;
    let value = model(&kernel).parameters.values_of(tensor)[0];
    let text = text(&kernel, "intro").as_str().into();
    let of_cell = |command| of_cell("intro", command);
    for command in [
        PAUSE,
        SHOW_LATEST,
        train_to(None),
        learning_rate(model(&kernel).training.learning_rate),
        set(tensor, 0, 0, value),
        reset_tensor(tensor),
        RESET_WEIGHTS,
        Command::Interventions(InterventionCommand::SetTemperature(None)),
        head(0, HeadMode::Live),
        Command::Interventions(InterventionCommand::Reset),
        select(0),
        Command::Sentence(SentenceCommand::SetSecond(None)),
        RESET_AXES,
        Command::Senses(SenseCommand::Show(false)),
        Command::Retrain(Box::default()),
        of_cell(CellCommand::SetText(text)),
        of_cell(CellCommand::ClearOutputs),
        of_cell(CellCommand::Fold(false)),
        auto_run(false),
        Command::Notebook(NotebookCommand::Reset),
    ] {
        let before = kernel.snapshot().work_revision;
        kernel.apply(command.clone());
        let after = kernel.snapshot();
        assert_eq!((after.notice, after.work_revision), (None, before), "{command:?}");
    }
    // At the initialisation there is nothing to take back.
    let mut kernel = untrained();
    let before = kernel.snapshot().work_revision;
    kernel.apply(RESET);
    assert_eq!(kernel.snapshot().work_revision, before);
    // What undoes together with the change before it is one all the same.
    for value in [0.5, 0.75] {
        let before = kernel.snapshot().work_revision;
        apply(&mut kernel, temperature(value));
        assert_ne!(kernel.snapshot().work_revision, before);
    }
}

/// A learning rate that was tried and taken back before the next step was never used.
#[test]
fn a_learning_rate_that_is_taken_back_is_no_change() {
    let mut before = kernel();
    apply(&mut before, RESET);
    apply(&mut before, step(3));
    let rate = model(&before).training.learning_rate;
    for rate in [0.5, rate] {
        apply(&mut before, learning_rate(rate));
    }
    assert_eq!(model(&before).training.changes.iter().count(), 0);
    apply(&mut before, step(3));
    assert_eq!(model(&reopened(&before, lesson())).parameters, model(&before).parameters);
}

#[test]
fn whatever_changes_the_saved_work_changes_its_revision() {
    let mut kernel = kernel();
    let now = |kernel: &Kernel| (saved(kernel), kernel.snapshot().work_revision);
    let recipe = Recipe { seed: Some(11), ..Recipe::default() };
    let list = SenseList { word: "seal".to_owned(), sentences: Vec::new() };
    for command in [
        beside("the warm seal"),
        Command::Senses(SenseCommand::Replace(list)),
        Command::Senses(SenseCommand::Show(true)),
        REFIT,
        RESET_AXES,
        head(0, HeadMode::Mean),
        scrub(7),
        Command::Weights(WeightCommand::Perturb { tensor: TensorName::QueryWeights.into(), scale: 0.5, draw: 3 }),
        BRANCH,
        learning_rate(0.5),
        step(2),
        retraining(recipe),
        Command::Undo,
        RESET,
        Command::Notebook(NotebookCommand::Reset),
    ] {
        let before = now(&kernel);
        kernel.apply(command.clone());
        let begun = now(&kernel);
        kernel.settle();
        let after = now(&kernel);
        assert!(before.0 == begun.0 || before.1 != begun.1, "{command:?}");
        assert!(begun.0 == after.0 || begun.1 != after.1, "{command:?}");
    }
}

#[test]
fn a_worker_opens_as_it_was_left_and_reloads() {
    let worker = Worker::spawn_on(lesson(), Some(saved(&busy_learner())), || ());
    assert_eq!(worker.latest().notebook.cells.len(), ids(&busy_learner()).len(), "it is there at once");
    let is_back = |snapshot: &attune_core::kernel::Snapshot| snapshot.awaited.is_none() && snapshot.model.is_some();
    let parameters = wait_for(&worker, is_back).model.as_ref().expect("a model").parameters.clone();
    let newer = super::changed(&[("Done.", "All done.")]);
    worker.open(newer.clone());
    let after = wait_for(&worker, |snapshot| std::sync::Arc::ptr_eq(&snapshot.lesson, &newer) && is_back(snapshot));
    assert_eq!(after.model.as_ref().expect("a model").parameters, parameters);
}

/// Work that was saved is read for as long as there is the program: these forms stay.
#[test]
fn commands_are_written_as_ever() {
    use attune_core::kernel::command::{Axis, SenseSentence, TensorEntries};
    use attune_engine::numerics::attention::Edge;
    use attune_engine::numerics::model::activations::Patch;

    let edge = Edge { head: 1, query: 3, key: 0 };
    let vector = Some(Arc::from([0.5_f32, -1.0]));
    let seal = SenseSentence { text: "the seal sank".to_owned(), sense: Some('A') };
    let entries = TensorEntries { name: "W_Q".to_owned(), rows: 2, cols: 2, at: Some(vec![3]), values: vec![0.1] };
    let of_pass = Command::Interventions;
    for (command, written) in [
        (sentence("a seal"), r#"{"Sentence":{"Set":"a seal"}}"#),
        (Command::Sentence(SentenceCommand::Words(vec!["##s".to_owned()])), r###"{"Sentence":{"Words":["##s"]}}"###),
        (beside("a duck"), r#"{"Sentence":{"SetSecond":"a duck"}}"#),
        (
            Command::Answers(AskedAnswer { answer: Some("seal".to_owned()), against: None, at: None }),
            r#"{"Answers":{"answer":"seal","against":null}}"#,
        ),
        (
            Command::Senses(SenseCommand::Replace(SenseList { word: "seal".to_owned(), sentences: vec![seal] })),
            r#"{"Senses":{"Replace":{"word":"seal","sentences":[{"text":"the seal sank","sense":"A"}]}}}"#,
        ),
        (Command::Senses(SenseCommand::Show(true)), r#"{"Senses":{"Show":true}}"#),
        (Command::Axes(AxisCommand::SetRaw(true)), r#"{"Axes":{"SetRaw":true}}"#),
        (
            Command::Axes(AxisCommand::Fit { mean: vec![0.5], covariance: vec![2.0], meaning: None }),
            r#"{"Axes":{"Fit":{"mean":[0.5],"covariance":[2.0]}}}"#,
        ),
        (axis(Axis::X, "stone", "seal"), r#"{"Axes":{"Set":{"axis":"X","from":"stone","to":"seal"}}}"#),
        (temperature(0.5), r#"{"Interventions":{"SetTemperature":0.5}}"#),
        (of_pass(InterventionCommand::SetScale(Some(false))), r#"{"Interventions":{"SetScale":false}}"#),
        (head(1, HeadMode::Gain(0.5)), r#"{"Interventions":{"SetHead":{"head":1,"mode":{"Gain":0.5}}}}"#),
        (of_pass(InterventionCommand::SetMask(Some(Mask::Causal))), r#"{"Interventions":{"SetMask":"Causal"}}"#),
        (of_pass(InterventionCommand::ResetMask), r#"{"Interventions":"ResetMask"}"#),
        (
            of_pass(InterventionCommand::SetEdge { edge, is_removed: true }),
            r#"{"Interventions":{"SetEdge":{"edge":[1,3,0],"is_removed":true}}}"#,
        ),
        (
            of_pass(InterventionCommand::SetPatch(Some(Patch { block: 1, position: 2, from: 0, vector }))),
            r#"{"Interventions":{"SetPatch":{"block":1,"position":2,"from":0,"vector":[0.5,-1.0]}}}"#,
        ),
        (train_to(Some(5)), r#"{"Training":{"TrainTo":5}}"#),
        (train_to(None), r#"{"Training":{"TrainTo":null}}"#),
        (learning_rate(0.05), r#"{"Training":{"SetLearningRate":0.05}}"#),
        (step(1), r#"{"Training":{"Step":1}}"#),
        (scrub(7), r#"{"Training":{"Scrub":7}}"#),
        (PLAY, r#"{"Training":"Play"}"#),
        (
            Command::Weights(WeightCommand::Put(entries)),
            r#"{"Weights":{"Put":{"name":"W_Q","rows":2,"cols":2,"at":[3],"values":[0.1]}}}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&command).expect("plain data"), written);
        assert_eq!(serde_json::from_str::<Command>(written).expect("a command"), command);
    }
    let retrain = r#"{"Retrain":{"heads":3}}"#;
    let recipe = Recipe { heads: Some(3), ..Recipe::default() };
    assert_eq!(serde_json::from_str::<Command>(retrain).expect("a command"), retraining(recipe));
}
