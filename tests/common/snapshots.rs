//! Texts that are kept in files beside the tests, and rewritten with `UPDATE_SNAPSHOTS=1`: the sentences of the program
//! stand there, to be read as prose, and in no other test.

use std::fs;

use super::top::at;

/// Processors round sums differently; the numbers of a kept text may differ by less.
const TOLERANCE: f64 = 2e-3;
/// What stands before each line of an answer in a catalogue.
const ANSWER: &str = "    ";
/// Lines that a failure shows.
const SHOWN: usize = 20;

/// Compares a text with the one that is kept at this path in the repository.
#[track_caller]
pub fn assert_kept(path: &str, text: &str) {
    let file = at(path);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&file, text).expect("a text is kept");
    }
    let kept = fs::read_to_string(file).unwrap_or_else(|why| panic!("{path}: {why}; UPDATE_SNAPSHOTS=1 writes it"));
    let other = differing(&kept, text);
    assert!(other.is_empty(), "{path}: UPDATE_SNAPSHOTS=1 keeps it as it is now\n{}", other.join("\n"));
}

/// Asks again what each case of a catalogue is answered with, and compares. Its lines are headings (`## `), remarks (`>
/// `) and cases; the answer to a case stands indented below it.
#[track_caller]
pub fn assert_catalogue(path: &str, mut answer: impl FnMut(&str, &str) -> String) {
    let kept = fs::read_to_string(at(path)).unwrap_or_else(|why| panic!("{path}: {why}"));
    let (mut now, mut heading, mut cases) = (String::new(), "", 0);
    for line in kept.lines().filter(|line| !line.starts_with(ANSWER)) {
        now += &format!("{line}\n");
        if let Some(title) = line.strip_prefix("## ") {
            heading = title;
        } else if !line.is_empty() && !line.starts_with("> ") {
            let answer = answer(heading, line);
            let lines = answer.lines().filter(|line| !line.trim().is_empty());
            lines.for_each(|line| now += &format!("{ANSWER}{}\n", line.trim_end()));
            cases += 1;
        }
    }
    assert!(cases > 0, "{path} has no case");
    assert_kept(path, &now);
}

/// A case of a catalogue as it is meant: `⏎` ends a line, and `3×⟨ab⟩` is `ababab`.
pub fn written_out(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, (repeated, after))) =
        rest.split_once("×⟨").and_then(|(before, after)| Some((before, after.split_once('⟩')?)))
    {
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (before, count) = before.split_at(before.len() - digits);
        text += before;
        text += &repeated.repeat(count.parse().expect("a count"));
        rest = after;
    }
    (text + rest).replace('⏎', "\n")
}

/// The first lines in which a text is another than the kept one.
pub fn differing(kept: &str, text: &str) -> Vec<String> {
    let (mut before, mut after) = (kept.lines(), text.lines());
    let mut shown = Vec::new();
    while shown.len() < SHOWN {
        match (before.next(), after.next()) {
            (None, None) => break,
            (Some(kept), Some(now)) if is_same(kept, now) => {}
            (kept, now) => {
                shown.extend(kept.map(|line| format!("- {line}")));
                shown.extend(now.map(|line| format!("+ {line}")));
            }
        }
    }
    shown
}

/// Whether two lines have the same words, and numbers that are near.
fn is_same(kept: &str, now: &str) -> bool {
    let ((words, numbers), (kept_words, kept_numbers)) = (parts(now), parts(kept));
    words == kept_words && numbers.iter().zip(&kept_numbers).all(|(now, kept)| (now - kept).abs() <= TOLERANCE)
}

/// The text without its numbers, and its numbers.
fn parts(text: &str) -> (String, Vec<f64>) {
    let (mut words, mut numbers) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = &rest[start..];
        let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
        let number = digits[..end].trim_end_matches('.');
        words.push_str(&rest[..start]);
        words.push('#');
        numbers.extend(number.parse::<f64>());
        rest = &digits[number.len()..];
    }
    words.push_str(rest);
    (words, numbers)
}
