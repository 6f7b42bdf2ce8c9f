//! The model: sizes, layers, given weights, objectives.

use super::{cases, check, check_all};

#[test]
fn model() {
    check_all(
        r#"
        MaskedWord(rate: 0.3) => MaskedWord(among: ["fruit", "companies", "fruit"])
            a.ron:19:71: among: unknown group "companies"; expected "fruit" or "company"; did you mean "company"?
            a.ron:19:84: among: group "fruit" appears twice
        dim: 16 => dim: 0
            a.ron:18:37: dim: found the number 0; expected a whole number from 2 to 256
        dim: 16 => dim: 16, learning_rate: inf
            a.ron:18:56: learning_rate: found the number inf; expected a number above 0 and at most 1
        heads: 2 => heads: 3
            a.ron:19:29: heads: 3 does not divide dim: 16; expected 1, 2, 4, 8 or 16, or key_width and value_width
        heads: 2 => heads: 3, key_width: 8, value_width: 4
            no issues
        MaskedWord(rate: 0.3) => MaskedWord
            no issues
        max_tokens: 24 => max_tokens: 24, learning_rate: 2, optimiser: "Adam", stop: LossBelow(1)
            a.ron:19:97: learning_rate: found the number 2; expected a number above 0 and at most 1
            a.ron:19:111: optimiser: found the text "Adam"; expected Adam or Sgd
            a.ron:19:125: stop: found LossBelow(1); expected a list, such as [ … ]
        max_tokens: 24 => max_tokens: 24, optimiser: Sdg(momentum: 1)
            a.ron:19:93: optimiser: unknown name Sdg; expected Adam or Sgd; did you mean "Sgd"?
        max_tokens: 24 => max_tokens: 24, optimiser: Sgd(momentum: 1)
            a.ron:19:107: momentum: found the number 1; expected a number from 0 to below 1
        max_tokens: 24 => max_tokens: 24, optimiser: Sgd
            no issues
        max_tokens: 24 => max_tokens: 24, stop: [Plateau(steps: 1, by: 0), LossBelow(1e-9)]
            no issues
        max_tokens: 24 => max_tokens: 24, stop: [LossBelow(0), GradientBelow(inf), Plateau(steps: 0, by: -1), Plateau(3), LossAbove(1)]
            a.ron:19:99: stop: found the number 0; expected a number above 0
            a.ron:19:117: stop: found the number inf; expected a number above 0
            a.ron:19:138: steps: found the number 0; expected a whole number from 1 to 100000
            a.ron:19:145: by: found the number -1; expected a number from 0
            a.ron:19:150: Plateau with values that have no field names; expected named fields: Plateau(steps: …)
            a.ron:19:162: stop: unknown name LossAbove; expected LossBelow, GradientBelow or Plateau
    "#,
    );
    let rules = ["LossBelow(1)"; 9].join(", ");
    check(
        "max_tokens: 24",
        &format!("max_tokens: 24, stop: [{rules}]"),
        "a.ron:19:88: stop: 9 entries; expected at most 8",
    );
    check_all(
        r#"
        MaskedWord(rate: 0.3) => NextWord
            no issues
        MaskedWord(rate: 0.3) => MaskedWord(0.3)
            a.ron:19:43: MaskedWord with values that have no field names; expected named fields: MaskedWord(rate: …)
        MaskedWord(rate: 0.3) => MaskWord(rate: 0.3)
            a.ron:19:43: objective: unknown name MaskWord; expected MaskedWord, NextWord, Label or Sequence; did you mean "MaskedWord"?
        max_tokens: 24 => max_tokens: 24, positions: Learnt
            a.ron:19:93: positions: unknown name Learnt; expected None, Sinusoidal, Learned, Distances or Rotary; did you mean "Learned"?
        max_tokens: 24 => max_tokens: 24, bias: "yes"
            a.ron:19:88: bias: found the text "yes"; expected true or false
        max_tokens: 24 => max_tokens: 24, steps: 100000, batch: 4096
            a.ron:19:12: model: the training needs 8.3e12 multiplications; expected at most 5e10: fewer steps, a smaller batch, shorter sentences, fewer words or a smaller dim
    "#,
    );
}

