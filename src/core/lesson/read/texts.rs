//! Reading of the Markdown of cells, whose expressions and links must be valid in their lesson.

use std::collections::HashMap;

use attune_engine::code::Fault;

use crate::lesson::links::{LinkContext, LinkFlaw, TextLink};
use crate::lesson::live_text::LessonText;
use crate::lesson::read::common::{line, markdown};
use crate::lesson::reading::decode::Node;

/// A Markdown text of a cell.
pub struct TextAt<'s> {
    pub markdown: LessonText,
    pub node: Node<'s>,
    /// Index of the sentence on the stage when the text is read: that of the last Stage cell above it, or else the
    /// first.
    pub sentence: usize,
}

/// Reads Markdown, and reports expressions that cannot be parsed.
pub fn live_markdown(node: Node<'_>) -> Option<LessonText> {
    Some(with_expressions(node, markdown(node)?.into()))
}

/// Reads a line of plain text, and reports expressions that cannot be parsed.
pub fn live_line(node: Node<'_>) -> Option<LessonText> {
    Some(with_expressions(node, line(node)?.into()))
}

fn with_expressions(node: Node<'_>, text: LessonText) -> LessonText {
    for flaw in text.flaws() {
        within(node, &text, flaw.at.start, "{{").field_issue(&flaw.words).expected(&*flaw.expected);
    }
    for expression in text.expressions() {
        let node = within(node, &text, expression.at.start, "{{");
        match attune_engine::code::names(&expression.source) {
            Err(fault) => {
                let at = fault.place.filter(|place| place.line == 1).map_or(node, |place| inside(node, place.column));
                at.field_issue(Fault { place: None, ..fault });
            }
            Ok(names) if !names.defines.is_empty() || !names.writes.is_empty() => {
                node.field_issue("an expression that defines or writes").expected(
                    "an expression that only reads; \
                    writing belongs in a Code cell",
                );
            }
            Ok(_) => {}
        }
    }
    text
}

/// Reports the links that lead nowhere. `tokens` returns the words of a sentence, if they are known.
pub fn check_links<'a>(
    texts: &[TextAt<'_>],
    context: &LinkContext<'a>,
    tokens: impl Fn(usize) -> Option<&'a [&'a str]>,
) {
    for TextAt { markdown, node, sentence } in texts {
        let context = LinkContext { tokens: tokens(*sentence), ..*context };
        for at in unread_links(markdown) {
            within(*node, markdown, at, UNREAD)
                .field_issue("a link whose address cannot be read")
                .expected("an address without spaces, or one between < and >, such as (<attune:panel/All heads>)");
        }
        let mut seen = HashMap::new();
        for address in markdown.links() {
            let number = *seen.entry(address).and_modify(|number| *number += 1).or_insert(0);
            let Some(link) = TextLink::read(address) else { continue };
            if let Err(LinkFlaw { words, expected, nearest }) = link.and_then(|link| context.check(&link)) {
                let place = node.text.match_indices(address).nth(number);
                let place = place.map_or(*node, |(_, text)| node.at(text));
                place.field_issue(words).expected(expected).meant(nearest.as_deref());
            }
        }
    }
}

/// Returns the places of text that begins like a link with an action but is not parsed as a link, mostly because its
/// address contains a space.
fn unread_links(text: &LessonText) -> Vec<usize> {
    if !text.contains(UNREAD) {
        return Vec::new();
    }
    // A passage of text may begin after the bracket that ends the words of the link, so this bracket is looked at too.
    let starts =
        text.words("]".len()).flat_map(|(start, words)| words.match_indices(UNREAD).map(move |(at, _)| start + at));
    let mut starts: Vec<usize> = starts.collect();
    starts.dedup();
    starts
}

/// The beginning of the address of a link with an action.
const UNREAD: &str = "](attune:";

/// Returns the place of a column of an expression, in a node that begins with the braces.
fn inside<'s>(node: Node<'s>, column: usize) -> Node<'s> {
    let code = node.text.trim_start_matches('{').trim_start();
    let text = code.char_indices().nth(column.saturating_sub(1)).map_or(node.text, |(at, _)| &code[at..]);
    node.at(text)
}

/// Returns the part of a node's source that begins with the occurrence of `mark` at byte `at` of the decoded text, or
/// the node itself if an escape hides the mark.
fn within<'s>(node: Node<'s>, read: &str, at: usize, mark: &str) -> Node<'s> {
    // Escapes and composed characters change byte offsets but not the number of marks.
    let before = read[..at].matches(mark).count();
    let Some((start, _)) = node.text.match_indices(mark).nth(before) else { return node };
    let rest = &node.text[start..];
    let line = rest.lines().next().unwrap_or_default();
    let end = line.find("}}").map_or(mark.len(), |end| end + "}}".len());
    node.at(&rest[..end])
}
