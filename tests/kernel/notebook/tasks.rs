//! Predictions are locked before the truth is shown, and exercises are checked against the live model.

use std::time::Duration;

use attune_core::kernel::check::{Problem, rehearse};
use attune_core::kernel::command::InterventionCommand;
use attune_core::kernel::notebook::document::Answer;
use attune_core::kernel::notebook::snapshot::{CellStatus, Verdict};
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::places::Spot;
use attune_engine::code::Output;
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::output::ComparedModel;

use super::{apply, cell, found, kernel, notice, run, shown, status, write};
use crate::common::commands::{RUN_ALL, select, temperature};
use crate::common::lessons::{self, NOTEBOOK};

fn verdict(kernel: &Kernel, id: &str) -> Verdict {
    let run = shown(kernel, id);
    run.verdict.clone().unwrap_or_else(|| panic!("{id}: {:?}", run.fault))
}

fn rehearsed(kernel: &mut Kernel) -> Vec<Problem> {
    rehearse(kernel, Duration::MAX)
}

fn is_right(kernel: &Kernel, id: &str) -> bool {
    matches!(verdict(kernel, id), Verdict::Exercise { is_right: true, .. })
}

#[test]
fn a_prediction_is_locked_and_then_answered() {
    let mut kernel = kernel();
    cell(&mut kernel, "guess", CellCommand::Choose(0));
    assert!(found(&kernel, "guess").run.is_none(), "nothing is shown before the answer is given");
    let question = |kernel: &Kernel, id: &str| {
        let model = NotebookModel::of(&kernel.snapshot(), None);
        model.questions_above(model.index(id).expect("it is there")).next().map(|cell| cell.id().to_string())
    };
    assert_eq!(["both", "guess", "middle"].map(|id| question(&kernel, id)), [None, None, Some("guess".to_owned())]);
    cell(&mut kernel, "guess", CellCommand::Choose(1));
    cell(&mut kernel, "guess", CellCommand::Reveal);
    assert_eq!(verdict(&kernel, "guess"), Verdict::Prediction { right: 1 });
    assert_eq!(*shown(&kernel, "guess").outputs, [Output::Number(2.0)]);
    assert_eq!(question(&kernel, "middle"), None);
    cell(&mut kernel, "guess", CellCommand::Choose(0));
    assert_eq!(notice(&kernel).as_deref(), Some("this prediction has already been made; reset the cell to try again"));
    assert_eq!(found(&kernel, "guess").cell.answer, Answer::Predict { chosen: Some(1), is_locked: true });
}

#[test]
fn an_exercise_is_tried_until_it_is_right() {
    let mut kernel = kernel();
    run(&mut kernel, "middle");
    let Verdict::Exercise { is_right: false, value, compared, feedback, failed_case } = verdict(&kernel, "middle")
    else {
        panic!("the start is not right")
    };
    assert_eq!((feedback.as_deref(), failed_case), (Some("This is the first one."), Some(0)));
    assert!(matches!(value[..], [Output::Number(_)]));
    assert!(compared.is_empty(), "the lesson does not say what is expected");
    // Right in the first case only: no constant passes.
    write(&mut kernel, "middle", "fn middle(x, y) { (E_0() + y) / 2 } fn E_0() { 0 }");
    run(&mut kernel, "middle");
    assert!(!is_right(&kernel, "middle"));
    write(&mut kernel, "middle", "fn middle(x, y) { (x + y) / 2 }");
    run(&mut kernel, "middle");
    assert!(is_right(&kernel, "middle"));
    let attempts = found(&kernel, "middle").cell.attempts();
    assert_eq!((attempts.tried, attempts.is_passed), (3, true));
    assert_eq!(kernel.snapshot().notebook.closed_gate, None, "the gate is open");
}

