//! The glossary of a folder of lessons: each term with its symbols, its shape, its meaning, and the lesson
//! that introduces it. One file beside the lessons, read as strictly as they are.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use attune_engine::nearest::nearest;

use super::check::{check_name, id, line, markdown, one_of_names};
use super::course;
use super::decode::{At, list, list_of, text, wrong};
use super::issue::{Issues, LessonIssue, is_unprintable, shorten};
use super::limits::{
    GLOSSARY_TERMS_MAX, LESSON_BYTES_MAX, MEANING_BYTES_MAX, SPELLING_WORDS_MAX, SPELLINGS_MAX, SYMBOL_BYTES_MAX,
    SYMBOLS_MAX,
};
use super::load::{read_text, too_large, without_mark};
use super::record::{Record, complete, fields};
use super::source::Node;
use super::spellings::{Found, Spellings};
use super::syntax;
use super::text::tokenize;

/// The file's name, beside the lessons that it is of.
pub const FILE: &str = "glossary.ron";
/// The name that the file begins with.
const NAME: &str = "Glossary";
/// Phrases whose words are no terms.
const PHRASES: [&str; 2] = ["step by step", "Step by step"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub name: String,
    /// Other spellings, such as the plural.
    pub also: Vec<String>,
    /// LaTeX.
    pub symbols: Vec<String>,
    /// Such as `(T, d_k)`; empty where it has none.
    pub shape: String,
    /// Markdown.
    pub meaning: String,
    /// The id of the lesson that introduces it.
    pub lesson: String,
}

impl Term {
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.also).map(String::as_str)
    }
}

/// Terms by their spellings and symbols.
#[derive(Clone, Debug, Default)]
pub struct Glossary {
    terms: Vec<Term>,
    spellings: Spellings,
    symbols: HashMap<String, Vec<usize>>,
}

impl Glossary {
    /// In the order of the file.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The terms that a text names, by their places among all.
    pub fn find(&self, text: &str) -> Vec<Found> {
        let phrases: Vec<Range<usize>> =
            PHRASES.iter().flat_map(|phrase| text.match_indices(phrase)).map(|(at, of)| at..at + of.len()).collect();
        let is_within =
            |found: &Found, phrase: &Range<usize>| phrase.start <= found.at.start && found.at.end <= phrase.end;
        let mut all = self.spellings.find(text);
        all.retain(|found| !phrases.iter().any(|phrase| is_within(found, phrase)));
        all
    }

    /// The term that is all of a text.
    pub fn whole(&self, text: &str) -> Option<usize> {
        self.spellings.whole(text)
    }

    /// The terms that a formula is the symbol of: letters are few, and lessons share them.
    pub fn symbol(&self, latex: &str) -> &[usize] {
        self.symbols.get(&plain_symbol(latex)).map_or(&[], Vec::as_slice)
    }

    /// The spelling most like a phrase that is none.
    pub fn nearest(&self, phrase: &str) -> Option<&str> {
        nearest(&phrase.to_lowercase(), self.terms.iter().flat_map(Term::spellings))
    }
}

/// `d_{k}` and `d _ k` are one.
fn plain_symbol(latex: &str) -> String {
    let tight: Vec<char> = latex.chars().filter(|c| !c.is_whitespace()).collect();
    let mut plain = String::with_capacity(tight.len());
    let mut rest = &tight[..];
    loop {
        rest = match rest {
            [] => return plain,
            ['{', one, '}', after @ ..] => {
                plain.push(*one);
                after
            }
            [one, after @ ..] => {
                plain.push(*one);
                after
            }
        };
    }
}

/// The glossary's file of a lesson's folder, if there is one.
pub fn beside(lesson: &Path) -> Option<PathBuf> {
    Some(lesson.with_file_name(FILE)).filter(|file| file.is_file())
}

/// Whether a file is a glossary, by its name or its first word.
pub fn is_glossary(path: &Path, text: &str) -> bool {
    path.file_name().is_some_and(|name| name == FILE) || begins_as_glossary(text)
}

/// Whether the text, after any comments, begins as a glossary does. A lesson cannot begin so.
pub(super) fn begins_as_glossary(text: &str) -> bool {
    let begins = |deserializer: ron::Deserializer| {
        deserializer.remainder().strip_prefix(NAME).is_some_and(|rest| rest.trim_start().starts_with('('))
    };
    ron::Deserializer::from_str(without_mark(text)).is_ok_and(begins)
}

/// The file is a glossary, whatever is wrong with it.
pub fn is_glossary_file(path: &Path) -> bool {
    read_text(path, "").is_ok_and(|text| is_glossary(path, &text))
}

/// Reads a glossary: all of it, or every issue by place.
///
/// # Errors
/// The issues; never none.
pub fn read(path: &Path) -> Result<Glossary, Vec<LessonIssue>> {
    read_with(path, None)
}

/// As [`read`], and each term is of a lesson that lies beside it.
///
/// # Errors
/// The issues; never none.
pub fn check(path: &Path) -> Result<Glossary, Vec<LessonIssue>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lessons: Vec<String> = course::list(folder).iter().map(course::CourseFile::id).collect();
    read_with(path, Some(&lessons))
}

