//! One head of one sentence: `S = s Q Kᵀ`, `A = softmax(S)`, `M = A V`, and the gradients. It works on a panel of
//! queries at a time, so that the scores of a long sentence fit in the processor's cache. The module also defines the
//! changes that a learner may make to a head.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use serde::{Deserialize, Serialize};

use super::distances::{HeadDistances, distance_gradient};
use super::mask::{Mask, Window};
use super::tile::{PartMut, Strided, mix_mean, outer};
use crate::json::{self, Real};
use crate::numerics::simd::{Simd, add, dot, padded};
use crate::numerics::softmax::{softmax, softmax_gradient};
use crate::numerics::{Matrix, Scalar};

/// Number of queries in a panel.
const PANEL: usize = 64;

/// The operands of one head of one sentence, as parts of the batch's matrices.
#[derive(Clone, Copy)]
pub struct Head<'a, S> {
    /// Queries `Q` (T_q, d_k).
    pub query: Strided<'a, S>,
    /// Keys `K` (T_k, d_k).
    pub key: Strided<'a, S>,
    /// Values `V` (T_k, d_v).
    pub value: Strided<'a, S>,
    /// Factor `s` of the products of queries and keys.
    pub scale: S,
    /// `c / τ`, the bound of the scores, if there is one.
    pub cap: Option<S>,
    /// Learned numbers that are added to the scores, one for each distance of query and key.
    pub bias: HeadDistances<'a, S>,
    pub mask: &'a Mask,
    pub window: Window,
    /// Removed edges of this head.
    pub removed: &'a [Edge],
    /// Position of the first query in its sentence.
    pub before: usize,
}

/// An edge of attention: the weight of a key for a query in a head. In JSON: `[head, query, key]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(usize, usize, usize)", into = "(usize, usize, usize)")]
pub struct Edge {
    pub head: usize,
    pub query: usize,
    pub key: usize,
}

impl From<(usize, usize, usize)> for Edge {
    fn from((head, query, key): (usize, usize, usize)) -> Self {
        Self { head, query, key }
    }
}

impl From<Edge> for (usize, usize, usize) {
    fn from(Edge { head, query, key }: Edge) -> Self {
        (head, query, key)
    }
}

/// A learner's changes to the heads of a block. Training uses none.
#[derive(Clone, Copy, Debug)]
pub struct HeadChanges<'a, S> {
    /// One mode for each head, or none if every head is live.
    pub modes: &'a [HeadMode<S>],
    /// Removed edges, sorted; heads are counted within the block.
    pub removed: &'a [Edge],
}

impl<'a, S> HeadChanges<'a, S> {
    pub const NONE: Self = Self { modes: &[], removed: &[] };

    pub fn is_none(&self) -> bool {
        self.modes.is_empty() && self.removed.is_empty()
    }

    /// Returns the removed edges of a head.
    pub(super) fn removed_of(&self, head: usize) -> &'a [Edge] {
        let from = self.removed.partition_point(|edge| edge.head < head);
        let to = self.removed.partition_point(|edge| edge.head <= head);
        &self.removed[from..to]
    }
}

