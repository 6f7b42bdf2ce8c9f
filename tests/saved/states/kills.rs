//! A program that works on a lesson and is killed, fifty times over: nothing is lost that it had saved.

use std::env;
use std::io::{BufRead, BufReader, Read, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{self, Command as Program, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use attune_core::kernel::command::{TrainingCommand, WeightCommand};
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::store::{Home, Key, Lock, Saver, Status, Stored, open};
use attune_engine::numerics::params::TensorName;
use serde::{Deserialize, Serialize};

use super::{cell, lesson};

const HOME: &str = "ATTUNE_SAVED_HOME";
const MOMENTS: u64 = 50;

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
    let tensor = TensorName::QueryWeights.into();
    kernel.apply(Command::Weights(WeightCommand::Set { tensor, row: 0, col: 0, value: number as f32 }));
    kernel.settle();
}

#[test]
fn child() {
    let Some(home) = env::var_os(HOME) else { return };
    let opened = open::<Kept>(&Home::at(home), &key());
    assert!(opened.loaded.report().is_empty());
    let mut kernel = Kernel::open(lesson(), opened.loaded.value.map(|kept| kept.0));
    if kernel.snapshot().awaited.is_none() {
        kernel.apply(Command::Training(TrainingCommand::Play));
    }
    kernel.settle();
    assert!(kernel.snapshot().report.is_empty(), "{:?}", kernel.snapshot().report);
    let saver = Saver::spawn(opened.store, || ());
    for number in done(&kernel) + 1.. {
        learn(&mut kernel, number);
        let snapshot = kernel.snapshot();
        saver.put_with(move || Arc::new(Kept(Saved::of(&snapshot))));
        assert!(matches!(saver.flush(), Status::Saved { .. }));
        println!("\nsaved {number}");
        stdout().flush().unwrap();
    }
}

#[test]
fn a_killed_program_loses_nothing_that_it_had_saved() {
    let folder: PathBuf = env::temp_dir().join(format!("attune-saved-{}", process::id()));
    let home = Home::at(&folder);
    for moment in 0..MOMENTS {
        let mut child = Program::new(env::current_exe().unwrap())
            .args(["states::kills::child", "--exact", "--nocapture", "--test-threads=1"])
            .env(HOME, &folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("saved ") {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "the child ended by itself");
        }
        // Moments that fall into no rhythm.
        thread::sleep(Duration::from_micros(moment * 7_919 % 40_000));
        child.kill().unwrap();
        child.wait().unwrap();
        said.read_to_string(&mut line).unwrap();
        let whole = &line[..=line.rfind('\n').unwrap_or(0)];
        let saved: Option<u64> = whole.lines().filter_map(|line| line.strip_prefix("saved ")?.parse().ok()).next_back();

        let opened = open::<Kept>(&home, &key());
        assert_eq!((opened.loaded.report(), opened.store.lock()), (Vec::new(), &Lock::Mine), "moment {moment}");
        let mut kernel = Kernel::open(lesson(), opened.loaded.value.map(|kept| kept.0));
        kernel.settle();
        assert!(done(&kernel) >= saved.unwrap(), "moment {moment}: {} after {saved:?} was saved", done(&kernel));
        assert!(kernel.snapshot().report.is_empty());
    }
    std::fs::remove_dir_all(folder).unwrap();
}