fn read_with(path: &Path, lessons: Option<&[String]>) -> Result<Glossary, Vec<LessonIssue>> {
    let file = path.display().to_string();
    let text = read_text(path, &file).map_err(|issue| vec![*issue])?;
    parse(&file, &text, lessons)
}

/// Reads the text of a glossary; `lessons` are the ids that its terms may name, if that is known.
///
/// # Errors
/// The issues; never none.
pub fn parse(file_name: &str, text: &str, lessons: Option<&[String]>) -> Result<Glossary, Vec<LessonIssue>> {
    if text.len() as u64 > LESSON_BYTES_MAX {
        return Err(vec![too_large(file_name, text.len() as u64)]);
    }
    let issues = Issues::new(file_name, without_mark(text));
    let whole = issues.whole();
    let glossary = syntax::document(whole).and_then(|document| read_glossary(whole.inner(document), lessons));
    glossary.filter(|_| issues.is_empty()).ok_or_else(|| issues.finish())
}

fn read_glossary(node: Node<'_>, lessons: Option<&[String]>) -> Option<Glossary> {
    let mut record = Record::open(node, &[NAME])?;
    let mut glossary = Glossary::default();
    let terms = record.take_item("[Term(…), …]", |node| {
        let mut place = 0;
        let read = |node| {
            let term = read_term(node, &mut glossary.spellings, place, lessons);
            place += 1;
            term
        };
        list(node, GLOSSARY_TERMS_MAX, read)
    });
    record.finish();
    let terms = terms?;
    if terms.is_empty() {
        node.issue("a glossary without terms").expected("at least one Term(…)");
    }
    for (place, term) in terms.iter().enumerate() {
        for symbol in &term.symbols {
            glossary.symbols.entry(plain_symbol(symbol)).or_default().push(place);
        }
    }
    Some(Glossary { terms, ..glossary })
}

fn read_term(node: Node<'_>, spellings: &mut Spellings, place: usize, lessons: Option<&[String]>) -> Option<Term> {
    let mut record = Record::open(node, &["Term"])?;
    let mut spelling = |node| read_spelling(node, spellings, place);
    fields! { record;
        name: &mut spelling;
        also: list_of(SPELLINGS_MAX, spelling), or Vec::new();
        symbols: list_of(SYMBOLS_MAX, symbol), or Vec::new();
        shape: line, or String::new();
        meaning: meaning;
        lesson: |node| lesson(node, lessons);
    }
    record.finish();
    complete!(Term { name, also, symbols, shape, meaning, lesson })
}

fn read_spelling(node: Node<'_>, spellings: &mut Spellings, place: usize) -> Option<String> {
    let name = At { value: text(node)?, node };
    check_name(&name)?;
    let name = name.value;
    let words = tokenize(&name).len();
    match spellings.add(&name, place) {
        Ok(None) if words <= SPELLING_WORDS_MAX => return Some(name),
        Ok(None) => {
            let expected = format!("at most {SPELLING_WORDS_MAX}");
            node.field_issue(format!("a spelling of {words} words")).expected(expected);
        }
        // With another hyphen or other capitals it is the same.
        Ok(Some(_)) => {
            node.field_issue(format!("the spelling {} appears twice", shorten(node.text)))
                .expected("spellings that no other entry has; capitals and hyphens do not count");
        }
        Err(_) => {
            node.field_issue(format!("{} cannot be recognised in a text", shorten(node.text)))
                .expected("words separated by a space or a hyphen; other signs belong in `symbols`");
        }
    }
    None
}

fn symbol(node: Node<'_>) -> Option<String> {
    let latex = text(node)?;
    let is_short = latex.len() <= SYMBOL_BYTES_MAX && !latex.trim().is_empty();
    if is_short && !latex.contains('$') && !latex.chars().any(is_unprintable) {
        return Some(latex.trim().to_owned());
    }
    let expected = format!("LaTeX of 1 to {SYMBOL_BYTES_MAX} bytes on one line, without $, such as \"d_k\"");
    wrong(node, &expected)
}

fn meaning(node: Node<'_>) -> Option<String> {
    let meaning = markdown(node)?;
    let problem = if meaning.trim().is_empty() {
        "empty".to_owned()
    } else if meaning.len() > MEANING_BYTES_MAX {
        format!("{} bytes", meaning.len())
    } else {
        return Some(meaning);
    };
    let expected = format!("Markdown of 1 to {MEANING_BYTES_MAX} bytes: a sentence or two");
    node.issue(format!("meaning: {problem}")).expected(expected).none()
}