/// A learner's change to a head, as used in commands, passes, saved work, options and exports. Training uses only
/// [`HeadMode::Live`].
///
/// Its text is its name, or the factor of a gain: `off`, `0.5`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: Scalar + Real")]
pub enum HeadMode<S> {
    #[default]
    Live,
    /// A mix of zero.
    Off,
    /// The same weight for every key that a query sees.
    Uniform,
    /// Fixed weights (T_q, T_k), whatever the scores are. `None` in a command stands for the weights of the pass that
    /// it is applied to.
    Frozen(#[serde(with = "frozen")] Option<Arc<Matrix<S>>>),
    /// A factor of the mix: 0 is off, 1 is live.
    Gain(#[serde(with = "json::number")] S),
    /// The mean of the mixes over the sentence's positions, in place of every mix: `M_i = 1/T Σ_l A_l V`. Every query
    /// has the mean of all rows of weights.
    Mean,
    /// The weights and values, and so the mixes, of the second sentence. `None` in a command stands for those of its
    /// present pass.
    Second(#[serde(with = "json::maybe_shared")] Option<Arc<SecondHead<S>>>),
}

/// A head of the second sentence, as it was when it was copied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: Scalar + Real")]
pub struct SecondHead<S> {
    /// `A` (T_q, T_k)
    #[serde(with = "written")]
    pub weights: Matrix<S>,
    /// `V` (T_k, d_v)
    #[serde(with = "written")]
    pub values: Matrix<S>,
}

/// The texts that describe a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeWords {
    pub name: &'static str,
    /// Meaning, for a person who chooses a mode.
    pub meaning: &'static str,
    /// Effect on the head, as the end of a sentence whose subject is the head.
    effect: &'static str,
}

impl<S> HeadMode<S> {
    /// Modes that have a name, in the order of a list to choose from. The first [`Self::BASIC`] are enough for a
    /// beginner.
    pub const NAMED: [Self; 5] = [Self::Live, Self::Off, Self::Mean, Self::Uniform, Self::Frozen(None)];
    pub const BASIC: usize = 2;

    pub fn words(&self) -> ModeWords {
        let [name, meaning, effect] = match self {
            Self::Live => ["live", "The head works as usual: its scores decide where it looks", "takes part"],
            Self::Off => ["off", "The head adds nothing (zero ablation)", "is off"],
            Self::Mean => [
                "mean",
                "The head adds the same vector at every position: the mean of its outputs over the sentence (mean \
                 ablation)",
                "adds its mean over the sentence",
            ],
            Self::Uniform => [
                "uniform",
                "Every word that the head can see gets the same weight",
                "gives every visible word the same weight",
            ],
            Self::Frozen(_) => [
                "frozen",
                "The head's attention weights stay as they are now, whatever else you change",
                "keeps its earlier attention weights",
            ],
            Self::Gain(_) => ["gain", "The head's output is multiplied by a number", "has its output multiplied by"],
            Self::Second(_) => [
                "second",
                "The head adds to each word what it adds to the word at the same place of the second sentence, as it \
                 is now (activation patching)",
                "adds what it added in the second sentence",
            ],
        };
        ModeWords { name, meaning, effect }
    }

    /// Returns whether the mode belongs to one sentence, as frozen weights do.
    pub fn is_of_sentence(&self) -> bool {
        self.has_given_weights()
    }

    /// Returns whether the weights are copied from another pass.
    pub fn has_given_weights(&self) -> bool {
        matches!(self, Self::Frozen(_) | Self::Second(_))
    }

    /// Returns the weights (T_q, T_k) that replace the head's own, if they are known.
    pub fn given_weights(&self) -> Option<&Matrix<S>> {
        match self {
            Self::Frozen(weights) => weights.as_deref(),
            Self::Second(head) => head.as_ref().map(|head| &head.weights),
            _ => None,
        }
    }

    /// Returns the values (T_k, d_v) that replace the head's own, if they are known.
    pub fn given_values(&self) -> Option<&Matrix<S>> {
        if let Self::Second(Some(head)) = self { Some(&head.values) } else { None }
    }

    /// Returns whether a gain can replace this mode without another change to the head.
    pub fn takes_gain(&self) -> bool {
        matches!(self, Self::Live | Self::Off | Self::Gain(_) | Self::Mean)
    }

    /// Returns whether the weights are other than the softmax of the scores.
    pub fn replaces_weights(&self) -> bool {
        matches!(self, Self::Uniform | Self::Mean) || self.has_given_weights()
    }
}

impl<S: Scalar> HeadMode<S> {
    /// Returns the factor of the mix: 0 for off, and 1 for a mode without a factor.
    pub fn gain(&self) -> S {
        match self {
            Self::Live | Self::Uniform | Self::Frozen(_) | Self::Mean | Self::Second(_) => S::one(),
            Self::Off => S::zero(),
            Self::Gain(gain) => *gain,
        }
    }

    /// Returns the effect on a head, as the end of a sentence: `is off`, `has its output multiplied by 0.5`.
    pub fn effect(&self) -> String {
        let ModeWords { effect, .. } = self.words();
        match self {
            Self::Gain(gain) => format!("{effect} {gain}"),
            _ => effect.to_owned(),
        }
    }
}

impl<S: Scalar> fmt::Display for HeadMode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gain(gain) => write!(f, "{gain}"),
            _ => f.write_str(self.words().name),
        }
    }
}

