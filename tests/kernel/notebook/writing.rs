//! What a cell writes to the model is one change, whatever it writes.

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::{Command, Kernel, Snapshot};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{apply, cell, kernel, notice, write};
use crate::common::commands::temperature;
use crate::common::lessons;

/// Lines of code, each of which writes to the model, or writes what is there.
const WRITES: [&str; 8] = [
    "W_Q[0, 0] = 0.5;",
    "W_Q[0, 0] = W_Q[0, 0];",
    "W_V = W_V * 2;",
    "b_K[1] = -1.25;",
    "temperature = 2.0;",
    "temperature = temperature;",
    "visible[1, 0] = 0;",
    "visible[0, 1] = 1;",
];

fn writing() -> impl Strategy<Value = Vec<&'static str>> {
    vec(select(&WRITES[..]), 1..5)
}

/// What undo restores of the model: the weights in use and the interventions.
fn changeable(snapshot: &Snapshot) -> (Vec<u32>, String) {
    let model = snapshot.model.as_ref().expect("a model");
    (lessons::bits(snapshot), format!("{:?}", model.interventions))
}

/// Runs one cell with these lines. Returns whether it changed the model.
fn run(kernel: &mut Kernel, lines: &[&str]) -> bool {
    write(kernel, "double", &lines.join("\n"));
    let before = changeable(&kernel.snapshot());
    cell(kernel, "double", CellCommand::Run);
    let run = lessons::found(kernel, "double").run.expect("it ran");
    assert_eq!(run.fault, None, "{lines:?}");
    changeable(&kernel.snapshot()) != before
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_run_of_a_cell_is_one_step_of_undo(first in writing(), second in writing()) {
        let mut kernel = kernel();
        // A step that is no cell's, so that there is something that a second undo would take back.
        apply(&mut kernel, temperature(0.75));
        run(&mut kernel, &first);
        write(&mut kernel, "double", &second.join("\n"));
        let label = |kernel: &Kernel| kernel.snapshot().history.undo;
        let (before, label_before) = (changeable(&kernel.snapshot()), label(&kernel));
        let has_changed = run(&mut kernel, &second);
        let after = changeable(&kernel.snapshot());
        if has_changed {
            let written = label(&kernel);
            prop_assert_eq!(written.as_deref(), Some("what cell double wrote"));
            kernel.apply(Command::Undo);
            prop_assert_eq!(changeable(&kernel.snapshot()), before);
            prop_assert_eq!(label(&kernel), label_before);
            kernel.apply(Command::Redo);
            prop_assert_eq!(changeable(&kernel.snapshot()), after);
            prop_assert_eq!(kernel.snapshot().history.redo, None);
        } else {
            prop_assert_eq!(label(&kernel), label_before, "nothing changed, so nothing is to be undone");
        }
    }
}

#[test]
fn weights_and_temperature_of_one_run_come_back_together() {
    let mut kernel = kernel();
    let given = changeable(&kernel.snapshot());
    assert!(run(&mut kernel, &["W_Q[0, 0] = 0.5;", "temperature = 2.0;", "visible[1, 0] = 0;"]));
    let written = changeable(&kernel.snapshot());
    for _ in 0..2 {
        kernel.apply(Command::Undo);
        assert_eq!(changeable(&kernel.snapshot()), given);
        kernel.apply(Command::Redo);
        assert_eq!(changeable(&kernel.snapshot()), written);
    }
    // Another change in between: each is undone by itself.
    apply(&mut kernel, Command::Sentence(SentenceCommand::Select(1)));
    for _ in 0..2 {
        kernel.apply(Command::Undo);
        assert_eq!(notice(&kernel), None);
    }
    assert_eq!(changeable(&kernel.snapshot()), given);
}
