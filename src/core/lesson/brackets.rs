//! Which bracket was never closed.

use super::source::Node;

/// A bracket that has no partner. By the brackets alone that is one of the outer ones, so the
/// indentation is asked first: a bracket that ends a line is closed on a line of equal indentation.
pub(super) fn unclosed(whole: Node<'_>) -> Option<Node<'_>> {
    let text = whole.text;
    let node = |at: usize| Node { text: &text[at..at + 1], ..whole };
    let lines = Lines::new(text);
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut suspect = None;
    for (at, bracket) in brackets(text) {
        if matches!(bracket, '(' | '[' | '{') {
            open.push((at, bracket));
            continue;
        }
        // One closing bracket too many: nothing is unclosed.
        let (from, opened) = open.pop()?;
        let pair = matches!((opened, bracket), ('(', ')') | ('[', ']') | ('{', '}'));
        let (start, indent) = lines.of(at);
        let starts_line = start + indent == at;
        let after = text[from + 1..].chars().find(|c| !matches!(c, ' ' | '\t' | '\r'));
        let ends_line = matches!(after, None | Some('\n'));
        if starts_line && ends_line && indent != lines.of(from).1 {
            suspect = suspect.or(Some(from));
        }
        if !pair {
            return Some(node(suspect.unwrap_or(from)));
        }
    }
    let (from, _) = open.last()?;
    Some(node(suspect.unwrap_or(*from)))
}

/// Start and indentation of every line, in bytes. Known beforehand, for a file may be one long line
/// of brackets.
struct Lines(Vec<(usize, usize)>);

impl Lines {
    fn new(text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        let with_indent = starts.map(|start| {
            let line = &text[start..];
            (start, line.len() - line.trim_start_matches([' ', '\t']).len())
        });
        Self(with_indent.collect())
    }

    fn of(&self, at: usize) -> (usize, usize) {
        let line = self.0.partition_point(|(start, _)| *start <= at);
        self.0[line.saturating_sub(1)]
    }
}

pub(super) fn closing(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

/// The brackets outside texts, characters and comments.
fn brackets(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(c) = text[at..].chars().next() {
            let here = at;
            at += match c {
                '"' | '\'' => quoted(&text[at..], c),
                'r' => raw(&text[at..]).unwrap_or(1),
                '/' => comment(&text[at..]),
                c => c.len_utf8(),
            };
            if matches!(c, '(' | '[' | '{' | ')' | ']' | '}') {
                return Some((here, c));
            }
        }
        None
    })
}

/// Bytes of the quoted text at the start of `text`.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of the raw text `r#"…"#` at the start of `text`, if it is one.
fn raw(text: &str) -> Option<usize> {
    let after = text[1..].trim_start_matches('#');
    let hashes = text.len() - 1 - after.len();
    let inside = after.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let head = text.len() - inside.len();
    Some(inside.find(&end).map_or(text.len(), |at| head + at + end.len()))
}

/// Bytes of the comment at the start of `text`; 1 if it is another slash.
fn comment(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if !text.starts_with("/*") {
        return 1;
    }
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::issue::Issues;

    #[test]
    fn finds_the_lost_partner() {
        let check = |text: &str, at: Option<usize>| {
            let issues = Issues::new("", text);
            let found = unclosed(issues.whole());
            let offset = found.map(|node| node.text.as_ptr() as usize - text.as_ptr() as usize);
            assert_eq!(offset, at, "{text}");
        };
        check("(a: [1, {2: 3}])", None);
        check("(a: [1, {2: 3})", Some(4));
        check("(a: [1, 2)", Some(4));
        check("(a: 1))", None);
        check("(a: \"[\\\"[\", b: r#\"{\"{\"#, c: '(' /* ( /* */ [ */ // {\n)", None);
        // The indentation tells which one it is.
        check("A(\n    b: B(\n        c: 1,\n\n)\n", Some(11));
        check("(r", Some(0));
        check("r#\"", None);
    }
}
