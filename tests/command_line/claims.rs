//! `attune check` of claims about a model's heads over a file of texts.

use std::fs;

use crate::common::folder::Folder;
use crate::common::models::fixture;
use crate::program::{attune, ended, said};

/// Texts that repeat words, over which heads 1 to 4 of layer 2 of the shipped writer look behind earlier copies.
const TEXTS: &str = "lamp fox green lamp fox green lamp fox\nfox lamp the fox lamp the fox\n";

/// Writes a file of claims about a model and its texts.
fn written(name: &str, model: &str, claims: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.join("texts.txt"), TEXTS).expect("written");
    let text = format!(
        "// Claims\nClaims(\n    model: Pretrained({model:?}),\n    texts: \"texts.txt\",\n    claims: [\n{claims}    ],\n)\n"
    );
    fs::write(folder.join("claims.ron"), text).expect("written");
    folder
}

fn writer() -> String {
    format!("{}/lessons/writer", env!("CARGO_MANIFEST_DIR"))
}

fn claim(id: &str, fact: &str, expect: &str) -> String {
    format!("        Claim(id: {id:?}, says: \"so\", fact: OverTexts({fact}), expect: {expect}),\n")
}

#[test]
fn a_file_of_claims_is_true_or_says_what_was_measured() {
    let of = |measure: &str| {
        let folder = Folder::new("claims-json");
        fs::write(folder.join("texts.txt"), TEXTS).expect("written");
        let output = attune(&["heads", "lessons/writer", &folder.file("texts.txt"), "--json"]);
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        found["heads"][5][measure].as_f64().expect("a number")
    };
    let induction = of("induction_score");
    let near = format!("Within(value: {induction}, tolerance: 1e-4)");
    let good = [
        claim("induction", "measure: induction_score, layer: 1, head: 1", &near),
        claim("spread", "measure: pattern_entropy, layer: 0, head: 2", "AtMost(3)"),
        claim("usual", "measure: first, quantile: 0.5, layer: 3, head: 0", "AtLeast(0)"),
    ];
    let folder = written("claims-good", &writer(), &good.concat());
    ended(said(&["check", &folder.file("claims.ron")]), 0, "ok, 0 cells, 3 claims hold");

    let bad = claim("too-much", "measure: induction_score, layer: 1, head: 1", "AtLeast(0.99)");
    let folder = written("claims-bad", &writer(), &bad);
    let (code, words) = said(&["check", &folder.file("claims.ron")]);
    assert_eq!(code, Some(1), "{words}");
    let line =
        format!("claims.ron:6:9: claim \"too-much\" does not hold: measured {induction:.5}, expected at least 0.99");
    assert!(words.contains(&line), "{words}");
}

#[test]
fn claims_of_what_is_not_there_are_refused_at_their_place() {
    let cases = [
        (
            "measure: inductoin_score, layer: 1, head: 1",
            ":6:61: measure: inductoin_score is no measure of a head over texts",
        ),
        (
            "measure: induction_score, layer: 1, head: 9",
            ":6:94: head: found the number 9; expected a whole number from 0 to 3",
        ),
        (
            "measure: induction_score, layer: 4, head: 0",
            ":6:85: layer: found the number 4; expected a whole number from 0 to 3",
        ),
        (
            "measure: entropy, layer: 0, head: 0",
            ":6:61: entropy is a distribution over texts; expected a quantile beside it",
        ),
        (
            "measure: entropy, quantile: 0.3, layer: 0, head: 0",
            "quantile: 0.3 is not among the quantiles that are measured",
        ),
        ("measure: qk_distance, quantile: 0.5, layer: 0, head: 0", "qk_distance is one number over all texts"),
        ("measure: aligned_score, layer: 0, head: 0", "layer 1, head 1 has no aligned_score"),
    ];
    for (number, (fact, words)) in cases.into_iter().enumerate() {
        let folder = written(&format!("claims-refused-{number}"), &writer(), &claim("a", fact, "AtLeast(0.1)"));
        ended(said(&["check", &folder.file("claims.ron")]), 1, words);
    }
    let folder = written("claims-no-texts", &writer(), &claim("a", cases[1].0, "AtLeast(0.1)"));
    fs::remove_file(folder.join("texts.txt")).expect("it was there");
    ended(said(&["check", &folder.file("claims.ron")]), 1, ":4:12: texts: \"texts.txt\" cannot be read");
}

#[test]
fn texts_that_cannot_be_measured_are_the_reason_of_the_claim() {
    let cases: [(&[u8], &str); 2] = [
        (b"the fox\nca\xe9\n", "measured nothing, because texts.txt: line 2 is not UTF-8 text; save the file as UTF-8"),
        (b"the fox saw\n", "measured nothing, because no text repeats a token"),
    ];
    let fact = "measure: induction_score, layer: 1, head: 1";
    for (number, (bytes, words)) in cases.into_iter().enumerate() {
        let folder = written(&format!("claims-unread-{number}"), &writer(), &claim("a", fact, "AtLeast(0.1)"));
        fs::write(folder.join("texts.txt"), bytes).expect("written");
        ended(said(&["check", &folder.file("claims.ron")]), 1, words);
    }
}

#[test]
fn claims_about_cross_attention_name_its_block() {
    let model = fixture("t5v11-wild").display().to_string();
    let folder = written("claims-cross", &model, &claim("a", "measure: monotony, layer: 4, head: 0", "AtLeast(0)"));
    fs::write(folder.join("texts.txt"), "5 6 7 ||| 8 9\n9 9 5\n").expect("written");
    let (code, words) = said(&["check", &folder.file("claims.ron")]);
    assert_eq!(code, Some(0), "{words}");
}
