//! The program, run as a shell runs it.

use std::process::{Command, Output};

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