#[test]
fn layers() {
    check_all(
        r#"
        heads: 2 => heads: 3, projections: false
            a.ron:19:29: heads: 3 does not divide dim: 16; expected 1, 2, 4, 8 or 16
        heads: 2 => heads: 2, projections: false, key_width: 8
            a.ron:19:52: key_width: without projections, a head has its slice of the word's vector; expected no width, or projections: true
        heads: 2 => heads: 2, output: false, value_width: 4
            a.ron:19:47: value_width: without W_O the mixes are 8 wide; expected heads times value_width to be dim: 16
        heads: 2 => heads: 2, output: false, value_width: 8
            no issues
        heads: 2 => heads: 3, output: false, value_width: 5, key_width: 2
            a.ron:19:47: value_width: without W_O the mixes are 15 wide; expected heads times value_width to be dim: 16
        heads: 2 => heads: 2, layers: 0, norm: Before, feed_forward: 0, temperature: 0
            a.ron:19:40: layers: found the number 0; expected a whole number from 1 to 8
            a.ron:19:49: norm: found Before; expected None, Pre or Post
            a.ron:19:71: feed_forward: found the number 0; expected a whole number from 1 to 1024
            a.ron:19:87: temperature: found the number 0; expected a number from 0.01 to 100
        heads: 2 => heads: 2, layers: 9, feed_forward: 2000, temperature: NaN
            a.ron:19:40: layers: found the number 9; expected a whole number from 1 to 8
            a.ron:19:57: feed_forward: found the number 2000; expected a whole number from 1 to 1024
            a.ron:19:76: temperature: found the number NaN; expected a number from 0.01 to 100
        heads: 2 => heads: 2, norm: Pre, norm_epsilon: 0, feed_forward: 8, activation: GELU, final_norm: 1
            a.ron:19:57: norm_epsilon: found the number 0; expected a number from 1e-12 to 0.1
            a.ron:19:89: activation: found GELU; expected Relu, Gelu, GeluTanh or Silu; did you mean "Gelu"? Capitals matter here
            a.ron:19:107: final_norm: found the number 1; expected true or false
        heads: 2 => heads: 2, norm: Pre, norm_epsilon: 1e-12, feed_forward: 8, activation: Gelu, embedding_norm: true, final_norm: true, readout: Transformed
            no issues
    "#,
    );
    for (written, issues) in cases(TODAYS_FORMS) {
        check("heads: 2", &format!("heads: 2, {written}"), &issues);
    }
    check_all(
        r#"
        heads: 2 => heads: 2, mask: Casual
            a.ron:19:38: mask: unknown name Casual; expected None, Causal or Custom; did you mean "Causal"?
        heads: 2 => heads: 2, mask: Custom
            a.ron:19:38: mask: found Custom; expected Custom([[true, …], …])
        heads: 2 => heads: 2, mask: Custom([])
            a.ron:19:45: mask: found a list; expected at least one row with at least one entry
        heads: 2 => heads: 2, mask: Custom([[]])
            a.ron:19:45: mask: found a list; expected at least one row with at least one entry
        heads: 2 => heads: 2, mask: Custom([[true, false], [true]])
            a.ron:19:61: mask: a row of 1 entries; expected 2, as many as in the first row
        heads: 2 => heads: 2, mask: Custom([[true, 0]])
            a.ron:19:53: mask: found the number 0; expected true or false
        heads: 2 => heads: 2, mask: Custom([[true, false], [true, true]])
            no issues
        heads: 2 => heads: 2, readout: Tide, pool: Mean, train_embedding: 1
            a.ron:19:41: readout: found Tide; expected Tied, Transformed or Linear; did you mean "Tied"?
            a.ron:19:47: pool: this reads the sentence once, but MaskedWord asks for each word; expected pool: Every
            a.ron:19:76: train_embedding: found the number 1; expected true or false
        max_tokens: 24 => max_tokens: 24, steps: 0
            no issues
        max_tokens: 24 => max_tokens: 24, layers: 8, feed_forward: 1024, steps: 40000
            a.ron:19:12: model: the training needs 7.8e12 multiplications; expected at most 5e10: fewer steps, a smaller batch, shorter sentences, fewer words or a smaller dim
        dim: 16), => dim: 256),
            a.ron:19:12: model: the training needs 1.5e11 multiplications; expected at most 5e10: fewer steps, a smaller batch, shorter sentences, fewer words or a smaller dim
        max_tokens: 24 => max_tokens: 64, layers: 8, steps: 1, batch: 1
            no issues
    "#,
    );
    check(
        "heads: 2",
        &format!("heads: 2, mask: Custom([[{}]])", "true,".repeat(65)),
        "a.ron:19:46: mask: 65 entries; expected at most 64",
    );
}

