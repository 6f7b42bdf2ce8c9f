//! A block: attention and a feed-forward layer, each with a residual and a norm (Vaswani et al. 2017, section 3.1; with
//! the norm first, Xiong et al. 2020, arXiv 2002.04745).
//!
//! ```text
//! no norm      A = X + Attention(X)             Y = A + F(A)
//! pre-norm     A = X + Attention(norm(X))       Y = A + F(norm(A))
//! post-norm    A = norm(X + Attention(X))       Y = norm(A + F(A))
//! ```
//!
//! The output of a branch may be normed before it is added, `X + norm(Attention(…))`. In a block of parallel branches
//! the feed-forward layer reads `X` instead of `A`. A block without residuals leaves out `X +` and `A +`, one without a
//! feed-forward layer ends with `Y = A`. In cross-attention queries come from `X`, and keys and values from another
//! sentence.

use super::attention::{multi_head, multi_head_backward};
use super::{Block, Matrix, Scalar, feed_forward, feed_forward_backward, norm, norm_backward, sum};
use crate::numerics::block::{Attends, BlockConfig, Branches, Norm};
use crate::numerics::params::pairs::{ATTENTION_NORM, ATTENTION_OUTPUT_NORM, FORWARD_NORM, FORWARD_OUTPUT_NORM};
use crate::numerics::params::{Parameters, TensorId, TensorName};

/// The result of each step of the module's equations, for one sentence.
pub struct Steps<S> {
    /// Input of the queries: `X`, normed if the norm comes first.
    pub queries: Matrix<S>,
    /// Input of keys and values: that of the queries, or the other sentence.
    pub keys: Matrix<S>,
    /// `Attention`, before its own norm.
    pub branch: Matrix<S>,
    /// `X + Attention`.
    pub summed: Matrix<S>,
    /// `A`.
    pub attended: Matrix<S>,
    /// Input of the feed-forward layer: `A`, normed if the norm comes first.
    pub forward_input: Matrix<S>,
    /// `F`, before its own norm.
    pub forward_branch: Matrix<S>,
    /// `A + F`.
    pub forward_summed: Matrix<S>,
    /// `Y`.
    pub output: Matrix<S>,
}

/// Returns the norm of the feed-forward layer, which is the attention's in some blocks of parallel branches.
fn forward_norm(config: &BlockConfig) -> [TensorName; 2] {
    if config.branches == Branches::ParallelOneNorm { ATTENTION_NORM } else { FORWARD_NORM }
}

/// Computes `norm(x)` if the norm applies; otherwise returns `x`.
fn normed_if<S: Scalar>(applies: bool, block: Block<'_, S>, pair: [TensorName; 2], x: &Matrix<S>) -> Matrix<S> {
    let ids = TensorId::pair(pair, block.number);
    if applies { norm(block.parameters, ids, block.config.norm_form, x) } else { x.clone() }
}

