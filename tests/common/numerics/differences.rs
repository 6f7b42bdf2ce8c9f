//! Gradients by central differences.

use crate::common::close::{Tolerance, is_each_close};

/// Step of the difference: its error is of the order of the square.
const STEP: f64 = 1e-5;

pub fn central_differences(at: &[f64], mut loss: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut x = at.to_vec();
    (0..x.len())
        .map(|i| {
            x[i] = at[i] + STEP;
            let above = loss(&x);
            x[i] = at[i] - STEP;
            let below = loss(&x);
            x[i] = at[i];
            (above - below) / (2.0 * STEP)
        })
        .collect()
}

/// The gradient is the one that differences give.
///
/// # Errors
/// The entry that is wrong.
pub fn compare(name: &str, gradient: &[f64], numeric: &[f64]) -> Result<(), String> {
    is_each_close(gradient, numeric, Tolerance::DIFFERENCES).map_err(|why| format!("{name}: {why}"))
}

/// # Panics
/// If the gradient is not that of the loss.
#[track_caller]
pub fn check(name: &str, at: &[f64], gradient: &[f64], loss: impl FnMut(&[f64]) -> f64) {
    if let Err(error) = compare(name, gradient, &central_differences(at, loss)) {
        panic!("{error}");
    }
}
