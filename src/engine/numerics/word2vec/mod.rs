//! Static vectors: word2vec with negative sampling (Mikolov et al. 2013, arXiv 1310.4546).
//!
//! **Skip-gram** learns from each pair of a word `w` and a word `c` near it, with `k` words `n` drawn as noise (Eq. 4
//! there):
//!
//! ```text
//! L = −ln σ(u_c · v_w) − Σ_n ln σ(−u_n · v_w)
//! ∂L/∂v_w = (σ(u_c · v_w) − 1) u_c + Σ_n σ(u_n · v_w) u_n
//! ```
//!
//! **CBOW**, the continuous bag of words (Mikolov et al. 2013, arXiv 1301.3781, section 3.1), predicts the word `c` in
//! the middle of a window from the mean of the `m` other words:
//!
//! ```text
//! h = 1/m Σ_w v_w
//! L = −ln σ(u_c · h) − Σ_n ln σ(−u_n · h)
//! ∂L/∂v_w = 1/m ((σ(u_c · h) − 1) u_c + Σ_n σ(u_n · h) u_n)
//! ```
//!
//! `v` are the vectors that a lesson shows; `u` represent words as contexts of others. Both are `(V, D)`. In both
//! methods the words of a window are the inputs and the word in its middle is the near target, as in the original
//! program: over a corpus each pair is trained from both sides.

mod frequencies;
mod objective;
mod tables;
mod worker;

use frequencies::Frequencies;
pub use objective::{target_backward, target_forward};
use rand::RngExt;
use rand::seq::SliceRandom;
pub use tables::{Tables, WordStep};

use crate::numerics::Matrix;
use crate::numerics::rng::{Generator, Stream, stream};
pub use crate::numerics::word2vec::tables::Lanes;
use crate::numerics::word2vec::worker::Threads;

/// Training in progress, a few sentences at a time.
pub struct Word2Vec<S> {
    config: Word2VecConfig,
    frequencies: Frequencies,
    /// Order of the sentences in this epoch.
    order: Vec<usize>,
    order_rng: Generator,
    /// Index in `order` of the next sentence.
    next: usize,
    epochs_done: usize,
    threads: Threads<S>,
}

impl<S: Lanes> Word2Vec<S> {
    /// Makes random vectors, by the seed, for a corpus of word indices below `vocabulary`.
    ///
    /// # Panics
    /// If the corpus has other indices, or the window is 0.
    pub fn new(config: Word2VecConfig, vocabulary: usize, corpus: &[Vec<usize>], seed: u64) -> Self {
        Self::on_threads(1, config, vocabulary, corpus, seed)
    }

    /// Makes vectors like [`Self::new`] for training on several threads, for a corpus of a million words or more. The
    /// sentences are divided among the threads, so the result depends on their number; see [`threads`].
    ///
    /// # Panics
    /// As [`Self::new`], or if `threads` is 0.
    pub fn on_threads(
        threads: usize,
        config: Word2VecConfig,
        vocabulary: usize,
        corpus: &[Vec<usize>],
        seed: u64,
    ) -> Self {
        assert!(threads > 0 && config.window > 0, "word2vec: {threads} threads, a window of {}", config.window);
        let frequencies = Frequencies::new(vocabulary, corpus, config.subsample);
        let mut init = stream(seed, Stream::StaticInit);
        let dim = config.dim;
        let vectors = Matrix::from_fn(vocabulary, dim, |_, _| S::from_f64((init.random::<f64>() - 0.5) / dim as f64));
        let sorted = Matrix::from_fn(vocabulary, dim, |row, col| vectors.get(frequencies.order[row], col));
        let tables = Tables::new(&sorted, &Matrix::zeros(vocabulary, dim));
        Self {
            threads: Threads::new(threads, &config, tables, corpus, seed),
            config,
            frequencies,
            order: (0..corpus.len()).collect(),
            order_rng: stream(seed, Stream::StaticOrder),
            next: 0,
            epochs_done: 0,
        }
    }

    /// Trains on the next `count` sentences, or on somewhat more if several threads work on them together. An epoch is
    /// one pass over the corpus, in an order of its own.
    pub fn advance(&mut self, corpus: &[Vec<usize>], count: usize) {
        let mut left = count;
        while left > 0 && !self.is_done() {
            if self.next == 0 {
                self.order.shuffle(&mut self.order_rng);
            }
            let end = self.order.len().min(self.next.saturating_add(self.threads.round(left)));
            let rates: Vec<f64> = (self.next..end).map(|at| self.rate(at)).collect();
            self.threads.train(&self.config, &self.frequencies, corpus, &self.order[self.next..end], &rates);
            // An empty epoch counts as one sentence, so that the loop ends.
            left = left.saturating_sub((end - self.next).max(1));
            self.next = end;
            if self.next == self.order.len() {
                self.next = 0;
                self.epochs_done += 1;
            }
        }
    }

    /// Returns the learning rate for the sentence at an index of this epoch.
    fn rate(&self, at: usize) -> f64 {
        let in_epoch = at as f64 / self.order.len() as f64;
        self.config.rate((self.epochs_done as f64 + in_epoch) / self.config.epochs as f64)
    }

    pub fn epochs_done(&self) -> usize {
        self.epochs_done
    }

    pub fn is_done(&self) -> bool {
        self.epochs_done >= self.config.epochs
    }

    /// Returns `v` (V, D).
    pub fn vectors(&self) -> Matrix<S> {
        let sorted = self.threads.tables().vectors();
        let row_of = &self.frequencies.row_of;
        Matrix::from_fn(sorted.rows(), sorted.cols(), |word, col| sorted.get(row_of[word], col))
    }
}

// Settings of word2vec.

/// Settings of a training run; sizes and rates are positive.
#[derive(Clone, Debug, PartialEq)]
pub struct Word2VecConfig {
    pub architecture: WordPrediction,
    /// `D`
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
    /// `t`: words with a larger share of the corpus are left out at random. `None` keeps all.
    pub subsample: Option<f64>,
}

/// The words that are predicted, and from which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPrediction {
    /// A word predicts each word of its window.
    SkipGram {
        /// Whether noise words are drawn once for a window instead of for each of its pairs. The window is then one
        /// step, `L = Σ_c L_(w, c)` with the same `n` in every term. This is several times faster, because a window has
        /// `m + k` scores instead of `m (1 + k)`. The gradient has the same expectation but more variance, and the
        /// pairs of a window do not see each other's steps.
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
            // The mean and its gradient take about as long as a score for each context.
            WordPrediction::Cbow => contexts + 1 + self.negatives,
        };
        tokens as f64 * scores as f64 * (self.dim + SCORE_OVERHEAD) as f64
    }
}
