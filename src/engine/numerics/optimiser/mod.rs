//! Optimisers, which update parameters from their gradient.
//!
//! | symbol | meaning |
//! |---|---|
//! | `θ`, `g` | the parameters and their gradient |
//! | `η` | learning rate |
//! | `λ` | weight decay: every step also shrinks the parameters by the share `η λ`, independently of the gradient (Loshchilov & Hutter 2019, arXiv 1711.05101) |

use crate::numerics::Scalar;
use crate::numerics::parallel::each;
use crate::numerics::params::Parameters;
use crate::numerics::simd::vectorized;

/// The update rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Stochastic gradient descent; plain if the momentum is 0.
    Sgd {
        /// `μ`, in [0, 1)
        momentum: f64,
    },
    Adam {
        beta1: f64,
        beta2: f64,
        epsilon: f64,
    },
}

impl Method {
    /// Adam with the constants of its paper.
    pub const ADAM: Method = Method::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

    /// Returns the number of values for each parameter that the method keeps between steps.
    fn moments(self) -> usize {
        match self {
            Method::Sgd { momentum: 0.0 } => 0,
            Method::Sgd { .. } => 1,
            Method::Adam { .. } => 2,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimiserConfig {
    pub method: Method,
    /// Learning rate `η`.
    pub learning_rate: f64,
    /// Weight decay `λ`: each update multiplies every weight by `1 − η λ` first.
    pub weight_decay: f64,
}

impl OptimiserConfig {
    /// Returns Adam with the constants of its paper and no weight decay.
    pub fn adam(learning_rate: f64) -> Self {
        Self { method: Method::ADAM, learning_rate, weight_decay: 0.0 }
    }

    /// Returns `1 − η λ`, the factor by which a step shrinks the parameters.
    fn shrink(&self) -> f64 {
        1.0 - self.learning_rate * self.weight_decay
    }
}

/// An optimiser between two steps: everything that the next step needs except the gradient.
#[derive(Clone, Debug)]
pub struct Optimiser<S> {
    config: OptimiserConfig,
    /// Velocity of SGD, or first and second moment of Adam.
    moments: Vec<Parameters<S>>,
    /// `t`, the number of updates so far.
    step: i32,
}

impl<S: Scalar> PartialEq for Optimiser<S> {
    fn eq(&self, other: &Self) -> bool {
        (self.config, self.step) == (other.config, other.step) && self.moments == other.moments
    }
}

impl<S: Scalar> Optimiser<S> {
    pub fn new(config: OptimiserConfig, parameters: &Parameters<S>) -> Self {
        let moments = (0..config.method.moments()).map(|_| parameters.zeros_like()).collect();
        Self { config, moments, step: 0 }
    }

    pub fn learning_rate(&self) -> f64 {
        self.config.learning_rate
    }

    /// Sets the learning rate and keeps the moments, so that training continues faster or slower.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.config.learning_rate = learning_rate;
    }

    /// Takes one step of descent. Allocates nothing.
    ///
    /// # Panics
    /// If the parameters, the gradient and the optimiser's moments, if it keeps any, differ in length.
    pub fn update(&mut self, parameters: &mut Parameters<S>, gradient: &Parameters<S>) {
        self.step += 1;
        let Self { config, moments, step } = self;
        let [first, second] = both(moments);
        apply(config, *step, [parameters.flat_mut(), first, second], gradient.flat());
    }

    /// Takes one step like [`Self::update`], with a part of the parameters on each thread; the numbers are the same.
    ///
    /// # Panics
    /// See [`Self::update`].
    pub fn update_on(&mut self, threads: usize, parameters: &mut Parameters<S>, gradient: &Parameters<S>)
    where
        S: Send + Sync,
    {
        self.step += 1;
        let Self { config, moments, step } = self;
        let size = parameters.len().div_ceil(threads).max(1);
        let [mut first, mut second] = both(moments).map(|moments| moments.chunks_mut(size));
        let parts =
            parameters.flat_mut().chunks_mut(size).zip(gradient.flat().chunks(size)).map(|(values, gradient)| {
                ([values, first.next().unwrap_or_default(), second.next().unwrap_or_default()], gradient)
            });
        each(parts, |(state, gradient)| apply(config, *step, state, gradient));
    }
}

/// Returns the first and the second moment; empty for one that the method does not keep.
fn both<S: Scalar>(moments: &mut [Parameters<S>]) -> [&mut [S]; 2] {
    let mut moments = moments.iter_mut().map(Parameters::flat_mut);
    [moments.next().unwrap_or_default(), moments.next().unwrap_or_default()]
}

/// Applies update `t` to parameters and their moments.
fn apply<S: Scalar>(config: &OptimiserConfig, t: i32, [values, first, second]: [&mut [S]; 3], gradient: &[S]) {
    let (n, moments) = (values.len(), [first.len(), second.len()]);
    assert_eq!(gradient.len(), n, "update: {n} parameters, {} entries of their gradient", gradient.len());
    assert!(moments.iter().all(|&m| m == 0 || m == n), "update: {n} parameters, moments of {moments:?}");
    if t == 1 {
        // The moments are zero, but their memory has never been written. Reading it first would cost two page faults
        // instead of one, the second of which stops all threads.
        first.fill(S::zero());
        second.fill(S::zero());
    }
    match config.method {
        Method::Adam { beta1, beta2, epsilon } => {
            adam_update(config, [beta1, beta2, epsilon], t, values, gradient, [first, second]);
        }
        Method::Sgd { .. } if first.is_empty() => sgd_update(config, values, gradient),
        Method::Sgd { momentum } => sgd_update_with_momentum(config, momentum, values, gradient, first),
    }
}

/// Largest number of numbers stored per parameter: the parameter itself and the optimiser's moments.
pub const NUMBERS_PER_PARAMETER: usize = 3;

// Adam (Kingma & Ba 2015, arXiv 1412.6980, Algorithm 1), with weight decay separate from the gradient.

/// Computes `m = β₁ m + (1 − β₁) g`, `v = β₂ v + (1 − β₂) g²` and `θ = (1 − η λ) θ − η · (m / (1 − β₁ᵗ)) / (√(v / (1 −
/// β₂ᵗ)) + ε)` for step `t`, counted from 1.
///
/// A gradient whose square is too small for `v` counts as 0, and a moment that has decayed to a subnormal number
/// becomes 0. It would otherwise stay subnormal, and a processor takes a hundred times as long on such numbers.
fn adam_update<S: Scalar>(
    config: &OptimiserConfig,
    [beta1, beta2, epsilon]: [f64; 3],
    t: i32,
    values: &mut [S],
    gradient: &[S],
    [first, second]: [&mut [S]; 2],
) {
    let s = S::from_f64;
    let (keep1, take1) = (s(beta1), s(1.0 - beta1));
    let (keep2, take2) = (s(beta2), s(1.0 - beta2));
    let rate = s(config.learning_rate / (1.0 - beta1.powi(t)));
    let unbias2 = s(1.0 / (1.0 - beta2.powi(t)));
    let (epsilon, shrink) = (s(epsilon), s(config.shrink()));
    // The smallest gradient that adds a normal number to the second moment.
    let least_gradient = (S::MIN_POSITIVE / take2).sqrt();
    vectorized!(for ((value, &g), (m, v)) in values.iter_mut().zip(gradient).zip(first.iter_mut().zip(second)) {
        let g = g.zero_below(least_gradient);
        *m = (keep1 * *m + take1 * g).zero_below(S::MIN_POSITIVE);
        *v = (keep2 * *v + take2 * g * g).zero_below(S::MIN_POSITIVE);
        *value = shrink * *value - rate * *m / ((*v * unbias2).sqrt() + epsilon);
    });
}

// Stochastic gradient descent (Robbins & Monro 1951), plain and with momentum (Polyak 1964, in the form of Sutskever et
// al. 2013 that PyTorch uses: the learning rate is not part of the velocity, so changing it takes effect at once).

/// Computes `θ = (1 − η λ) θ − η g`.
fn sgd_update<S: Scalar>(config: &OptimiserConfig, values: &mut [S], gradient: &[S]) {
    let (rate, shrink) = (S::from_f64(config.learning_rate), S::from_f64(config.shrink()));
    for (value, &g) in values.iter_mut().zip(gradient) {
        *value = shrink * *value - rate * g;
    }
}

/// Computes `v = μ v + g`, `θ = (1 − η λ) θ − η v`.
fn sgd_update_with_momentum<S: Scalar>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};
    use crate::numerics::params::TensorName;

