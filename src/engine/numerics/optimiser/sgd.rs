//! Stochastic gradient descent (Robbins & Monro 1951), plain and with momentum (Polyak 1964, in the
//! form of Sutskever et al. 2013 that PyTorch has: the learning rate stands outside the velocity, so
//! that changing it takes effect at once).

use super::OptimiserConfig;
use crate::numerics::Scalar;

/// `θ = (1 − η λ) θ − η g`
pub(super) fn update<S: Scalar>(config: &OptimiserConfig, values: &mut [S], gradient: &[S]) {
    let (rate, shrink) = (S::from_f64(config.learning_rate), S::from_f64(config.shrink()));
    for (value, &g) in values.iter_mut().zip(gradient) {
        *value = shrink * *value - rate * g;
    }
}

/// `v = μ v + g`, `θ = (1 − η λ) θ − η v`
pub(super) fn update_with_momentum<S: Scalar>(
    config: &OptimiserConfig,
    momentum: f64,
    values: &mut [S],
    gradient: &[S],
    velocity: &mut [S],
) {
    let (rate, shrink) = (S::from_f64(config.learning_rate), S::from_f64(config.shrink()));
    let momentum = S::from_f64(momentum);
    for ((value, &g), v) in values.iter_mut().zip(gradient).zip(velocity) {
        *v = momentum * *v + g;
        *value = shrink * *value - rate * *v;
    }
}
