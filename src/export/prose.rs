//! A lesson's Markdown as every export reads it: words, code, maths, pictures by name, and links to the web.
//!
//! Tags are words, links that lead elsewhere than to the web are their words alone, and the value of a live expression
//! is text whatever characters it has: it joins the text after Markdown has been read.

use pulldown_cmark::{CowStr, Event, LinkType, Parser, Tag, TagEnd, TextMergeStream};

use super::escape::plain;
use crate::kernel::notebook::live_values::LiveTextSnapshot;
use crate::lesson::live_text::{LiveText, placed};
use crate::lesson::text::markdown_options;
use crate::view_model::live_text::shown_words;

/// A text of a lesson or of its learner.
#[derive(Clone, Debug, Default)]
pub struct Prose {
    /// With a placeholder for each live expression.
    markdown: String,
    /// The words that stand for the expressions.
    values: Vec<String>,
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

    /// The text's events, without raw HTML, and with no link but those that [`is_safe_link`] allows. A picture has the
    /// address that the text names, which is yet to be looked up.
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        let mut safe = Safe { values: &self.values, are_links: Vec::new() };
        let events = Parser::new_ext(&self.markdown, markdown_options()).filter_map(move |event| safe.event(event));
        TextMergeStream::new(events)
    }
}

/// A link that leads to the web, and does nothing.
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
            Event::Text(text) => Event::Text(self.filled(text)),
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(self.filled(text)),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                let is_link = is_safe_link(&dest_url);
                self.are_links.push(is_link);
                let link_type = if link_type == LinkType::Autolink { link_type } else { LinkType::Inline };
                let link = Tag::Link { link_type, dest_url, title: "".into(), id: "".into() };
                is_link.then_some(Event::Start(link))?
            }
            Event::End(TagEnd::Link) => self.are_links.pop()?.then_some(event)?,
            event => event,
        })
    }

    /// The text with the values in place of their placeholders.
    fn filled(&self, text: CowStr<'a>) -> CowStr<'a> {
        if !text.contains(|c| placed(c).is_some()) {
            return text;
        }
        let mut filled = String::with_capacity(text.len());
        for c in text.chars() {
            match placed(c).and_then(|index| self.values.get(index)) {
                Some(value) => filled.push_str(value),
                None => filled.push(c),
            }
        }
        filled.into()
    }
}

/// An element with its content, as Markdown's events.
pub fn element<'a>(tag: Tag<'a>, content: impl IntoIterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let end = Event::End(tag.to_end());
    std::iter::once(Event::Start(tag)).chain(content).chain([end]).collect()
}

pub fn words<'a>(text: impl Into<CowStr<'a>>) -> Event<'a> {
    Event::Text(text.into())
}
