//! The glossary of a folder of lessons: each term with its symbols, its shape, its meaning, and the lesson that
//! introduces it. It is one file beside the lessons, which is checked as strictly as they are.
//!
//! Terms are recognised in plain text by their spellings: whole words, in upper or lower case, the longest spelling
//! first. An everyday phrase such as "step by step", and a token such as `[MASK]`, are not terms. Lesson and glossary
//! must agree: every bold phrase in the lesson's texts is a term, and every term that the lesson introduces is bold in
//! one of them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_engine::messages::nearest;
use pulldown_cmark::{Event, Tag, TagEnd};

use crate::lesson::course;
use crate::lesson::live_text::{LessonText, placed};
use crate::lesson::read::common::{check_name, id, line, markdown, unknown_name};
use crate::lesson::reading::decode::{At, Node, decoded, fields, list_of, record, text, wrong};
pub use crate::lesson::reading::file::{FILE, is_glossary};
use crate::lesson::reading::file::{NAME, read_text};
use crate::lesson::reading::issue::{LessonIssue, is_unprintable, shorten};
use crate::lesson::reading::text::{tokenize, words_at};
use crate::lesson::schema::Lesson;
use crate::lesson::schema::limits::{
    GLOSSARY_TERMS_MAX, MEANING_BYTES_MAX, SPELLING_WORDS_MAX, SPELLINGS_MAX, SYMBOL_BYTES_MAX, SYMBOLS_MAX,
};

/// Number that an everyday phrase has instead of the index of a term.
const EVERYDAY: usize = usize::MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub name: String,
    /// Other spellings, such as the plural.
    pub also: Vec<String>,
    /// Everyday phrases in which the spellings have another meaning.
    pub except: Vec<String>,
    /// Symbols in LaTeX.
    pub symbols: Vec<String>,
    /// The shape, such as `(T, d_k)`; empty if the term has none.
    pub shape: String,
    /// The meaning in Markdown.
    pub meaning: LessonText,
    /// Id of the lesson that introduces the term; empty for a word that lessons use without introducing it.
    pub lesson: String,
}

impl Term {
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.also).map(String::as_str)
    }
}

/// Terms, indexed by their spellings and symbols.
#[derive(Clone, Debug, Default)]
pub struct Glossary {
    terms: Vec<Term>,
    spellings: Spellings,
    symbols: HashMap<String, Vec<usize>>,
}

impl Glossary {
    /// Returns the terms in the order of the file.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Finds the terms in a text, with their indices.
    pub fn find(&self, text: &str) -> Vec<TermOccurrence> {
        let is_token = |at: &Range<usize>| text[..at.start].ends_with('[') && text[at.end..].starts_with(']');
        let mut all = self.spellings.find(text);
        all.retain(|found| found.of != EVERYDAY && !is_token(&found.at));
        all
    }

    /// Returns the index of the term whose spelling is the whole text.
    pub fn whole(&self, text: &str) -> Option<usize> {
        self.spellings.whole(text).filter(|term| *term != EVERYDAY)
    }

    /// Returns the indices of the terms whose symbol is this formula. There may be several, because lessons use the
    /// same few letters for different things.
    pub fn symbol(&self, latex: &str) -> &[usize] {
        self.symbols.get(&plain_symbol(latex)).map_or(&[], Vec::as_slice)
    }

    /// Returns the spelling that is most similar to a phrase that is not a term.
    pub fn nearest(&self, phrase: &str) -> Option<&str> {
        nearest(&phrase.to_lowercase(), self.terms.iter().flat_map(Term::spellings))
    }
}

/// Normalises a symbol, so that `d_{k}` and `d _ k` are equal.
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

/// Returns the glossary file in the folder of a lesson, if there is one.
pub fn beside(lesson: &Path) -> Option<PathBuf> {
    Some(lesson.with_file_name(FILE)).filter(|file| file.is_file())
}

