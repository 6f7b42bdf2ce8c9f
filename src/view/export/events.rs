//! Elements of Markdown as events, from which exports write Markdown text.

use std::iter;

use pulldown_cmark::{Event, Tag};

use super::plain;

/// Returns the events of an element: its start, the given content, and its end.
pub fn element<'a>(tag: Tag<'a>, content: impl IntoIterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let end = Event::End(tag.to_end());
    iter::once(Event::Start(tag)).chain(content).chain([end]).collect()
}

/// Returns the event of a plain text, in which nothing is markup.
pub fn words(text: &str) -> Event<'static> {
    Event::Text(plain(text).into())
}
