//! Markdown: a lesson's text as all exports read it, and pages written as Markdown, as a file of its own or in the
//! cells of a Jupyter notebook.
//!
//! A text that is read has words, code, maths, pictures by name, and links to the web. Tags are shown as text, and of
//! other links only the text remains. The value of a live expression is always plain text: it is inserted after the
//! Markdown has been parsed.
//!
//! A text that is written goes through [`restated`]: it has no tags, and links only to the web and to the pictures
//! beside it. The lesson's own Markdown may mean something else to another reader: without a maths extension, for
//! example, the content of a formula is read as Markdown. The written text is therefore parsed again, with and without
//! the extensions, and accepted only if it has no tags and no links or pictures but the intended ones. Hints and
//! answers, which a page opens on demand, become notes at the end, as in a book.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::iter;
use std::mem;

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::text::markdown_options;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use pulldown_cmark_to_cmark::{Options as Spelling, cmark_with_options};

use super::events::{element, words};
use super::figures::{grid, plot_svg, ranking_block, table_blocks};
use super::links::Links;
use super::page::{Code, Page, PageItem, PageSlider, Pictures, StageCell};
use super::plain;
pub use super::prose::{LessonProse, MarkdownPiece};
use super::sheet_svg;
use attune_engine::code::readable;

use crate::sheet::text::fold_words;
use crate::sheet::{Fold, FoldContent, Grids, Item, Sheet, Table, Text, Tiles, Tone};
use crate::view_model::output::{OutputModel, PlotModel, TextModel};

/// A picture file beside the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBeside {
    pub name: String,
    pub mime: &'static str,
    pub bytes: Vec<u8>,
}

/// Content that a page opens on demand, written as a note at the end of the text.
pub struct PageNote {
    pub title: String,
    pub text: String,
    pub beside: Vec<FileBeside>,
}

/// A Markdown text that is being written.
pub struct MarkdownWriter<'a> {
    pub text: String,
    /// The picture files to which the text refers.
    pub beside: Vec<FileBeside>,
    /// The notes for the end of the page.
    pub notes: Vec<PageNote>,
    names: BTreeSet<String>,
    pictures: &'a Pictures,
    /// The prefix of a picture's address.
    prefix: &'a str,
    /// The id of the current cell, for the names of its pictures.
    cell: &'a str,
}

/// The heading above the notes.
pub const NOTES: &str = "Hints and answers";

