//! Parser of a file into a tree of values with their places.
//!
//! The grammar is RON's, <https://github.com/ron-rs/ron/blob/master/docs/grammar.md>, without its extensions. The first
//! syntax error ends the parsing, because after a missing bracket nothing is certain.

use attune_engine::code::LineColumn;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::lesson::reading::issue::{Issues, LessonText, shorten};

/// A value of the file.
#[derive(Debug)]
pub struct Value<'s> {
    pub text: &'s str,
    pub form: Form<'s>,
}

#[derive(Debug)]
pub enum Form<'s> {
    /// The decoded text, each character in its composed form (NFC), so that names that look the same are equal.
    Text(String),
    /// A number that is not parsed yet; the field decides which numbers are valid.
    Number,
    Flag(bool),
    List(Vec<Value<'s>>),
    Map(Vec<(Value<'s>, Value<'s>)>),
    Record(Option<&'s str>, Body<'s>),
    Character,
    Bytes,
}

/// The values of a record, `Name(…)`; there are none if the name has no parentheses.
#[derive(Debug)]
pub enum Body<'s> {
    Fields(Vec<(&'s str, Value<'s>)>),
    Items(Vec<Value<'s>>),
}

impl<'s> Value<'s> {
    /// Returns the value of a field of a record, or `None` if the field is left out or this is no such record.
    pub fn field(&self, name: &str) -> Option<&Self> {
        let Form::Record(_, Body::Fields(fields)) = &self.form else { return None };
        fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }
}

/// Greatest depth of nested brackets, which bounds the stack of the parser.
const DEPTH_MAX: usize = 128;

/// Parses the only value of a file, or returns `None` after an issue.
pub fn read<'s>(issues: &Issues<'s>) -> Option<Value<'s>> {
    let source = &issues.source;
    let mut parser = Parser { text: source.text, at: 0, depth: 0 };
    let start = match parser.peek() {
        Token { kind: Kind::End, .. } => {
            let found = match source.text.trim() {
                "" => "the file is empty",
                text if text.contains('\r') && !text.contains('\n') => {
                    "the file is one comment, whose lines end in \\r only"
                }
                _ => "the file has only comments",
            };
            return issues.report(source.text, found).expected("a lesson: Lesson(id: …, title: …, …)").none();
        }
        // The attribute `#![enable(…)]`.
        Token { start, .. } if source.text[start..].starts_with("#!") => {
            let line = source.text[start..].lines().next().unwrap_or_default().trim_end();
            let report = issues.report(line, "RON extensions are not supported");
            return report.expected("the file to start with Lesson(").none();
        }
        Token { start, .. } => start,
    };
    let value = parser.value().and_then(|value| match parser.next() {
        Token { kind: Kind::End, .. } => Ok(value),
        token => Err(TreeFlaw::new(token.start, "the end of the file after the lesson")),
    });
    value.map_err(|flaw| flaw.report(issues, start)).ok()
}

/// Returns whether the text, after any comments, begins with this name and a parenthesis.
pub fn begins_with(text: &str, name: &str) -> bool {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let first = parser.next();
    &text[first.start..first.end] == name && parser.next().kind == Kind::Mark('(')
}

/// The first syntax error.
struct TreeFlaw {
    at: usize,
    expected: &'static str,
    /// Whether a token was found that cannot be there, in which case a bracket may be missing far before it.
    is_structural: bool,
}

impl TreeFlaw {
    fn new(at: usize, expected: &'static str) -> Self {
        Self { at, expected, is_structural: false }
    }

    fn report(self, issues: &Issues<'_>, start: usize) {
        let text = issues.source.text;
        if let Some(open) = Some(start).filter(|_| self.is_structural).and_then(|from| unclosed(&issues.source, from)) {
            let bracket = &text[open..=open];
            issues
                .report(bracket, format!("cannot be read as RON: this {bracket} is not closed"))
                .expected(format!("a matching {}", closing(bracket)));
            return;
        }
        let found = match text[self.at..].split_whitespace().next() {
            None => "the file ends here".to_owned(),
            Some(word) => format!("found {}", shorten(word)),
        };
        issues.report(&text[self.at..], format!("cannot be read as RON: {found}")).expected(self.expected);
    }
}

