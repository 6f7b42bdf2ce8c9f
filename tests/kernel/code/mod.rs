//! The language of code cells: what it computes, what it refuses, and in which words.

mod bad_input;
mod forward;
mod language;
mod tensors;

use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::budget::Allowance;
use attune_engine::code::{Axis, Given, Labels, Output, Run, Scope, Tensor, Variable, run};

const SEED: u64 = 7;

fn words() -> Labels {
    Arc::from(["the", "bank", "river"].map(String::from))
}

/// `E` (3, 2) with words, `W` (2, 2) to write to, `A` (1, 3, 3) of one head, `Q` (2, 3, 2) of two heads.
fn given() -> Vec<Given> {
    let rows = || Axis::labelled(words());
    let numbers = |n: usize| (0..n).map(|i| i as f64).collect::<Vec<_>>();
    let e = Tensor::new(vec![rows(), Axis::plain(2)], vec![1.0, 0.0, 0.0, 2.0, 3.0, 4.0]);
    let a = Tensor::new(vec![Axis::plain(1), rows(), rows()], numbers(9));
    let q = Tensor::new(vec![Axis::plain(2), rows(), Axis::plain(2)], numbers(12));
    vec![
        Given::fixed(Variable::tensor("E", e), "the lesson gives it"),
        Given::writable(Variable::tensor("W", Tensor::matrix(2, 2, numbers(4)))),
        Given::fixed(Variable::tensor("A", a), "it follows from the scores"),
        Given::fixed(Variable::tensor("Q", q), "it follows from X and W_Q"),
        Given::writable(Variable::number("temperature", 1.0)),
    ]
}

/// A run ends by what it does, however long a busy machine takes for it.
const TIME_MAX: Duration = Duration::from_secs(600);

fn scope() -> Scope<'static> {
    let allowance = Allowance::within(TIME_MAX);
    Scope { given: given(), seed: SEED, model: Some(forward::model()), allowance, ..Scope::default() }
}

fn cell(source: &str) -> Run {
    run(source, &scope())
}

/// The last output of a cell without fault.
#[track_caller]
fn last(source: &str) -> Output {
    let run = cell(source);
    assert_eq!(run.fault, None, "{source}");
    run.outputs.last().cloned().unwrap_or_else(|| panic!("{source} shows nothing"))
}

#[track_caller]
fn number(source: &str) -> f64 {
    match last(source) {
        Output::Number(x) => x,
        other => panic!("{source} is {other:?}"),
    }
}

#[track_caller]
fn table(source: &str) -> Tensor {
    match last(source) {
        Output::Table { tensor, .. } => tensor,
        other => panic!("{source} is {other:?}"),
    }
}

/// `line:column: message; hint`
#[track_caller]
fn fault(source: &str) -> String {
    cell(source).fault.unwrap_or_else(|| panic!("{source} has no fault")).to_string()
}
