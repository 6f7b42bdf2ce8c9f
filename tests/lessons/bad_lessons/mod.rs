//! Every mistake in a lesson file is reported, each with its place and in words that help.

mod corpus;
mod embedding;
mod files;
mod hostile;
mod model;
mod notebook;
mod syntax;

use std::iter;

use attune_core::lesson::limits::ISSUES_MAX;
use attune_core::lesson::parse;

use crate::common::lessons::{NOTEBOOK, issues};

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

/// Changes one piece of the good lesson and compares all issues, one on a line.
#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert_eq!(GOOD.matches(from).count(), 1, "{from} must stand once in the good lesson");
    assert_eq!(issues(&GOOD.replacen(from, to, 1)), expected, "{from} => {to}");
}

/// The cases of a table: each is a line, with all its issues below it, one on a line.
fn cases(table: &str) -> Vec<(&str, String)> {
    let is_issue = |line: &&str| *line == "no issues" || line.starts_with("a.ron:");
    let mut lines = table.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let mut cases = Vec::new();
    while let Some(case) = lines.next() {
        let issues: Vec<&str> = iter::from_fn(|| lines.next_if(is_issue)).collect();
        cases.push((case, issues.join("\n")));
    }
    assert!(!cases.is_empty(), "a table without a case");
    cases
}

/// Checks a table of changes of the good lesson, `piece => another`.
#[track_caller]
fn check_all(table: &str) {
    for (change, issues) in cases(table) {
        let (from, to) = change.split_once(" =>").unwrap_or_else(|| panic!("no change: {change}"));
        check(from, to.trim_start(), &issues);
    }
}

#[test]
fn the_good_lesson_has_no_issues() {
    assert_eq!(issues(GOOD), "no issues");
    // A byte order mark and the line ends of Windows change nothing.
    assert_eq!(issues(&format!("\u{feff}{}", GOOD.replace('\n', "\r\n"))), "no issues");
}

#[test]
fn every_mistake_is_reported_at_once_and_in_order() {
    let text = GOOD
        .replace("seed: 7", "seed: 7.5")
        .replace("\"orange\"", "\"orange\", 3")
        .replace("heads: 2", "head: 2")
        .replace("time: 1.0", "time: 2")
        .replace("sense: \"company\"", "sense: \"companies\"")
        .replace("AtLeast(0.95)", "Atleast(0.95)");
    assert_eq!(
        issues(&text),
        r#"a.ron:3:57: seed: found the number 7.5; expected a whole number from 0 to 18446744073709551615
a.ron:5:39: groups: found the number 3; expected text in double quotes
a.ron:19:22: unknown field "head" in Attention; expected objective, layers, heads, key_value_heads, key_width, value_width, projections, output, bias, output_bias, query_key_norm, scale, score_divisor, score_cap, temperature, mask, window, residual, norm, attention_norm, output_norms, branches, feed_forward, activation, gated, feed_forward_bias, norm_kind, norm_gain_from_one, norm_shift, norm_epsilon, positions, max_tokens, embedding_norm, final_norm, train_embedding, readout_bias, embedding_scale, logit_cap, readout, pool, arrive, keep, weights, steps, batch, learning_rate, weight_decay, optimiser or stop; did you mean "heads"?
a.ron:23:69: sense: unknown group "companies"; expected "fruit" or "company"; did you mean "company"?
a.ron:27:87: time: found the number 2; expected a number from 0 to 1
a.ron:30:104: expect: unknown name Atleast; expected AtLeast, AtMost or Within; did you mean "AtLeast"? Capitals matter here"#
    );
}

#[test]
fn an_issue_shows_its_line() {
    let check = |text: &str, expected: &str| {
        let issues = parse("a.ron", text).expect_err("a bad lesson");
        assert_eq!(format!("{:#}", issues[0]), expected);
    };
    check(
        &GOOD.replace("sold a phone while", "sold ä\tfone while"),
        r#"a.ron:20:29: sentences: word "ä" never occurs in the corpus; did you mean "a"?
  20 | sentences: ["apple sold ä fone while she ate an apple"],
     |                         ^"#,
    );
    check(
        &GOOD.replace("\"One word, two meanings\", seed", &format!("\"{}\", sed", "word ".repeat(50))),
        &format!(
            "a.ron:3:279: unknown field \"sed\" in Lesson; expected id, title, summary, number, minutes, builds_on, chapter, seed, groups, \
             static_embedding, model, switches, corpus, axes, sentences, probes, panels, cells or claims; did you mean \"seed\"?\n  \
             3 | {}\", sed: 7,\n    | {}^^^",
            &"word ".repeat(50)[250 - 47..],
            " ".repeat(50)
        ),
    );
}

#[test]
fn offending_text_is_kept_short_and_printable() {
    let text = GOOD.replace("seed: 7", &format!("seed: \"\u{1b}[31m{}\"", "x".repeat(10_000)));
    let issues = parse("a.ron", &text).expect_err("a bad lesson");
    assert_eq!(issues[0].found.chars().count(), 66, "60, and the escape in place of one character");
    assert!(!format!("{:#}", issues[0]).contains('\u{1b}'));
}

/// The language quotes what it stumbles over.
#[test]
fn code_that_cannot_be_read_steers_no_terminal() {
    for c in ['\u{1b}', '\0', '\u{7}'] {
        let text = NOTEBOOK.replacen(r#"src: "E @ E""#, &format!("src: \"a = {c}[31m\""), 1);
        let issues = parse("a.ron", &text).expect_err("a bad lesson");
        let said = format!("{issues:#?} {}", issues[0]);
        assert!(issues[0].place.is_some() && issues[0].to_string().contains(&c.escape_default().to_string()), "{said}");
        assert!(!format!("{:#}", issues[0]).contains(c), "{said}");
    }
}

#[test]
fn issues_beyond_the_limit_are_counted() {
    let with = |words: usize, probes: usize| {
        let text = GOOD.replace("words: [\"apple\"]", &format!("words: [{}]", "7,".repeat(words)));
        let text = text.replace("probes: [", &format!("probes: [{}", "8,".repeat(probes)));
        let issues = parse("a.ron", &text).expect_err("a bad lesson");
        assert_eq!(issues.len(), ISSUES_MAX + 1);
        (issues[ISSUES_MAX].to_string(), issues[ISSUES_MAX].place)
    };
    let (said, place) = with(64, 100);
    assert!(place.is_some() && said.ends_with(": … and 64 more issues"), "{said}");
    let (said, place) = with(1, 100);
    assert!(place.is_some() && said.ends_with(": … and 1 more issue"), "{said}");
}
