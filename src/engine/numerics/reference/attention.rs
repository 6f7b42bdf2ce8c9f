//! Attention (Vaswani et al. 2017, *Attention Is All You Need*, arXiv 1706.03762, Eq. 1 and section 3.2.2).
//!
//! ```text
//! S_ij = (q_i · k_j / (c √d_k) + B[j − i]) / τ      −∞ where query i does not see key j
//! A    = softmax(S)                                 by rows: the weights of query i for the keys
//! M    = A V                                        the mix
//! ```
//!
//! `τ`, the temperature, is 1 in the paper, and so is `c`, which some GPT-2 models set to the number of the layer
//! (`scale_attn_by_inverse_layer_idx`). `B`, a learned number for each distance from a query to a key, is that of
//! Raffel et al. 2020 (arXiv 1910.10683, section 2.1, without its buckets), the simplest form of the relative positions
//! that Shaw et al. 2018 (arXiv 1803.02155) introduced.
//!
//! Before the product, queries and keys may be normed ([`norm`](super::norm), each head separately or all together) and
//! turned by their positions (Su et al. 2021, arXiv 2104.09864, section 3.2.2): `q_i = R_i norm(x_i W_Q + b_Q)`. The
//! product may be bounded, `c' tanh(z / c')` with `z = q_i · k_j / (c √d_k)` (Gemma 2: arXiv 2408.00118, section 2).
//! Heads may share keys and values (Ainslie et al. 2023, arXiv 2305.13245, section 2.2).

use std::ops::Range;

use super::{
    Matrix, Scalar, add_to, affine, affine_backward, dot, held_below, held_below_slope, norm, norm_backward, product,
    sum, tensor, transposed,
};
use crate::numerics::attention::{AttentionConfig, QueryKeyNorm};
use crate::numerics::params::pairs::{KEY, OUTPUT, QUERY, VALUE};
use crate::numerics::params::{Learned, Parameters, TensorId, TensorName};

/// A layer of attention with its tensors.
pub type Layer<'a, S> = Learned<'a, AttentionConfig, S>;

/// Computes `p_j = exp(s_j − max s) / Σ_k exp(s_k − max s)`.
///
/// The shift by the largest score does not change the result but keeps `exp` finite. A row that is −∞ throughout sees
/// nothing: all its weights are 0.
///
/// ```
/// # use attune_engine::numerics::reference::attention::softmax;
/// let weights = softmax(&[2.0, 2.0, f64::NEG_INFINITY]);
/// assert_eq!(weights, [0.5, 0.5, 0.0]);
/// ```
pub fn softmax<S: Scalar>(scores: &[S]) -> Vec<S> {
    let highest = scores.iter().copied().fold(S::NEG_INFINITY, S::max);
    if highest == S::NEG_INFINITY {
        return vec![S::zero(); scores.len()];
    }
    let powers: Vec<S> = scores.iter().map(|&s| (s - highest).exp()).collect();
    let total: S = powers.iter().copied().sum();
    powers.iter().map(|&power| power / total).collect()
}

/// Computes `d_s_j = p_j (d_p_j − Σ_k p_k d_p_k)`: a score's gradient is positive if that of its weight is above the
/// average.
///
/// # Panics
/// If the numbers of gradients and weights differ.
pub fn softmax_backward<S: Scalar>(weights: &[S], d: &[S]) -> Vec<S> {
    let mean = dot(weights, d);
    weights.iter().zip(d).map(|(&p, &d)| p * (d - mean)).collect()
}

/// The results of the three equations for one head.
pub struct Attention<S> {
    /// `S` (T_q, T_k)
    pub scores: Matrix<S>,
    /// `A` (T_q, T_k)
    pub weights: Matrix<S>,
    /// `M` (T_q, d_v)
    pub mix: Matrix<S>,
}

/// Returns two divisors: `c √d_k`, or `c` if the layer does not scale its scores, and `τ`.
fn divisor_and_temperature<S: Scalar>(config: &AttentionConfig) -> (S, S) {
    let root = if config.scale { (config.key_width as f64).sqrt() } else { 1.0 };
    (S::from_f64(config.score_divisor * root), S::from_f64(config.temperature))
}

