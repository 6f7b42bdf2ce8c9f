//! Terms of the glossary, each with its meaning at its first use in a cell.

use std::collections::HashSet;
use std::fmt::Write as _;

use attune_core::lesson::glossary::Glossary;

use crate::export::escape;
use crate::view_model::glossary::told;

pub struct Terms<'a> {
    pub glossary: Option<&'a Glossary>,
    /// Terms that this cell has explained already.
    pub explained: HashSet<usize>,
}

impl Terms<'_> {
    /// Text as markup, if it names a term that the cell has not explained yet.
    pub fn markup(&mut self, text: &str) -> Option<String> {
        let glossary = self.glossary?;
        let mut markup = String::new();
        let mut end = 0;
        for found in glossary.find(text) {
            let Some(term) = glossary.terms().get(found.of).filter(|_| self.explained.insert(found.of)) else {
                continue;
            };
            let (before, name) = (escape::html(&text[end..found.at.start]), escape::html(&text[found.at.clone()]));
            let _ =
                write!(markup, "{before}<abbr class=\"term\" title=\"{}\">{name}</abbr>", escape::html(&told(term)));
            end = found.at.end;
        }
        (end > 0).then(|| markup + escape::html(&text[end..]).as_str())
    }
}
