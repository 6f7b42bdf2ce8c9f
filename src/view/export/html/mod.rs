//! A page as one HTML file: no network, no script, light and dark as the reader likes it.
//!
//! Everything that comes from a lesson or an output goes through [`escape::html`] or [`text`]; and should a
//! tag slip through, the page's own policy lets nothing run and nothing be fetched.

mod code;
pub mod math;
mod mathml;
mod terms;
mod text;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::glossary::Glossary;
use data_encoding::BASE64;

use self::terms::Terms;
use self::text::Heading;
use super::escape;
use super::markdown::shown;
use super::page::{Code, Page, PageItem, PageSlider, Stage};
use super::pictures::{Pictures, StagePicture};
use super::prose::Prose;
use super::{svg, table};
use crate::view_model::output::{OutputModel, short};

pub(super) const STYLE: &str = include_str!("style.css");
/// Nothing runs and nothing is fetched.
pub(super) const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Headings deeper than this stand in no outline.
const OUTLINE_LEVEL_MAX: usize = 3;

/// Parts of a page besides the notebook; nothing where it stands still.
pub(super) struct Additions<'a> {
    pub policy: &'a str,
    pub style: &'a str,
    /// Markup before the notebook and behind it.
    pub before: &'a str,
    pub after: &'a str,
    /// Answers to predictions, which a script reveals.
    pub answers: Vec<Answer<'a>>,
}

/// The model's answer to a prediction.
pub(super) struct Answer<'a> {
    pub cell: &'a str,
    /// Index into the choices.
    pub right: usize,
    pub said: Vec<PageItem<'a>>,
}

/// A text of a lesson as markup, without pictures and without what live values it names.
pub(super) fn plain_markdown(source: &str) -> String {
    let mut terms = Terms { glossary: None, explained: HashSet::new() };
    text::markdown(&Prose::of(source, None), &Pictures::default(), &mut terms, None)
}

/// Writes the snapshot's notebook; where its texts name terms of the glossary, they say what these mean.
///
/// # Errors
/// If it cannot be written.
pub fn write(snapshot: &Snapshot, pictures: &Pictures, glossary: Option<&Glossary>, to: impl Write) -> io::Result<()> {
    let nothing = Additions { policy: POLICY, style: "", before: "", after: "", answers: Vec::new() };
    write_with(snapshot, pictures, glossary, &nothing, to)
}

/// Writes the notebook with what a live page has besides.
pub(super) fn write_with(
    snapshot: &Snapshot,
    pictures: &Pictures,
    glossary: Option<&Glossary>,
    additions: &Additions<'_>,
    mut to: impl Write,
) -> io::Result<()> {
    let Additions { policy, style, before, after, answers } = additions;
    let page = Page::of(snapshot);
    let terms = Terms { glossary, explained: HashSet::new() };
    let mut body = Body { text: String::new(), outline: Vec::new(), pictures, terms };
    for cell in &page.cells {
        let id = escape::html(&cell.id.replace(char::is_whitespace, "-"));
        let _ = write!(body.text, "<section class=\"cell of-{}\" id=\"cell-{id}\">", cell.kind);
        body.terms.explained.clear();
        body.items(cell.id, &cell.items);
        if let Some(answer) = answers.iter().find(|answer| answer.cell == cell.id) {
            let _ = write!(body.text, "<template data-right=\"{}\">", answer.right);
            let told = body.outline.len();
            body.items(cell.id, &answer.said);
            // The outline does not tell what is yet to be answered.
            body.outline[told..].iter_mut().for_each(|heading| heading.level = OUTLINE_LEVEL_MAX + 1);
            body.text.push_str("</template>");
        }
        body.text.push_str("</section>\n");
    }
    let title = escape::html(page.title);
    let heading = if page.begins_with_title() { String::new() } else { format!("<h1>{title}</h1>") };
    write!(to, "{}{before}", head(&title, policy, style))?;
    to.write_all(outline(&body.outline).as_bytes())?;
    write!(to, "<main>\n{heading}{}", body.text)?;
    let about = format!(
        "Lesson <code>{}</code>, seed {}. Every number was computed by attune",
        escape::html(page.lesson),
        page.seed
    );
    let model = page.model.map_or(String::new(), |model| format!(" {}", escape::html(&model)));
    write!(to, "<footer>{about} {}.{model}</footer>\n</main>\n{after}</body>\n</html>\n", env!("CARGO_PKG_VERSION"))?;
    to.flush()
}

/// The beginning of a page, up to its body. The title is escaped already.
pub(super) fn head(title: &str, policy: &str, style: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"attune {}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// One heading needs no outline.
fn outline(headings: &[Heading]) -> String {
    let shown = || headings.iter().filter(|heading| heading.level <= OUTLINE_LEVEL_MAX);
    if shown().count() < 2 {
        return String::new();
    }
    let mut text = String::from("<nav aria-label=\"Outline\"><ol>");
    for Heading { level, id, text: name } in shown() {
        let _ = write!(text, "<li class=\"level-{level}\"><a href=\"#{id}\">{}</a></li>", escape::html(name));
    }
    text.push_str("</ol></nav>\n");
    text
}

struct Body<'a> {
    text: String,
    outline: Vec<Heading>,
    pictures: &'a Pictures,
    terms: Terms<'a>,
}

