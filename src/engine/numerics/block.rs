//! A transformer block: attention over all tokens, then a tail that works on each token separately.
//!
//! ```text
//! no norm      A = X + M W_O + b_O             Y = A + F(A)
//! pre-norm     the same with the attention of norm(X) and F(norm(A))
//! post-norm    A = norm(X + M W_O + b_O)       Y = norm(A + F(A))
//! ```
//!
//! `M` is the concatenation of the heads' mixes ([`super::attention`]) and `F` the feed-forward layer. The feed-forward
//! layer is optional, and so are the two residual connections. Pre-norm: Xiong et al. 2020, arXiv 2002.04745;
//! post-norm: Vaswani et al. 2017, section 3.1. The output of a branch may have a norm of its own before it is added,
//! as in Gemma 2 and OLMo 2. Both branches may read the block's input: `Y = X + M W_O + b_O + F(norm(X))` (Black et al.
//! 2022, *GPT-NeoX-20B*, arXiv 2204.06745, section 2.1).

use faer::MatRef;

use super::activation::Activation;
use super::attention::{
    AttentionCache, AttentionConfig, AttentionScratch, BatchRoom, HeadChanges, Tokens, attention_backward,
    attention_forward, attention_onward, with_lane_beyond,
};
use super::feed_forward::{FeedForwardCache, feed_forward_backward, feed_forward_forward};
use super::linear::{affine_backward, affine_forward};
use super::norm::{NormCache, NormForm, norm_backward, norm_forward, norm_in_place};
use super::params::pairs::{ATTENTION_NORM, ATTENTION_OUTPUT_NORM, FORWARD_NORM, FORWARD_OUTPUT_NORM, OUTPUT};
use super::params::{Learned, Parameters, TensorId, TensorName};
use super::simd::{add, vectorized};
use super::{Matrix, Scalar};

#[derive(Clone, Debug, PartialEq)]
pub struct BlockConfig {
    pub attention: AttentionConfig,
    pub attends: Attends,
    /// Whether each branch's input is added to its output.
    pub residual: bool,
    pub norm: Norm,
    /// Whether the attention has a norm, in a block that has norms.
    pub attention_norm: bool,
    /// Whether each branch's output is normed before it is added.
    pub output_norms: bool,
    /// The form of all norms.
    pub norm_form: NormForm,
    pub branches: Branches,
    /// Number of hidden units of the feed-forward layer, if there is one.
    pub feed_forward: Option<usize>,
    /// Activation function of the hidden units.
    pub activation: Activation,
    /// Whether the hidden units are gated, `φ(X W_g) ⊙ X W_1` (Shazeer 2020, arXiv 2002.05202, section 2).
    pub gated: bool,
    /// Whether the feed-forward layer has biases.
    pub forward_bias: bool,
}

/// The input of the feed-forward layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branches {
    /// The attention's output, after the residual.
    Sequential,
    /// The block's input, after a norm other than the attention's (Black et al. 2022, arXiv 2204.06745).
    Parallel,
    /// The block's input, after the same norm as the attention's.
    ParallelOneNorm,
}

/// The sentence that keys and values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attends {
    /// Self-attention.
    OwnSentence,
    /// Cross-attention to the last layer's vectors of the source sentence.
    Source,
}

/// The position of the norm of each branch: none, before it, or after the residual is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    None,
    Pre,
    Post,
}

impl BlockConfig {
    /// Returns a block of self-attention with a residual and nothing else.
    pub fn plain(attention: AttentionConfig) -> Self {
        Self {
            attention,
            attends: Attends::OwnSentence,
            residual: true,
            norm: Norm::None,
            attention_norm: true,
            output_norms: false,
            norm_form: NormForm::LAYER,
            branches: Branches::Sequential,
            feed_forward: None,
            activation: Activation::Relu,
            gated: false,
            forward_bias: true,
        }
    }

