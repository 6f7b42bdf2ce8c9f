//! The glossary of the lesson's folder: the cards of terms, the results of searches, and the terms that a text names.

use std::path::{Path, PathBuf};

use attune_core::lesson::course::CourseFile;
use attune_core::lesson::glossary::{Glossary, Term, TermOccurrence};
use pulldown_cmark::{Event, TagEnd};

/// The terms, with the lessons that introduce them. A term is identified by its index in the file.
#[derive(Clone, Debug, Default)]
pub struct GlossaryModel {
    glossary: Glossary,
    /// The lesson that introduces each term.
    firsts: Vec<First>,
    /// The names of each term, and its whole text, in lower case.
    words: Vec<(String, String)>,
    /// The indices of the terms in alphabetical order.
    order: Vec<usize>,
}

/// The lesson that introduces a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    /// The title, after the number if it has one; the id if the lesson does not exist; empty if no lesson introduces
    /// the term.
    pub title: String,
    /// The path of the lesson; `None` if it is open or does not exist.
    pub path: Option<PathBuf>,
    /// Whether the open lesson introduces the term.
    pub is_here: bool,
    /// Whether the lesson comes after the open one in the course.
    is_later: bool,
}

impl GlossaryModel {
    /// Builds the model for `lesson`, the open file. `files` are the lessons in its folder.
    pub fn of(glossary: Glossary, files: &[CourseFile], lesson: &Path) -> Self {
        let open = files.iter().find(|file| file.path.file_name() == lesson.file_name());
        let open = open.map(|file| (file.id(), number(file)));
        let first = |term: &Term| {
            let file = files.iter().find(|file| file.id() == term.lesson);
            let heading = file.and_then(|file| file.heading.as_ref().ok());
            let title = heading.map_or_else(
                || term.lesson.clone(),
                |heading| match heading.number {
                    Some(number) => format!("{number} · {}", heading.title),
                    None => heading.title.clone(),
                },
            );
            let is_here = open.as_ref().is_some_and(|(open, _)| *open == term.lesson);
            let is_later = open.as_ref().and_then(|(_, open)| Some(file.and_then(number)? > (*open)?));
            First {
                title,
                path: file.map(|file| file.path.clone()).filter(|_| !is_here),
                is_here,
                is_later: is_later.unwrap_or_default(),
            }
        };
        let firsts: Vec<First> = glossary.terms().iter().map(first).collect();
        let words = glossary.terms().iter().zip(&firsts).map(|(term, first)| {
            let Term { name, also, symbols, shape, meaning, .. } = term;
            let named = format!("{name} {}", also.join(" ")).to_lowercase();
            let said = format!("{named} {} {shape} {meaning} {}", symbols.join(" "), first.title).to_lowercase();
            (named, said)
        });
        let words = words.collect();
        let mut order: Vec<usize> = (0..glossary.terms().len()).collect();
        order.sort_by_cached_key(|term| glossary.terms()[*term].name.to_lowercase());
        Self { glossary, firsts, words, order }
    }

    /// Returns a term and the lesson that introduces it; `None` if there is no such term.
    pub fn entry(&self, term: usize) -> Option<(&Term, &First)> {
        self.glossary.terms().get(term).zip(self.firsts.get(term))
    }

    /// Returns the terms that contain every word of the search: first those whose name begins with the search, then
    /// those with the words in their name, then the rest. An empty search returns all terms.
    pub fn found(&self, search: &str) -> Vec<usize> {
        let search = search.to_lowercase();
        let words: Vec<&str> = search.split_whitespace().collect();
        let has = |text: &str| words.iter().all(|word| text.contains(word));
        let begins = |term: &usize| !search.is_empty() && self.words[*term].0.starts_with(search.trim());
        let (mut named, others): (Vec<usize>, Vec<usize>) =
            self.order.iter().partition(|term| has(&self.words[**term].0));
        // The sort is stable, so that terms of equal rank stay in alphabetical order.
        named.sort_by_key(|term| !begins(term));
        named.into_iter().chain(others.into_iter().filter(|term| has(&self.words[*term].1))).collect()
    }

    /// Returns whether a later lesson introduces the term, so that it need not be known yet.
    pub fn is_later(&self, term: usize) -> bool {
        self.firsts.get(term).is_some_and(|first| first.is_later)
    }

    /// Returns the occurrences of terms in a text.
    pub fn find(&self, text: &str) -> Vec<TermOccurrence> {
        self.glossary.find(text)
    }

    /// Returns the term that a formula stands for in the open lesson; `None` if there is none, or if several are
    /// possible. A letter that a later lesson introduces has another meaning until then; among terms that share a
    /// symbol, the one that this lesson introduces is meant.
    pub fn symbol(&self, latex: &str) -> Option<usize> {
        let met: Vec<usize> =
            self.glossary.symbol(latex).iter().copied().filter(|term| !self.firsts[*term].is_later).collect();
        match met[..] {
            [only] => Some(only),
            _ => met.into_iter().find(|term| self.firsts[*term].is_here),
        }
    }
}

/// Returns the number of a lesson in the course; `None` if it has none.
fn number(file: &CourseFile) -> Option<usize> {
    file.heading.as_ref().ok()?.number
}