impl Body<'_> {
    fn items(&mut self, cell: &str, items: &[PageItem<'_>]) {
        for item in items {
            match item {
                PageItem::Markdown(source) => {
                    let markup = text::markdown(source, self.pictures, &mut self.terms, Some(&mut self.outline));
                    self.text.push_str(&markup);
                }
                PageItem::Label(label) => self.put("p class=\"label\"", "p", label),
                PageItem::Line(line) => self.put("p class=\"line\"", "p", line),
                PageItem::Code(code) => self.code(code),
                PageItem::Stage(stage) => self.stage(cell, stage),
                PageItem::Slider(slider) => self.slider(slider),
                PageItem::Choices { choices, chosen, right } => self.choices(choices, *chosen, *right),
                PageItem::Details { summary, items } => {
                    let _ = write!(self.text, "<details><summary>{}</summary>", escape::html(summary));
                    self.items(cell, items);
                    self.text.push_str("</details>");
                }
                PageItem::Gate { caption } => {
                    self.text.push_str("<hr>");
                    if !caption.is_empty() {
                        self.put("p class=\"line\"", "p", caption);
                    }
                }
            }
        }
    }

    /// An element with nothing but text in it.
    fn put(&mut self, open: &str, close: &str, text: &str) {
        let _ = write!(self.text, "<{open}>{}</{close}>", escape::html(text));
    }

    fn code(&mut self, code: &Code<'_>) {
        if !code.is_hidden && !code.source.trim().is_empty() {
            let number = code.number.map_or(String::new(), |number| format!("<span class=\"number\">{number}</span>"));
            let _ = write!(self.text, "<div class=\"in\">{number}{}</div>", code::block("rhai", code.source));
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

    fn stage(&mut self, cell: &str, stage: &Stage<'_>) {
        self.text.push_str("<figure>");
        match self.pictures.stage(cell) {
            Some(picture) => self.picture(picture, &escape::html(&stage.tell_picture())),
            None => {
                let (tell, why) = (escape::html(&stage.tell()), escape::html(&self.pictures.why_no_stage));
                let _ = write!(self.text, "<p class=\"missing\">{tell}.<br><span class=\"note\">{why}</span></p>");
                if !stage.caption.is_empty() {
                    self.put("figcaption", "figcaption", stage.caption);
                }
            }
        }
        self.text.push_str("</figure>");
    }

    /// Light or dark, as the page is.
    fn picture(&mut self, StagePicture { light, dark }: &StagePicture, alt: &str) {
        self.text.push_str("<picture>");
        if let Some(dark) = dark {
            let data = BASE64.encode(dark);
            let media = "(prefers-color-scheme: dark)";
            let _ = write!(self.text, "<source media=\"{media}\" srcset=\"data:image/png;base64,{data}\">");
        }
        let data = BASE64.encode(light);
        let _ = write!(self.text, "<img class=\"stage\" src=\"data:image/png;base64,{data}\" alt=\"{alt}\"></picture>");
    }

    /// As the slider stands.
    fn slider(&mut self, slider: &PageSlider<'_>) {
        let value = slider.tell_value();
        let (from, to) = slider.range;
        let at = slider.share().unwrap_or(0.0) * 100.0;
        let caption = match slider.caption {
            "" => String::new(),
            caption => format!("<span>{}</span>", escape::html(caption)),
        };
        let thumb = if slider.share().is_some() { "<i></i>" } else { "" };
        let _ = write!(
            self.text,
            "<p class=\"slider\">{caption}<code>{}{value}</code> <small>{}</small>\
             <span class=\"track\" style=\"--at:{at:.1}%\">{thumb}</span><small>{}</small></p>",
            escape::html(&slider.name),
            short(from),
            short(to)
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
            let _ = write!(self.text, "<li class=\"{}\">{}{said}</li>", classes.join(" "), escape::html(choice));
        }
        self.text.push_str("</ul>");
    }
}

/// An output as markup; in Jupyter's notebooks too.
pub fn output_html(output: &OutputModel, pictures: &Pictures) -> String {
    match output {
        OutputModel::Number(number) => format!("<pre title=\"{}\">{}</pre>", number.full, number.shown),
        OutputModel::Text(text) => format!("<pre>{}</pre>", escape::html(&shown(text))),
        OutputModel::Table(model) => table::html(model),
        OutputModel::Ranking(model) => table::ranking_html(model),
        OutputModel::Image(path) => format!("<p>{}</p>", text::image(path, path, pictures)),
        OutputModel::Plot(plot) => {
            let note = plot
                .left_out_note()
                .map_or(String::new(), |note| format!("<p class=\"note\">{}</p>", escape::html(&note)));
            format!("{}{note}", svg::svg(plot))
        }
    }
}
