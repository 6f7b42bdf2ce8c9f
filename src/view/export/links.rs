//! Links of an export: to the web, and within a site to the pages of lessons and the terms of its glossary.

use std::collections::BTreeSet;

use attune_core::lesson::glossary::Term;
use attune_core::lesson::links::TextLink;

/// The pages of a site; empty for a page that stands alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Ids of the lessons.
    lessons: BTreeSet<String>,
    has_glossary: bool,
}

impl Links {
    /// No page but the one that has the links.
    pub const NONE: &'static Self = &Self { lessons: BTreeSet::new(), has_glossary: false };
    /// The file of the front page.
    pub const FRONT: &'static str = "index.html";

    pub fn new(lessons: impl IntoIterator<Item = String>, has_glossary: bool) -> Self {
        Self { lessons: lessons.into_iter().collect(), has_glossary }
    }

    /// The file of a lesson's page: ids are lower-case letters, digits, `-` and `_`.
    pub fn file(lesson: &str) -> String {
        format!("{lesson}.html")
    }

    /// The id of a term on the front page.
    pub fn anchor(term: &Term) -> String {
        let name = term.name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' });
        format!("term-{}", name.collect::<String>())
    }

    /// The address of the lesson with this id, if the site has it.
    pub fn lesson(&self, id: &str) -> Option<String> {
        self.lessons.contains(id).then(|| Self::file(id))
    }

    /// The address of a term, if the site has a glossary.
    pub fn term(&self, term: &Term) -> Option<String> {
        self.has_glossary.then(|| format!("{}#{}", Self::FRONT, Self::anchor(term)))
    }

    /// The address for a link of a lesson's text; `None` where the page has nothing that it could lead to.
    pub fn address(&self, url: &str) -> Option<String> {
        match TextLink::read(url) {
            Some(Ok(TextLink::Lesson(id))) => self.lesson(&id),
            Some(_) => None,
            None => is_safe_link(url).then(|| url.to_owned()),
        }
    }
}

/// Whether a link leads to the web, and runs nothing.
pub fn is_safe_link(url: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}
