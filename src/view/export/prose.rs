//! A text of a lesson or of the learner as all exports read it: words, code, formulas, pictures by name, and links to
//! the web.

use std::iter;

use attune_core::kernel::notebook::live_text::LiveTextSnapshot;
use attune_core::lesson::live_text::{LessonText, filled};
use pulldown_cmark::{CowStr, Event, LinkType, Tag, TagEnd, TextMergeStream};

use super::links::Links;
use super::plain;
use crate::view_model::notebook::shown_words;

/// A text by the lesson or the learner.
#[derive(Clone, Debug, Default)]
pub struct LessonProse {
    text: LessonText,
    /// The values that replace the placeholders.
    values: Vec<String>,
}

/// An event of a text, or a whole picture.
pub enum MarkdownPiece<'a> {
    Event(Event<'a>),
    /// A picture whose address, as written in the text, has not been looked up.
    Picture {
        url: CowStr<'a>,
        alt: String,
    },
}

impl LessonProse {
    /// Prepares a text; `live` has the values of its expressions.
    pub fn of(text: &LessonText, live: Option<&LiveTextSnapshot>) -> Self {
        // A text with control characters, which no lesson needs, is read again without them.
        let written = plain(text);
        let text = if written.len() == text.len() { text.clone() } else { written.into() };
        let values = text.expressions().iter().map(|expression| plain(&shown_words(expression, live))).collect();
        Self { text, values }
    }

    pub fn begins_with_title(&self) -> bool {
        self.text.trim_start().starts_with("# ")
    }

    /// Returns the text's pieces. Raw HTML becomes plain text, and a link becomes plain text unless `links` has an
    /// address for it.
    pub fn pieces<'a>(&'a self, links: &'a Links) -> impl Iterator<Item = MarkdownPiece<'a>> {
        let mut safe = Safe { values: &self.values, links, are_links: Vec::new() };
        let events = self.text.events().filter_map(move |event| safe.event(event));
        let mut events = TextMergeStream::new(events);
        iter::from_fn(move || {
            Some(match events.next()? {
                Event::Start(Tag::Image { dest_url, .. }) => {
                    MarkdownPiece::Picture { url: dest_url, alt: alt(&mut events) }
                }
                event => MarkdownPiece::Event(event),
            })
        })
    }
}

/// Returns the alternative text of the picture that has just begun, including that of nested pictures.
fn alt<'a>(events: &mut impl Iterator<Item = Event<'a>>) -> String {
    let mut alt = String::new();
    let mut depth = 1_usize;
    for event in events {
        match event {
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) => alt.push_str(&text),
            Event::Start(Tag::Image { .. }) => depth += 1,
            Event::End(TagEnd::Image) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    alt
}

struct Safe<'a> {
    values: &'a [String],
    links: &'a Links,
    /// Whether each link that is open, from the outermost, is written as a link.
    are_links: Vec<bool>,
}

impl<'a> Safe<'a> {
    fn event(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        Some(match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                Event::Text(filled(&text, self.values).into())
            }
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                let address = self.links.address(&dest_url);
                self.are_links.push(address.is_some());
                // A reference link is written with its address, because events do not include definitions.
                let link_type = if link_type == LinkType::Autolink { link_type } else { LinkType::Inline };
                Event::Start(Tag::Link { link_type, dest_url: address?.into(), title: "".into(), id: "".into() })
            }
            Event::End(TagEnd::Link) => self.are_links.pop()?.then_some(event)?,
            event => event,
        })
    }
}
