//! A program that works on a lesson and is killed, fifty times over: nothing is lost that it had saved.

use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::{Kernel, Saved};
use attune_core::store::{Home, Key, Lock, Saver, Status, Stored, open};
use attune_engine::numerics::params::TensorName;
use serde::{Deserialize, Serialize};

use super::{cell, lesson};
use crate::common::commands::{PLAY, set};
use crate::common::folder::Folder;
use crate::store::children::{MOMENTS, killed, say};

#[derive(Serialize, Deserialize)]
struct Kept(Saved);

impl Stored for Kept {
    const VERSION: u32 = 1;
}

fn key() -> Key {
    Key::of_file("notebook", Path::new("tests/fixtures/notebook.ron"))
}

/// How much was done: the learner counts in a text, in the cells of their own and in a weight.
fn done(kernel: &Kernel) -> u64 {
    let cells = kernel.snapshot().notebook.cells.clone();
    let counted = cells.iter().find(|cell| &*cell.cell.id == "intro").and_then(|cell| cell.cell.text.parse().ok());
    let counted = counted.unwrap_or(0);
    let own = cells.iter().filter(|cell| cell.cell.is_own).count() as u64;
    assert_eq!(own, counted / 40, "half of a change was saved");
    let weight = kernel.snapshot().model.map_or(0.0, |model| model.parameters.values_of(TensorName::QueryWeights)[0]);
    if counted > 0 {
        assert_eq!(weight, counted as f32, "the weight is of another time than the text");
    }
    counted
}

fn learn(kernel: &mut Kernel, number: u64) {
    cell(kernel, "intro", CellCommand::SetText(number.to_string().into()));
    if number.is_multiple_of(40) {
        cell(kernel, "end", CellCommand::Insert { kind: OwnKind::Code, is_above: false });
    }
    kernel.apply(set(TensorName::QueryWeights, 0, 0, number as f32));
    kernel.settle();
}

/// In a child, which is killed.
pub fn learn_without_end(home: &Home) {
    let opened = open::<Kept>(home, &key());
    assert!(opened.loaded.report().is_empty());
    let mut kernel = Kernel::open(lesson(), opened.loaded.value.map(|kept| kept.0));
    if kernel.snapshot().awaited.is_none() {
        kernel.apply(PLAY);
    }
    kernel.settle();
    assert!(kernel.snapshot().report.is_empty(), "{:?}", kernel.snapshot().report);
    let saver = Saver::spawn(opened.store, || ());
    for number in done(&kernel) + 1.. {
        learn(&mut kernel, number);
        let snapshot = kernel.snapshot();
        saver.put_with(move || Arc::new(Kept(Saved::of(&snapshot))));
        assert!(matches!(saver.flush(), Status::Saved { .. }));
        say(&format!("saved {number}"));
    }
}

#[test]
fn a_killed_program_loses_nothing_that_it_had_saved() {
    let folder = Folder::new("saved");
    let home = Home::at(&folder.0);
    for moment in 0..MOMENTS {
        let saved = killed("learn", &home, moment);
        let opened = open::<Kept>(&home, &key());
        assert_eq!((opened.loaded.report(), opened.store.lock()), (Vec::new(), &Lock::Mine), "moment {moment}");
        let mut kernel = Kernel::open(lesson(), opened.loaded.value.map(|kept| kept.0));
        kernel.settle();
        assert!(done(&kernel) >= saved, "moment {moment}: {} after {saved} was saved", done(&kernel));
        assert!(kernel.snapshot().report.is_empty());
    }
}
