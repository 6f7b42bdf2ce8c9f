//! The front page: a card for each lesson with its opening picture, the glossary, and a search through titles, texts and terms.

use std::fmt::Write as _;

use attune_core::kernel::notebook::snapshot::CellSnapshot;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::course::Heading;
use attune_core::lesson::glossary::{Glossary, Term};
use serde::Serialize;

use super::super::links::Links;
use super::super::live_page::{self, unmarked};
use super::super::markdown::{Piece, Prose};
use super::super::web_page::{head, markdown, section_id};
use super::super::{escaped, plain};
use super::{LessonPage, MB, Site};
use crate::view_model::glossary::{told, words_of};
use crate::view_model::pictures::Sketch;

const SEARCH: &str = include_str!("search.js");
const STYLE: &str = include_str!("style.css");
/// Colours of groups; further groups begin again.
const HUES: usize = 8;

/// The whole page.
pub fn page(site: &Site) -> String {
    let mut text = head("attune: the course", &live_page::policy(SEARCH), &format!("{}{STYLE}", *live_page::FONTS));
    text.push_str(
        "<main class=\"course\">\n<h1>Self-attention, lesson by lesson</h1>\n\
         <p>Each lesson is a page with a working model in it. The model runs in this browser; nothing is sent anywhere.</p>\n\
         <p id=\"search-row\" hidden><label>Search the course <input id=\"search\" type=\"search\"></label> \
         <small id=\"told\" role=\"status\"></small></p>\n<ol id=\"found\"></ol>\n",
    );
    if site.glossary.is_some() {
        text.push_str("<p>Terms are explained in the <a href=\"#glossary\">glossary</a>.</p>\n");
    }
    text.push_str("<h2>Lessons</h2>\n<ol class=\"cards\">\n");
    site.headings.iter().zip(&site.pages).for_each(|(heading, page)| card(site, heading, page, &mut text));
    text.push_str("</ol>\n");
    if let Some(glossary) = &site.glossary {
        text.push_str("<h2 id=\"glossary\">Glossary</h2>\n<dl>\n");
        in_order(glossary).into_iter().for_each(|term| entry(site, term, &mut text));
        text.push_str("</dl>\n");
    }
    // An entry is words and addresses, and so always JSON.
    let index = unmarked(&serde_json::to_string(&index(site)).unwrap_or_default());
    let _ = write!(
        text,
        "</main>\n<script type=\"application/json\" id=\"attune-index\">{index}</script>\n<script>{SEARCH}</script>\n\
         </body>\n</html>\n"
    );
    text
}

fn card(site: &Site, heading: &Heading, page: &LessonPage, text: &mut String) {
    let number = heading.number.map_or(String::new(), |number| format!("{number}. "));
    let (file, title) = (Links::file(&heading.id), escaped(&heading.title));
    let picture = page.sketch.as_ref().map_or(String::new(), svg);
    let summary = escaped(heading.summary.as_deref().unwrap_or_default());
    let minutes = heading.minutes.map_or(String::new(), |minutes| format!("{minutes} min · "));
    let mb = page.html.len() as f64 / MB;
    let still = if page.is_live { "" } else { " · text and pictures; the model runs in attune" };
    let builds_on: Vec<String> = heading.builds_on.iter().filter_map(|id| link_to(site, id)).collect();
    let builds_on =
        if builds_on.is_empty() { String::new() } else { format!("<br>Builds on {}", builds_on.join(", ")) };
    let _ = writeln!(
        text,
        "<li>{picture}<h3><a href=\"{file}\">{number}{title}</a></h3><p>{summary}</p>\
         <p><small>{minutes}{mb:.1} MB{still}{builds_on}</small></p></li>"
    );
}

/// A link to the lesson with this id, if the site has it.
fn link_to(site: &Site, id: &str) -> Option<String> {
    let (file, heading) = (site.links.lesson(id)?, site.headings.iter().find(|heading| heading.id == id)?);
    Some(format!("<a href=\"{file}\">{}</a>", escaped(&heading.title)))
}

