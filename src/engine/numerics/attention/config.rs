//! The shape and settings of an attention layer.

use std::ops::Range;

use super::distances::DistanceForm;
use super::mask::{Mask, Window};
use super::rotary::Rotary;
use crate::numerics::norm::NormForm;

#[derive(Clone, Debug, PartialEq)]
pub struct AttentionConfig {
    /// Width `D` of the vectors.
    pub width: usize,
    /// Number `H` of heads.
    pub heads: usize,
    /// `H / K`: the number of consecutive heads that share keys and values (Ainslie et al. 2023, arXiv 2305.13245,
    /// section 2.2); 1 if each has its own.
    pub group_size: usize,
    /// `d_k`, the width of one head's queries and keys.
    pub key_width: usize,
    /// `d_v`, the width of one head's values.
    pub value_width: usize,
    /// Whether there are `W_Q`, `W_K` and `W_V`. Without them a word is its own query, key and value, and each head has
    /// a slice of it.
    pub projected: bool,
    /// Whether there is `W_O`. Without it the heads' mixes are concatenated.
    pub output: bool,
    /// Whether there are `b_Q`, `b_K` and `b_V`.
    pub bias: bool,
    /// Whether there is `b_O`.
    pub output_bias: bool,
    /// Norm of queries and keys before rotary positions (Henry et al. 2020, arXiv 2010.04245).
    pub query_key_norm: Option<QueryKeyNorm>,
    /// Rotary positions of queries and keys.
    pub rotary: Option<Rotary>,
    /// Whether scores are divided by `√d_k`.
    pub scale: bool,
    /// A further divisor of this layer's scores; 1 in most models.
    pub score_divisor: f64,
    /// Bound `c` of the scores, `c tanh(z / c)` (Gemma 2: arXiv 2408.00118, section 2).
    pub score_cap: Option<f64>,
    /// Temperature, by which scores are divided after the bound: below 1 the weights are sharper, above 1 more even.
    pub temperature: f64,
    pub mask: Mask,
    /// Distance within which keys are seen.
    pub window: Window,
    /// Form of `B`: learned numbers, one for each distance between query and key, that are added to the scores.
    pub distances: Option<DistanceForm>,
}

/// The form of the norm of queries and keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryKeyNorm {
    /// Whether each head is normed separately, with one gain for all; otherwise the norm runs over the columns of all
    /// heads.
    pub each_head: bool,
    pub form: NormForm,
}

impl AttentionConfig {
    /// Returns the layer `softmax(X Xᵀ) X`, attention with nothing to learn.
    pub fn parameter_free(width: usize) -> Self {
        Self {
            width,
            heads: 1,
            group_size: 1,
            key_width: width,
            value_width: width,
            projected: false,
            output: false,
            bias: false,
            output_bias: false,
            query_key_norm: None,
            rotary: None,
            scale: false,
            score_divisor: 1.0,
            score_cap: None,
            temperature: 1.0,
            mask: Mask::None,
            window: Window::ALL,
            distances: None,
        }
    }

    /// Returns the standard learned layer: `d_k = d_v = D / H`, biases, scaling, no mask.
    ///
    /// # Panics
    /// If `heads` does not divide `width`.
    pub fn multi_head(width: usize, heads: usize) -> Self {
        assert!(heads > 0 && width.is_multiple_of(heads), "attention: {heads} heads share a width of {width}");
        let (key_width, value_width) = (width / heads, width / heads);
        let layer = Self::parameter_free(width);
        Self {
            heads,
            key_width,
            value_width,
            projected: true,
            output: true,
            bias: true,
            output_bias: true,
            scale: true,
            ..layer
        }
    }

    /// Returns `s`, the factor of `q · k` in a score.
    pub fn score_scale(&self) -> f64 {
        let scale = if self.scale { 1.0 / (self.key_width as f64).sqrt() } else { 1.0 };
        scale / self.score_divisor / self.temperature
    }

    /// Returns whether a query sees a key, according to their positions.
    pub fn sees(&self, query: usize, key: usize) -> bool {
        self.mask.sees(query, key) && self.window.sees(query, key)
    }