/// Computes one head by the module's three equations.
///
/// # Shapes
/// `q` (T_q, d_k), `k` (T_k, d_k), `v` (T_k, d_v); `distances` is the head's row of `B`, empty if distances are not
/// used
///
/// # Panics
/// If the shapes do not fit, or a sentence is longer than `B` has distances for.
///
/// ```
/// use attune_engine::numerics::Matrix;
/// use attune_engine::numerics::attention::AttentionConfig;
/// use attune_engine::numerics::reference::attention::attention;
///
/// // Two words at right angles: each looks at itself more than at the other, by e : 1.
/// let x = Matrix::<f64>::from_row_major(2, 2, vec![1.0, 0.0, 0.0, 1.0]);
/// let head = attention(&AttentionConfig::parameter_free(2), &[], &x, &x, &x);
/// assert!((head.weights.get(0, 0) / head.weights.get(0, 1) - 1f64.exp()).abs() < 1e-12);
/// assert_eq!(head.mix, head.weights, "mixing the unit vectors gives back the weights");
/// ```
pub fn attention<S: Scalar>(
    config: &AttentionConfig,
    distances: &[S],
    q: &Matrix<S>,
    k: &Matrix<S>,
    v: &Matrix<S>,
) -> Attention<S> {
    let (divisor, temperature) = divisor_and_temperature::<S>(config);
    let scores = Matrix::from_fn(q.rows(), k.rows(), |i, j| {
        if !config.sees(i, j) {
            return S::NEG_INFINITY;
        }
        let favour = config.distances.map_or(S::zero(), |form| distances[form.column(i, j)]);
        let product = held_below(config.score_cap, &[dot(q.row(i), k.row(j)) / divisor])[0];
        (product + favour) / temperature
    });
    let rows = (0..q.rows()).flat_map(|i| softmax(scores.row(i))).collect();
    let weights = Matrix::from_row_major(q.rows(), k.rows(), rows);
    let mix = product(&weights, v);
    Attention { scores, weights, mix }
}

/// The gradients of [`attention`].
pub struct AttentionGradients<S> {
    /// `d_Q` (T_q, d_k)
    pub q: Matrix<S>,
    /// `d_K` (T_k, d_k)
    pub k: Matrix<S>,
    /// `d_V` (T_k, d_v)
    pub v: Matrix<S>,
    /// Gradient of the head's row of `B`, of the same length.
    pub distances: Vec<S>,
}

/// Computes the gradients of the equations from the last to the first:
///
/// ```text
/// d_V = Aᵀ d_M         d_A = d_M Vᵀ         d_S = softmax_backward(A, d_A)   by rows
/// d_Q = d_S K / (c √d_k τ)     d_K = d_Sᵀ Q / (c √d_k τ)     d_B[j − i] += d_S_ij / τ
/// ```
///
/// With a bound, `d_S` is first multiplied by the slope of `c' tanh(z / c')`.
///
/// A masked weight is 0, and so are the gradients of its score and of everything that the score is computed from.
///
/// # Shapes
/// See [`attention`]; `d_mix` (T_q, d_v)
///
/// # Panics
/// If the shapes do not fit.
pub fn attention_backward<S: Scalar>(
    config: &AttentionConfig,
    distances: &[S],
    [q, k, v]: [&Matrix<S>; 3],
    d_mix: &Matrix<S>,
) -> AttentionGradients<S> {
    let (divisor, temperature) = divisor_and_temperature::<S>(config);
    let weights = attention(config, distances, q, k, v).weights;
    let d_weights = product(d_mix, &transposed(v));
    let rows = (0..q.rows()).flat_map(|i| softmax_backward(weights.row(i), d_weights.row(i))).collect();
    let d_scores = Matrix::from_row_major(q.rows(), k.rows(), rows);
    let d_products = Matrix::from_fn(q.rows(), k.rows(), |i, j| {
        let held = held_below(config.score_cap, &[dot(q.row(i), k.row(j)) / divisor])[0];
        held_below_slope(config.score_cap, held) * d_scores.get(i, j) / (divisor * temperature)
    });

    let mut d_distances = vec![S::zero(); distances.len()];
    if let Some(form) = config.distances {
        for i in 0..q.rows() {
            for j in 0..k.rows() {
                d_distances[form.column(i, j)] += d_scores.get(i, j) / temperature;
            }
        }
    }
    AttentionGradients {
        q: product(&d_products, k),
        k: product(&transposed(&d_products), q),
        v: product(&transposed(&weights), d_mix),
        distances: d_distances,
    }
}

/// Returns a range of a matrix's columns.
fn columns<S: Scalar>(x: &Matrix<S>, range: Range<usize>) -> Matrix<S> {
    Matrix::from_fn(x.rows(), range.len(), |i, j| x.get(i, range.start + j))
}

