//! A course as a site: a front page and every lesson as a live page, in one folder. It needs no server and no connection:
//! each link leads to a file beside, and the search runs in the reader's browser.

mod front;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::course::{CourseFile, Heading};
use attune_core::lesson::glossary::Glossary;
use attune_core::whole_file::{no_new_folder, write_folder};

use super::escaped;
use super::links::Links;
use super::live_page;
use super::page::Pictures;
use super::web_page::Around;
use crate::view_model::pictures::Sketch;

/// Bytes of all pages together, which are kept in memory until every one is there.
const BYTES_MAX: usize = 256 << 20;
const MB: f64 = 1e6;

/// A site that is being made.
pub struct Site {
    folder: PathBuf,
    glossary: Option<Glossary>,
    links: Links,
    /// Headings of all lessons, in the order of the course.
    headings: Vec<Heading>,
    /// Pages of the first lessons; complete once each lesson has one.
    pages: Vec<LessonPage>,
}

/// The page of a lesson, and the parts of it that the front page shows.
struct LessonPage {
    html: String,
    sketch: Option<Sketch>,
    /// The texts that the search looks through, each with the id of its section.
    texts: Vec<(String, String)>,
    is_live: bool,
}

/// Why there is no site.
#[derive(Debug)]
pub enum SiteFault {
    /// No folder of new files can be there.
    Place(&'static str),
    /// A lesson has no page, with the reason.
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
    /// A site of these lessons, in their order, in a folder that is new or empty.
    ///
    /// # Errors
    /// If there can be no such folder, or a lesson has issues, or the name of another lesson or of the front page.
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
                return refuse("the front page needs the name of this lesson; give it another id");
            }
            headings.push(heading.clone());
        }
        let links = Links::new(headings.iter().map(|heading| heading.id.clone()), glossary.is_some());
        Ok(Self { folder: folder.to_owned(), glossary, links, headings, pages: Vec::new() })
    }

    /// Adds the page of the next lesson, with its answers and pictures as [`live_page::write`] takes them.
    ///
    /// # Errors
    /// If the pages are too large together.
    ///
    /// # Panics
    /// If every lesson has its page.
    pub fn add(
        &mut self,
        snapshot: &Snapshot,
        answered: Option<&Snapshot>,
        pictures: &Pictures,
    ) -> Result<(), SiteFault> {
        let way = self.way(self.pages.len());
        let around = Around { glossary: self.glossary.as_ref(), links: &self.links, way: &way };
        let mut html = Vec::new();
        let is_live =
            live_page::write_among(snapshot, answered, pictures, around, &mut html).map_err(SiteFault::Write)?;
        let html = String::from_utf8(html).map_err(|why| SiteFault::Write(io::Error::other(why)))?;
        let texts = front::texts(snapshot);
        self.pages.push(LessonPage { html, sketch: Sketch::of_snapshot(snapshot), texts, is_live });
        let bytes: usize = self.pages.iter().map(|page| page.html.len()).sum();
        if bytes > BYTES_MAX { Err(SiteFault::Large) } else { Ok(()) }
    }

    /// Links to the front page, and to the lessons before and after this one.
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

    /// Writes the folder, all of it or nothing, and says what is in it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(self) -> Result<String, SiteFault> {
        let front = front::page(&self);
        let pages = self.headings.iter().zip(self.pages);
        let mut files: Vec<(String, Vec<u8>)> =
            pages.map(|(heading, page)| (Links::file(&heading.id), page.html.into_bytes())).collect();
        files.push((Links::FRONT.to_owned(), front.into_bytes()));
        let files: Vec<(&str, Vec<u8>)> =
            files.iter_mut().map(|(name, bytes)| (&**name, std::mem::take(bytes))).collect();
        write_folder(&self.folder, &files).map_err(SiteFault::Write)?;
        let mb = files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() as f64 / MB;
        let count = self.headings.len();
        let noun = if count == 1 { "lesson" } else { "lessons" };
        Ok(format!("{}: a front page and {count} {noun}, {mb:.1} MB", self.folder.display()))
    }
}
