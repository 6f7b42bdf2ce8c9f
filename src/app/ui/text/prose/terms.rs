//! The glossary terms in a document: words and formulas that have a definition.

use std::collections::HashSet;
use std::sync::Arc;

use attune_view::view_model::glossary::GlossaryModel;

use super::document::{ProseDocument, Style, TermInText, TextBlock, TextRun};

/// Marks every term in a document, except in headings, code, links, displayed formulas and the names of controls.
pub fn mark(document: &mut ProseDocument, glossary: &GlossaryModel) {
    /// Headings below this level do not begin a section.
    const SECTION: usize = 2;
    let begins = |block: &TextBlock| matches!(block, TextBlock::Heading(level, _) if *level <= SECTION);
    let is_section = document.blocks.iter().any(begins);
    let mut marker = Marker { glossary, is_section, seen: HashSet::new() };
    marker.blocks(&mut document.blocks);
}

struct Marker<'a> {
    glossary: &'a GlossaryModel,
    is_section: bool,
    seen: HashSet<usize>,
}

impl Marker<'_> {
    fn blocks(&mut self, blocks: &mut [TextBlock]) {
        for block in blocks {
            match block {
                TextBlock::Paragraph(runs) => self.runs(runs),
                TextBlock::Quote(inner) => self.blocks(inner),
                TextBlock::List { items, .. } => items.iter_mut().for_each(|item| self.blocks(item)),
                TextBlock::Table(table) => table.rows.iter_mut().flatten().for_each(|cell| self.runs(cell)),
                TextBlock::Heading(..) | TextBlock::Code { .. } | TextBlock::Formula(_) | TextBlock::Rule => {}
            }
        }
    }

    fn runs(&mut self, runs: &mut Vec<TextRun>) {
        let mut marked = Vec::with_capacity(runs.len());
        for run in std::mem::take(runs) {
            match run {
                TextRun::Text(text, style)
                    if !style.code && style.link.is_none() && style.flaw.is_none() && !is_control(&text, &style) =>
                {
                    self.text(&text, &style, &mut marked);
                }
                TextRun::Formula(mut maths) => {
                    if let Some(term) = self.glossary.symbol(&maths.source) {
                        Arc::make_mut(&mut maths).term = Some(term);
                    }
                    marked.push(TextRun::Formula(maths));
                }
                run => marked.push(run),
            }
        }
        *runs = marked;
    }

    /// Splits a text so that each term becomes a run of its own.
    fn text(&mut self, text: &str, style: &Style, out: &mut Vec<TextRun>) {
        let mut end = 0;
        let mut push = |text: &str, named| {
            if !text.is_empty() {
                out.push(TextRun::Text(text.to_owned(), Style { named, ..style.clone() }));
            }
        };
        for found in self.glossary.find(text) {
            push(&text[end..found.at.start], None);
            end = found.at.end;
            let is_shown = self.is_section || style.strong;
            let is_first = self.seen.insert(found.of) && !self.glossary.is_later(found.of) && is_shown;
            push(&text[found.at], Some(TermInText { term: found.of, is_first }));
        }
        push(&text[end..], None);
    }
}

/// Returns whether a text names a control or a panel, such as *Weights*: in italics, with a capital. Such a name is not
/// a term.
fn is_control(text: &str, style: &Style) -> bool {
    style.emphasis && text.starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use attune_core::lesson::glossary::parse;

    use super::*;

    fn glossary() -> GlossaryModel {
        let text = r#"Glossary([
            Term(name: "key", also: ["keys"], symbols: ["k"], meaning: "m", lesson: "a"),
            Term(name: "dot product", meaning: "m", lesson: "a"),
        ])"#;
        GlossaryModel::of(parse("g", text, None).expect("no issues"), &[], Path::new("a.ron"))
    }

    /// Returns the marked terms in order, with `+` for a first mention.
    fn marks(markdown: &str) -> Vec<String> {
        fn of(blocks: &[TextBlock], out: &mut Vec<String>) {
            for block in blocks {
                match block {
                    TextBlock::Paragraph(runs) | TextBlock::Heading(_, runs) => of_runs(runs, out),
                    TextBlock::Quote(inner) => of(inner, out),
                    TextBlock::List { items, .. } => items.iter().for_each(|item| of(item, out)),
                    TextBlock::Table(table) => table.rows.iter().flatten().for_each(|runs| of_runs(runs, out)),
                    _ => {}
                }
            }
        }
        fn of_runs(runs: &[TextRun], out: &mut Vec<String>) {
            out.extend(runs.iter().filter_map(|run| match run {
                TextRun::Text(text, Style { named: Some(named), .. }) => {
                    Some(format!("{}{text}", if named.is_first { "+" } else { "" }))
                }
                TextRun::Formula(maths) => maths.term.map(|_| format!("${}$", maths.source)),
                _ => None,
            }));
        }
        let mut document = ProseDocument::read(&markdown.into());
        mark(&mut document, &glossary());
        let mut out = Vec::new();
        of(&document.blocks, &mut out);
        out
    }

    #[test]
    fn terms_of_words_and_formulas_are_marked_once_as_first() {
        let text = "The **keys** and a *dot\nproduct*, key $k$ and $k_j$.\n\n> - keys\n\n|dot product|\n|-|\n|x|";
        let first = ["+keys", "+dot product", "key", "$k$", "keys", "dot product"];
        assert_eq!(marks(&format!("# A section\n\n{text}")), first);
        let within = ["+keys", "dot product", "key", "$k$", "keys", "dot product"];
        assert_eq!(marks(text), within, "a text without a heading goes on with a section");
        assert_eq!(marks(&format!("### Within\n\n{text}")), within, "and so does one below a smaller heading");
    }

    #[test]
    fn names_of_controls_mean_no_term() {
        assert_eq!(marks("# A section\n\nThe *Keys* panel, *Key*, *the key* and Keys."), ["+key", "Keys"]);
    }

    #[test]
    fn headings_code_links_and_displayed_formulas_are_left_alone() {
        assert_eq!(marks("# A key\n\n`key` [key](https://x.org) $$k$$ ![key](key.png)\n\n    key\n"), [""; 0]);
    }

    #[test]
    fn nothing_of_the_text_is_lost() {
        let mut document = ProseDocument::read(&"a key, the dot product's keys.".into());
        mark(&mut document, &glossary());
        let TextBlock::Paragraph(runs) = &document.blocks[0] else { panic!("{document:?}") };
        let texts =
            runs.iter().filter_map(|run| if let TextRun::Text(text, _) = run { Some(text.as_str()) } else { None });
        assert_eq!(texts.collect::<String>(), "a key, the dot product's keys.");
    }
}
