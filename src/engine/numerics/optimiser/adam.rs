//! Adam (Kingma & Ba 2015, arXiv 1412.6980, Algorithm 1), with weight decay apart from the gradient.

use super::{Method, OptimiserConfig};
use crate::numerics::Scalar;
use crate::numerics::simd::vectorized;

/// The numbers that all entries share in one step.
pub(super) struct Coefficients<S> {
    keep1: S,
    take1: S,
    keep2: S,
    take2: S,
    /// `η / (1 − β₁ᵗ)`
    rate: S,
    /// `1 / (1 − β₂ᵗ)`
    unbias2: S,
    epsilon: S,
    /// `1 − η λ`
    shrink: S,
    /// The root of the least normal number that a gradient may add to the second moment.
    least_gradient: S,
}

impl<S: Scalar> Coefficients<S> {
    /// Makes them for step `t`, counted from 1.
    pub fn of(config: &OptimiserConfig, t: i32) -> Self {
        let Method::Adam { beta1, beta2, epsilon } = config.method else {
            unreachable!("these are Adam's coefficients, not those of {:?}", config.method)
        };
        let s = S::from_f64;
        let take2 = s(1.0 - beta2);
        Self {
            keep1: s(beta1),
            take1: s(1.0 - beta1),
            keep2: s(beta2),
            take2,
            rate: s(config.learning_rate / (1.0 - beta1.powi(t))),
            unbias2: s(1.0 / (1.0 - beta2.powi(t))),
            epsilon: s(epsilon),
            shrink: s(config.shrink()),
            least_gradient: (S::MIN_POSITIVE / take2).sqrt(),
        }
    }
}

/// `m = β₁ m + (1 − β₁) g`, `v = β₂ v + (1 − β₂) g²`,
/// `θ = (1 − η λ) θ − η · (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)`
///
/// A gradient whose square `v` could not hold counts as 0, and a moment that has faded to a subnormal
/// number becomes 0: it would stay one for ever, and a processor takes a hundred times as long on them.
pub(super) fn update<S: Scalar>(
    coefficients: &Coefficients<S>,
    values: &mut [S],
    gradient: &[S],
    first: &mut [S],
    second: &mut [S],
) {
    let &Coefficients { keep1, take1, keep2, take2, rate, unbias2, epsilon, shrink, least_gradient } = coefficients;
    vectorized!(for ((value, &g), (m, v)) in values.iter_mut().zip(gradient).zip(first.iter_mut().zip(second)) {
        let g = g.zero_below(least_gradient);
        *m = (keep1 * *m + take1 * g).zero_below(S::MIN_POSITIVE);
        *v = (keep2 * *v + take2 * g * g).zero_below(S::MIN_POSITIVE);
        *value = shrink * *value - rate * *m / ((*v * unbias2).sqrt() + epsilon);
    });
}
