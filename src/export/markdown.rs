//! Pages as Markdown, for a file of its own and for the cells of a Jupyter notebook.
//!
//! A lesson's Markdown stays as it is written, but for what could be more than text: outside of code
//! no `<` begins a tag, links lead to the web only, and a picture is one of the lesson's folder.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};

use super::escape::{self, plain};
use super::page::{Code, PageItem, PageSlider, Stage};
use super::pictures::Pictures;
use super::{svg, table};
use crate::lesson::text::markdown_options;
use crate::view_model::output::{OutputModel, TextModel, short};

/// A link that leads to the web, and does nothing.
pub fn is_safe_link(url: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// A file that stands beside the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    pub name: String,
    pub mime: &'static str,
    pub bytes: Vec<u8>,
}

/// Text that is being written.
pub struct Writer<'a> {
    pub text: String,
    /// The pictures that it names.
    pub beside: Vec<Beside>,
    names: BTreeSet<String>,
    pictures: &'a Pictures,
    /// The prefix of a picture's address.
    prefix: &'a str,
    /// The cell's id, for the names of its pictures.
    cell: &'a str,
}

impl<'a> Writer<'a> {
    pub fn new(pictures: &'a Pictures, prefix: &'a str) -> Self {
        Self { text: String::new(), beside: Vec::new(), names: BTreeSet::new(), pictures, prefix, cell: "" }
    }

    pub fn set_cell(&mut self, id: &'a str) {
        self.cell = id;
    }

    pub fn items(&mut self, items: &[PageItem<'_>]) {
        items.iter().for_each(|item| self.item(item));
    }

    pub fn item(&mut self, item: &PageItem<'_>) {
        match item {
            PageItem::Markdown(source) => {
                let safe = self.safe(source);
                self.paragraph(&safe);
            }
            PageItem::Label(label) => self.paragraph(&format!("**{label}**")),
            PageItem::Line(line) => self.paragraph(&escape::markdown(line)),
            PageItem::Code(code) => self.code(code),
            PageItem::Stage(stage) => self.stage(stage),
            PageItem::Slider(slider) => self.paragraph(&tell(slider)),
            PageItem::Choices { choices, chosen, right } => {
                for (i, choice) in choices.iter().enumerate() {
                    let mark = if *chosen == Some(i) { "x" } else { " " };
                    let right = if *right == Some(i) { " **← the model's answer**" } else { "" };
                    let _ = writeln!(self.text, "- [{mark}] {}{right}", escape::markdown(choice));
                }
                self.text.push('\n');
            }
            PageItem::Details { summary, items } => {
                let _ = writeln!(self.text, "<details><summary>{}</summary>\n", escape::html(summary));
                self.items(items);
                self.text.push_str("</details>\n\n");
            }
            PageItem::Gate { caption } => {
                self.text.push_str("---\n\n");
                if !caption.is_empty() {
                    self.paragraph(&format!("*{}*", escape::markdown(caption)));
                }
            }
        }
    }

    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}\n", text.trim_end());
    }

    fn code(&mut self, code: &Code<'_>) {
        if !code.is_hidden && !code.source.trim().is_empty() {
            self.fence("rhai", code.source);
        }
        for output in &code.outputs {
            match output {
                OutputModel::Number(number) => self.fence("text", &number.full),
                OutputModel::Text(text) => self.fence("text", &shown(text)),
                OutputModel::Table(model) => self.text.push_str(&table::markdown(model)),
                OutputModel::Image(path) => {
                    let image = self.image(path, path);
                    self.paragraph(&image);
                }
                OutputModel::Ranking(model) => self.text.push_str(&table::ranking_markdown(model)),
                OutputModel::Plot(plot) => {
                    let url = self.keep("plot", "image/svg+xml", "svg", svg::svg(plot).into_bytes());
                    self.paragraph(&format!("![{}]({url})", escape::markdown(&plot.summary())));
                    if let Some(note) = plot.left_out_note() {
                        self.paragraph(&format!("*{note}*"));
                    }
                }
            }
        }
        if let Some(fault) = code.fault {
            self.fence("text", &fault.to_string());
        }
        if let Some(note) = code.note {
            self.paragraph(&format!("*{note}*"));
        }
    }

    fn stage(&mut self, stage: &Stage<'_>) {
        if let Some(picture) = self.pictures.stage(self.cell) {
            let url = self.keep("stage", "image/png", "png", picture.light.clone());
            return self.paragraph(&format!("![{}]({url})", escape::markdown(&stage.tell_picture())));
        }
        self.paragraph(&format!(
            "*{}. {}*",
            escape::markdown(&stage.tell()),
            escape::markdown(&self.pictures.why_no_stage)
        ));
        if !stage.caption.is_empty() {
            self.paragraph(&format!("*{}*", escape::markdown(stage.caption)));
        }
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
    pub fn fence(&mut self, language: &str, code: &str) {
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat((longest + 1).max(3));
        let _ = writeln!(self.text, "{fence}{language}\n{}\n{fence}\n", plain(code).trim_end());
    }

    /// The lesson's Markdown, with nothing in it but text, links to the web and pictures of its folder.
    fn safe(&mut self, source: &str) -> String {
        let source = plain(source);
        let spans = Spans::of(&source);
        let mut images = spans.images.iter().peekable();
        let mut safe = String::with_capacity(source.len());
        let mut at = 0;
        while let Some(c) = source[at..].chars().next() {
            if let Some(image) = images.next_if(|image| image.range.start <= at) {
                safe.push_str(&self.image(&image.url, &image.alt));
                at = image.range.end;
                continue;
            }
            if let Some(definition) = find(&spans.definitions, at) {
                at = definition.end;
                continue;
            }
            let is_code = || find(&spans.code, at).is_some();
            match c {
                '<' if begins_tag(&source[at + 1..]) && !is_code() && !spans.is_web_address(at) => {
                    // Maths has no entities, but does not mind a space.
                    safe.push_str(if find(&spans.maths, at).is_some() { "< " } else { "&lt;" });
                }
                '[' | ']' if find(&spans.links, at).is_some() && !is_code() => safe.extend(['\\', c]),
                c => safe.push(c),
            }
            at += c.len_utf8();
        }
        safe
    }

    fn image(&mut self, url: &str, alt: &str) -> String {
        match self.pictures.image(url) {
            Ok(image) => {
                let url = self.keep("picture", image.format.mime(), image.format.extension(), image.bytes);
                format!("![{}]({url})", escape::markdown(alt))
            }
            Err(why) => format!(
                "*(picture {}: {})*",
                escape::markdown(if alt.is_empty() { url } else { alt }),
                escape::markdown(&why)
            ),
        }
    }
}

