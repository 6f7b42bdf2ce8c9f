//! Multi-head attention (Vaswani et al. 2017, *Attention Is All You Need*, arXiv 1706.03762).
//!
//! For each head `h`, with its own columns of `W_Q`, `W_K`, `W_V` and rows of `W_O`:
//!
//! ```text
//! Q = X W_Q + b_Q          K = Z W_K + b_K          V = Z W_V + b_V
//! S_h = s · Q_h K_gᵀ       s = 1/(√d_k c τ), without the root if not scaled; −∞ where masked
//!       + B_h[j − i] / τ   with distances: query i, key j
//! A_h = softmax(S_h)       by rows: a row is a query, a column a key
//! M_h = A_h V_g            the mix
//! ```
//!
//! `c` is a divisor of a layer's scores that some models have, `τ` the temperature. Heads may share keys and values: `g
//! = h div (H / K)`, otherwise `g = h`. Before the scores, the rows of `Q` and `K` may be normed and turned by their
//! positions ([`rotary`]). The product `z` may be bounded: `c' tanh(z / c') / τ` instead of `z / τ`.
//!
//! In self-attention the keys and values come from the queries' own sentence, `Z = X`; in cross-attention they come
//! from another. The heads are not copied: head `h` is a block of columns of `Q`, `K`, `V` and `M`, and `[M_1 … M_H]`
//! is their concatenation. [`super::block`] continues with `W_O` and what the block does with the mix.

mod cache;
pub mod config;
pub mod distances;
pub mod head;
pub mod look_up;
pub mod mask;
pub mod rotary;
pub mod rows;
mod short;
mod tile;

pub(super) use cache::with_lane_beyond;
pub use cache::{AttentionCache, AttentionScratch, BatchRoom};
pub use config::{AttentionConfig, QueryKeyNorm};
pub use head::{Edge, HeadChanges, HeadMode, ModeWords, SecondHead};
pub use mask::{Mask, MaskBase, MaskTable, Window};
pub use rotary::{Rotary, RotaryScaling};
pub use rows::{BatchRows, Tokens};

use self::cache::{HeadRanges, for_each_head, part, part_mut, weights_and_means};
use self::distances::Distances;
use self::head::{Head, HeadGradients};
use self::look_up::{LookUpCache, look_up_backward, look_up_forward};
use self::rotary::TurnDirection;
use super::linear::{affine_backward, affine_forward};
use super::norm::{norm_backward, norm_in_place};
use super::params::pairs::{KEY, QUERY, VALUE};
use super::params::{Learned, Parameters, TensorId, TensorName};
use super::simd::{Simd, Work, add, dispatch, vectorized};
use super::{Matrix, Scalar};

#[inline(always)]
fn head_of<'a, S: Scalar>(
    config: &'a AttentionConfig,
    scale: S,
    before: usize,
    ranges: &HeadRanges,
    [query, key, value]: [&'a Matrix<S>; 3],
    bias: &'a Distances<S>,
    removed: &'a [Edge],
) -> Head<'a, S> {
    Head {
        query: part(query, &ranges.queries, &config.query_columns(ranges.head)),
        key: part(key, &ranges.keys, &config.key_columns(ranges.head)),
        value: part(value, &ranges.keys, &config.value_columns(ranges.head)),
        scale,
        cap: config.score_cap.map(|cap| S::from_f64(cap / config.temperature)),
        bias: bias.of_head(ranges.head),
        mask: &config.mask,
        window: config.window,
        removed,
        before,
    }
}

/// Computes the heads' mixes, `[M_1 … M_H]`, by the module's equations, and leaves them in the cache.
///
/// # Shapes
/// `queries` (N, D), `keys` (N_k, D), with the same number of sentences.
///
/// # Panics
/// If the shapes do not fit.
pub fn attention_forward<S: Scalar>(
    layer: Learned<'_, AttentionConfig, S>,
    queries: Tokens<'_, S>,
    keys: Tokens<'_, S>,
    changes: HeadChanges<'_, S>,
    cache: &mut AttentionCache<S>,
) {
    let (config, modes) = (layer.config, changes.modes);
    let counts = (queries.rows.count(), keys.rows.count());
    assert_eq!(counts.0, counts.1, "attention: {} sentences of queries, {} of keys", counts.0, counts.1);
    assert!(
        modes.is_empty() || modes.len() == config.heads,
        "attention: {} modes, {} heads",
        modes.len(),
        config.heads
    );
    assert!(changes.is_none() || cache.is_viewers(), "attention: heads can be changed only with a viewer's cache");
    let AttentionCache { query, key, value, look_up, .. } = cache;
    for (x, to, names) in [(queries, query, QUERY), (keys, key, KEY), (keys, value, VALUE)] {
        project(layer, names, x, look_up, to.top_flat_mut(x.rows.total()));
    }
    norm_and_turn(layer, QueryOrKey::Query, queries.rows, 0, cache);
    norm_and_turn(layer, QueryOrKey::Key, keys.rows, 0, cache);
    cache.bias.set(distance_bias(layer), config);
    mix_again(config, [queries.rows, keys.rows], changes, cache);
}

