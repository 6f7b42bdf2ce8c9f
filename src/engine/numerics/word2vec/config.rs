//! Settings of word2vec.

/// Settings of a training run; sizes and rates are positive.
#[derive(Clone, Debug, PartialEq)]
pub struct Word2VecConfig {
    pub architecture: Architecture,
    /// `D`
    pub dim: usize,
    /// The farthest context; each position draws its own reach from 1 to this, so that near words
    /// count more.
    pub window: usize,
    /// `k`: noise words of an example.
    pub negatives: usize,
    /// Passes over the corpus.
    pub epochs: usize,
    /// At the start; it falls linearly to [`LEARNING_RATE_FLOOR`] of it.
    pub learning_rate: f64,
    /// `t`: words of a larger share of the corpus are left out at times; none are without it.
    pub subsample: Option<f64>,
}

/// Which words predict which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// A word predicts each word of its window.
    SkipGram {
        /// The noise words are drawn once for a window and not for each of its pairs, and the window is
        /// one step: `L = Σ_c L_(w, c)` with the same `n` in every term. Several times faster, for a
        /// window then has `m + k` scores in place of `m (1 + k)`. The gradient has the same expectation
        /// but more variance, and the pairs of a window do not see each other's steps.
        share_negatives: bool,
    },
    /// The mean of the words of a window predicts the word in its middle.
    Cbow,
}

/// The last learning rate as a share of the first.
pub const LEARNING_RATE_FLOOR: f64 = 1e-4;

impl Word2VecConfig {
    /// The learning rate when `progress` of the training, from 0 to 1, is done.
    pub fn rate(&self, progress: f64) -> f64 {
        self.learning_rate * (1.0 - progress).max(LEARNING_RATE_FLOOR)
    }

    /// Multiplications that a sentence of `tokens` words costs at most, roughly.
    pub fn multiplications(&self, tokens: usize) -> f64 {
        /// A draw and a sigmoid cost as much as this many multiplications.
        const SCORE_OVERHEAD: usize = 32;
        let contexts = 2 * self.window;
        let scores = match self.architecture {
            Architecture::SkipGram { share_negatives: false } => contexts * (1 + self.negatives),
            Architecture::SkipGram { share_negatives: true } => contexts + self.negatives,
            // The mean and its gradient cost about a score for each context.
            Architecture::Cbow => contexts + 1 + self.negatives,
        };
        tokens as f64 * scores as f64 * (self.dim + SCORE_OVERHEAD) as f64
    }
}
