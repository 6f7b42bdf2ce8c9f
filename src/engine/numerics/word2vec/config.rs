//! The settings of word2vec.

/// Settings of a training run; sizes and rates are positive.
#[derive(Clone, Debug, PartialEq)]
pub struct Word2VecConfig {
    pub architecture: WordPrediction,
    /// Width `D` of the vectors.
    pub dim: usize,
    /// Largest distance of a context. Each position draws its own reach from 1 to this, so that nearer words count
    /// more.
    pub window: usize,
    /// `k`, the number of noise words of an example.
    pub negatives: usize,
    /// Number of passes over the corpus.
    pub epochs: usize,
    /// Learning rate at the start; it falls linearly to [`LEARNING_RATE_FLOOR`] of it.
    pub learning_rate: f64,
    /// `t`: words whose share of the corpus is larger than `t` are left out at random, more often the larger the share
    /// is. `None` keeps all words.
    pub subsample: Option<f64>,
}

/// The direction of prediction: from a word to its window, or from the window to the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPrediction {
    /// A word predicts each word of its window.
    SkipGram {
        /// Whether noise words are drawn once for a window instead of for each of its pairs. The window is then trained
        /// in one step, with `L = Σ_c L_(w, c)` and the same `n` in every term. This is faster: there are still
        /// `m (1 + k)` scores, but they use only `1 + k` rows of the contexts, and only `k` noise words are drawn. The
        /// gradient has the same expectation but more variance, and all pairs of a window are computed from the same
        /// vectors.
        share_negatives: bool,
    },
    /// The mean of the words of a window predicts the word in its middle.
    Cbow,
}

/// Ratio of the last learning rate to the first.
pub const LEARNING_RATE_FLOOR: f64 = 1e-4;

impl Word2VecConfig {
    /// Returns the learning rate after the share `progress` of the training, from 0 to 1.
    pub fn rate(&self, progress: f64) -> f64 {
        self.learning_rate * (1.0 - progress).max(LEARNING_RATE_FLOOR)
    }

    /// Estimates the largest number of multiplications that a sentence of `tokens` words takes.
    pub fn multiplications(&self, tokens: usize) -> f64 {
        /// Number of multiplications that take as long as a draw and a sigmoid.
        const SCORE_OVERHEAD: usize = 32;
        let contexts = 2 * self.window;
        let scores = match self.architecture {
            WordPrediction::SkipGram { share_negatives: false } => contexts * (1 + self.negatives),
            WordPrediction::SkipGram { share_negatives: true } => contexts + self.negatives,
            // The mean and its gradient take about as long as one score for each context.
            WordPrediction::Cbow => contexts + 1 + self.negatives,
        };
        tokens as f64 * scores as f64 * (self.dim + SCORE_OVERHEAD) as f64
    }
}
