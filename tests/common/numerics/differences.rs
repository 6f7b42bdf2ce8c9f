//! Gradients by central differences.

use crate::common::close::{Tolerance, is_each_close};

/// Step of the difference: its error is of the order of the square.
const STEP: f64 = 1e-5;

/// The most entries of one gradient that [`check`] takes. All of them are compared with the reference besides, and
/// `a_wrong_gradient_is_caught_in_each_tensor` compares all of two models with differences.
const ENTRIES_MAX: usize = 150;

pub fn central_differences(at: &[f64], loss: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    differences_of(at, 0..at.len(), loss)
}

fn differences_of(at: &[f64], entries: impl Iterator<Item = usize>, mut loss: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut x = at.to_vec();
    entries
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

/// Compares entries that lie evenly in a gradient, the first among them.
///
/// # Panics
/// If the gradient is not that of the loss.
#[track_caller]
pub fn check(name: &str, at: &[f64], gradient: &[f64], loss: impl FnMut(&[f64]) -> f64) {
    assert_eq!(at.len(), gradient.len(), "{name}: as many entries");
    let entries = (0..at.len()).step_by(at.len().div_ceil(ENTRIES_MAX).max(1));
    let found: Vec<f64> = entries.clone().map(|i| gradient[i]).collect();
    if let Err(error) = compare(name, &found, &differences_of(at, entries, loss)) {
        panic!("{error}");
    }
}