    /// Returns the rows and columns of a tensor, or `None` if the block does not have it.
    pub fn shape(&self, name: TensorName) -> Option<(usize, usize)> {
        use TensorName::*;
        let layer = &self.attention;
        let (d, queries, keys) = (layer.width, layer.queries_width(), layer.keys_width());
        let (values, mixes) = (layer.values_width(), layer.mixes_width());
        let (has_forward, hidden) = (self.feed_forward.is_some(), self.feed_forward.unwrap_or(0));
        let (has_shift, has_gate) = (self.norm_form.shift, has_forward && self.gated);
        let [normed_attention, normed_forward] = [self.has_attention_norm(), self.has_forward_norm()];
        let own_norm = |of_queries: bool| {
            let whole = if of_queries { queries } else { keys };
            layer.query_key_norm.map_or(0, |norm| if norm.each_head { layer.key_width } else { whole })
        };
        let (exists, rows, cols) = match name {
            QueryWeights => (layer.projected, d, queries),
            QueryBias => (layer.projected && layer.bias, 1, queries),
            KeyWeights => (layer.projected, d, keys),
            KeyBias => (layer.projected && layer.bias, 1, keys),
            QueryNormGain => (layer.query_key_norm.is_some(), 1, own_norm(true)),
            KeyNormGain => (layer.query_key_norm.is_some(), 1, own_norm(false)),
            ValueWeights => (layer.projected, d, values),
            ValueBias => (layer.projected && layer.bias, 1, values),
            OutputWeights => (layer.output, mixes, d),
            OutputBias => (layer.output && layer.output_bias, 1, d),
            DistanceBias => (layer.has_own_distances(), layer.heads, layer.distance_columns()),
            AttentionNormGain => (normed_attention, 1, d),
            AttentionNormBias => (normed_attention && has_shift, 1, d),
            AttentionOutputNormGain => (self.output_norms, 1, d),
            AttentionOutputNormBias => (self.output_norms && has_shift, 1, d),
            GateWeights => (has_gate, d, hidden),
            GateBias => (has_gate && self.forward_bias, 1, hidden),
            HiddenWeights => (has_forward, d, hidden),
            HiddenBias => (has_forward && self.forward_bias, 1, hidden),
            ForwardWeights => (has_forward, hidden, d),
            ForwardBias => (has_forward && self.forward_bias, 1, d),
            ForwardNormGain => (normed_forward && self.branches != Branches::ParallelOneNorm, 1, d),
            ForwardNormBias => (normed_forward && has_shift && self.branches != Branches::ParallelOneNorm, 1, d),
            ForwardOutputNormGain => (has_forward && self.output_norms, 1, d),
            ForwardOutputNormBias => (has_forward && self.output_norms && has_shift, 1, d),
            other => {
                debug_assert!(!other.is_of_a_block(), "block: no shape for {other:?}");
                (false, 0, 0)
            }
        };
        exists.then_some((rows, cols))
    }

    /// Returns the ids, rows and columns of the block's tensors.
    ///
    /// # Panics
    /// See [`AttentionConfig::check`]; also if parallel branches have no pre-norm or no residual.
    pub fn shapes(&self, block: usize) -> Vec<(TensorId, usize, usize)> {
        self.attention.check();
        let is_parallel = self.branches != Branches::Sequential;
        let may_be_parallel = self.norm == Norm::Pre && self.attention_norm && self.residual;
        assert!(!is_parallel || may_be_parallel, "block: parallel branches need a norm before each and a residual");
        let of = |name: TensorName| self.shape(name).map(|(rows, cols)| (name.of_block(block), rows, cols));
        TensorName::of_blocks().filter_map(of).collect()
    }

    pub fn has_attention_norm(&self) -> bool {
        self.norm != Norm::None && self.attention_norm
    }

    /// Returns whether the attention's input is normed.
    pub fn norms_first(&self) -> bool {
        self.norm == Norm::Pre && self.attention_norm
    }

    /// Returns whether the sum of the attention's output and its input is normed.
    pub fn norms_attended(&self) -> bool {
        self.norm == Norm::Post && self.attention_norm
    }

    pub fn has_forward_norm(&self) -> bool {
        self.norm != Norm::None && self.feed_forward.is_some()
    }

    pub fn attends_to_source(&self) -> bool {
        self.attends == Attends::Source
    }

    /// Returns whether the block needs its input itself, and not only its queries, keys and values.
    pub fn reads_vectors(&self) -> bool {
        self.residual || self.norm == Norm::Pre || !self.attention.projected
    }

    /// Returns whether the tail has no feed-forward layer and no norm after a sum, so that the tail of a mean is the
    /// mean of the tails.
    pub fn has_linear_tail(&self) -> bool {
        self.feed_forward.is_none() && self.norm != Norm::Post && !self.output_norms
    }
}

/// Values of a block's forward pass that its backward pass and the views need.
#[derive(Clone, Debug)]
pub struct BlockCache<S> {
    pub attention: AttentionCache<S>,
    scratch: AttentionScratch<S>,
    input_norm: Option<(NormCache<S>, Matrix<S>)>,
    pub tail: TailCache<S>,
    /// Gradients of the mix (N, H·d_v) and of the normed input (N, D).
    pub d_mix: Matrix<S>,
    d_normed: Matrix<S>,
}