impl<S: Scalar + FromStr> FromStr for HeadMode<S> {
    type Err = S::Err;

    fn from_str(text: &str) -> Result<Self, S::Err> {
        let named = Self::NAMED.into_iter().find(|mode| mode.words().name == text);
        named.map_or_else(|| text.parse().map(Self::Gain), Ok)
    }
}

/// The serialised form of frozen weights.
mod frozen {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::json::Real;
    use crate::numerics::attention::head::written::Written;
    use crate::numerics::{Matrix, Scalar};

    pub fn serialize<S: Scalar + Real, W: Serializer>(
        weights: &Option<Arc<Matrix<S>>>,
        serializer: W,
    ) -> Result<W::Ok, W::Error> {
        weights.as_deref().map(Written::from).serialize(serializer)
    }

    pub fn deserialize<'de, S: Scalar + Real, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<Matrix<S>>>, D::Error> {
        Option::deserialize(deserializer).map(|found: Option<Written<S>>| found.map(|found| Arc::new(found.into())))
    }
}

/// The serialised form of a matrix: the number of rows, and all entries row by row. Entries that do not form such a
/// matrix become an empty one, which fits no sentence.
mod written {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::json::{self, Real};
    use crate::numerics::{Matrix, Scalar};

    #[derive(Serialize, Deserialize)]
    #[serde(bound = "S: Real")]
    pub struct Written<S> {
        rows: usize,
        #[serde(with = "json::numbers")]
        weights: Vec<S>,
    }

    impl<S: Scalar> From<&Matrix<S>> for Written<S> {
        fn from(matrix: &Matrix<S>) -> Self {
            Self { rows: matrix.rows(), weights: matrix.flat().to_vec() }
        }
    }

    impl<S: Scalar> From<Written<S>> for Matrix<S> {
        fn from(Written { rows, weights }: Written<S>) -> Self {
            let cols = weights.len().checked_div(rows).filter(|cols| cols.checked_mul(rows) == Some(weights.len()));
            cols.map_or_else(|| Matrix::zeros(0, 0), |cols| Matrix::from_row_major(rows, cols, weights))
        }
    }

    pub fn serialize<S: Scalar + Real, W: Serializer>(matrix: &Matrix<S>, serializer: W) -> Result<W::Ok, W::Error> {
        Written::from(matrix).serialize(serializer)
    }

    pub fn deserialize<'de, S: Scalar + Real, D: Deserializer<'de>>(deserializer: D) -> Result<Matrix<S>, D::Error> {
        Written::deserialize(deserializer).map(Matrix::from)
    }
}

/// Returns the length of a row of scores or weights: the number of keys, padded to whole vectors (lanes).
pub fn weights_stride(keys: usize) -> usize {
    padded(keys)
}

/// Returns the number of entries of the scratch of [`Head::backward`].
pub fn panel_entries(keys: usize) -> usize {
    PANEL * weights_stride(keys)
}

