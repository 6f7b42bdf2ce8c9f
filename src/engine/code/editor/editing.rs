//! Keys that do more in a code cell than insert their character.

use std::ops::Range;

use super::highlight::{Span, SpanKind, highlight, is_name, is_open};

/// Number of spaces of one level of indentation.
const LEVEL: usize = 4;
const COMMENT: &str = "//";
const PAIRS: [(char, char); 5] = [('(', ')'), ('[', ']'), ('{', '}'), ('"', '"'), ('`', '`')];

/// A selection, in bytes of the text: `anchor` is where it began, `caret` where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSelection {
    pub anchor: usize,
    pub caret: usize,
}

impl TextSelection {
    pub fn at(caret: usize) -> Self {
        Self { anchor: caret, caret }
    }

    pub fn range(self) -> Range<usize> {
        self.anchor.min(self.caret)..self.anchor.max(self.caret)
    }

    pub fn is_empty(self) -> bool {
        self.anchor == self.caret
    }
}

/// Inserts a new line with the indentation of this one, or a level more after an opening bracket.
pub fn enter(text: &mut String, selection: TextSelection) -> TextSelection {
    let range = selection.range();
    text.replace_range(range.clone(), "");
    let caret = range.start;
    let line = line_start(text, caret);
    let indent = indent_of(&text[line..caret]).to_owned();
    let opened = text[line..caret].trim_end().chars().next_back();
    let closing = PAIRS.iter().take(3).find(|(open, _)| opened == Some(*open)).map(|(_, close)| *close);
    let Some(closing) = closing else {
        text.insert_str(caret, &format!("\n{indent}"));
        return TextSelection::at(caret + 1 + indent.len());
    };
    let inner = format!("\n{indent}{}", " ".repeat(LEVEL));
    let outer = if text[caret..].starts_with(closing) { format!("\n{indent}") } else { String::new() };
    text.insert_str(caret, &format!("{inner}{outer}"));
    TextSelection::at(caret + inner.len())
}

/// Inserts spaces up to the next level of indentation, or indents the lines of a selection of several lines.
pub fn indent(text: &mut String, selection: TextSelection) -> TextSelection {
    if !text[selection.range()].contains('\n') {
        let range = selection.range();
        let column = text[line_start(text, range.start)..range.start].chars().count();
        let spaces = " ".repeat(LEVEL - column % LEVEL);
        text.replace_range(range.clone(), &spaces);
        return TextSelection::at(range.start + spaces.len());
    }
    indent_lines(text, selection)
}

/// Indents the lines of the selection, or the caret's line.
pub fn indent_lines(text: &mut String, selection: TextSelection) -> TextSelection {
    edit_lines(text, selection, |line| if line.trim().is_empty() { (0..0, "") } else { (0..0, "    ") })
}

/// Outdents the lines of the selection, or the caret's line.
pub fn outdent(text: &mut String, selection: TextSelection) -> TextSelection {
    edit_lines(text, selection, |line| {
        let tab = usize::from(line.starts_with('\t'));
        let spaces = line.bytes().take(LEVEL).take_while(|byte| *byte == b' ').count();
        (0..tab.max(spaces), "")
    })
}

/// Turns the lines of the selection into comments, or back into code if all of them are comments. Empty lines are left
/// as they are.
pub fn toggle_comments(text: &mut String, selection: TextSelection) -> TextSelection {
    let lines = lines_of(text, selection);
    let code = || text[lines.clone()].lines().filter(|line| !line.trim().is_empty());
    let all = code().count() > 0 && code().all(|line| line.trim_start().starts_with(COMMENT));
    let margin = code().map(|line| indent_of(line).len()).min().unwrap_or(0);
    edit_lines(text, selection, |line| {
        let at = indent_of(line).len();
        if line.trim().is_empty() {
            (0..0, "")
        } else if all {
            let space = usize::from(line[at + COMMENT.len()..].starts_with(' '));
            (at..at + COMMENT.len() + space, "")
        } else {
            (margin..margin, "// ")
        }
    })
}