/// The exercise `middle`, which says what it expects: beside the value, or in its cases.
fn comparing(in_cases: bool) -> Kernel {
    comparing_with(if in_cases { "" } else { r#", expected: "(a + b) / 2""# }, in_cases)
}

fn comparing_with(expected: &str, in_cases: bool) -> Kernel {
    let text = NOTEBOOK.replacen(r#"value: "norm(middle(a, b))""#, &format!(r#"value: "middle(a, b)"{expected}"#), 1);
    let text = if in_cases { text.replace("let b = E[", "let expected = 2.5; let b = E[") } else { text };
    lessons::kernel(&text)
}

#[test]
fn an_answer_stands_beside_what_is_expected_in_every_case() {
    let mut kernel = comparing(false);
    write(&mut kernel, "middle", "fn middle(x, y) { x }");
    run(&mut kernel, "middle");
    let compared = |kernel: &Kernel| match verdict(kernel, "middle") {
        Verdict::Exercise { compared, .. } => compared,
        other => panic!("{other:?}"),
    };
    let cases = compared(&kernel);
    assert_eq!(cases.iter().map(|case| case.is_right).collect::<Vec<_>>(), [false, false], "also after the first");
    assert!(cases.iter().all(|case| case.yours != case.expected));
    write(&mut kernel, "middle", "fn middle(x, y) { (x + y) / 2 }");
    run(&mut kernel, "middle");
    assert!(compared(&kernel).iter().all(|case| case.is_right && case.yours == case.expected));
    // The variable of the cases stands for it.
    let mut kernel = comparing(true);
    run(&mut kernel, "middle");
    assert!(compared(&kernel).iter().all(|case| case.expected == Output::Number(2.5)));
}

#[test]
fn an_answer_without_a_value_says_why_beside_what_is_expected_whatever_the_lesson_says_of_it() {
    let text =
        NOTEBOOK.replacen(r#"value: "norm(middle(a, b))""#, r#"value: "middle(a, b)", expected: "(a + b) / 2""#, 1);
    let mut kernel = lessons::kernel(&text.replacen(r#"when: "norm(middle(a, b) - a) == 0""#, r#"when: "true""#, 1));
    for (answer, why) in [
        ("fn middle(x, y) { x + zeros(3) }", "(3)"),
        ("fn middle(x, y) { let half = x / 2; }", "returns the value of its last line"),
        ("fn centre(x, y) { x }", "middle"),
    ] {
        write(&mut kernel, "middle", answer);
        run(&mut kernel, "middle");
        let Verdict::Exercise { is_right: false, compared, .. } = verdict(&kernel, "middle") else {
            panic!("{answer} is not right")
        };
        assert_eq!(compared.len(), 2, "{answer}: in both cases");
        for case in &compared {
            assert!(
                matches!(&case.yours, Output::Text(yours) if yours.starts_with("no value: ") && yours.contains(why)),
                "{case:?}"
            );
            assert!(matches!(case.expected, Output::Table { .. }), "{case:?}");
        }
        let shown = ComparedModel::all(&compared);
        assert!(shown.iter().all(|case| case.summary().starts_with("no tensor, expected (")), "{}", shown[0].summary());
    }
}

#[test]
fn a_rehearsal_finds_what_the_solution_is_not() {
    assert_eq!(rehearsed(&mut comparing(false)), []);
    let problems = rehearsed(&mut comparing(true));
    assert_eq!(problems[0].words, "its solution passes, but differs from `expected` in case 1");
    for nothing in ["a @ 1.5.nope", "let unused = 1.0;"] {
        let problems = rehearsed(&mut comparing_with(&format!(", expected: {nothing:?}"), false));
        assert_eq!(problems[0].words, "its `expected` fails, or shows nothing to compare");
    }
}

#[test]
fn nothing_is_judged_before_the_learner_has_changed_something() {
    let is_judged = |kernel: &Kernel| {
        let model = NotebookModel::of(&kernel.snapshot(), None);
        model.cells[model.index("sharpen").expect("it is there")].is_judged
    };
    let mut kernel = kernel();
    assert!(!is_right(&kernel, "sharpen") && !is_judged(&kernel));
    apply(&mut kernel, temperature(0.9));
    assert!(!is_right(&kernel, "sharpen") && is_judged(&kernel));
}

#[test]
fn another_sentence_is_no_attempt() {
    let text = NOTEBOOK.replacen(r#"value: "temperature""#, r#"value: "shape(X)[0] + temperature""#, 1);
    let mut kernel = lessons::kernel(&text);
    let tried = |kernel: &Kernel| found(kernel, "sharpen").cell.attempts().tried;
    let before = verdict(&kernel, "sharpen");
    apply(&mut kernel, select(1));
    assert_ne!(verdict(&kernel, "sharpen"), before, "the check finds something else");
    assert_eq!(tried(&kernel), 0);
    apply(&mut kernel, temperature(0.9));
    assert_eq!(tried(&kernel), 1);
}

#[test]
fn the_check_cannot_be_talked_round() {
    let mut kernel = kernel();
    for answer in [
        // A function of the language, a live tensor and the case's own vectors, all replaced.
        "fn norm(x) { 0 } fn middle(a, b) { a }",
        "let E = 0; fn middle(a, b) { a }",
        "let a = E[0]; let b = E[0]; fn middle(a, b) { a }",
    ] {
        write(&mut kernel, "middle", answer);
        run(&mut kernel, "middle");
        assert!(!is_right(&kernel, "middle"), "{answer}");
    }
}

/// The exercise `middle` with another check and another solution.
fn with_check(check: &str, solution: &str) -> Kernel {
    let text = NOTEBOOK;
    let text = text.replacen(r#"check: "norm(middle(a, b) - (a + b) / 2) < 0.000001""#, check, 1);
    let text = text.replacen("{ (a + b) / 2 }", &format!("{{ (a + b) / 2 }} {solution}"), 1);
    lessons::kernel(&text)
}

#[test]
fn an_answer_replaces_nothing_that_the_check_names() {
    // Rhai's own functions, called either way, and those of the lesson's cases.
    let mut kernel = with_check(r#"check: "[middle(a, b)].len() == 1 && floor(norm(a - a)) == 1.0""#, "");
    for answer in ["fn floor(x) { 1.0 } fn middle(a, b) { a }", "fn norm(x) { 1.5 } fn middle(a, b) { a }"] {
        write(&mut kernel, "middle", answer);
        run(&mut kernel, "middle");
        assert!(!is_right(&kernel, "middle"), "{answer}");
    }
    // What the solution defines is the learner's to define, though the language has it.
    let mut kernel = with_check(r#"check: "softmax(a) == 5""#, "fn softmax(x) { 5 }");
    write(&mut kernel, "middle", "fn half() { 2.5 } fn softmax(x) { 2 * half() }");
    run(&mut kernel, "middle");
    assert!(is_right(&kernel, "middle"));
}

#[test]
fn an_exercise_may_be_solved_by_hand() {
    let mut kernel = kernel();
    assert!(!is_right(&kernel, "sharpen"), "its check runs by itself");
    apply(&mut kernel, temperature(0.5));
    assert!(is_right(&kernel, "sharpen"));
    apply(&mut kernel, Command::Interventions(InterventionCommand::SetTemperature(None)));
    assert!(is_right(&kernel, "sharpen"), "it was right once");
    assert!(found(&kernel, "sharpen").cell.attempts().is_passed);
    assert_eq!(status(&kernel, "sharpen"), CellStatus::Fresh);
    run(&mut kernel, "sharpen");
    assert!(!is_right(&kernel, "sharpen"), "its own cell was run again");
}

/// Whoever undoes a change tries nothing, and is as far as before when it is redone.
#[test]
fn undo_answers_no_exercise() {
    let mut kernel = Kernel::embedded(kernel().snapshot().lesson);
    apply(&mut kernel, temperature(0.7));
    let attempts = |kernel: &Kernel| found(kernel, "sharpen").cell.attempts().tried;
    assert_eq!(attempts(&kernel), 0, "its check ran for the first time");
    for step in [Command::Undo, Command::Redo] {
        apply(&mut kernel, step);
        assert_eq!(attempts(&kernel), 0);
    }
    apply(&mut kernel, temperature(0.6));
    assert_eq!(attempts(&kernel), 1);
}

/// `middle`, whose check is that the temperature is below 1.
fn with_live_check() -> Kernel {
    let (check, value) = (r#"check: "middle(a, b) == b && temperature < 1""#, r#"value: "temperature""#);
    let text = NOTEBOOK.replacen(r#"value: "norm(middle(a, b))""#, value, 1);
    let text = text.replacen(r#"check: "norm(middle(a, b) - (a + b) / 2) < 0.000001""#, check, 1);
    lessons::kernel(&text)
}

#[test]
fn the_value_beside_a_check_is_that_of_now() {
    let mut kernel = with_live_check();
    let value = |kernel: &Kernel| match verdict(kernel, "middle") {
        Verdict::Exercise { is_right, value, .. } => (is_right, value),
        other => panic!("{other:?}"),
    };
    write(&mut kernel, "middle", "fn middle(a, b) { b }");
    run(&mut kernel, "middle");
    assert_eq!(value(&kernel), (false, vec![Output::Number(kernel_temperature(&kernel))]));
    apply(&mut kernel, temperature(0.5));
    assert_eq!(value(&kernel), (true, vec![Output::Number(0.5)]));
    let attempts = found(&kernel, "middle").cell.attempts();
    assert_eq!((attempts.tried, attempts.is_passed), (1, true), "the learner asked once");
    // An answer that is being written is tried when the learner asks for it.
    write(&mut kernel, "middle", "fn middle(a, b) { a }");
    apply(&mut kernel, temperature(0.25));
    assert_eq!((value(&kernel), status(&kernel, "middle")), ((true, vec![Output::Number(0.5)]), CellStatus::Stale));
    let model = NotebookModel::of(&kernel.snapshot(), None);
    assert_eq!(model.cells[model.index("middle").expect("it is there")].note, "stale");
}

fn kernel_temperature(kernel: &Kernel) -> f64 {
    let model = kernel.snapshot().model.expect("it is trained");
    model.architecture.blocks[0].attention.temperature
}

#[test]
fn a_prediction_is_about_the_lessons_model() {
    let text = NOTEBOOK.replacen("shape(A)[0] - 1", "if temperature < 1 { 0 } else { 1 }", 1);
    let mut kernel = lessons::kernel(&text);
    cell(&mut kernel, "guess", CellCommand::Choose(1));
    apply(&mut kernel, temperature(0.5));
    assert!(found(&kernel, "guess").run.is_none(), "nothing is shown before the answer is given");
    cell(&mut kernel, "guess", CellCommand::Reveal);
    assert_eq!(verdict(&kernel, "guess"), Verdict::Prediction { right: 1 }, "the lesson's temperature is 1");
    apply(&mut kernel, temperature(0.2));
    assert_eq!(verdict(&kernel, "guess"), Verdict::Prediction { right: 1 });
    assert_eq!(found(&kernel, "guess").status, CellStatus::Fresh);
    cell(&mut kernel, "guess", CellCommand::Reset);
    assert!(found(&kernel, "guess").run.is_none());
    apply(&mut kernel, Command::Undo);
    assert_eq!(verdict(&kernel, "guess"), Verdict::Prediction { right: 1 }, "the answer is given again");
    // A task to change the model asks what the learner made of it.
    apply(&mut kernel, temperature(0.5));
    assert!(is_right(&kernel, "sharpen"));
}

#[test]
fn no_undo_of_another_edit_takes_back_what_was_passed() {
    let mut kernel = kernel();
    let attempts = |kernel: &Kernel| {
        let attempts = found(kernel, "middle").cell.attempts();
        (attempts.tried, attempts.is_passed)
    };
    write(&mut kernel, "middle", "fn middle(x, y) { (x + y) / 2 }");
    write(&mut kernel, "intro", "A note");
    run(&mut kernel, "middle");
    assert_eq!(attempts(&kernel), (1, true));
    for travel in [Command::Undo, Command::Undo, Command::Redo, Command::Redo] {
        apply(&mut kernel, travel);
        assert_eq!((attempts(&kernel), kernel.snapshot().notebook.closed_gate), ((1, true), None));
    }
    // A reset takes it back, whatever is undone before it; and its own undo brings it again.
    for reset in [NotebookCommand::Cell("middle".into(), CellCommand::Reset), NotebookCommand::Reset] {
        apply(&mut kernel, Command::Notebook(reset));
        write(&mut kernel, "end", "Another");
        apply(&mut kernel, Command::Undo);
        assert_eq!(attempts(&kernel), (0, false));
        apply(&mut kernel, Command::Undo);
        assert_eq!(attempts(&kernel), (1, true));
        apply(&mut kernel, Command::Redo);
        assert_eq!(attempts(&kernel), (0, false));
        apply(&mut kernel, Command::Undo);
    }
}

#[test]
fn hints_come_one_by_one_and_gates_can_be_passed() {
    let mut kernel = kernel();
    let gate = kernel.snapshot().notebook.closed_gate;
    assert_eq!(gate.map(|gate| kernel.snapshot().notebook.cells[gate].cell.id.to_string()).as_deref(), Some("gate"));
    for hints in [1, 2, 2] {
        cell(&mut kernel, "middle", CellCommand::Hint);
        assert_eq!(found(&kernel, "middle").cell.attempts().hints, hints);
    }
    assert_eq!(notice(&kernel).as_deref(), Some("there are no more hints"));
    cell(&mut kernel, "middle", CellCommand::Reveal);
    assert!(found(&kernel, "middle").cell.attempts().is_revealed);
    cell(&mut kernel, "gate", CellCommand::Skip);
    assert_eq!(kernel.snapshot().notebook.closed_gate, None);
    for id in ["intro", "double", "guess", "middle"] {
        let before = found(&kernel, id).cell;
        cell(&mut kernel, id, CellCommand::Skip);
        assert_eq!(notice(&kernel).as_deref(), Some("this cell is not a gate"));
        assert_eq!(found(&kernel, id).cell, before);
    }
}

#[test]
fn a_lesson_is_rehearsed() {
    assert_eq!(rehearsed(&mut kernel()), []);
    let text = NOTEBOOK;
    let broken = [
        // Over what the cell defines, and what one above defines; what it writes is dropped.
        (
            r#"src: "W_Q[0, 1] = W_Q[0, 1] + 0.5;""#,
            r#"src: "let w = W_Q[0, 1];", asserts: "W_Q[0, 1] = w + 1;\nif twice(w) == 2 * w { throw \"twice\"; }""#,
        ),
        (r#"src: "E @ E", fails: true"#, r#"src: "E @ E.T", fails: true"#),
        (r#"src: "let b = a * much; b""#, r#"src: "let b = a * such; b""#),
        (r#"answer: "shape(A)[0] - 1""#, r#"answer: "shape(A)[0]""#),
        ("{ (a + b) / 2 }", "{ (a + b) / 3 }"),
        (r#"check: "temperature == 0.5""#, r#"check: "temperature >= 0.5""#),
    ];
    let text = broken.iter().fold(text.to_owned(), |text, (from, to)| text.replacen(from, to, 1));
    let problems = rehearsed(&mut lessons::kernel(&text));
    let place = |at: &Spot| match at {
        Spot::Cell => String::new(),
        Spot::Field(field) => format!("{field}: "),
        Spot::Code { field, at } => format!("{field} {}:{}: ", at.line, at.column),
        Spot::Words(words) => format!("{words}: "),
    };
    let told = |problem: &Problem| format!("{}: {}{}", problem.cell, place(&problem.at), problem.words);
    let said: Vec<String> = problems.iter().map(told).collect();
    assert_eq!(
        said,
        [
            "uses: src 1:13: there is no variable `such` here; did you mean `much`? Make a new variable with `let such = …`",
            "writes: asserts 2:24: twice",
            "broken: it runs without a fault, but says fails: true",
            "guess: answer: its answer: the lesson's answer is not one of its choices; it says: shape(A)[0]",
            "middle: solution: its solution does not pass case 1",
            "sharpen: start: its starting code already passes",
        ]
    );
}

#[test]
fn running_all_tries_no_task() {
    let mut kernel = kernel();
    apply(&mut kernel, RUN_ALL);
    assert!(found(&kernel, "guess").run.is_none() && found(&kernel, "middle").run.is_none());
    assert_eq!(found(&kernel, "middle").cell.attempts().tried, 0);
    assert!(found(&kernel, "uses").run.is_some());
}
