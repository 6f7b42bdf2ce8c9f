//! The tokens of a code cell, for syntax highlighting, bracket matching and completion.
//!
//! Rhai's scanner is not used because it stops at the first error, and text that is being typed has errors most of the
//! time.

use std::ops::Range;

use crate::code::LineColumn;

/// Kinds of spans. White space is not part of any span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    Keyword,
    Number,
    /// A string or a character, with its quotes.
    Text,
    Comment,
    /// Name of a variable, function or property; the scope decides which.
    Name,
    Operator,
    Bracket,
    /// A bracket without a partner.
    Unmatched,
}

/// A token as a range of bytes. Spans are sorted and do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub range: Range<usize>,
    pub kind: SpanKind,
}

/// Keywords of the grammar that a code cell can use.
pub const KEYWORDS: [&str; 21] = [
    "let", "const", "fn", "if", "else", "for", "in", "while", "loop", "do", "until", "break", "continue", "return",
    "switch", "throw", "try", "catch", "true", "false", "this",
];

/// Splits any text into tokens.
pub fn highlight(source: &str) -> Vec<Span> {
    let mut scanner = Scanner { source, at: 0, spans: Vec::new(), open: Vec::new() };
    while let Some(c) = scanner.peek() {
        scanner.token(c);
    }
    for open in std::mem::take(&mut scanner.open) {
        scanner.spans[open.span].kind = SpanKind::Unmatched;
    }
    scanner.spans
}

/// Returns the bracket at the caret and its partner, in this order.
pub fn pair_at(source: &str, spans: &[Span], caret: usize) -> Option<[Range<usize>; 2]> {
    let brackets: Vec<&Span> = spans.iter().filter(|span| span.kind == SpanKind::Bracket).collect();
    // The bracket before the caret was typed last, so it is preferred.
    let behind = brackets.iter().position(|bracket| bracket.range.end == caret);
    let start = behind.or_else(|| brackets.iter().position(|bracket| bracket.range.start == caret))?;
    let opens = |i: usize| source[brackets[i].range.clone()].ends_with(['(', '[', '{']);
    let forwards = opens(start);
    let mut depth = 0_usize;
    let mut partner = |i: &usize| {
        depth = if opens(*i) == forwards { depth + 1 } else { depth - 1 };
        depth == 0
    };
    // The remaining brackets are matched, so they nest and the depth ends at 0.
    let end = if forwards { (start..brackets.len()).find(&mut partner) } else { (0..=start).rev().find(&mut partner) }?;
    Some([brackets[start].range.clone(), brackets[end].range.clone()])
}

/// Returns the range to mark for an error at a place: the rest of the token there, up to the end of the line, or one
/// character if there is no token. At the end of a line, returns the range of the last token before it, if there is
/// one.
pub fn token_at(source: &str, spans: &[Span], place: LineColumn) -> Range<usize> {
    let mut start = 0;
    for line in source.split_inclusive('\n').take(place.line.saturating_sub(1)) {
        start += line.len();
    }
    let line = source[start..].lines().next().unwrap_or_default();
    let at = line.char_indices().nth(place.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at) + start;
    if let Some(span) = spans.iter().find(|span| span.range.contains(&at)) {
        let end = source[at..span.range.end].find('\n').map_or(span.range.end, |len| at + len);
        return at..end.max(at);
    }
    // At the end of a line the error is that something is missing after the last token.
    let before = spans.iter().rev().find(|span| span.range.end <= at && span.range.start >= start);
    match (source[at..].chars().next(), before) {
        (Some(c), _) if c != '\n' && c != '\r' => at..at + c.len_utf8(),
        (_, Some(span)) => span.range.clone(),
        _ => at..at,
    }
}

/// Returns whether a span is a string that is not closed yet.
pub(super) fn is_open(source: &str, span: &Span) -> bool {
    let text = &source[span.range.clone()];
    span.kind == SpanKind::Text && (text.len() < 2 || !text.ends_with(['"', '`', '\'', '#']))
}

