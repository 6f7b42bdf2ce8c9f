//! A cell sees what stands above it, and what it shows is marked when that is no longer so.

use std::sync::Arc;

use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::notebook::snapshot::CellStatus;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::params::TensorName;

use crate::common::close::{Tolerance, assert_close};
use crate::common::commands::{RUN_ALL, auto_run, of_cell, set};
use crate::common::lessons::model;
use crate::common::snapshots::assert_catalogue;
use crate::common::waiting::wait_until;

use super::{apply, cell, fault, found, kernel, number, run, shown, status, write};

#[test]
fn a_cell_sees_what_ran_above_it_and_nothing_below() {
    let mut kernel = kernel();
    run(&mut kernel, "uses");
    assert!(fault(&kernel, "uses").starts_with("1:9: there is no variable `a` here"), "{}", fault(&kernel, "uses"));
    run(&mut kernel, "double");
    run(&mut kernel, "uses");
    assert_eq!(number(&kernel, "uses"), 2.0);
    // `b` is made below.
    write(&mut kernel, "double", "let a = 2; b");
    run(&mut kernel, "double");
    assert!(fault(&kernel, "double").contains("there is no variable `b`"));
}

#[test]
fn what_changed_above_marks_what_is_below_as_stale() {
    let mut kernel = kernel();
    run(&mut kernel, "double");
    run(&mut kernel, "uses");
    assert_eq!((status(&kernel, "double"), status(&kernel, "uses")), (CellStatus::Fresh, CellStatus::Fresh));
    write(&mut kernel, "double", "let a = 5;");
    assert_eq!((status(&kernel, "double"), status(&kernel, "uses")), (CellStatus::Stale, CellStatus::Stale));
    apply(&mut kernel, Command::Undo);
    assert_eq!(status(&kernel, "uses"), CellStatus::Fresh, "the text is what ran again");
    write(&mut kernel, "double", "let a = 5;");
    run(&mut kernel, "double");
    assert_eq!(status(&kernel, "uses"), CellStatus::Stale);
    run(&mut kernel, "uses");
    assert_eq!((number(&kernel, "uses"), status(&kernel, "uses")), (5.0, CellStatus::Fresh));
    // Moved below its reader, it is no longer seen.
    cell(&mut kernel, "double", CellCommand::Shift(3));
    assert_eq!(status(&kernel, "uses"), CellStatus::Stale);
}

#[test]
fn a_slider_runs_what_depends_on_it() {
    let mut kernel = kernel();
    run(&mut kernel, "double");
    run(&mut kernel, "uses");
    cell(&mut kernel, "turn", CellCommand::Slide(4.0));
    assert_eq!((number(&kernel, "uses"), status(&kernel, "uses")), (8.0, CellStatus::Fresh));
    (0..50).for_each(|i| cell(&mut kernel, "turn", CellCommand::Slide(f64::from(i) / 10.0)));
    assert_eq!(number(&kernel, "uses"), 9.8);
    apply(&mut kernel, Command::Undo);
    // The drag, and the one before it, undo as one.
    assert_eq!(number(&kernel, "uses"), 9.8, "undo marks; it does not run");
    assert_eq!(status(&kernel, "uses"), CellStatus::Stale);
    cell(&mut kernel, "turn", CellCommand::Slide(99.0));
    assert_eq!(number(&kernel, "uses"), 20.0, "a slider stays within its range");
}

#[test]
fn every_move_of_a_slider_reaches_the_end_of_a_chain() {
    let mut kernel = kernel();
    cell(&mut kernel, "uses", CellCommand::Insert { kind: OwnKind::Code, is_above: false });
    write(&mut kernel, "own 1", "let c = b + 1; c");
    apply(&mut kernel, RUN_ALL);
    for turned in [3.0, 4.0, 5.0] {
        cell(&mut kernel, "turn", CellCommand::Slide(turned));
        assert_eq!((number(&kernel, "own 1"), status(&kernel, "own 1")), (2.0 * turned + 1.0, CellStatus::Fresh));
    }
}

