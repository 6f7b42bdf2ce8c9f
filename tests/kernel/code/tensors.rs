//! Tensors: products, shapes, indices, functions.

use attune_engine::code::{Output, REFERENCE};

use super::{cell, given, last, number, table, words};
use crate::common::close::{Tolerance, assert_close};

#[track_caller]
fn assert_entries(source: &str, shape: &str, expected: &[f64]) {
    let found = table(source);
    assert_eq!(found.shape().to_string(), shape, "{source}");
    assert_close(source, found.entries(), expected, Tolerance::DOUBLE_PASS);
}

#[test]
fn products_are_those_of_matrices_and_operators_go_entry_by_entry() {
    assert_entries("E @ W", "(3, 2)", &[0.0, 1.0, 4.0, 6.0, 8.0, 15.0]);
    assert_entries("W * W + 1 - W / 2", "(2, 2)", &[1.0, 1.5, 4.0, 8.5]);
    assert_entries("2 ** W", "(2, 2)", &[1.0, 2.0, 4.0, 8.0]);
    assert_entries("-W", "(2, 2)", &[0.0, -1.0, -2.0, -3.0]);
    assert_entries("W @ vector([1, 2])", "(2)", &[2.0, 8.0]);
    assert_entries("vector([1, 2]) @ W", "(2)", &[4.0, 7.0]);
    assert_eq!(number("vector([1, 2]) @ vector([3, 4])"), 11.0);
    // @ binds as * does: first come, first served, and before +.
    assert_eq!(number("(1 + vector([1, 0]) @ vector([3, 4]) * 2)"), 7.0);
}

#[test]
fn a_row_is_repeated_where_it_must_be() {
    assert_entries("W + vector([10, 20])", "(2, 2)", &[10.0, 21.0, 12.0, 23.0]);
    assert_entries("W * matrix([[10], [100]])", "(2, 2)", &[0.0, 10.0, 200.0, 300.0]);
    assert_entries(
        "Q + vector([0, 100])",
        "(2, 3, 2)",
        &(0..12).map(|i| (i + 100 * (i % 2)) as f64).collect::<Vec<_>>(),
    );
}

#[test]
fn turned_round_twice_is_itself() {
    assert_entries("E.T", "(2, 3)", &[1.0, 0.0, 3.0, 0.0, 2.0, 4.0]);
    assert_eq!(table("E.T.T"), table("E"));
    assert_eq!(table("vector([1, 2]).T"), table("vector([1, 2])"));
    assert_entries("Q.T[1, 0]", "(3)", &[6.0, 8.0, 10.0]);
}

