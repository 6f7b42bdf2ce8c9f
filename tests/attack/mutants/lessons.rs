//! Lesson files with mistakes that their grammar allows for, on the whole way of `attune check`.

use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use attune_core::kernel::check::claims::{first_overflow, verify};
use attune_core::kernel::check::rehearse;
use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson;
use attune_core::lesson::LessonIssue;
use attune_core::lesson::limits::LESSON_BYTES_MAX;
use attune_core::lesson::places::{CellPlaces, written};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{Attack, HOSTILE, Outcome, at_least_a_fifth, attack, one_of};
use crate::common::folder::Folder;

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

const NUMBERS: &str = "\
    0 1 2 3 7 -1 0.5 1.0 64 256 1000 99999 1e-9 1e-320 1e5 1e308 1e400 -0.0 inf -inf NaN 0x7fff 0b1 1_000 +1 \
    18446744073709551615 18446744073709551616 9223372036854775807 1. .5 1e";
const MARKS: &str = "\
    ( ) [ ] { } \" , : r#\" \"# // /* */ \\ ' \0 \u{feff} é \u{301} \n \r #![enable(implicit_some)] Some( () true \
    None";

/// Bytes that are not UTF-8.
const NOT_TEXT: &[&[u8]] = &[b"\xff", b"\xc3", b"\xf0\x9f", b"\xed\xa0\x80"];

/// Names of a lesson's file.
const FILES: &[&str] = &["lesson.ron", "le\u{1b}[31msson.ron", "\u{202e}nor.nossel", "a\nb.ron", "<b>.ron"];

/// The name and the bytes of a file.
struct MutatedLesson {
    name: &'static str,
    bytes: Vec<u8>,
}

#[test]
fn mutated_lessons_are_checked_or_refused() {
    let outcomes = attack::<MutatedLesson>(400, &["refused", "checked"]);
    let all: usize = outcomes.values().sum();
    at_least_a_fifth(all - outcomes["refused"], &outcomes);
}

impl Attack for MutatedLesson {
    fn cases() -> impl Strategy<Value = Self> {
        // The quick ones get as far as their cells.
        let lesson = prop_oneof![2 => 0..QUICK, 1 => 0..LESSONS.len()];
        // Few mistakes leave a lesson; many do not.
        let edits = prop_oneof![3 => vec(slips(), 1..3), 1 => vec(edits(), 1), 1 => vec(edits(), 1..7)];
        let raw = option::weighted(0.05, (any::<Index>(), select(NOT_TEXT)));
        let name = prop_oneof![9 => Just(FILES[0]), 1 => select(FILES)];
        (name, lesson, edits, raw).prop_map(|(name, lesson, edits, raw)| {
            let text = edits.iter().fold(LESSONS[lesson].to_owned(), |text, edit| edit.made(&text).unwrap_or(text));
            let mut bytes = text.into_bytes();
            if let Some((at, raw)) = raw {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, raw.iter().copied());
            }
            bytes.truncate(LESSON_BYTES_MAX as usize + 1);
            Self { name, bytes }
        })
    }

    fn run(&self) -> Outcome {
        let folder = Folder::new("attack");
        let path = folder.join(self.name);
        fs::write(&path, &self.bytes).map_err(|error| format!("the file cannot be written: {error}"))?;
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
        let places = CellPlaces::of(&text);
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
}

