//! Questions with drawn numbers: each draw has one right choice, a reset draws others, and saved work keeps them.

use attune_core::kernel::check::rehearse;
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::snapshot::Verdict;
use attune_core::kernel::{Kernel, Saved};
use std::time::Duration;

use crate::common::commands::of_cell;
use crate::common::lessons::{SMALL, apply, found, lesson, with_cells};

/// A question whose right choice is the middle one of three numbers.
fn asked(wrong: &str) -> String {
    with_cells(
        SMALL,
        &format!(
            r##"
        Predict(
            id: "guess", ask: "Half of {{{{ n }}}}?", draws: "let n = 2 * ((random(1, 1)[0, 0] + 1) * 5000).floor().to_int() + 2;",
            choices: ["{{{{ n / 2 }}}}", "{wrong}", "none"], reasons: ["It is {{{{ n / 2 }}}}.", "Too much.", "No."], answer: "0",
        ),
    "##
        ),
    )
}

/// The choices with their numbers, and the order in which they are shown.
fn drawn(kernel: &mut Kernel) -> (Vec<String>, Vec<usize>) {
    kernel.settle();
    let cell = found(kernel, "guess");
    let live = cell.live.and_then(|live| live.values).expect("they are evaluated");
    (live.values.iter().map(|value| format!("{:?}", value.value)).collect(), cell.order)
}

#[test]
fn a_reset_draws_other_numbers_and_saved_work_keeps_them() {
    let text = asked("{{ n }}");
    let mut kernel = Kernel::trained(lesson(&text));
    let first = drawn(&mut kernel);
    assert_eq!(first, drawn(&mut Kernel::trained(lesson(&text))), "the same seed draws the same");
    let mut other = Kernel::trained(lesson(&text.replacen("seed: ", "seed: 1", 1)));
    assert_ne!(first.0, drawn(&mut other).0, "another seed draws others");

    apply(&mut kernel, of_cell("guess", CellCommand::Choose(1)));
    apply(&mut kernel, of_cell("guess", CellCommand::Reveal));
    let run = found(&kernel, "guess").run.expect("it ran");
    assert_eq!(run.verdict, Some(Verdict::Prediction { right: 0 }));
    assert_eq!(drawn(&mut kernel), first);
    apply(&mut kernel, of_cell("guess", CellCommand::Reset));
    let second = drawn(&mut kernel);
    assert_ne!(first.0, second.0);

    apply(&mut kernel, of_cell("guess", CellCommand::Choose(2)));
    let saved = Saved::of(&kernel.snapshot());
    let mut again = Kernel::open(lesson(&text), Some(saved));
    assert_eq!(drawn(&mut again), second, "saved work keeps its numbers");
}

#[test]
fn a_draw_with_two_choices_alike_is_a_problem() {
    let problems = |wrong: &str| {
        let mut kernel = Kernel::trained(lesson(&asked(wrong)));
        let problems = rehearse(&mut kernel, Duration::from_secs(60));
        problems.into_iter().map(|problem| problem.words).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(problems("{{ n }}"), "");
    assert!(problems("{{ n / 2 }}").contains("two of its choices are"), "{}", problems("{{ n / 2 }}"));
    assert!(problems("{{ [7][n] }}").starts_with("its answer: "), "{}", problems("{{ [7][n] }}"));
}