/// Each reads from a cell that was edited and waits to be run: a run of theirs would read what they read before.
#[test]
fn what_runs_by_itself_waits_for_a_cell_above_that_waits_for_the_learner() {
    let mut kernel = kernel();
    apply(&mut kernel, RUN_ALL);
    apply(&mut kernel, auto_run(true));
    let edit = CellCommand::SetText("let a = 5;".into());
    kernel.apply(of_cell("double", edit));
    const PIECES: usize = 200;
    let pieces = (0..PIECES).take_while(|_| kernel.is_busy().then(|| kernel.advance()).is_some()).count();
    assert!(pieces < PIECES, "it never settles");
    assert_eq!((status(&kernel, "double"), status(&kernel, "uses")), (CellStatus::Stale, CellStatus::Stale));
    run(&mut kernel, "double");
    assert_eq!((number(&kernel, "uses"), status(&kernel, "uses")), (5.0, CellStatus::Fresh), "and then it follows");
}

#[test]
fn a_change_of_the_model_marks_what_read_it() {
    let mut kernel = kernel();
    run(&mut kernel, "reads");
    run(&mut kernel, "double");
    let before = number(&kernel, "reads");
    cell(&mut kernel, "sharp", CellCommand::Slide(0.1));
    assert_ne!(number(&kernel, "reads"), before, "a slider runs what depends on it through the model");
    let weight = set(TensorName::QueryWeights, 0, 1, 3.0);
    apply(&mut kernel, weight);
    assert_eq!((status(&kernel, "reads"), status(&kernel, "double")), (CellStatus::Stale, CellStatus::Fresh));
    apply(&mut kernel, auto_run(true));
    assert_eq!(status(&kernel, "reads"), CellStatus::Fresh, "it runs by itself now");
}

#[test]
fn a_cell_writes_to_the_model_once() {
    let mut kernel = kernel();
    let weight = |kernel: &Kernel| model(kernel).parameters.matrix(TensorName::QueryWeights)[(0, 1)];
    let before = weight(&kernel);
    apply(&mut kernel, auto_run(true));
    run(&mut kernel, "reads");
    let read = number(&kernel, "reads");
    run(&mut kernel, "writes");
    assert_close("the weight", weight(&kernel), before + 0.5, Tolerance::SINGLE);
    assert_eq!(status(&kernel, "writes"), CellStatus::Fresh, "its own change does not make it stale");
    assert_ne!(number(&kernel, "reads"), read, "what reads the model has followed");
    apply(&mut kernel, Command::Undo);
    assert_eq!(weight(&kernel), before);
    assert_eq!(status(&kernel, "writes"), CellStatus::Stale, "and it does not run again by itself");
    cell(&mut kernel, "weight", CellCommand::Slide(0.25));
    assert_eq!(weight(&kernel), 0.25);
}

#[test]
fn what_a_cell_may_not_write_is_said() {
    let mut kernel = kernel();
    run(&mut kernel, "double");
    let before = model(&kernel).parameters;
    assert_catalogue("tests/kernel/notebook/refused_writes.txt", |_, source| {
        write(&mut kernel, "uses", source);
        run(&mut kernel, "uses");
        assert_eq!(model(&kernel).parameters, before, "{source}");
        fault(&kernel, "uses")
    });
    write(&mut kernel, "uses", "visible[\"seal\", \"the\"] = 0.0; temperature = 2.0;");
    run(&mut kernel, "uses");
    let model = model(&kernel);
    assert_eq!(model.interventions.temperature, Some(2.0));
    assert_eq!(model.sentence.activations.blocks[0].heads[0].weights.get(1, 0), 0.0);
}

