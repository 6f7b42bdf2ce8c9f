//! A page as HTML, without network access, light or dark as the reader's system is. It is one file without scripts,
//! unless another export adds scripts or shares files among the pages of a site.
//!
//! Everything that comes from a lesson or an output goes through [`escaped`] or `markdown_html`. Should a tag slip
//! through, the page's own policy still prevents it from running or fetching anything.

pub mod math;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::glossary::Glossary;
use attune_core::lesson::live_text::LessonText;
use attune_engine::code::editor::highlight::{SpanKind, highlight};
use attune_engine::code::readable;
use data_encoding::BASE64;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Tag, TagEnd, html};

use super::escaped;
use super::figures::{plot_svg, ranking_html, table_html};
use super::links::section_id;
use super::markdown::{LessonProse, MarkdownPiece, shown};
use super::page::Links;
use super::page::{Code, Page, PageCell, PageItem, PageSlider, Pictures, StageCell, StagePicture};
use super::shared_files::Parts;
use super::sheet_html;
use crate::view_model::glossary::told;
use crate::view_model::output::OutputModel;

/// The style sheet: the program's palettes, of which the reader's system chooses the light or the dark one, and the
/// rules of the page.
const STYLE: &str = concat!(
    ":root {\n  color-scheme: light dark;\n",
    include_str!("light.css"),
    "}\n@media (prefers-color-scheme: dark) {\n:root {\n",
    include_str!("dark.css"),
    "}\n}\n",
    include_str!("style.css")
);
/// The palette that the reader has chosen, which applies only on the screen.
pub(super) const CHOSEN_THEME: &str = concat!(
    "@media screen {\n:root[data-theme=\"light\"] {\n  color-scheme: light;\n",
    include_str!("light.css"),
    "}\n:root[data-theme=\"dark\"] {\n  color-scheme: dark;\n",
    include_str!("dark.css"),
    "}\n}\n"
);
/// The deepest level of headings in the outline.
const OUTLINE_LEVEL_MAX: usize = 3;

/// The surroundings of a page: links to the other pages of a site, the glossary, and the shared files.
#[derive(Clone, Copy)]
pub(super) struct PagesAround<'a> {
    pub glossary: Option<&'a Glossary>,
    pub links: &'a Links,
    /// Markup above the page, with links to the previous and the next page; empty for a page on its own.
    pub way: &'a str,
    pub parts: Parts<'a>,
}

impl<'a> PagesAround<'a> {
    /// Returns the surroundings of a page that is not part of a site.
    pub fn alone(glossary: Option<&'a Glossary>) -> Self {
        Self { glossary, links: Links::NONE, way: "", parts: Parts(None) }
    }
}

/// The parts of a page in addition to the notebook; a page written by [`write`] has none.
#[derive(Default)]
pub(super) struct Additions<'a> {
    pub script: Option<&'a str>,
    pub styles: &'a [&'a str],
    /// Markup before the notebook.
    pub before: &'a str,
    /// Markup after the notebook.
    pub after: &'a str,
    /// Answers to predictions, which a script reveals.
    pub answers: Vec<PageAnswer<'a>>,
}

/// The model's answer to a prediction.
pub(super) struct PageAnswer<'a> {
    pub cell: &'a str,
    /// The index of the right choice.
    pub right: usize,
    /// The reasons why each choice is right or wrong.
    pub reasons: Vec<PageItem<'a>>,
    pub said: Vec<PageItem<'a>>,
}

/// Converts a text of a lesson to HTML, without its pictures and live values.
pub(super) fn markdown(source: &LessonText, links: &Links) -> String {
    let mut terms = Terms { around: PagesAround { links, ..PagesAround::alone(None) }, explained: HashSet::new() };
    markdown_html(&LessonProse::of(source, None), &Pictures::default(), &mut terms, None)
}

/// Writes the snapshot's notebook, with explanations of the glossary's terms in its texts.
///
/// # Errors
/// If it cannot be written.
pub fn write(snapshot: &Snapshot, pictures: &Pictures, glossary: Option<&Glossary>, to: impl Write) -> io::Result<()> {
    write_with(snapshot, pictures, PagesAround::alone(glossary), &Additions::default(), to)
}

