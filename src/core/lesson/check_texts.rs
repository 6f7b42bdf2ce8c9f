//! Checks the live text of a lesson's cells: expressions that can be read, and links that lead somewhere.

use std::collections::{HashMap, HashSet};

use attune_engine::code::Fault;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::check::markdown;
use super::links::{LinkContext, LinkFlaw, SCHEME, TextLink};
use super::live_text::LiveText;
use super::panels::PanelName;
use super::schema::Lesson;
use super::source::Node;
use super::text::markdown_options;

/// Markdown of a cell.
pub(super) struct TextAt<'s> {
    pub markdown: String,
    pub node: Node<'s>,
    /// The sentence that it speaks of: that of the last Stage cell above, or the first one.
    pub sentence: usize,
}

/// Reads Markdown; expressions that cannot be read are issues.
pub(super) fn live_markdown(node: Node<'_>) -> Option<String> {
    let markdown = markdown(node)?;
    let text = LiveText::read(&markdown);
    for flaw in &text.flaws {
        within(node, &markdown, flaw.at.start, "{{").field_issue(&flaw.words).expected(flaw.expected);
    }
    for expression in &text.expressions {
        let node = within(node, &markdown, expression.at.start, "{{");
        match attune_engine::code::names(&expression.source) {
            Err(fault) => {
                let at = fault.place.filter(|place| place.line == 1).map_or(node, |place| inside(node, place.column));
                at.field_issue(Fault { place: None, ..fault });
            }
            Ok(names) if !names.defines.is_empty() || !names.writes.is_empty() => {
                node.field_issue("an expression that defines or writes").expected("one that reads: a Code cell writes");
            }
            Ok(_) => {}
        }
    }
    Some(markdown)
}

/// Reports the links that lead nowhere. `tokens` has the words of a sentence, if they are known.
pub(super) fn check_links<'a>(
    texts: &[TextAt<'_>],
    context: &LinkContext<'a>,
    tokens: impl Fn(usize) -> Option<&'a [&'a str]>,
) {
    for TextAt { markdown, node, sentence } in texts {
        let context = LinkContext { tokens: tokens(*sentence), ..*context };
        let text = LiveText::read(markdown);
        for at in unread_links(&text.markdown) {
            within(*node, &text.markdown, at, UNREAD)
                .field_issue("a link whose address cannot be read")
                .expected("an address without spaces, or one between < and >, such as (<attune:panel/All heads>)");
        }
        let mut seen = HashMap::new();
        for address in addresses(markdown) {
            let number = *seen.entry(address.clone()).and_modify(|number| *number += 1).or_insert(0);
            let Some(link) = TextLink::read(&address) else { continue };
            if let Err(LinkFlaw { words, expected, nearest }) = link.and_then(|link| context.check(&link)) {
                let place = node.text.match_indices(&address).nth(number);
                let place = place.map_or(*node, |(_, text)| Node { text, ..*node });
                place.field_issue(words).expected(expected).meant(nearest.as_deref());
            }
        }
    }
}

/// Panels that a text names before any cell has opened them, as `the *Weights* panel`, each with its cell. A link to
/// the panel in the same text opens it as well.
pub fn closed_panels(lesson: &Lesson) -> Vec<(&str, PanelName)> {
    let mut open: HashSet<PanelName> = lesson.panels.iter().copied().collect();
    let mut closed = Vec::new();
    for cell in &lesson.cells {
        open.extend(&cell.opens);
        for markdown in cell.kind.markdown() {
            let linked: Vec<_> = addresses(markdown).iter().filter_map(|address| TextLink::read(address)).collect();
            let is_open = |panel: &PanelName| {
                panel.is_always_open() || open.contains(panel) || linked.contains(&Ok(TextLink::Panel(*panel)))
            };
            let named = named_panels(markdown).into_iter().filter(|panel| !is_open(panel));
            closed.extend(named.map(|panel| (cell.id.as_str(), panel)));
        }
    }
    closed.dedup();
    closed
}

/// Panels that a text names: their titles in italics, and the word *panel* behind.
fn named_panels(markdown: &str) -> Vec<PanelName> {
    let text = LiveText::read(markdown);
    let (mut is_emphasis, mut before, mut named) = (false, None, Vec::new());
    for event in Parser::new_ext(&text.markdown, markdown_options()) {
        match event {
            Event::Start(Tag::Emphasis) => is_emphasis = true,
            Event::End(TagEnd::Emphasis) => is_emphasis = false,
            Event::Text(words) if is_emphasis => before = PanelName::named(&words),
            Event::Text(words) => {
                let is_panel = words.trim_start().split(|c: char| !c.is_alphabetic()).next() == Some("panel");
                named.extend(before.take().filter(|_| is_panel));
            }
            Event::End(TagEnd::Paragraph) => before = None,
            _ => {}
        }
    }
    named
}

/// The places of what begins as the address of a link that acts, and is text: one with a space in it, above all.
fn unread_links(markdown: &str) -> Vec<usize> {
    if !markdown.contains(UNREAD) {
        return Vec::new();
    }
    let events = Parser::new_ext(markdown, markdown_options()).into_offset_iter();
    // A piece of text may begin behind the bracket that ends the words of the link.
    let words =
        events.filter_map(|(event, at)| matches!(event, Event::Text(_)).then(|| at.start.saturating_sub(1)..at.end));
    let starts = words.flat_map(|at| {
        let found = markdown.get(at.clone()).unwrap_or_default();
        found.match_indices(UNREAD).map(move |(place, _)| at.start + place)
    });
    let mut starts: Vec<usize> = starts.collect();
    starts.dedup();
    starts
}

/// The beginning of the address of a link that acts.
const UNREAD: &str = "](attune:";

/// Addresses of the links of a text that act.
pub fn addresses(markdown: &str) -> Vec<String> {
    if !markdown.contains(SCHEME) {
        return Vec::new();
    }
    let text = LiveText::read(markdown);
    let events = Parser::new_ext(&text.markdown, markdown_options());
    events
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
            _ => None,
        })
        .collect()
}

/// A column of the expression in a node that begins with its braces.
fn inside<'s>(node: Node<'s>, column: usize) -> Node<'s> {
    let code = node.text.trim_start_matches('{').trim_start();
    let text = code.char_indices().nth(column.saturating_sub(1)).map_or(node.text, |(at, _)| &code[at..]);
    Node { text, ..node }
}

/// The part that begins with `mark` at a place of a text that was read from a node; the node itself if an escape hides
/// it.
fn within<'s>(node: Node<'s>, read: &str, at: usize, mark: &str) -> Node<'s> {
    // Escapes and composed characters move places; they make no marks.
    let before = read[..at].matches(mark).count();
    let Some((start, _)) = node.text.match_indices(mark).nth(before) else { return node };
    let rest = &node.text[start..];
    let line = rest.lines().next().unwrap_or_default();
    let end = line.find("}}").map_or(mark.len(), |end| end + "}}".len());
    Node { text: &rest[..end], ..node }
}
