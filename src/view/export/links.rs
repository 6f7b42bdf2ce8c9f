//! The addresses to which the links of a lesson's text lead, on a page of its own and in a site.

use std::collections::BTreeSet;

use attune_core::lesson::glossary::Term;
use attune_core::lesson::links::TextLink;

use super::plain;

/// The pages of a site to which links can lead; empty for a page on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The ids of the site's lessons.
    lessons: BTreeSet<String>,
    has_glossary: bool,
}

impl Links {
    /// The links of a page that is not part of a site.
    pub const NONE: &'static Self = &Self { lessons: BTreeSet::new(), has_glossary: false };
    /// The file name of the front page.
    pub const FRONT: &'static str = "index.html";

    pub fn new(lessons: impl IntoIterator<Item = String>, has_glossary: bool) -> Self {
        Self { lessons: lessons.into_iter().collect(), has_glossary }
    }

    /// Returns the file name of a lesson's page. Ids consist of lower-case letters, digits, `-` and `_`, so they need
    /// no escaping.
    pub fn file(lesson: &str) -> String {
        format!("{lesson}.html")
    }

    /// Returns the id of a term on the front page.
    pub fn anchor(term: &Term) -> String {
        let name = term.name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' });
        format!("term-{}", name.collect::<String>())
    }

    /// Returns the address of the page of a lesson; `None` if the site does not have the lesson.
    pub fn lesson(&self, id: &str) -> Option<String> {
        self.lessons.contains(id).then(|| Self::file(id))
    }

    /// Returns the address of a term on the front page; `None` if the site has no glossary.
    pub fn term(&self, term: &Term) -> Option<String> {
        self.has_glossary.then(|| format!("{}#{}", Self::FRONT, Self::anchor(term)))
    }

    /// Returns the address for a link in a lesson's text; `None` if the link cannot be followed on this page.
    pub fn address(&self, url: &str) -> Option<String> {
        match TextLink::read(url) {
            Some(Ok(TextLink::Lesson(id))) => self.lesson(&id),
            Some(Ok(TextLink::Place { lesson, cell, at })) => {
                let head = at.and_then(|at| at.head).map_or(String::new(), |head| format!("&head={head}"));
                let query = at.map_or(String::new(), |at| format!("?step={}{head}", at.step));
                Some(format!("{}{query}#{}", self.lesson(&lesson)?, section_id(&cell)))
            }
            Some(_) => None,
            None => is_safe_link(url).then(|| url.to_owned()),
        }
    }
}

/// Returns the id of a cell's section on a page.
pub(super) fn section_id(cell: &str) -> String {
    plain(&format!("cell-{}", cell.replace(char::is_whitespace, "-")))
}

/// Returns whether a link is a web or e-mail address, which cannot run a script.
pub fn is_safe_link(url: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}