/// Writes the notebook with additional parts, such as those of a live page.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write_with(
    snapshot: &Snapshot,
    pictures: &Pictures,
    around: PagesAround<'_>,
    additions: &Additions<'_>,
    to: impl Write,
) -> io::Result<()> {
    let is_recorded = snapshot.lesson.static_embedding.recording().is_some();
    write_page(Page::of(snapshot, &pictures.panels), is_recorded, pictures, around, additions, to)
}

/// Writes a page, of a notebook or of slides. `is_recorded` says whether its numbers are those of a recording.
pub(super) fn write_page(
    page: Page<'_>,
    is_recorded: bool,
    pictures: &Pictures,
    around: PagesAround<'_>,
    additions: &Additions<'_>,
    mut to: impl Write,
) -> io::Result<()> {
    let Additions { script, styles, before, after, answers } = additions;
    let terms = Terms { around, explained: HashSet::new() };
    let mut body = Body { text: String::new(), outline: Vec::new(), pictures, terms, map_cells: 0 };
    for cell in &page.cells {
        body.text.push_str(&section(cell));
        body.terms.explained.clear();
        body.items(cell.id, &cell.items);
        if let Some(answer) = answers.iter().find(|answer| answer.cell == cell.id) {
            let _ = write!(body.text, "<template data-right=\"{}\">", answer.right);
            let told = body.outline.len();
            for (choice, reason) in answer.reasons.iter().enumerate() {
                let _ = write!(body.text, "<div data-choice=\"{choice}\">");
                body.items(cell.id, std::slice::from_ref(reason));
                body.text.push_str("</div>");
            }
            body.items(cell.id, &answer.said);
            // The outline must not reveal headings of an answer.
            body.outline[told..].iter_mut().for_each(|heading| heading.level = OUTLINE_LEVEL_MAX + 1);
            body.text.push_str("</template>");
        }
        body.text.push_str("</section>\n");
    }
    let title = escaped(page.title);
    let heading = if page.begins_with_title() { String::new() } else { format!("<h1>{title}</h1>") };
    write!(to, "{}{}{before}", head(&title, around.parts, *script, styles), around.way)?;
    // The outline is folded if its place beside the text is taken, by the model or by the pages of a site.
    let is_folded = script.is_some() || around.parts.0.is_some();
    to.write_all(outline(&body.outline, is_folded).as_bytes())?;
    write!(to, "<main>\n{heading}{}", body.text)?;
    let origin = if is_recorded {
        "The numbers were recorded by another program, and the page was written by attune".to_owned()
    } else {
        format!("Lesson <code>{}</code>, seed {}. Every number was computed by attune", escaped(page.lesson), page.seed)
    };
    let model = page.model.map_or(String::new(), |model| format!(" {}", escaped(&model)));
    write!(to, "<footer>{origin} {}.{model}</footer>\n</main>\n{after}", env!("CARGO_PKG_VERSION"))?;
    let script = script.map_or(String::new(), |script| around.parts.script(script));
    write!(to, "{script}</body>\n</html>\n")?;
    to.flush()
}

/// Returns the beginning of a page, up to its body. The title must be escaped already.
pub(super) fn head(title: &str, parts: Parts<'_>, script: Option<&str>, styles: &[&str]) -> String {
    let (policy, styles) = (parts.policy(script), parts.styles(&[&[STYLE], styles].concat()));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"attune {}\">\n\
         <title>{title}</title>\n{styles}</head>\n<body>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Returns the opening tag for the section of a cell or of a slide, with the slide's title as a heading.
fn section(cell: &PageCell<'_>) -> String {
    let (kind, id) = (cell.kind, escaped(&section_id(cell.id)));
    let Some(slide) = &cell.slide else { return format!("<section class=\"cell of-{kind}\" id=\"{id}\">") };
    let mut text = format!("<section class=\"cell of-{kind} slide\"");
    let stage = slide.stage.as_deref().map(|stage| escaped(&section_id(stage)));
    let walk = slide.walk.map(|place| place.to_string());
    let [first, answers] = [slide.is_first, slide.answers].map(|is_so| is_so.then(|| id.clone()));
    for (name, value) in [("id", first), ("data-stage", stage), ("data-walk", walk), ("data-answers", answers)] {
        if let Some(value) = value {
            let _ = write!(text, " {name}=\"{value}\"");
        }
    }
    text.push('>');
    if !slide.title.is_empty() {
        let _ = write!(text, "<h2>{}</h2>", escaped(&slide.title));
    }
    text
}

/// Returns the outline; empty if it would have fewer than two headings.
fn outline(headings: &[OutlineLine], is_folded: bool) -> String {
    let shown = || headings.iter().filter(|heading| heading.level <= OUTLINE_LEVEL_MAX);
    if shown().count() < 2 {
        return String::new();
    }
    let open = if is_folded { "" } else { " open" };
    let mut text = format!("<nav aria-label=\"Outline\"><details{open}><summary>Contents</summary><ol>");
    for OutlineLine { level, id, text: name } in shown() {
        let _ = write!(text, "<li class=\"level-{level}\"><a href=\"#{id}\">{}</a></li>", escaped(name));
    }
    text.push_str("</ol></details></nav>\n");
    text
}

struct Body<'a> {
    text: String,
    outline: Vec<OutlineLine>,
    pictures: &'a Pictures,
    terms: Terms<'a>,
    /// The number of cells of the maps of all panels so far.
    map_cells: usize,
}