impl<'a> MarkdownWriter<'a> {
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
            PageItem::Reasons { reasons, chosen } => {
                chosen.and_then(|chosen| reasons.get(chosen)).into_iter().for_each(|reason| self.item(reason));
            }
            PageItem::Details { summary, items } => self.note(summary, items),
            PageItem::Panel(sheet) => self.panel(sheet),
            PageItem::Gate { caption } => {
                self.block(&[Event::Rule]);
                self.note_line(caption);
            }
        }
    }

    /// Writes a panel. Its maps and plots become pictures beside the text, and its tables become Markdown tables.
    fn panel(&mut self, sheet: &Sheet) {
        self.heading(HeadingLevel::H2, sheet.title);
        sheet.items.iter().for_each(|item| self.panel_item(item, sheet.title));
    }

    fn panel_item(&mut self, item: &Item, title: &str) {
        match item {
            Item::Heading(title) => self.heading(HeadingLevel::H3, title),
            Item::Text(Text { words: said, tone: Tone::Code, .. }) => self.fence("text", said),
            Item::Text(text) => self.paragraph([words(&text.words)]),
            Item::Fold(fold) => self.fold(fold),
            Item::Grids(Grids { legend, .. }) | Item::Tiles(Tiles { legend, .. }) => {
                let drawn = sheet_svg::part(item, title);
                let url = self.keep("maps", "image/svg+xml", "svg", drawn.into_bytes());
                self.paragraph(picture(url, legend));
            }
            Item::Numbers(numbers) => table_blocks(&numbers.table).iter().for_each(|block| self.block(block)),
            Item::Table(table) => self.table(table),
            Item::Bars(bars) => {
                self.note_line(&bars.caption);
                self.block(&ranking_block(&bars.ranking));
            }
            Item::Meter(meter) => self.block(&ranking_block(&meter.bars().ranking)),
            Item::Plot(plot) => self.plot(plot),
            Item::Details { items, .. } => items.iter().for_each(|item| self.panel_item(item, title)),
            Item::Controls(_) | Item::Scrolls => {}
        }
    }

    fn fold(&mut self, fold: &Fold) {
        self.paragraph([words(&fold_words(fold))]);
        match &fold.content {
            FoldContent::Numbers(numbers) => table_blocks(&numbers.table).iter().for_each(|block| self.block(block)),
            FoldContent::Value { full, .. } => self.fence("text", full),
        }
    }

    fn table(&mut self, table: &Table) {
        self.note_line(&table.caption);
        let rows = table.rows.iter().map(|row| row.iter().map(|cell| cell.words.clone()).collect());
        self.block(&grid(iter::once(table.columns.clone()).chain(rows)));
    }

    fn plot(&mut self, plot: &PlotModel) {
        let url = self.keep("plot", "image/svg+xml", "svg", plot_svg(plot).into_bytes());
        self.paragraph(picture(url, &plot.summary()));
        self.note_line(&plot.left_out_note().unwrap_or_default());
    }

    pub fn heading(&mut self, level: HeadingLevel, title: &str) {
        let tag = Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() };
        self.block(&element(tag, [words(title)]));
    }

    /// Writes a line in italics, unless it is empty.
    pub fn note_line(&mut self, line: &str) {
        if !line.trim().is_empty() {
            self.paragraph(element(Tag::Emphasis, [words(line.trim())]));
        }
    }

    /// Writes a note, with its title as a heading, and adds its pictures.
    pub fn end_note(&mut self, note: PageNote) {
        self.heading(HeadingLevel::H3, &note.title);
        self.text.push_str(&note.text);
        self.beside.extend(note.beside);
    }

    fn paragraph<'e>(&mut self, content: impl IntoIterator<Item = Event<'e>>) {
        self.block(&element(Tag::Paragraph, content));
    }

    /// Writes blocks, or their plain text if no Markdown for them means the same in every renderer.
    fn block(&mut self, events: &[Event<'_>]) {
        match restated(events) {
            Some(text) => self.push(&text),
            None => self.fence("text", &plain_words(events)),
        }
    }

    /// Writes a reference to a note, and collects the content that a page would open on demand as that note.
    fn note(&mut self, summary: &str, items: &[PageItem<'_>]) {
        let number = self.notes.len();
        self.note_line(&format!("{summary}: note {}, at the end.", number + 1));
        let title = format!("Note {}: {summary}", number + 1);
        self.notes.push(PageNote { title, text: String::new(), beside: Vec::new() });
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
                OutputModel::Table(model) => table_blocks(model).iter().for_each(|block| self.block(block)),
                OutputModel::Image(path) => {
                    let image = self.image(path, path);
                    self.paragraph(image);
                }
                OutputModel::Ranking(model) => self.block(&ranking_block(model)),
                OutputModel::Plot(plot) => self.plot(plot),
            }
        }
        if let Some(fault) = code.fault {
            self.fence("text", &fault.to_string());
        }
        self.note_line(code.note.unwrap_or_default());
    }

    fn stage(&mut self, stage: &StageCell<'_>) {
        if let Some(drawn) = self.pictures.stage(self.cell) {
            let url = self.keep("stage", "image/png", "png", drawn.light.clone());
            return self.paragraph(picture(url, &stage.tell_picture()));
        }
        self.note_line(&format!("{}. {}", stage.tell(), self.pictures.why_no_stage));
        self.note_line(stage.caption);
    }

    /// Writes a slider's current value as a line.
    fn slider(&mut self, slider: &PageSlider<'_>) {
        let caption = element(Tag::Strong, [words(slider.caption)]);
        let caption = if slider.caption.is_empty() { Vec::new() } else { [caption, vec![words(" ")]].concat() };
        let (from, to) = slider.range;
        let value = Event::Code(plain(&format!("{}{}", slider.name, slider.tell_value())).into());
        let range = words(&format!(" (a slider from {} to {})", readable(from), readable(to)));
        self.paragraph(caption.into_iter().chain([value, range]));
    }

    /// Adds a picture under a file name that no other picture has, and returns its address.
    fn keep(&mut self, what: &str, mime: &'static str, extension: &str, bytes: Vec<u8>) -> String {
        let cell: String =
            self.cell.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let number = (1..).map(|i| if i == 1 { String::new() } else { format!("-{i}") });
        let mut names = number.map(|number| format!("{cell}-{what}{number}.{extension}"));
        // There is always a free number.
        let name = names.find(|name| self.names.insert(name.clone())).unwrap_or_default();
        let url = format!("{}{name}", self.prefix);
        self.beside.push(FileBeside { name, mime, bytes });
        url
    }

    /// Writes code in a fence that nothing in the code can close.
    fn fence(&mut self, language: &'static str, code: &str) {
        let kind = CodeBlockKind::Fenced(language.into());
        let block = element(Tag::CodeBlock(kind), [words(code.trim_end())]);
        // A code block can always be written.
        self.push(&restated(&block).unwrap_or_default());
    }

    fn push(&mut self, block: &str) {
        self.text.push_str(block);
        self.text.push_str("\n\n");
    }

    /// Writes a lesson's text, with its pictures as files.
    fn prose(&mut self, prose: &LessonProse) {
        let mut events = Vec::new();
        for piece in prose.pieces(Links::NONE) {
            match piece {
                MarkdownPiece::Event(event) => events.push(event),
                MarkdownPiece::Picture { url, alt } => events.extend(self.image(&url, &alt)),
            }
        }
        // Blocks are written one by one, so that one that cannot be written does not affect the others.
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

/// Returns the events of a picture beside the text.
fn picture(url: String, alt: &str) -> Vec<Event<'static>> {
    let tag = Tag::Image { link_type: LinkType::Inline, dest_url: url.into(), title: "".into(), id: "".into() };
    element(tag, (!alt.is_empty()).then(|| words(alt)))
}