/// Computes scores, weights and mixes from the queries, keys and values in the cache, which may have been changed since
/// [`attention_forward`] left them there.
///
/// # Panics
/// If the shapes do not fit.
pub fn mix_again<S: Scalar>(
    config: &AttentionConfig,
    [queries, keys]: [&BatchRows; 2],
    changes: HeadChanges<'_, S>,
    cache: &mut AttentionCache<S>,
) {
    dispatch(Forward { config, before: 0, queries, keys, changes, cache });
}

/// Returns the `B` that a layer reads, its own or another's; empty if it does not use distances.
fn distance_bias<'a, S: Scalar>(layer: Learned<'a, AttentionConfig, S>) -> &'a [S] {
    layer.parameters.values_of(TensorName::DistanceBias.of_block(layer.config.distance_block(layer.number)))
}

/// Computes the mixes of one more token of a sentence and leaves them in the cache. Its key and value are written after
/// those of the `before` tokens in the cache. In cross-attention all keys and values are already there, and `keys` is
/// their number.
///
/// # Shapes
/// `x` (1, D)
///
/// # Panics
/// If the cache has no room for one more.
pub fn attention_onward<S: Scalar>(
    layer: Learned<'_, AttentionConfig, S>,
    x: Tokens<'_, S>,
    before: usize,
    keys: Option<usize>,
    cache: &mut AttentionCache<S>,
) {
    let AttentionCache { query, key, value, look_up, .. } = cache;
    project(layer, QUERY, x, look_up, query.top_flat_mut(1));
    if keys.is_none() {
        project(layer, KEY, x, look_up, key.row_mut(before));
        project(layer, VALUE, x, look_up, value.row_mut(before));
    }
    norm_and_turn(layer, QueryOrKey::Query, x.rows, before, cache);
    if keys.is_none() {
        norm_and_turn(layer, QueryOrKey::Key, x.rows, before, cache);
    }
    let config = layer.config;
    cache.bias.set(distance_bias(layer), config);
    let keys = BatchRows::one(keys.unwrap_or(before + 1));
    dispatch(Forward { config, before, queries: x.rows, keys: &keys, changes: HeadChanges::NONE, cache });
}

/// The choice between the rows of `Q` and those of `K`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QueryOrKey {
    Query,
    Key,
}

impl QueryOrKey {
    fn gain(self) -> TensorName {
        if self == Self::Query { TensorName::QueryNormGain } else { TensorName::KeyNormGain }
    }

    /// Returns the index of the first new row. `Q` has only new rows; in `K` those of the `before` earlier tokens come
    /// first.
    fn first(self, before: usize) -> usize {
        if self == Self::Query { 0 } else { before }
    }
}

/// Computes `R_t norm(q)` of the new rows in place, if a layer norms or turns them. The first of them has position
/// `before`.
fn norm_and_turn<S: Scalar>(
    layer: Learned<'_, AttentionConfig, S>,
    of: QueryOrKey,
    rows: &BatchRows,
    before: usize,
    cache: &mut AttentionCache<S>,
) {
    let AttentionCache { query, key, own_norms, turns, .. } = cache;
    let x = if of == QueryOrKey::Query { query } else { key };
    let width = x.cols();
    let x = &mut x.flat_mut()[of.first(before) * width..][..rows.total() * width];
    if let (Some(norm), Some(caches)) = (layer.config.query_key_norm, own_norms) {
        norm_in_place(norm.form, [layer.values(of.gain()), &[]], &mut caches[of as usize], x);
    }
    turns.turn(TurnDirection::On, rows, before, layer.config.key_width, x);
}