fn closing(open: &str) -> char {
    match open {
        "(" => ')',
        "[" => ']',
        _ => '}',
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A bracket, a comma or a colon.
    Mark(char),
    Text,
    Character,
    Bytes,
    /// A name or a number: letters, digits and `_`, `+`, `-`, `.`.
    Word,
    End,
    /// A character with which no token begins.
    Unknown,
    /// A token that begins well and is then malformed: the place, and what is expected there.
    Bad(usize, &'static str),
}

#[derive(Clone, Copy)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

struct Parser<'s> {
    text: &'s str,
    at: usize,
    depth: usize,
}

impl<'s> Parser<'s> {
    fn value(&mut self) -> Result<Value<'s>, TreeFlaw> {
        let token = self.next();
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(TreeFlaw::new(token.start, "brackets nested less deeply"));
        }
        let form = match token.kind {
            Kind::Text => Form::Text(decoded(&self.text[token.start..token.end], token.start)?),
            Kind::Character => Form::Character,
            Kind::Bytes => Form::Bytes,
            Kind::Word => self.word(token)?,
            Kind::Mark('[') => Form::List(self.entries(']', Self::value)?),
            Kind::Mark('{') => Form::Map(self.entries('}', |parser| {
                let key = parser.value()?;
                parser.colon()?;
                Ok((key, parser.value()?))
            })?),
            Kind::Mark('(') => Form::Record(None, self.body()?),
            Kind::End => return Err(self.flaw(token, "more text: a value or a closing bracket")),
            Kind::Mark(_) | Kind::Unknown | Kind::Bad(..) => return Err(self.flaw(token, A_VALUE)),
        };
        self.depth -= 1;
        Ok(Value { text: &self.text[token.start..self.at], form })
    }

    fn word(&mut self, token: Token) -> Result<Form<'s>, TreeFlaw> {
        let word = &self.text[token.start..token.end];
        match word {
            "true" => Ok(Form::Flag(true)),
            "false" => Ok(Form::Flag(false)),
            "inf" | "inff32" | "inff64" | "NaN" | "NaNf32" | "NaNf64" => Ok(Form::Number),
            _ if word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-')) => Ok(Form::Number),
            _ if !is_name(word) => Err(self.flaw(token, A_NAME)),
            _ if self.peek().kind == Kind::Mark('(') => {
                self.next();
                Ok(Form::Record(Some(word), self.body()?))
            }
            _ => Ok(Form::Record(Some(word), Body::Fields(Vec::new()))),
        }
    }

    /// Parses the rest of a record after its opening parenthesis.
    fn body(&mut self) -> Result<Body<'s>, TreeFlaw> {
        let start = self.at;
        let (first, second) = (self.next(), self.next());
        self.at = start;
        let has_names = first.kind == Kind::Word && second.kind == Kind::Mark(':');
        if !has_names && first.kind != Kind::Mark(')') {
            return Ok(Body::Items(self.entries(')', Self::value)?));
        }
        let field = |parser: &mut Self| {
            let token = parser.next();
            let name = &parser.text[token.start..token.end];
            if token.kind != Kind::Word || !is_name(name) {
                return Err(parser.flaw(token, A_NAME));
            }
            parser.colon()?;
            Ok((name, parser.value()?))
        };
        Ok(Body::Fields(self.entries(')', field)?))
    }

    /// Parses the entries up to a closing bracket, separated by commas.
    fn entries<T>(
        &mut self,
        close: char,
        mut entry: impl FnMut(&mut Self) -> Result<T, TreeFlaw>,
    ) -> Result<Vec<T>, TreeFlaw> {
        let mut entries = Vec::new();
        while self.peek().kind != Kind::Mark(close) {
            entries.push(entry(self)?);
            let token = self.peek();
            match token.kind {
                Kind::Mark(',') => self.at = token.end,
                Kind::Mark(mark) if mark == close => {}
                _ => return Err(self.flaw(token, "a comma between two values")),
            }
        }
        self.at = self.peek().end;
        Ok(entries)
    }

    fn colon(&mut self) -> Result<(), TreeFlaw> {
        match self.next() {
            Token { kind: Kind::Mark(':'), .. } => Ok(()),
            token => Err(self.flaw(token, "a colon between name and value")),
        }
    }

    /// Returns the error for an unexpected token.
    fn flaw(&self, token: Token, expected: &'static str) -> TreeFlaw {
        match token.kind {
            Kind::Bad(at, expected) => TreeFlaw::new(at, expected),
            _ => TreeFlaw { at: token.start, expected, is_structural: true },
        }
    }

    fn peek(&mut self) -> Token {
        let before = self.at;
        let token = self.next();
        self.at = before;
        token
    }

    /// Returns the next token. Repeated calls reach the end of any text.
    fn next(&mut self) -> Token {
        let text = self.text;
        let start = match skip_space(text, self.at) {
            Ok(start) => start,
            Err(end) => {
                self.at = end;
                return Token { kind: Kind::Bad(end, "*/ at the end of the comment"), start: end, end };
            }
        };
        let rest = &text[start..];
        let Some(first) = rest.chars().next() else {
            self.at = start;
            return Token { kind: Kind::End, start, end: start };
        };
        let (kind, length) = match first {
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ':' => (Kind::Mark(first), 1),
            '"' => quoted(rest).map_or_else(|at| (Kind::Bad(start + at, A_QUOTE), rest.len()), |end| (Kind::Text, end)),
            '\'' => character(rest).map_or_else(|at| (Kind::Bad(start + at, A_TEXT), at), |end| (Kind::Character, end)),
            _ => prefixed(rest, start).unwrap_or_else(|| match rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()) {
                0 => (Kind::Unknown, first.len_utf8()),
                length => (Kind::Word, length),
            }),
        };
        self.at = start + length;
        Token { kind, start, end: self.at }
    }
}

