//! Softmax over a row.

use super::Scalar;

/// `p_j = exp(s_j − max s) / Σ_k exp(s_k − max s)`
///
/// The shift changes nothing but keeps `exp` finite. A row that is −∞ throughout (every key
/// masked) attends to nothing: all its weights are 0.
///
/// ```
/// # use attune::numerics::softmax::softmax_forward;
/// let mut weights = [0.0; 2];
/// softmax_forward(&[6.0, 4.0], &mut weights);
/// assert!((weights[0] - 0.88080f64).abs() < 1e-5);
/// ```
///
/// # Panics
/// If the rows differ in length.
pub fn softmax_forward<S: Scalar>(scores: &[S], weights: &mut [S]) {
    assert_eq!(scores.len(), weights.len(), "softmax: {} scores, {} weights", scores.len(), weights.len());
    let max = scores.iter().copied().fold(S::NEG_INFINITY, Scalar::max);
    if max == S::NEG_INFINITY {
        weights.fill(S::zero());
        return;
    }
    let mut sum = S::zero();
    for (weight, &score) in weights.iter_mut().zip(scores) {
        *weight = (score - max).exp();
        sum += *weight;
    }
    let scale = S::one() / sum;
    for weight in weights {
        *weight *= scale;
    }
}

/// `d_s_j = p_j (d_p_j − Σ_k p_k d_p_k)`, in place: `d` holds `d_p` and becomes `d_s`.
///
/// # Panics
/// If the rows differ in length.
pub fn softmax_backward<S: Scalar>(weights: &[S], d: &mut [S]) {
    assert_eq!(weights.len(), d.len(), "softmax backward: {} weights, {} gradients", weights.len(), d.len());
    let mean: S = weights.iter().zip(d.iter()).map(|(&p, &d)| p * d).sum();
    for (d, &p) in d.iter_mut().zip(weights) {
        *d = p * (*d - mean);
    }
}