/// The part of a text that is shown, and how much is left out.
pub fn shown(text: &TextModel) -> String {
    let left = text.text[text.shown..].chars().count();
    let more = if left > 0 { format!("\n… and {left} more characters") } else { String::new() };
    format!("{}{more}", text.shown())
}

/// A slider as a line of Markdown.
fn tell(slider: &PageSlider<'_>) -> String {
    let caption =
        if slider.caption.is_empty() { String::new() } else { format!("**{}** ", escape::markdown(slider.caption)) };
    let value = slider.tell_value();
    let (from, to) = slider.range;
    format!("{caption}`{}{value}` (a slider from {} to {})", slider.name, short(from), short(to))
}

/// Ranges of a Markdown text that are not plain text; in order, without overlaps.
#[derive(Default)]
struct Spans {
    code: Vec<Range<usize>>,
    maths: Vec<Range<usize>>,
    /// Links that lead elsewhere than to the web.
    links: Vec<Range<usize>>,
    /// Definitions of such links.
    definitions: Vec<Range<usize>>,
    /// `<https://…>`
    addresses: Vec<Range<usize>>,
    images: Vec<ImageSpan>,
}

struct ImageSpan {
    range: Range<usize>,
    url: String,
    alt: String,
}

impl Spans {
    fn of(source: &str) -> Self {
        let mut spans = Self::default();
        // Pictures within the words of a picture are words.
        let mut depth = 0;
        let mut parser = Parser::new_ext(source, markdown_options()).into_offset_iter();
        for (event, range) in parser.by_ref() {
            match event {
                Event::Start(Tag::Image { dest_url, .. }) => {
                    if depth == 0 {
                        spans.images.push(ImageSpan { range, url: dest_url.into_string(), alt: String::new() });
                    }
                    depth += 1;
                }
                Event::End(TagEnd::Image) => depth -= 1,
                Event::Text(text) | Event::Code(text) if depth > 0 => {
                    spans.images.iter_mut().last().into_iter().for_each(|image| image.alt.push_str(&text));
                }
                Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => spans.code.push(range),
                Event::InlineMath(_) | Event::DisplayMath(_) => spans.maths.push(range),
                Event::Start(Tag::Link { dest_url, link_type, .. }) => {
                    let is_address = matches!(link_type, LinkType::Autolink | LinkType::Email);
                    match (is_address, is_safe_link(&dest_url)) {
                        (true, true) => spans.addresses.push(range),
                        (false, false) => spans.links.push(range),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let definitions = parser.reference_definitions().iter().filter(|(_, found)| !is_safe_link(&found.dest));
        spans.definitions = definitions.map(|(_, found)| found.span.clone()).collect();
        spans.definitions.sort_by_key(|range| range.start);
        spans
    }

    fn is_web_address(&self, at: usize) -> bool {
        find(&self.addresses, at).is_some_and(|range| range.start == at)
    }
}

/// The range that a place lies in.
fn find(ranges: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    ranges.get(ranges.partition_point(|range| range.end <= at)).filter(|range| range.start <= at)
}

/// Whether CommonMark, or a less strict reader, may take this for a tag.
fn begins_tag(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
}