const A_VALUE: &str = "a value: text, a number, a [list], a {map} or Name(…)";
const A_NAME: &str = "a field name of letters, digits and _";
const A_QUOTE: &str = "a closing double quote";
const A_TEXT: &str = "text in double quotes; single quotes hold one character";

fn is_of_word(c: char) -> bool {
    is_of_name(c) || matches!(c, '+' | '-' | '.')
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

fn is_name(word: &str) -> bool {
    !word.starts_with(|c: char| c.is_numeric()) && word.chars().all(is_of_name)
}

/// Returns the first place from `at` on that is neither space nor comment. The error is the end of a text whose comment
/// is not closed.
fn skip_space(text: &str, mut at: usize) -> Result<usize, usize> {
    loop {
        let rest = text[at..].trim_start_matches(is_space);
        at = text.len() - rest.len();
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += comment(rest).ok_or(text.len())?;
        } else {
            return Ok(at);
        }
    }
}

/// Returns whether a character is white space in RON.
fn is_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
}

/// Returns the length in bytes of the comment at the start of `text`, which may contain other comments, or `None` if
/// the comment is not closed.
fn comment(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    while let Some(mark) = text[at..].find(['/', '*']) {
        at += mark;
        match text.as_bytes()[at..] {
            [b'/', b'*', ..] => depth += 1,
            [b'*', b'/', ..] => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the length in bytes of the quoted text at the start of `text`. The error is the place of its contents if the
/// quote is not closed.
fn quoted(text: &str) -> Result<usize, usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Ok(at + 1),
            _ => {}
        }
    }
    Err(1)
}

/// Returns the length in bytes of the quoted character at the start of `text`. The error is the place where it is
/// malformed.
fn character(text: &str) -> Result<usize, usize> {
    let inside = &text[1..];
    let is_escaped = inside.starts_with('\\');
    let one = usize::from(is_escaped);
    let one = one + inside[one..].chars().next().map_or(0, char::len_utf8);
    // An escape may be long, such as `'\u{301}'`.
    let end = if is_escaped { inside[one..].find('\'') } else { inside[one..].starts_with('\'').then_some(0) };
    end.map(|end| 1 + one + end + 1).ok_or(1 + one)
}

/// Parses raw text `r#"…"#`, or bytes `b"…"`, `br"…"` or `b'…'`, at the start of `text`.
fn prefixed(text: &str, start: usize) -> Option<(Kind, usize)> {
    let is_bytes = text.starts_with('b');
    let kind = if is_bytes { Kind::Bytes } else { Kind::Text };
    let after_b = text.strip_prefix('b').unwrap_or(text);
    let before = text.len() - after_b.len();
    let bad = |at: usize| (Kind::Bad(start + before + at, A_QUOTE), text.len());
    if let Some(after_r) = after_b.strip_prefix('r') {
        let inside = after_r.trim_start_matches('#').strip_prefix('"')?;
        let hashes = after_r.len() - inside.len() - 1;
        let head = 1 + hashes + 1;
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(inside.find(&end).map_or_else(|| bad(head), |at| (kind, before + head + at + end.len())));
    }
    match after_b.chars().next().filter(|_| is_bytes)? {
        '"' => Some(quoted(after_b).map_or_else(bad, |length| (kind, before + length))),
        '\'' => Some(character(after_b).map_or_else(bad, |length| (kind, before + length))),
        _ => None,
    }
}

/// Returns the text of a token, with RON's escapes decoded.
fn decoded(token: &str, start: usize) -> Result<String, TreeFlaw> {
    const AN_ESCAPE: &str = "one of the escapes \\n, \\t, \\\", \\\\ or \\u{…}; or a raw text r#\"…\"#";
    ron::from_str::<String>(token).map(|text| text.nfc().collect()).map_err(|error| {
        let place = LineColumn { line: error.span.end.line, column: error.span.end.col };
        let rest = LessonText::new("", token).rest_from(place);
        TreeFlaw::new(start + token.len() - rest.len(), AN_ESCAPE)
    })
}

