//! All that the program answers, in one file of prose: usage, refusals and help.

use crate::common::snapshots::assert_catalogue;
use crate::common::top::at;
use crate::program::said;

/// The words of a command line; one with blanks stands in quotes.
fn words(line: &str) -> Vec<&str> {
    let parts = line.split('"').enumerate();
    parts.flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }).collect()
}

#[test]
fn every_command_line_is_answered_in_the_words_of_the_catalogue() {
    let here = at("").display().to_string();
    assert_catalogue("tests/command_line/answers.txt", |_, case| {
        let args = words(case.strip_prefix("attune ").expect("a command line of attune"));
        let (code, said) = said(&args);
        assert!(!said.contains("panicked"), "{case}: {said}");
        format!("exit code {}\n{}", code.expect("it ends by itself"), said.replace(&here, ""))
    });
}
