//! Markdown as HTML: words, maths, code, and links to the web.

use data_encoding::BASE64;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Tag, TagEnd, html};

use super::terms::Terms;
use super::{code, math};
use crate::export::escape;
use crate::export::pictures::Pictures;
use crate::export::prose::{Piece, Prose};

/// A line of the outline.
#[derive(Clone)]
pub struct Heading {
    pub level: usize,
    pub id: String,
    pub text: String,
}

/// Markdown as markup; its headings join the outline, if there is one, and only what this module writes is a tag.
pub fn markdown(
    prose: &Prose,
    pictures: &Pictures,
    terms: &mut Terms<'_>,
    outline: Option<&mut Vec<Heading>>,
) -> String {
    let mut markup = Markup {
        pictures,
        terms,
        outline,
        events: Vec::new(),
        words: String::new(),
        code: None,
        heading: None,
        is_in_link: false,
        is_emphasis: false,
    };
    for piece in prose.pieces() {
        match piece {
            Piece::Event(event) => markup.take(event),
            Piece::Picture { url, alt } => markup.picture(&url, &alt),
        }
    }
    markup.say_words();
    let mut text = String::new();
    html::push_html(&mut text, markup.events.into_iter());
    text
}

struct Markup<'a, 't, 'e> {
    pictures: &'a Pictures,
    terms: &'a mut Terms<'t>,
    outline: Option<&'a mut Vec<Heading>>,
    events: Vec<Event<'e>>,
    /// Words of the paragraph so far: a term may continue on the next line.
    words: String,
    /// The language and the text of a block of code.
    code: Option<(CowStr<'e>, String)>,
    heading: Option<Heading>,
    is_in_link: bool,
    is_emphasis: bool,
}

impl<'e> Markup<'_, '_, 'e> {
    fn take(&mut self, event: Event<'e>) {
        if let Some((language, text)) = &mut self.code {
            match event {
                Event::Text(more) => text.push_str(&more),
                Event::End(TagEnd::CodeBlock) => {
                    let block = code::block(language, text);
                    self.code = None;
                    self.push(Event::Html(block.into()));
                }
                _ => {}
            }
            return;
        }
        if !matches!(event, Event::Text(_) | Event::SoftBreak) {
            self.say_words();
        }
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language,
                    CodeBlockKind::Indented => CowStr::Borrowed(""),
                };
                self.code = Some((language, String::new()));
            }
            Event::Start(Tag::Heading { level, .. }) => self.open_heading(level),
            Event::End(TagEnd::Heading(level)) => {
                let heading = self.heading.take();
                self.outline.iter_mut().for_each(|outline| outline.extend(heading.clone()));
                self.push(Event::End(TagEnd::Heading(level)));
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                self.is_in_link = true;
                let open = format!("<a href=\"{}\" rel=\"noreferrer noopener\">", escape::html(&dest_url));
                self.push(Event::InlineHtml(open.into()));
            }
            Event::End(TagEnd::Link) => {
                self.is_in_link = false;
                self.push(Event::InlineHtml(CowStr::Borrowed("</a>")));
            }
            Event::Start(Tag::Emphasis) => self.emphasise(true),
            Event::End(TagEnd::Emphasis) => self.emphasise(false),
            Event::InlineMath(latex) => {
                self.name(&latex);
                self.push(Event::InlineHtml(math::mathml(&latex, false).into()));
            }
            Event::DisplayMath(latex) => self.push(Event::InlineHtml(math::mathml(&latex, true).into())),
            Event::Text(text) => {
                self.name(&text);
                self.words.push_str(&text);
            }
            Event::SoftBreak => self.words.push('\n'),
            Event::Code(text) => {
                self.name(&text);
                self.push(Event::Code(text));
            }
            event => self.push(event),
        }
    }

    fn emphasise(&mut self, is_emphasis: bool) {
        self.is_emphasis = is_emphasis;
        self.push(if is_emphasis { Event::Start(Tag::Emphasis) } else { Event::End(TagEnd::Emphasis) });
    }

    fn picture(&mut self, url: &str, alt: &str) {
        self.say_words();
        self.push(Event::InlineHtml(image(url, alt, self.pictures).into()));
    }

    fn push(&mut self, event: Event<'e>) {
        self.events.push(event);
    }

    /// Writes the words read so far, with the glossary's terms marked, except in headings, links, and names of controls.
    fn say_words(&mut self) {
        if self.words.is_empty() {
            return;
        }
        let words = std::mem::take(&mut self.words);
        let is_control = self.is_emphasis && words.starts_with(char::is_uppercase);
        let is_explained = self.heading.is_none() && !self.is_in_link && !is_control;
        let markup = if is_explained { self.terms.markup(&words) } else { None };
        self.events.push(markup.map_or(Event::Text(words.into()), |markup| Event::InlineHtml(markup.into())));
    }

    fn open_heading(&mut self, level: HeadingLevel) {
        // Only what the outline leads to needs an id.
        let id = self.outline.as_ref().map(|outline| format!("section-{}", outline.len() + 1));
        self.heading = Some(Heading { level: level as usize, id: id.clone().unwrap_or_default(), text: String::new() });
        let id = id.map(Into::into);
        self.push(Event::Start(Tag::Heading { level, id, classes: Vec::new(), attrs: Vec::new() }));
    }

    /// Words of the heading, if one is open.
    fn name(&mut self, text: &str) {
        self.heading.iter_mut().for_each(|heading| heading.text.push_str(text));
    }
}

/// A picture of the lesson's folder, or why there is none.
pub fn image(url: &str, alt: &str, pictures: &Pictures) -> String {
    match pictures.image(url) {
        Ok(image) => {
            let data = BASE64.encode(&image.bytes);
            format!("<img src=\"data:{};base64,{data}\" alt=\"{}\">", image.format.mime(), escape::html(alt))
        }
        Err(why) => {
            let name = if alt.is_empty() { url } else { alt };
            format!("<span class=\"note\">(picture {}: {})</span>", escape::html(name), escape::html(&why))
        }
    }
}
