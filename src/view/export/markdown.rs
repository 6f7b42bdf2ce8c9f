//! Pages as Markdown, for a file of its own and for the cells of a Jupyter notebook.
//!
//! All of it goes through [`restated`]: it has no tag, and leads nowhere but to the web and to the pictures beside it.
//! Hints and answers, which a page opens on demand, stand as notes at the end, as in a book.

use std::collections::BTreeSet;
use std::mem;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Tag};

use super::escape::plain;
use super::page::{Code, PageItem, PageSlider, Stage};
use super::pictures::Pictures;
use super::prose::{Piece, Prose, element, words};
use super::restate::{plain_words, restated};
use super::{svg, table};
use crate::view_model::output::{OutputModel, TextModel, short};

/// A file that stands beside the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    pub name: String,
    pub mime: &'static str,
    pub bytes: Vec<u8>,
}

/// Content that a page opens on demand: a note at the end of the text.
pub struct Note {
    pub title: String,
    pub text: String,
    pub beside: Vec<Beside>,
}

/// Text that is being written.
pub struct Writer<'a> {
    pub text: String,
    /// The pictures that it names.
    pub beside: Vec<Beside>,
    /// Content for the end of the page.
    pub notes: Vec<Note>,
    names: BTreeSet<String>,
    pictures: &'a Pictures,
    /// The prefix of a picture's address.
    prefix: &'a str,
    /// The cell's id, for the names of its pictures.
    cell: &'a str,
}

/// The heading above the notes.
pub const NOTES: &str = "Hints and answers";

impl<'a> Writer<'a> {
    pub fn new(pictures: &'a Pictures, prefix: &'a str) -> Self {
        let (text, beside, notes) = (String::new(), Vec::new(), Vec::new());
        Self { text, beside, notes, names: BTreeSet::new(), pictures, prefix, cell: "" }
    }

    pub fn set_cell(&mut self, id: &'a str) {
        self.cell = id;
    }

    pub fn items(&mut self, items: &[PageItem<'_>]) {
        items.iter().for_each(|item| self.item(item));
    }

    pub fn item(&mut self, item: &PageItem<'_>) {
        match item {
            PageItem::Markdown(prose) => self.prose(prose),
            PageItem::Label(label) => self.paragraph(element(Tag::Strong, [words(label)])),
            PageItem::Line(line) => self.paragraph([words(line)]),
            PageItem::Code(code) => self.code(code),
            PageItem::Stage(stage) => self.stage(stage),
            PageItem::Slider(slider) => self.slider(slider),
            PageItem::Choices { choices, chosen, right } => {
                let item = |(i, choice): (usize, &String)| {
                    let mut content = vec![Event::TaskListMarker(*chosen == Some(i)), words(choice)];
                    if *right == Some(i) {
                        content.push(words(" "));
                        content.extend(element(Tag::Strong, [words("← the model's answer")]));
                    }
                    element(Tag::Item, content)
                };
                let items: Vec<Event<'_>> = choices.iter().enumerate().flat_map(item).collect();
                self.block(&element(Tag::List(None), items));
            }
            PageItem::Details { summary, items } => self.note(summary, items),
            PageItem::Gate { caption } => {
                self.block(&[Event::Rule]);
                self.note_line(caption);
            }
        }
    }

    pub fn heading(&mut self, level: HeadingLevel, title: &str) {
        let tag = Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() };
        self.block(&element(tag, [words(title)]));
    }

    /// A line in italics, if it says anything.
    pub fn note_line(&mut self, line: &str) {
        if !line.trim().is_empty() {
            self.paragraph(element(Tag::Emphasis, [words(line.trim())]));
        }
    }

    /// Writes a note at its place, the end of the page.
    pub fn end_note(&mut self, note: Note) {
        self.heading(HeadingLevel::H3, &note.title);
        self.text.push_str(&note.text);
        self.beside.extend(note.beside);
    }

