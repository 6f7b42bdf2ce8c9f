//! A course as a site: a front page and a live page for each lesson, in one folder. It needs no server and no network
//! connection: links lead to files in the folder, and the search runs in the reader's browser.

mod picture;

use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use attune_core::kernel::notebook::snapshot::CellSnapshot;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::course::{CourseFile, Heading};
use attune_core::lesson::glossary::{Glossary, Term};
use attune_core::whole_file::{no_new_folder, write_folder};
use attune_engine::messages::counted;
use serde::Serialize;

use super::links::section_id;
use super::live_page;
use super::markdown::{LessonProse, MarkdownPiece};
use super::page::{Links, Pictures};
use super::shared_files::{Parts, SharedFiles, unmarked};
use super::web_page::{PagesAround, head, markdown};
use super::{escaped, plain};
use crate::view_model::glossary::{told, words_of};
use crate::view_model::pictures::Sketch;

/// The largest total size of all pages, in bytes. They are kept in memory until all are made.
const BYTES_MAX: usize = 256 << 20;
const MB: f64 = 1e6;

/// A site that is being made.
pub struct Site {
    folder: PathBuf,
    glossary: Option<Glossary>,
    links: Links,
    /// The headings of all lessons, in the order of the course.
    headings: Vec<Heading>,
    /// The pages made so far, in the order of the lessons.
    pages: Vec<LessonPage>,
    files: SharedFiles,
}

/// The page of a lesson, and the parts that the front page shows.
struct LessonPage {
    html: String,
    /// The size of the page and of the shared files that were added with it, in bytes.
    bytes: usize,
    sketch: Option<Sketch>,
    /// The texts for the search, each with the id of its section.
    texts: Vec<(String, String)>,
    is_live: bool,
    /// Whether the page is of a lesson's file, rather than of a model or a recording.
    is_of_lesson: bool,
}

