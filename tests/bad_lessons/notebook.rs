//! What the notebook shows and claims.

use crate::check;

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
        "a.ron:30:104: expect: AtLeast(1.95) can never hold; expected a bound from 0 to 1",
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
