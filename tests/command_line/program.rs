//! The program, run as a shell runs it.

use std::process::{Command, Output};

/// The program, yet to be given its arguments.
pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_attune"))
}

pub fn attune(args: &[&str]) -> Output {
    program().args(args).output().expect("the program starts")
}

/// The exit code, and all that is said.
pub fn said(args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = attune(args);
    (status.code(), String::from_utf8([stdout, stderr].concat()).expect("UTF-8"))
}