/// Values of the tail, which may run on fewer rows than the attention.
#[derive(Clone, Debug)]
pub struct TailCache<S> {
    /// `X + M W_O + b_O`, where `M W_O + b_O` is normed first if it has its own norm (R, D).
    pub summed: Matrix<S>,
    /// Cache of the norm of the attention's output, and `M W_O + b_O` before it (R, D).
    output_norm: Option<(NormCache<S>, Matrix<S>)>,
    /// Cache of the norm after the attention, and its output `A` (R, D).
    norm: Option<(NormCache<S>, Matrix<S>)>,
    forward: Option<ForwardCache<S>>,
    d_attended: Matrix<S>,
}

#[derive(Clone, Debug)]
struct ForwardCache<S> {
    /// Cache of the norm of the feed-forward layer, and that norm's output (pre-norm) or input (post-norm) (R, D).
    norm: Option<(NormCache<S>, Matrix<S>)>,
    /// Cache of the norm of the feed-forward layer's output.
    output_norm: Option<NormCache<S>>,
    layer: FeedForwardCache<S>,
    d_normed: Matrix<S>,
    /// `Y` (R, D)
    output: Matrix<S>,
}

impl<S: Scalar> TailCache<S> {
    /// Returns `A` (R, D), the vectors after the attention.
    pub fn attended(&self) -> &Matrix<S> {
        self.norm.as_ref().map_or(&self.summed, |(_, attended)| attended)
    }

    /// Returns `M W_O + b_O` before its own norm (R, D), or `None` if it has no such norm.
    pub fn branch(&self) -> Option<&Matrix<S>> {
        self.output_norm.as_ref().map(|(_, before)| before)
    }

    /// Returns the hidden units of the feed-forward layer, if there is one: `φ(… W_1 + b_1)`, or `φ(… W_g + b_g) ⊙ (…
    /// W_1 + b_1)` with a gate (R, hidden).
    pub fn hidden(&self) -> Option<&Matrix<S>> {
        self.forward.as_ref().map(|forward| &forward.layer.hidden)
    }

    /// Returns the output of the norm before a feed-forward layer, or the input of the norm after it (R, D); `None` if
    /// there is no such norm.
    pub fn joined(&self) -> Option<&Matrix<S>> {
        Some(&self.forward.as_ref()?.norm.as_ref()?.1)
    }

    /// Returns `Y` (R, D), the vectors after the block.
    pub fn output(&self) -> &Matrix<S> {
        self.forward.as_ref().map_or_else(|| self.attended(), |forward| &forward.output)
    }
}

impl<S: Scalar> BlockCache<S> {
    pub fn new(config: &BlockConfig, queries: BatchRoom, keys: BatchRoom) -> Self {
        Self::with_gradients(config, [queries, keys], [queries, keys])
    }

    /// Returns a cache with room for the scores, which views show, and none for gradients.
    pub fn for_views(config: &BlockConfig, queries: BatchRoom, keys: BatchRoom) -> Self {
        let cache = Self::with_gradients(config, [queries, keys], [BatchRoom::NONE; 2]);
        Self { attention: cache.attention.with_scores(), ..cache }
    }

    fn with_gradients(config: &BlockConfig, [queries, keys]: [BatchRoom; 2], gradients: [BatchRoom; 2]) -> Self {
        let (rows, width, gradient_rows) = (queries.rows, config.attention.width, gradients[0].rows);
        let matrix = || Matrix::zeros(rows, width);
        let gradient = || Matrix::zeros(gradient_rows, width);
        let norm = |there: bool| there.then(|| (NormCache::new(rows, width), matrix()));
        let forward = config.feed_forward.map(|hidden| ForwardCache {
            norm: norm(config.has_forward_norm()),
            output_norm: config.output_norms.then(|| NormCache::new(rows, width)),
            layer: FeedForwardCache::new(config.activation, config.gated, [rows, gradient_rows], hidden),
            d_normed: gradient(),
            output: matrix(),
        });
        Self {
            attention: AttentionCache::new(&config.attention, queries, keys),
            scratch: AttentionScratch::new(&config.attention, gradients[0], gradients[1]),
            input_norm: norm(config.norms_first()),
            tail: TailCache {
                summed: matrix(),
                output_norm: norm(config.output_norms),
                norm: norm(config.norms_attended()),
                forward,
                d_attended: gradient(),
            },
            d_mix: with_lane_beyond(gradient_rows, config.attention.mixes_width()),
            d_normed: gradient(),
        }
    }