    fn sgd(momentum: f64, weight_decay: f64) -> OptimiserConfig {
        OptimiserConfig { method: Method::Sgd { momentum }, learning_rate: 0.1, weight_decay }
    }

    #[test]
    fn weights_decay_under_sgd_too() {
        let mut parameters = Parameters::<f64>::zeros(&[(TensorName::OutputBias.into(), 1, 2)]);
        parameters.flat_mut().copy_from_slice(&[1.0, -2.0]);
        let mut gradient = parameters.zeros_like();
        gradient.flat_mut().copy_from_slice(&[0.5, -1.0]);
        Optimiser::new(sgd(0.0, 5.0), &parameters).update(&mut parameters, &gradient);
        // Half of the parameter decays first: (1 − 0.1·5)·1 − 0.05
        assert_close("θ", parameters.flat(), [0.45, -0.9], Tolerance::DOUBLE_PASS);
    }

    #[test]
    fn moments_of_adam_are_normal_numbers_or_zero() {
        let mut parameters = Parameters::<f32>::zeros(&[(TensorName::OutputBias.into(), 1, 3)]);
        let mut adam = Optimiser::new(OptimiserConfig::adam(0.1), &parameters);
        let mut gradient = parameters.zeros_like();
        gradient.flat_mut().copy_from_slice(&[1e-19, 1e-30, 1e-12]);
        for _ in 0..1000 {
            adam.update(&mut parameters, &gradient);
            gradient.flat_mut().fill(0.0);
            let moments = adam.moments.iter().flat_map(|moment| moment.flat());
            moments.for_each(|x| assert!(!x.is_subnormal(), "{x:e} after step {}", adam.step));
        }
        assert_eq!(adam.moments[0].flat(), [0.0; 3], "they fade away");
        assert_eq!(parameters.flat()[..2], [0.0; 2], "gradients of no weight");
    }

    #[test]
    fn a_changed_learning_rate_keeps_the_moments() {
        let mut parameters = Parameters::<f64>::zeros(&[(TensorName::OutputBias.into(), 1, 1)]);
        let mut optimiser = Optimiser::new(sgd(0.5, 0.0), &parameters);
        let mut gradient = parameters.zeros_like();
        gradient.flat_mut().fill(1.0);
        optimiser.update(&mut parameters, &gradient);
        optimiser.set_learning_rate(0.01);
        optimiser.update(&mut parameters, &gradient);
        // −0.1·1 − 0.01·(0.5·1 + 1)
        assert_close("the parameter", parameters.flat(), [-0.115], Tolerance::DOUBLE_PASS);
    }
}
