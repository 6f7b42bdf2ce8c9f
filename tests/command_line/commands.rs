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
fn a_good_lesson_checks() {
    check(&["check", SMALL], 0, "tests/fixtures/small.ron: ok, 2 cells, 1 claim holds with seed 5");
    check(&["check", SMALL, "--seed", "9", "--verbose"], 0, "claim \"sum\" holds: measured ");
}

#[test]
fn every_lesson_is_checked_and_every_issue_printed() {
    let output = attune(&["check", SMALL, "missing.ron", "src", SMALL]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output).matches(": ok").count(), 2);
    assert_eq!(stdout(&output).matches("has issues").count(), 2);
    assert!(stderr(&output).contains("missing.ron") && stderr(&output).contains("src"), "{}", stderr(&output));
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
fn wrong_usage_exits_with_2() {
    check(&["trace"], 2, "required");
    check(&["--no-such-flag"], 2, "--no-such-flag");
    check(&["check", SMALL, "--seed", "-1"], 2, "-1");
    check(&["check", SMALL, "--seed", "99999999999999999999"], 2, "99999999999999999999");
    check(&["trace", SMALL, "--sentence", "the stne sank"], 2, "did you mean \"stone\"?");
    check(&["trace", SMALL, "--sentence", ""], 2, "no words");
    check(&["render", SMALL, "-o", "x.png", "--size", "0x0"], 2, "1280x720");
    check(&["render", SMALL, "-o", "x.png", "--size", "8192x8192"], 2, "at most 20 million pixels in all");
    check(&["render", SMALL, "-o", "x.png", "--time", "1.5"], 2, "from 0 (static) to 1 (contextual)");
    check(&["render", SMALL, "-o", "x.bmp"], 2, "such as apple.gif");
    check(&["render", SMALL, "-o", "x.gif", "--play", "walks"], 2, "walk");
    check(&["render", SMALL, "-o", "x.gif", "--seconds", "61"], 2, "from 1 to 60");
    check(&["render", SMALL, "-o", "x.gif", "--seconds", "NaN"], 2, "from 1 to 60");
    check(&["render", SMALL, "-o", "x.gif", "--time", "0.5"], 2, "go through all times");
    check(&["render", SMALL, "-o", "x.gif", "--transparent"], 2, "has a background");
    check(&["render", SMALL, "-o", "x.png", "--seconds", "5"], 2, "--play");
    check(&["trace", "missing.ron"], 1, "missing.ron");
    check(&["missing.ron"], 1, "missing.ron");
    check(&["src"], 1, "src");
    check(&["missing.ron", "check", SMALL], 2, "comes before a command");
    check(&["--seed", "9", "check", SMALL], 0, "holds with seed 9");
    check(&["check", SMALL, "--seed", "1.5"], 2, "expected a whole number from 0 to 18446744073709551615");
}

#[test]
fn a_sentence_of_the_user_s_takes_the_place_of_the_lesson_s() {
    let own = ["--sentence", "the stone sank"];
    check(&[&["check", SMALL][..], &own].concat(), 0, "the sentence \"the stone sank\": 3 tokens, the stone sank; all");
    check(&["check", SMALL, "--ids", "0,1"], 0, "2 tokens");
    check(&["check", SMALL, "--ids", "0,999"], 2, "--ids: there is no token 999");
    check(&["trace", SMALL, "--ids", "0,1"], 0, "\"tokens\"");
    check(&["trace", SMALL, "--ids", "0", "--sentence", "the"], 2, "cannot be used with");
    let folder = Folder::new("own-sentence");
    let vectors = |args: &[&str]| {
        let file = folder.file("vectors.tsv");
        check(&[&["export", SMALL, "--to", "tsv", "-o", &file], args].concat(), 0, "vectors");
        std::fs::read_to_string(folder.file("vectors_metadata.tsv")).expect("it was written")
    };
    let lines = |text: &str| text.lines().filter(|line| line.contains("\tthe stone sank\t")).count();
    assert_eq!([lines(&vectors(&[])), lines(&vectors(&own))], [0, 6]);
    let page = folder.file("page.html");
    check(&["export", SMALL, "--to", "html", "-o", &page, "--sentence", "the stne"], 2, "did you mean \"stone\"?");
    let out = folder.file("model");
    check(
        &[&["export", SMALL, "--to", "checkpoint", "-o", &out][..], &own].concat(),
        2,
        "a checkpoint has only the model",
    );
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
fn help_and_version_are_answers() {
    check(&["--help"], 0, "Exit codes: 0 (done)");
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

#[test]
fn an_option_of_another_command_is_said_to_be_that() {
    let said = stderr(&attune(&["check", SMALL, "--theme", "dark"]));
    assert!(
        said.contains("hint: --theme is an option of attune LESSON, which opens the window, and of attune render"),
        "{said}"
    );
    assert!(!said.contains("tip:"), "{said}");
    assert!(
        stderr(&attune(&["check", SMALL, "--verbos"])).contains("--verbose"),
        "a slip of the finger has clap's tip"
    );
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