/// Returns the events of each top-level block.
fn blocks<'e, 'a>(events: &'e [Event<'a>]) -> impl Iterator<Item = &'e [Event<'a>]> {
    let mut depth = 0_usize;
    events.split_inclusive(move |event| {
        depth = depth_after(depth, event);
        depth == 0
    })
}

/// Returns the nesting depth after an event.
fn depth_after(depth: usize, event: &Event<'_>) -> usize {
    match event {
        Event::Start(_) => depth + 1,
        Event::End(_) => depth.saturating_sub(1),
        _ => depth,
    }
}

/// Returns the shown part of a text, with a note on how much is left out.
pub fn shown(text: &TextModel) -> String {
    let left = text.text[text.shown..].chars().count();
    let more = if left > 0 { format!("\n… and {left} more characters") } else { String::new() };
    format!("{}{more}", text.shown())
}

/// Writes the snapshot's notebook, and returns the pictures, which must be written to `folder` beside it.
///
/// # Errors
/// If it cannot be written.
pub fn write(
    snapshot: &Snapshot,
    pictures: &Pictures,
    folder: &str,
    mut to: impl Write,
) -> io::Result<Vec<FileBeside>> {
    let page = Page::of(snapshot, &pictures.panels);
    let prefix = format!("{}/", percent_encoded(folder));
    let mut text = MarkdownWriter::new(pictures, &prefix);
    if !page.begins_with_title() {
        text.heading(HeadingLevel::H1, page.title);
    }
    for cell in &page.cells {
        text.set_cell(cell.id);
        text.items(&cell.items);
    }
    if let Some(model) = &page.model {
        text.note_line(model);
    }
    let notes = mem::take(&mut text.notes);
    if !notes.is_empty() {
        text.heading(HeadingLevel::H2, NOTES);
    }
    for note in notes {
        text.end_note(note);
    }
    writeln!(to, "{}", text.text.trim_end())?;
    to.flush()?;
    Ok(text.beside)
}

/// Encodes the name of a folder for use in an address.
fn percent_encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let encode = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(encode).collect()
}

/// The largest nesting of lists and quotations. Deeper nesting is unreadable and adds to every line.
const NESTED_MAX: usize = 24;

/// A placeholder for `<`, which is finally written as an entity, so that no reader takes it for a tag. It is a
/// private-use character; in a text that contains it, it is shown as `<`.
const LESS_THAN: char = '\u{10fffd}';

