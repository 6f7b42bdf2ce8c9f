//! A block: attention and a feed-forward layer, each with a residual and a norm (Vaswani et al. 2017, section 3.1; with
//! the norm before them, Xiong et al. 2020, arXiv 2002.04745).
//!
//! ```text
//! no norm      A = X + Attention(X)             Y = A + F(A)
//! pre-norm     A = X + Attention(norm(X))       Y = A + F(norm(A))
//! post-norm    A = norm(X + Attention(X))       Y = norm(A + F(A))
//! ```
//!
//! A block without residuals leaves out `X +` and `A +`, one without a feed-forward layer ends with `Y = A`. In
//! cross-attention queries come from `X` and keys and values from another sentence.

use super::attention::{multi_head, multi_head_backward};
use super::{Matrix, Scalar, feed_forward, feed_forward_backward, norm, norm_backward, sum};
use crate::numerics::block::{Attends, BlockConfig, Norm};
use crate::numerics::params::{Parameters, TensorId, TensorName};

/// One sentence's way through a block, each step as it stands in the module's equations.
pub struct Steps<S> {
    /// The tokens that ask: `X`, normed where the norm comes first.
    pub queries: Matrix<S>,
    /// The tokens that answer: the same, or the other sentence.
    pub keys: Matrix<S>,
    /// `X + Attention`
    pub summed: Matrix<S>,
    /// `A`
    pub attended: Matrix<S>,
    /// The feed-forward layer's input: `A`, normed where the norm comes first.
    pub forward_input: Matrix<S>,
    /// `A + F`
    pub forward_summed: Matrix<S>,
    /// `Y`
    pub output: Matrix<S>,
}

/// A norm of a block: its tensors, and its `ε`.
fn ids(config: &BlockConfig, block: usize, pair: [TensorName; 2]) -> ([TensorId; 2], f64) {
    (pair.map(|name| name.of_block(block)), config.norm_epsilon)
}

const ATTENTION_NORM: [TensorName; 2] = [TensorName::AttentionNormGain, TensorName::AttentionNormBias];
const FORWARD_NORM: [TensorName; 2] = [TensorName::ForwardNormGain, TensorName::ForwardNormBias];

/// `norm(x)` in a block that has its norms there, else `x`.
fn normed_if<S: Scalar>(
    applies: bool,
    parameters: &Parameters<S>,
    (ids, epsilon): ([TensorId; 2], f64),
    x: &Matrix<S>,
) -> Matrix<S> {
    if applies { norm(parameters, ids, epsilon, x) } else { x.clone() }
}

/// The gradient of [`normed_if`].
fn normed_if_backward<S: Scalar>(
    applies: bool,
    parameters: &Parameters<S>,
    (ids, epsilon): ([TensorId; 2], f64),
    x: &Matrix<S>,
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> Matrix<S> {
    if applies { norm_backward(parameters, ids, epsilon, x, d_y, gradient) } else { d_y.clone() }
}

/// Every step of a block.
///
/// # Shapes
/// `x` (T, D), `source` (T_s, D)
///
/// # Panics
/// If the shapes do not fit, or cross-attention has no source.
///
/// ```
/// use attune_engine::numerics::Matrix;
/// use attune_engine::numerics::attention::AttentionConfig;
/// use attune_engine::numerics::block::BlockConfig;
/// use attune_engine::numerics::params::Parameters;
/// use attune_engine::numerics::reference::block::steps;
///
/// // A word alone mixes nothing but itself, and the residual adds it once more.
/// let config = BlockConfig::plain(AttentionConfig::parameter_free(2));
/// let x = Matrix::from_row_major(1, 2, vec![0.5, -2.0]);
/// let found = steps(&config, &Parameters::zeros(&config.shapes(0)), 0, &x, None);
/// assert_eq!(found.output.flat(), [1.0, -4.0]);
/// ```
pub fn steps<S: Scalar>(
    config: &BlockConfig,
    parameters: &Parameters<S>,
    block: usize,
    x: &Matrix<S>,
    source: Option<&Matrix<S>>,
) -> Steps<S> {
    let residual = |to: Matrix<S>, x: &Matrix<S>| if config.residual { sum(x, &to) } else { to };
    let (is_pre, is_post) = (config.norm == Norm::Pre, config.norm == Norm::Post);

    let queries = normed_if(is_pre, parameters, ids(config, block, ATTENTION_NORM), x);
    let keys = match config.attends {
        Attends::OwnSentence => queries.clone(),
        Attends::Source => source.expect("cross-attention has a source").clone(),
    };
    let summed = residual(multi_head(&config.attention, parameters, block, &queries, &keys), x);
    let attended = normed_if(is_post, parameters, ids(config, block, ATTENTION_NORM), &summed);

    let forward_input =
        normed_if(is_pre && config.feed_forward.is_some(), parameters, ids(config, block, FORWARD_NORM), &attended);
    let (forward_summed, output) = match config.feed_forward {
        None => (attended.clone(), attended.clone()),
        Some(_) => {
            let summed = residual(feed_forward(parameters, block, config.activation, &forward_input), &attended);
            let output = normed_if(is_post, parameters, ids(config, block, FORWARD_NORM), &summed);
            (summed, output)
        }
    };
    Steps { queries, keys, summed, attended, forward_input, forward_summed, output }
}

/// Returns `d_X` and, in cross-attention, the gradient of the source. From the last equation to the first; a residual
/// hands its gradient on beside what it was added to.
///
/// # Shapes
/// `x`, `d_y` (T, D), `source` (T_s, D)
///
/// # Panics
/// If the shapes do not fit, or cross-attention has no source.
pub fn backward<S: Scalar>(
    config: &BlockConfig,
    parameters: &Parameters<S>,
    block: usize,
    x: &Matrix<S>,
    source: Option<&Matrix<S>>,
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> (Matrix<S>, Option<Matrix<S>>) {
    let at = steps(config, parameters, block, x, source);
    let beside = |d: Matrix<S>, d_sum: &Matrix<S>| if config.residual { sum(&d, d_sum) } else { d };
    let (is_pre, is_post) = (config.norm == Norm::Pre, config.norm == Norm::Post);

    let d_attended = if config.feed_forward.is_some() {
        let ids = ids(config, block, FORWARD_NORM);
        let d_sum = normed_if_backward(is_post, parameters, ids, &at.forward_summed, d_y, gradient);
        let d_input = feed_forward_backward(parameters, block, config.activation, &at.forward_input, &d_sum, gradient);
        beside(normed_if_backward(is_pre, parameters, ids, &at.attended, &d_input, gradient), &d_sum)
    } else {
        d_y.clone()
    };

    let ids = ids(config, block, ATTENTION_NORM);
    let d_sum = normed_if_backward(is_post, parameters, ids, &at.summed, &d_attended, gradient);
    let inputs = [&at.queries, &at.keys];
    let (d_asking, d_answering) = multi_head_backward(&config.attention, parameters, block, inputs, &d_sum, gradient);
    let (d_queries, d_source) = match config.attends {
        Attends::OwnSentence => (sum(&d_asking, &d_answering), None),
        Attends::Source => (d_asking, Some(d_answering)),
    };
    (beside(normed_if_backward(is_pre, parameters, ids, x, &d_queries, gradient), &d_sum), d_source)
}
