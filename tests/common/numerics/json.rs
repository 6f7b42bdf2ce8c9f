//! Fixtures: JSON whose matrices are lists of rows.

use attune_engine::numerics::Matrix;
use serde_json::Value;

pub fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the oracle's file is JSON")
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

pub fn size(value: &Value) -> usize {
    value.as_u64().expect("a size") as usize
}

/// A size, or null.
pub fn maybe_size(value: &Value) -> Option<usize> {
    value.as_u64().map(|size| size as usize)
}

pub fn flag(value: &Value) -> bool {
    value.as_bool().expect("true or false")
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

pub fn vector(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

pub fn sizes(value: &Value) -> Vec<usize> {
    list(value).iter().map(size).collect()
}

/// A list of rows; a list of numbers is one row.
pub fn matrix(value: &Value) -> Matrix<f64> {
    if list(value)[0].is_number() {
        return Matrix::from_row_major(1, list(value).len(), vector(value));
    }
    let rows: Vec<Vec<f64>> = list(value).iter().map(vector).collect();
    Matrix::from_row_major(rows.len(), rows[0].len(), rows.concat())
}