/// Writes the events as Markdown; returns `None` if no spelling means the same to all readers.
pub fn restated(events: &[Event<'_>]) -> Option<String> {
    if deepest(events) > NESTED_MAX {
        return None;
    }
    let events = portable(events);
    let spelling = Spelling { list_token: '-', code_block_token_count: 3, ..Spelling::default() };
    let mut text = String::new();
    cmark_with_options(&events, &mut text, markdown_options(), spelling).ok()?;
    let text = without_margin(&text.replace(LESS_THAN, "&lt;"));
    holds_only(&text, &Addresses::of(events.iter())?).then_some(text)
}

/// Removes the empty first line and the space before each `>` that the crate writes for a quotation.
fn without_margin(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix("> \n") {
        Some(quoted) if quoted.lines().all(|line| line.starts_with(" >")) => {
            quoted.lines().map(|line| line[1..].trim_end()).collect::<Vec<_>>().join("\n")
        }
        _ => text.to_owned(),
    }
}

/// Returns the words of the events, without markup.
pub fn plain_words(events: &[Event<'_>]) -> String {
    let mut words = String::new();
    for event in events {
        match event {
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                words.push_str(text);
            }
            Event::SoftBreak | Event::HardBreak | Event::End(_) if !words.ends_with('\n') => words.push('\n'),
            _ => {}
        }
    }
    words
}

fn deepest(events: &[Event<'_>]) -> usize {
    let depths = events.iter().scan(0, |depth, event| {
        *depth = depth_after(*depth, event);
        Some(*depth)
    });
    depths.max().unwrap_or(0)
}

/// Rewrites the events so that all readers parse them alike.
fn portable<'a>(events: &'a [Event<'_>]) -> Vec<Event<'a>> {
    let mut portable = Vec::with_capacity(events.len());
    // The text of the current code block.
    let mut block: Option<String> = None;
    for event in events {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                portable.push(Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language(kind)))));
                block = Some(String::new());
            }
            Event::Text(text) if block.is_some() => block.iter_mut().for_each(|block| block.push_str(text)),
            Event::End(TagEnd::CodeBlock) => {
                // A code block without a final line break would leave its fence open.
                let code = block.take().unwrap_or_default();
                portable.extend([Event::Text(format!("{}\n", code.trim_end_matches('\n')).into()), event.clone()]);
            }
            Event::Text(text) if text.contains(['\n', '<']) => {
                let text = text.replace('<', LESS_THAN.encode_utf8(&mut [0; 4]));
                // Lines may be separated only by break events, and may not begin or end with spaces.
                let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
                portable.push(Event::Text(first.to_owned().into()));
                let rest = rest.lines().map(str::trim).filter(|line| !line.is_empty());
                portable.extend(rest.flat_map(|line| [Event::SoftBreak, Event::Text(line.to_owned().into())]));
            }
            Event::InlineMath(latex) => {
                portable.push(formula(latex).map_or_else(|| code(latex), Event::InlineMath));
            }
            Event::DisplayMath(latex) => {
                portable.push(formula(latex).map_or_else(|| code(latex), Event::DisplayMath));
            }
            event => portable.push(event.clone()),
        }
    }
    portable
}

/// Returns the language of a code block, up to the first character that cannot stand in a fence.
fn language(kind: &CodeBlockKind<'_>) -> CowStr<'static> {
    let CodeBlockKind::Fenced(info) = kind else { return "".into() };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+');
    info.chars().take_while(|c| is_plain(*c)).collect::<String>().into()
}

fn code<'a>(latex: &str) -> Event<'a> {
    Event::Code(latex.split_whitespace().collect::<Vec<_>>().join(" ").into())
}

/// Inserts a space between characters of a formula that a reader without maths could take for a tag or a link; this
/// does not change the formula. Returns `None` if the formula contains a backtick.
fn formula<'a>(latex: &str) -> Option<CowStr<'a>> {
    if latex.contains('`') {
        return None;
    }
    let mut parted = String::with_capacity(latex.len());
    let mut chars = latex.chars().peekable();
    while let Some(c) = chars.next() {
        parted.push(c);
        let is_markup = match (c, chars.peek()) {
            ('<', Some(next)) => next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'),
            (']', Some(next)) => matches!(next, '(' | '[' | ':'),
            _ => false,
        };
        if is_markup {
            parted.push(' ');
        }
    }
    Some(parted.into())
}

/// The addresses of the links and of the pictures in a text.
#[derive(Default)]
struct Addresses {
    links: BTreeSet<String>,
    pictures: BTreeSet<String>,
}

impl Addresses {
    /// Collects the addresses; returns `None` if there is a tag among the events.
    fn of<'a, 'e: 'a>(events: impl Iterator<Item = &'a Event<'e>>) -> Option<Self> {
        let mut addresses = Self::default();
        for event in events {
            match event {
                Event::Html(_) | Event::InlineHtml(_) => return None,
                Event::Start(Tag::Link { dest_url, .. }) => _ = addresses.links.insert(dest_url.to_string()),
                Event::Start(Tag::Image { dest_url, .. }) => _ = addresses.pictures.insert(dest_url.to_string()),
                _ => {}
            }
        }
        Some(addresses)
    }
}

/// Returns whether each kind of reader finds no tags in the text, and no addresses other than those in `meant`.
fn holds_only(text: &str, meant: &Addresses) -> bool {
    let readers = [Options::empty(), markdown_options(), markdown_options() - Options::ENABLE_MATH];
    readers.into_iter().all(|reader| {
        let events: Vec<Event<'_>> = Parser::new_ext(text, reader).collect();
        let found = Addresses::of(events.iter());
        found.is_some_and(|found| found.links.is_subset(&meant.links) && found.pictures.is_subset(&meant.pictures))
    })
}
