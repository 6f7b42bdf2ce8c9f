//! `attune trace` with a head off, an edge out, or a vector of another sentence.

use serde_json::Value;

use crate::program::attune;

/// The model that comes with the course: layers of several heads.
const MODEL: &str = "lessons/depth";
const SENTENCE: &str = "the bank of the river was muddy .";

fn traced(options: &[&str]) -> Value {
    let output = attune(&[&["trace", MODEL, "--sentence", SENTENCE], options].concat());
    assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a trace is JSON")
}

/// The rows of a tensor.
fn rows(trace: &Value, name: &str) -> Vec<Vec<f64>> {
    let rows = trace["tensors"][name]["rows"].clone();
    serde_json::from_value(rows).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_change_is_in_the_trace_and_earlier_layers_are_as_they_were() {
    let plain = traced(&[]);
    assert!(plain.get("interventions").is_none());
    let off = traced(&["--head", "2.1=off,2.2=0.5"]);
    let heads = plain["config"]["blocks"][0]["heads"].as_u64().expect("a number") as usize;
    let changed = &off["interventions"]["heads"];
    assert_eq!((&changed[heads.to_string()], &changed[(heads + 1).to_string()]), (&"off".into(), &0.5.into()));
    assert_eq!(rows(&plain, "output[block 0]"), rows(&off, "output[block 0]"));
    assert_ne!(rows(&plain, "output[block 1]"), rows(&off, "output[block 1]"));
    assert_ne!(plain["tensors"]["logits"], off["tensors"]["logits"]);
}

#[test]
fn an_edge_that_is_taken_out_has_no_weight() {
    let without = traced(&["--without", "1.2:4-2"]);
    assert_eq!(rows(&without, "weights[1]")[3][1], 0.0);
    assert_eq!(without["interventions"]["edges"], serde_json::json!([[1, 3, 1]]));
}

#[test]
fn a_patch_puts_in_the_vector_of_the_other_sentence() {
    let other = "the bank was open .";
    let of_other = attune(&["trace", MODEL, "--sentence", other]);
    let of_other: Value = serde_json::from_slice(&of_other.stdout).expect("a trace is JSON");
    let patched = traced(&["--patch", "3:3=3", "--second", other]);
    assert_eq!(rows(&patched, "input[block 2]")[2], rows(&of_other, "input[block 2]")[2]);
    assert_eq!(rows(&patched, "input[block 2]")[3], rows(&traced(&[]), "input[block 2]")[3]);
    let patch = &patched["interventions"]["patch"];
    assert_eq!((&patch["block"], &patch["position"], &patch["from"]), (&2.into(), &2.into(), &2.into()));
}