impl Body<'_> {
    fn items(&mut self, cell: &str, items: &[PageItem<'_>]) {
        for item in items {
            match item {
                PageItem::Markdown(source) => {
                    let markup = markdown_html(source, self.pictures, &mut self.terms, Some(&mut self.outline));
                    self.text.push_str(&markup);
                }
                PageItem::Label(label) => self.put("p class=\"label\"", "p", label),
                PageItem::Line(line) => self.put("p class=\"line\"", "p", line),
                PageItem::Code(code) => self.code(code),
                PageItem::Stage(stage) => self.stage(cell, stage),
                PageItem::Slider(slider) => self.slider(slider),
                PageItem::Choices { choices, chosen, right } => self.choices(choices, *chosen, *right),
                PageItem::Reasons { reasons, chosen } => {
                    let reason = chosen.and_then(|chosen| reasons.get(chosen));
                    self.items(cell, reason.map_or(&[], std::slice::from_ref));
                }
                PageItem::Details { summary, items } => {
                    let _ = write!(self.text, "<details><summary>{}</summary>", escaped(summary));
                    self.items(cell, items);
                    self.text.push_str("</details>");
                }
                PageItem::Panel(sheet) => self.text.push_str(&sheet_html::html(sheet, &mut self.map_cells)),
                PageItem::Gate { caption } => {
                    self.text.push_str("<hr>");
                    if !caption.is_empty() {
                        self.put("p class=\"line\"", "p", caption);
                    }
                }
            }
        }
    }

    /// Adds an element that contains only text.
    fn put(&mut self, open: &str, close: &str, text: &str) {
        let _ = write!(self.text, "<{open}>{}</{close}>", escaped(text));
    }

    fn code(&mut self, code: &Code<'_>) {
        if !code.is_hidden && !code.source.trim().is_empty() {
            let number = code.number.map_or(String::new(), |number| format!("<span class=\"number\">{number}</span>"));
            let _ = write!(self.text, "<div class=\"in\">{number}{}</div>", code_block("rhai", code.source));
        }
        let shows_nothing = code.outputs.is_empty() && code.fault.is_none();
        if shows_nothing && code.note.is_none() {
            return;
        }
        self.text.push_str(if code.note.is_some() && !shows_nothing {
            "<div class=\"out stale\">"
        } else {
            "<div class=\"out\">"
        });
        code.outputs.iter().for_each(|output| self.text.push_str(&output_html(output, self.pictures)));
        if let Some(fault) = code.fault {
            self.put("pre class=\"fault\"", "pre", &fault.to_string());
        }
        if let Some(note) = code.note {
            self.put("p class=\"note\"", "p", note);
        }
        self.text.push_str("</div>");
    }

    fn stage(&mut self, cell: &str, stage: &StageCell<'_>) {
        self.text.push_str("<figure>");
        match self.pictures.stage(cell) {
            Some(picture) => self.picture(picture, &escaped(&stage.tell_picture())),
            None => {
                let (tell, why) = (escaped(&stage.tell()), escaped(&self.pictures.why_no_stage));
                let _ = write!(self.text, "<p class=\"missing\">{tell}.<br><span class=\"note\">{why}</span></p>");
                if !stage.caption.is_empty() {
                    self.put("figcaption", "figcaption", stage.caption);
                }
            }
        }
        self.text.push_str("</figure>");
    }

    /// Adds a stage picture, and its dark version if there is one.
    fn picture(&mut self, StagePicture { light, dark }: &StagePicture, alt: &str) {
        self.text.push_str("<picture>");
        let parts = self.terms.around.parts;
        if let Some(dark) = dark {
            let media = "(prefers-color-scheme: dark)";
            let _ = write!(self.text, "<source media=\"{media}\" srcset=\"{}\">", parts.stage_picture(dark));
        }
        let light = parts.stage_picture(light);
        let _ = write!(self.text, "<img class=\"stage\" src=\"{light}\" alt=\"{alt}\"></picture>");
    }

    /// Adds a slider at its current value.
    fn slider(&mut self, slider: &PageSlider<'_>) {
        let value = slider.tell_value();
        let (from, to) = slider.range;
        let at = slider.share().unwrap_or(0.0) * 100.0;
        let caption = match slider.caption {
            "" => String::new(),
            caption => format!("<span>{}</span>", escaped(caption)),
        };
        let thumb = if slider.share().is_some() { "<i></i>" } else { "" };
        let _ = write!(
            self.text,
            "<p class=\"slider\">{caption}<code>{}{value}</code> <small>{}</small>\
             <span class=\"track\" style=\"--at:{at:.1}%\">{thumb}</span><small>{}</small></p>",
            escaped(&slider.name),
            readable(from),
            readable(to)
        );
    }

    fn choices(&mut self, choices: &[String], chosen: Option<usize>, right: Option<usize>) {
        self.text.push_str("<ul class=\"choices\">");
        for (i, choice) in choices.iter().enumerate() {
            let classes = [(chosen == Some(i), "chosen"), (right == Some(i), "right")];
            let classes: Vec<&str> = classes.into_iter().filter(|(is, _)| *is).map(|(_, class)| class).collect();
            let said = match (chosen == Some(i), right == Some(i)) {
                (true, true) => " <small>your answer, and the model's</small>",
                (true, false) => " <small>your answer</small>",
                (false, true) => " <small>the model's answer</small>",
                (false, false) => "",
            };
            let _ = write!(self.text, "<li class=\"{}\">{}{said}</li>", classes.join(" "), escaped(choice));
        }
        self.text.push_str("</ul>");
    }
}