/// An open bracket whose partner has not been found yet.
struct Open {
    span: usize,
    /// Closing bracket that belongs to this one.
    partner: char,
    /// Whether the bracket is the `${` of code within a string, which continues after the `}`.
    in_string: bool,
}

struct Scanner<'a> {
    source: &'a str,
    at: usize,
    spans: Vec<Span>,
    open: Vec<Open>,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn token(&mut self, c: char) {
        let rest = self.rest();
        if c.is_whitespace() {
            self.at += c.len_utf8();
        } else if rest.starts_with("//") {
            let len = rest.find('\n').unwrap_or(rest.len());
            self.push(len, SpanKind::Comment);
        } else if rest.starts_with("/*") {
            self.push(block_comment(rest), SpanKind::Comment);
        } else if c == '"' {
            self.push(string(rest), SpanKind::Text);
        } else if c == '`' {
            self.interpolated(1);
        } else if c == '\'' {
            self.push(character(rest).unwrap_or(1), SpanKind::Text);
        } else if let Some(len) = raw_string(rest) {
            self.push(len, SpanKind::Text);
        } else if c.is_ascii_digit() {
            self.push(number(rest), SpanKind::Number);
        } else if is_name(c) {
            let len = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let kind = if KEYWORDS.contains(&&rest[..len]) { SpanKind::Keyword } else { SpanKind::Name };
            self.push(len, kind);
        } else if rest.starts_with("#{") {
            self.open("#{", false);
        } else if let Some(bracket) = ["(", "[", "{"].into_iter().find(|bracket| rest.starts_with(bracket)) {
            self.open(bracket, false);
        } else if matches!(c, ')' | ']' | '}') {
            self.close(c);
        } else {
            self.push(operator(rest).unwrap_or(c.len_utf8()), SpanKind::Operator);
        }
    }

    fn push(&mut self, len: usize, kind: SpanKind) {
        self.spans.push(Span { range: self.at..self.at + len, kind });
        self.at += len;
    }

    fn open(&mut self, bracket: &str, in_string: bool) {
        let partner = match bracket {
            "(" => ')',
            "[" => ']',
            _ => '}',
        };
        self.open.push(Open { span: self.spans.len(), partner, in_string });
        self.push(bracket.len(), SpanKind::Bracket);
    }

    fn close(&mut self, c: char) {
        // A bracket within `${…}` is not matched with one outside.
        let inner = self.open.iter().rposition(|open| open.in_string && c != '}').map_or(0, |i| i + 1);
        let partner = self.open[inner..].iter().rposition(|open| open.partner == c).map(|i| i + inner);
        let Some(partner) = partner else { return self.push(1, SpanKind::Unmatched) };
        for skipped in self.open.drain(partner + 1..) {
            self.spans[skipped.span].kind = SpanKind::Unmatched;
        }
        self.push(1, SpanKind::Bracket);
        if self.open.pop().is_some_and(|open| open.in_string) {
            self.interpolated(0);
        }
    }

    /// Scans a string between backticks, up to its end or to the next code within it. The first `quote` bytes are
    /// skipped; they are the opening backtick, if any.
    fn interpolated(&mut self, quote: usize) {
        let rest = self.rest();
        let mut chars = rest[quote..].char_indices().map(|(i, c)| (i + quote, c)).peekable();
        let mut end = rest.len();
        let mut code = false;
        while let Some((i, c)) = chars.next() {
            match (c, chars.peek().map(|(_, next)| *next)) {
                ('`', Some('`')) => _ = chars.next(),
                ('`', _) => {
                    end = i + 1;
                    break;
                }
                ('\\', Some('$')) => _ = chars.next(),
                ('$', Some('{')) => {
                    (end, code) = (i, true);
                    break;
                }
                _ => {}
            }
        }
        if end > 0 {
            self.push(end, SpanKind::Text);
        }
        if code {
            self.open("${", true);
        }
    }
}

pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

// Functions that return the length of the token at the start of a text.

/// Returns the length of a block comment. Comments nest: `/* /* */ */` is one.
pub(super) fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        let inner = &rest[at..];
        let Some(next) = inner.find(['/', '*']) else { return rest.len() };
        at += next;
        if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
}

