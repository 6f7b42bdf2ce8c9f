//! A lesson's Markdown as every export reads it: words, code, maths, pictures by name, and links to the web.
//!
//! Tags are words, links that lead elsewhere than to the web are their words alone, and the value of a live expression
//! is text whatever characters it has: it joins the text after Markdown has been read.

use std::iter;

use attune_core::kernel::notebook::live_text::LiveTextSnapshot;
use attune_core::lesson::live_text::{LiveText, filled};
use attune_core::lesson::text::markdown_options;
use pulldown_cmark::{CowStr, Event, LinkType, Parser, Tag, TagEnd, TextMergeStream};

use super::escape::plain;
use crate::view_model::live_text::shown_words;

/// A text of a lesson or of its learner.
#[derive(Clone, Debug, Default)]
pub struct Prose {
    /// With a placeholder for each live expression.
    markdown: String,
    /// The words that stand for the expressions.
    values: Vec<String>,
}

/// An event of a text, or a whole picture.
pub enum Piece<'a> {
    Event(Event<'a>),
    /// The picture's address, as the text names it, is yet to be looked up.
    Picture {
        url: CowStr<'a>,
        alt: String,
    },
}

impl Prose {
    /// `live` has the values of the text's expressions.
    pub fn of(source: &str, live: Option<&LiveTextSnapshot>) -> Self {
        let source = plain(source);
        let text = LiveText::read(&source);
        let values = text.expressions.iter().map(|expression| plain(&shown_words(expression, live))).collect();
        Self { markdown: text.markdown.into_owned(), values }
    }

    pub fn begins_with_title(&self) -> bool {
        self.markdown.trim_start().starts_with("# ")
    }

    /// The text's pieces, without raw HTML, and with no link but those that [`is_safe_link`] allows.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut safe = Safe { values: &self.values, are_links: Vec::new() };
        let events = Parser::new_ext(&self.markdown, markdown_options()).filter_map(move |event| safe.event(event));
        let mut events = TextMergeStream::new(events);
        iter::from_fn(move || {
            Some(match events.next()? {
                Event::Start(Tag::Image { dest_url, .. }) => Piece::Picture { url: dest_url, alt: alt(&mut events) },
                event => Piece::Event(event),
            })
        })
    }
}

/// The words of the picture that has just begun, with those of pictures within them.
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

/// Whether a link leads to the web, and runs nothing.
pub fn is_safe_link(url: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

struct Safe<'a> {
    values: &'a [String],
    /// Whether each open link is one.
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
                let is_link = is_safe_link(&dest_url);
                self.are_links.push(is_link);
                // A reference is written as an address of its own: its definition is no event.
                let link_type = if link_type == LinkType::Autolink { link_type } else { LinkType::Inline };
                let link = Tag::Link { link_type, dest_url, title: "".into(), id: "".into() };
                is_link.then_some(Event::Start(link))?
            }
            Event::End(TagEnd::Link) => self.are_links.pop()?.then_some(event)?,
            event => event,
        })
    }
}

/// An element with its content, as Markdown's events.
pub fn element<'a>(tag: Tag<'a>, content: impl IntoIterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let end = Event::End(tag.to_end());
    iter::once(Event::Start(tag)).chain(content).chain([end]).collect()
}

/// Plain words, in which nothing is markup.
pub fn words(text: &str) -> Event<'static> {
    Event::Text(plain(text).into())
}