/// Returns the meaning of a term and its shape as one line without markup, for screen readers and tooltips.
pub fn told(term: &Term) -> String {
    let mut told = words_of(term.meaning.events());
    if !term.shape.is_empty() {
        told += &format!(" Shape: {}.", term.shape);
    }
    told
}

/// Returns the words of a text without markup, as one line.
pub fn words_of<'a>(events: impl IntoIterator<Item = Event<'a>>) -> String {
    use TagEnd::{CodeBlock, Heading, Item, Paragraph, TableCell};

    let mut words = String::new();
    for event in events {
        match event {
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                words.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak | Event::End(Paragraph | Item | Heading(_) | TableCell | CodeBlock) => {
                words.push(' ');
            }
            _ => {}
        }
    }
    words.truncate(words.trim_end().len());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use attune_core::lesson::course::Heading;
    use attune_core::lesson::glossary::parse;
    use attune_core::lesson::live_text::LessonText;

    fn file(id: &str, number: Option<usize>) -> CourseFile {
        let heading = Heading {
            id: id.to_owned(),
            title: format!("On {id}"),
            summary: None,
            number,
            minutes: None,
            builds_on: Vec::new(),
            chapter: None,
            tasks: 0,
            cells: Vec::new(),
        };
        CourseFile { path: PathBuf::from(format!("course/{id}.ron")), heading: Ok(heading) }
    }

    const NUMBERS: [Option<usize>; 3] = [Some(1), Some(2), Some(3)];

    /// Returns a glossary in which one of three lessons is `open`.
    fn model(open: &str, [a, b, c]: [Option<usize>; 3]) -> GlossaryModel {
        let text = r#"Glossary([
            Term(name: "value", symbols: ["v", "w"], shape: "(T, d_v)", meaning: "What a *key* hands over, $v$.", lesson: "b"),
            Term(name: "Key", also: ["keys"], symbols: ["k", "v"], meaning: "By what a word is found.", lesson: "a"),
            Term(name: "query", symbols: ["q"], meaning: "What a word looks for.", lesson: "gone"),
        ])"#;
        let glossary = parse("g", text, None).expect("no issues");
        let files = [file("a", a), file("b", b), file("c", c)];
        GlossaryModel::of(glossary, &files, Path::new(&format!("course/{open}.ron")))
    }

    #[test]
    fn a_search_finds_names_before_meanings() {
        let model = model("a", NUMBERS);
        let names = |search| {
            let entries = model.found(search).into_iter().filter_map(|term| model.entry(term));
            entries.map(|(term, _)| term.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(names(""), ["Key", "query", "value"]);
        assert_eq!(names("KEY"), ["Key", "value"]);
        assert_eq!(names("e"), ["Key", "query", "value"]);
        assert_eq!(names("q"), ["query"]);
        assert_eq!(names("v"), ["value", "Key"], "a symbol comes behind names");
        assert_eq!(names("word looks"), ["query"]);
        assert_eq!(names("on hands"), ["value"]);
        assert_eq!(names("no such thing"), Vec::<&str>::new());
    }

    #[test]
    fn a_lesson_opens_unless_it_is_open_or_gone() {
        let model = model("a", NUMBERS);
        let first = |term| {
            let first = model.entry(term).expect("it is there").1;
            (first.title.as_str(), first.path.as_deref().and_then(Path::to_str), first.is_here)
        };
        assert_eq!(first(0), ("2 · On b", Some("course/b.ron"), false));
        assert_eq!(first(1), ("1 · On a", None, true));
        assert_eq!(first(2), ("gone", None, false));
        assert_eq!(model.entry(3), None);
    }

    /// Looks up symbols: `v` is introduced by two lessons, and `q` by one that no longer exists.
    #[test]
    fn a_symbol_is_what_it_means_by_now() {
        let named = |lesson, numbers, symbol| {
            let model = model(lesson, numbers);
            model.symbol(symbol).and_then(|term| Some(model.entry(term)?.0.name.clone()))
        };
        assert_eq!(named("a", NUMBERS, "v").as_deref(), Some("Key"), "b is later");
        assert_eq!(named("b", NUMBERS, "v").as_deref(), Some("value"), "b has its own");
        assert_eq!(named("c", NUMBERS, "v"), None, "either");
        assert_eq!(named("a", NUMBERS, "w"), None, "not yet");
        assert_eq!(named("b", NUMBERS, "w").as_deref(), Some("value"));
        assert_eq!(named("c", NUMBERS, "q").as_deref(), Some("query"));
        assert_eq!(named("c", NUMBERS, "z"), None);
        assert_eq!(named("a", [None; 3], "w").as_deref(), Some("value"), "without numbers there is no order");
    }

    #[test]
    fn a_meaning_is_told_without_markup() {
        assert_eq!(
            told(model("a", NUMBERS).entry(0).expect("it is there").0),
            "What a key hands over, v. Shape: (T, d_v)."
        );
        assert_eq!(words_of(LessonText::from("one\ntwo `three`\n\nfour").events()), "one two three four");
    }
}
