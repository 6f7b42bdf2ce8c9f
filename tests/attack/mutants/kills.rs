//! A learner's program that is killed while its work is edited: what was saved is whole, and no more than the last
//! moments are lost. The program runs itself for that; [`edits_until_it_is_killed`] is what it then does.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command as Program, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, io, thread};

use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::store::{Home, Key, Lock, OpenedStore, Saver, open, read};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::generator::edits;
use super::states::Work;
use super::{Attack, Outcome, attack};
use crate::common::folder::Folder;
use crate::common::lessons::lesson;

const LESSON: &str = include_str!("../../fixtures/notebook.ron");
/// A cell of it, in which the number of the last edit stands.
const CELL: &str = "double";
/// The test that is the child.
const CHILD: &[&str] = &["mutants::kills::edits_until_it_is_killed", "--exact", "--nocapture"];
const HOME: &str = "ATTUNE_ATTACK_HOME";
const SEED: &str = "ATTUNE_ATTACK_SEED";

/// Kills of one case, whose programs go on with the same work.
const KILLS: usize = 4;
/// The longest life of a program, from its first edit.
const LIFE_MAX: Duration = Duration::from_secs(3);
/// The longest pause between two edits.
const PAUSE_MAX: Duration = Duration::from_millis(400);
/// An edit that is older is saved.
const LOSS_MAX: Duration = Duration::from_secs(2);
/// Given to a program until its first edit.
const START_MAX: Duration = Duration::from_secs(20);

/// Programs that edit and are killed, one after the other.
#[derive(Debug)]
struct Kills(Vec<Kill>);

#[derive(Clone, Debug)]
struct Kill {
    seed: u64,
    after: Duration,
}

#[test]
fn a_killed_program_loses_no_more_than_its_last_moments() {
    attack::<Kills>(1, &[]);
}

/// The program that [`a_killed_program_loses_no_more_than_its_last_moments`] starts; alone, nothing.
#[test]
fn edits_until_it_is_killed() {
    let (Some(home), Ok(seed)) = (env::var_os(HOME), env::var(SEED)) else { return };
    edit_without_end(&Home::at(home), seed.parse().expect("a seed"));
}

impl Attack for Kills {
    fn cases() -> impl Strategy<Value = Self> {
        let kill = (any::<u64>(), 0.0..1.0).prop_map(|(seed, life)| Kill { seed, after: LIFE_MAX.mul_f64(life) });
        vec(kill, KILLS).prop_map(Self)
    }

    fn run(&self) -> Outcome {
        let folder = Folder::new("attack");
        let mut greatest = Duration::ZERO;
        for (i, kill) in self.0.iter().enumerate() {
            let loss = killed(&Home::at(&folder.0), kill);
            greatest = greatest.max(loss.map_err(|why| format!("kill {i}, after {:?}: {why}", kill.after))?);
        }
        Ok(match greatest.as_millis() {
            0..1000 => "lost less than 1 s",
            1000..1500 => "lost 1 to 1.5 s",
            _ => "lost 1.5 to 2 s",
        })
    }
}

/// An edit that the learner has made.
struct Made {
    number: u64,
    at: Duration,
}

/// Kills a program that goes on with the work of a home. Returns the age of the oldest edit that is lost.
fn killed(home: &Home, kill: &Kill) -> Result<Duration, String> {
    let mut child = child(home, kill.seed).map_err(|error| format!("no program starts: {error}"))?;
    let made = edits_of(&mut child);
    let first = made.recv_timeout(START_MAX);
    thread::sleep(kill.after);
    let at = now();
    // Of a program that has ended, what is missing tells.
    let (_, status) = (child.kill(), child.wait());
    let first = first.map_err(|_| format!("no edit is made: {status:?}"))?;
    let made: Vec<Made> = [first].into_iter().chain(made).filter(|edit| edit.at <= at).collect();

    let OpenedStore { loaded, mut store } = open::<Work>(home, &key());
    if !loaded.report().is_empty() {
        return Err(format!("opening reports {:?}", loaded.report()));
    }
    if store.lock() != &Lock::Mine {
        return Err(format!("not saved from now on: {}", store.lock()));
    }
    if store.folder().path().join("aside").exists() {
        return Err("something is put aside".to_owned());
    }
    let mut kernel = Kernel::open(lesson(LESSON), loaded.value.map(|Work(saved)| saved));
    kernel.settle();
    if !kernel.snapshot().report.is_empty() {
        return Err(format!("the kernel reports {:?}", kernel.snapshot().report));
    }
    let saved = number_in(&kernel)?;
    let lost = made.iter().find(|edit| edit.number > saved);
    let loss = lost.map_or(Duration::ZERO, |edit| at - edit.at);
    if loss > LOSS_MAX {
        let last = made.last().map_or(0, |edit| edit.number);
        return Err(format!("{:.2} s are lost: edit {saved} of {last} is saved", loss.as_secs_f64()));
    }
    let work = Work(Saved::of(&kernel.snapshot()));
    store.save(&work).map_err(|why| format!("not saved afterwards: {why}"))?;
    let is_same = read::<Work>(home, &key()).value.is_some_and(|back| back.text() == work.text());
    is_same.then_some(loss).ok_or_else(|| "what is saved afterwards is read as something else".to_owned())
}

