//! The budget of the house: what there is of code, tests and concepts is counted, printed and held to agreed numbers,
//! so that growth is decided and not noticed.
//!
//! `cargo test --test architecture budget -- --nocapture` prints the count.

use std::fs;
use std::path::Path;

use crate::source::{code_and_tests, files, lines, strings, without_comments};

/// The agreed numbers. A change that goes above one raises it here, and says in its commit what it brings and what it
/// deleted; one that stays far below lowers it.
const AGREED: &[(&str, usize)] = &[
    ("lines of src", 113_400),
    ("lines of the page's scripts", 3_657),
    ("lines of tests", 51_910),
    ("lines of inline tests", 6_800),
    ("files of src", 584),
    ("functions over 40 lines in 10,000", 135),
    ("commands", 95),
    ("quantities", 39),
    ("panels", 12),
    ("phrases that a user may read", 4_420),
];

/// Lines of code that a reader takes in at a glance.
const FUNCTION_LINES_MAX: usize = 40;

/// Functions in 10,000: the share of long ones is too small for percent.
const SHARE: usize = 10_000;

/// The scripts of the live page.
const PAGE: &str = "src/view/export/live_page/page";

/// Returns what is counted, each by its name in [`AGREED`].
fn count() -> Vec<(&'static str, usize)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &Path| fs::read_to_string(root.join(path)).expect("UTF-8");
    let sources = |folder: &str| -> Vec<(String, String)> {
        files(root, folder, "rs").iter().map(|path| code_and_tests(&read(path))).collect()
    };
    let src = sources("src");
    let code = |parts: &[(String, String)]| parts.iter().map(|(code, _)| lines(code)).sum::<usize>();
    let inline = |parts: &[(String, String)]| parts.iter().map(|(_, tests)| lines(tests)).sum::<usize>();
    let tests = sources("tests");
    let scripts: Vec<String> = files(root, PAGE, "js").iter().map(|path| without_comments(&read(path))).collect();
    let functions: Vec<usize> = src.iter().flat_map(|(code, _)| function_lines(code)).collect();
    let long = functions.iter().filter(|lines| **lines > FUNCTION_LINES_MAX).count();
    let variants =
        |path: &str, name: &dyn Fn(&str) -> bool| enum_variants(&without_comments(&read(Path::new(path))), name);
    let commands = ["src/core/kernel/command.rs", "src/core/kernel/notebook/commands.rs"];
    let phrases = src.iter().flat_map(|(code, _)| strings(code)).filter(|text| is_phrase(text)).count();
    vec![
        ("lines of src", code(&src)),
        ("lines of the page's scripts", scripts.iter().map(|script| lines(script)).sum()),
        ("lines of tests", code(&tests) + inline(&tests)),
        ("lines of inline tests", inline(&src)),
        ("files of src", src.len()),
        ("functions over 40 lines in 10,000", long * SHARE / functions.len().max(1)),
        ("commands", commands.iter().map(|path| variants(path, &|name| name.ends_with("Command"))).sum()),
        ("quantities", read(Path::new("src/engine/quantity/mod.rs")).matches(" = Definition::of_").count()),
        ("panels", read(Path::new("src/core/lesson/schema/panels.rs")).lines().filter(|line| is_row(line)).count()),
        ("phrases that a user may read", phrases),
    ]
}

/// Returns the number of lines of each function.
fn function_lines(code: &str) -> Vec<usize> {
    let lines: Vec<&str> = code.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_function = |line: &str| {
        let words = line.trim_start().split(['(', '<', ' ']);
        let mut words = words
            .skip_while(|word| matches!(*word, "pub" | "const" | "in") || word.ends_with(')') || word.contains("::"));
        words.next() == Some("fn")
    };
    let end = |begin: usize| {
        let indent = lines[begin].len() - lines[begin].trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        // A function on one line, or one without a body, ends where it begins.
        let is_whole = lines[begin].ends_with(['}', ';']);
        if is_whole { begin } else { (begin..lines.len()).find(|at| lines[*at] == end).unwrap_or(begin) }
    };
    (0..lines.len()).filter(|at| is_function(lines[*at])).map(|at| end(at) - at + 1).collect()
}

/// Returns the number of variants of the enums whose names fit.
fn enum_variants(code: &str, fits: &dyn Fn(&str) -> bool) -> usize {
    let enums = code.split("\npub enum ").skip(1);
    let named = enums.filter(|rest| fits(rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()));
    let is_variant = |line: &&str| line.strip_prefix("    ").is_some_and(|line| line.starts_with(char::is_uppercase));
    named.map(|rest| rest.lines().take_while(|line| *line != "}").filter(is_variant).count()).sum()
}

/// True of a row of a list that a macro declares, `Name = "title", …;`.
fn is_row(line: &str) -> bool {
    let name = line.trim_start().split_once(" = \"").map(|(name, _)| name);
    name.is_some_and(|name| name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphanumeric))
}

/// True of a string with two words, as a person reads it; paths, names and formats are no phrases.
fn is_phrase(text: &str) -> bool {
    let is_word = |word: &&str| {
        word.len() > 1 && word.chars().all(|letter| letter.is_alphabetic() || ",.;:’'?!".contains(letter))
    };
    text.split(' ').filter(is_word).count() >= 2
}

#[test]
fn the_house_stays_within_its_budget() {
    let counted = count();
    counted.iter().for_each(|(name, number)| println!("{name}: {number}"));
    for (name, number) in counted {
        let agreed = AGREED.iter().find(|(agreed, _)| *agreed == name);
        let Some((_, agreed)) = agreed else { panic!("agree on a number for {name}: there are {number}") };
        assert!(
            number <= *agreed,
            "{name}: {number}, above the agreed {agreed}. Delete something, or raise the number in tests/architecture/budget.rs \
             and say why in the commit."
        );
    }
}

/// The twin: what is counted is found.
#[test]
fn functions_variants_and_phrases_are_found() {
    let body = "        let x = 1;\n".repeat(FUNCTION_LINES_MAX);
    let code = format!(
        "impl A {{\n    pub(in a::b) const fn long(\n        x: u8,\n    ) {{\n{body}    }}\n    fn short() {{}}\n}}\n"
    );
    assert_eq!(function_lines(&code), [FUNCTION_LINES_MAX + 4, 1]);
    let code =
        "use a;\npub enum ACommand {\n    One,\n    Two {\n        Three: u8,\n    },\n}\npub enum B {\n    Four,\n}\n";
    assert_eq!(enum_variants(code, &|name| name.ends_with("Command")), 2);
    assert!(is_phrase("there is no head {}") && !is_phrase("src/a b.rs") && !is_phrase("W_Q[0, 1]"));
}