/// Types a bracket or quote: closes it automatically, wraps the selection in it, moves the caret past the same
/// character, or outdents a `}`. Returns `None` if the character is only to be inserted.
pub fn typed(text: &mut String, selection: TextSelection, c: char) -> Option<TextSelection> {
    if let Some((_, close)) = PAIRS.iter().find(|(open, _)| *open == c) {
        let spans = highlight(text);
        if !selection.is_empty() {
            return Some(wrap(text, selection, c, *close));
        }
        if c == *close && steps_over(text, &spans, selection.caret, c) {
            return Some(TextSelection::at(selection.caret + 1));
        }
        return pairs_here(text, &spans, selection.caret, c).then(|| {
            text.insert_str(selection.caret, &format!("{c}{close}"));
            TextSelection::at(selection.caret + 1)
        });
    }
    if !selection.is_empty() || !matches!(c, ')' | ']' | '}') {
        return None;
    }
    if steps_over(text, &highlight(text), selection.caret, c) {
        return Some(TextSelection::at(selection.caret + 1));
    }
    let line = line_start(text, selection.caret);
    let before = &text[line..selection.caret];
    if c != '}' || before.is_empty() || !before.bytes().all(|byte| byte == b' ') {
        return None;
    }
    // The closing bracket of a block is one level further out.
    let out = LEVEL.min(before.len());
    text.replace_range(selection.caret - out..selection.caret, "}");
    Some(TextSelection::at(selection.caret - out + 1))
}

/// Deletes an empty pair of brackets or quotes around the caret, or a level of indentation before it. Returns `None` if
/// the selection or one character is to be deleted as usual.
pub fn backspace(text: &mut String, selection: TextSelection) -> Option<TextSelection> {
    if !selection.is_empty() {
        return None;
    }
    let caret = selection.caret;
    let (before, after) = (text[..caret].chars().next_back()?, text[caret..].chars().next());
    if PAIRS.iter().any(|(open, close)| *open == before && Some(*close) == after) {
        // Both quotes must belong to one string.
        let is_pair =
            before != '"' && before != '`' || token(&highlight(text), caret).is_some_and(|s| s.range.len() == 2);
        if is_pair {
            text.replace_range(caret - 1..caret + 1, "");
            return Some(TextSelection::at(caret - 1));
        }
    }
    let line = &text[line_start(text, caret)..caret];
    if line.len() < 2 || !line.bytes().all(|byte| byte == b' ') {
        return None;
    }
    let spaces = (line.len() - 1) % LEVEL + 1;
    text.replace_range(caret - spaces..caret, "");
    Some(TextSelection::at(caret - spaces))
}

fn wrap(text: &mut String, selection: TextSelection, open: char, close: char) -> TextSelection {
    let range = selection.range();
    text.insert(range.end, close);
    text.insert(range.start, open);
    TextSelection { anchor: selection.anchor + 1, caret: selection.caret + 1 }
}

/// Returns whether the same closing bracket or quote follows the caret, so that typing it only moves the caret.
fn steps_over(text: &str, spans: &[Span], caret: usize, c: char) -> bool {
    if !text[caret..].starts_with(c) {
        return false;
    }
    if matches!(c, '"' | '`') {
        return token(spans, caret).is_some_and(|span| span.kind == SpanKind::Text && span.range.end == caret + 1);
    }
    let here = spans.iter().find(|span| span.range.start == caret);
    here.is_some_and(|span| span.kind == SpanKind::Bracket)
        && !spans.iter().any(|span| span.kind == SpanKind::Unmatched)
}