/// Computes the gradient of [`normed_if`].
fn normed_if_backward<S: Scalar>(
    applies: bool,
    block: Block<'_, S>,
    pair: [TensorName; 2],
    x: &Matrix<S>,
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> Matrix<S> {
    let (ids, form) = (TensorId::pair(pair, block.number), block.config.norm_form);
    if applies { norm_backward(block.parameters, ids, form, x, d_y, gradient) } else { d_y.clone() }
}

/// Computes every step of a block.
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
/// use attune_engine::numerics::params::{Learned, Parameters};
/// use attune_engine::numerics::reference::block::steps;
///
/// // A word alone mixes nothing but itself, and the residual adds it once more.
/// let config = BlockConfig::plain(AttentionConfig::parameter_free(2));
/// let x = Matrix::from_row_major(1, 2, vec![0.5, -2.0]);
/// let parameters = Parameters::zeros(&config.shapes(0));
/// let found = steps(Learned { config: &config, parameters: &parameters, number: 0 }, &x, None);
/// assert_eq!(found.output.flat(), [1.0, -4.0]);
/// ```
pub fn steps<S: Scalar>(block: Block<'_, S>, x: &Matrix<S>, source: Option<&Matrix<S>>) -> Steps<S> {
    let config = block.config;
    let residual = |to: Matrix<S>, x: &Matrix<S>| if config.residual { sum(x, &to) } else { to };
    let (is_pre, is_post) = (config.norm == Norm::Pre, config.norm == Norm::Post);
    let at_attention = config.attention_norm;

    let queries = normed_if(is_pre && at_attention, block, ATTENTION_NORM, x);
    let keys = match config.attends {
        Attends::OwnSentence => queries.clone(),
        Attends::Source => source.expect("cross-attention has a source").clone(),
    };
    let branch = multi_head(block.part(&config.attention), &queries, &keys);
    let added = normed_if(config.output_norms, block, ATTENTION_OUTPUT_NORM, &branch);
    let summed = residual(added, x);
    let attended = normed_if(is_post && at_attention, block, ATTENTION_NORM, &summed);

    let read = if config.branches == Branches::Sequential { &attended } else { x };
    let forward_norm = forward_norm(config);
    let forward_input = normed_if(is_pre && config.feed_forward.is_some(), block, forward_norm, read);
    let (forward_branch, forward_summed, output) = match config.feed_forward {
        None => (attended.clone(), attended.clone(), attended.clone()),
        Some(_) => {
            let branch = feed_forward(block, &forward_input);
            let added = normed_if(config.output_norms, block, FORWARD_OUTPUT_NORM, &branch);
            let summed = residual(added, &attended);
            let output = normed_if(is_post, block, forward_norm, &summed);
            (branch, summed, output)
        }
    };
    Steps { queries, keys, branch, summed, attended, forward_input, forward_branch, forward_summed, output }
}

/// Returns `d_X` and, in cross-attention, the gradient of the source. It runs from the last equation to the first; a
/// residual passes its gradient on to both of its terms.
///
/// # Shapes
/// `x`, `d_y` (T, D), `source` (T_s, D)
///
/// # Panics
/// If the shapes do not fit, or cross-attention has no source.
pub fn backward<S: Scalar>(
    block: Block<'_, S>,
    x: &Matrix<S>,
    source: Option<&Matrix<S>>,
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> (Matrix<S>, Option<Matrix<S>>) {
    let (at, config) = (steps(block, x, source), block.config);
    let beside = |d: Matrix<S>, d_sum: &Matrix<S>| if config.residual { sum(&d, d_sum) } else { d };
    let (is_pre, is_post) = (config.norm == Norm::Pre, config.norm == Norm::Post);
    let is_sequential = config.branches == Branches::Sequential;
    let at_attention = config.attention_norm;

    let (d_attended, d_parallel) = if config.feed_forward.is_some() {
        let forward_norm = forward_norm(config);
        let d_sum = normed_if_backward(is_post, block, forward_norm, &at.forward_summed, d_y, gradient);
        let d_branch =
            normed_if_backward(config.output_norms, block, FORWARD_OUTPUT_NORM, &at.forward_branch, &d_sum, gradient);
        let d_input = feed_forward_backward(block, &at.forward_input, &d_branch, gradient);
        let read = if is_sequential { &at.attended } else { x };
        let d_read = normed_if_backward(is_pre, block, forward_norm, read, &d_input, gradient);
        if is_sequential { (beside(d_read, &d_sum), None) } else { (d_sum, Some(d_read)) }
    } else {
        (d_y.clone(), None)
    };

    let d_sum = normed_if_backward(is_post && at_attention, block, ATTENTION_NORM, &at.summed, &d_attended, gradient);
    let d_branch = normed_if_backward(config.output_norms, block, ATTENTION_OUTPUT_NORM, &at.branch, &d_sum, gradient);
    let inputs = [&at.queries, &at.keys];
    let (d_asking, d_answering) = multi_head_backward(block.part(&config.attention), inputs, &d_branch, gradient);
    let (d_queries, d_source) = match config.attends {
        Attends::OwnSentence => (sum(&d_asking, &d_answering), None),
        Attends::Source => (d_asking, Some(d_answering)),
    };
    let d_read = normed_if_backward(is_pre && at_attention, block, ATTENTION_NORM, x, &d_queries, gradient);
    let d_x = beside(d_read, &d_sum);
    (d_parallel.map_or(d_x.clone(), |d| sum(&d_x, &d)), d_source)
}
