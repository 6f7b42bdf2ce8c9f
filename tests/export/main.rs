//! Exports: whole, valid, true to the numbers, and never more than text.

#[path = "../common/mod.rs"]
mod common;

mod alone;
mod cards;
mod code;
mod engines;
mod files;
mod folders;
mod given;
mod hostile;
mod ipynb;
mod live_texts;
mod markup;
mod numbers;
mod pages;
mod panels;
mod pictures;
mod pytorch;
mod ribbons;
mod senses;
mod site;
mod slides;
mod states;
mod trace;
mod vectors;
mod web;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::Lesson;
use attune_core::lesson::course::{self, CourseFile};
use attune_view::export::{Pictures, ipynb as notebook, markdown, web_page};

use crate::common::lessons::{self, APPLE, NOTEBOOK, kernel};
use crate::common::top::at;

/// Lessons that are trained and run from the top, once for all tests that only look at them.
static NOTEBOOK_RUN: LazyLock<Snapshot> = LazyLock::new(|| run(NOTEBOOK).snapshot());
static APPLE_RUN: LazyLock<Snapshot> = LazyLock::new(|| run(APPLE).snapshot());

/// The lessons of the course, each trained once for all tests.
fn course() -> Vec<(CourseFile, Kernel)> {
    static TRAINED: LazyLock<Mutex<Vec<(CourseFile, Kernel)>>> = LazyLock::new(|| {
        let trained = |file: CourseFile| (file.clone(), Kernel::trained(Arc::new(lessons::of_file(&file.path))));
        Mutex::new(course::list(&at("lessons")).into_iter().map(trained).collect())
    });
    let trained = TRAINED.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(trained.len(), 27);
    let copy = |kernel: &Kernel| kernel.copy(Arc::new(Lesson::clone(&kernel.snapshot().lesson)));
    trained.iter().map(|(file, kernel)| (file.clone(), copy(kernel))).collect()
}

/// The fixture with these cells instead of its own, trained and run from the top.
fn with_cells(cells: &str) -> Kernel {
    run(&lessons::with_cells(NOTEBOOK, cells))
}

fn run(lesson: &str) -> Kernel {
    let mut kernel = kernel(lesson);
    apply(&mut kernel, NotebookCommand::RunAll);
    kernel
}

fn apply(kernel: &mut Kernel, command: NotebookCommand) {
    kernel.apply(Command::Notebook(command));
    kernel.settle();
}

fn cell(kernel: &mut Kernel, id: &str, command: CellCommand) {
    apply(kernel, NotebookCommand::Cell(id.into(), command));
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

fn as_html(snapshot: &Snapshot, pictures: &Pictures) -> String {
    text(|to| web_page::write(snapshot, pictures, None, to).expect("it is written"))
}

fn as_md(snapshot: &Snapshot, pictures: &Pictures) -> String {
    text(|to| _ = markdown::write(snapshot, pictures, "x_files", to).expect("it is written"))
}

fn as_ipynb(snapshot: &Snapshot, pictures: &Pictures) -> serde_json::Value {
    let text = text(|to| notebook::write(snapshot, pictures, to).expect("it is written"));
    serde_json::from_str(&text).expect("JSON")
}
