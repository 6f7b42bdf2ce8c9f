//! The shape of an attention layer.

use std::ops::Range;

use super::mask::Mask;

#[derive(Clone, Debug, PartialEq)]
pub struct AttentionConfig {
    /// `D`
    pub width: usize,
    /// `H`
    pub heads: usize,
    /// `d_k`, of one head.
    pub key_width: usize,
    /// `d_v`, of one head.
    pub value_width: usize,
    /// `W_Q`, `W_K` and `W_V` exist. Without them a word is its own query, key and value, and each
    /// head has its slice of it.
    pub projected: bool,
    /// `W_O` exists. Without it the heads' mixes stand beside one another.
    pub output: bool,
    /// `b_Q`, `b_K`, `b_V` and `b_O` exist beside their weights.
    pub bias: bool,
    /// Scores are divided by `√d_k` ...
    pub scale: bool,
    /// ... by a number that belongs to the model: the layer's own, 1 in most ...
    pub score_divisor: f64,
    /// ... and by the temperature: below 1 the weights are sharper, above 1 more even.
    pub temperature: f64,
    pub mask: Mask,
    /// `B` exists, for sentences of at most so many tokens: a learned number for each distance between
    /// query and key is added to their score (Raffel et al. 2020, arXiv 1910.10683, section 2.1).
    pub distances: Option<usize>,
}

impl AttentionConfig {
    /// `softmax(X Xᵀ) X`: attention with nothing to learn.
    pub fn parameter_free(width: usize) -> Self {
        Self {
            width,
            heads: 1,
            key_width: width,
            value_width: width,
            projected: false,
            output: false,
            bias: false,
            scale: false,
            score_divisor: 1.0,
            temperature: 1.0,
            mask: Mask::None,
            distances: None,
        }
    }

    /// The learned layer of the literature: `d_k = d_v = D / H`, biases, scaling, no mask.
    ///
    /// # Panics
    /// If `heads` does not divide `width`.
    pub fn multi_head(width: usize, heads: usize) -> Self {
        assert!(heads > 0 && width.is_multiple_of(heads), "attention: {heads} heads share a width of {width}");
        let (key_width, value_width) = (width / heads, width / heads);
        let layer = Self::parameter_free(width);
        Self { heads, key_width, value_width, projected: true, output: true, bias: true, scale: true, ..layer }
    }

    /// `s`: what `q · k` is multiplied by.
    pub fn score_scale(&self) -> f64 {
        let scale = if self.scale { 1.0 / (self.key_width as f64).sqrt() } else { 1.0 };
        scale / self.score_divisor / self.temperature
    }

    /// How many distances there are between the tokens of the longest sentence; 0 where they do not count.
    pub fn distance_count(&self) -> usize {
        self.distances.map_or(0, |tokens| 2 * tokens - 1)
    }

    /// The columns of `Q` and `K`, and of their weights, that are one head's.
    pub fn key_columns(&self, head: usize) -> Range<usize> {
        head * self.key_width..(head + 1) * self.key_width
    }

    /// The columns of `V` and the mixes, and rows of `W_O`, that are one head's.
    pub fn value_columns(&self, head: usize) -> Range<usize> {
        head * self.value_width..(head + 1) * self.value_width
    }

    /// `H · d_k`
    pub fn keys_width(&self) -> usize {
        self.heads * self.key_width
    }

    /// `H · d_v`
    pub fn values_width(&self) -> usize {
        self.heads * self.value_width
    }

    /// # Panics
    /// If a layer without projections or output is not as wide as its input.
    pub fn check(&self) {
        let (d, keys, values) = (self.width, self.keys_width(), self.values_width());
        assert!(
            self.projected || (keys == d && values == d),
            "attention: {} heads of width {} and {} without projections from a width of {d}",
            self.heads,
            self.key_width,
            self.value_width
        );
        assert!(self.output || values == d, "attention: mixes of width {values} without W_O to a width of {d}");
    }
}
