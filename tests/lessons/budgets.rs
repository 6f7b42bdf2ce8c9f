//! No lesson keeps the program busy for minutes: what would is an issue, and issues are found fast and stay short.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::common::lessons::issues;

/// A lesson of two words; `model` and `claims` are fields of these, the corpus is whole.
fn lesson(corpus: &str, model: &str, claims: &str) -> String {
    format!(
        "Lesson(id: \"x\", title: \"X\", seed: 1, corpus: {corpus},\n\
         static_embedding: Given({{\"one\": [1, 2], \"two\": [2, 1]}}),\n\
         model: Attention(heads: 1, {model}),\n\
         sentences: [\"one two\"],\n\
         claims: [{claims}])"
    )
}

const TWO: &str = r#"Sentences({"a": ["one two"], "b": ["two one"]})"#;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(issues(text), expected, "{text}");
}

#[test]
fn claims_have_a_budget() {
    let drawn = r#"Corpus(sentences: 100000, topics: {"a": ["one two one two one two one two one two one two one two one two"], "b": ["two one"]})"#;
    let large = "layers: 8, feed_forward: 1024, steps: 0, objective: Label, max_tokens: 16";
    let accuracy = r#"Claim(id: "l", says: "s", fact: LabelAccuracy, expect: AtLeast(0))"#;
    check(&lesson(drawn, large, ""), "no issues");
    check(
        &lesson(drawn, large, accuracy),
        "a.ron:5:9: claims: measuring them takes as long as 6.6e10 multiplications; expected at most 5e10: \
         fewer or shorter sentences, fewer claims, or a smaller model",
    );
    // What is measured once counts once, whoever claims it.
    let drawn = drawn.replace("100000", "70000");
    let again: String = (0..50).map(|i| accuracy.replace("\"l\"", &format!("\"l{i}\"")) + ",").collect();
    check(&lesson(&drawn, large, &again), "no issues");
}

#[test]
fn writing_word_by_word_has_a_budget() {
    let sentence = "one two ".repeat(32);
    let list = format!("sentences: [{}]", format!("\"{sentence}\",").repeat(200));
    let text = |claims: &str| {
        lesson(TWO, "layers: 8, key_width: 64, steps: 0, max_tokens: 64, objective: Sequence", claims)
            .replace("sentences: [\"one two\"]", &list)
    };
    let alignment = |id| format!(r#"Claim(id: "{id}", says: "s", fact: Alignment(head: {id}), expect: AtLeast(0)),"#);
    check(&text(&[9, 11, 13, 15].map(alignment).concat()), "no issues");
    let found = issues(&text(r#"Claim(id: "s", says: "s", fact: SequenceAccuracy, expect: AtLeast(0))"#));
    assert!(found.contains("claims: measuring them takes as long as "), "{found}");
}

/// The multiplications of a model of single numbers are few; what comes besides is not.
#[test]
fn small_models_have_a_budget() {
    for (model, steps) in [
        ("objective: NextWord, max_tokens: 2, bias: false", 70_000),
        ("objective: NextWord, max_tokens: 2, layers: 8, norm: Pre, feed_forward: 1", 2000),
        ("objective: Sequence, max_tokens: 2, layers: 8, norm: Post, feed_forward: 1", 500),
    ] {
        let text =
            |steps| lesson(TWO, &format!("key_width: 1, value_width: 1, batch: 4096, steps: {steps}, {model}"), "");
        let found = issues(&text(steps));
        let long = "a.ron:3:8: model: the training takes as long as ";
        assert!(found.starts_with(long) && !found.contains('\n'), "{model}: {found}");
        check(&text(50), "no issues");
    }
}

#[test]
fn many_long_wrong_words_are_reported_soon() {
    let mut words = String::new();
    (0..15_000).for_each(|i| write!(words, "\"wordnumberwithmanychars{i:017}\",").expect("a string"));
    let wrong: Vec<String> = (0..60).map(|i| format!("wordnumberwithmanyyhars{i:017}")).collect();
    let text = lesson(
        r#"Corpus(sentences: 10, slots: {"s": [WORDS]}, topics: {"a": ["{s} {s}"]})"#,
        "objective: NextWord, max_tokens: 64",
        "",
    )
    .replace("WORDS", &words)
    .replace("Given({\"one\": [1, 2], \"two\": [2, 1]})", "SkipGram(dim: 2, epochs: 1)")
    .replace("one two", &wrong.join(" "));
    let start = Instant::now();
    let found = issues(&text);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!(found.matches("did you mean \"wordnumberwithmanychars").count(), 60, "{found}");
}

#[test]
fn many_senses_of_many_templates_are_read_soon() {
    let names: Vec<String> = (0..32).map(|i| format!("g{i}")).collect();
    let groups: String = names.iter().map(|name| format!("\"{name}\": [\"{name}w\"],")).collect();
    let shares: String = names.iter().map(|name| format!("\"{name}\": 0.03125,")).collect();
    let slots: String = names.iter().map(|name| format!("{{{name}}} ")).collect();
    let template = format!("\"{slots}{}\",", " ".repeat(3500));
    let ambiguous: String =
        (0..16).map(|i| format!("Ambiguous(word: \"m{i}\", rate: 0.01, shares: {{{shares}}}),")).collect();
    let text = format!(
        "Lesson(id: \"x\", title: \"X\", seed: 1, groups: {{{groups}}}, corpus: Corpus(sentences: 10, \
         topics: {{\"a\": [{}], \"b\": [{}]}}, ambiguous: [{ambiguous}]), static_embedding: SkipGram(dim: 2, epochs: 1), \
         model: Attention(heads: 1, objective: NextWord, max_tokens: 32, steps: 0), sentences: [\"g0w\"])",
        template.repeat(200),
        template.repeat(200),
    );
    let start = Instant::now();
    check(&text, "no issues");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}