/// Computes the gradient of [`norm_and_turn`] for whole sentences: `d` holds the gradient of its output and becomes
/// that of its input.
fn norm_and_turn_backward<S: Scalar>(
    layer: Learned<'_, AttentionConfig, S>,
    of: QueryOrKey,
    rows: &BatchRows,
    cache: &AttentionCache<S>,
    d: &mut Matrix<S>,
    gradient: &mut Parameters<S>,
) {
    let d = d.top_flat_mut(rows.total());
    cache.turns.turn(TurnDirection::Back, rows, 0, layer.config.key_width, d);
    if let (Some(norm), Some(caches)) = (layer.config.query_key_norm, &cache.own_norms) {
        let d_gain = gradient.values_of_mut(of.gain().of_block(layer.number));
        norm_backward(norm.form, layer.values(of.gain()), &caches[of as usize], d, [d_gain, &mut []]);
    }
}

/// Computes `Q = X W_Q + b_Q`, or `K` or `V` in the same way.
fn project<S: Scalar>(
    layer: Learned<'_, AttentionConfig, S>,
    names: [TensorName; 2],
    x: Tokens<'_, S>,
    look_up: &mut Option<LookUpCache<S>>,
    to: &mut [S],
) {
    let Learned { config, parameters, number: block } = layer;
    let ids = TensorId::pair(names, block);
    match (x.look_up, look_up) {
        _ if !config.projected => {
            let (found, wanted) = (x.vectors.len(), to.len());
            assert_eq!(found, wanted, "attention: {found} entries of X where heads of Q, K and V take {wanted}");
            to.copy_from_slice(x.vectors);
        }
        (Some(from), Some(cache)) => look_up_forward(from, ids, parameters, cache, to),
        _ => affine_forward(parameters, ids, x.view(config.width), to),
    }
}

/// The loop over heads of [`attention_forward`].
struct Forward<'a, S> {
    config: &'a AttentionConfig,
    /// Number of the sentence's tokens before the queries.
    before: usize,
    queries: &'a BatchRows,
    keys: &'a BatchRows,
    changes: HeadChanges<'a, S>,
    cache: &'a mut AttentionCache<S>,
}

impl<S: Scalar> Work<S> for Forward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<S>>(self, simd: V) {
        let Self { config, before, queries, keys, changes, cache } = self;
        let AttentionCache { query, key, value, bias, scores, weights, mix, tile, mixes_means, .. } = cache;
        let scale = S::from_f64(config.score_scale());
        let for_training = scores.is_empty() && changes.is_none() && before == 0;
        for_each_head(
            config.heads,
            queries,
            keys,
            #[inline(always)]
            |ranges| {
                let removed = changes.removed_of(ranges.head);
                let head = head_of(config, scale, before, &ranges, [query, key, value], bias, removed);
                let mut mix = part_mut(mix, &ranges.mixes(*mixes_means), &config.mix_columns(ranges.head));
                let (weights, means) = weights_and_means(&mut weights[ranges.block.clone()], &head, *mixes_means);
                if for_training && head.is_short() {
                    head.short_forward(simd, weights, means, &mut mix, tile);
                } else {
                    let mode = changes.modes.get(ranges.head).unwrap_or(&HeadMode::Live);
                    let scores = scores.get_mut(ranges.block);
                    // Inlined into this loop, the code for long sentences would slow down the training of short ones by
                    // a quarter.
                    simd.apart(
                        #[inline(always)]
                        || head.forward(simd, mode, scores, weights, means, &mut mix),
                    );
                }
            },
        );
    }
}

