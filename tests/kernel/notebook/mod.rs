//! The notebook: cells that run in order over the live model, and never lie about what they show.

mod dependencies;
mod editing;
mod passes;
mod tasks;
mod writing;

use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::snapshot::{CellStatus, RunSnapshot};
use attune_engine::code::Output;

use crate::common::commands::{RUN_ALL, of_cell};
use crate::common::lessons::{self, NOTEBOOK, apply, found, ids, notice};

/// A trained kernel whose notebook stands still.
fn kernel() -> Kernel {
    lessons::kernel(NOTEBOOK)
}

/// Applies a command to a cell and waits for all that follows from it.
fn cell(kernel: &mut Kernel, id: &str, command: CellCommand) {
    apply(kernel, of_cell(id, command));
}

fn write(kernel: &mut Kernel, id: &str, text: &str) {
    cell(kernel, id, CellCommand::SetText(text.into()));
}

fn run(kernel: &mut Kernel, id: &str) -> Arc<RunSnapshot> {
    cell(kernel, id, CellCommand::Run);
    shown(kernel, id)
}

fn shown(kernel: &Kernel, id: &str) -> Arc<RunSnapshot> {
    found(kernel, id).run.unwrap_or_else(|| panic!("{id} has not run"))
}

fn status(kernel: &Kernel, id: &str) -> CellStatus {
    found(kernel, id).status
}

fn number(kernel: &Kernel, id: &str) -> f64 {
    let run = shown(kernel, id);
    match run.outputs.last() {
        Some(Output::Number(x)) => *x,
        other => panic!("{id} shows {other:?}, {:?}", run.fault),
    }
}

fn fault(kernel: &Kernel, id: &str) -> String {
    shown(kernel, id).fault.as_ref().unwrap_or_else(|| panic!("{id} has no fault")).to_string()
}

#[test]
fn the_whole_notebook_runs() {
    let mut kernel = kernel();
    apply(&mut kernel, RUN_ALL);
    for cell in &kernel.snapshot().notebook.cells {
        let Some(run) = &cell.run else { continue };
        assert_eq!(run.fault.is_some(), &*cell.cell.id == "broken", "{}: {:?}", cell.cell.id, run.fault);
    }
    assert_eq!(number(&kernel, "uses"), 2.0);
}

#[test]
fn the_same_commands_give_the_same_notebook() {
    let run = || {
        let mut kernel = kernel();
        apply(&mut kernel, RUN_ALL);
        write(&mut kernel, "uses", "random(2, 2)");
        cell(&mut kernel, "uses", CellCommand::Run);
        kernel.snapshot().notebook
    };
    assert_eq!(run(), run());
}
