//! The Adam optimiser (Kingma & Ba 2015, arXiv 1412.6980, Algorithm 1).

use super::Scalar;
use super::params::Parameters;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    pub learning_rate: f64,
    pub beta1: f64,
    pub beta2: f64,
    pub epsilon: f64,
    /// `λ`: every step shrinks the parameters by the share `η λ`, apart from the gradient
    /// (Loshchilov & Hutter 2019, arXiv 1711.05101).
    pub weight_decay: f64,
}

impl AdamConfig {
    /// The paper's constants with a learning rate of one's own.
    pub fn with_learning_rate(learning_rate: f64) -> Self {
        Self { learning_rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

/// The moments and the step count.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam<S> {
    config: AdamConfig,
    /// `m`
    first: Parameters<S>,
    /// `v`
    second: Parameters<S>,
    /// `t`
    step: i32,
}

impl<S: Scalar> Adam<S> {
    pub fn new(config: AdamConfig, parameters: &Parameters<S>) -> Self {
        Self { config, first: parameters.zeros_like(), second: parameters.zeros_like(), step: 0 }
    }

    /// `m = β₁ m + (1 − β₁) g`, `v = β₂ v + (1 − β₂) g²`,
    /// `θ = (1 − η λ) θ − η · (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)`
    pub fn update(&mut self, parameters: &mut Parameters<S>, gradient: &Parameters<S>) {
        self.step += 1;
        let AdamConfig { learning_rate, beta1, beta2, epsilon, weight_decay } = self.config;
        let s = S::from_f64;
        let (keep1, take1, keep2, take2) = (s(beta1), s(1.0 - beta1), s(beta2), s(1.0 - beta2));
        let rate = s(learning_rate / (1.0 - beta1.powi(self.step)));
        let unbias2 = s(1.0 / (1.0 - beta2.powi(self.step)));
        let (epsilon, shrink) = (s(epsilon), s(1.0 - learning_rate * weight_decay));
        let moments = self.first.flat_mut().iter_mut().zip(self.second.flat_mut());
        for ((value, &g), (m, v)) in parameters.flat_mut().iter_mut().zip(gradient.flat()).zip(moments) {
            *m = keep1 * *m + take1 * g;
            *v = keep2 * *v + take2 * g * g;
            *value = shrink * *value - rate * *m / ((*v * unbias2).sqrt() + epsilon);
        }
    }
}
