//! Values, gradients and whole trainings against NumPy and PyTorch. The scripts that computed them
//! lie beside the fixtures; how to run one stands at its top.

#[path = "../common/mod.rs"]
mod common;

mod numpy;
mod torch;
mod training;
mod word2vec;

use std::sync::LazyLock;

use attune::numerics::{Matrix, Scalar};
use serde_json::Value;

use crate::common::json;

/// Against double precision, in double precision.
const EXACT: f64 = 1e-12;
/// In single precision.
const SINGLE: f64 = 1e-5;

/// A fixture, parsed once.
type Fixture = LazyLock<Value>;

/// To a tolerance relative to the larger of the matrix's largest entry and 1.
#[track_caller]
fn assert_close<S: Scalar>(name: &str, found: &[S], expected: &Value, tolerance: f64) {
    let expected = json::matrix(expected);
    let difference = common::largest_difference(found, expected.cast::<S>().flat());
    let scale = expected.flat().iter().fold(1f64, |most, x| most.max(x.abs()));
    assert!(difference <= tolerance * scale, "{name} is off by {difference:e}: {found:?}, but {expected:?}");
}

fn cast<S: Scalar>(value: &Value) -> Matrix<S> {
    json::matrix(value).cast()
}