/// Returns whether a file is a glossary, valid or not.
pub fn is_glossary_file(path: &Path) -> bool {
    read_text(path, "").is_ok_and(|text| is_glossary(path, &text))
}

/// Reads a glossary, or returns all its issues with their places.
///
/// # Errors
/// The issues, of which there is at least one.
pub fn read(path: &Path) -> Result<Glossary, Vec<LessonIssue>> {
    read_with(path, None)
}

/// Reads a glossary as [`read`] does, and checks that each term names a lesson in the same folder.
///
/// # Errors
/// The issues, of which there is at least one.
pub fn check(path: &Path) -> Result<Glossary, Vec<LessonIssue>> {
    let lessons: Vec<String> = course::list(course::folder_of(path)).iter().map(course::CourseFile::id).collect();
    read_with(path, Some(&lessons))
}

fn read_with(path: &Path, lessons: Option<&[String]>) -> Result<Glossary, Vec<LessonIssue>> {
    let file = path.display().to_string();
    let text = read_text(path, &file).map_err(|issue| vec![*issue])?;
    parse(&file, &text, lessons)
}

/// Parses the text of a glossary; `lessons` are the ids that its terms may name, if they are to be checked.
///
/// # Errors
/// The issues, of which there is at least one.
pub fn parse(file_name: &str, text: &str, lessons: Option<&[String]>) -> Result<Glossary, Vec<LessonIssue>> {
    decoded(file_name, text, |node| read_glossary(node, lessons))
}

fn read_glossary(node: Node<'_>, lessons: Option<&[String]>) -> Option<Glossary> {
    let mut glossary = Glossary::default();
    let mut places = 0..;
    let read = |node| read_term(node, &mut glossary.spellings, places.next()?, lessons);
    let terms = record(node, &[NAME], |record| record.take_item("[Term(…), …]", list_of(GLOSSARY_TERMS_MAX, read)))?;
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
    let mut spelling = |node, of| read_spelling(node, spellings, of);
    record(node, &["Term"], |record| {
        fields! { record => Term {
            name: |node| spelling(node, place);
            also: list_of(SPELLINGS_MAX, |node| spelling(node, place)), or Vec::new();
            except: list_of(SPELLINGS_MAX, |node| spelling(node, EVERYDAY)), or Vec::new();
            symbols: list_of(SYMBOLS_MAX, symbol), or Vec::new();
            shape: line, or String::new();
            meaning: meaning;
            lesson: |node| lesson(node, lessons), or String::new();
        } }
    })
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
        // Spellings that differ only in hyphens or capitals are equal.
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

fn meaning(node: Node<'_>) -> Option<LessonText> {
    let meaning = markdown(node)?;
    let problem = if meaning.trim().is_empty() {
        "empty".to_owned()
    } else if meaning.len() > MEANING_BYTES_MAX {
        format!("{} bytes", meaning.len())
    } else {
        return Some(meaning.into());
    };
    let expected = format!("Markdown of 1 to {MEANING_BYTES_MAX} bytes: a sentence or two");
    node.issue(format!("meaning: {problem}")).expected(expected).none()
}

fn lesson(node: Node<'_>, lessons: Option<&[String]>) -> Option<String> {
    let id = id(node)?;
    match lessons {
        Some(lessons) if !lessons.contains(&id) => {
            let problem = format!("no lesson beside the glossary has the id \"{id}\"");
            unknown_name(node, problem, &id, lessons, "the id of a lesson, but there is none beside the glossary")
        }
        _ => Some(id),
    }
}

/// The words of all spellings as a tree, so that a search passes over a text once and looks ahead at most as far as the
/// longest spelling.
#[derive(Clone, Debug, Default)]
pub struct Spellings(SpellingNode);

#[derive(Clone, Debug, Default)]
struct SpellingNode {
    /// The entry whose spelling ends at this node.
    of: Option<usize>,
    next: HashMap<String, SpellingNode>,
}

/// An occurrence of a spelling, as a range of bytes in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermOccurrence {
    pub at: Range<usize>,
    pub of: usize,
}

