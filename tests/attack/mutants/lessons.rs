//! Lesson files with mistakes that their grammar allows for, on the whole way of `attune check`.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{env, process};

use attune_core::kernel::check::claims::{first_overflow, verify};
use attune_core::kernel::check::rehearsal::rehearse;
use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson;
use attune_core::lesson::LessonIssue;
use attune_core::lesson::limits::LESSON_BYTES_MAX;
use attune_core::lesson::locate::{Places, written};

use super::{Attack, Dice, HOSTILE, Outcome};

/// Files to begin with, and to take pieces from.
const LESSONS: &[&str] = &[
    include_str!("../../fixtures/small.ron"),
    include_str!("../../fixtures/notebook.ron"),
    include_str!("../../fixtures/reference.ron"),
    include_str!("../../fixtures/forms/custom_mask.ron"),
    include_str!("../../fixtures/forms/given_weights.ron"),
    include_str!("../../fixtures/forms/label.ron"),
    include_str!("../../fixtures/forms/next_word.ron"),
    include_str!("../../fixtures/forms/parameter_free.ron"),
    include_str!("../../fixtures/forms/reversal.ron"),
    include_str!("../../fixtures/forms/translation.ron"),
    include_str!("../../../lessons/apple.ron"),
    include_str!("../../../lessons/bank.ron"),
    include_str!("../../../lessons/cross_attention.ron"),
    include_str!("../../../lessons/dot_product.ron"),
    include_str!("../../../lessons/heads.ron"),
    include_str!("../../../lessons/idiom.ron"),
    include_str!("../../../lessons/it.ron"),
    include_str!("../../../lessons/masks.ron"),
    include_str!("../../../lessons/next_word.ron"),
    include_str!("../../../lessons/qkv.ron"),
    include_str!("../../../lessons/scaling.ron"),
    include_str!("../../../lessons/words.ron"),
];
/// Those of them that train in milliseconds.
const QUICK: usize = 10;

/// Pieces of work that a lesson trains for: the rest is as the first.
const ADVANCES: usize = 40;
/// Given to the cells together.
const REHEARSAL: Duration = Duration::from_secs(1);

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "0.5",
    "1.0",
    "64",
    "256",
    "1000",
    "99999",
    "1e-9",
    "1e-320",
    "1e5",
    "1e308",
    "1e400",
    "-0.0",
    "inf",
    "-inf",
    "NaN",
    "0x7fff",
    "0b1",
    "1_000",
    "+1",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "1.",
    ".5",
    "1e",
];
const MARKS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    ",",
    ":",
    "r#\"",
    "\"#",
    "//",
    "/*",
    "*/",
    "\\",
    "'",
    "\0",
    "\u{feff}",
    "é",
    "\u{301}",
    "\n",
    "\r",
    "#![enable(implicit_some)]",
    "Some(",
    "()",
    "true",
    "None",
];

/// Bytes that are not UTF-8.
const NOT_TEXT: &[&[u8]] = &[b"\xff", b"\xc3", b"\xf0\x9f", b"\xed\xa0\x80"];

/// The bytes of a file.
#[derive(Clone)]
pub struct MutatedLesson {
    lines: Vec<Vec<u8>>,
}

impl Attack for MutatedLesson {
    type Part = Vec<u8>;

    fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed);
        // The quick ones get as far as their cells.
        let among = if dice.once_in(3) { LESSONS } else { &LESSONS[..QUICK] };
        let mut text = (*dice.pick(among)).to_owned();
        // Few mistakes leave a lesson; many do not.
        let edits = if dice.once_in(2) { 1 } else { 1 + dice.below(6) };
        for _ in 0..edits {
            text = edited(&mut dice, text);
        }
        let mut bytes = text.into_bytes();
        if dice.once_in(20) && !bytes.is_empty() {
            let at = dice.below(bytes.len());
            let raw = NOT_TEXT[dice.below(NOT_TEXT.len())];
            bytes.splice(at..at, raw.iter().copied());
        }
        bytes.truncate(LESSON_BYTES_MAX as usize + 1);
        Self { lines: bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect() }
    }

    fn run(&self) -> Outcome {
        let path = file();
        fs::write(&path, self.lines.concat()).map_err(|error| format!("the file cannot be written: {error}"))?;
        let lesson = match lesson::read(&path) {
            Ok(lesson) => lesson,
            Err(issues) => return check_issues(&issues).map(|()| "refused"),
        };
        let mut kernel = Kernel::new(Arc::new(lesson));
        kernel.apply(Command::Training(TrainingCommand::Play));
        (0..ADVANCES).take_while(|_| kernel.is_busy().then(|| kernel.advance()).is_some()).for_each(drop);
        kernel.apply(Command::Training(TrainingCommand::Pause));
        let snapshot = kernel.snapshot();
        if let Some(fault) = &snapshot.fault {
            return match lesson::locate(&path, fault.field) {
                Some(_) => Ok("cannot be trained"),
                None => Err(format!("{} has no place: {:?}", fault.words, fault.field)),
            };
        }
        let Some(model) = &snapshot.model else { return Ok("takes long") };
        if model.training.diverged().is_some() {
            return Ok("diverges");
        }
        let text = written(&path).ok_or("the file is gone")?;
        let places = Places::of(&text);
        // Claims are measured on whatever was learned.
        for verdict in verify(&snapshot).unwrap_or_default() {
            places.claim(&verdict.id).ok_or_else(|| format!("claim {:?} has no place", verdict.id))?;
        }
        let overflows = first_overflow(&snapshot).is_some();
        for problem in rehearse(&mut kernel, REHEARSAL) {
            let place = places.cell(&problem.cell, &problem.at);
            place.ok_or_else(|| format!("{:?} has no place: {problem:?}", problem.cell))?;
            if problem.words.contains(attune_engine::code::OWN_FAULT) {
                return Err(format!("a fault of the program: {problem:?}"));
            }
        }
        Ok(if overflows { "overflows" } else { "checked" })
    }

    fn parts(&mut self) -> &mut Vec<Vec<u8>> {
        &mut self.lines
    }

    fn told(&self) -> String {
        const SHOWN: usize = 6000;
        let text = String::from_utf8_lossy(&self.lines.concat()).escape_debug().to_string().replace("\\n", "\n");
        text.chars().take(SHOWN).collect()
    }
}

/// A file of this process and thread.
fn file() -> PathBuf {
    env::temp_dir().join(format!("attune-attack-{}.ron", process::id()))
}

/// Removes what the attack wrote.
pub fn clean() {
    // Perhaps nothing was.
    let _ = fs::remove_file(file());
}

/// Each has its place, but those of the file as a whole, and none steers a terminal.
fn check_issues(issues: &[LessonIssue]) -> Result<(), String> {
    const OF_THE_WHOLE: &[&str] = &["this is a glossary", " bytes"];
    if issues.is_empty() {
        return Err("neither a lesson nor an issue".to_owned());
    }
    for issue in issues {
        let said = format!("{issue:#}");
        let is_whole = OF_THE_WHOLE.iter().any(|words| issue.message.contains(words));
        if issue.place.is_none() && !is_whole {
            return Err(format!("no place: {said}"));
        }
        if said.contains(|c: char| c.is_control() && c != '\n') || said.contains("please report") {
            return Err(format!("not to be said: {said:?}"));
        }
    }
    Ok(())
}

/// The kinds of tokens that an edit is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Name,
    Open,
    Close,
    Comma,
    Other,
}

struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

/// The tokens of a text, as far as RON goes: what is broken already is cut somehow.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &text[at..];
        let span = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let (kind, length) = match bytes[at] {
            b'"' => (Kind::Text, end_of_text(rest)),
            b'r' if rest[1..].trim_start_matches('#').starts_with('"') => {
                let hashes = rest[1..].len() - rest[1..].trim_start_matches('#').len();
                let close = format!("\"{}", "#".repeat(hashes));
                let body = hashes + 2;
                (Kind::Text, rest[body..].find(&close).map_or(rest.len(), |end| body + end + close.len()))
            }
            b'/' if rest.starts_with("//") => (Kind::Other, rest.find('\n').unwrap_or(rest.len())),
            b'0'..=b'9' | b'-' | b'.' => {
                (Kind::Number, span(|c| c.is_ascii_alphanumeric() || ".+-_".contains(c)).max(1))
            }
            b'(' | b'[' | b'{' => (Kind::Open, 1),
            b')' | b']' | b'}' => (Kind::Close, 1),
            b',' => (Kind::Comma, 1),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                (Kind::Name, span(|c| c.is_ascii_alphanumeric() || c == '_'))
            }
            _ => (Kind::Other, rest.chars().next().map_or(1, char::len_utf8)),
        };
        if kind != Kind::Other {
            found.push(Token { kind, start: at, end: at + length });
        }
        at += length;
    }
    found
}

fn end_of_text(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\\' => is_escaped = !is_escaped,
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = false,
        }
    }
    rest.len()
}

/// The elements of all lists, records and maps, from their first byte to behind their last.
fn items(tokens: &[Token]) -> Vec<(usize, usize)> {
    let (mut found, mut open) = (Vec::new(), Vec::<Option<(usize, usize)>>::new());
    for token in tokens {
        match token.kind {
            Kind::Open => {
                extend(&mut open, token);
                open.push(None);
            }
            Kind::Close => {
                found.extend(open.pop().flatten());
                extend(&mut open, token);
            }
            Kind::Comma => found.extend(open.last_mut().and_then(Option::take)),
            _ => extend(&mut open, token),
        }
    }
    found
}