/// Returns the length of a string up to its closing quote, or to the end of a line that does not end with `\`.
pub(super) fn string(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((i, c)) = chars.next() {
        match (c, chars.peek().map(|(_, next)| *next)) {
            ('\\', Some(_)) | ('"', Some('"')) => _ = chars.next(),
            ('"', _) => return i + 1,
            ('\n', _) => return i,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a character, `'a'` or `'\n'`, or `None` for an apostrophe alone.
pub(super) fn character(rest: &str) -> Option<usize> {
    let line = rest.lines().next().unwrap_or_default();
    let mut escaped = false;
    for (i, c) in line.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' => return Some(i + 1),
            _ => {}
        }
    }
    None
}

/// Returns the length of a raw string, `#"…"#`, which has as many `#` after as before; `None` if the text does not
/// start with one. An unclosed one runs to the end of the text.
pub(super) fn raw_string(rest: &str) -> Option<usize> {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let (marks, inner) = rest.split_at(hashes);
    let inner = inner.strip_prefix('"').filter(|_| hashes > 0)?;
    let end = inner.find(&format!("\"{marks}"));
    Some(end.map_or(rest.len(), |end| hashes + 1 + end + 1 + hashes))
}

pub(super) fn number(rest: &str) -> usize {
    let digits = |text: &str, is: fn(char) -> bool| text.find(|c| !is(c) && c != '_').unwrap_or(text.len());
    if ["0x", "0o", "0b", "0X", "0O", "0B"].iter().any(|radix| rest.starts_with(radix)) {
        return 2 + digits(&rest[2..], |c| c.is_ascii_hexdigit());
    }
    let decimal = |text: &str| digits(text, |c| c.is_ascii_digit());
    let mut len = decimal(rest);
    // In `1..3` and `1.abs()` the point does not belong to the number.
    let mut behind = rest[len..].chars();
    if behind.next() == Some('.') && !behind.next().is_some_and(|c| c == '.' || c.is_alphabetic() || c == '_') {
        len += 1 + decimal(&rest[len + 1..]);
    }
    let exponent = &rest[len..];
    if exponent.starts_with(['e', 'E']) {
        let sign = usize::from(exponent[1..].starts_with(['+', '-']));
        if exponent[1 + sign..].starts_with(|c: char| c.is_ascii_digit()) {
            len += 1 + sign + decimal(&exponent[1 + sign..]);
        }
    }
    len
}

/// Returns the length of the longest operator at the start of a text, or `None` if there is none.
pub(super) fn operator(rest: &str) -> Option<usize> {
    const LONG: [&str; 28] = [
        "**=", "..=", "<<=", ">>=", "===", "!==", "**", "..", "<<", ">>", "==", "!=", "<=", ">=", "+=", "-=", "*=",
        "/=", "%=", "&=", "|=", "^=", "&&", "||", "=>", "??", "?.", "::",
    ];
    LONG.iter().find(|operator| rest.starts_with(**operator)).map(|operator| operator.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns each token as `kind:text`.
    fn described(source: &str) -> Vec<String> {
        let letter = |kind| match kind {
            SpanKind::Keyword => 'k',
            SpanKind::Number => 'n',
            SpanKind::Text => 't',
            SpanKind::Comment => 'c',
            SpanKind::Name => 'a',
            SpanKind::Operator => 'o',
            SpanKind::Bracket => 'b',
            SpanKind::Unmatched => 'u',
        };
        highlight(source).iter().map(|span| format!("{}:{}", letter(span.kind), &source[span.range.clone()])).collect()
    }

    #[test]
    fn a_line_of_code() {
        let tokens = described("let S = Q @ K.T / sqrt(4); // scores");
        let expected = "k:let a:S o:= a:Q o:@ a:K o:. a:T o:/ a:sqrt b:( n:4 b:) o:;";
        assert_eq!(tokens[..tokens.len() - 1].join(" "), expected);
        assert_eq!(tokens.last().unwrap(), "c:// scores");
    }

    #[test]
    fn numbers_stop_before_ranges_and_calls() {
        assert_eq!(
            described("1..3 1.5e-3 0xff_f 1.abs() 2. 1_000 7e"),
            [
                "n:1", "o:..", "n:3", "n:1.5e-3", "n:0xff_f", "n:1", "o:.", "a:abs", "b:(", "b:)", "n:2.", "n:1_000",
                "n:7", "a:e"
            ]
        );
    }

    #[test]
    fn strings_of_every_form() {
        assert_eq!(described(r#""a\"b" "say ""hi""" x"#), [r#"t:"a\"b""#, r#"t:"say ""hi""""#, "a:x"]);
        assert_eq!(described("\"open\nx"), ["t:\"open", "a:x"]);
        assert_eq!(described("\"goes \\\non\" x"), ["t:\"goes \\\non\"", "a:x"]);
        assert_eq!(described(r##"#"raw "quoted" \"# x"##), [r##"t:#"raw "quoted" \"#"##, "a:x"]);
        assert_eq!(described("'a' '\\n' it's"), ["t:'a'", "t:'\\n'", "a:it", "t:'", "a:s"]);
    }

    #[test]
    fn code_within_strings_is_code() {
        let tokens = described("`sum ${f(#{a: `in ${x}`}) + 1} \\${no} end` y");
        assert_eq!(tokens[..5], ["t:`sum ", "b:${", "a:f", "b:(", "b:#{"]);
        assert_eq!(tokens[tokens.len() - 3..], ["b:}", "t: \\${no} end`", "a:y"]);
        assert!(tokens.contains(&"t:`in ".to_owned()) && !tokens.iter().any(|token| token.starts_with("u:")));
    }

    #[test]
    fn comments_nest() {
        assert_eq!(described("/* a /* b */ c */ x /* open"), ["c:/* a /* b */ c */", "a:x", "c:/* open"]);
    }

    #[test]
    fn brackets_without_a_partner_are_told() {
        assert_eq!(described("(]"), ["u:(", "u:]"]);
        assert_eq!(described("([)"), ["b:(", "u:[", "b:)"]);
        assert_eq!(described("\"(\" (/* ) */)"), ["t:\"(\"", "b:(", "c:/* ) */", "b:)"]);
    }

    #[test]
    fn the_pair_is_the_one_at_the_caret() {
        let source = "f(a[0], (b))";
        let spans = highlight(source);
        assert_eq!(pair_at(source, &spans, 2), Some([1..2, 11..12]));
        assert_eq!(pair_at(source, &spans, 12), Some([11..12, 1..2]));
        assert_eq!(pair_at(source, &spans, 3), Some([3..4, 5..6]));
        assert_eq!(pair_at(source, &spans, 0), None);
    }

    #[test]
    fn a_fault_covers_its_token() {
        let source = "let a = 1;\nlet b = αβγ + soft\n\n";
        let spans = highlight(source);
        let at = |line, column| source[token_at(source, &spans, LineColumn { line, column })].to_owned();
        assert_eq!([at(2, 9), at(2, 10), at(2, 15), at(2, 99)], ["αβγ", "βγ", "soft", "soft"]);
        assert_eq!([at(1, 4), at(3, 1), at(99, 99)], [" ", "", ""]);
    }

    proptest! {
        #[test]
        fn any_text_is_scanned(source in "[ a-zα\"'`#$/*\\\\(){}\\[\\]0-9.e\n@=é😀]{0,60}", caret in 0..60_usize) {
            let spans = highlight(&source);
            let mut end = 0;
            for span in &spans {
                prop_assert!(span.range.start >= end && !span.range.is_empty());
                prop_assert!(source[end..span.range.start].chars().all(char::is_whitespace));
                prop_assert!(source.get(span.range.clone()).is_some());
                end = span.range.end;
            }
            prop_assert!(source[end..].chars().all(char::is_whitespace));
            if let Some([a, b]) = pair_at(&source, &spans, caret) {
                prop_assert_eq!(pair_at(&source, &spans, b.end).map(|pair| pair[1].clone()), Some(a));
            }
            let range = token_at(&source, &spans, LineColumn { line: caret % 5, column: caret });
            prop_assert!(source.get(range).is_some());
        }
    }
}