impl<S: Scalar> Head<'_, S> {
    /// Returns the number of leading keys that some query of a panel can see.
    fn visible_keys(&self, first: usize, queries: usize) -> usize {
        if *self.mask == Mask::Causal { self.key.rows.min(self.before + first + queries) } else { self.key.rows }
    }

    fn is_seen(&self, query: usize, key: usize) -> bool {
        self.mask.sees(query, key)
            && self.window.sees(query, key)
            && !self.removed.iter().any(|edge| (edge.query, edge.key) == (query, key))
    }

    /// Replaces a query's row of weights if the mode is uniform or its weights are given; other modes leave it.
    fn change(&self, mode: &HeadMode<S>, query: usize, weights: &mut [S]) {
        match mode {
            HeadMode::Live | HeadMode::Off | HeadMode::Gain(_) | HeadMode::Mean => {}
            HeadMode::Uniform => {
                let visible = (0..weights.len()).filter(|&key| self.is_seen(query, key)).count();
                let share = S::one() / S::from_f64(visible.max(1) as f64);
                for (key, weight) in weights.iter_mut().enumerate() {
                    *weight = if self.is_seen(query, key) { share } else { S::zero() };
                }
            }
            HeadMode::Frozen(_) | HeadMode::Second(_) => {
                let Some(frozen) = mode.given_weights() else { return };
                let (shape, wanted) = ((frozen.rows(), frozen.cols()), (self.query.rows, weights.len()));
                assert!(shape == wanted, "attention: frozen weights {shape:?} for {wanted:?}");
                weights.copy_from_slice(frozen.row(query));
                let removed = self.removed.iter().filter(|edge| edge.query == query && edge.key < weights.len());
                let removed: Vec<usize> = removed.map(|edge| edge.key).collect();
                removed.iter().for_each(|&key| weights[key] = S::zero());
                if !removed.is_empty() {
                    let rest = weights.iter().copied().sum::<S>();
                    let share = if rest > S::zero() { S::one() / rest } else { S::zero() };
                    weights.iter_mut().for_each(|weight| *weight *= share);
                }
            }
        }
    }

    /// Computes the head. `weights` (T_q, [`weights_stride`]) receives `A`; `scores`, if given, receives `S` in the
    /// same layout.
    ///
    /// # Panics
    /// If given weights or values have another shape.
    #[inline(always)]
    pub fn forward<V: Simd<S>>(
        &self,
        simd: V,
        mode: &HeadMode<S>,
        mut scores: Option<&mut [S]>,
        weights: &mut [S],
        mut means: Option<&mut [S]>,
        mix: &mut PartMut<'_, S>,
    ) {
        let (keys, stride) = (self.key.rows, weights_stride(self.key.rows));
        let weights = &mut weights[..self.query.rows * stride];
        let value = mode.given_values().map_or(self.value, |values| self.in_place_of_values(values));
        if let Some(means) = &mut means {
            means[..keys].fill(S::zero());
        }
        for (panel, weights) in weights.chunks_mut(PANEL * stride).enumerate() {
            let (first, queries) = (panel * PANEL, weights.len() / stride);
            let visible = self.visible_keys(first, queries);
            self.scores(first, visible, weights);
            for (query, row) in weights.chunks_exact_mut(stride).enumerate() {
                if let Some(scores) = &mut scores {
                    scores[(first + query) * stride..][..stride].copy_from_slice(row);
                }
                softmax(simd, &mut row[..visible]);
                row[visible..].fill(S::zero());
                self.change(mode, first + query, &mut row[..keys]);
            }
            if *mode == HeadMode::Off {
                mix.fill(S::zero());
                continue;
            }
            if let Some(means) = &mut means {
                add_rows(weights, stride, &mut means[..keys]);
                continue;
            }
            if *mode == HeadMode::Mean {
                continue; // once all rows are there
            }
            let reach = if mode.replaces_weights() { keys } else { visible };
            let weights = panel_of(weights, queries, stride, reach);
            let to = mix.rows_mut(first, queries);
            matmul(to, Accum::Replace, weights, value.rows_from(0, reach), mode.gain(), Par::Seq);
        }
        // If only the mean of the mixes is needed, this mode does not change it, so nothing is done.
        if *mode == HeadMode::Mean && means.is_none() {
            self.mean_of_rows(weights);
            let queries = self.query.rows;
            let (to, weights) = (mix.rows_mut(0, queries), panel_of(weights, queries, stride, keys));
            matmul(to, Accum::Replace, weights, self.value.rows_from(0, keys), S::one(), Par::Seq);
        }
        if let Some(means) = means.filter(|_| *mode != HeadMode::Off) {
            let share = mode.gain() / S::from_f64(self.query.rows as f64);
            means[..keys].iter_mut().for_each(|mean| *mean *= share);
            mix_mean(simd, &means[..keys], self.value, mix);
        }
    }

    /// Returns given values in the form of the head's own.
    fn in_place_of_values<'v>(&self, values: &'v Matrix<S>) -> Strided<'v, S> {
        let (shape, wanted) = ((values.rows(), values.cols()), (self.value.rows, self.value.cols));
        assert!(shape == wanted, "attention: given values {shape:?} for {wanted:?}");
        Strided { entries: values.flat(), stride: values.cols(), rows: values.rows(), cols: values.cols() }
    }

    /// Replaces each row by the mean of all rows.
    fn mean_of_rows(&self, weights: &mut [S]) {
        let (keys, stride) = (self.key.rows, weights_stride(self.key.rows));
        let mut mean = vec![S::zero(); keys];
        add_rows(weights, stride, &mut mean);
        let share = S::one() / S::from_f64(self.query.rows as f64);
        mean.iter_mut().for_each(|weight| *weight *= share);
        weights.chunks_exact_mut(stride).for_each(|row| row[..keys].copy_from_slice(&mean));
    }

    /// Computes `z = s Q Kᵀ` of the queries from `first` on and the first `visible` keys.
    fn products(&self, first: usize, visible: usize, products: &mut [S]) {
        let stride = weights_stride(self.key.rows);
        let queries = products.len() / stride;
        let to = MatMut::from_row_major_slice_mut(products, queries, stride).subcols_mut(0, visible);
        let (query, key) = (self.query.rows_from(first, queries), self.key.rows_from(0, visible));
        matmul(to, Accum::Replace, query, key.transpose(), self.scale, Par::Seq);
    }

    /// Computes `S`: the products, bounded, plus the numbers of their distances; −∞ where masked and for keys from
    /// `visible` on.
    fn scores(&self, first: usize, visible: usize, scores: &mut [S]) {
        let stride = weights_stride(self.key.rows);
        self.products(first, visible, scores);
        for (query, row) in scores.chunks_exact_mut(stride).enumerate() {
            if let Some(cap) = self.cap {
                row[..visible].iter_mut().for_each(|z| *z = cap * (*z / cap).tanh());
            }
            row[visible..].fill(S::NEG_INFINITY);
            let place = self.before + first + query;
            self.bias.add_to_row(place, &mut row[..visible]);
            self.mask.hide(place, &mut row[..visible]);
            self.window.hide(place, &mut row[..visible]);
            for edge in self.removed.iter().filter(|edge| edge.query == place && edge.key < visible) {
                row[edge.key] = S::NEG_INFINITY;
            }
        }
    }
}

