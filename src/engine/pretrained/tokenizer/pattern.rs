//! Regular expressions from a tokenizer's file, searched in bounded time.
//!
//! The patterns are compiled by fancy-regex, as in the crate `tokenizers`. But that crate treats a search that gives up
//! as one without further matches, and a file can contain searches that take hours. Here such a pattern is refused, or
//! such a text is an error.

use std::time::{Duration, Instant};

use fancy_regex::{Expr, Regex, RegexBuilder};
use tokenizers::Offsets;
use tokenizers::tokenizer::pattern::Pattern;

use super::refuse::{Read, SAVE_AGAIN, refuse};
use crate::pretrained::refusal::quoted;

/// Longest pattern in bytes; those of known models have up to 600.
const PATTERN_BYTES_MAX: usize = 2048;
/// Largest size of each compiled part of a pattern in bytes; the largest of known models has about 300,000.
const PART_BYTES_MAX: usize = 1 << 19;
/// Largest number of times that one search may backtrack.
const BACKTRACKS_MAX: usize = 1 << 18;
/// Number of repetitions from which a repeated part counts as one that may read a long text.
const SHORT_REPEAT: usize = 64;
/// Longest text in bytes for a pattern that looks around, as it may read the text to its end at each position.
const LOOKED_AROUND_BYTES_MAX: usize = 1 << 13;
/// Longest time for all patterns on one text. A time is used, because the library does not report its number of steps.
pub const TIME_MAX: Duration = Duration::from_secs(2);

/// A regular expression whose searches are bounded in time.
#[derive(Clone, Debug)]
pub struct BoundedPattern {
    regex: Regex,
    looks_around: bool,
}

impl BoundedPattern {
    /// Reads the pattern of a step, and refuses one that may take too long.
    pub fn read(pattern: &str, place: &str) -> Read<Self> {
        let found = |why: &str| format!("the pattern {}, which {why},", quoted(pattern));
        if pattern.len() > PATTERN_BYTES_MAX {
            let expected = format!("a pattern of at most {PATTERN_BYTES_MAX} bytes");
            return refuse(place, format!("a pattern of {} bytes", pattern.len()), expected, SAVE_AGAIN);
        }
        let compiled = Expr::parse_tree(pattern).and_then(|tree| {
            let mut builder = RegexBuilder::new(pattern);
            builder.backtrack_limit(BACKTRACKS_MAX);
            builder.delegate_size_limit(PART_BYTES_MAX).delegate_dfa_size_limit(PART_BYTES_MAX);
            Ok((tree.expr, builder.build()?))
        });
        let (expression, regex) = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                let why = format!("is too large or none that fancy-regex knows ({error})");
                return refuse(place, found(&why), "a pattern that fancy-regex can compile", SAVE_AGAIN);
            }
        };
        let parts = Parts::of(&expression);
        if parts.repeats_looks {
            let expected = "a pattern that does not look through the text again at each of its repetitions";
            return refuse(place, found("takes too long on some texts"), expected, SAVE_AGAIN);
        }
        Ok(Self { regex, looks_around: parts.looks })
    }

    /// Returns the pattern with the time at which searches end.
    pub fn until(&self, end: Instant) -> TimedPattern<'_> {
        TimedPattern { pattern: self, end }
    }
}

/// A pattern and the time at which its searches end.
#[derive(Clone, Copy)]
pub struct TimedPattern<'a> {
    pattern: &'a BoundedPattern,
    end: Instant,
}

impl Pattern for TimedPattern<'_> {
    fn find_matches(&self, text: &str) -> tokenizers::Result<Vec<(Offsets, bool)>> {
        let Self { pattern: BoundedPattern { regex, looks_around }, end } = self;
        if text.is_empty() {
            return Ok(vec![((0, 0), false)]);
        }
        if *looks_around && text.len() > LOOKED_AROUND_BYTES_MAX {
            let bytes = text.len();
            let most = LOOKED_AROUND_BYTES_MAX;
            return Err(
                format!("the text has {bytes} bytes; with this tokenizer's pattern at most {most} are read").into()
            );
        }
        let mut found = Vec::new();
        let mut before = 0;
        for at in regex.find_iter(text) {
            let at = at.ok().filter(|_| Instant::now() < *end);
            let Some(at) = at else {
                let pattern = quoted(regex.as_str());
                return Err(
                    format!("the tokenizer's pattern {pattern} takes too long on this text; write another").into()
                );
            };
            if before != at.start() {
                found.push(((before, at.start()), false));
            }
            found.push(((at.start(), at.end()), true));
            before = at.end();
        }
        if before != text.len() {
            found.push(((before, text.len()), false));
        }
        Ok(found)
    }
}

/// The properties of a pattern that decide how long its searches may take.
#[derive(Clone, Copy, Default)]
struct Parts {
    /// Whether the pattern may read more of the text than it matches, or backtrack.
    looks: bool,
    /// Whether the pattern repeats a part that may read a long text without consuming any of it, so that the time grows
    /// with the cube of the text's length.
    repeats_looks: bool,
    /// Whether the pattern may read a long text.
    is_long: bool,
}

impl Parts {
    fn of(expression: &Expr) -> Self {
        match expression {
            Expr::Concat(all) | Expr::Alt(all) => all.iter().map(Self::of).fold(Self::default(), Self::and),
            Expr::Group(inner) => Self::of(inner),
            Expr::Repeat { child, hi, .. } => {
                let inner = Self::of(child);
                let repeats_looks = inner.repeats_looks || *hi > 1 && inner.looks && inner.is_long;
                Self { repeats_looks, is_long: inner.is_long || *hi > SHORT_REPEAT, ..inner }
            }
            // A run of one kind of character is consumed at once, and no part of it is read twice.
            Expr::AtomicGroup(inner) if is_run(inner) => Self { looks: true, ..Self::default() },
            Expr::LookAround(inner, _) | Expr::AtomicGroup(inner) => Self { looks: true, ..Self::of(inner) },
            Expr::Conditional { condition, true_branch, false_branch } => {
                let parts = [condition, true_branch, false_branch].map(|part| Self::of(part));
                Self { looks: true, ..parts.into_iter().fold(Self::default(), Self::and) }
            }
            // The text that these read again may be as long as the whole text.
            Expr::Backref { .. }
            | Expr::BackrefWithRelativeRecursionLevel { .. }
            | Expr::BackrefExistsCondition(_)
            | Expr::SubroutineCall(_)
            | Expr::UnresolvedNamedSubroutineCall { .. } => Self { looks: true, is_long: true, repeats_looks: false },
            Expr::KeepOut | Expr::ContinueFromPreviousMatchEnd => Self { looks: true, ..Self::default() },
            Expr::Empty | Expr::Any { .. } | Expr::Assertion(_) | Expr::Literal { .. } | Expr::Delegate { .. } => {
                Self::default()
            }
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            looks: self.looks || other.looks,
            repeats_looks: self.repeats_looks || other.repeats_looks,
            is_long: self.is_long || other.is_long,
        }
    }
}

/// Returns whether an expression is a repetition of a single character class.
fn is_run(expression: &Expr) -> bool {
    let Expr::Repeat { child, .. } = expression else { return false };
    matches!(**child, Expr::Any { .. } | Expr::Literal { .. } | Expr::Delegate { .. })
}