/// Adds the gradients of [`attention_forward`] with all heads live, those of the parameters and of the inputs, to the
/// given ones. `d_keys` is `None` in self-attention, where the gradient of the keys is added to `d_queries`.
///
/// # Shapes
/// `d_mix` (N, H·d_v), `d_queries` (N, D), `d_keys` (N_k, D)
///
/// # Panics
/// If the shapes do not fit, or the cache has room for scores.
#[expect(clippy::too_many_arguments, reason = "one for each thing that the equations name")]
pub fn attention_backward<S: Scalar>(
    layer: Learned<'_, AttentionConfig, S>,
    queries: Tokens<'_, S>,
    keys: Tokens<'_, S>,
    cache: &mut AttentionCache<S>,
    d_mix: &Matrix<S>,
    scratch: &mut AttentionScratch<S>,
    gradient: &mut Parameters<S>,
    d_queries: &mut [S],
    d_keys: Option<&mut [S]>,
) {
    let Learned { config, parameters, number: block } = layer;
    assert!(!cache.is_viewers(), "attention backward: the cache is a viewer's");
    let (values, width) = (d_mix.cols(), config.mixes_width());
    assert_eq!(values, width, "attention backward: d_M {values} wide, H·d_v = {width}");
    let (query_rows, key_rows) = (queries.rows, keys.rows);
    scratch.d_bias.fill(S::zero());
    dispatch(Backward { config, queries: query_rows, keys: key_rows, cache, d_mix, scratch: &mut *scratch });
    let AttentionScratch { d_query, d_key, d_value, d_shared: [d_shared_key, d_shared_value], d_bias, .. } = scratch;
    let (d_key, d_value) = if config.group_size > 1 {
        sum_groups(config, config.key_width, d_key, d_shared_key);
        sum_groups(config, config.value_width, d_value, d_shared_value);
        (d_shared_key, &*d_shared_value)
    } else {
        (d_key, &*d_value)
    };
    norm_and_turn_backward(layer, QueryOrKey::Query, query_rows, cache, d_query, gradient);
    norm_and_turn_backward(layer, QueryOrKey::Key, key_rows, cache, d_key, gradient);
    let share = S::from_f64(1.0 / config.temperature);
    let d_table = gradient.values_of_mut(TensorName::DistanceBias.of_block(config.distance_block(block)));
    cache.bias.set_backward(d_bias, share, config, d_table);

    // Gradient of `project`.
    let mut back = |x: Tokens<'_, S>, d: &Matrix<S>, names: [TensorName; 2], d_x: &mut [S]| {
        let (ids, d) = (TensorId::pair(names, block), d.top_flat(x.rows.total()));
        match (x.look_up, &mut cache.look_up) {
            _ if !config.projected => vectorized!(add(d_x, d)),
            (Some(from), Some(cache)) => look_up_backward(from, ids, parameters, d, cache, gradient),
            _ => affine_backward(parameters, ids, x.view(config.width), d, d_x, gradient),
        }
    };
    back(queries, d_query, QUERY, d_queries);
    let d_keys = d_keys.unwrap_or(d_queries);
    back(keys, d_key, KEY, d_keys);
    back(keys, d_value, VALUE, d_keys);
}

/// Computes `d_g = Σ d_h` over the heads of each group, (N_k, K·d) from (N_k, H·d).
fn sum_groups<S: Scalar>(config: &AttentionConfig, width: usize, heads: &Matrix<S>, to: &mut Matrix<S>) {
    let group = config.group_size * width;
    for (to, heads) in to.flat_mut().chunks_exact_mut(width).zip(heads.flat().chunks_exact(group)) {
        to.fill(S::zero());
        heads.chunks_exact(width).for_each(|head| add(to, head));
    }
}

/// The loop over heads of [`attention_backward`].
struct Backward<'a, S> {
    config: &'a AttentionConfig,
    queries: &'a BatchRows,
    keys: &'a BatchRows,
    cache: &'a mut AttentionCache<S>,
    d_mix: &'a Matrix<S>,
    scratch: &'a mut AttentionScratch<S>,
}

impl<S: Scalar> Work<S> for Backward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd<S>>(self, simd: V) {
        let Self { config, queries, keys, cache, d_mix, scratch } = self;
        let AttentionScratch { d_query, d_key, d_value, d_bias, d_scores, .. } = scratch;
        let AttentionCache { query, key, value, bias, weights, tile, mixes_means, .. } = cache;
        let distances = config.distance_count();
        let scale = S::from_f64(config.score_scale());
        for_each_head(
            config.heads,
            queries,
            keys,
            #[inline(always)]
            |ranges| {
                let head = head_of(config, scale, 0, &ranges, [query, key, value], bias, &[]);
                let (key_columns, value_columns) = (config.query_columns(ranges.head), config.mix_columns(ranges.head));
                let d_mix = part(d_mix, &ranges.mixes(*mixes_means), &value_columns);
                let mut to = HeadGradients {
                    query: part_mut(d_query, &ranges.queries, &key_columns),
                    key: part_mut(d_key, &ranges.keys, &key_columns),
                    value: part_mut(d_value, &ranges.keys, &value_columns),
                    bias: &mut d_bias[ranges.head * distances..][..distances],
                };
                let (weights, means) = weights_and_means(&mut weights[ranges.block], &head, *mixes_means);
                if head.is_short() {
                    head.short_backward(simd, weights, means, d_mix, d_scores, tile, &mut to);
                } else {
                    simd.apart(
                        #[inline(always)]
                        || head.backward(simd, weights, means, d_mix, d_scores, &mut to),
                    );
                }
            },
        );
    }
}
