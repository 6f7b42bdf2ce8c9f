//! The program, run as a shell runs it.

use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The program, yet to be given its arguments.
pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_attune"))
}

pub fn attune(args: &[&str]) -> Output {
    program().args(args).output().expect("the program starts")
}

/// Runs a command. Returns its exit code, and all that it said. A test that fails shows the commands that it has run.
pub fn ran(command: &mut Command) -> (Option<i32>, String) {
    println!("{command:?}");
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    (status.code(), String::from_utf8([stdout, stderr].concat()).expect("UTF-8"))
}

/// Runs a command that must end by itself; [`ran`] would wait for it without end. It says little.
#[track_caller]
pub fn ran_in_time(command: &mut Command) -> (Option<i32>, String) {
    /// A guard against waiting without end.
    const PATIENCE: Duration = Duration::from_secs(60);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("it waits without end: {command:?}");
        }
        thread::sleep(Duration::from_millis(2));
    }
    let Output { status, stdout, stderr } = child.wait_with_output().expect("it has ended");
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

/// The exit code, and all that is said.
pub fn said(args: &[&str]) -> (Option<i32>, String) {
    ran(program().args(args))
}

/// Asserts that a run has ended with a code and said some words. Returns all that it said.
#[track_caller]
pub fn ended((code, said): (Option<i32>, String), expected: i32, words: &str) -> String {
    assert_eq!(code, Some(expected), "{said:.2000}");
    assert!(said.contains(words), "it should say {words:?}, but says:\n{said:.2000}");
    assert!(!said.contains("panicked"), "{said:.2000}");
    said
}
