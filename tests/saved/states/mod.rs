//! The learner's doings are back when the lesson opens again, whatever became of the lesson, the file or the program.

mod course;
mod hostile;
mod merging;
mod recall;
mod round_trip;

use std::sync::Arc;

use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Lesson;
use attune_engine::code::Output;

use crate::common::commands::of_cell;
use crate::common::lessons::{self, NOTEBOOK, found, ids};
use crate::common::resaved::{open, saved};

const TEXT: &str = NOTEBOOK;

fn lesson() -> Arc<Lesson> {
    lessons::lesson(TEXT)
}

/// The lesson with pieces replaced, each of which is there once.
fn changed(pieces: &[(&str, &str)]) -> Arc<Lesson> {
    let replace = |text: String, (from, to): &(&str, &str)| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text.replace(from, to)
    };
    lessons::lesson(&pieces.iter().fold(TEXT.to_owned(), replace))
}

fn kernel() -> Kernel {
    Kernel::trained(lesson())
}

fn cell(kernel: &mut Kernel, id: &str, command: CellCommand) {
    apply(kernel, of_cell(id, command));
}

fn apply(kernel: &mut Kernel, command: Command) {
    lessons::apply(kernel, command);
    assert_eq!(kernel.snapshot().notice, None);
}

fn write(kernel: &mut Kernel, id: &str, text: &str) {
    cell(kernel, id, CellCommand::SetText(text.into()));
}

fn reopened(kernel: &Kernel, lesson: Arc<Lesson>) -> Kernel {
    open(lesson, saved(kernel))
}

fn text(kernel: &Kernel, id: &str) -> String {
    found(kernel, id).cell.text.to_string()
}

fn outputs(kernel: &Kernel, id: &str) -> Vec<Output> {
    found(kernel, id).run.map_or_else(Vec::new, |run| run.outputs.to_vec())
}

fn report(kernel: &Kernel) -> Vec<String> {
    kernel.snapshot().report.to_vec()
}
