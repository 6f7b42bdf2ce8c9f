//! The program as a shell sees it: what it prints, and its exit codes.

use std::process::{Output, Stdio};

use crate::common::folder::Folder;
use crate::program::{attune, ended, program, said};

const SMALL: &str = "tests/fixtures/small.ron";

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[track_caller]
fn check(args: &[&str], code: i32, says: &str) {
    ended(said(args), code, says);
}

#[test]
fn a_good_lesson_says_what_its_claims_measure() {
    check(&["check", SMALL, "--seed", "9", "--verbose"], 0, "claim \"sum\" holds: measured ");
}

#[test]
fn a_claim_that_does_not_hold_fails_the_check() {
    let text = std::fs::read_to_string(SMALL).expect("the fixture").replace("AtMost(1e-5)", "AtLeast(0.5)");
    let folder = Folder::new("claim");
    let file = folder.file("claim.ron");
    std::fs::write(&file, text).expect("a temporary file");
    let path = file.as_str();
    for args in [&["check", path][..], &["check", path, "--verbose"]] {
        let (_, said) = said(args);
        assert_eq!(said.matches("claim \"sum\" does not hold: measured ").count(), 1, "{said}");
    }
    check(&["check", path], 1, "expected at least 0.5");
    let text = std::fs::read_to_string(path).expect("it is there");
    let line = 1 + text.lines().position(|line| line.contains("Claim(")).expect("its line");
    let col = 1 + text.lines().nth(line - 1).and_then(|line| line.find("Claim(")).expect("its column");
    check(&["check", path], 1, &format!("{path}:{line}:{col}: claim \"sum\" does not hold"));
}

/// An error of rounding is not shown as none.
#[test]
fn a_tiny_measurement_is_not_rounded_away() {
    let said = stdout(&attune(&["check", SMALL, "--verbose"]));
    let line = said.lines().find(|line| line.contains("claim \"sum\"")).expect("its line");
    assert!(line.contains("expected at most 1e-5") && !line.contains("measured 0.0000"), "{line}");
}

#[test]
fn a_sentence_of_the_user_s_takes_the_place_of_the_lesson_s() {
    let own = ["--sentence", "the stone sank"];
    check(&["trace", SMALL, "--ids", "0,1"], 0, "\"tokens\"");
    let folder = Folder::new("own-sentence");
    let vectors = |args: &[&str]| {
        let file = folder.file("vectors.tsv");
        check(&[&["export", SMALL, "--to", "tsv", "-o", &file], args].concat(), 0, "vectors");
        std::fs::read_to_string(folder.file("vectors_metadata.tsv")).expect("it was written")
    };
    let lines = |text: &str| text.lines().filter(|line| line.contains("\tthe stone sank\t")).count();
    assert_eq!([lines(&vectors(&[])), lines(&vectors(&own))], [0, 6]);
}

/// Whoever closes the pipe has read enough.
#[test]
fn a_closed_pipe_is_no_fault() {
    for args in [&["check", SMALL, "--verbose"][..], &["trace", SMALL]] {
        let mut child =
            program().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn the_version_is_an_answer() {
    check(&["--version"], 0, env!("CARGO_PKG_VERSION"));
}

#[test]
fn every_argument_has_its_help() {
    for command in ["check", "trace", "render"] {
        let help = stdout(&attune(&[command, "-h"]));
        let arguments = help.lines().filter(|line| line.starts_with("  ") && !line.trim_start().starts_with("attune"));
        for line in arguments {
            // What an argument is called, two spaces or more, what it is for.
            let text = line.trim().split("  ").map(str::trim).filter(|part| !part.is_empty()).nth(1);
            assert!(text.is_some_and(|text| !text.starts_with('[')), "{command}: {line:?}");
        }
    }
}

#[cfg(feature = "app")]
#[test]
fn a_picture_that_cannot_be_written_is_no_wrong_usage() {
    check(&["render", SMALL, "-o", "no/such/x.png"], 1, "cannot be written: no/such/x.png: there is no such folder");
    let folder = Folder::new("picture");
    let picture = folder.file("folder.png");
    std::fs::create_dir(&picture).expect("a temporary folder");
    check(&["render", SMALL, "-o", &picture], 1, "it is a folder");
}

#[test]
fn a_trace_is_the_same_bytes_twice() {
    let (first, second) = (attune(&["trace", SMALL]), attune(&["trace", SMALL]));
    assert!(first.status.success() && first.stderr.is_empty());
    assert_eq!(first.stdout, second.stdout);
    assert_ne!(first.stdout, attune(&["trace", SMALL, "--seed", "6"]).stdout);
}

#[test]
fn a_new_lesson_checks_and_replaces_none() {
    let folder = Folder::new("new");
    let file = folder.file("My lesson.ron");
    let path = file.as_str();
    check(&["new", path], 0, "a lesson to start from");
    check(&["check", path], 0, "ok, 7 cells, 2 claims hold");
    check(&["new", path], 2, "already exists");
    check(&["new", &folder.file("notes.txt")], 2, "must end in .ron");
    check(&["new", &folder.file("no/where.ron")], 1, "where.ron");
}

/// Claims hold, cells run, no start passes, each solution does, and pictures are there.
#[test]
fn the_lesson_of_the_page_for_teachers_checks() {
    let reference = "tests/fixtures/reference.ron";
    let lesson = attune_core::lesson::read(reference.as_ref()).unwrap_or_else(|issues| panic!("{issues:#?}"));
    let Output { status, stdout, .. } = attune(&["check", reference, "--verbose"]);
    let ok = format!("ok, {} cells, {} claims hold", lesson.cells.len(), lesson.claims.len());
    let said = String::from_utf8(stdout).expect("UTF-8");
    assert!(status.code() == Some(0) && said.contains(&ok), "{said}");
}