/// Concatenates matrices side by side: `[M_1 … M_H]`.
fn side_by_side<S: Scalar>(parts: &[Matrix<S>]) -> Matrix<S> {
    let width = parts[0].cols();
    Matrix::from_fn(parts[0].rows(), parts.len() * width, |i, j| parts[j / width].get(i, j % width))
}

/// A head's inputs: its columns of `Q`, `K` and `V`, and its row of `B`.
struct HeadInput<S> {
    q: Matrix<S>,
    k: Matrix<S>,
    v: Matrix<S>,
    distances: Vec<S>,
}

/// Computes `R_t x` of each row `t`, head by head: columns `i` and `i + r/2` are turned together by `t θ^(−2i/r)`, or
/// back if `sign` is −1.
fn turned<S: Scalar>(config: &AttentionConfig, x: &Matrix<S>, sign: f64) -> Matrix<S> {
    let Some(rotary) = config.rotary else { return x.clone() };
    let (half, frequencies) = (rotary.width / 2, rotary.frequencies());
    Matrix::from_fn(x.rows(), x.cols(), |t, j| {
        let (head, i) = (j / config.key_width * config.key_width, j % config.key_width);
        if i >= rotary.width {
            return x.get(t, j);
        }
        let angle = sign * t as f64 * frequencies[i % half];
        let (sine, cosine) = (S::from_f64(angle.sin()), S::from_f64(angle.cos()));
        let (other, sine) = if i < half { (head + i + half, -sine) } else { (head + i - half, sine) };
        x.get(t, j) * cosine + x.get(t, other) * sine
    })
}

/// Splits the rows into those of single heads if each head is normed separately; otherwise returns them unchanged.
fn rows_of_norm<S: Scalar>(norm: QueryKeyNorm, config: &AttentionConfig, x: &Matrix<S>) -> Matrix<S> {
    let width = if norm.each_head { config.key_width } else { x.cols() };
    Matrix::from_row_major(x.rows() * x.cols() / width, width, x.flat().to_vec())
}

/// Computes `R norm(q)` of the rows of `Q` or `K`.
fn placed<S: Scalar>(layer: Layer<'_, S>, gain: TensorName, x: &Matrix<S>) -> Matrix<S> {
    let normed = layer.config.query_key_norm.map(|own| {
        let gain = gain.of_block(layer.number);
        let rows = norm(layer.parameters, [gain, gain], own.form, &rows_of_norm(own, layer.config, x));
        Matrix::from_row_major(x.rows(), x.cols(), rows.flat().to_vec())
    });
    turned(layer.config, &normed.unwrap_or_else(|| x.clone()), 1.0)
}