    /// Returns the normed input of the attention (N, D), if the block norms it.
    pub fn normed_input(&self) -> Option<&Matrix<S>> {
        self.input_norm.as_ref().map(|(_, normed)| normed)
    }
}

/// Returns `γ` and `β` of a norm; `β` is empty if the norm has none.
pub(super) fn gain_and_shift<S: Scalar>(parameters: &Parameters<S>, ids: [TensorId; 2]) -> [&[S]; 2] {
    ids.map(|id| parameters.values_of(id))
}

/// Computes the gradient of the norm with these tensors: `d` holds the gradient of its output and becomes that of its
/// input.
pub(super) fn norm_back<S: Scalar>(
    form: NormForm,
    parameters: &Parameters<S>,
    [gain, shift]: [TensorId; 2],
    cache: &NormCache<S>,
    d: &mut [S],
    gradient: &mut Parameters<S>,
) {
    let (d_gain, d_shift) = gradient.pair_mut(gain, shift);
    norm_backward(form, parameters.values_of(gain), cache, d, [d_gain, d_shift]);
}

/// Returns the ids of the norm of the feed-forward layer, which is the attention's in some blocks of parallel branches.
fn forward_norm(config: &BlockConfig, block: usize) -> [TensorId; 2] {
    let is_of_both = config.branches == Branches::ParallelOneNorm;
    TensorId::pair(if is_of_both { ATTENTION_NORM } else { FORWARD_NORM }, block)
}

/// Computes the block's attention and leaves the mixes in the cache.
///
/// # Shapes
/// `x` (N, D); `source` (N_s, D), which a block of cross-attention needs
///
/// # Panics
/// If the shapes do not fit, or the source is missing.
pub fn attend_forward<S: Scalar>(
    block: Learned<'_, BlockConfig, S>,
    x: Tokens<'_, S>,
    source: Option<Tokens<'_, S>>,
    changes: HeadChanges<'_, S>,
    cache: &mut BlockCache<S>,
) {
    norm_input(block, x, &mut cache.input_norm);
    let (queries, keys) = inputs(block.config, x, source, &cache.input_norm);
    attention_forward(block.part(&block.config.attention), queries, keys, changes, &mut cache.attention);
}

/// Computes [`attend_forward`] for one more token of the sentence: see [`attention_onward`].
///
/// # Shapes
/// `x` (1, D)
///
/// # Panics
/// See [`attend_forward`].
pub fn attend_onward<S: Scalar>(
    block: Learned<'_, BlockConfig, S>,
    x: Tokens<'_, S>,
    before: usize,
    source: Option<usize>,
    cache: &mut BlockCache<S>,
) {
    norm_input(block, x, &mut cache.input_norm);
    let x = queries(x, &cache.input_norm);
    let keys = source.filter(|_| block.config.attends_to_source());
    attention_onward(block.part(&block.config.attention), x, before, keys, &mut cache.attention);
}

/// Norms the attention's input if the block norms it, and keeps the result in the cache.
fn norm_input<S: Scalar>(
    block: Learned<'_, BlockConfig, S>,
    x: Tokens<'_, S>,
    input_norm: &mut Option<(NormCache<S>, Matrix<S>)>,
) {
    if let Some((norm, normed)) = input_norm {
        let affine = gain_and_shift(block.parameters, TensorId::pair(ATTENTION_NORM, block.number));
        norm_forward(block.config.norm_form, x.vectors, affine, norm, normed.top_flat_mut(x.rows.total()));
    }
}

/// Returns the vectors that queries are computed from.
fn queries<'a, S: Scalar>(x: Tokens<'a, S>, input_norm: &'a Option<(NormCache<S>, Matrix<S>)>) -> Tokens<'a, S> {
    match input_norm {
        Some((_, normed)) => Tokens::new(normed.top_flat(x.rows.total()), x.rows),
        None => x,
    }
}

/// Returns the vectors that queries are computed from, and those that keys and values are computed from.
fn inputs<'a, S: Scalar>(
    config: &BlockConfig,
    x: Tokens<'a, S>,
    source: Option<Tokens<'a, S>>,
    input_norm: &'a Option<(NormCache<S>, Matrix<S>)>,
) -> (Tokens<'a, S>, Tokens<'a, S>) {
    let queries = queries(x, input_norm);
    let keys = match config.attends {
        Attends::OwnSentence => queries,
        Attends::Source => source.expect("cross-attention: there is no source sentence"),
    };
    (queries, keys)
}

