//! A number is close to another by a tolerance of one list, `tests/common/close.rs`, whose tests prove that each
//! refuses what is farther away: no test has a tolerance of its own, but for some that have a test of their own, named
//! here.

use std::fs;
use std::path::Path;

use regex::Regex;

use crate::source::{code_and_tests, files, without_comments, without_strings};

/// Files that compare in a way of their own, each with the test that the comparison refuses what is another.
const OTHERS: &[(&str, &str, &str)] = &[
    ("tests/common/snapshots.rs", "tests/numerics/tolerances.rs", "a_kept_text_that_is_another_is_refused"),
    ("tests/saved/old_works.rs", "tests/saved/old_works.rs", "another_number_or_word_is_a_difference"),
    ("tests/export/web.rs", "tests/export/web.rs", "a_page_with_another_number_is_refused"),
    ("tests/export/ribbons.rs", "tests/export/ribbons.rs", "a_card_with_another_number_is_refused"),
    ("tests/export/engines.rs", "tests/export/engines.rs", "an_engine_with_other_weights_is_not_the_reference"),
    ("tests/export/cards.rs", "tests/export/cards.rs", "a_card_that_says_something_else_is_refused"),
    ("tests/export/code.rs", "tests/export/code.rs", "another_value_is_not_the_same"),
];
const LIST: &str = "tests/common/close.rs";

/// Returns the lines of code of tests that have a tolerance of their own: a number that is less than a tenth on the
/// right of `<`, a difference that is less than what is no plain number of pixels, or a constant that is called a
/// tolerance.
fn bare(code: &str) -> Vec<String> {
    let tolerance = [
        r"<=?\s*-?(?:\d[\d_.]*e-\d+|0\.0\d*[1-9])",
        r"\)\.abs\(\)\)*\s*<=?\s*(?:[^\s\d]|0\.0)",
        r"const \w*(?:TOLERANCE|ROUNDING|EXACT)\w*: f(?:32|64) = [^;]*\d[\d_.]*e-\d+",
    ];
    let tolerance = Regex::new(&tolerance.join("|")).expect("a pattern");
    if !tolerance.is_match(code) {
        return Vec::new();
    }
    // A check of a lesson, in a string, has tolerances too.
    let code = without_strings(&without_comments(code));
    let found = code.lines().filter(|line| tolerance.is_match(line));
    found.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_tolerance_is_of_the_list_or_has_a_twin_that_must_fail() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &Path| fs::read_to_string(root.join(path)).expect("UTF-8");
    for path in files(root, "tests", "rs").into_iter().chain(files(root, "src", "rs")) {
        let source = read(&path);
        let mut found = bare(&source);
        if path.starts_with("src") && !found.is_empty() {
            found = bare(&code_and_tests(&source).1);
        }
        if let Some((_, file, twin)) = OTHERS.iter().find(|(other, ..)| path == Path::new(other)) {
            assert!(!found.is_empty(), "{} compares by the list: take it from the others", path.display());
            assert!(read(Path::new(file)).contains(&format!("fn {twin}()")), "{file} has no test {twin}");
        } else {
            let why = "compares by a tolerance of its own; take one of the list";
            assert!(found.is_empty(), "{} {why} in {LIST}:\n{}", path.display(), found.join("\n"));
        }
    }
}

/// The twin: tolerances are found, and other comparisons are none.
#[test]
fn a_tolerance_of_its_own_is_found() {
    for line in [
        "assert!((a - b).abs() < 1e-6);",
        "assert!((a - b).abs() <= 0.05, \"{a}\");",
        "let near = (f64::from(a) - b).abs()) < size;",
        "assert!(largest(&found, &expected) < 1e-12);",
        "const TOLERANCE: f64 = 2e-5;",
    ] {
        assert_eq!(bare(line), [line.replace("\"{a}\"", "\"\"")], "it is not found");
    }
    for line in [
        "// (a - b).abs() < 1e-6",
        "let check = \"norm(a - b) < 0.000001\";",
        "assert!(after < before && value > 1e-9);",
        "assert!((row.top() - frame.top()).abs() < 1.0);",
        "const ROUNDING: Tolerance = Tolerance::SINGLE;",
    ] {
        assert_eq!(bare(line), [""; 0], "no tolerance");
    }
}
