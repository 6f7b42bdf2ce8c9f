//! Checks a lesson against the glossary beside it: every bold phrase in its texts is a term, and every term
//! that it introduces is bold in one of them.

use std::collections::HashSet;
use std::sync::Arc;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::glossary::{FILE, Glossary};
use super::issue::shorten;
use super::schema::Lesson;
use super::text::markdown_options;

/// A disagreement between a lesson and its glossary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermIssue {
    /// The cell's id; `None` for the lesson as a whole.
    pub cell: Option<String>,
    /// The phrase in bold, or nothing.
    pub phrase: Arc<str>,
    pub words: String,
}

/// Every disagreement of a lesson with its glossary, cell by cell, then terms that no text introduces.
pub fn check_terms(lesson: &Lesson, glossary: &Glossary) -> Vec<TermIssue> {
    let mut issues = Vec::new();
    let mut introduced = HashSet::new();
    for cell in &lesson.cells {
        let mut seen = HashSet::new();
        for Bold { words, formula } in cell.kind.markdown().flat_map(bold) {
            let named = if words.trim().is_empty() {
                glossary.symbol(&formula).first().copied()
            } else {
                glossary.whole(&words)
            };
            match named {
                Some(term) => _ = introduced.insert(term),
                None => {
                    let phrase = if words.trim().is_empty() { formula } else { words };
                    // A phrase that a cell has twice is reported once.
                    if seen.insert(phrase.clone()) {
                        let words = not_a_term(&phrase, glossary);
                        issues.push(TermIssue { cell: Some(cell.id.clone()), phrase: phrase.into(), words });
                    }
                }
            }
        }
    }
    let terms = glossary.terms().iter().enumerate();
    let silent = terms.filter(|(place, term)| term.lesson == lesson.id && !introduced.contains(place));
    issues.extend(silent.map(|(_, term)| TermIssue {
        cell: None,
        phrase: "".into(),
        words: format!(
            "the term \"{}\" of {FILE} begins in this lesson, but none of its texts has it in bold; expected **{0}** \
             where it is introduced, or another `lesson` of the term",
            term.name
        ),
    }));
    issues
}

fn not_a_term(phrase: &str, glossary: &Glossary) -> String {
    let nearest = glossary.nearest(phrase.trim());
    let hint = nearest.map_or(String::new(), |nearest| format!("; did you mean \"{nearest}\"?"));
    let phrase = shorten(phrase);
    format!(
        "\"{phrase}\" is in bold but not in {FILE}; expected a term of it (emphasis and names of controls are in \
         *italics*){hint}"
    )
}

/// Bold text, outside of headings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bold {
    /// The text without its formulas: `**key $k$**` is about the key.
    words: String,
    formula: String,
}

fn bold(markdown: &str) -> Vec<Bold> {
    let mut all = Vec::new();
    let (mut depth, mut is_heading) = (0_usize, false);
    let mut open = Bold::default();
    for event in Parser::new_ext(markdown, markdown_options()) {
        match event {
            Event::Start(Tag::Heading { .. }) => is_heading = true,
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Start(Tag::Strong) => depth += 1,
            Event::End(TagEnd::Strong) => {
                depth = depth.saturating_sub(1);
                let ended = std::mem::take(&mut open);
                if depth == 0 && !is_heading && ended != Bold::default() {
                    all.push(ended);
                } else if depth > 0 {
                    open = ended;
                }
            }
            Event::Text(text) | Event::Code(text) if depth > 0 => open.words.push_str(&text),
            Event::InlineMath(latex) | Event::DisplayMath(latex) if depth > 0 => open.formula.push_str(&latex),
            Event::SoftBreak | Event::HardBreak if depth > 0 => open.words.push(' '),
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(markdown: &str, expected: &[(&str, &str)]) {
        let found = bold(markdown);
        let found: Vec<(&str, &str)> = found.iter().map(|bold| (&*bold.words, &*bold.formula)).collect();
        assert_eq!(found, expected, "{markdown}");
    }

    #[test]
    fn what_is_bold_outside_of_headings() {
        check("# A **heading**\n\nthe **query** and `**code**`, *not this*", &[("query", "")]);
        check(
            "- a **dot\n  product** of __two__\n\n| a |\n|-|\n| **cell** |",
            &[("dot product", ""), ("two", ""), ("cell", "")],
        );
        check("the **key $k$** and **$d_k$** and **`X`**", &[("key ", "k"), ("", "d_k"), ("X", "")]);
        check("***both*** and **one __in__ one**", &[("both", ""), ("one in one", "")]);
        check("2 ** 3 ** 4, \\*\\*no\\*\\*", &[]);
    }
}
