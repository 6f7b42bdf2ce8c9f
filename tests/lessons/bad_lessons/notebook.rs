//! Mistakes in a lesson's notebook and claims.

use super::{cases, check, check_all};

#[test]
fn sentences_and_probes() {
    check_all(
        r#"
        ["apple sold a phone while she ate an apple"] => []
            a.ron:20:16: sentences: none; expected at least one, for the stage to show
        apple sold a phone while => apple sold a fone while
            a.ron:20:31: sentences: word "fone" never occurs in the corpus; did you mean "phone"?
        "apple sold a phone while she ate an apple" => "..."
            a.ron:20:17: sentences: a sentence without words
        the apple was sweet", word: "apple" => the apple was sweet", word: "banana"
            a.ron:22:54: word: "banana" occurs in the sentence not at all; expected exactly once, so that it is clear which one is meant
        the apple was sweet" => the apple was an apple"
            a.ron:22:57: word: "apple" occurs in the sentence 2 times; expected exactly once, so that it is clear which one is meant
        sense: "fruit" => sense: "fruits"
            a.ron:22:70: sense: unknown group "fruits"; expected "fruit" or "company"; did you mean "fruit"?
    "#,
    );
}

#[test]
fn cells_and_claims() {
    check_all(
        r#"
        id: "move" => id: "intro"
            a.ron:27:19: cell id "intro" appears twice; expected a unique id
        id: "mix" => id: "senses"
            a.ron:31:19: claim id "senses" appears twice; expected a unique id
        Stage( => Slide(
            a.ron:27:9: cells: unknown name Slide; expected Text, Code, Stage, Slider, Plot, Predict, Exercise or Gate; did you mean "Slider"?
        sentence: 0 => sentence: 1
            a.ron:27:60: sentence: found the number 1; expected 0, the only one
        words: ["apple"] => words: ["aple"]
            a.ron:27:71: words: word "aple" never occurs in the corpus; did you mean "apple"?
        words: ["apple"] => words: "apple"
            a.ron:27:70: words: found the text "apple"; expected a list, such as [ … ]
        time: 1.0 => time: 1.0, lines: [("apple", "phome")]
            a.ron:27:110: lines: word "phome" never occurs in the corpus; did you mean "phone"?
        time: 1.0 => time: 1.0, lines: [("apple", "apple")]
            a.ron:27:100: lines: a line from "apple" to itself
        time: 1.0 => time: 1.0, lines: ["apple"]
            a.ron:27:100: lines: found the text "apple"; expected (word, word), such as ("man", "king")
        time: 1.0 => time: 1.0, plays: 99
            a.ron:27:99: plays: found the number 99; expected a whole number from 0 to 9
        time: 1.0 => time: 1.5
            a.ron:27:87: time: found the number 1.5; expected a number from 0 to 1
        time: 1.0 => time: (1.0)
            a.ron:27:87: time: found (1.0) without a name before it; expected a number from 0 to 1
        SenseAccuracy(Contextual) => SenseAccuracy
            a.ron:30:69: fact: found SenseAccuracy; expected SenseAccuracy(Static or Contextual)
        SenseAccuracy(Contextual) => SenseAccuracy(contextual)
            a.ron:30:83: fact: found contextual; expected Static or Contextual; did you mean "Contextual"? Capitals matter here
        SenseAccuracy(Contextual) => Accuracy
            a.ron:30:69: fact: unknown name Accuracy; expected SenseAccuracy, MajorityShare, SenseMargin, Arrived, Drift, TokenMargin, TokenCosine, TokenDistance, TokenLength, TokenMove, MoveCosine, LayerCosine, Mixture, Cosine, FinalLoss, ContributionError, LabelAccuracy, Says, Weight, Alignment or SequenceAccuracy
        SenseAccuracy(Contextual) => MajorityShare(Static)
            a.ron:30:69: MajorityShare with values that have no field names; expected MajorityShare alone
        of: "fruit" => of: "company"
            a.ron:31:90: Mixture of a group against itself; expected another group
        AtLeast(0.95) => AtLeast(1.95)
            a.ron:30:104: expect: AtLeast(1.95) can never hold; expected a bound from 0 to 1
        AtLeast(0.95) => AtLeast(NaN)
            a.ron:30:112: expect: found the number NaN; expected a number
        AtLeast(0.95) => AtLeast(at: 0.9)
            a.ron:30:104: expect: found AtLeast(at: 0.9); expected AtLeast(number)
        AtLeast(0.95) => 0.95
            a.ron:30:104: expect: found the number 0.95; expected AtLeast, AtMost or Within
        tolerance: 0.2 => tolerance: -1
            a.ron:31:147: tolerance: found the number -1; expected a number of at least 0
        caption: "Two apples" => caption: "\u{1b}[31m\u{202e}"
            a.ron:27:36: caption: a line break or another character that cannot be shown; expected one line of 1 to 500 characters
    "#,
    );
    check(
        "probes: [\n        Probe(sentence: \"the apple was sweet\", word: \"apple\", sense: \"fruit\"),\n        Probe(sentence: \"Apple sold a phone\", word: \"apple\", sense: \"company\"),\n    ]",
        "probes: []",
        "a.ron:27:69: SenseAccuracy is measured on probes, but there are none; expected probes: [ … ]",
    );
}

#[test]
fn claims_of_an_objective() {
    check_all(
        r#"
        SenseAccuracy(Contextual) => LabelAccuracy
            a.ron:30:69: LabelAccuracy with the objective MaskedWord; expected the objective Label
        SenseAccuracy(Contextual) => Says(sentence: "she ate", answer: "apple")
            a.ron:30:69: Says with the objective MaskedWord; expected hides: …, the position of the word that is asked for
        SenseAccuracy(Contextual) => Says(sentence: "she ate", hides: 2, answer: "apple")
            a.ron:30:102: hides: found the number 2; expected a whole number from 0 to 1
        SenseAccuracy(Contextual) => Weight(sentence: 0, head: 2, query: 9, key: 9)
            a.ron:30:95: head: found the number 2; expected a whole number from 0 to 1
            a.ron:30:105: query: found the number 9; expected a whole number from 0 to 8
            a.ron:30:113: key: found the number 9; expected a whole number from 0 to 8
        SenseAccuracy(Contextual) => Alignment(head: 0)
            a.ron:30:69: Alignment with the objective MaskedWord; expected the objective Sequence(…)
        SenseAccuracy(Contextual) => SequenceAccuracy
            a.ron:30:69: SequenceAccuracy with the objective MaskedWord; expected the objective Sequence(…)
    "#,
    );
}

#[test]
fn cells_that_run() {
    let stage = r#"Stage(id: "move", caption: "Two apples", sentence: 0, words: ["apple"], time: 1.0)"#;
    let issues = |cell: &str| {
        let issues = attune_core::lesson::parse("a.ron", &super::GOOD.replace(stage, cell)).expect_err(cell);
        issues.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let lines = "Code(id: \"a\", src: r#\"let x = 1;\n let y = ) 2\"#)";
    assert_eq!(issues(lines), "a.ron:28:10: src: Unexpected ')'");
    for (cell, expected) in cases(
        r#"
        Code(id: "a", src: "let x = ")
            a.ron:27:37: src: the code ends too early; is a bracket or the right side of an operator missing?
        Slider(id: "a", bind: "W_Q[0, 99]")
            a.ron:27:31: bind: "W_Q[0, 99]" is not an entry of W_Q; expected W_Q[row, column], from 0 to 15 and from 0 to 15
        Slider(id: "a", bind: "W_G[0, 0]")
            a.ron:27:31: bind: the model has no W_G; expected P, W_Q, b_Q, W_K, b_K, W_V, b_V, W_O or b_O; did you mean "W_Q"?
        Slider(id: "a", bind: "2x")
            a.ron:27:31: bind: found the text "2x"; expected temperature, time, mask, an entry of a weight such as W_Q[0, 1], or the name of a variable
        Slider(id: "a", bind: "temperature", range: (4, 1))
            a.ron:27:53: range: found (4, 1) without a name before it; expected (from, to), such as (0.5, 2.0), within 0.01 and 100
        Slider(id: "a", bind: "x", range: (0, 1), start: 3)
            a.ron:27:58: start: 3; expected a number from 0 to 1, its range
        Predict(id: "a", ask: "Which?", choices: ["one"], answer: "0")
            a.ron:27:50: choices: 1; expected from 2 to 8
        Exercise(id: "a", ask: "Do it", check: "1 +", solution: "")
            a.ron:27:52: check: the code ends too early; is a bracket or the right side of an operator missing?
        Gate(id: "a", needs: ["intro"])
            a.ron:27:31: needs: no prediction or exercise "intro" is above; expected the id of a prediction or exercise above this gate
    "#,
    ) {
        assert_eq!(issues(cell), expected, "{cell}");
    }
}

#[test]
fn panels() {
    const OPENS: &str = r#""Attention", "Step", "Intervene", "Meaning", "Weights", "Train", "Answers", "Variables", "All heads" or "Axes""#;
    let opened = |names: &str, column: usize, issue: &str| {
        let issue =
            if issue.is_empty() { "no issues".to_owned() } else { format!("a.ron:27:{column}: opens: {issue}") };
        check(r#"id: "move""#, &format!(r#"id: "move", opens: [{names}]"#), &issue);
    };
    opened(r#""Weights", "Train""#, 0, "");
    opened(r#""Weight""#, 35, &format!(r#"unknown panel "Weight"; expected {OPENS}; did you mean "Weights"?"#));
    opened(r#""Train", "Weights", "Train""#, 55, r#""Train" appears twice"#);
    // The title that it had before.
    opened(r#""Heads""#, 35, &format!(r#"unknown panel "Heads"; expected {OPENS}; did you mean "Intervene"?"#));
    opened(r#""Stage""#, 35, &format!(r#""Stage" is always open; expected {OPENS}"#));
    opened("Weights", 35, "found Weights; expected text in double quotes");
    check(
        "cells: [",
        r#"panels: ["Axis"], cells: ["#,
        &format!(r#"a.ron:25:14: panels: unknown panel "Axis"; expected {OPENS}; did you mean "Axes"?"#),
    );
}

#[test]
fn links_to_the_ends_of_the_model() {
    let intro = |markdown: &str, expected: &str| check("# One word", markdown, expected);
    // One answer for each of the words.
    for (written, issues) in cases(
        r#"
        [b](attune:b_logits[0])
            no issues
        [b](attune:b_logits[900])
            a.ron:26:38: md: b_logits has no entry 0, 900; expected a row below 1 and a column below 18
        [b](attune:E[0,1])
            a.ron:26:38: md: there is no learned tensor "E"; expected P, W_Q, b_Q, W_K, b_K, W_V, b_V, W_O, b_O or b_logits; did you mean "P"?
    "#,
    ) {
        intro(written, &issues);
    }
    let trained = |markdown: &str| {
        let with = super::GOOD.replace("max_tokens: 24)", "max_tokens: 24, train_embedding: true)");
        attune_core::lesson::parse("a.ron", &with.replace("# One word", markdown))
            .map_err(|issues| issues[0].to_string())
    };
    assert_eq!(trained("[b](attune:E[0,1])").err(), None);
    assert!(trained("[b](attune:E[99,1])").is_err_and(|issue| issue.contains("E has no entry 99, 1")));
}

#[test]
fn links_to_words_of_a_sequence() {
    let lesson = include_str!("../../fixtures/forms/translation.ron");
    let cells = |markdown: &str| {
        let at = lesson.rfind("\n)").expect("the end of the lesson");
        let cells = format!("    cells: [Text(id: \"links\", md: \"{markdown}\")],");
        assert!(!lesson.contains("cells:"));
        attune_core::lesson::parse("a.ron", &format!("{}\n{cells}{}", &lesson[..at], &lesson[at..]))
            .map(|lesson| lesson.sentences[0].join(" "))
            .map_err(|issues| issues[0].to_string())
    };
    // The decoder reads the start token and what is written, without the last word.
    for word in ["[start]", "le", "chat"] {
        assert_eq!(cells(&format!("[a](<attune:word/{word}>)")), Ok("the cat sleeps".to_owned()), "{word}");
    }
    for word in ["the", "dort", "noir"] {
        let issue = format!("{word:?} is not a word of the sentence on the stage");
        assert!(cells(&format!("[a](attune:word/{word})")).is_err_and(|issues| issues.contains(&issue)), "{word}");
    }
}

#[test]
fn live_text_and_links() {
    let intro = |markdown: &str, expected: &str| check("# One word", markdown, expected);
    intro(r#"# One {{ A[0]["apple1", "phone"] | +.2 }} [word](attune:word/apple2) `{{`"#, "no issues");
    // A raw string, where text and file agree: the place is that of the mistake.
    for (written, issues) in cases(
        r#"
        `{{` {{ A[0][1 }} b
            a.ron:26:48: md: Expecting ']' for a matching [ in this index expression
        {{ 1 }} é {{ x | .2f }}
            a.ron:26:44: md: .2f is not a format; expected .2 (decimals), .0% (a percentage) or +.2 (always with a sign)
        {{ x = 2 }}
            a.ron:26:34: md: an expression that defines or writes; expected an expression that only reads; writing belongs in a Code cell
        a {{ b
            a.ron:26:36: md: an opening {{ that no }} closes in its paragraph; expected {{ expression }}, or `{{` as code
        [b](attune:word/phone) [c](attune:word/fone)
            a.ron:26:61: md: "fone" is not a word of the sentence on the stage; expected one of its words; did you mean "phone"?
        [b](attune:W_L[1,2])
            a.ron:26:38: md: there is no learned tensor "W_L"; expected P, W_Q, b_Q, W_K, b_K, W_V, b_V, W_O, b_O or b_logits; did you mean "W_Q"?
        [b](attune:cell/moves)
            a.ron:26:38: md: there is no cell "moves"; expected intro or move; did you mean "move"?
        [b](attune:panel/Weights) `[c](attune:panel/All heads)` [d](<attune:panel/All heads>)
            no issues
    "#,
    ) {
        intro(written, &issues);
    }
    // Not a link to CommonMark, and so shown as it is written.
    for (written, issues) in cases(
        r#"
        [b](attune:panel/All heads) opens it
            a.ron:26:36: md: a link whose address cannot be read; expected an address without spaces, or one between < and >, such as (<attune:panel/All heads>)
        [b](attune:panel/Weigths)
            a.ron:26:38: md: there is no panel "Weigths"; expected Notebook, Stage, Attention, Step, Intervene, Meaning, Weights, Train, Answers, Variables, All heads or Axes; did you mean "Weights"?
    "#,
    ) {
        intro(written, &issues);
    }
}