/// Computes the gradients of [`attend_forward`] for the `d_mix` in the cache, and adds those of the parameters, of `x`
/// and of the source to the given ones.
///
/// # Shapes
/// `x`, `d_x` (N, D); `source`, `d_source` (N_s, D)
///
/// # Panics
/// If the shapes do not fit, or the source is missing.
pub fn attend_backward<S: Scalar>(
    block: Learned<'_, BlockConfig, S>,
    x: Tokens<'_, S>,
    source: Option<Tokens<'_, S>>,
    cache: &mut BlockCache<S>,
    gradient: &mut Parameters<S>,
    d_x: &mut [S],
    d_source: Option<&mut [S]>,
) {
    let BlockCache { attention, scratch, input_norm, d_mix, d_normed, .. } = cache;
    let Learned { config, parameters, .. } = block;
    let (queries, keys) = inputs(config, x, source, input_norm);
    let d_keys = d_source.filter(|_| config.attends_to_source());
    let d_normed = d_normed.top_flat_mut(x.rows.total());
    let d_queries = if input_norm.is_some() {
        d_normed.fill(S::zero());
        &mut *d_normed
    } else {
        &mut *d_x
    };
    let layer = block.part(&block.config.attention);
    attention_backward(layer, queries, keys, attention, d_mix, scratch, gradient, d_queries, d_keys);
    if let Some((norm, _)) = input_norm {
        norm_back(config.norm_form, parameters, TensorId::pair(ATTENTION_NORM, block.number), norm, d_normed, gradient);
        vectorized!(add(d_x, d_normed),);
    }
}

/// Computes the block's tail on some of its rows and leaves `Y` in the cache.
///
/// # Shapes
/// `mix` (R, H·d_v), `x` (R, D) row-major; `x` may be empty without a residual
///
/// # Panics
/// If the shapes do not fit, or the cache has no room for them.
pub fn tail_forward<S: Scalar>(block: Learned<'_, BlockConfig, S>, mix: &[S], x: &[S], cache: &mut TailCache<S>) {
    tail_forward_with(block, mix, x, None, cache);
}

/// Computes [`tail_forward`] with the given output of the feed-forward layer, to which its own norm, if it has one, is
/// already applied.
///
/// # Shapes
/// `forward` (R, D) row-major
///
/// # Panics
/// See [`tail_forward`].
pub fn tail_forward_with<S: Scalar>(
    block: Learned<'_, BlockConfig, S>,
    mix: &[S],
    x: &[S],
    forward: Option<&[S]>,
    cache: &mut TailCache<S>,
) {
    let given = forward;
    let Learned { config, parameters: p, number: block } = block;
    let (width, mixes, form) = (config.attention.width, config.attention.mixes_width(), config.norm_form);
    let rows = mix.len() / mixes;
    let TailCache { summed, output_norm, norm, forward, .. } = cache;
    let rows_of = |x: &[S]| x.len() / width;

    // A = X + M W_O + b_O
    let sum = summed.top_flat_mut(rows);
    if config.attention.output {
        affine_forward(p, TensorId::pair(OUTPUT, block), MatRef::from_row_major_slice(mix, rows, mixes), sum);
    } else {
        sum.copy_from_slice(mix);
    }
    if let Some((norm, before)) = output_norm {
        before.top_flat_mut(rows).copy_from_slice(sum);
        norm_in_place(form, gain_and_shift(p, TensorId::pair(ATTENTION_OUTPUT_NORM, block)), norm, sum);
    }
    if config.residual {
        assert_eq!(rows_of(x), rows, "tail: {} rows of X, {rows} of mixes", rows_of(x));
        vectorized!(add(sum, x),);
    }
    let attended = match norm {
        Some((norm, attended)) => {
            let affine = gain_and_shift(p, TensorId::pair(ATTENTION_NORM, block));
            norm_forward(form, sum, affine, norm, attended.top_flat_mut(rows));
            attended.top_flat(rows)
        }
        None => summed.top_flat(rows),
    };

    // Y = A + F(A)
    let Some(ForwardCache { norm, output_norm, layer, output, .. }) = forward else { return };
    let output = output.top_flat_mut(rows);
    let affine = gain_and_shift(p, forward_norm(config, block));
    let from = if config.branches == Branches::Sequential { attended } else { x };
    if let Some(given) = given {
        output.copy_from_slice(given);
    } else {
        let input = match norm {
            Some((norm, normed)) if config.norm == Norm::Pre => {
                norm_forward(form, from, affine, norm, normed.top_flat_mut(rows));
                normed.top(rows)
            }
            _ => MatRef::from_row_major_slice(from, rows, width),
        };
        feed_forward_forward(p, block, input, layer, output);
        if let Some(norm) = output_norm {
            norm_in_place(form, gain_and_shift(p, TensorId::pair(FORWARD_OUTPUT_NORM, block)), norm, output);
        }
    }
    if config.residual {
        vectorized!(add(output, attended),);
    }
    if let Some((norm, before)) = norm.as_mut().filter(|_| config.norm == Norm::Post) {
        before.top_flat_mut(rows).copy_from_slice(output);
        norm_forward(form, before.top_flat(rows), affine, norm, output);
    }
}