/// Returns the place of a bracket from `from` on that is not closed. Brackets alone would point to one of the outer
/// ones, so indentation decides first: a bracket that ends a line should be closed on a line with the same indentation.
fn unclosed(source: &LessonText<'_>, from: usize) -> Option<usize> {
    let text = source.text;
    let mut tokens = Parser { text, at: from, depth: 0 };
    // Open brackets with the indentation of their lines. It is computed once for each line, because a file may be one
    // long line of brackets.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let (mut line, mut indent, mut suspect) = (None, 0, None);
    loop {
        let Token { kind, start: at, .. } = tokens.next();
        let start = source.line_start(at);
        if line.replace(start) != Some(start) {
            indent = text[start..].len() - text[start..].trim_start_matches([' ', '\t']).len();
        }
        match kind {
            Kind::End => return open.last().map(|(last, _)| suspect.unwrap_or(*last)),
            Kind::Mark('(' | '[' | '{') => open.push((at, indent)),
            Kind::Mark(bracket @ (')' | ']' | '}')) => {
                // There is one closing bracket too many, so no bracket is unclosed.
                let (from, indent_of_open) = open.pop()?;
                let ends_line = text[from + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
                if start + indent == at && ends_line && indent != indent_of_open {
                    suspect = suspect.or(Some(from));
                }
                if closing(&text[from..=from]) != bracket {
                    return Some(suspect.unwrap_or(from));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a text and compares its only issue, or the value if there is none, with `expected`.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let issues = Issues::new("f", text);
        let said = read(&issues).map_or_else(|| issues.finish()[0].to_string(), |value| told(&value));
        assert_eq!(said, expected, "{text}");
    }

    /// Formats a value without spaces and comments.
    fn told(value: &Value<'_>) -> String {
        let all = |values: &[Value<'_>]| values.iter().map(told).collect::<Vec<_>>().join(",");
        match &value.form {
            Form::Text(text) => format!("{text:?}"),
            Form::Number | Form::Flag(_) | Form::Character | Form::Bytes => value.text.to_owned(),
            Form::List(values) => format!("[{}]", all(values)),
            Form::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| format!("{}:{}", told(key), told(value)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            }
            Form::Record(name, Body::Items(values)) => format!("{}({})", name.unwrap_or_default(), all(values)),
            Form::Record(name, Body::Fields(fields)) => {
                let fields = fields.iter().map(|(field, value)| format!("{field}:{}", told(value)));
                format!("{}({})", name.unwrap_or_default(), fields.collect::<Vec<_>>().join(","))
            }
        }
    }

    #[test]
    fn values_are_read_with_space_and_comments_between() {
        check("/* a /* b */ */ A ( b : [ 1 , -2.5e3, ] , c: {}, ) // end", "A(b:[1,-2.5e3],c:{})");
        check("(\"a\\n\\u{e9}\", r##\"\\ \"# \"##, 'x', '\\'', b\"y\", br#\"\"\"#, B, true, inf)", {
            "(\"a\\né\",\"\\\\ \\\"# \",'x','\\'',b\"y\",br#\"\"\"#,B(),true,inf)"
        });
        check("{\"e\u{301}\": r, brown: ()}", "{\"é\":r(),brown():()}");
    }

    #[test]
    fn the_first_mistake_has_its_place() {
        for (text, expected) in [
            ("(a 1)", "4: cannot be read as RON: found 1); expected a comma between two values"),
            ("[1 2]", "4: cannot be read as RON: found 2]; expected a comma between two values"),
            ("(a-b: 1)", "2: cannot be read as RON: found a-b:; expected a field name of letters, digits and _"),
            (
                "(a: )",
                "5: cannot be read as RON: found ); expected a value: text, a number, a [list], a {map} or Name(…)",
            ),
            (
                "(a: ')",
                "7: cannot be read as RON: the file ends here; expected text in double quotes; single quotes hold one character",
            ),
            ("[\"a]", "3: cannot be read as RON: found a]; expected a closing double quote"),
            ("1 2", "3: cannot be read as RON: found 2; expected the end of the file after the lesson"),
        ] {
            check(text, &format!("f:1:{expected}"));
        }
        let brackets = ["[", "]"].map(|bracket| bracket.repeat(DEPTH_MAX + 1)).concat();
        let issues = Issues::new("f", &brackets);
        assert!(read(&issues).is_none());
        assert_eq!(issues.finish()[0].expected.as_deref(), Some("brackets nested less deeply"));
    }

    #[test]
    fn an_unclosed_bracket_is_found() {
        let check = |text: &str, at: Option<usize>| {
            assert_eq!(unclosed(&LessonText::new("", text), 0), at, "{text}");
        };
        check("(a: [1, {2: 3}])", None);
        check("(a: [1, {2: 3})", Some(4));
        check("(a: [1, 2)", Some(4));
        check("(a: 1))", None);
        check("(a: \"[\\\"[\", b: r#\"{\"{\"#, c: '(' /* ( /* */ [ */ // {\n)", None);
        // The indentation tells which bracket is not closed.
        check("A(\n    b: B(\n        c: 1,\n\n)\n", Some(11));
        check("(r", Some(0));
        check("r#\"", None);
    }
}
