//! Every mistake in a lesson file is reported, each with its place and in words that help.

mod files;
mod hostile;

use attune_core::lesson::limits::ISSUES_MAX;
use attune_core::lesson::parse;

use crate::common::lessons::{NOTEBOOK, edited, issues};
use crate::common::snapshots::{assert_catalogue, written_out};

/// A small lesson without issues; each case changes one piece of it.
const GOOD: &str = r##"// One word, two meanings.
Lesson(
    id: "apple", title: "One word, two meanings", seed: 7,
    groups: {
        "fruit": ["banana", "orange"],
        "company": ["google", "microsoft"],
    },
    corpus: Corpus(
        sentences: 1200,
        slots: { "eat": ["ate", "eats"] },
        topics: {
            "food": ["she {eat} a {fruit} after lunch", "the {fruit} was sweet"],
            "trade": ["{company} sold a phone"],
        },
        ambiguous: [Ambiguous(word: "apple", rate: 0.3, shares: { "fruit": 0.8, "company": 0.2 })],
        join: Join(share: 0.25, words: ["while"]),
    ),
    static_embedding: SkipGram(dim: 16),
    model: Attention(heads: 2, objective: MaskedWord(rate: 0.3), max_tokens: 24),
    sentences: ["apple sold a phone while she ate an apple"],
    probes: [
        Probe(sentence: "the apple was sweet", word: "apple", sense: "fruit"),
        Probe(sentence: "Apple sold a phone", word: "apple", sense: "company"),
    ],
    cells: [
        Text(id: "intro", md: r#"# One word"#),
        Stage(id: "move", caption: "Two apples", sentence: 0, words: ["apple"], time: 1.0),
    ],
    claims: [
        Claim(id: "senses", says: "Context tells them apart", fact: SenseAccuracy(Contextual), expect: AtLeast(0.95)),
        Claim(id: "mix", says: "In between", fact: Mixture(word: "apple", of: "fruit", against: "company"), expect: Within(value: 0.8, tolerance: 0.2)),
    ],
)
"##;

/// Sentences that stand in the lesson, by topic; a label for each.
const SMALL: &str = r#"Lesson(
    id: "a", title: "A", seed: 1,
    corpus: Sentences({ "hate": ["not like", "do hate"], "like": ["do like", "not hate"] }),
    static_embedding: SkipGram(dim: 4, epochs: 1),
    model: Attention(heads: 2, objective: Label, max_tokens: 4),
    sentences: ["not like"],
    claims: [Claim(id: "x", says: "x", fact: LabelAccuracy, expect: AtLeast(0.0))],
)
"#;

/// Two words, each with a vector.
const TWO: &str = r#"Lesson(id: "x", title: "X", seed: 1, corpus: Sentences({"a": ["one two"], "b": ["two one"]}),
static_embedding: Given({"one": [1, 2], "two": [2, 1]}),
model: Attention(heads: 1, objective: NextWord, max_tokens: 8),
sentences: ["one two"])"#;

/// A vector for each word of the good lesson, and for one more.
const GIVEN: &str = r#"Given({ "she": [0.1, 1], "ate": [0, 1.5], "eats": [0, 0], "a": [1, 1], "an": [1, 1], "banana": [2, -1],
        "orange": [2, -2], "after": [0, 1e-3], "lunch": [3, 3], "the": [1, 0], "was": [0, 1], "sweet": [2, 1], "sold": [4, 4],
        "google": [-1, 2], "microsoft": [-1, 3], "phone": [-2, 2], "apple": [1, 2], "while": [0, 2], "pear": [2, -3] })"#;

/// The lesson that the cases of a heading change.
fn base(name: &str) -> String {
    match name {
        "good" => GOOD.to_owned(),
        "given" => edited(GOOD, &[("SkipGram(dim: 16)", GIVEN)]),
        "small" => SMALL.to_owned(),
        "two" => TWO.to_owned(),
        "translation" => include_str!("../../fixtures/forms/translation.ron").to_owned(),
        other => panic!("there is no lesson {other}"),
    }
}