fn extend(open: &mut [Option<(usize, usize)>], token: &Token) {
    if let Some(item) = open.last_mut() {
        *item = Some((item.map_or(token.start, |(start, _)| start), token.end));
    }
}

fn quoted(dice: &mut Dice, text: &str) -> String {
    match dice.below(3) {
        0 => format!("r###\"{text}\"###"),
        _ => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// The text with one mistake.
fn edited(dice: &mut Dice, text: String) -> String {
    let tokens = tokens(&text);
    let items = items(&tokens);
    let of = |kind: Kind| tokens.iter().filter(|token| token.kind == kind).collect::<Vec<_>>();
    let with = |start: usize, end: usize, new: &str| format!("{}{new}{}", &text[..start], &text[end..]);
    let boundary = |dice: &mut Dice| {
        let at = dice.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let kind = dice.below(100);
    if items.is_empty() || kind >= 96 {
        let at = boundary(dice);
        return if dice.once_in(3) { text[..at].to_owned() } else { with(at, at, MARKS[dice.below(MARKS.len())]) };
    }
    let (start, end) = *dice.pick(&items);
    match kind {
        0..14 => {
            let comma = text[end..].starts_with(',');
            with(start, end + usize::from(comma), "")
        }
        14..22 => {
            let copies = if dice.once_in(10) { *dice.pick(&[50, 300, 2000]) } else { 1 };
            // Copies of a whole lesson would be refused for their bytes alone.
            let copies = copies.min(1 + 1_000_000 / (end - start + 1));
            with(end, end, &format!(", {}", &text[start..end]).repeat(copies))
        }
        22..32 => {
            let (a, b) = ((start, end), *dice.pick(&items));
            let (a, b) = if a < b { (a, b) } else { (b, a) };
            if a.1 > b.0 {
                // One within the other takes its place.
                return with(a.0, a.1, &text[b.0..b.1]);
            }
            let (first, between, second) = (&text[a.0..a.1], &text[a.1..b.0], &text[b.0..b.1]);
            with(a.0, b.1, &format!("{second}{between}{first}"))
        }
        32..56 => match &of(Kind::Number)[..] {
            [] => text,
            numbers => {
                let token = dice.pick(numbers);
                with(token.start, token.end, NUMBERS[dice.below(NUMBERS.len())])
            }
        },
        56..74 => match &of(Kind::Text)[..] {
            [] => text,
            texts => {
                let token = dice.pick(texts);
                let old = text[token.start..token.end].trim_matches(['r', '#', '"']);
                let hostile = *dice.pick(HOSTILE);
                let new = match dice.below(6) {
                    0 => hostile.to_owned(),
                    1 => format!("{old} {hostile}"),
                    2 => format!("{hostile}{old}"),
                    3 => hostile.repeat(*dice.pick(&[2, 40, 1000])),
                    4 => old.split(' ').rev().collect::<Vec<_>>().join(" "),
                    _ => {
                        let other = dice.pick(texts);
                        text[other.start..other.end].trim_matches(['r', '#', '"']).to_owned()
                    }
                };
                let new = quoted(dice, &new);
                with(token.start, token.end, &new)
            }
        },
        74..84 => match &of(Kind::Name)[..] {
            [] => text,
            names => {
                let (token, other) = (dice.pick(names), dice.pick(names));
                let (old, other) = (&text[token.start..token.end], &text[other.start..other.end]);
                let new = match dice.below(4) {
                    0 => other.to_owned(),
                    1 => old[1..].to_owned(),
                    2 => format!("{old}{}", other.to_uppercase()),
                    _ => old.to_lowercase(),
                };
                with(token.start, token.end, &new)
            }
        },
        84..90 => {
            let depth = *dice.pick(&[1, 2, 20, 127, 200, 5000]);
            let (open, close) =
                *dice.pick(&[("[", "]"), ("(", ")"), ("Some(", ")"), ("{ \"a\": ", "}"), ("Code(", ")")]);
            with(start, end, &format!("{}{}{}", open.repeat(depth), &text[start..end], close.repeat(depth)))
        }
        _ => {
            // A piece of another lesson.
            let donor = *dice.pick(LESSONS);
            let pieces = self::items(&self::tokens(donor));
            let (from, to) = *dice.pick(&pieces);
            let piece = &donor[from..to];
            if dice.once_in(2) { with(start, end, piece) } else { with(end, end, &format!(", {piece}")) }
        }
    }
}
