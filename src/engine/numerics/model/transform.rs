//! The layer of a readout that has one of its own: `T = norm(φ(R W_T + b_T))`, which the static vectors then read.
//!
//! BERT's masked-word head (Devlin et al. 2019, arXiv 1810.04805; `cls.predictions.transform` of its checkpoints).

use faer::MatRef;

use crate::numerics::activation::Activation;
use crate::numerics::block::{gain_and_shift, norm_back};
use crate::numerics::linear::{linear_backward, linear_forward};
use crate::numerics::norm::{NormCache, NormForm, norm_forward};
use crate::numerics::params::{Parameters, TensorId, TensorName};
use crate::numerics::{Matrix, Scalar};

const NORM: [TensorId; 2] = [TensorName::TransformNormGain.of_block(0), TensorName::TransformNormBias.of_block(0)];

/// Values that the backward needs. Made once for the largest batch.
#[derive(Clone, Debug)]
pub struct TransformCache<S> {
    /// `R W_T + b_T` (N, D)
    summed: Matrix<S>,
    /// `φ` of it (N, D)
    hidden: Matrix<S>,
    norm: NormCache<S>,
    /// `T` (N, D)
    pub output: Matrix<S>,
}

impl<S: Scalar> TransformCache<S> {
    pub fn new(rows: usize, width: usize) -> Self {
        let matrix = || Matrix::zeros(rows, width);
        Self { summed: matrix(), hidden: matrix(), norm: NormCache::new(rows, width), output: matrix() }
    }
}

/// `T`, left in the cache.
///
/// # Shapes
/// `read` (R, D) row-major
///
/// # Panics
/// If the shapes do not fit, or the cache has no room for them.
pub fn transform_forward<S: Scalar>(
    parameters: &Parameters<S>,
    activation: Activation,
    form: NormForm,
    read: &[S],
    cache: &mut TransformCache<S>,
) {
    let TransformCache { summed, hidden, norm, output } = cache;
    let width = output.cols();
    let rows = read.len() / width;
    let (w, b) = (parameters.weights(TensorName::TransformWeights), parameters.values_of(TensorName::TransformBias));
    linear_forward(MatRef::from_row_major_slice(read, rows, width), w, b, summed.top_flat_mut(rows));
    let hidden = hidden.top_flat_mut(rows);
    activation.apply(summed.top_flat(rows), hidden);
    norm_forward(form, hidden, gain_and_shift(parameters, NORM), norm, output.top_flat_mut(rows));
}

/// Gradients of [`transform_forward`]: those of the parameters and of what is read are added; `d` holds `d_T` and is
/// used up.
///
/// # Shapes
/// `read`, `d`, `d_read` (R, D) row-major
///
/// # Panics
/// If the shapes do not fit.
#[expect(clippy::too_many_arguments, reason = "one for each thing that the equations name")]
pub fn transform_backward<S: Scalar>(
    parameters: &Parameters<S>,
    activation: Activation,
    form: NormForm,
    read: &[S],
    cache: &TransformCache<S>,
    d: &mut [S],
    gradient: &mut Parameters<S>,
    d_read: &mut [S],
) {
    let width = cache.output.cols();
    let rows = read.len() / width;
    norm_back(form, parameters, NORM, &cache.norm, d, gradient);
    activation.backward(cache.summed.top_flat(rows), d);
    let (d_w, d_b) = gradient.matrix_and_row_mut(TensorName::TransformWeights, TensorName::TransformBias);
    let w = parameters.matrix(TensorName::TransformWeights);
    linear_backward(MatRef::from_row_major_slice(read, rows, width), w, d, Some(d_read), d_w, d_b);
}