/// The reason why the site cannot be made.
#[derive(Debug)]
pub enum SiteFault {
    /// The folder cannot be created, for the given reason.
    Place(&'static str),
    /// A lesson cannot have a page, for the given reason.
    Lesson(PathBuf, &'static str),
    /// The pages are too large together.
    Large,
    Write(io::Error),
}

impl fmt::Display for SiteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(why) => write!(f, "{why}"),
            Self::Lesson(path, why) => write!(f, "{}: {why}", path.display()),
            Self::Large => write!(f, "the pages have more than {:.0} MB together", BYTES_MAX as f64 / MB),
            Self::Write(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for SiteFault {}

impl Site {
    /// Begins a site of these lessons, in their order, in a new or empty folder.
    ///
    /// # Errors
    /// If the folder cannot be made, or a lesson has issues, or its page would have the name of another page.
    pub fn new(folder: &Path, files: &[CourseFile], glossary: Option<Glossary>) -> Result<Self, SiteFault> {
        if let Some(why) = no_new_folder(folder) {
            return Err(SiteFault::Place(why));
        }
        let mut headings: Vec<Heading> = Vec::with_capacity(files.len());
        for CourseFile { path, heading } in files {
            let refuse = |why| Err(SiteFault::Lesson(path.clone(), why));
            let Ok(heading) = heading else { return refuse("the lesson has issues; attune check lists them") };
            if headings.iter().any(|other| other.id == heading.id) {
                return refuse("another lesson has the same id");
            }
            if Links::file(&heading.id) == Links::FRONT {
                return refuse(
                    "the front page needs the file name that belongs to this lesson's id; give the lesson \
                    another id",
                );
            }
            headings.push(heading.clone());
        }
        let links = Links::new(headings.iter().map(|heading| heading.id.clone()), glossary.is_some());
        Ok(Self {
            folder: folder.to_owned(),
            glossary,
            links,
            headings,
            pages: Vec::new(),
            files: SharedFiles::default(),
        })
    }

    /// Adds the page of the next lesson, with answers and pictures as in [`live_page::write`].
    ///
    /// # Errors
    /// If the page cannot be written, or the pages are too large together.
    ///
    /// # Panics
    /// If every lesson already has its page.
    pub fn add(
        &mut self,
        snapshot: &Snapshot,
        answered: Option<&Snapshot>,
        pictures: &Pictures,
    ) -> Result<(), SiteFault> {
        let way = self.way(self.pages.len());
        let (parts, before) = (Parts(Some(&self.files)), self.files.bytes());
        let around = PagesAround { glossary: self.glossary.as_ref(), links: &self.links, way: &way, parts };
        let mut html = Vec::new();
        let is_live =
            live_page::write_among(snapshot, answered, pictures, around, &mut html).map_err(SiteFault::Write)?;
        let html = String::from_utf8(html).map_err(|why| SiteFault::Write(io::Error::other(why)))?;
        let texts = texts(snapshot);
        let is_of_lesson = snapshot.lesson.folder.is_some();
        let bytes = html.len() + self.files.bytes() - before;
        self.pages.push(LessonPage {
            html,
            bytes,
            sketch: Sketch::of_snapshot(snapshot),
            texts,
            is_live,
            is_of_lesson,
        });
        let bytes: usize = self.pages.iter().map(|page| page.bytes).sum();
        if bytes > BYTES_MAX { Err(SiteFault::Large) } else { Ok(()) }
    }

    /// Returns links to the front page, and to the previous and the next lesson.
    fn way(&self, index: usize) -> String {
        let link = |heading: &Heading, [before, after]: [&str; 2]| {
            let (file, title) = (Links::file(&heading.id), escaped(&heading.title));
            format!("<a href=\"{file}\">{before}{title}{after}</a>")
        };
        let back = index.checked_sub(1).map(|back| link(&self.headings[back], ["← ", ""]));
        let on = self.headings.get(index + 1).map(|on| link(on, ["", " →"]));
        let around: Vec<String> = back.into_iter().chain(on).collect();
        format!("<p class=\"way\"><a href=\"{}\">The course</a> {}</p>\n", Links::FRONT, around.join(" "))
    }

    /// Writes the folder, completely or not at all, and returns a line that describes its content.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(self) -> Result<String, SiteFault> {
        let front = front_page(&self);
        let of_lessons = self.pages.iter().filter(|page| page.is_of_lesson).count();
        let others = self.pages.len() - of_lessons;
        let pages = self.headings.iter().zip(self.pages);
        let mut files: Vec<(String, Vec<u8>)> =
            pages.map(|(heading, page)| (Links::file(&heading.id), page.html.into_bytes())).collect();
        files.push((Links::FRONT.to_owned(), front.into_bytes()));
        files.extend(self.files.into_files());
        let files: Vec<(&str, Vec<u8>)> =
            files.iter_mut().map(|(name, bytes)| (&**name, std::mem::take(bytes))).collect();
        write_folder(&self.folder, &files).map_err(SiteFault::Write)?;
        let mb = files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() as f64 / MB;
        let lessons = counted(of_lessons, "lesson");
        let others = if others > 0 { format!(", {} of one pass", counted(others, "page")) } else { String::new() };
        Ok(format!("{}: a front page and {lessons}{others}, {mb:.1} MB", self.folder.display()))
    }
}

const SEARCH: &str = include_str!("search.js");
const STYLE: &str = include_str!("style.css");

/// Returns the front page: a card for each lesson with its opening picture, the glossary, and a search of titles, texts
/// and terms.
fn front_page(site: &Site) -> String {
    let parts = Parts(Some(&site.files));
    let mut text = head("attune: the course", parts, Some(SEARCH), &[&live_page::FONTS, STYLE]);
    text.push_str("<main class=\"course\">\n");
    text.push_str(&picture::gradients());
    text.push_str(&hero(site));
    text.push_str(
        "<h1>Self-attention, lesson by lesson</h1>\n\
         <p>Each lesson is a page with a working model in it. The model runs in this browser; nothing is sent anywhere.</p>\n\
         <p id=\"search-row\" hidden><label>Search the course <input id=\"search\" type=\"search\"></label> \
         <small id=\"told\" role=\"status\"></small></p>\n<ol id=\"found\"></ol>\n",
    );
    if site.glossary.is_some() {
        text.push_str("<p>Terms are explained in the <a href=\"#glossary\">glossary</a>.</p>\n");
    }
    let lessons: Vec<_> = site.headings.iter().zip(&site.pages).collect();
    for chapter in lessons.chunk_by(|_, (next, _)| next.chapter.is_none()) {
        let title = chapter[0].0.chapter.as_deref().unwrap_or("Lessons");
        let _ = write!(text, "<h2>{}</h2>\n<ol class=\"cards\">\n", escaped(title));
        chapter.iter().for_each(|(heading, page)| card(site, heading, page, &mut text));
        text.push_str("</ol>\n");
    }
    if let Some(glossary) = &site.glossary {
        text.push_str("<h2 id=\"glossary\">Glossary</h2>\n<dl>\n");
        in_order(glossary).into_iter().for_each(|term| entry(site, term, &mut text));
        text.push_str("</dl>\n");
    }
    // An entry consists of words and addresses, so it can always be written as JSON.
    let index = unmarked(&serde_json::to_string(&index(site)).unwrap_or_default());
    let _ = write!(
        text,
        "</main>\n<script type=\"application/json\" id=\"attune-index\">{index}</script>\n{}\
         </body>\n</html>\n",
        parts.script(SEARCH)
    );
    text
}

/// Returns the top of the front page, which links to its lesson: a sentence in which a word has two meanings, and the
/// picture in which they separate. Empty if no lesson has such a picture.
fn hero(site: &Site) -> String {
    let mut lessons = site.headings.iter().zip(&site.pages);
    let split =
        lessons.find_map(|(heading, page)| Some((heading, page.sketch.as_ref().filter(|sketch| sketch.splits())?)));
    let Some((heading, sketch)) = split else { return String::new() };
    let (file, title) = (Links::file(&heading.id), escaped(&heading.title));
    let frames = [("wide", 1, picture::HERO), ("narrow", 2, picture::NARROW_HERO)];
    let pictures = frames.map(|(class, lines, frame)| {
        let (sentence, picture) = (picture::sentence(sketch, lines), picture::svg(sketch, frame));
        format!("<div class=\"{class}\">{sentence}{picture}</div>")
    });
    format!("<a class=\"hero\" href=\"{file}\">{}<span>Try it: {title} →</span></a>\n", pictures.concat())
}

fn card(site: &Site, heading: &Heading, page: &LessonPage, text: &mut String) {
    let number = heading.number.map_or(String::new(), |number| format!("{number}. "));
    let (file, title) = (Links::file(&heading.id), escaped(&heading.title));
    let picture = page.sketch.as_ref().map_or(String::new(), |sketch| picture::svg(sketch, picture::CARD));
    let summary = escaped(heading.summary.as_deref().unwrap_or_default());
    let minutes = heading.minutes.map_or(String::new(), |minutes| format!("{minutes} min · "));
    let mb = page.bytes as f64 / MB;
    let still = if page.is_live { "" } else { " · only text and pictures; the model runs in attune" };
    let builds_on: Vec<String> = heading.builds_on.iter().filter_map(|id| link_to(site, id)).collect();
    let builds_on =
        if builds_on.is_empty() { String::new() } else { format!("<br>Builds on {}", builds_on.join(", ")) };
    let _ = writeln!(
        text,
        "<li><a href=\"{file}\" tabindex=\"-1\" aria-hidden=\"true\">{picture}</a><h3><a href=\"{file}\">{number}{title}</a></h3><p>{summary}</p>\
         <p><small>{minutes}{mb:.1} MB{still}{builds_on}</small></p></li>"
    );
}

/// Returns a link to the lesson with this id, if the site has it.
fn link_to(site: &Site, id: &str) -> Option<String> {
    let (file, heading) = (site.links.lesson(id)?, site.headings.iter().find(|heading| heading.id == id)?);
    Some(format!("<a href=\"{file}\">{}</a>", escaped(&heading.title)))
}

/// Returns the terms in alphabetical order.
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

/// An entry of the search index.
#[derive(Serialize)]
struct SearchEntry {
    title: String,
    href: String,
    text: String,
}

fn index(site: &Site) -> Vec<SearchEntry> {
    let mut all = Vec::new();
    for (heading, page) in site.headings.iter().zip(&site.pages) {
        let (title, file) = (plain(&heading.title), Links::file(&heading.id));
        let summary = plain(heading.summary.as_deref().unwrap_or_default());
        all.push(SearchEntry { title: title.clone(), href: file.clone(), text: summary });
        let text = |(id, text): &(String, String)| SearchEntry {
            title: title.clone(),
            href: format!("{file}#{id}"),
            text: text.clone(),
        };
        all.extend(page.texts.iter().map(text));
    }
    let terms = site.glossary.iter().flat_map(in_order);
    all.extend(terms.map(|term| SearchEntry {
        title: plain(&term.spellings().collect::<Vec<_>>().join(", ")),
        href: format!("#{}", Links::anchor(term)),
        text: plain(&told(term)),
    }));
    all
}

/// Returns the texts of a lesson, each with the id of its section.
fn texts(snapshot: &Snapshot) -> Vec<(String, String)> {
    let texts = snapshot.notebook.cells.iter().filter(|shown| shown.cell.is_text());
    let words = |shown: &CellSnapshot| {
        let prose = LessonProse::of(&shown.cell.text, shown.live.as_ref());
        words_of(prose.pieces(Links::NONE).filter_map(|piece| match piece {
            MarkdownPiece::Event(event) => Some(event),
            MarkdownPiece::Picture { .. } => None,
        }))
    };
    texts.map(|shown| (section_id(&shown.cell.id), words(shown))).collect()
}