    fn paragraph<'e>(&mut self, content: impl IntoIterator<Item = Event<'e>>) {
        self.block(&element(Tag::Paragraph, content));
    }

    /// Writes blocks; where they cannot be spelt so that every reader reads the same, their words as they are.
    fn block(&mut self, events: &[Event<'_>]) {
        match restated(events) {
            Some(text) => self.push(&text),
            None => self.fence("text", &plain_words(events)),
        }
    }

    /// Content that a page opens on demand becomes a note, which stands at the end.
    fn note(&mut self, summary: &str, items: &[PageItem<'_>]) {
        let number = self.notes.len();
        self.note_line(&format!("{summary}: note {}, at the end.", number + 1));
        let title = format!("Note {}: {summary}", number + 1);
        self.notes.push(Note { title, text: String::new(), beside: Vec::new() });
        let (text, beside) = (mem::take(&mut self.text), mem::take(&mut self.beside));
        self.items(items);
        self.notes[number].text = mem::replace(&mut self.text, text);
        self.notes[number].beside = mem::replace(&mut self.beside, beside);
    }

    fn code(&mut self, code: &Code<'_>) {
        if !code.is_hidden && !code.source.trim().is_empty() {
            self.fence("rhai", code.source);
        }
        for output in &code.outputs {
            match output {
                OutputModel::Number(number) => self.fence("text", &number.full),
                OutputModel::Text(text) => self.fence("text", &shown(text)),
                OutputModel::Table(model) => table::blocks(model).iter().for_each(|block| self.block(block)),
                OutputModel::Image(path) => {
                    let image = self.image(path, path);
                    self.paragraph(image);
                }
                OutputModel::Ranking(model) => self.block(&table::ranking_block(model)),
                OutputModel::Plot(plot) => {
                    let url = self.keep("plot", "image/svg+xml", "svg", svg::svg(plot).into_bytes());
                    self.paragraph(picture(url, &plot.summary()));
                    self.note_line(&plot.left_out_note().unwrap_or_default());
                }
            }
        }
        if let Some(fault) = code.fault {
            self.fence("text", &fault.to_string());
        }
        self.note_line(code.note.unwrap_or_default());
    }

    fn stage(&mut self, stage: &Stage<'_>) {
        if let Some(drawn) = self.pictures.stage(self.cell) {
            let url = self.keep("stage", "image/png", "png", drawn.light.clone());
            return self.paragraph(picture(url, &stage.tell_picture()));
        }
        self.note_line(&format!("{}. {}", stage.tell(), self.pictures.why_no_stage));
        self.note_line(stage.caption);
    }

    /// A slider as it stands, in a line.
    fn slider(&mut self, slider: &PageSlider<'_>) {
        let caption = element(Tag::Strong, [words(slider.caption)]);
        let caption = if slider.caption.is_empty() { Vec::new() } else { [caption, vec![words(" ")]].concat() };
        let (from, to) = slider.range;
        let value = Event::Code(plain(&format!("{}{}", slider.name, slider.tell_value())).into());
        let range = words(&format!(" (a slider from {} to {})", short(from), short(to)));
        self.paragraph(caption.into_iter().chain([value, range]));
    }

    /// A file beside the text, by a name of its own; returns where it is.
    fn keep(&mut self, what: &str, mime: &'static str, extension: &str, bytes: Vec<u8>) -> String {
        let cell: String =
            self.cell.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let number = (1..).map(|i| if i == 1 { String::new() } else { format!("-{i}") });
        let mut names = number.map(|number| format!("{cell}-{what}{number}.{extension}"));
        // There is always a next number.
        let name = names.find(|name| self.names.insert(name.clone())).unwrap_or_default();
        let url = format!("{}{name}", self.prefix);
        self.beside.push(Beside { name, mime, bytes });
        url
    }

    /// Code, in a fence that nothing in it can close.
    fn fence(&mut self, language: &'static str, code: &str) {
        let kind = CodeBlockKind::Fenced(language.into());
        let block = element(Tag::CodeBlock(kind), [words(code.trim_end())]);
        // A block of code can always be spelt.
        self.push(&restated(&block).unwrap_or_default());
    }

    fn push(&mut self, block: &str) {
        self.text.push_str(block);
        self.text.push_str("\n\n");
    }

    /// A lesson's text, with its pictures beside it.
    fn prose(&mut self, prose: &Prose) {
        let mut events = Vec::new();
        for piece in prose.pieces() {
            match piece {
                Piece::Event(event) => events.push(event),
                Piece::Picture { url, alt } => events.extend(self.image(&url, &alt)),
            }
        }
        // One block that cannot be spelt spoils no other.
        for block in blocks(&events) {
            self.block(block);
        }
    }

    fn image(&mut self, url: &str, alt: &str) -> Vec<Event<'static>> {
        match self.pictures.image(url) {
            Ok(image) => {
                let url = self.keep("picture", image.format.mime(), image.format.extension(), image.bytes);
                picture(url, alt)
            }
            Err(why) => {
                let name = if alt.is_empty() { url } else { alt };
                vec![words(&format!("(picture {name}: {why})"))]
            }
        }
    }
}

/// A picture that stands beside the text.
fn picture(url: String, alt: &str) -> Vec<Event<'static>> {
    let tag = Tag::Image { link_type: LinkType::Inline, dest_url: url.into(), title: "".into(), id: "".into() };
    element(tag, (!alt.is_empty()).then(|| words(alt)))
}

/// The events of each block at the top.
fn blocks<'e, 'a>(events: &'e [Event<'a>]) -> impl Iterator<Item = &'e [Event<'a>]> {
    let mut depth = 0_usize;
    events.split_inclusive(move |event| {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// The part of a text that is shown, and how much is left out.
pub fn shown(text: &TextModel) -> String {
    let left = text.text[text.shown..].chars().count();
    let more = if left > 0 { format!("\n… and {left} more characters") } else { String::new() };
    format!("{}{more}", text.shown())
}