/// Returns whether an opening bracket or quote is closed automatically: in code, and if nothing follows that it could
/// enclose.
fn pairs_here(text: &str, spans: &[Span], caret: usize, c: char) -> bool {
    let closed = |span: &Span| span.kind == SpanKind::Text && !is_open(text, span);
    let within = spans.iter().any(|span| {
        let touches = span.range.start < caret && (caret < span.range.end || span.range.end == caret && !closed(span));
        matches!(span.kind, SpanKind::Text | SpanKind::Comment) && touches
    });
    let before = text[..caret].chars().next_back();
    let is_quote = matches!(c, '"' | '`');
    let joins = is_quote && before.is_some_and(|before| is_name(before) || before == c);
    let free = text[caret..].chars().next().is_none_or(|next| next.is_whitespace() || ")]},;".contains(next));
    !within && !joins && free
}

/// Returns the token that the caret is within.
fn token(spans: &[Span], caret: usize) -> Option<&Span> {
    spans.iter().find(|span| span.range.start < caret && caret < span.range.end)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the range of whole lines that a selection touches. A line is left out if the selection ends at its start.
fn lines_of(text: &str, selection: TextSelection) -> Range<usize> {
    let range = selection.range();
    let start = line_start(text, range.start);
    let last = if range.end > range.start && text[..range.end].ends_with('\n') { range.end - 1 } else { range.end };
    let end = text[last..].find('\n').map_or(text.len(), |len| last + len);
    start..end
}

/// Replaces a part of each line; the selection moves with its text.
fn edit_lines(
    text: &mut String,
    selection: TextSelection,
    mut edit: impl FnMut(&str) -> (Range<usize>, &'static str),
) -> TextSelection {
    let lines = lines_of(text, selection);
    let mut edited = String::with_capacity(lines.len());
    let (mut anchor, mut caret) = (selection.anchor, selection.caret);
    let mut start = lines.start;
    for line in text[lines.clone()].split_inclusive('\n') {
        let (range, insert) = edit(line.trim_end_matches('\n'));
        for (new, old) in [(&mut anchor, selection.anchor), (&mut caret, selection.caret)] {
            let at = start + range.start;
            // A selection that begins at the start of a line still does so afterwards.
            let is_behind = old > at || old == at && (range.start > 0 || selection.is_empty());
            if is_behind {
                *new = *new + insert.len() - range.len().min(old - at);
            }
        }
        edited.push_str(&line[..range.start]);
        edited.push_str(insert);
        edited.push_str(&line[range.end..]);
        start += line.len();
    }
    text.replace_range(lines, &edited);
    TextSelection { anchor, caret }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a text with a selection: `|` is the caret, and `^`, if there is one, the anchor.
    fn parse(marked: &str) -> (String, TextSelection) {
        let caret = marked.replace('^', "").find('|').unwrap();
        let anchor = marked.replace('|', "").find('^').unwrap_or(caret);
        (marked.replace(['|', '^'], ""), TextSelection { anchor, caret })
    }

    fn tell(mut text: String, selection: TextSelection) -> String {
        let (anchor, caret) = (selection.anchor, selection.caret);
        text.insert(caret, '|');
        if !selection.is_empty() {
            text.insert(if anchor > caret { anchor + 1 } else { anchor }, '^');
        }
        text
    }

    fn edited(marked: &str, edit: fn(&mut String, TextSelection) -> TextSelection) -> String {
        let (mut text, selection) = parse(marked);
        let selection = edit(&mut text, selection);
        tell(text, selection)
    }

    /// Types a character, which is inserted if it has no special effect.
    fn after(marked: &str, c: char) -> String {
        let (mut text, selection) = parse(marked);
        let selection = typed(&mut text, selection, c).unwrap_or_else(|| {
            text.replace_range(selection.range(), &c.to_string());
            TextSelection::at(selection.range().start + c.len_utf8())
        });
        tell(text, selection)
    }

    fn deleted(marked: &str) -> Option<String> {
        let (mut text, selection) = parse(marked);
        let selection = backspace(&mut text, selection)?;
        Some(tell(text, selection))
    }

    #[test]
    fn enter_keeps_the_level_and_goes_in_behind_a_bracket() {
        assert_eq!(edited("    a|b", enter), "    a\n    |b");
        assert_eq!(edited("fn f() {|}", enter), "fn f() {\n    |\n}");
        assert_eq!(edited("  if x { |", enter), "  if x { \n      |");
        assert_eq!(edited("a^bc|d", enter), "a\n|d");
    }

    #[test]
    fn tab_goes_to_the_next_level() {
        assert_eq!(edited("ab|c", indent), "ab  |c");
        assert_eq!(edited("a^\n\nb|", indent), "    a^\n\n    b|");
        assert_eq!(edited("^a\nb\n|c", indent), "^    a\n    b\n|c");
        assert_eq!(edited("      a|", outdent), "  a|");
        assert_eq!(edited("\ta^\n  b|", outdent), "a^\nb|");
        assert_eq!(edited(" | a", outdent), "|a");
    }

    #[test]
    fn comments_come_and_go() {
        let commented = edited("^  a\n\n    b|", toggle_comments);
        assert_eq!(commented, "^  // a\n\n  //   b|");
        assert_eq!(edited(&commented, toggle_comments), "^  a\n\n    b|");
        assert_eq!(edited("//a|", toggle_comments), "a|");
        assert_eq!(edited("^// a\nb|", toggle_comments), "^// // a\n// b|");
    }

    #[test]
    fn brackets_close_wrap_and_are_stepped_over() {
        assert_eq!(after("f|", '('), "f(|)");
        assert_eq!(after("f|x", '('), "f(|x", "what stands there is not enclosed");
        assert_eq!(after("f(|)", ')'), "f()|");
        assert_eq!(after("f((|)", ')'), "f(()|)", "one is missing, so it is typed");
        assert_eq!(after("f(^a + b|)", '('), "f((^a + b|))");
        assert_eq!(after("\"a|\"", '('), "\"a(|\"", "text is text");
        assert_eq!(after("// a|", '['), "// a[|");
        assert_eq!(after("    |", '}'), "}|");
    }

    #[test]
    fn quotes_close_and_are_stepped_over() {
        assert_eq!(after("show(|)", '"'), "show(\"|\")");
        assert_eq!(after("show(\"a|\")", '"'), "show(\"a\"|)");
        assert_eq!(after("\"open|", '"'), "\"open\"|");
        assert_eq!(after("it|", '"'), "it\"|");
        assert_eq!(after("^word|", '"'), "\"^word|\"");
    }

    #[test]
    fn backspace_takes_a_pair_or_a_level() {
        assert_eq!(deleted("f(|)").as_deref(), Some("f|"));
        assert_eq!(deleted("\"|\"").as_deref(), Some("|"));
        assert_eq!(deleted("\"a\"|\"b\""), None);
        assert_eq!(deleted("      |x").as_deref(), Some("    |x"));
        assert_eq!(deleted("a|"), None);
        assert_eq!(deleted("|a"), None);
    }

    proptest! {
        #[test]
        fn every_edit_leaves_the_selection_in_the_text(
            text in "[ aα(){}\\[\\]\"`\n/]{0,40}", anchor in 0..40_usize, caret in 0..40_usize, c in "[(){}\\[\\]\"`]",
        ) {
            let at = |i: usize| text.char_indices().nth(i).map_or(text.len(), |(at, _)| at);
            let selection = TextSelection { anchor: at(anchor), caret: at(caret) };
            for edit in [enter, indent, outdent, toggle_comments] {
                let mut text = text.clone();
                let after = edit(&mut text, selection);
                prop_assert!(text.is_char_boundary(after.anchor) && text.is_char_boundary(after.caret));
            }
            let mut text = text.clone();
            let after = typed(&mut text, selection, c.chars().next().unwrap()).unwrap_or(TextSelection::at(0));
            prop_assert!(text.is_char_boundary(after.anchor) && text.is_char_boundary(after.caret));
            let after = backspace(&mut text, after).unwrap_or(TextSelection::at(0));
            prop_assert!(text.is_char_boundary(after.caret));
        }
    }
}