fn key() -> Key {
    Key::named("attack")
}

/// The time of a clock that all programs share.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The number of the last edit in the work; 0 if there is none.
fn number_in(kernel: &Kernel) -> Result<u64, String> {
    let notebook = kernel.snapshot().notebook;
    let cell = notebook.cells.iter().find(|cell| &*cell.cell.id == CELL).ok_or("the cell is gone")?;
    let text = &cell.cell.text;
    text.strip_prefix("// edit ").map_or(Ok(0), |number| number.parse().map_err(|_| format!("reads {text:?}")))
}

fn child(home: &Home, seed: u64) -> io::Result<Child> {
    let mut program = Program::new(env::current_exe()?);
    program.args(CHILD).env(HOME, home.root()).env(SEED, seed.to_string());
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()
}

/// The edits that a program says it has made.
fn edits_of(child: &mut Child) -> Receiver<Made> {
    let (tell, told) = channel();
    let out = child.stdout.take().expect("a pipe");
    thread::spawn(move || {
        let whole = |line: String| {
            let (number, at) = line.strip_prefix("edit ")?.strip_suffix(" made")?.split_once(' ')?;
            Some(Made { number: number.parse().ok()?, at: Duration::from_millis(at.parse().ok()?) })
        };
        for made in BufReader::new(out).lines().map_while(Result::ok).filter_map(whole) {
            if tell.send(made).is_err() {
                return;
            }
        }
    });
    told
}

/// Edits a home's work as the window does.
fn edit_without_end(home: &Home, seed: u64) {
    let opened = open::<Work>(home, &key());
    let lesson = lesson(LESSON);
    // Now and then a learner thinks, or holds a key.
    let pauses = prop_oneof![4 => Just(0.0), 1 => Just(3.0), 3 => 0.0..1.0];
    let (edits, mut runner) =
        ((edits(&lesson), pauses), TestRunner::new(Config { rng_seed: RngSeed::Fixed(seed), ..Config::default() }));
    let mut kernel = Kernel::open(lesson, opened.loaded.value.map(|Work(saved)| saved));
    kernel.settle();
    let saver = Saver::spawn(opened.store, || ());
    let mut last = kernel.snapshot();
    let first = number_in(&kernel).expect("a cell") + 1;
    let begun = Instant::now();
    let mut out = io::stdout();
    for number in first.. {
        // A parent that is gone kills nobody.
        if begun.elapsed() > START_MAX + LIFE_MAX {
            return;
        }
        let at = now().as_millis();
        let (command, pause) = edits.new_tree(&mut runner).expect("no filter refuses").current();
        if let Some(command) = command {
            kernel.apply(command);
        }
        let text = format!("// edit {number}").into();
        kernel.apply(Command::Notebook(NotebookCommand::Cell(CELL.into(), CellCommand::SetText(text))));
        kernel.settle();
        let snapshot = kernel.snapshot();
        if last.work_revision != snapshot.work_revision {
            last = snapshot.clone();
            saver.put_with(move || Arc::new(Work(Saved::of(&snapshot))));
        }
        // Said in whole lines; who hears them may have ended.
        let _ = out.write_all(format!("\nedit {number} {at} made\n").as_bytes()).and_then(|()| out.flush());
        thread::sleep(PAUSE_MAX.mul_f64(pause));
    }
}