impl Spellings {
    /// Adds a spelling of the entry `of`. Returns the entry that has the same spelling already, if any.
    ///
    /// # Errors
    /// If the spelling contains anything but words with hyphens or spaces between them, because it would never be
    /// found.
    pub fn add(&mut self, spelling: &str, of: usize) -> Result<Option<usize>, NotWords> {
        let words: Vec<(Range<usize>, String)> = words_at(spelling).collect();
        let (Some((first, _)), Some((last, _))) = (words.first(), words.last()) else { return Err(NotWords) };
        let whole = first.start == 0 && last.end == spelling.len();
        if !whole || words.windows(2).any(|pair| !is_gap(&spelling[pair[0].0.end..pair[1].0.start])) {
            return Err(NotWords);
        }
        let node = words.into_iter().fold(&mut self.0, |node, (_, word)| node.next.entry(word).or_default());
        if node.of.is_none() {
            node.of = Some(of);
            return Ok(None);
        }
        Ok(node.of)
    }

    /// Finds all occurrences in `text`, in order and without overlaps.
    pub fn find(&self, text: &str) -> Vec<TermOccurrence> {
        let words: Vec<(Range<usize>, String)> = words_at(text).collect();
        let mut found = Vec::new();
        let mut from = 0;
        while from < words.len() {
            match self.longest(text, &words[from..]) {
                Some((count, end, of)) => {
                    found.push(TermOccurrence { at: words[from].0.start..end, of });
                    from += count;
                }
                None => from += 1,
            }
        }
        found
    }

    /// Returns the entry whose spelling is the whole of `text`, ignoring punctuation around it.
    pub fn whole(&self, text: &str) -> Option<usize> {
        let words: Vec<(Range<usize>, String)> = words_at(text).collect();
        self.longest(text, &words).filter(|(count, ..)| *count == words.len()).map(|(.., of)| of)
    }

    /// Returns the longest spelling that begins with the first word, as its number of words, its end, and its entry.
    fn longest(&self, text: &str, words: &[(Range<usize>, String)]) -> Option<(usize, usize, usize)> {
        let mut node = &self.0;
        let mut longest = None;
        for (i, (at, word)) in words.iter().enumerate() {
            if i > 0 && !is_gap(&text[words[i - 1].0.end..at.start]) {
                break;
            }
            // In "the query's vector", the term is *query*.
            let owner = word.strip_suffix("'s").and_then(|owner| node.next.get(owner)?.of);
            if let Some(of) = owner {
                let end = text[at.clone()].char_indices().rev().nth(1).map_or(at.end, |(mark, _)| at.start + mark);
                longest = Some((i + 1, end, of));
            }
            let Some(next) = node.next.get(word) else { break };
            node = next;
            if let Some(of) = node.of {
                longest = Some((i + 1, at.end, of));
            }
        }
        longest
    }
}

/// The error for a spelling that contains anything but words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotWords;

/// Returns whether these characters may separate two words of a spelling: spaces or a hyphen.
fn is_gap(between: &str) -> bool {
    matches!(between, "-" | "\u{2010}" | "\u{2011}") || between.chars().all(char::is_whitespace)
}

/// A disagreement between a lesson and its glossary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermIssue {
    /// Id of the cell, or `None` for the lesson as a whole.
    pub cell: Option<String>,
    /// The bold phrase; empty for an issue of the lesson as a whole.
    pub phrase: Arc<str>,
    pub words: String,
}

/// Returns all disagreements between a lesson and its glossary: first those of each cell, then the terms that no text
/// introduces.
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
                    // A phrase that occurs several times in a cell is reported once.
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

/// Bold text outside headings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bold {
    /// The text without its formulas, because in `**key $k$**` the term is *key*.
    words: String,
    formula: String,
}