/// Adds the sum of the rows to `to`.
#[inline(always)]
fn add_rows<S: Scalar>(entries: &[S], stride: usize, to: &mut [S]) {
    for row in entries.chunks_exact(stride) {
        add(to, &row[..to.len()]);
    }
}

/// Returns the first columns of a panel of scores or weights.
fn panel_of<S>(entries: &[S], queries: usize, stride: usize, cols: usize) -> MatRef<'_, S> {
    MatRef::from_row_major_slice(entries, queries, stride).subcols(0, cols)
}

/// The gradients that a head's backward pass writes.
pub struct HeadGradients<'a, S> {
    /// Gradient `d_Q` of the queries (T_q, d_k).
    pub query: PartMut<'a, S>,
    /// Gradient `d_K` of the keys (T_k, d_k).
    pub key: PartMut<'a, S>,
    /// Gradient `d_V` of the values (T_k, d_v).
    pub value: PartMut<'a, S>,
    /// `d_B τ` of the head, added to the given values; empty if distances are not used.
    pub bias: &'a mut [S],
}

impl<S: Scalar> Head<'_, S> {
    /// Computes the gradients of [`Head::forward`]. They replace the given values, except that the gradient of the
    /// distances is added.
    ///
    /// `d_V = Aᵀ d_M`, `d_A = d_M Vᵀ`, `d_S` from `d_A` through the softmax, `d_Q = s d_S K`, `d_K = s d_Sᵀ Q`. A
    /// masked weight is 0, and so is its gradient. With a bound, `d_z = (1 − tanh²(z / c)) d_S`.
    #[inline(always)]
    pub fn backward<V: Simd<S>>(
        &self,
        simd: V,
        weights: &[S],
        means: Option<&mut [S]>,
        d_mix: Strided<'_, S>,
        d_scores: &mut [S],
        to: &mut HeadGradients<'_, S>,
    ) {
        let stride = weights_stride(self.key.rows);
        let weights = &weights[..self.query.rows * stride];
        to.key.fill(S::zero());
        to.value.fill(S::zero());
        let share = S::one() / S::from_f64(self.query.rows as f64);
        let d_mean = means.map(|means| {
            let means = &mut means[..self.key.rows];
            outer(simd, means, d_mix, &mut to.value);
            // From here on `means` holds the gradient of each key's weight, which is the same for every query.
            for (key, d) in means.iter_mut().enumerate() {
                *d = share * dot(simd, self.value.row(key), d_mix.row(0));
            }
            &*means
        });
        for (panel, weights) in weights.chunks(PANEL * stride).enumerate() {
            let (first, queries) = (panel * PANEL, weights.len() / stride);
            let visible = self.visible_keys(first, queries);
            let d_scores = &mut d_scores[..queries * stride];

            match d_mean {
                Some(d) => {
                    d_scores.chunks_exact_mut(stride).for_each(|row| row[..visible].copy_from_slice(&d[..visible]))
                }
                None => {
                    let d_mix = d_mix.rows_from(first, queries);
                    let a = panel_of(weights, queries, stride, visible);
                    matmul(to.value.rows_mut(0, visible), Accum::Add, a.transpose(), d_mix, S::one(), Par::Seq);
                    let d_a = MatMut::from_row_major_slice_mut(&mut *d_scores, queries, stride).subcols_mut(0, visible);
                    let value = self.value.rows_from(0, visible);
                    matmul(d_a, Accum::Replace, d_mix, value.transpose(), S::one(), Par::Seq);
                }
            }
            for (query, (weights, d)) in weights.chunks_exact(stride).zip(d_scores.chunks_exact_mut(stride)).enumerate()
            {
                softmax_gradient(simd, &weights[..visible], &mut d[..visible]);
                distance_gradient(first + query, &d[..visible], to.bias);
            }
            self.cap_gradient(first, visible, d_scores);
            let d_s = panel_of(d_scores, queries, stride, visible);
            let (key, query) = (self.key.rows_from(0, visible), self.query.rows_from(first, queries));
            matmul(to.query.rows_mut(first, queries), Accum::Replace, d_s, key, self.scale, Par::Seq);
            matmul(to.key.rows_mut(0, visible), Accum::Add, d_s.transpose(), query, self.scale, Par::Seq);
        }
    }

    /// Converts the gradient of the bounded scores to that of the products, in place; does nothing without a bound.
    fn cap_gradient(&self, first: usize, visible: usize, d_scores: &mut [S]) {
        let Some(cap) = self.cap else { return };
        let stride = weights_stride(self.key.rows);
        let mut products = vec![S::zero(); d_scores.len()];
        self.products(first, visible, &mut products);
        for (d, z) in d_scores.chunks_exact_mut(stride).zip(products.chunks_exact(stride)) {
            for (d, &z) in d[..visible].iter_mut().zip(z) {
                let share = (z / cap).tanh();
                *d *= S::one() - share * share;
            }
        }
    }
}
