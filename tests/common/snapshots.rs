//! Texts that are kept in files beside the tests, and rewritten with `UPDATE_SNAPSHOTS=1`.

use std::fs;

use super::top::at;

/// Processors round sums differently; the numbers of a kept text may differ by less.
const TOLERANCE: f64 = 2e-3;

/// Compares a text with the one that is kept at this path in the repository.
#[track_caller]
pub fn assert_kept(path: &str, text: &str) {
    let file = at(path);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&file, text).expect("a text is kept");
    }
    let kept = fs::read_to_string(file).unwrap_or_else(|why| panic!("{path}: {why}; UPDATE_SNAPSHOTS=1 writes it"));
    let ((words, numbers), (kept_words, kept_numbers)) = (parts(text), parts(&kept));
    let is_near = numbers.iter().zip(&kept_numbers).all(|(now, kept)| (now - kept).abs() <= TOLERANCE);
    if words != kept_words || !is_near {
        assert_eq!(text, kept, "{path}: UPDATE_SNAPSHOTS=1 keeps it as it is now");
    }
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
