//! Groups, templates, and sentences that stand in the lesson.

use super::{SMALL, cases, check, check_all, issues};

#[test]
fn groups_and_corpus() {
    check(
        "she {eat}",
        &format!("she {{eat}}{}", "!".repeat(5000)),
        "a.ron:12:22: topics: a template of 5031 bytes; expected at most 4096",
    );
    check_all(
        r#"
        "orange" => "orange", "orange"
            a.ron:5:39: groups: word "orange" appears twice
        "orange" => "google"
            a.ron:6:21: groups: word "google" is in "fruit" and in "company"; expected one group per word; a word with several senses is `ambiguous`
        "orange" => "orange juice"
            a.ron:5:29: groups: "orange juice" is not one word; expected one word of at most 40 characters
        "orange" => ""
            a.ron:5:29: groups: "" is not one word; expected one word of at most 40 characters
        ["google", "microsoft"] => []
            a.ron:6:20: groups: no words; expected at least one word
        "company": ["google" => "fruit": ["google"
            a.ron:6:9: groups: "fruit" appears twice
        "company": ["google" => "": ["google"
            a.ron:6:9: groups: name ""; expected letters, digits, _ and -
        "orange"], => "orange"], "colour": ["red"],
            a.ron:5:51: groups: word "red" never occurs in the corpus; expected a template with {colour} or with the word
        sentences: 1200 => sentences: 0
            a.ron:9:20: sentences: found the number 0; expected a whole number from 1 to 100000
    "#,
    );
    for sentences in [r#"Sentences(["one two"])"#, r#"["one two"]"#, r#"{"a": ["one two"]}"#] {
        check(
            "sentences: 1200",
            &format!("sentences: {sentences}"),
            "a.ron:9:20: sentences: the sentences themselves; expected the number of sentences to draw, or corpus: Sentences(…) without Corpus",
        );
    }
    check_all(
        r#"
        sentences: 1200 => sentences: 1000000
            a.ron:9:20: sentences: found the number 1000000; expected a whole number from 1 to 100000
        "eat": [ => "fruit": [
            a.ron:10:18: slots: "fruit" is a group already; expected another name
            a.ron:12:27: topics: unknown slot {eat}; expected a name from slots or groups
        she {eat} => she {eats}
            a.ron:12:27: topics: unknown slot {eats}; expected a name from slots or groups; did you mean "eat"?
        she {eat} => she {eat
            a.ron:12:27: topics: a { that is not closed; expected {slot}
        she {eat} => she eat}
            a.ron:12:23: topics: a } without a { before it; expected {slot}
        she {eat} => she {eat}s
            a.ron:12:27: topics: {eat} touches other letters; expected spaces around a slot, because it is one whole word
        she {eat} => she {}
            a.ron:12:27: topics: a slot without a name; expected {slot}
        "{company} sold a phone" => "phone"
            a.ron:13:23: topics: a template with fewer than 2 words; expected at least 2, because a word learns from its neighbours
        max_tokens: 24 => max_tokens: 5
            a.ron:12:22: topics: a template of 6 words; expected at most max_tokens: 5
            a.ron:20:17: sentences: a sentence of 9 words; expected at most max_tokens: 5
        max_tokens: 24 => max_tokens: 10
            a.ron:16:15: join: two clauses and a word between them can have 11 words; expected at most max_tokens: 10
        max_tokens: 24 => max_tokens: 65
            a.ron:19:78: max_tokens: found the number 65; expected a whole number from 2 to 64
        word: "apple", rate => word: "banana", rate
            a.ron:15:37: word: the ambiguous word "banana" is in group "fruit" too; expected a word in no group
        rate: 0.3, shares => rate: 0.7, shares
            a.ron:15:21: ambiguous: {fruit} would be "apple" with probability 1.12; expected at most 1; lower the rate
        rate: 0.3, shares => rate: NaN, shares
            a.ron:15:52: rate: found the number NaN; expected a number between 0 and 1
        "company": 0.2 => "company": 0.3
            a.ron:15:65: shares: they sum to 1.100; expected a sum of 1
        "company": 0.2 => "compony": 0.2
            a.ron:15:81: shares: unknown group "compony"; expected "fruit" or "company"; did you mean "company"?
        share: 0.25 => share: 25
            a.ron:16:27: share: found the number 25; expected a number from 0 to 1
    "#,
    );
}

#[test]
fn words_that_are_repeated() {
    let small =
        |corpus: &str| SMALL.replacen(TOPICS, corpus, 1).replacen("Label, max_tokens: 4", "NextWord, max_tokens: 8", 1);
    let small = |corpus: &str| small(corpus).replacen("LabelAccuracy", "FinalLoss", 1);
    let check = |corpus: &str, expected: &str| assert_eq!(issues(&small(corpus)), expected, "{corpus}");
    let table = r#"
        Repeats(WORDS, shortest: 2, longest: 4, sentences: 9)
            no issues
        Repeats(WORDS, shortest: 2, longest: 5, sentences: 9)
            a.ron:3:87: longest: found the number 5; expected a whole number from 1 to 4
        Repeats(words: ["not", "like", "do"], shortest: 2, longest: 4, sentences: 9)
            a.ron:3:73: longest: found the number 4; expected a whole number from 1 to 3
        Repeats(WORDS, shortest: 4, longest: 3, sentences: 9)
            a.ron:3:75: shortest: found the number 4; expected a whole number from 1 to 3
        Repeats(words: ["not", "like", "not"], shortest: 2, longest: 2, sentences: 9)
            a.ron:3:44: words: word "not" appears twice
    "#;
    for (corpus, issues) in cases(&table.replace("WORDS", r#"words: ["not", "like", "do", "hate", "it"]"#)) {
        check(corpus, &issues);
    }
}

/// The corpus of the small lesson.
const TOPICS: &str = r#"Sentences({ "hate": ["not like", "do hate"], "like": ["do like", "not hate"] })"#;

/// Changes some pieces of the small lesson.
#[track_caller]
fn check_small(changes: &[(&str, &str)], expected: &str) {
    let mut text = SMALL.to_owned();
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "{from} must stand once in the small lesson");
        text = text.replacen(from, to, 1);
    }
    assert_eq!(issues(&text), expected, "{changes:?}");
}

#[test]
fn sentences_that_stand_in_the_lesson() {
    check_small(&[], "no issues");
    let table = r#"
        TOPICS => Sentences([])
            a.ron:3:23: corpus: found a list; expected at least one sentence
        TOPICS => Sentences({})
            a.ron:3:23: corpus: found a map; expected at least one topic
        TOPICS => Sentences(["she {eat} a fruit", "apple"])
            a.ron:3:29: topics: unknown slot {eat}; expected words only; slots belong in Corpus(…)
            a.ron:3:45: corpus: a sentence with fewer than 2 words; expected at least 2, because a word learns from its neighbours
        TOPICS => Sentences({ "food": ["she ate"], "trade": 3 })
            a.ron:3:55: corpus: found the number 3; expected a list, such as [ … ]
        TOPICS => Sentences("she ate")
            a.ron:3:23: corpus: found the text "she ate"; expected a list, such as [ … ]
        TOPICS => Sentences(sentences: 3)
            a.ron:3:13: corpus: found Sentences(sentences: 3); expected Sentences(a list, or a map of topics with lists)
        TOPICS => Sentences(["not like", "do hate"])
            a.ron:5:43: Label names the topic of a sentence, but the corpus has 1; expected at least 2 topics
        TOPICS => Sentences(["not like it at all"])
            a.ron:3:24: corpus: a sentence of 5 words; expected at most max_tokens: 4
        LabelAccuracy => LabelAccuracy(on: { "not hate": "lik", "not lik": "like", "do": 3 })
            a.ron:7:78: on: no topic is called "lik"; expected "hate" or "like"; did you mean "like"?
            a.ron:7:90: on: word "lik" never occurs in the corpus; did you mean "like"?
            a.ron:7:110: on: found the number 3; expected text in double quotes
        LabelAccuracy => LabelAccuracy(on: {})
            a.ron:7:64: on: no sentences; expected sentences with their labels
        LabelAccuracy => Says(sentence: "not like", answer: "not")
            a.ron:7:81: answer: no topic is called "not"; expected "hate" or "like"
        LabelAccuracy => Alignment(head: 1)
            a.ron:7:46: Alignment with the objective Label; expected the objective Sequence(…)
        Label, => Sequence,
            a.ron:7:46: LabelAccuracy with the objective Sequence; expected the objective Label
        Label, => Sequence, && LabelAccuracy => Alignment(head: 1)
            a.ron:7:62: head: 1 does not look at the source; expected 4 or 5
        Label, => Sequence, && LabelAccuracy => Alignment(head: 6)
            a.ron:7:62: head: found the number 6; expected a whole number from 0 to 5
        Label, => Sequence, && LabelAccuracy => Alignment(head: 5)
            no issues
        Label, => Sequence, && LabelAccuracy => SequenceAccuracy
            no issues
        max_tokens: 4 => max_tokens: 4, steps: 0 && LabelAccuracy => FinalLoss
            a.ron:7:46: FinalLoss of a model that is not trained; expected steps above 0
    "#;
    for (changes, issues) in cases(&table.replace("TOPICS", TOPICS)) {
        let changes = changes.split(" && ").map(|change| change.split_once(" => ").expect("a change"));
        check_small(&changes.collect::<Vec<_>>(), &issues);
    }
    let wide = [
        ("dim: 4", "dim: 256"),
        ("heads: 2", "heads: 16, layers: 8, steps: 1, batch: 1"),
        ("max_tokens: 4", "max_tokens: 64"),
    ];
    // What is shown of a sentence grows with its heads and keys, not with all pairs of words in all dimensions.
    check_small(&wide, "no issues");
}

#[test]
fn axes() {
    let axes = |axes: &str| format!("}},\n    axes: [{axes}],\n    corpus: Corpus(");
    let check = |written: &str, issue: &str| check("},\n    corpus: Corpus(", &axes(written), issue);
    for (written, issues) in cases(
        r#"
        Axis(from: "fruits", to: "company")
            a.ron:8:24: from: "fruits" is neither a group nor a word of the corpus; expected a group, or words separated by commas; did you mean "fruit"?
        Axis(from: "fruit", to: "phone, sweat")
            a.ron:8:44: to: "sweat" is neither a group nor a word of the corpus; expected a group, or words separated by commas; did you mean "sweet"?
        Axis(from: "fruit", to: "fruit")
            a.ron:8:12: an axis from "fruit" to itself; expected two ends
        Axis(from: ",", to: "fruit")
            a.ron:8:23: from: no word; expected a group, or words separated by commas
    "#,
    ) {
        check(written, &issues);
    }
    // One line, whichever way it runs.
    for again in [r#"Axis(from: "fruit", to: "apple")"#, r#"Axis(from: "apple", to: "fruit")"#] {
        let (from, to) = if again.contains(r#"to: "apple""#) { ("fruit", "apple") } else { ("apple", "fruit") };
        check(
            &format!(r#"Axis(from: "fruit", to: "apple"), {again}"#),
            &format!("a.ron:8:46: axes: an axis of \"{from}\" and \"{to}\" appears twice"),
        );
    }
    let four = [r#"Axis(from: "fruit", to: "apple")"#; 4].join(", ");
    check(&four, "a.ron:8:11: axes: 4 entries; expected at most 3");
}

#[test]
fn lessons_before_this_one() {
    let built_on = |ids: &str| format!("seed: 7, builds_on: [{ids}],");
    check("seed: 7,", &built_on(r#""words", "bank""#), "no issues");
    check(
        "seed: 7,",
        &built_on(r#""apple""#),
        "a.ron:3:72: builds_on: the lesson itself; expected lessons that come before this one",
    );
    check("seed: 7,", &built_on(r#""words", "words""#), "a.ron:3:81: builds_on: \"words\" appears twice");
}

#[test]
fn capitals_that_matter() {
    check(
        r#"of: "fruit""#,
        r#"of: "FRUIT""#,
        r#"a.ron:31:79: of: unknown group "FRUIT"; expected "fruit" or "company"; did you mean "fruit"? Capitals matter here"#,
    );
}