/// The lesson of a case: the base of its heading with all changes, each of a piece that stands in it once.
fn changed(base: &str, changes: &str) -> String {
    changes.split(" && ").fold(base.to_owned(), |text, change| {
        let (from, to) = change.split_once(" =>").unwrap_or_else(|| panic!("no change: {change}"));
        let (from, to) = (written_out(from), written_out(to.strip_prefix(' ').unwrap_or(to)));
        assert_eq!(text.matches(&from).count(), 1, "{from} must stand once in the lesson");
        text.replacen(&from, &to, 1)
    })
}

/// The issues of the lesson of a case.
fn answer(heading: &str, case: &str) -> String {
    let (title, pattern) = heading.split_once(" | ").unwrap_or((heading, "…"));
    let (name, _) = title.split_once(": ").expect("the name of a lesson");
    let (name, is_with_line) = name.strip_suffix(", with its line").map_or((name, false), |name| (name, true));
    let text = changed(&base(name), &pattern.replace('…', case));
    if is_with_line { format!("{:#}", parse("a.ron", &text).expect_err("a bad lesson")[0]) } else { issues(&text) }
}

#[test]
fn every_mistake_is_said_at_its_place_and_in_words_that_help() {
    assert_catalogue("tests/lessons/issues.txt", answer);
}

/// The line ends of Windows and a byte order mark change nothing.
#[test]
fn the_good_lesson_has_no_issues() {
    assert_eq!(issues(GOOD), "no issues");
    assert_eq!(issues(&format!("\u{feff}{}", GOOD.replace('\n', "\r\n"))), "no issues");
}

/// Words of a given table are words of the lesson, whether the corpus has them or not.
#[test]
fn a_sentence_may_use_any_given_word() {
    let good = edited(&base("given"), &[("she ate an apple", "she ate an pear")]);
    let lesson = parse("a.ron", &good).expect("no issues");
    assert_eq!(lesson.static_embedding.dim(), 2);
    assert_eq!(lesson.vocabulary().last().map(String::as_str), Some("pear"));
}

#[test]
fn offending_text_is_kept_short_and_printable() {
    let text = edited(GOOD, &[("seed: 7", &format!("seed: \"\u{1b}[31m{}\"", "x".repeat(10_000)))]);
    let issues = parse("a.ron", &text).expect_err("a bad lesson");
    assert_eq!(issues[0].found.chars().count(), 66, "60, and the escape in place of one character");
    assert!(!format!("{:#}", issues[0]).contains('\u{1b}'));
}

/// The language quotes what it stumbles over.
#[test]
fn code_that_cannot_be_read_steers_no_terminal() {
    for c in ['\u{1b}', '\0', '\u{7}'] {
        let text = edited(NOTEBOOK, &[(r#"src: "E @ E""#, &format!("src: \"a = {c}[31m\""))]);
        let issues = parse("a.ron", &text).expect_err("a bad lesson");
        let said = format!("{issues:#?} {}", issues[0]);
        assert!(issues[0].place.is_some() && issues[0].to_string().contains(&c.escape_default().to_string()), "{said}");
        assert!(!format!("{:#}", issues[0]).contains(c), "{said}");
    }
}

#[test]
fn issues_beyond_the_limit_are_counted() {
    let with = |words: usize, probes: usize| {
        let (words, probes) = (format!("words: [{}]", "7,".repeat(words)), format!("probes: [{}", "8,".repeat(probes)));
        let text = edited(GOOD, &[("words: [\"apple\"]", &words), ("probes: [", &probes)]);
        let issues = parse("a.ron", &text).expect_err("a bad lesson");
        assert_eq!(issues.len(), ISSUES_MAX + 1);
        (issues[ISSUES_MAX].to_string(), issues[ISSUES_MAX].place)
    };
    let (said, place) = with(64, 100);
    assert!(place.is_some() && said.ends_with(": … and 64 more issues"), "{said}");
    let (said, place) = with(1, 100);
    assert!(place.is_some() && said.ends_with(": … and 1 more issue"), "{said}");
}