/// The terms by their names.
fn in_order(glossary: &Glossary) -> Vec<&Term> {
    let mut terms: Vec<&Term> = glossary.terms().iter().collect();
    terms.sort_by_cached_key(|term| term.name.to_lowercase());
    terms
}

fn entry(site: &Site, term: &Term, text: &mut String) {
    let from = link_to(site, &term.lesson).map_or(String::new(), |link| format!("<p><small>From {link}</small></p>"));
    let (id, name, meaning) = (Links::anchor(term), escaped(&term.name), markdown(&term.meaning, &site.links));
    let _ = writeln!(text, "<div class=\"term-entry\" id=\"{id}\"><dt>{name}</dt><dd>{meaning}{from}</dd></div>");
}

/// An entry of the search.
#[derive(Serialize)]
struct Found {
    title: String,
    href: String,
    text: String,
}

fn index(site: &Site) -> Vec<Found> {
    let mut all = Vec::new();
    for (heading, page) in site.headings.iter().zip(&site.pages) {
        let (title, file) = (plain(&heading.title), Links::file(&heading.id));
        let summary = plain(heading.summary.as_deref().unwrap_or_default());
        all.push(Found { title: title.clone(), href: file.clone(), text: summary });
        let text = |(id, text): &(String, String)| Found {
            title: title.clone(),
            href: format!("{file}#{id}"),
            text: text.clone(),
        };
        all.extend(page.texts.iter().map(text));
    }
    let terms = site.glossary.iter().flat_map(in_order);
    all.extend(terms.map(|term| Found {
        title: plain(&term.spellings().collect::<Vec<_>>().join(", ")),
        href: format!("#{}", Links::anchor(term)),
        text: plain(&told(term)),
    }));
    all
}

/// The texts of a lesson, each with the id of its section.
pub fn texts(snapshot: &Snapshot) -> Vec<(String, String)> {
    let texts = snapshot.notebook.cells.iter().filter(|shown| shown.cell.is_text());
    let words = |shown: &CellSnapshot| {
        let prose = Prose::of(&shown.cell.text, shown.live.as_ref());
        words_of(prose.pieces(Links::NONE).filter_map(|piece| match piece {
            Piece::Event(event) => Some(event),
            Piece::Picture { .. } => None,
        }))
    };
    texts.map(|shown| (section_id(&shown.cell.id), words(shown))).collect()
}

/// The lesson's opening picture, as its card on the home screen has it.
fn svg(sketch: &Sketch) -> String {
    const DOT: f32 = 0.018;
    const END: f32 = 0.04;
    let mut text = String::from("<svg viewBox=\"-1.9 -1.15 3.8 2.3\" aria-hidden=\"true\">");
    for ([x, y], group) in &sketch.dots {
        let class = group.map_or(String::new(), |group| format!(" class=\"g{}\"", group % HUES));
        let _ = write!(text, "<circle cx=\"{x:.3}\" cy=\"{:.3}\" r=\"{DOT}\"{class}/>", -y);
    }
    for step in &sketch.moves {
        let ([x, y], [to_x, to_y]) = (step.start, step.end);
        let (y, to_y) = (-y, -to_y);
        let _ = write!(
            text,
            "<line x1=\"{x:.3}\" y1=\"{y:.3}\" x2=\"{to_x:.3}\" y2=\"{to_y:.3}\"/>\
             <circle class=\"end\" cx=\"{to_x:.3}\" cy=\"{to_y:.3}\" r=\"{END}\"/>"
        );
    }
    for (name, [x, y], group) in &sketch.crowds {
        let _ = write!(text, "<text class=\"g{}\" x=\"{x:.3}\" y=\"{:.3}\">{}</text>", group % HUES, -y, escaped(name));
    }
    text.push_str("</svg>");
    text
}
