//! The function `forward`: what it hands to a model, what a cell reads of the pass, and its faults.

use std::sync::Arc;

use attune_engine::code::budget::RUN_PRODUCTS_MAX;
use attune_engine::code::{
    Axis, Charge, CodePass, Fault, Forward, Output, PassChanges, PassTensors, RunnableModel, Scope, Tensor, run,
};
use attune_engine::vectors::Vectors;

use super::{cell, fault, number, words};

/// The multiplications of a pass of [`Counter`].
const WORK: u64 = RUN_PRODUCTS_MAX / 4;

/// A model whose `A` says how many bytes the sentence has, its `Q` how many heads are off, and its `Z` how often the
/// sentence has each word.
struct Counter;

struct Counted {
    sentence: String,
    off: usize,
}

impl Forward for Counter {
    fn pass(&self, sentence: &str, changes: &PassChanges, charge: Charge<'_>) -> Result<CodePass, Fault> {
        charge(WORK)?;
        let off = match changes {
            PassChanges::Without(off) => off.len(),
            PassChanges::Only(only) => only.heads.len(),
        };
        Ok(CodePass { sentence: sentence.into(), tensors: Arc::new(Counted { sentence: sentence.to_owned(), off }) })
    }

    fn vectors(&self, words: &[String]) -> Result<Tensor, Fault> {
        let axes = vec![Axis::labelled(words.into()), Axis::plain(2)];
        Ok(Tensor::new(axes, vec![words.len() as f64; 2 * words.len()]))
    }

    fn write(&self, sentence: &str, beams: usize, charge: Charge<'_>) -> Result<String, Fault> {
        charge(WORK)?;
        Ok(vec![sentence; beams].join(" "))
    }

    fn beside(&self, name: &str) -> Result<Arc<dyn Forward>, Fault> {
        if name == "other" { Ok(Arc::new(Self)) } else { Err(Fault::new(format!("the model {name:?}: there is none"))) }
    }

    fn file(&self, name: &str) -> Result<Arc<Vectors>, Fault> {
        Err(Fault::new(format!("{name:?}: there is no such file")))
    }

    fn neighbours(&self, expression: &str, count: usize, charge: Charge<'_>) -> Result<Vec<(String, f64)>, Fault> {
        charge(WORK)?;
        Ok(vec![(expression.to_owned(), 0.5); count])
    }
}

impl PassTensors for Counted {
    fn tensor(&self, name: &str) -> Result<Tensor, Fault> {
        let rows = |x: usize| Tensor::new(vec![Axis::labelled(words())], vec![x as f64; 3]);
        match name {
            "A" => Ok(rows(self.sentence.len())),
            "Z" => {
                let labels = words();
                let counts = labels.iter().map(|word| self.sentence.matches(&**word).count() as f64).collect();
                Ok(Tensor::new(vec![Axis::labelled(labels)], counts))
            }
            "Q" => Ok(rows(self.off)),
            other => Err(Fault::new(format!("a forward pass has no `{other}`"))),
        }
    }
}

pub fn model() -> RunnableModel {
    RunnableModel(Arc::new(Counter))
}

