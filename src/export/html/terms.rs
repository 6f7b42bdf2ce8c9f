//! Words that the glossary knows, with what they mean: once in a cell.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::escape;
use crate::lesson::glossary::Glossary;
use crate::view_model::glossary::told;

pub struct Terms<'a> {
    pub glossary: Option<&'a Glossary>,
    /// Those that the cell has told already.
    pub told: HashSet<usize>,
}

impl Terms<'_> {
    /// Text as markup, if it names a term that is to be told.
    pub fn markup(&mut self, text: &str) -> Option<String> {
        let glossary = self.glossary?;
        let mut markup = String::new();
        let mut end = 0;
        for found in glossary.find(text) {
            let Some(term) = glossary.terms().get(found.of).filter(|_| self.told.insert(found.of)) else { continue };
            let (before, name) = (escape(&text[end..found.at.start]), escape(&text[found.at.clone()]));
            let _ = write!(markup, "{before}<abbr class=\"term\" title=\"{}\">{name}</abbr>", escape(&told(term)));
            end = found.at.end;
        }
        (end > 0).then(|| markup + escape(&text[end..]).as_str())
    }
}
