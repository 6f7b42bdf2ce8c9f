//! Arguments that nobody means: none brings the program down, and none steers a terminal.

use std::ffi::{OsStr, OsString};
use std::process::{ExitCode, Stdio};

use attune_engine::panics;

use crate::program::program;

const LESSON: &str = "tests/fixtures/small.ron";

/// Every place of the command line that takes a word, with `?` for it.
const PLACES: &[&[&str]] = &[
    &["?"],
    &["--?"],
    &["-?"],
    &["?", "x.ron"],
    &["--theme", "?"],
    &["--size", "?"],
    &["--seed", "?", "check", LESSON],
    &["--state", "?", "no_such_lesson.ron"],
    &["check", "?"],
    &["check", LESSON, "?"],
    &["trace", "?"],
    &["trace", LESSON, "--sentence", "?"],
    &["trace", LESSON, "--?"],
    &["trace", LESSON, "--head", "?"],
    &["trace", LESSON, "--without", "?"],
    &["trace", LESSON, "--second", "?", "--patch", "1:1=1"],
    &["check", LESSON, "--ids", "?"],
    &["export", LESSON, "--to", "md", "-o", "/nowhere/x.md", "--sentence", "?"],
    &["render", LESSON, "-o", "/nowhere/x.png", "--sentence", "?"],
    &["new", "?/x.ron"],
    &["render", "?", "-o", "/nowhere/x.png"],
    &["render", LESSON, "-o", "/nowhere/?/x.png"],
    &["render", LESSON, "-o", "/nowhere/x.png", "--cell", "?"],
    &["render", LESSON, "-o", "/nowhere/x.png", "--time", "?"],
    &["render", LESSON, "-o", "/nowhere/x.png", "--size", "?"],
    &["export", "?", "--to", "md", "-o", "/nowhere/x.md"],
    &["export", LESSON, "--to", "?", "-o", "/nowhere/x.md"],
    &["export", LESSON, "--to", "md", "-o", "/nowhere/?/x.md"],
    &["help", "?"],
];

/// The arguments with `odd` in the place of `?`.
fn with(args: &[&str], odd: &OsStr) -> Vec<OsString> {
    let fill = |arg: &&str| match arg.split_once('?') {
        Some((before, after)) => {
            let mut filled = OsString::from(before);
            filled.push(odd);
            filled.push(after);
            filled
        }
        None => (*arg).into(),
    };
    args.iter().map(fill).collect()
}

#[track_caller]
fn check(odd: &OsStr) {
    for place in PLACES {
        let run = program().args(with(place, odd)).stdin(Stdio::null()).env_remove("DISPLAY").output();
        let output = run.expect("the program starts");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let code = output.status.code();
        assert!(matches!(code, Some(0..=3)), "{place:?} ends with {code:?}: {}", &said[..said.len().min(2000)]);
        let steers = |c: char| c.is_control() && c != '\n';
        assert!(place[0] == "trace" || !said.contains(steers), "{place:?} prints control characters: {said:?}");
        // A trace of a sentence is long, and a message is not.
        assert!(code == Some(0) || said.len() < 50_000, "{place:?} says {} bytes", said.len());
    }
}

#[cfg(unix)]
#[test]
fn bytes_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    check(OsStr::from_bytes(b"\xff\xfe check"));
}

#[test]
fn nothing() {
    check(OsStr::new(""));
}

#[test]
fn control_characters() {
    check(OsStr::new("\u{1b}[31m\u{202e}\r\t\u{7}x"));
}

/// Linux starts no program with an argument of 128 KiB or more, so that nothing longer ever arrives.
#[test]
fn as_long_as_an_argument_can_be() {
    const BYTES: usize = (128 << 10) - 100;
    check(OsStr::new(&"a".repeat(BYTES)));
    check(OsStr::new(&"é/".repeat(BYTES / 3)));
}

#[test]
fn a_message_about_a_long_path_still_says_what_is_wrong() {
    let output = program().args(["trace", &"x".repeat(20_000)]).output().expect("the program starts");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.len() < 6000 && said.contains("xx … xx") && said.contains("name too long"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_said_not_to_be() {
    for args in [&["--help"][..], &["--version"], &["check", "--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let output = program().args(args).stdout(full).output().expect("the program starts");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("error: the results cannot be written to standard output: "), "{said}");
    }
}

/// The program of [`a_panic_is_told_in_words`].
#[test]
#[ignore = "run by another test, in a process of its own"]
fn a_program_that_panics() {
    panics::work_is_kept_in("/somewhere/work".into());
    let code = panics::guarded(|| panic!("the cause"));
    assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(panics::EXIT_CODE)));
    std::process::exit(panics::EXIT_CODE.into());
}

#[test]
fn a_panic_is_told_in_words() {
    let own = std::env::current_exe().expect("this program");
    let args = ["arguments::a_program_that_panics", "--exact", "--ignored", "--nocapture"];
    let output = std::process::Command::new(own).args(args).output().expect("it starts");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(70), "{said}");
    assert!(said.contains("the cause, at tests/command_line/arguments.rs:"), "{said}");
    assert!(said.contains("Your work is saved in /somewhere/work") && said.contains("Please report"), "{said}");
}

#[test]
fn a_panic_that_is_expected_is_a_value() {
    assert_eq!(panics::quietly(|| -> u8 { panic!("first\nsecond") }), Err("first".to_owned()));
    assert_eq!(panics::quietly(|| 7), Ok(7));
}
