//! Programs that end badly. This test program runs itself: [`child`] is what it then does.

use std::env;
use std::io::{BufRead, BufReader, Read, Write, stdout};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use attune_core::store::{Home, Lock, Saver, Status, open};

use super::{Scratch, Work, disks, key};
use crate::common::waiting::wait_until;

const JOB: &str = "ATTUNE_STORE_JOB";
const HOME: &str = "ATTUNE_STORE_HOME";
/// Moments at which a child is killed.
const MOMENTS: u64 = 50;
/// Some hundred kilobytes, so that many moments lie within a write.
const LENGTH: usize = 30_000;

/// A command that does a job of [`child`] in a home; arguments may stand before the program.
pub fn command(before: &[&str], job: &str, home: &Home) -> Command {
    let this = env::current_exe().unwrap();
    let mut words = before.iter().map(PathBuf::from).chain([this]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(["store::children::child", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(JOB, job).env(HOME, home.root()).stdout(Stdio::piped());
    command
}

#[test]
fn child() {
    let Ok(job) = env::var(JOB) else { return };
    let home = Home::at(env::var_os(HOME).unwrap());
    match job.as_str() {
        "save" => save_without_end(&home),
        "hold" => hold(&home),
        "too small" => disks::meet_a_disk_that_is_too_small(&home),
        "read only" => disks::meet_a_folder_that_is_read_only(&home),
        _ => unreachable!("{job}"),
    }
}

pub fn say(line: &str) {
    println!("\n{line}");
    stdout().flush().unwrap();
}

fn save_without_end(home: &Home) {
    let opened = open::<Work>(home, &key());
    assert!(opened.loaded.report().is_empty());
    let first = opened.loaded.value.map_or(1, |work| work.number + 1);
    let saver = Saver::spawn(opened.store, || ());
    for number in first.. {
        saver.put_with(move || Arc::new(Work::sized(number, LENGTH)));
        assert!(matches!(saver.flush(), Status::Saved { .. }));
        say(&format!("saved {number}"));
        if number % 7 == 0 {
            saver.checkpoint("the seventh").unwrap();
        }
    }
}

/// The last number that a child says it has saved, in what it has yet to say.
fn last_saved(child: &mut BufReader<impl Read>) -> Option<u64> {
    let mut text = String::new();
    child.read_to_string(&mut text).unwrap();
    // What is cut off within a line was not said.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().filter_map(|line| line.strip_prefix("saved ")?.parse().ok()).next_back()
}

fn wait_for(said: &mut BufReader<impl Read>, beginning: &str) -> String {
    let mut line = String::new();
    while !line.starts_with(beginning) {
        line.clear();
        assert_ne!(said.read_line(&mut line).unwrap(), 0, "the child ended before it said {beginning:?}");
    }
    line.trim_end().to_owned()
}

fn ear(child: &mut Child) -> BufReader<std::process::ChildStdout> {
    BufReader::new(child.stdout.take().unwrap())
}

/// The last number that a child says it has saved in a home, before it is killed at a moment after its first.
fn killed(job: &str, home: &Home, moment: u64) -> u64 {
    let mut child = command(&[], job, home).spawn().unwrap();
    let mut said = ear(&mut child);
    let first: u64 = wait_for(&mut said, "saved ")["saved ".len()..].parse().unwrap();
    // Moments that fall into no rhythm.
    thread::sleep(Duration::from_micros(moment * 7_919 % 40_000));
    child.kill().unwrap();
    child.wait().unwrap();
    last_saved(&mut said).unwrap_or(first)
}

#[test]
fn a_killed_program_loses_nothing_that_it_had_saved() {
    let scratch = Scratch::new();
    for moment in 0..MOMENTS {
        let last = killed("save", &scratch.home(), moment);
        let opened = scratch.open();
        assert!(opened.loaded.report().is_empty(), "moment {moment}");
        assert_eq!(opened.store.lock(), &Lock::Mine, "moment {moment}: a stale lock");
        let work = opened.loaded.value.unwrap();
        assert!(work.is_whole() && work.text.len() == LENGTH);
        assert!(work.number >= last, "moment {moment}: {} after {last} was saved", work.number);
        let folder = opened.store.folder();
        for checkpoint in folder.checkpoints() {
            assert!(folder.load::<Work>(&checkpoint).unwrap().is_whole());
        }
        let left = std::fs::read_dir(folder.path()).unwrap().flatten();
        let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("unfinished")).count();
        assert_eq!(left, 0, "moment {moment}: unfinished files were left");
    }
}

fn hold(home: &Home) {
    let saver = Saver::spawn(open::<Work>(home, &key()).store, || ());
    saver.put(Arc::new(Work::of(1)));
    assert!(matches!(saver.flush(), Status::Saved { .. }));
    say("holding");
    wait_until("it is taken over", || matches!(saver.status(), Status::Locked(Lock::TakenOver { .. })));
    saver.put(Arc::new(Work::of(9)));
    drop(saver);
    say("let go");
}

#[test]
fn another_program_is_seen_and_can_be_taken_over() {
    let scratch = Scratch::new();
    let mut child = command(&[], "hold", &scratch.home()).spawn().unwrap();
    let mut said = ear(&mut child);
    wait_for(&mut said, "holding");
    let second = scratch.open();
    let Lock::Held { by } = second.store.lock() else { panic!("{}", second.store.lock()) };
    assert_eq!(by.pid, child.id());
    let mut owner = scratch.take_over();
    assert_eq!(owner.loaded.value, Some(Work::of(1)));
    owner.store.save(&Work::of(2)).unwrap();
    wait_for(&mut said, "let go");
    assert!(child.wait().unwrap().success());
    drop(owner);
    assert_eq!(scratch.open().loaded.value, Some(Work::of(2)));
}