fn lesson(node: Node<'_>, lessons: Option<&[String]>) -> Option<String> {
    let id = id(node)?;
    match lessons {
        Some(lessons) if !lessons.contains(&id) => node
            .issue(format!("lesson: no lesson beside the glossary has the id \"{id}\""))
            .expected(one_of_names(lessons, "the id of a lesson, but there is none beside the glossary"))
            .nearest(&id, lessons.iter().map(String::as_str))
            .none(),
        _ => Some(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"// Terms
        Glossary([
            Term(name: "query", also: ["queries"], symbols: ["q", "Q"], shape: "(T, d_k)", meaning: "What a word looks for.", lesson: "apple"),
            Term(name: "width of a key", symbols: ["d_{k}"], meaning: "How many numbers $q$ has.", lesson: "qkv"),
        ])"#;

    fn issues(text: &str) -> Vec<String> {
        let known = ["apple".to_owned(), "qkv".to_owned()];
        parse("g", text, Some(&known)).expect_err("issues").iter().map(LessonIssue::to_string).collect()
    }

    /// Issues of one term, whose fields are those of a good one with a part replaced.
    fn of_term(part: &str, by: &str) -> Vec<String> {
        let text = r#"Glossary([Term(name: "key", also: [], symbols: [], meaning: "m", lesson: "qkv")])"#;
        assert!(parse("g", text, None).is_ok() && text.contains(part), "{part}");
        issues(&text.replace(part, by))
    }

    #[test]
    fn a_phrase_of_everyday_words_names_no_term() {
        let text = r#"Glossary([Term(name: "step", also: [], symbols: [], meaning: "m", lesson: "qkv")])"#;
        let glossary = parse("g", text, None).expect("no issues");
        let found = glossary.find("It is learned step by step, and each step is small.");
        assert_eq!(found.iter().map(|found| found.at.start).collect::<Vec<_>>(), [37]);
    }

    #[test]
    fn terms_are_found_by_spelling_and_symbol() {
        let glossary = parse("g", TWO, None).expect("no issues");
        assert_eq!(glossary.terms().len(), 2);
        assert_eq!(glossary.terms()[0].spellings().collect::<Vec<_>>(), ["query", "queries"]);
        assert_eq!(
            glossary.find("Queries of the width of a key").iter().map(|found| found.of).collect::<Vec<_>>(),
            [0, 1]
        );
        assert_eq!(glossary.whole("query"), Some(0));
        assert_eq!((glossary.symbol(" d _ k"), glossary.symbol("d_v")), (&[1][..], &[][..]));
        assert_eq!(glossary.nearest("querys"), Some("query"));
    }

    #[test]
    fn a_glossary_says_what_it_is() {
        assert!(begins_as_glossary(TWO) && begins_as_glossary("\u{feff}/* a */ Glossary ([])"));
        assert!(
            !begins_as_glossary("Lesson(id: \"Glossary(\")")
                && !begins_as_glossary("")
                && !begins_as_glossary("Glossary")
        );
        assert!(is_glossary(Path::new("a/glossary.ron"), "Glosary([])") && !is_glossary(Path::new("a/b.ron"), ""));
    }

    #[test]
    fn every_issue_has_its_place() {
        assert_eq!(
            issues("Glosary([])"),
            ["g:1:1: unknown name Glosary; expected Glossary(…); did you mean \"Glossary\"?"]
        );
        assert_eq!(issues("Glossary([])"), ["g:1:1: a glossary without terms; expected at least one Term(…)"]);
        assert_eq!(
            issues("Glossary(terms: [])"),
            ["g:1:1: found Glossary(terms: []); expected Glossary([Term(…), …])"]
        );
        assert_eq!(issues("Glossary([Term(naem: \"a\")])").len(), 3);
        let twice = TWO.replace("[\"queries\"]", "[\"queries\", \"Width-of a key\"]");
        assert_eq!(
            issues(&twice),
            [
                "g:4:24: name: the spelling \"width of a key\" appears twice; expected spellings that no other entry has; \
              capitals and hyphens do not count"
            ]
        );
    }

    #[test]
    fn every_field_has_its_limits() {
        let says = |part, by: &str, expected: &str| {
            let found = of_term(part, by);
            assert!(found.len() == 1 && found[0].contains(expected), "{by}: {found:?}");
        };
        says("\"key\"", "\"−∞\"", "cannot be recognised in a text");
        says("\"key\"", "\"a b c d e f g h i\"", "a spelling of 9 words; expected at most 8");
        says("\"key\"", &format!("\"{}\"", "k".repeat(41)), "a name of 41 characters");
        says("symbols: []", "symbols: [\"$q$\"]", "without $");
        says("symbols: []", "symbols: [\" \"]", "expected LaTeX");
        says("\"m\"", "\" \"", "meaning: empty");
        says("\"m\"", &format!("\"{}\"", "m".repeat(MEANING_BYTES_MAX + 1)), "meaning: 1001 bytes");
        says(
            "\"qkv\"",
            "\"qvk\"",
            "no lesson beside the glossary has the id \"qvk\"; expected \"apple\" or \"qkv\"; did you mean \"qkv\"?",
        );
        says("meaning: \"m\", ", "", "missing field \"meaning\" in Term");
        says("also: []", "also: [\"Key\"]", "the spelling \"Key\" appears twice");
        let many: Vec<String> = (0..=GLOSSARY_TERMS_MAX)
            .map(|i| format!("Term(name: \"t{i}\", meaning: \"m\", lesson: \"qkv\")"))
            .collect();
        assert_eq!(issues(&format!("Glossary([{}])", many.join(","))).len(), 1);
    }
}
