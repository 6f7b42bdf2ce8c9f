//! Values, gradients and whole trainings against NumPy and PyTorch. The scripts that computed them
//! lie beside the fixtures; how to run one stands at its top.

mod arrival;
mod numpy;
mod today;
mod torch;
mod training;
mod word2vec;

use std::sync::LazyLock;

use attune_engine::numerics::{Matrix, Scalar};
use serde_json::Value;

use crate::common::numerics::json;

/// Against double precision, in double precision.
const EXACT: f64 = 1e-12;
/// In single precision.
const SINGLE: f64 = 1e-5;

/// A fixture, parsed once.
type Fixture = LazyLock<Value>;

/// The largest entry.
fn largest<S: Scalar>(m: &Matrix<S>) -> f64 {
    m.flat().iter().fold(0.0, |most, x| f64::max(most, x.to_f64().abs()))
}

/// To a tolerance relative to the matrix's largest entry.
#[track_caller]
fn assert_close<S: Scalar>(name: &str, found: &[S], expected: &Value, tolerance: f64) {
    let expected = json::matrix(expected);
    let difference = crate::common::numerics::largest_difference(found, expected.cast::<S>().flat());
    assert!(
        difference <= tolerance * largest(&expected),
        "{name} is off by {difference:e}: {found:?}, but {expected:?}"
    );
}

fn cast<S: Scalar>(value: &Value) -> Matrix<S> {
    json::matrix(value).cast()
}