#[test]
fn distances_in_the_loss() {
    let check = |fields: &str, expected: &str| check("max_tokens: 24", &format!("max_tokens: 24, {fields}"), expected);
    for (written, issues) in cases(
        r#"
        arrive: 0.5, keep: 10
            no issues
        arrive: 10.5, keep: -1
            a.ron:19:90: arrive: found the number 10.5; expected a number from 0 to 10
            a.ron:19:102: keep: found the number -1; expected a number from 0 to 10
        readout: Linear, arrive: 1, keep: 1
            a.ron:19:99: arrive: with a Linear readout, an answer has no static vector to arrive at; expected readout: Tied
        readout: Transformed, arrive: 1, keep: 1
            a.ron:19:104: arrive: a Transformed readout reads the answer from a vector other than the output; expected readout: Tied
        train_embedding: true, arrive: 1, keep: 1
            a.ron:19:105: arrive: static vectors move when they are trained, so nothing can arrive at them; expected train_embedding: false
        positions: Distances
            no issues
        positions: Distances, weights: { "B": [[0]] }
            a.ron:19:120: weights: B as 1 × 1; expected 2 × 47
    "#,
    ) {
        check(written, &issues);
    }
}

#[test]
fn weights() {
    let check = |weights: &str, expected: &str| {
        check("max_tokens: 24", &format!("max_tokens: 24, weights: {weights}"), expected);
    };
    for (written, issues) in cases(
        r#"
        3
            a.ron:19:91: weights: found the number 3; expected a map, such as { "name": … }
        { "W_Q": 3 }
            a.ron:19:100: weights: found the number 3; expected a list, such as [ … ]
        { "W_Q": [[]], "W_K": [["a"]], "W_V": [[1e300]], "W_O": [[1, 2], [3]] }
            a.ron:19:100: weights: found a list; expected rows of numbers, all of one length
            a.ron:19:115: weights: found the text "a"; expected a number that is not too large
            a.ron:19:131: weights: found the number 1e300; expected a number that is not too large
            a.ron:19:147: weights: found a list; expected rows of numbers, all of one length
        { "W_q": [[1]], "b_Q": [[1, 2]], "W_Q": [[1]] }
            a.ron:19:93: weights: the model has no "W_q"; expected P, W_Q, b_Q, W_K, b_K, W_V, b_V, W_O or b_O; did you mean "W_Q"? Capitals matter here
            a.ron:19:114: weights: b_Q as 1 × 2; expected 1 × 16
            a.ron:19:131: weights: W_Q as 1 × 1; expected 16 × 16
    "#,
    ) {
        check(written, &issues);
    }
    check(&format!(r#"{{ "b_O": [[{}]] }}"#, "1,".repeat(16)), "no issues");
    check(
        r#"{ "W_Q⁽³⁾": [[1]] }, layers: 2"#,
        r#"a.ron:19:93: weights: the model has no "W_Q⁽³⁾"; expected a tensor of one of its blocks, such as W_Q or W_Q_2; did you mean "W_Q⁽²⁾"?"#,
    );
}

#[test]
fn objectives() {
    check_all(
        r#"
        MaskedWord(rate: 0.3) => NextWord, mask: None
            no issues
        MaskedWord(rate: 0.3) => NextWord, keep: 1
            a.ron:19:53: keep: every output gives an answer, so no output is left to be kept near its own word; expected MaskedWord, Label with pool: Last, or readout: Linear
        MaskedWord(rate: 0.3) => NextWord, keep: 1, readout: Linear
            no issues
        MaskedWord(rate: 0.3) => MaskedWord(rate: 0.3, stand_ins: ["apple"])
            no issues
        MaskedWord(rate: 0.3) => MaskedWord(rate: 0.3, stand_ins: ["aple", "two words", 3])
            a.ron:19:85: stand_ins: "two words" is not one word; expected one word of at most 40 characters
            a.ron:19:98: stand_ins: found the number 3; expected text in double quotes
        MaskedWord(rate: 0.3) => MaskedWord(rate: 0.3, stand_ins: ["aple"])
            a.ron:19:77: stand_ins: word "aple" never occurs in the corpus; did you mean "apple"?
        MaskedWord(rate: 0.3) => NextWord, pool: Last
            a.ron:19:53: pool: this reads the sentence once, but NextWord asks for each word; expected pool: Every
        MaskedWord(rate: 0.3) => Label
            a.ron:19:43: Label names the topic of a sentence, but a joined sentence has two; expected a corpus without join
        MaskedWord(rate: 0.3) => Label, readout: Tied, pool: Every
            a.ron:19:43: Label names the topic of a sentence, but a joined sentence has two; expected a corpus without join
            a.ron:19:50: readout: Tied reads a label by its static vector, but no word of the corpus is "food"; expected readout: Linear, or topics named by words of the corpus
            a.ron:19:50: readout: Tied reads a label by its static vector, but no word of the corpus is "trade"; expected readout: Linear, or topics named by words of the corpus
            a.ron:19:65: pool: Every reads word by word, but Label asks for the whole sentence; expected pool: Last or pool: Mean
        MaskedWord(rate: 0.3) => Label(examples: {})
            a.ron:19:43: Label names the topic of a sentence, but a joined sentence has two; expected a corpus without join
            a.ron:19:49: unknown field "examples" in Label; expected no fields
        MaskedWord(rate: 0.3) => Sequence(order: Reverse, words: { "fone": "telephone", "sold": "a b" })
            a.ron:19:59: order: found Reverse; expected Same or Reversed; did you mean "Reversed"?
            a.ron:19:106: words: "a b" is not one word; expected one word of at most 40 characters
        MaskedWord(rate: 0.3) => Sequence(words: { "fone": "telephone", "sold": "vendu" })
            a.ron:19:61: words: word "fone" never occurs in the corpus; did you mean "phone"?
            a.ron:30:69: SenseAccuracy with the objective Sequence; expected an objective of one sentence
        MaskedWord(rate: 0.3) => Sequence(words: ["a"])
            a.ron:19:59: words: found a list; expected a map, such as { "name": … }
    "#,
    );
}

/// Fields of today's models, written behind `heads: 2`, and what is said of them.
const TODAYS_FORMS: &str = r#"
    key_value_heads: 1, positions: Rotary, norm: Pre, norm_kind: Rms, feed_forward: 8, activation: Silu, gated: true
        no issues
    norm: Pre, branches: ParallelOneNorm, feed_forward: 8, window: Window(before: 2), score_cap: 50, logit_cap: 30
        no issues
    positions: Rotary(theta: 100, fraction: 0.5, scaling: Llama3(factor: 8, low: 1, high: 4, tokens: 8))
        no issues
    key_value_heads: 3
        a.ron:19:49: key_value_heads: 3 does not divide heads: 2; expected a divisor of heads
    key_value_heads: 1, projections: false
        a.ron:19:49: key_value_heads: without projections, a head has its slice of the word's vector; expected projections: true
    positions: Rotary(theta: 0.5, fraction: 2)
        a.ron:19:57: theta: found the number 0.5; expected a number from 1 to 100000000
        a.ron:19:72: fraction: found the number 2; expected a number above 0 and at most 1
    positions: Rotary(fraction: 0.1)
        a.ron:19:32: positions: rotary positions rotate pairs of columns, but keys are only 8 wide; expected a larger fraction, or wider keys
    positions: Rotary(scaling: Linear(0))
        a.ron:19:66: scaling: found the number 0; expected a number from 0.001 to 1000
    positions: Rotary(scaling: Llama3(factor: 8, low: 4, high: 4, tokens: 8))
        a.ron:19:85: high: 4 is not above low: 4; expected a larger number
    branches: Parallel, feed_forward: 8
        a.ron:19:32: branches: parallel branches need a norm before each branch and a residual connection; expected norm: Pre
    norm: Pre, branches: Parallel
        a.ron:19:43: branches: parallel branches need a feed-forward part; expected feed_forward: 64, or another number
    gated: true
        a.ron:19:32: gated: there is no feed-forward layer to gate; expected feed_forward: 64, or another number
    score_cap: 0, window: Window(before: -1)
        a.ron:19:43: score_cap: found the number 0; expected a number from 0.001 to 1000
        a.ron:19:69: before: found the number -1; expected a whole number from 0 to 64
    norm_kind: RMS, query_key_norm: Each
        a.ron:19:43: norm_kind: found RMS; expected Layer or Rms; did you mean "Rms"? Capitals matter here
        a.ron:19:64: query_key_norm: found Each; expected None, Heads or Whole
"#;

#[test]
fn switches() {
    const CLAIMS: &str = "claims: [\n";
    let check = |switches: &str, issue: &str| check(CLAIMS, &format!("switches: [{switches}],\n    {CLAIMS}"), issue);
    for (written, issues) in cases(
        r#"
        Switch(name: "Two", model: Attention(layers: 2, heads: 4)), Switch(name: "B", model: (bias: false))
            no issues
        Switch(name: "A", model: Attention(layer: 2)), Switch(name: "A", tip: 3, model: Attention(heads: 3))
            a.ron:29:86: tip: found the number 3; expected text in double quotes
        Switch(name: "A", model: Attention(layers: 0))
            a.ron:29:59: layers: found the number 0; expected a whole number from 1 to 8
        Switch(name: "A", model: Attention(heads: 3)), Switch(name: "B", model: Attention())
            a.ron:29:88: model: found Attention(); expected the fields that change
        Switch(name: "A", model: Attention(heads: 3))
            a.ron:29:58: heads: 3 does not divide dim: 16; expected 1, 2, 4, 8 or 16, or key_width and value_width
        Switch(name: "A", model: Attention(objective: NextWord))
            a.ron:29:51: a switch cannot change objective, which the rest of the lesson relies on; expected fields other than objective, readout, pool or max_tokens
        Switch(name: "A", model: Attention(heads: 1)), Switch(name: "A", model: Attention(heads: 4))
            a.ron:29:63: switch "A" appears twice
    "#,
    ) {
        check(written, &issues);
    }
    let many: Vec<String> = (0..8).map(|i| format!(r#"Switch(name: "{i}", model: Attention(heads: 1))"#)).collect();
    check(&many.join(", "), "a.ron:29:15: switches: 8 entries; expected at most 7");
}

/// A claim is about the model with its switches on, which may have other facts.
#[test]
fn claims_with_switches() {
    const CLAIMS: &str = "claims: [\n";
    const SWITCHES: &str = r#"switches: [
        Switch(name: "Four", model: Attention(heads: 4)),
        Switch(name: "Shared", model: Attention(key_value_heads: 1)),
        Switch(name: "Wide", model: Attention(heads: 16, key_value_heads: 16)),
    ]"#;
    let check = |with: &str, issue: &str| {
        let claim = format!(
            r#"Claim(id: "w", says: "W", {with} fact: Weight(sentence: 0, head: 3, query: 0, key: 0), expect: AtMost(1)),"#
        );
        check(CLAIMS, &format!("{SWITCHES},\n    {CLAIMS}        {claim}\n"), issue);
    };
    check("", "a.ron:35:68: head: found the number 3; expected a whole number from 0 to 1");
    for (written, issues) in cases(
        r#"
        with: ["Four"],
            no issues
        with: ["For"],
            a.ron:35:42: with: the lesson has no switch "For"; expected Four, Shared or Wide; did you mean "Four"?
    "#,
    ) {
        check(written, &issues);
    }
    let switches: Vec<String> = (0..4).map(|i| format!(r#"Switch(name: "{i}", model: Attention(heads: 1))"#)).collect();
    let claim = |bits: usize| {
        let with: Vec<String> = (0..4).filter(|i| bits >> i & 1 == 1).map(|i| format!("\"{i}\"")).collect();
        format!(r#"Claim(id: "{bits}", says: "W", with: [{}], fact: FinalLoss, expect: AtMost(9)),"#, with.join(", "))
    };
    let claims = |count: usize| (0..=count).map(claim).collect::<String>();
    let with = |count| format!("switches: [{}],\n    {CLAIMS}{}\n", switches.join(", "), claims(count));
    super::check(CLAIMS, &with(8), "no issues");
    super::check(
        CLAIMS,
        &with(9),
        "a.ron:30:13: claims: 9 combinations of switches, each of which is trained; expected at most 8",
    );
}
