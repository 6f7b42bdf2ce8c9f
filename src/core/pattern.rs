//! Regular expressions that a learner writes: bounded, matched in linear time, with one-line error messages.

use regex::{Regex, RegexBuilder};

/// The largest size of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1 << 20;
/// The deepest nesting of a pattern.
const PATTERN_DEPTH: u32 = 50;

/// Compiles a pattern that does not distinguish upper and lower case.
///
/// # Errors
/// A message of one line if the pattern is not valid or too large.
pub fn read(text: &str) -> Result<Regex, String> {
    let built =
        RegexBuilder::new(text).case_insensitive(true).size_limit(PATTERN_BYTES).nest_limit(PATTERN_DEPTH).build();
    built.map_err(|error| match error {
        regex::Error::Syntax(said) => in_a_line(&said),
        regex::Error::CompiledTooBig(_) => "it repeats too much".to_owned(),
        other => other.to_string(),
    })
}

/// Returns a syntax error as one line. The library marks the place with `^` under the pattern and gives the reason in
/// the last line.
fn in_a_line(said: &str) -> String {
    const INDENT: usize = 4;
    let why = said.lines().last().unwrap_or(said).trim_start_matches("error: ");
    let sign = said.lines().find(|line| line.trim_start().starts_with('^'));
    let place = sign.and_then(|line| line.chars().position(|sign| sign == '^')).and_then(|at| at.checked_sub(INDENT));
    match place {
        Some(place) => format!("{why}, at character {}", place + 1),
        None => why.to_owned(),
    }
}
