//! Values, gradients and whole trainings against NumPy and PyTorch. The scripts that computed them
//! lie beside the fixtures; how to run one stands at its top.

mod arrival;
mod numpy;
mod today;
mod torch;
mod training;
mod word2vec;

use std::sync::LazyLock;

use attune_engine::numerics::block::Norm;
use attune_engine::numerics::params::{Parameters, TensorId};
use attune_engine::numerics::{Matrix, Scalar};
use serde_json::Value;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::numerics::{exact, json};

/// Against double precision, in double precision.
const EXACT: Tolerance = Tolerance::DOUBLE_PASS;
/// In single precision.
const SINGLE: Tolerance = Tolerance::SINGLE_PASS;

/// A fixture, parsed once.
type Fixture = LazyLock<Value>;

/// The largest entry.
fn largest<S: Scalar>(m: &Matrix<S>) -> f64 {
    m.flat().iter().fold(0.0, |most, x| f64::max(most, x.to_f64().abs()))
}

/// To a tolerance relative to the matrix's largest entry.
#[track_caller]
fn assert_close<S: Scalar>(name: &str, found: &[S], expected: &Value, tolerance: Tolerance) {
    let expected = json::matrix(expected).cast::<S>();
    assert_close_beside(largest(&expected), name, exact(found), exact(expected.flat()), tolerance);
}

fn cast<S: Scalar>(value: &Value) -> Matrix<S> {
    json::matrix(value).cast()
}

fn norm(case: &Value) -> Norm {
    match case["norm"].as_str() {
        Some("pre") => Norm::Pre,
        Some("post") => Norm::Post,
        _ => Norm::None,
    }
}

/// Every tensor gets its value, and there are no values of others.
#[track_caller]
fn fill<'v, S: Scalar>(parameters: &mut Parameters<S>, given: usize, value: impl Fn(TensorId) -> &'v Value) {
    let ids: Vec<TensorId> = parameters.specs().iter().map(|spec| spec.id).collect();
    assert_eq!(ids.len(), given, "the tensors are the same");
    ids.into_iter().for_each(|id| parameters.values_of_mut(id).copy_from_slice(cast::<S>(value(id)).flat()));
}
