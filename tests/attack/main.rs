//! Hostile lessons: whatever its cells say, a lesson takes neither the memory nor the time of the machine, and says why
//! it ended. `examples/hostile.rs` makes such cells by the thousand.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/peak.rs"]
mod peak;

mod growth;
mod mutants;
mod time;

use std::sync::Arc;

use attune_core::kernel::notebook::snapshot::{CellSnapshot, RunSnapshot, Verdict};
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel};

use crate::common::lessons::{self, SMALL, kernel};

/// Code that goes on for ever, and takes few operations of the language for it.
const SLOW: &str = r#"let a = []; a.pad(9999, "x"); loop { "y" in a; }"#;

/// A trained kernel of the small lesson with these cells.
#[track_caller]
fn with_cells(cells: &[String]) -> Kernel {
    kernel(&lessons::with_cells(SMALL, &cells.concat()))
}

fn code(id: usize, source: &str) -> String {
    format!("Code(id: \"c{id}\", src: r####\"{source}\"####),\n")
}

fn plot(id: usize, source: &str) -> String {
    format!("Plot(id: \"c{id}\", caption: \"x\", src: r####\"{source}\"####),\n")
}

fn apply(kernel: &mut Kernel, id: usize, command: CellCommand) {
    lessons::apply(kernel, Command::Notebook(NotebookCommand::Cell(format!("c{id}").into(), command)));
}

/// Writes into a cell, and runs one, as the learner does.
fn write(kernel: &mut Kernel, id: usize, text: &str) {
    apply(kernel, id, CellCommand::SetText(text.into()));
}

fn run(kernel: &mut Kernel, id: usize) -> Arc<RunSnapshot> {
    apply(kernel, id, CellCommand::Run);
    shown(kernel, id)
}

fn cell(kernel: &Kernel, id: usize) -> CellSnapshot {
    lessons::found(kernel, &format!("c{id}"))
}

fn shown(kernel: &Kernel, id: usize) -> Arc<RunSnapshot> {
    cell(kernel, id).run.unwrap_or_else(|| panic!("c{id} did not run"))
}

fn fault(run: &RunSnapshot) -> String {
    run.fault.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn feedback(run: &RunSnapshot) -> String {
    match &run.verdict {
        Some(Verdict::Exercise { feedback: Some(said), .. }) => said.to_string(),
        other => panic!("{other:?}"),
    }
}
