//! Every mistake in a lesson file is reported, each with its place and in words that help.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use attune::lesson::limits::{ISSUES_MAX, LESSON_BYTES_MAX};
use attune::lesson::{LessonIssue, parse, read};

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

fn issues(text: &str) -> String {
    match parse("a.ron", text) {
        Ok(_) => "no issues".to_owned(),
        Err(issues) => issues.iter().map(LessonIssue::to_string).collect::<Vec<_>>().join("\n"),
    }
}

/// Changes one piece of the good lesson and compares all issues, one on a line.
#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert_eq!(GOOD.matches(from).count(), 1, "{from} must stand once in the good lesson");
    assert_eq!(issues(&GOOD.replacen(from, to, 1)), expected, "{from} => {to}");
}

#[test]
fn the_good_lesson_has_no_issues() {
    assert_eq!(issues(GOOD), "no issues");
    // A byte order mark and the line ends of Windows change nothing.
    assert_eq!(issues(&format!("\u{feff}{}", GOOD.replace('\n', "\r\n"))), "no issues");
}

#[test]
fn broken_ron() {
    check(
        "seed: 7,",
        "seed: 7",
        "a.ron:4:5: cannot be read as RON: found groups:; expected a comma between two values",
    );
    check(
        r#"title: "One"#,
        "title: 'One",
        "a.ron:3:27: cannot be read as RON: found ne; expected text in double quotes; single quotes hold one character",
    );
    check(
        "    ),\n    static",
        "    \n    static",
        "a.ron:8:19: cannot be read as RON: this ( is not closed; expected a matching )",
    );
    check(
        "tolerance: 0.2))",
        "tolerance: 0.2)",
        "a.ron:31:14: cannot be read as RON: this ( is not closed; expected a matching )",
    );
    check(
        "// One",
        "/* One",
        "a.ron:34:1: cannot be read as RON: the file ends here; expected */ at the end of the comment",
    );
    check(
        r##"r#"# One word"#"##,
        r##"r#"# One word""##,
        "a.ron:26:34: cannot be read as RON: found #; expected a closing double quote",
    );
    check(
        "Two apples",
        r"Two \q apples",
        r##"a.ron:27:43: cannot be read as RON: found apples",; expected one of the escapes \n, \t, \", \\ or \u{…}; or a raw text r#"…"#"##,
    );
    check(
        "Lesson(\n",
        "#![enable(implicit_some)]\nLesson(\n",
        "a.ron:2:1: RON extensions are not supported; expected Lesson(…) at once",
    );
    check("Lesson(\n", "Leson(\n", r#"a.ron:2:1: unknown name Leson; expected Lesson(…); did you mean "Lesson"?"#);
    check("Lesson(\n", "(\n", "no issues");
    check(
        "Lesson(\n",
        "3 Lesson(\n",
        "a.ron:2:3: cannot be read as RON: found Lesson(; expected the end of the file after the lesson",
    );
}

#[test]
fn fields() {
    check(
        "sentences: [",
        "sentenses: [",
        r#"a.ron:20:5: unknown field "sentenses" in Lesson; expected id, title, seed, groups, static_embedding, model, corpus, sentences, probes, cells or claims; did you mean "sentences"?"#,
    );
    check(
        "seed: 7",
        "seed: 7, colour: true",
        r#"a.ron:3:60: unknown field "colour" in Lesson; expected id, title, seed, groups, static_embedding, model, corpus, sentences, probes, cells or claims"#,
    );
    check("seed: 7", "seed: 7, seed: 8", r#"a.ron:3:60: field "seed" stands twice in Lesson"#);
    check("seed: 7,", "", r#"a.ron:2:1: missing field "seed" in Lesson"#);
    check(
        "seed: 7",
        "seed: -1",
        "a.ron:3:57: seed: found the number -1; expected a whole number from 0 to 18446744073709551615",
    );
    check(
        "seed: 7",
        "seed: 7.5",
        "a.ron:3:57: seed: found the number 7.5; expected a whole number from 0 to 18446744073709551615",
    );
    check(
        "seed: 7",
        "seed: 99999999999999999999999",
        "a.ron:3:57: seed: found the number 99999999999999999999999; expected a whole number from 0 to 18446744073709551615",
    );
    check(
        "seed: 7",
        r#"seed: "seven""#,
        r#"a.ron:3:57: seed: found the text "seven"; expected a whole number from 0 to 18446744073709551615"#,
    );
    check(
        r#"id: "apple""#,
        r#"id: "../apple""#,
        r#"a.ron:3:9: id "../apple"; expected 1 to 64 of the characters a-z, 0-9, - and _"#,
    );
    check(
        r#"id: "apple""#,
        r#"id: """#,
        "a.ron:3:9: an empty id; expected 1 to 64 of the characters a-z, 0-9, - and _",
    );
    check(
        r#"title: "One word, two meanings""#,
        r#"title: " ""#,
        "a.ron:3:25: title: empty; expected one line of 1 to 500 characters",
    );
}

#[test]
fn groups_and_corpus() {
    check(
        "she {eat}",
        &format!("she {{eat}}{}", "!".repeat(5000)),
        "a.ron:12:22: topics: a template of 5031 bytes; expected at most 4096",
    );
    check(r#""orange""#, r#""orange", "orange""#, r#"a.ron:5:39: groups: word "orange" stands twice"#);
    check(
        r#""orange""#,
        r#""google""#,
        r#"a.ron:6:21: groups: word "google" is in "fruit" and in "company"; expected one group a word; a word with several senses is `ambiguous`"#,
    );
    check(
        r#""orange""#,
        r#""orange juice""#,
        r#"a.ron:5:29: groups: "orange juice" is not one word; expected one word of at most 40 characters"#,
    );
    check(
        r#""orange""#,
        r#""""#,
        r#"a.ron:5:29: groups: "" is not one word; expected one word of at most 40 characters"#,
    );
    check(r#"["google", "microsoft"]"#, "[]", "a.ron:6:20: groups: no words; expected at least one word");
    check(r#""company": ["google""#, r#""fruit": ["google""#, r#"a.ron:6:9: groups: "fruit" stands twice"#);
    check(
        r#""company": ["google""#,
        r#""": ["google""#,
        r#"a.ron:6:9: groups: name ""; expected letters, digits, _ and -"#,
    );
    check(
        r#""orange"],"#,
        r#""orange"], "colour": ["red"],"#,
        r#"a.ron:5:51: groups: word "red" never occurs in the corpus; expected a template with {colour} or with the word"#,
    );
    check(
        "sentences: 1200",
        "sentences: 0",
        "a.ron:9:20: sentences: found the number 0; expected a whole number from 1 to 100000",
    );
    check(
        "sentences: 1200",
        "sentences: 1000000",
        "a.ron:9:20: sentences: found the number 1000000; expected a whole number from 1 to 100000",
    );
    check(
        r#""eat": ["#,
        r#""fruit": ["#,
        "a.ron:10:18: slots: \"fruit\" is a group already; expected another name\na.ron:12:27: topics: unknown slot {eat}; expected a name from slots or groups",
    );
    check(
        "she {eat}",
        "she {eats}",
        r#"a.ron:12:27: topics: unknown slot {eats}; expected a name from slots or groups; did you mean "eat"?"#,
    );
    check("she {eat}", "she {eat", "a.ron:12:27: topics: a { that is not closed; expected {slot}");
    check("she {eat}", "she eat}", "a.ron:12:23: topics: a } without a { before it; expected {slot}");
    check(
        "she {eat}",
        "she {eat}s",
        "a.ron:12:27: topics: {eat} touches other letters; expected a space around a slot, for it is one whole word",
    );
    check("she {eat}", "she {}", "a.ron:12:27: topics: a slot without a name; expected {slot}");
    check(
        r#""{company} sold a phone""#,
        r#""phone""#,
        "a.ron:13:23: topics: a template with fewer than 2 words; expected at least 2, for a word learns from its neighbours",
    );
    check(
        "max_tokens: 24",
        "max_tokens: 5",
        "a.ron:12:22: topics: a template of 6 words; expected at most max_tokens: 5\na.ron:20:17: sentences: a sentence of 9 words; expected at most max_tokens: 5",
    );
    check(
        "max_tokens: 24",
        "max_tokens: 10",
        "a.ron:16:15: join: two clauses and a word between them can have 11 words; expected at most max_tokens: 10",
    );
    check(
        "max_tokens: 24",
        "max_tokens: 65",
        "a.ron:19:78: max_tokens: found the number 65; expected a whole number from 2 to 64",
    );
    check(
        r#"word: "apple", rate"#,
        r#"word: "banana", rate"#,
        r#"a.ron:15:37: word: the ambiguous word "banana" is in group "fruit" too; expected it in no group"#,
    );
    check(
        "rate: 0.3, shares",
        "rate: 0.7, shares",
        r#"a.ron:15:21: ambiguous: {fruit} would be "apple" with probability 1.12; expected at most 1: a lower rate"#,
    );
    check(
        "rate: 0.3, shares",
        "rate: NaN, shares",
        "a.ron:15:52: rate: found the number NaN; expected a number between 0 and 1",
    );
    check(r#""company": 0.2"#, r#""company": 0.3"#, "a.ron:15:65: shares: they sum to 1.100; expected a sum of 1");
    check(
        r#""company": 0.2"#,
        r#""compony": 0.2"#,
        r#"a.ron:15:81: shares: unknown group "compony"; expected "fruit" or "company"; did you mean "company"?"#,
    );
    check("share: 0.25", "share: 25", "a.ron:16:27: share: found the number 25; expected a number from 0 to 1");
}

#[test]
fn model() {
    check(
        "MaskedWord(rate: 0.3)",
        r#"MaskedWord(among: ["fruit", "companies", "fruit"])"#,
        r#"a.ron:19:71: among: unknown group "companies"; expected "fruit" or "company"; did you mean "company"?
a.ron:19:84: among: group "fruit" stands twice"#,
    );
    check("dim: 16", "dim: 0", "a.ron:18:37: dim: found the number 0; expected a whole number from 2 to 256");
    check(
        "dim: 16",
        "dim: 16, learning_rate: inf",
        "a.ron:18:56: learning_rate: found the number inf; expected a number above 0 and at most 1",
    );
    check(
        "heads: 2",
        "heads: 3",
        "a.ron:19:29: heads: 3 does not divide dim: 16; expected 1, 2, 4, 8 or 16, or key_width and value_width",
    );
    check("heads: 2", "heads: 3, key_width: 8, value_width: 4", "no issues");
    check("MaskedWord(rate: 0.3)", "MaskedWord", "no issues");
    check(
        "max_tokens: 24",
        r#"max_tokens: 24, learning_rate: 2, optimiser: "Adam", stop: LossBelow(1)"#,
        r#"a.ron:19:97: learning_rate: found the number 2; expected a number above 0 and at most 1
a.ron:19:111: optimiser: found the text "Adam"; expected Adam or Sgd
a.ron:19:125: stop: found LossBelow(1); expected a list, such as [ … ]"#,
    );
    check(
        "max_tokens: 24",
        "max_tokens: 24, optimiser: Sdg(momentum: 1)",
        r#"a.ron:19:93: optimiser: unknown name Sdg; expected Adam or Sgd; did you mean "Sgd"?"#,
    );
    check(
        "max_tokens: 24",
        "max_tokens: 24, optimiser: Sgd(momentum: 1)",
        "a.ron:19:107: momentum: found the number 1; expected a number from 0 to below 1",
    );
    check("max_tokens: 24", "max_tokens: 24, optimiser: Sgd", "no issues");
    check("max_tokens: 24", "max_tokens: 24, stop: [Plateau(steps: 1, by: 0), LossBelow(1e-9)]", "no issues");
    check(
        "max_tokens: 24",
        "max_tokens: 24, stop: [LossBelow(0), GradientBelow(inf), Plateau(steps: 0, by: -1), Plateau(3), LossAbove(1)]",
        r#"a.ron:19:99: stop: found the number 0; expected a number above 0
a.ron:19:117: stop: found the number inf; expected a number above 0
a.ron:19:138: steps: found the number 0; expected a whole number from 1 to 100000
a.ron:19:145: by: found the number -1; expected a number from 0
a.ron:19:150: Plateau with values that have no field names; expected named fields: Plateau(steps: …)
a.ron:19:162: stop: unknown name LossAbove; expected LossBelow, GradientBelow or Plateau"#,
    );
    let rules = ["LossBelow(1)"; 9].join(", ");
    check(
        "max_tokens: 24",
        &format!("max_tokens: 24, stop: [{rules}]"),
        "a.ron:19:88: stop: 9 entries; expected at most 8",
    );
    check("MaskedWord(rate: 0.3)", "NextWord", "no issues");
    check(
        "MaskedWord(rate: 0.3)",
        "MaskedWord(0.3)",
        "a.ron:19:43: MaskedWord with values that have no field names; expected named fields: MaskedWord(rate: …)",
    );
    check(
        "MaskedWord(rate: 0.3)",
        "MaskWord(rate: 0.3)",
        r#"a.ron:19:43: objective: unknown name MaskWord; expected MaskedWord, NextWord, Label or Sequence; did you mean "MaskedWord"?"#,
    );
    check(
        "max_tokens: 24",
        "max_tokens: 24, positions: Learnt",
        r#"a.ron:19:93: positions: found Learnt; expected None, Sinusoidal or Learned; did you mean "Learned"?"#,
    );
    check(
        "max_tokens: 24",
        r#"max_tokens: 24, bias: "yes""#,
        r#"a.ron:19:88: bias: found the text "yes"; expected true or false"#,
    );
    check(
        "max_tokens: 24",
        "max_tokens: 24, steps: 100000, batch: 4096",
        "a.ron:19:12: model: the training needs 8.3e12 multiplications; expected at most 5e10: fewer steps, a smaller batch, shorter sentences, fewer words or a smaller dim",
    );
}

/// A vector for each word of the good lesson, and for one more.
const GIVEN: &str = r#"Given({ "she": [0.1, 1], "ate": [0, 1.5], "eats": [0, 0], "a": [1, 1], "an": [1, 1], "banana": [2, -1],
        "orange": [2, -2], "after": [0, 1e-3], "lunch": [3, 3], "the": [1, 0], "was": [0, 1], "sweet": [2, 1], "sold": [4, 4],
        "google": [-1, 2], "microsoft": [-1, 3], "phone": [-2, 2], "apple": [1, 2], "while": [0, 2], "pear": [2, -3] })"#;

#[test]
fn static_embedding() {
    let embedding = "SkipGram(dim: 16)";
    check(embedding, "SkipGram(dim: 16, subsample: 0.001, share_negatives: true)", "no issues");
    check(
        embedding,
        "Cbow(dim: 16, window: 2, negatives: 7, epochs: 3, learning_rate: 0.1, subsample: 1)",
        "no issues",
    );
    check(
        embedding,
        "SkipGram(dim: 16, subsample: 0, share_negatives: 3)",
        "a.ron:18:52: subsample: found the number 0; expected a share of the corpus, above 0 and at most 1\n\
         a.ron:18:72: share_negatives: found the number 3; expected true or false",
    );
    check(
        embedding,
        "Cbow(dim: 16, share_negatives: true)",
        "a.ron:18:37: unknown field \"share_negatives\" in Cbow; expected dim, window, negatives, epochs, learning_rate or subsample",
    );
    check(
        embedding,
        "SkipGramm(dim: 16)",
        r#"a.ron:18:23: static_embedding: unknown name SkipGramm; expected SkipGram, Cbow or Given; did you mean "SkipGram"?"#,
    );
    check(
        embedding,
        "Cbow(dim: 16, window: 16, negatives: 64, epochs: 1000)",
        "a.ron:18:23: static_embedding: the training needs 6.1e10 multiplications; expected at most 5e10: fewer sentences, epochs or negatives, or a smaller window or dim",
    );
}

#[test]
fn given_vectors() {
    let check_given = |from: &str, to: &str, expected: &str| {
        assert_eq!(GIVEN.matches(from).count(), 1, "{from} must stand once in the table");
        check("SkipGram(dim: 16)", &GIVEN.replacen(from, to, 1), expected);
    };
    check_given("Given", "Given", "no issues");
    check_given(
        r#""a": [1, 1], "an": [1, 1], "banana": [2, -1]"#,
        r#""a": [1, 1], "bananas": [2, -1]"#,
        r#"a.ron:18:23: static_embedding: no vector for "an", a word of the corpus
a.ron:18:23: static_embedding: no vector for "banana", a word of the corpus; did you mean "bananas"?"#,
    );
    check_given(
        r#"[2, -2], "after": [0, 1e-3]"#,
        r#"[2], "after": [0, 1, 2]"#,
        "a.ron:19:19: static_embedding: a vector of 1 numbers; expected 2, as in the first vector\n\
         a.ron:19:33: static_embedding: a vector of 3 numbers; expected 2, as in the first vector",
    );
    check_given(
        r#""she": [0.1, 1]"#,
        r#""She": [inf, 1e39], "she": "none""#,
        r#"a.ron:18:39: static_embedding: found the number inf; expected a number
a.ron:18:44: static_embedding: found the number 1e39; expected a number
a.ron:18:51: static_embedding: word "she" stands twice
a.ron:18:58: static_embedding: found the text "none"; expected a list, such as [ … ]"#,
    );
    check_given(
        r#""pear""#,
        r#""two pears""#,
        r#"a.ron:20:102: static_embedding: "two pears" is not one word; expected one word of at most 40 characters"#,
    );
    check(
        "SkipGram(dim: 16)",
        "Given({})",
        "a.ron:18:29: static_embedding: no vectors; expected one for each word of the corpus",
    );
    check(
        "SkipGram(dim: 16)",
        r#"Given({ "a": [1], "an": [2] })"#,
        "a.ron:18:36: static_embedding: a vector of 1 numbers; expected at least 2\n\
         a.ron:18:47: static_embedding: a vector of 1 numbers; expected at least 2",
    );
    check(
        "SkipGram(dim: 16)",
        "Given(dim: 3)",
        r#"a.ron:18:23: static_embedding: found Given(dim: 3); expected Given({ "word": [number, …], … })"#,
    );
}

/// Words of a given table are words of the lesson, whether the corpus has them or not.
#[test]
fn a_sentence_may_use_any_given_word() {
    let good = GOOD.replacen("SkipGram(dim: 16)", GIVEN, 1).replacen("she ate an apple", "she ate an pear", 1);
    let lesson = parse("a.ron", &good).expect("no issues");
    assert_eq!(lesson.static_embedding.dim(), 2);
    assert_eq!(lesson.vocabulary().last().map(String::as_str), Some("pear"));
}

#[test]
fn layers() {
    check(
        "heads: 2",
        "heads: 3, projections: false",
        "a.ron:19:29: heads: 3 does not divide dim: 16; expected 1, 2, 4, 8 or 16",
    );
    check(
        "heads: 2",
        "heads: 2, projections: false, key_width: 8",
        "a.ron:19:52: key_width: without projections a head has its slice of the word; expected no width, or projections: true",
    );
    check(
        "heads: 2",
        "heads: 2, output: false, value_width: 4",
        "a.ron:19:47: value_width: without W_O the mixes are 8 wide; expected heads times value_width to be dim: 16",
    );
    check("heads: 2", "heads: 2, output: false, value_width: 8", "no issues");
    check(
        "heads: 2",
        "heads: 3, output: false, value_width: 5, key_width: 2",
        "a.ron:19:47: value_width: without W_O the mixes are 15 wide; expected heads times value_width to be dim: 16",
    );
    check(
        "heads: 2",
        "heads: 2, layers: 0, norm: Before, feed_forward: 0, temperature: 0",
        "a.ron:19:40: layers: found the number 0; expected a whole number from 1 to 8
a.ron:19:49: norm: found Before; expected None, Pre or Post
a.ron:19:71: feed_forward: found the number 0; expected a whole number from 1 to 1024
a.ron:19:87: temperature: found the number 0; expected a number from 0.01 to 100",
    );
    check(
        "heads: 2",
        "heads: 2, layers: 9, feed_forward: 2000, temperature: NaN",
        "a.ron:19:40: layers: found the number 9; expected a whole number from 1 to 8
a.ron:19:57: feed_forward: found the number 2000; expected a whole number from 1 to 1024
a.ron:19:76: temperature: found the number NaN; expected a number from 0.01 to 100",
    );
    check(
        "heads: 2",
        "heads: 2, mask: Casual",
        r#"a.ron:19:38: mask: unknown name Casual; expected None, Causal or Custom; did you mean "Causal"?"#,
    );
    check("heads: 2", "heads: 2, mask: Custom", "a.ron:19:38: mask: found Custom; expected Custom([[true, …], …])");
    check(
        "heads: 2",
        "heads: 2, mask: Custom([])",
        "a.ron:19:45: mask: found a list; expected at least one row with at least one entry",
    );
    check(
        "heads: 2",
        "heads: 2, mask: Custom([[]])",
        "a.ron:19:45: mask: found a list; expected at least one row with at least one entry",
    );
    check(
        "heads: 2",
        "heads: 2, mask: Custom([[true, false], [true]])",
        "a.ron:19:61: mask: a row of 1 entries; expected 2, as many as in the first row",
    );
    check(
        "heads: 2",
        "heads: 2, mask: Custom([[true, 0]])",
        "a.ron:19:53: mask: found the number 0; expected true or false",
    );
    check("heads: 2", "heads: 2, mask: Custom([[true, false], [true, true]])", "no issues");
    check(
        "heads: 2",
        "heads: 2, readout: Tide, pool: Mean, train_embedding: 1",
        r#"a.ron:19:41: readout: found Tide; expected Tied or Linear; did you mean "Tied"?
a.ron:19:47: pool: a sentence is read once, and MaskedWord asks for its words; expected pool: Every
a.ron:19:76: train_embedding: found the number 1; expected true or false"#,
    );
    check("max_tokens: 24", "max_tokens: 24, steps: 0", "no issues");
    check(
        "max_tokens: 24",
        "max_tokens: 24, layers: 8, feed_forward: 1024, steps: 40000",
        "a.ron:19:12: model: the training needs 7.8e12 multiplications; expected at most 5e10: fewer steps, a smaller batch, shorter sentences, fewer words or a smaller dim",
    );
    check(
        "dim: 16),",
        "dim: 256),",
        "a.ron:19:12: model: the training needs 1.5e11 multiplications; expected at most 5e10: fewer steps, a smaller batch, shorter sentences, fewer words or a smaller dim",
    );
    check("max_tokens: 24", "max_tokens: 64, layers: 8, steps: 1, batch: 1", "no issues");
    check(
        "heads: 2",
        &format!("heads: 2, mask: Custom([[{}]])", "true,".repeat(65)),
        "a.ron:19:46: mask: 65 entries; expected at most 64",
    );
}

#[test]
fn weights() {
    let check = |weights: &str, expected: &str| {
        check("max_tokens: 24", &format!("max_tokens: 24, weights: {weights}"), expected);
    };
    check("3", r#"a.ron:19:91: weights: found the number 3; expected a map, such as { "name": … }"#);
    check(r#"{ "W_Q": 3 }"#, "a.ron:19:100: weights: found the number 3; expected a list, such as [ … ]");
    check(
        r#"{ "W_Q": [[]], "W_K": [["a"]], "W_V": [[1e300]], "W_O": [[1, 2], [3]] }"#,
        r#"a.ron:19:100: weights: found a list; expected rows of numbers, all of one length
a.ron:19:115: weights: found the text "a"; expected a number that is not too large
a.ron:19:131: weights: found the number 1e300; expected a number that is not too large
a.ron:19:147: weights: found a list; expected rows of numbers, all of one length"#,
    );
    check(
        r#"{ "W_q": [[1]], "b_Q": [[1, 2]], "W_Q": [[1]] }"#,
        r#"a.ron:19:93: weights: the model has no "W_q"; expected P, W_Q, b_Q, W_K, b_K, W_V, b_V, W_O or b_O; did you mean "W_Q"?
a.ron:19:114: weights: b_Q as 1 × 2; expected 1 × 16
a.ron:19:131: weights: W_Q as 1 × 1; expected 16 × 16"#,
    );
    check(&format!(r#"{{ "b_O": [[{}]] }}"#, "1,".repeat(16)), "no issues");
    check(
        r#"{ "W_Q⁽³⁾": [[1]] }, layers: 2"#,
        r#"a.ron:19:93: weights: the model has no "W_Q⁽³⁾"; expected a tensor of one of its blocks, such as W_Q or W_Q⁽²⁾; did you mean "W_Q⁽²⁾"?"#,
    );
}

#[test]
fn objectives() {
    check("MaskedWord(rate: 0.3)", "NextWord, mask: None", "no issues");
    check(
        "MaskedWord(rate: 0.3)",
        "NextWord, pool: Last",
        "a.ron:19:53: pool: a sentence is read once, and NextWord asks for its words; expected pool: Every",
    );
    check(
        "MaskedWord(rate: 0.3)",
        "Label",
        "a.ron:19:43: Label names the topic of a sentence, and a joined sentence has two; expected a corpus without join",
    );
    check("MaskedWord(rate: 0.3)", "Label, readout: Tied, pool: Every", "a.ron:19:43: Label names the topic of a sentence, and a joined sentence has two; expected a corpus without join
a.ron:19:50: readout: Tied is by the static vectors of words, and a label has none; expected readout: Linear
a.ron:19:65: pool: Every reads word by word, and Label asks for the whole sentence; expected pool: Last or pool: Mean");
    check(
        "MaskedWord(rate: 0.3)",
        "Label(examples: {})",
        r#"a.ron:19:43: Label names the topic of a sentence, and a joined sentence has two; expected a corpus without join
a.ron:19:49: unknown field "examples" in Label; expected no fields"#,
    );
    check(
        "MaskedWord(rate: 0.3)",
        r#"Sequence(order: Reverse, words: { "fone": "telephone", "sold": "a b" })"#,
        r#"a.ron:19:59: order: found Reverse; expected Same or Reversed; did you mean "Reversed"?
a.ron:19:106: words: "a b" is not one word; expected one word of at most 40 characters"#,
    );
    check(
        "MaskedWord(rate: 0.3)",
        r#"Sequence(words: { "fone": "telephone", "sold": "vendu" })"#,
        r#"a.ron:19:61: words: word "fone" never occurs in the corpus; did you mean "phone"?
a.ron:30:69: SenseAccuracy with the objective Sequence; expected an objective of one sentence"#,
    );
    check(
        "MaskedWord(rate: 0.3)",
        r#"Sequence(words: ["a"])"#,
        r#"a.ron:19:59: words: found a list; expected a map, such as { "name": … }"#,
    );
}

#[test]
fn claims_of_an_objective() {
    check(
        "SenseAccuracy(Contextual)",
        "LabelAccuracy",
        "a.ron:30:69: LabelAccuracy with the objective MaskedWord; expected the objective Label",
    );
    check(
        "SenseAccuracy(Contextual)",
        r#"Says(sentence: "she ate", answer: "apple")"#,
        "a.ron:30:69: Says with the objective MaskedWord; expected the objective Label or NextWord",
    );
    check(
        "SenseAccuracy(Contextual)",
        "Weight(sentence: 0, head: 2, query: 9, key: 9)",
        "a.ron:30:95: head: found the number 2; expected a whole number from 0 to 1
a.ron:30:105: query: found the number 9; expected a whole number from 0 to 8
a.ron:30:113: key: found the number 9; expected a whole number from 0 to 8",
    );
    check(
        "SenseAccuracy(Contextual)",
        "Alignment(head: 0)",
        "a.ron:30:69: Alignment with the objective MaskedWord; expected the objective Sequence(…)",
    );
    check(
        "SenseAccuracy(Contextual)",
        "SequenceAccuracy",
        "a.ron:30:69: SequenceAccuracy with the objective MaskedWord; expected the objective Sequence(…)",
    );
}

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

/// Its corpus.
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
    check_small(&[(TOPICS, "Sentences([])")], "a.ron:3:23: corpus: found a list; expected at least one sentence");
    check_small(&[(TOPICS, "Sentences({})")], "a.ron:3:23: corpus: found a map; expected at least one topic");
    check_small(
        &[(TOPICS, r#"Sentences(["she {eat} a fruit", "apple"])"#)],
        "a.ron:3:29: topics: unknown slot {eat}; expected words alone: Corpus(…) has slots
a.ron:3:45: corpus: a sentence with fewer than 2 words; expected at least 2, for a word learns from its neighbours",
    );
    check_small(
        &[(TOPICS, r#"Sentences({ "food": ["she ate"], "trade": 3 })"#)],
        "a.ron:3:55: corpus: found the number 3; expected a list, such as [ … ]",
    );
    check_small(
        &[(TOPICS, r#"Sentences("she ate")"#)],
        r#"a.ron:3:23: corpus: found the text "she ate"; expected a list, such as [ … ]"#,
    );
    check_small(
        &[(TOPICS, "Sentences(sentences: 3)")],
        "a.ron:3:13: corpus: found Sentences(sentences: 3); expected Sentences(a list, or a map of topics with lists)",
    );
    check_small(
        &[(TOPICS, r#"Sentences(["not like", "do hate"])"#)],
        "a.ron:5:43: Label names the topic of a sentence, and the corpus has 1; expected at least 2 topics",
    );
    check_small(
        &[(TOPICS, r#"Sentences(["not like it at all"])"#)],
        "a.ron:3:24: corpus: a sentence of 5 words; expected at most max_tokens: 4",
    );
    check_small(
        &[("LabelAccuracy", r#"LabelAccuracy(on: { "not hate": "lik", "not lik": "like", "do": 3 })"#)],
        r#"a.ron:7:78: on: no topic is called "lik"; expected "hate" or "like"; did you mean "like"?
a.ron:7:90: on: word "lik" never occurs in the corpus; did you mean "like"?
a.ron:7:110: on: found the number 3; expected text in double quotes"#,
    );
    check_small(
        &[("LabelAccuracy", "LabelAccuracy(on: {})")],
        "a.ron:7:64: on: no sentences; expected sentences with their labels",
    );
    check_small(
        &[("LabelAccuracy", r#"Says(sentence: "not like", answer: "not")"#)],
        r#"a.ron:7:81: answer: no topic is called "not"; expected "hate" or "like""#,
    );
    check_small(
        &[("LabelAccuracy", "Alignment(head: 1)")],
        "a.ron:7:46: Alignment with the objective Label; expected the objective Sequence(…)",
    );
    check_small(
        &[("Label,", "Sequence,")],
        "a.ron:7:46: LabelAccuracy with the objective Sequence; expected the objective Label",
    );
    check_small(
        &[("Label,", "Sequence,"), ("LabelAccuracy", "Alignment(head: 1)")],
        "a.ron:7:62: head: 1 does not look at the source; expected 4 or 5",
    );
    check_small(
        &[("Label,", "Sequence,"), ("LabelAccuracy", "Alignment(head: 6)")],
        "a.ron:7:62: head: found the number 6; expected a whole number from 0 to 5",
    );
    check_small(&[("Label,", "Sequence,"), ("LabelAccuracy", "Alignment(head: 5)")], "no issues");
    check_small(&[("Label,", "Sequence,"), ("LabelAccuracy", "SequenceAccuracy")], "no issues");
    check_small(
        &[("max_tokens: 4", "max_tokens: 4, steps: 0"), ("LabelAccuracy", "FinalLoss")],
        "a.ron:7:46: FinalLoss of a model that is not trained; expected steps above 0",
    );
    let wide = [
        ("dim: 4", "dim: 256"),
        ("heads: 2", "heads: 16, layers: 8, steps: 1, batch: 1"),
        ("max_tokens: 4", "max_tokens: 64"),
    ];
    check_small(
        &wide,
        "a.ron:5:12: model: what is shown of a sentence needs 512 MiB of memory; expected at most 256 MiB: fewer layers or heads, a smaller max_tokens or dim",
    );
}

#[test]
fn sentences_and_probes() {
    check(
        r#"["apple sold a phone while she ate an apple"]"#,
        "[]",
        "a.ron:20:16: sentences: none; expected at least one, for the stage to show",
    );
    check(
        "apple sold a phone while",
        "apple sold a fone while",
        r#"a.ron:20:31: sentences: word "fone" never occurs in the corpus; did you mean "phone"?"#,
    );
    check(
        r#""apple sold a phone while she ate an apple""#,
        r#""...""#,
        "a.ron:20:17: sentences: a sentence without words",
    );
    check(
        r#"the apple was sweet", word: "apple""#,
        r#"the apple was sweet", word: "banana""#,
        r#"a.ron:22:54: word: "banana" stands in the sentence not at all; expected once, so that it is clear which one is meant"#,
    );
    check(
        r#"the apple was sweet""#,
        r#"the apple was an apple""#,
        r#"a.ron:22:57: word: "apple" stands in the sentence 2 times; expected once, so that it is clear which one is meant"#,
    );
    check(
        r#"sense: "fruit""#,
        r#"sense: "fruits""#,
        r#"a.ron:22:70: sense: unknown group "fruits"; expected "fruit" or "company"; did you mean "fruit"?"#,
    );
}

#[test]
fn cells_and_claims() {
    check(r#"id: "move""#, r#"id: "intro""#, r#"a.ron:27:19: cell id "intro" stands twice; expected a unique id"#);
    check(r#"id: "mix""#, r#"id: "senses""#, r#"a.ron:31:19: claim id "senses" stands twice; expected a unique id"#);
    check("Stage(", "Slide(", "a.ron:27:9: cells: unknown name Slide; expected Text or Stage");
    check("sentence: 0", "sentence: 1", "a.ron:27:60: sentence: found the number 1; expected 0, the only one");
    check(
        r#"words: ["apple"]"#,
        r#"words: ["aple"]"#,
        r#"a.ron:27:71: words: word "aple" never occurs in the corpus; did you mean "apple"?"#,
    );
    check(
        r#"words: ["apple"]"#,
        r#"words: "apple""#,
        r#"a.ron:27:70: words: found the text "apple"; expected a list, such as [ … ]"#,
    );
    check("time: 1.0", "time: 1.5", "a.ron:27:87: time: found the number 1.5; expected a number from 0 to 1");
    check(
        "time: 1.0",
        "time: (1.0)",
        "a.ron:27:87: time: found (1.0) without a name before it; expected a number from 0 to 1",
    );
    check(
        "SenseAccuracy(Contextual)",
        "SenseAccuracy",
        "a.ron:30:69: fact: found SenseAccuracy; expected SenseAccuracy(Static or Contextual)",
    );
    check(
        "SenseAccuracy(Contextual)",
        "SenseAccuracy(contextual)",
        r#"a.ron:30:83: fact: found contextual; expected Static or Contextual; did you mean "Contextual"?"#,
    );
    check(
        "SenseAccuracy(Contextual)",
        "Accuracy",
        "a.ron:30:69: fact: unknown name Accuracy; expected SenseAccuracy, MajorityShare, SenseMargin, TokenMargin, Mixture, Cosine, FinalLoss, ContributionError, LabelAccuracy, Says, Weight, Alignment or SequenceAccuracy",
    );
    check(
        "SenseAccuracy(Contextual)",
        "MajorityShare(Static)",
        "a.ron:30:69: MajorityShare with values that have no field names; expected MajorityShare alone",
    );
    check(
        r#"of: "fruit""#,
        r#"of: "company""#,
        "a.ron:31:90: Mixture of a group against itself; expected another group",
    );
    check(
        "AtLeast(0.95)",
        "AtLeast(1.95)",
        "a.ron:30:104: expect: AtLeast(1.95) can never hold; expected something that values from 0 to 1 can meet",
    );
    check("AtLeast(0.95)", "AtLeast(NaN)", "a.ron:30:112: expect: found the number NaN; expected a number");
    check(
        "AtLeast(0.95)",
        "AtLeast(at: 0.9)",
        "a.ron:30:104: expect: found AtLeast(at: 0.9); expected AtLeast(number)",
    );
    check("AtLeast(0.95)", "0.95", "a.ron:30:104: expect: found the number 0.95; expected AtLeast, AtMost or Within");
    check(
        "tolerance: 0.2",
        "tolerance: -1",
        "a.ron:31:147: tolerance: found the number -1; expected a number of at least 0",
    );
    check(
        r#"caption: "Two apples""#,
        r#"caption: "\u{1b}[31m\u{202e}""#,
        "a.ron:27:36: caption: a line break or another character that cannot be shown; expected one line of 1 to 500 characters",
    );
    check(
        "probes: [\n        Probe(sentence: \"the apple was sweet\", word: \"apple\", sense: \"fruit\"),\n        Probe(sentence: \"Apple sold a phone\", word: \"apple\", sense: \"company\"),\n    ]",
        "probes: []",
        "a.ron:27:69: SenseAccuracy is measured on probes, but there are none; expected probes: [ … ]",
    );
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
a.ron:19:22: unknown field "head" in Attention; expected objective, layers, heads, key_width, value_width, projections, output, bias, scale, temperature, mask, residual, norm, feed_forward, positions, max_tokens, train_embedding, readout, pool, weights, steps, batch, learning_rate, weight_decay, optimiser or stop; did you mean "heads"?
a.ron:23:69: sense: unknown group "companies"; expected "fruit" or "company"; did you mean "company"?
a.ron:27:87: time: found the number 2; expected a number from 0 to 1
a.ron:30:104: expect: unknown name Atleast; expected AtLeast, AtMost or Within; did you mean "AtLeast"?"#
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
            "a.ron:3:279: unknown field \"sed\" in Lesson; expected id, title, seed, groups, \
             static_embedding, model, corpus, sentences, probes, cells or claims; did you mean \"seed\"?\n  \
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

#[test]
fn issues_beyond_the_limit_are_counted() {
    let text = GOOD.replace("words: [\"apple\"]", &format!("words: [{}]", "7,".repeat(64)));
    let text = text.replace("probes: [", &format!("probes: [{}", "8,".repeat(100)));
    let issues = parse("a.ron", &text).expect_err("a bad lesson");
    assert_eq!(issues.len(), ISSUES_MAX + 1);
    assert_eq!(issues[ISSUES_MAX].to_string(), "a.ron: and 64 more issues");
}

/// A file of its own in the temporary folder, removed at the end.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let folder = std::env::temp_dir().join(format!("attune-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let path = folder.join("apple.ron");
        fs::write(&path, bytes).expect("a temporary file");
        Self(path)
    }

    fn folder(&self) -> &Path {
        self.0.parent().expect("a folder")
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.folder());
    }
}

#[track_caller]
fn check_file(path: &Path, expected: &str) {
    let issues = read(path).expect_err("a bad file");
    let all = issues.iter().map(LessonIssue::to_string).collect::<Vec<_>>().join("\n");
    let folder = format!("{}{}", path.parent().expect("a folder").display(), std::path::MAIN_SEPARATOR);
    assert_eq!(all.replace(&folder, ""), expected);
}

#[test]
fn files_that_are_no_lessons() {
    let good = TempFile::new("good", GOOD.as_bytes());
    assert_eq!(read(&good.0).map(|lesson| lesson.id), Ok("apple".to_owned()));
    check_file(
        &good.folder().join("aple.ron"),
        "aple.ron: no such file; expected a lesson file; did you mean \"apple.ron\"?",
    );
    check_file(&good.folder().join("nothing/apple.ron"), "apple.ron: no such file; expected a lesson file");
    let folder = good.folder().join("course.ron");
    fs::create_dir(&folder).expect("a folder");
    check_file(&folder, "course.ron: this is a folder; expected a lesson file, such as lessons/apple.ron");

    let empty = TempFile::new("empty", b"");
    check_file(&empty.0, "apple.ron:1:1: the file is empty; expected a lesson: Lesson(id: …, title: …, …)");
    let comment = TempFile::new("comment", b"// soon\n");
    check_file(&comment.0, "apple.ron:1:1: the file is empty; expected a lesson: Lesson(id: …, title: …, …)");
    let binary = TempFile::new("binary", b"Lesson(\xff\xfe");
    check_file(&binary.0, "apple.ron: byte 7 (0xff) is not UTF-8 text; expected a text file saved as UTF-8");
    let zeros = TempFile::new("zeros", &[0; 16]);
    check_file(
        &zeros.0,
        r"apple.ron:1:1: cannot be read as RON: found \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}; expected a value: text, a number, a [list], a {map} or Name(…)",
    );
    let large = TempFile::new("large", &vec![b' '; LESSON_BYTES_MAX as usize + 1]);
    check_file(&large.0, "apple.ron: 4194305 bytes; expected at most 4194304 bytes");
}

#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    check_file(Path::new("/dev/zero"), "zero: this is not a regular file; expected a lesson file");
}

#[test]
fn no_text_makes_it_panic() {
    let sequence = SMALL.replace("Label,", r#"Sequence(words: { "not": "pas" }), mask: Custom([[true]]),"#);
    for good in [GOOD, SMALL, &sequence] {
        any_change_is_read_or_refused(good);
    }
}

fn any_change_is_read_or_refused(good: &str) {
    // Cut at every character ...
    for (at, _) in good.char_indices() {
        assert!(parse("a.ron", &good[..at]).is_err() || good[at..].trim().is_empty(), "cut at {at}");
    }
    // ... and each character replaced by each of those that mean something.
    for (at, c) in good.char_indices() {
        for other in ['(', ')', '[', '{', '}', '"', ',', '-', '9', 'r', '#', '\\', '/', '\'', '\0', 'é', '\u{301}'] {
            let text = format!("{}{other}{}", &good[..at], &good[at + c.len_utf8()..]);
            if let Err(issues) = parse("a.ron", &text) {
                assert!(!issues.is_empty());
                for issue in issues {
                    assert!(!format!("{issue:#}").contains("RawValue"), "{issue}");
                }
            }
        }
    }
}

#[test]
fn hostile_lessons_are_refused_soon() {
    let start = Instant::now();
    let size = LESSON_BYTES_MAX as usize - GOOD.len() - 100;
    let good_with = |from: &str, to: &str| GOOD.replacen(from, to, 1);
    let many_slots = format!("she {} {{eat}}", "{eat} ".repeat(size / 6));
    let hostile = [
        "(".repeat(size),
        "[".repeat(size) + &"]".repeat(50),
        "()".repeat(size / 2),
        "Lesson(".repeat(size / 7),
        "/*".repeat(size / 2),
        "r#".repeat(size / 2),
        "\n".repeat(size),
        good_with("seed: 7", &format!("seed: {}1{}", "[".repeat(1000), "]".repeat(1000))),
        good_with("seed: 7", &format!("seed: {}", "9".repeat(size))),
        good_with("seed: 7", &format!("seed: {}", "7,".repeat(size / 2))),
        good_with("seed: 7", &(0..size / 12).map(|i| format!("f{i}: 1,")).collect::<String>()),
        good_with("she {eat}", &many_slots),
        good_with("she {eat}", &"x".repeat(size)),
        good_with("sold a phone while", &"word ".repeat(size / 5)),
        good_with("max_tokens: 24", "max_tokens: x").replacen("sold a phone while", &"wörd ".repeat(size / 6), 1),
        good_with("\"orange\"", &(0..size / 12).map(|i| format!("\"w{i}\",")).collect::<String>()),
        good_with("probes: [", &format!("probes: [{}", "{},".repeat(size / 3))),
    ];
    for text in hostile {
        assert!(text.len() as u64 <= LESSON_BYTES_MAX);
        let before = start.elapsed();
        let issues = parse("a.ron", &text).expect_err("a hostile lesson");
        let took = start.elapsed() - before;
        assert!(issues.len() <= ISSUES_MAX + 1);
        // Far more than it takes, for slow machines; what grows with the square takes hours.
        assert!(took < Duration::from_secs(20), "{took:?}: {}", &text[..60.min(text.len())]);
    }
}
