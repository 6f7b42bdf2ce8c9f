//! Cells are inserted, deleted, moved, split and merged in the learner's copy, and all of it undoes.

use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::notebook::snapshot::CellStatus;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel};

use super::{apply, cell, found, ids, kernel, notice, number, run, status, write};

fn text(kernel: &Kernel, id: &str) -> String {
    found(kernel, id).cell.text.to_string()
}

#[test]
fn cells_are_inserted_moved_and_deleted() {
    let mut kernel = kernel();
    let lesson = ids(&kernel);
    cell(&mut kernel, "intro", CellCommand::Insert { kind: OwnKind::Code, is_above: false });
    assert_eq!(ids(&kernel)[..3], ["intro", "own 1", "double"]);
    write(&mut kernel, "own 1", "let own = 4; own");
    run(&mut kernel, "own 1");
    assert_eq!(number(&kernel, "own 1"), 4.0);
    cell(&mut kernel, "own 1", CellCommand::Shift(-1));
    assert_eq!(ids(&kernel)[..3], ["own 1", "intro", "double"]);
    cell(&mut kernel, "own 1", CellCommand::Shift(isize::MIN));
    cell(&mut kernel, "own 1", CellCommand::Shift(isize::MAX));
    assert_eq!(ids(&kernel).last().expect("cells"), "own 1");
    cell(&mut kernel, "own 1", CellCommand::Delete);
    assert_eq!(ids(&kernel), lesson);
    for _ in 0..4 {
        apply(&mut kernel, Command::Undo);
    }
    assert_eq!((ids(&kernel)[1].as_str(), text(&kernel, "own 1").as_str()), ("own 1", ""));
    apply(&mut kernel, Command::Undo);
    assert_eq!(ids(&kernel), lesson);
    for _ in 0..5 {
        apply(&mut kernel, Command::Redo);
    }
    assert_eq!(ids(&kernel), lesson);
}

#[test]
fn writing_undoes_as_one() {
    let mut kernel = kernel();
    let before = text(&kernel, "double");
    ["l", "le", "let"].into_iter().for_each(|typed| write(&mut kernel, "double", typed));
    write(&mut kernel, "intro", "Other");
    write(&mut kernel, "double", "let c = 1;");
    apply(&mut kernel, Command::Undo);
    assert_eq!(text(&kernel, "double"), "let");
    apply(&mut kernel, Command::Undo);
    apply(&mut kernel, Command::Undo);
    assert_eq!(text(&kernel, "double"), before);
    assert!(!found(&kernel, "double").cell.is_edited());
}

#[test]
fn cells_are_split_and_merged() {
    let mut kernel = kernel();
    let before = text(&kernel, "double");
    let at = before.find("fn").expect("a function");
    cell(&mut kernel, "double", CellCommand::Split(at));
    assert_eq!(ids(&kernel)[1..3], ["double", "own 1"]);
    assert_eq!(
        (text(&kernel, "double").as_str(), text(&kernel, "own 1").starts_with("fn twice")),
        ("let a = 2;", true)
    );
    cell(&mut kernel, "double", CellCommand::MergeBelow);
    assert_eq!(text(&kernel, "double"), before);
    write(&mut kernel, "intro", "Näher");
    cell(&mut kernel, "intro", CellCommand::Split(2));
    assert_eq!(notice(&kernel).as_deref(), Some("a cell can be split only between two characters"));
    cell(&mut kernel, "intro", CellCommand::MergeBelow);
    assert_eq!(notice(&kernel).as_deref(), Some("only two cells of text, or two of code, can be merged"));
}

#[test]
fn resets_can_be_undone() {
    let mut kernel = kernel();
    let lesson = ids(&kernel);
    write(&mut kernel, "double", "3");
    cell(&mut kernel, "end", CellCommand::Delete);
    cell(&mut kernel, "double", CellCommand::Reset);
    assert!(!found(&kernel, "double").cell.is_edited());
    apply(&mut kernel, Command::Undo);
    assert_eq!(text(&kernel, "double"), "3");
    apply(&mut kernel, Command::Notebook(NotebookCommand::Reset));
    assert_eq!(ids(&kernel), lesson);
    apply(&mut kernel, Command::Undo);
    assert_eq!((ids(&kernel).len(), text(&kernel, "double").as_str()), (lesson.len() - 1, "3"));
}

#[test]
fn a_reset_takes_back_what_ran() {
    let mut kernel = kernel();
    run(&mut kernel, "double");
    // The window looks between the two.
    assert!(found(&kernel, "double").run.is_some());
    cell(&mut kernel, "double", CellCommand::Reset);
    assert_eq!((found(&kernel, "double").run, status(&kernel, "double")), (None, CellStatus::New));
    write(&mut kernel, "double", "3");
    run(&mut kernel, "double");
    cell(&mut kernel, "double", CellCommand::Reset);
    apply(&mut kernel, Command::Undo);
    assert_eq!((found(&kernel, "double").run, status(&kernel, "double")), (None, CellStatus::New));
    assert_eq!(text(&kernel, "double"), "3");
}

#[test]
fn text_becomes_code_and_back() {
    let mut kernel = kernel();
    cell(&mut kernel, "intro", CellCommand::SetKind(OwnKind::Code));
    write(&mut kernel, "intro", "1 + 1");
    run(&mut kernel, "intro");
    assert_eq!(number(&kernel, "intro"), 2.0);
    cell(&mut kernel, "intro", CellCommand::SetKind(OwnKind::Text));
    assert!(found(&kernel, "intro").cell.is_text());
}