#[test]
fn words_numbers_and_ranges_choose_entries() {
    assert_entries(r#"E["bank"]"#, "(2)", &[0.0, 2.0]);
    assert_eq!(number(r#"E["river", 1]"#), 4.0);
    assert_eq!(number(r#"E["river"][1]"#), 4.0);
    assert_eq!(number("E[-1, -2]"), 3.0);
    assert_entries("E[1..3]", "(2, 2)", &[0.0, 2.0, 3.0, 4.0]);
    assert_entries("E[1..]", "(2, 2)", &[0.0, 2.0, 3.0, 4.0]);
    assert_entries("E[0..=1, 0..1]", "(2, 1)", &[1.0, 0.0]);
    assert_entries("E[.., 1]", "(3)", &[0.0, 2.0, 4.0]);
    assert_entries("Q[1]", "(3, 2)", &[6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    assert_entries(r#"Q[0, "bank"]"#, "(2)", &[2.0, 3.0]);
}

#[test]
fn a_single_head_need_not_be_said() {
    assert_eq!(number(r#"A["bank", "river"]"#), 5.0);
    assert_eq!(number(r#"A[0]["bank", "river"]"#), 5.0);
    assert_eq!(number(r#"A[0, "bank", "river"]"#), 5.0);
    assert_entries(r#"A["bank"]"#, "(3)", &[3.0, 4.0, 5.0]);
}

#[test]
fn words_stay_with_their_rows() {
    let labels = |source: &str| table(source).axes().iter().map(|axis| axis.labels.clone()).collect::<Vec<_>>();
    assert_eq!(labels("E @ E.T"), [Some(words()), Some(words())]);
    assert_eq!(labels("softmax(E @ E.T) * 2"), [Some(words()), Some(words())]);
    assert_eq!(labels("E + zeros(3, 2)"), [Some(words()), None]);
    assert_eq!(labels("sum(E)"), [Some(words())]);
    assert_eq!(labels("E[1..3]"), [Some(words()[1..3].into()), None]);
}

#[test]
fn entries_are_written_one_by_one_or_together() {
    for (source, expected) in [
        ("W[0, 1] = 7.5; W", [0.0, 7.5, 2.0, 3.0]),
        ("W[0][1] = 7; W", [0.0, 7.0, 2.0, 3.0]),
        ("W[0, 1] += 2; W", [0.0, 3.0, 2.0, 3.0]),
        ("W[1] = vector([8, 9]); W", [0.0, 1.0, 8.0, 9.0]),
        ("W[.., 0] = 5; W", [5.0, 1.0, 5.0, 3.0]),
        ("W = W * 2; W", [0.0, 2.0, 4.0, 6.0]),
    ] {
        assert_entries(source, "(2, 2)", &expected);
        let run = super::cell(source);
        let written: Vec<_> = run.written.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(written, ["W"], "{source}");
        assert_eq!(run.written[0].as_tensor().expect("a tensor").entries(), expected, "{source}");
    }
    assert!(super::cell("let V = W; V[0, 0] = 9.0; W[0, 0] = W[0, 0];").written.is_empty(), "a copy is another tensor");
}

#[test]
fn softmax_rows_sum_to_one_and_a_mask_hides() {
    assert_entries("softmax(vector([6, 4]))", "(2)", &[0.8807970779778823, 0.11920292202211757]);
    assert_entries("sum(softmax(E @ E.T))", "(3)", &[1.0; 3]);
    assert_entries("softmax(mask(zeros(2, 2)))", "(2, 2)", &[1.0, 0.0, 0.5, 0.5]);
    assert_entries("mask(zeros(1, 3))", "(1, 3)", &[0.0, f64::NEG_INFINITY, f64::NEG_INFINITY]);
}

#[test]
fn functions_of_rows() {
    assert_entries("mean(W)", "(2)", &[0.5, 2.5]);
    assert_entries("max(E)", "(3)", &[1.0, 2.0, 4.0]);
    assert_eq!(number("min(vector([3, 1, 2]))"), 1.0);
    assert_eq!(number("norm(vector([3, 4]))"), 5.0);
    assert_entries("norm(E)", "(3)", &[1.0, 2.0, 5.0]);
    assert_close("a cosine", number(r#"cosine(E["bank"], E["river"])"#), 0.8, Tolerance::DOUBLE_PASS);
    assert_eq!(last(r#"argmax(A["bank"])"#), Output::Text("river".into()));
    assert_eq!(number("argmax(vector([3, 9, 2]))"), 1.0);
    assert_eq!(last("shape(Q)"), Output::Text("[2, 3, 2]".into()));
    for source in ["vector([1, 0.0 / 0.0])", "vector([0.0 / 0.0, 1])", "0.0 / 0.0, 1.0", "1, 0.0 / 0.0", "0.0 / 0.0, 1"]
    {
        for name in ["max", "min"] {
            assert!(number(&format!("{name}({source})")).is_nan(), "{name}({source}): NaN is not hidden");
        }
    }
    assert_eq!((number("max(1, 2.5)"), number("min(1, 2.5)"), number("min(-1.5, 2.5)")), (2.5, 1.0, -1.5));
    for source in
        ["vector([0.0 / 0.0, 2.0, 1.0])", "vector([2.0, 1.0, 0.0 / 0.0])", "matrix([[1.0, 2.0], [0.0 / 0.0, 1.0]])"]
    {
        let fault = cell(&format!("argmax({source})")).fault.expect("NaN has no place in an order");
        assert_eq!(fault.message, "argmax: an entry is NaN, so none is the largest", "{source}");
    }
    assert_eq!(number("argmax(vector([1.0, 1.0 / 0.0, -1.0 / 0.0]))"), 1.0);
    let Output::Ranking(neighbours) = last(r#"nearest(E, E["bank"], 2)"#) else { panic!("no ranking") };
    assert_eq!(neighbours[0], ("bank".to_owned(), 1.0));
    assert_eq!(neighbours[1].0, "river");
}

#[test]
fn random_numbers_are_the_same_with_each_run_and_differ_from_call_to_call() {
    assert_eq!(table("random(4, 5)"), table("random(4, 5)"));
    assert_ne!(table("random(4, 5)"), table("random(4, 5); random(4, 5)"));
    assert!(table("random(40, 5)").entries().iter().all(|x| (-1.0..1.0).contains(x)));
}

#[test]
fn every_example_of_the_reference_runs() {
    for help in REFERENCE {
        let run = super::cell(help.example);
        assert_eq!(run.fault, None, "{}: {}", help.name, help.example);
        assert!(!run.outputs.is_empty(), "{}: {} shows nothing", help.name, help.example);
        assert!(help.call.starts_with(help.name), "{}", help.call);
    }
    assert!(given().len() > 1);
}