/// Computes the gradients of [`tail_forward`]. Those of the parameters are added. `d` holds `d_Y` and becomes the
/// tail's part of `d_x`, which comes from the residual and a parallel feed-forward layer and is zero without a
/// residual. `d_mix` is replaced.
///
/// # Shapes
/// `mix`, `d_mix` (R, H·d_v), `d` (R, D) row-major
///
/// # Panics
/// If the shapes do not fit.
pub fn tail_backward<S: Scalar>(
    block: Learned<'_, BlockConfig, S>,
    mix: &[S],
    cache: &mut TailCache<S>,
    gradient: &mut Parameters<S>,
    d: &mut [S],
    d_mix: &mut [S],
) {
    let Learned { config, parameters: p, number: block } = block;
    let (mixes, form) = (config.attention.mixes_width(), config.norm_form);
    let rows = mix.len() / mixes;
    let (found, width) = ((d.len(), d_mix.len()), config.attention.width);
    assert_eq!(found, (rows * width, mix.len()), "tail backward: entries of d and d_M for {rows} rows");
    let TailCache { summed, output_norm, norm, forward, d_attended } = cache;
    let d_attended = d_attended.top_flat_mut(rows);
    let mut d_parallel: Option<&[S]> = None;

    // Y = A + F(A)
    if let Some(ForwardCache { norm: forward_norm_cache, output_norm, layer, d_normed, .. }) = forward {
        if let Some((norm, _)) = forward_norm_cache.as_ref().filter(|_| config.norm == Norm::Post) {
            norm_back(form, p, forward_norm(config, block), norm, d, gradient);
        }
        if config.residual {
            d_attended.copy_from_slice(d);
        } else {
            d_attended.fill(S::zero());
        }
        if let Some(norm) = output_norm {
            norm_back(form, p, TensorId::pair(FORWARD_OUTPUT_NORM, block), norm, d, gradient);
        }
        match forward_norm_cache.as_ref().filter(|_| config.norm == Norm::Pre) {
            Some((norm, normed)) => {
                let d_normed = d_normed.top_flat_mut(rows);
                d_normed.fill(S::zero());
                feed_forward_backward(p, block, normed.top(rows), layer, d, gradient, d_normed);
                norm_back(form, p, forward_norm(config, block), norm, d_normed, gradient);
                if config.branches == Branches::Sequential {
                    vectorized!(add(d_attended, d_normed),);
                } else {
                    d_parallel = Some(d_normed);
                }
            }
            None => {
                let attended = norm.as_ref().map_or(&*summed, |(_, attended)| attended).top(rows);
                feed_forward_backward(p, block, attended, layer, d, gradient, d_attended);
            }
        }
        d.copy_from_slice(d_attended);
    }

    // A = X + M W_O + b_O
    if let Some((norm, _)) = norm {
        norm_back(form, p, TensorId::pair(ATTENTION_NORM, block), norm, d, gradient);
    }
    let d_branch = match output_norm {
        Some((norm, _)) => {
            d_attended.copy_from_slice(d);
            norm_back(form, p, TensorId::pair(ATTENTION_OUTPUT_NORM, block), norm, d_attended, gradient);
            &*d_attended
        }
        None => &*d,
    };
    if config.attention.output {
        d_mix.fill(S::zero());
        let mix = MatRef::from_row_major_slice(mix, rows, mixes);
        affine_backward(p, TensorId::pair(OUTPUT, block), mix, d_branch, d_mix, gradient);
    } else {
        d_mix.copy_from_slice(d_branch);
    }
    if !config.residual {
        d.fill(S::zero());
    }
    if let Some(d_parallel) = d_parallel {
        vectorized!(add(d, d_parallel),);
    }
}