#[test]
fn a_name_that_is_defined_twice_is_said() {
    let mut kernel = kernel();
    run(&mut kernel, "double");
    write(&mut kernel, "uses", "let a = 7;");
    run(&mut kernel, "uses");
    assert_eq!(found(&kernel, "uses").shadows.as_deref(), Some("a"));
    write(&mut kernel, "reads", "a");
    run(&mut kernel, "reads");
    assert_eq!(number(&kernel, "reads"), 7.0, "the nearest above");
    cell(&mut kernel, "uses", CellCommand::Delete);
    assert_eq!(status(&kernel, "reads"), CellStatus::Stale);
    run(&mut kernel, "reads");
    assert_eq!(number(&kernel, "reads"), 2.0);
}

#[test]
fn restart_forgets_and_interrupt_ends() {
    let mut kernel = kernel();
    run(&mut kernel, "double");
    apply(&mut kernel, Command::Notebook(NotebookCommand::Restart));
    assert_eq!(status(&kernel, "double"), CellStatus::New);
    // A flag set by another thread ends what runs, and those that wait do not start.
    write(&mut kernel, "double", "let n = 0; loop { n += 1; }");
    let stop = kernel.stop_flag();
    kernel.apply(RUN_ALL);
    let idle = Arc::strong_count(&stop);
    let stopper = std::thread::spawn(move || {
        wait_until("it runs", || Arc::strong_count(&stop) > idle);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    kernel.settle();
    stopper.join().expect("a thread");
    assert!(fault(&kernel, "double").ends_with("interrupted"));
    assert_eq!(status(&kernel, "uses"), CellStatus::New);
    write(&mut kernel, "double", "1");
    run(&mut kernel, "double");
    assert_eq!(number(&kernel, "double"), 1.0, "the next run is not ended");
}

#[test]
fn a_function_called_as_a_method_is_read() {
    let mut kernel = kernel();
    write(&mut kernel, "double", "fn twice() { this + this }");
    write(&mut kernel, "uses", "3.twice()");
    run(&mut kernel, "double");
    run(&mut kernel, "uses");
    assert_eq!(number(&kernel, "uses"), 6.0);
    write(&mut kernel, "double", "fn twice() { this * this }");
    run(&mut kernel, "double");
    assert_eq!(status(&kernel, "uses"), CellStatus::Stale);
}

#[test]
fn cells_together_keep_no_more_than_they_may() {
    let mut kernel = kernel();
    let many = (0..40).map(|i| format!("let t{i} = ones(1000, 1000);")).collect::<String>();
    write(&mut kernel, "double", &many);
    write(&mut kernel, "uses", &many);
    run(&mut kernel, "double");
    assert_eq!(shown(&kernel, "double").fault, None);
    run(&mut kernel, "uses");
    assert!(fault(&kernel, "uses").contains("would keep more than 512 MB"), "{}", fault(&kernel, "uses"));
    cell(&mut kernel, "double", CellCommand::ClearOutputs);
    run(&mut kernel, "uses");
    assert_eq!(shown(&kernel, "uses").fault, None);
    // What a deleted cell left is kept for an undo while there is room, and takes none from the others.
    cell(&mut kernel, "uses", CellCommand::Delete);
    run(&mut kernel, "double");
    assert_eq!(shown(&kernel, "double").fault, None);
}

#[test]
fn what_a_cell_above_made_is_changed_in_no_part_of_it() {
    let mut kernel = kernel();
    write(&mut kernel, "double", "let a = #{x: 1};");
    run(&mut kernel, "double");
    write(&mut kernel, "uses", "a.y = 2;");
    run(&mut kernel, "uses");
    let said = fault(&kernel, "uses");
    assert!(said.starts_with("`a` cannot be changed: it is defined above, in [1]; define your own"), "{said}");
    write(&mut kernel, "uses", "let b = a; b.y = 2; b.x + b.y");
    run(&mut kernel, "uses");
    assert_eq!(number(&kernel, "uses"), 3.0);
}