#[test]
fn a_pass_is_read_by_the_names_of_its_tensors() {
    assert_eq!(number(r#"forward("the bank").A[0]"#), 8.0);
    assert_eq!(number(r#"let pass = forward("the bank", [0, 2]); pass.Q["river"]"#), 2.0);
    assert_eq!(number(r#"fn all(off) { forward("the", off).Q[1] } all([1])"#), 1.0);
    let shown = cell(r#"forward("the bank")"#).outputs;
    assert_eq!(shown, [Output::Text(r#"pass of "the bank""#.into())]);
}

#[test]
fn a_pass_has_faults_with_places() {
    assert_eq!(fault(r#"let x = forward("the").X;"#), "1:23: a forward pass has no `X`");
    assert_eq!(fault("forward(\"the\", [0.5])"), "1:1: forward: f64 is not a head; heads count from 0, as in [0, 2]");
    assert_eq!(fault("forward(\"the\", [-1])"), "1:1: forward: -1 is not a head; heads count from 0, as in [0, 2]");
    let found = run("forward(\"the\")", &Scope::default()).fault.expect("no model").to_string();
    assert_eq!(found, "1:1: forward: there is no model here yet");
}

#[test]
fn a_rate_is_the_share_of_right_answers() {
    assert_eq!(
        number(r#"rate([["the the", "the"], ["the bank bank", "the"], ["bank", "bank"], ["bank", "the"]])"#),
        0.5
    );
    // The right word need only be likelier than the wrong one, of equal ones neither is.
    assert_eq!(number(r#"rate([["the bank bank", "the", "river"], ["the bank", "the", "bank"]])"#), 0.5);
    assert_eq!(number(r#"rate([["the", "the"]], "other")"#), 1.0);
    assert_eq!(number(r#"forward("the bank", "other").A[0]"#), 8.0);
}

#[test]
fn another_model_is_asked_with_changes_and_writes() {
    assert_eq!(number(r#"forward("the bank", [0, 2], "other").Q[0]"#), 2.0);
    assert_eq!(number(r#"forward("the bank", #{ off: [3] }, "other").Q[0]"#), 1.0);
    let text = |code: &str| cell(code).outputs;
    assert_eq!(text(r#"write("the", 2)"#), [Output::Text("the the".into())]);
    assert_eq!(text(r#"write("bank", 1, "other")"#), [Output::Text("bank".into())]);
    assert_eq!(fault(r#"write("the", -1)"#), "1:1: write: -1 is not a count; use 0 or a larger whole number");
    let dear = fault(&format!("for i in 0..5 {{ {} }}", r#"write("the", 1);"#));
    assert!(dear.contains("multiplications"), "{dear}");
}

#[test]
fn a_rate_says_what_is_wrong_with_its_texts() {
    let form = "write each text with its right answer, and perhaps a wrong one";
    for (texts, found) in
        [("[]", "the list has no texts"), (r#"["the"]"#, "the is not a text"), (r#"[["the"]]"#, "is not a text")]
    {
        let fault = fault(&format!("rate({texts})"));
        assert!(fault.starts_with("1:1: rate: ") && fault.contains(found) && fault.contains(form), "{fault}");
    }
    let unknown = fault(r#"rate([["the", "bonk"]])"#);
    assert_eq!(unknown, r#"1:1: rate: "bonk" is not among the words here; did you mean "bank"?"#);
    assert_eq!(fault(r#"rate([["the", "the"]], "none")"#), r#"1:1: rate: the model "none": there is none"#);
}

#[test]
fn static_vectors_are_asked_for_by_their_words() {
    assert_eq!(number(r#"vectors(["the", "bank"])["bank"][1]"#), 2.0);
    let near = cell(r#"neighbours("the + bank", 2)"#).outputs;
    assert_eq!(near, [Output::Ranking(vec![("the + bank".to_owned(), 0.5); 2].into())]);
    assert!(fault("vectors([1])").starts_with("1:1: vectors: i64 is not a word; give a list of words"));
    let found = run("neighbours(\"the\", 2)", &Scope::default()).fault.expect("no model").to_string();
    assert_eq!(found, "1:1: neighbours: there is no model here yet");
    for (code, function) in [("vectors(\"x\")", "vectors"), ("neighbours(\"x\", \"the\", 2)", "neighbours")] {
        assert_eq!(fault(code), format!("1:1: {function}: \"x\": there is no such file"));
    }
}

#[test]
fn passes_are_charged_as_products_are() {
    assert_eq!(cell(r#"for i in 0..4 { forward("the"); }"#).fault, None);
    let found = fault(r#"for i in 0..5 { forward("the"); }"#);
    assert!(found.starts_with("1:17: the products of this cell take more than"), "{found}");
}
