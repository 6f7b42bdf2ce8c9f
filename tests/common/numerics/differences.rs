//! Gradients by central differences.

/// Step of the difference: its error is of the order of the square.
const STEP: f64 = 1e-5;
/// Largest error, relative to the larger of the gradient and 1.
const TOLERANCE: f64 = 1e-7;

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

/// The largest error of a gradient, or the entry that is wrong.
pub fn compare(name: &str, gradient: &[f64], numeric: &[f64]) -> Result<f64, String> {
    assert_eq!(gradient.len(), numeric.len(), "{name}: lengths");
    let mut worst = 0f64;
    for (i, (&analytic, &numeric)) in gradient.iter().zip(numeric).enumerate() {
        let error = (analytic - numeric).abs() / numeric.abs().max(1.0);
        // NaN is no pass.
        if !matches!(error.partial_cmp(&TOLERANCE), Some(std::cmp::Ordering::Less)) {
            return Err(format!("{name}[{i}]: the backward says {analytic}, differences say {numeric}"));
        }
        worst = worst.max(error);
    }
    Ok(worst)
}

/// # Panics
/// If the gradient is not that of the loss.
#[track_caller]
pub fn check(name: &str, at: &[f64], gradient: &[f64], loss: impl FnMut(&[f64]) -> f64) {
    if let Err(error) = compare(name, gradient, &central_differences(at, loss)) {
        panic!("{error}");
    }
}