/// Returns an output as HTML, which is also used in Jupyter notebooks.
pub fn output_html(output: &OutputModel, pictures: &Pictures) -> String {
    match output {
        OutputModel::Number(number) => format!("<pre title=\"{}\">{}</pre>", number.full, number.shown),
        OutputModel::Text(text) => format!("<pre>{}</pre>", escaped(&shown(text))),
        OutputModel::Table(model) => table_html(model),
        OutputModel::Ranking(model) => ranking_html(model),
        OutputModel::Image(path) => format!("<p>{}</p>", image(path, path, pictures)),
        OutputModel::Plot(plot) => {
            let note =
                plot.left_out_note().map_or(String::new(), |note| format!("<p class=\"note\">{}</p>", escaped(&note)));
            format!("{}{note}", plot_svg(plot))
        }
    }
}

/// A line of the outline.
#[derive(Clone)]
pub struct OutlineLine {
    pub level: usize,
    pub id: String,
    pub text: String,
}

/// Converts Markdown to HTML, and adds its headings to the outline, if there is one. The only tags are those that this
/// module writes.
fn markdown_html(
    prose: &LessonProse,
    pictures: &Pictures,
    terms: &mut Terms<'_>,
    outline: Option<&mut Vec<OutlineLine>>,
) -> String {
    let links = terms.around.links;
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
    for piece in prose.pieces(links) {
        match piece {
            MarkdownPiece::Event(event) => markup.take(event),
            MarkdownPiece::Picture { url, alt } => markup.picture(&url, &alt),
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
    outline: Option<&'a mut Vec<OutlineLine>>,
    events: Vec<Event<'e>>,
    /// The text since the last other event, with its line breaks, because a term may continue on the next line.
    words: String,
    /// The language and the text of the current code block.
    code: Option<(CowStr<'e>, String)>,
    heading: Option<OutlineLine>,
    is_in_link: bool,
    is_emphasis: bool,
}

impl<'e> Markup<'_, '_, 'e> {
    fn take(&mut self, event: Event<'e>) {
        if let Some((language, text)) = &mut self.code {
            match event {
                Event::Text(more) => text.push_str(&more),
                Event::End(TagEnd::CodeBlock) => {
                    let block = code_block(language, text);
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
                let open = format!("<a href=\"{}\" rel=\"noreferrer noopener\">", escaped(&dest_url));
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

    /// Writes the text read so far, with glossary terms marked, except in headings, links, and names of controls.
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
        // Only headings in the outline need an id.
        let id = self.outline.as_ref().map(|outline| format!("section-{}", outline.len() + 1));
        self.heading =
            Some(OutlineLine { level: level as usize, id: id.clone().unwrap_or_default(), text: String::new() });
        let id = id.map(Into::into);
        self.push(Event::Start(Tag::Heading { level, id, classes: Vec::new(), attrs: Vec::new() }));
    }

    /// Adds text to the heading, if one is open.
    fn name(&mut self, text: &str) {
        self.heading.iter_mut().for_each(|heading| heading.text.push_str(text));
    }
}

/// Returns a picture in the lesson's folder as HTML, or a note with the reason why it cannot be shown.
pub fn image(url: &str, alt: &str, pictures: &Pictures) -> String {
    match pictures.image(url) {
        Ok(image) => {
            let data = BASE64.encode(&image.bytes);
            format!("<img src=\"data:{};base64,{data}\" alt=\"{}\">", image.format.mime(), escaped(alt))
        }
        Err(why) => {
            let name = if alt.is_empty() { url } else { alt };
            format!("<span class=\"note\">(picture {}: {})</span>", escaped(name), escaped(&why))
        }
    }
}

/// Returns a code block as HTML, with syntax colours if it is Rhai, the language of code cells.
fn code_block(language: &str, source: &str) -> String {
    let source = source.trim_end();
    let is_own = matches!(language.trim(), "rhai" | "attune");
    format!("<pre class=\"code\"><code>{}</code></pre>", if is_own { spans(source) } else { escaped(source) })
}

fn spans(source: &str) -> String {
    let mut text = String::new();
    let mut at = 0;
    for span in highlight(source) {
        text.push_str(&escaped(&source[at..span.range.start]));
        let token = escaped(&source[span.range.clone()]);
        match class(span.kind) {
            Some(class) => _ = write!(text, "<span class=\"{class}\">{token}</span>"),
            None => text.push_str(&token),
        }
        at = span.range.end;
    }
    text.push_str(&escaped(&source[at..]));
    text
}

fn class(kind: SpanKind) -> Option<&'static str> {
    match kind {
        SpanKind::Keyword => Some("k"),
        SpanKind::Number => Some("n"),
        SpanKind::Text => Some("s"),
        SpanKind::Comment => Some("c"),
        SpanKind::Operator => Some("o"),
        SpanKind::Name | SpanKind::Bracket | SpanKind::Unmatched => None,
    }
}

struct Terms<'a> {
    around: PagesAround<'a>,
    /// The indices of the terms that were already explained in this cell.
    pub explained: HashSet<usize>,
}

impl Terms<'_> {
    /// Returns a text as HTML in which terms are explained at their first occurrence in the cell; `None` if it has no
    /// such term.
    pub fn markup(&mut self, text: &str) -> Option<String> {
        let PagesAround { glossary, links, .. } = self.around;
        let glossary = glossary?;
        let mut markup = String::new();
        let mut end = 0;
        for found in glossary.find(text) {
            let Some(term) = glossary.terms().get(found.of).filter(|_| self.explained.insert(found.of)) else {
                continue;
            };
            let (before, name) = (escaped(&text[end..found.at.start]), escaped(&text[found.at.clone()]));
            let told = escaped(&told(term));
            let _ = match links.term(term) {
                Some(address) => {
                    write!(markup, "{before}<a class=\"term\" href=\"{address}\" title=\"{told}\">{name}</a>")
                }
                None => write!(markup, "{before}<abbr class=\"term\" title=\"{told}\">{name}</abbr>"),
            };
            end = found.at.end;
        }
        (end > 0).then(|| markup + escaped(&text[end..]).as_str())
    }
}