fn bold(text: &LessonText) -> Vec<Bold> {
    let mut all = Vec::new();
    let (mut depth, mut is_heading) = (0_usize, false);
    let mut open = Bold::default();
    for event in text.events() {
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
            Event::Text(text) | Event::Code(text) if depth > 0 => {
                open.words.extend(text.chars().filter(|c| placed(*c).is_none()));
            }
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
    use crate::lesson::reading::file::begins_as_glossary;

    const TWO: &str = r#"// Terms
        Glossary([
            Term(name: "query", also: ["queries"], symbols: ["q", "Q"], shape: "(T, d_k)", meaning: "What a word looks for.", lesson: "apple"),
            Term(name: "width of a key", symbols: ["d_{k}"], meaning: "How many numbers $q$ has.", lesson: "qkv"),
        ])"#;

    fn issues(text: &str) -> Vec<String> {
        let known = ["apple".to_owned(), "qkv".to_owned()];
        parse("g", text, Some(&known)).expect_err("issues").iter().map(LessonIssue::to_string).collect()
    }

    /// Returns the issues of a term that is valid except for one replaced part.
    fn of_term(part: &str, by: &str) -> Vec<String> {
        let text = r#"Glossary([Term(name: "key", also: [], symbols: [], meaning: "m", lesson: "qkv")])"#;
        assert!(parse("g", text, None).is_ok() && text.contains(part), "{part}");
        issues(&text.replace(part, by))
    }

    #[test]
    fn everyday_phrases_and_tokens_name_no_term() {
        let text = r#"Glossary([
            Term(name: "step", except: ["step by step", "in the step of"], meaning: "m", lesson: "qkv"),
            Term(name: "mask", meaning: "m", lesson: "qkv"),
        ])"#;
        let glossary = parse("g", text, None).expect("no issues");
        let found = |text| glossary.find(text).iter().map(|found| found.at.start).collect::<Vec<_>>();
        assert_eq!(found("It is learned Step by step, and each step is small."), [37]);
        assert_eq!(found("In the step of a walk, the step of training."), [27]);
        assert_eq!(found("[MASK] is not a mask, [a mask] is."), [16, 25]);
        assert_eq!((glossary.whole("step by step"), glossary.whole("step")), (None, Some(0)));
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
        assert_eq!(issues("Glossary([Term(naem: \"a\")])").len(), 2);
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
        assert!(parse("g", r#"Glossary([Term(name: "key", meaning: "m")])"#, None).is_ok(), "a lesson is optional");
        says("also: []", "also: [\"Key\"]", "the spelling \"Key\" appears twice");
        says("also: []", "except: [\"Key\"]", "the spelling \"Key\" appears twice");
        says("also: []", "except: [\"−∞\"]", "cannot be recognised in a text");
        let many: Vec<String> = (0..=GLOSSARY_TERMS_MAX)
            .map(|i| format!("Term(name: \"t{i}\", meaning: \"m\", lesson: \"qkv\")"))
            .collect();
        assert_eq!(issues(&format!("Glossary([{}])", many.join(","))).len(), 1);
    }

    #[track_caller]
    fn check_bold(markdown: &str, expected: &[(&str, &str)]) {
        let found = bold(&markdown.into());
        let found: Vec<(&str, &str)> = found.iter().map(|bold| (&*bold.words, &*bold.formula)).collect();
        assert_eq!(found, expected, "{markdown}");
    }

    #[test]
    fn what_is_bold_outside_of_headings() {
        check_bold("# A **heading**\n\nthe **query** and `**code**`, *not this*", &[("query", "")]);
        check_bold(
            "- a **dot\n  product** of __two__\n\n| a |\n|-|\n| **cell** |",
            &[("dot product", ""), ("two", ""), ("cell", "")],
        );
        check_bold("the **key $k$** and **$d_k$** and **`X`**", &[("key ", "k"), ("", "d_k"), ("X", "")]);
        check_bold("***both*** and **one __in__ one**", &[("both", ""), ("one in one", "")]);
        check_bold("2 ** 3 ** 4, \\*\\*no\\*\\*", &[]);
    }

    fn spellings(all: &[&str]) -> Spellings {
        let mut spellings = Spellings::default();
        for (of, spelling) in all.iter().enumerate() {
            assert_eq!(spellings.add(spelling, of), Ok(None), "{spelling}");
        }
        spellings
    }

    #[track_caller]
    fn check_found(all: &[&str], text: &str, expected: &[(&str, usize)]) {
        let found = spellings(all).find(text);
        let found: Vec<(&str, usize)> = found.iter().map(|found| (&text[found.at.clone()], found.of)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn whole_words_whatever_their_capitals() {
        check_found(&["key"], "A key, KEYS and monkey; Key.", &[("key", 0), ("Key", 0)]);
        check_found(&["key", "keys"], "keys' key", &[("keys", 1), ("key", 0)]);
        check_found(&[], "a key", &[]);
        check_found(&["key"], "", &[]);
    }

    #[test]
    fn the_longest_comes_first_and_none_overlaps() {
        let all = ["attention", "attention weight", "weight", "weight of a head", "self-attention"];
        check_found(&all, "an attention weight of it", &[("attention weight", 1)]);
        check_found(&all, "attention weight of a head", &[("attention weight", 1)]);
        check_found(&all, "the weight of a head, the weight of a", &[("weight of a head", 3), ("weight", 2)]);
        check_found(
            &all,
            "self attention, Self-Attention\nweight",
            &[("self attention", 4), ("Self-Attention", 4), ("weight", 2)],
        );
    }

    #[test]
    fn only_spaces_or_a_hyphen_join_words() {
        let all = ["dot product"];
        check_found(
            &all,
            "dot\u{a0}product dot\n product dot-product",
            &[("dot\u{a0}product", 0), ("dot\n product", 0), ("dot-product", 0)],
        );
        check_found(&all, "dot, product dot. Product dot – product dot/product (dot) product", &[]);
    }

    #[test]
    fn an_owner_is_found_without_its_apostrophe() {
        check_found(&["key", "word"], "the key's word’s KEY'S", &[("key", 0), ("word", 1), ("KEY", 0)]);
        check_found(&["bayes's rule", "bayes"], "Bayes's rule, Bayes's", &[("Bayes's rule", 0), ("Bayes", 1)]);
        check_found(&["don't"], "Don’t 'don't'", &[("Don’t", 0), ("don't", 0)]);
    }

    #[test]
    fn any_language_is_found_where_it_stands() {
        check_found(
            &["größe", "注意", "école normale"],
            "→ Große GRÖSSE Größe, 注意。Ecole E\u{301}COLE  NORMALE",
            &[("Größe", 0), ("注意", 1), ("E\u{301}COLE  NORMALE", 2)],
        );
    }

    #[test]
    fn a_spelling_is_words_and_not_there_yet() {
        let mut spellings = spellings(&["dot product"]);
        assert_eq!(spellings.add("Dot-Product", 7), Ok(Some(0)));
        for none in ["", "−∞", "a, b", "[start]", " key", "key."] {
            assert_eq!(spellings.add(none, 7), Err(NotWords), "{none:?}");
        }
        assert_eq!(spellings.whole("dot product:"), Some(0));
        assert_eq!(spellings.whole("a dot product"), None);
        assert_eq!(spellings.whole("dot product it"), None);
        assert_eq!(spellings.whole("…"), None);
    }

    /// Searches a text of the greatest length, in which each word begins a spelling.
    #[test]
    fn a_long_text_is_gone_over_once() {
        let spellings = spellings(&["a a a a a b", "a"]);
        let text = "a ".repeat(32 * 1024);
        let start = std::time::Instant::now();
        assert_eq!(spellings.find(&text).len(), 32 * 1024);
        assert!(start.elapsed().as_secs() < 2);
    }
}