impl Debug for MutatedLesson {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 6000;
        let text = String::from_utf8_lossy(&self.bytes).escape_debug().to_string().replace("\\n", "\n");
        write!(f, "{:?}: {text:.SHOWN$}", self.name)
    }
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
        // A line of its own is that of the excerpt, and the one that marks it.
        let steers = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        if said.contains(steers) || said.lines().count() > 3 || said.contains("please report") {
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

/// One mistake, at places that any text has.
#[derive(Clone, Debug)]
enum Edit {
    Cut(Index),
    Mark(Index, &'static str),
    Remove(Index),
    Copy(Index, usize),
    /// Two items change places; of one within the other, the inner takes the place of the outer.
    Swap(Index, Index),
    Number(Index, &'static str),
    /// Another text: of its words and `hostile`, or of the text elsewhere.
    Text(Index, Text, &'static str, bool),
    Name(Index, Name),
    /// An item within others.
    Nest(Index, usize, (&'static str, &'static str)),
    /// An item of another lesson, in place of one or after it.
    Graft(Index, usize, Index, bool),
}

#[derive(Clone, Debug)]
enum Text {
    Alone,
    After,
    Before,
    Repeated(usize),
    Reversed,
    Of(Index),
}

#[derive(Clone, Debug)]
enum Name {
    Other(Index),
    Cut,
    Long(Index),
    Small,
}

/// Mistakes that most lessons bear.
fn slips() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    let words = select(&["the", "seal", "1", "é", "*x*", "$x$", "{{ 1 }}", "[a](attune:panel/Weights)"][..]);
    let text = select(vec![Text::After, Text::Before]);
    prop_oneof![
        4 => (at(), one_of("1 2 3 4 7")).prop_map(|(at, number)| Edit::Number(at, number)),
        4 => (at(), text, words).prop_map(|(at, text, word)| Edit::Text(at, text, word, true)),
        1 => at().prop_map(Edit::Remove),
        1 => (at(), at()).prop_map(|(one, other)| Edit::Swap(one, other)),
    ]
}

fn edits() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    let copies = prop_oneof![9 => Just(1), 1 => select(&[50, 300, 2000][..])];
    let text = prop_oneof![
        select(vec![Text::Alone, Text::After, Text::Before, Text::Reversed]),
        select(&[2, 40, 1000][..]).prop_map(Text::Repeated),
        at().prop_map(Text::Of),
    ];
    let name = prop_oneof![
        2 => select(vec![Name::Cut, Name::Small]),
        1 => at().prop_map(Name::Other),
        1 => at().prop_map(Name::Long),
    ];
    let brackets = select(&[("[", "]"), ("(", ")"), ("Some(", ")"), ("{ \"a\": ", "}"), ("Code(", ")")][..]);
    prop_oneof![
        14 => at().prop_map(Edit::Remove),
        8 => (at(), copies).prop_map(|(at, copies)| Edit::Copy(at, copies)),
        10 => (at(), at()).prop_map(|(one, other)| Edit::Swap(one, other)),
        24 => (at(), one_of(NUMBERS)).prop_map(|(at, number)| Edit::Number(at, number)),
        18 => (at(), text, select(HOSTILE), prop::bool::weighted(0.33))
            .prop_map(|(at, text, hostile, is_raw)| Edit::Text(at, text, hostile, is_raw)),
        10 => (at(), name).prop_map(|(at, name)| Edit::Name(at, name)),
        6 => (at(), select(&[1, 2, 20, 127, 200, 5000][..]), brackets)
            .prop_map(|(at, depth, brackets)| Edit::Nest(at, depth, brackets)),
        6 => (at(), 0..LESSONS.len(), at(), any::<bool>())
            .prop_map(|(at, donor, from, replaces)| Edit::Graft(at, donor, from, replaces)),
        1 => at().prop_map(Edit::Cut),
        3 => (at(), one_of(MARKS)).prop_map(|(at, mark)| Edit::Mark(at, mark)),
    ]
}

fn quoted(text: &str, is_raw: bool) -> String {
    match is_raw {
        true => format!("r###\"{text}\"###"),
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// An element of a list, if there is any.
fn one<'a, T>(at: &Index, among: &'a [T]) -> Option<&'a T> {
    (!among.is_empty()).then(|| at.get(among))
}

impl Edit {
    /// The text with the mistake; `None` if it has nothing to make it in.
    fn made(&self, text: &str) -> Option<String> {
        let tokens = tokens(text);
        let items = items(&tokens);
        let with = |start: usize, end: usize, new: &str| format!("{}{new}{}", &text[..start], &text[end..]);
        let of = |kind: Kind| tokens.iter().filter(|token| token.kind == kind).collect::<Vec<_>>();
        let said = |token: &Token| &text[token.start..token.end];
        let boundary = |at: &Index| text.floor_char_boundary(at.index(text.len() + 1));
        Some(match self {
            Self::Cut(at) => text[..boundary(at)].to_owned(),
            Self::Mark(at, mark) => with(boundary(at), boundary(at), mark),
            Self::Remove(at) => {
                let (start, end) = *one(at, &items)?;
                let comma = text[end..].starts_with(',');
                with(start, end + usize::from(comma), "")
            }
            Self::Copy(at, copies) => {
                let (start, end) = *one(at, &items)?;
                // Copies of a whole lesson would be refused for their bytes alone.
                let copies = (*copies).min(1 + 1_000_000 / (end - start + 1));
                with(end, end, &format!(", {}", &text[start..end]).repeat(copies))
            }
            Self::Swap(first, second) => {
                let (a, b) = (*one(first, &items)?, *one(second, &items)?);
                let (a, b) = (a.min(b), a.max(b));
                if a.1 > b.0 {
                    return Some(with(a.0, a.1, &text[b.0..b.1]));
                }
                let (first, between, second) = (&text[a.0..a.1], &text[a.1..b.0], &text[b.0..b.1]);
                with(a.0, b.1, &format!("{second}{between}{first}"))
            }
            Self::Number(at, number) => {
                let token = *one(at, &of(Kind::Number))?;
                with(token.start, token.end, number)
            }
            Self::Text(at, change, hostile, is_raw) => {
                let texts = of(Kind::Text);
                let token = *one(at, &texts)?;
                let bare = |token: &Token| said(token).trim_matches(['r', '#', '"']).to_owned();
                let old = bare(token);
                let new = match change {
                    Text::Alone => (*hostile).to_owned(),
                    Text::After => format!("{old} {hostile}"),
                    Text::Before => format!("{hostile}{old}"),
                    Text::Repeated(times) => hostile.repeat(*times),
                    Text::Reversed => old.split(' ').rev().collect::<Vec<_>>().join(" "),
                    Text::Of(other) => bare(other.get::<&Token>(&texts)),
                };
                with(token.start, token.end, &quoted(&new, *is_raw))
            }
            Self::Name(at, change) => {
                let names = of(Kind::Name);
                let token = *one(at, &names)?;
                let new = match change {
                    Name::Other(other) => said(other.get::<&Token>(&names)).to_owned(),
                    Name::Cut => said(token)[1..].to_owned(),
                    Name::Long(other) => format!("{}{}", said(token), said(other.get::<&Token>(&names)).to_uppercase()),
                    Name::Small => said(token).to_lowercase(),
                };
                with(token.start, token.end, &new)
            }
            Self::Nest(at, depth, (open, close)) => {
                let (start, end) = *one(at, &items)?;
                with(start, end, &format!("{}{}{}", open.repeat(*depth), &text[start..end], close.repeat(*depth)))
            }
            Self::Graft(at, donor, from, replaces) => {
                let (start, end) = *one(at, &items)?;
                let donor = LESSONS[*donor];
                let (from, to) = *from.get(&self::items(&self::tokens(donor)));
                let piece = &donor[from..to];
                if *replaces { with(start, end, piece) } else { with(end, end, &format!(", {piece}")) }
            }
        })
    }
}