/// Computes the gradient of [`placed`]: a turn back, then that of the norm.
fn placed_backward<S: Scalar>(
    layer: Layer<'_, S>,
    gain: TensorName,
    x: &Matrix<S>,
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> Matrix<S> {
    let d = turned(layer.config, d_y, -1.0);
    let Some(own) = layer.config.query_key_norm else { return d };
    let [x_rows, d_rows] = [x, &d].map(|x| rows_of_norm(own, layer.config, x));
    let gain = gain.of_block(layer.number);
    let d = norm_backward(layer.parameters, [gain, gain], own.form, &x_rows, &d_rows, gradient);
    Matrix::from_row_major(x.rows(), x.cols(), d.flat().to_vec())
}

/// Sums the gradients of the heads of each group, which share keys and values.
fn group_sums<S: Scalar>(config: &AttentionConfig, heads: &[Matrix<S>]) -> Matrix<S> {
    let total = |group: &[Matrix<S>]| group.iter().skip(1).fold(group[0].clone(), |total, head| sum(&total, head));
    side_by_side(&heads.chunks(config.group_size).map(total).collect::<Vec<_>>())
}

/// Computes `Q = X W_Q + b_Q`, `K = Z W_K + b_K`, `V = Z W_V + b_V`, normed and turned if the layer does that, and
/// divides them among the heads.
fn head_inputs<S: Scalar>(layer: Layer<'_, S>, x: &Matrix<S>, z: &Matrix<S>) -> Vec<HeadInput<S>> {
    let Layer { config, parameters, number } = layer;
    let projected = |pair: [TensorName; 2], x: &Matrix<S>| affine(parameters, TensorId::pair(pair, number), x);
    let q = placed(layer, TensorName::QueryNormGain, &projected(QUERY, x));
    let k = placed(layer, TensorName::KeyNormGain, &projected(KEY, z));
    let v = projected(VALUE, z);
    let distances = tensor(parameters, TensorName::DistanceBias.of_block(config.distance_block(number)));
    let input = |head| HeadInput {
        q: columns(&q, config.query_columns(head)),
        k: columns(&k, config.key_columns(head)),
        v: columns(&v, config.value_columns(head)),
        distances: distances.as_ref().map_or(Vec::new(), |b| b.row(head).to_vec()),
    };
    (0..config.heads).map(input).collect()
}

/// Computes every head of a layer, with queries from `X` and keys and values from `Z`. In self-attention both are the
/// same sentence; in cross-attention `Z` is another.
///
/// # Shapes
/// `x` (T_q, D), `z` (T_k, D)
///
/// # Panics
/// If the shapes do not fit the layer's tensors.
pub fn heads<S: Scalar>(layer: Layer<'_, S>, x: &Matrix<S>, z: &Matrix<S>) -> Vec<Attention<S>> {
    let inputs = head_inputs(layer, x, z);
    inputs.iter().map(|head| attention(layer.config, &head.distances, &head.q, &head.k, &head.v)).collect()
}

/// Computes multi-head attention, `[M_1 … M_H] W_O + b_O`.
///
/// # Shapes
/// `x` (T_q, D), `z` (T_k, D) to (T_q, D)
///
/// # Panics
/// If the shapes do not fit the layer's tensors.
pub fn multi_head<S: Scalar>(layer: Layer<'_, S>, x: &Matrix<S>, z: &Matrix<S>) -> Matrix<S> {
    let mixes: Vec<Matrix<S>> = heads(layer, x, z).into_iter().map(|head| head.mix).collect();
    affine(layer.parameters, TensorId::pair(OUTPUT, layer.number), &side_by_side(&mixes))
}

/// Returns `d_X`, through the queries, and `d_Z`, through keys and values. In self-attention, where `Z = X`, the
/// gradient of `X` is their sum.
///
/// # Shapes
/// `x` (T_q, D), `z` (T_k, D), `d_y` (T_q, D)
///
/// # Panics
/// If the shapes do not fit.
pub fn multi_head_backward<S: Scalar>(
    layer: Layer<'_, S>,
    [x, z]: [&Matrix<S>; 2],
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> (Matrix<S>, Matrix<S>) {
    let Layer { config, parameters, number: block } = layer;
    let inputs = head_inputs(layer, x, z);
    let mix = |head: &HeadInput<S>| attention(config, &head.distances, &head.q, &head.k, &head.v).mix;
    let mixes: Vec<Matrix<S>> = inputs.iter().map(mix).collect();
    let d_mixes = affine_backward(parameters, TensorId::pair(OUTPUT, block), &side_by_side(&mixes), d_y, gradient);

    let backward = |(number, head): (usize, &HeadInput<S>)| {
        let d_mix = columns(&d_mixes, config.mix_columns(number));
        attention_backward(config, &head.distances, [&head.q, &head.k, &head.v], &d_mix)
    };
    let d_heads: Vec<AttentionGradients<S>> = inputs.iter().enumerate().map(backward).collect();
    let parts = |part: fn(&AttentionGradients<S>) -> Matrix<S>| d_heads.iter().map(part).collect::<Vec<_>>();
    let d_distances: Vec<S> = d_heads.iter().flat_map(|head| head.distances.clone()).collect();
    add_to(
        gradient,
        TensorName::DistanceBias.of_block(config.distance_block(block)),
        &Matrix::from_row_major(1, d_distances.len(), d_distances),
    );

    let mut back = |pair: [TensorName; 2], gain: TensorName, x: &Matrix<S>, d: &Matrix<S>| {
        let projected = affine(parameters, TensorId::pair(pair, block), x);
        let d = placed_backward(layer, gain, &projected, d, gradient);
        affine_backward(parameters, TensorId::pair(pair, block), x, &d, gradient)
    };
    let d_x = back(QUERY, TensorName::QueryNormGain, x, &side_by_side(&parts(|head| head.q.clone())));
    let d_keys = group_sums(config, &parts(|head| head.k.clone()));
    let d_from_keys = back(KEY, TensorName::KeyNormGain, z, &d_keys);
    let d_values = group_sums(config, &parts(|head| head.v.clone()));
    let d_from_values = affine_backward(parameters, TensorId::pair(VALUE, block), z, &d_values, gradient);
    (d_x, sum(&d_from_keys, &d_from_values))
}