    /// Returns the number of distances between the tokens of the longest sentence; 0 if the layer does not use them.
    pub fn distance_count(&self) -> usize {
        self.distances.map_or(0, DistanceForm::count)
    }

    /// Returns the number of columns of `B`; 0 if the layer does not use distances.
    pub fn distance_columns(&self) -> usize {
        self.distances.map_or(0, DistanceForm::columns)
    }

    /// Returns the number of the block whose `B` the given block reads: its own, or another.
    pub fn distance_block(&self, block: usize) -> usize {
        self.distances.and_then(|form| form.table).unwrap_or(block)
    }

    /// Returns whether the layer has a `B` of its own, and reads no other layer's.
    pub fn has_own_distances(&self) -> bool {
        self.distances.is_some_and(|form| form.table.is_none())
    }

    /// Returns `K`, the number of heads that have their own keys and values.
    pub fn key_value_heads(&self) -> usize {
        self.heads / self.group_size
    }

    /// Returns which keys and values a head reads, counted from 0: `h div (H / K)`.
    pub fn group_of(&self, head: usize) -> usize {
        head / self.group_size
    }

    /// Returns the heads that share keys and values with this one, itself included.
    pub fn sharers(&self, head: usize) -> Range<usize> {
        let first = self.group_of(head) * self.group_size;
        first..first + self.group_size
    }

    /// Returns the columns of `Q` and `W_Q` that belong to a head.
    pub fn query_columns(&self, head: usize) -> Range<usize> {
        head * self.key_width..(head + 1) * self.key_width
    }

    /// Returns the columns of `K` and `W_K` that a head reads.
    pub fn key_columns(&self, head: usize) -> Range<usize> {
        let group = self.group_of(head);
        group * self.key_width..(group + 1) * self.key_width
    }

    /// Returns the columns of `V` and `W_V` that a head reads.
    pub fn value_columns(&self, head: usize) -> Range<usize> {
        let group = self.group_of(head);
        group * self.value_width..(group + 1) * self.value_width
    }

    /// Returns the columns of the mixes, and rows of `W_O`, that belong to a head.
    pub fn mix_columns(&self, head: usize) -> Range<usize> {
        head * self.value_width..(head + 1) * self.value_width
    }

    /// Returns `H · d_k`, the number of columns of `Q`.
    pub fn queries_width(&self) -> usize {
        self.heads * self.key_width
    }

    /// Returns `K · d_k`, the number of columns of `K`.
    pub fn keys_width(&self) -> usize {
        self.key_value_heads() * self.key_width
    }

    /// Returns `K · d_v`, the number of columns of `V`.
    pub fn values_width(&self) -> usize {
        self.key_value_heads() * self.value_width
    }

    /// Returns `H · d_v`, the number of columns of the mixes.
    pub fn mixes_width(&self) -> usize {
        self.heads * self.value_width
    }

    /// Checks that the settings fit together.
    ///
    /// # Panics
    /// If a layer without projections or output is not as wide as its input, the groups do not divide the heads, a
    /// layer without projections shares keys, or the number of turned columns is odd or more than a head has.
    pub fn check(&self) {
        let (d, queries, mixes) = (self.width, self.queries_width(), self.mixes_width());
        assert!(
            self.projected || (queries == d && mixes == d),
            "attention: {} heads of width {} and {} without projections from a width of {d}",
            self.heads,
            self.key_width,
            self.value_width
        );
        assert!(self.output || mixes == d, "attention: mixes of width {mixes} without W_O to a width of {d}");
        let (heads, group) = (self.heads, self.group_size);
        let are_groups = group > 0 && heads.is_multiple_of(group) && (self.projected || group == 1);
        assert!(are_groups, "attention: {heads} heads in groups of {group}");
        let turned = self.rotary.map_or(0, |rotary| rotary.width);
        let key_width = self.key_width;
        assert!(turned.is_multiple_of(2) && turned <= key_width, "attention: {turned} of {key_width} columns turned");
    }
}
