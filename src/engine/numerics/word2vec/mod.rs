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
//! methods the words of a window are the inputs and the word in its middle is the target, as in the original program;
//! over a corpus each pair is trained in both directions.

mod config;
mod frequencies;
mod objective;
mod rows;
mod tables;
mod worker;

use frequencies::Frequencies;
pub use objective::{target_backward, target_forward};
use rand::RngExt;
use rand::seq::SliceRandom;
pub use tables::{Tables, WordStep};

use crate::numerics::Matrix;
use crate::numerics::rng::{Generator, Stream, stream};
pub use crate::numerics::word2vec::config::{LEARNING_RATE_FLOOR, Word2VecConfig, WordPrediction};
pub use crate::numerics::word2vec::rows::Lanes;
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
    /// Prepares training on a corpus of word indices below `vocabulary`, from random vectors that the seed determines.
    ///
    /// # Panics
    /// If the corpus has other indices, or the window is 0.
    pub fn new(config: Word2VecConfig, vocabulary: usize, corpus: &[Vec<usize>], seed: u64) -> Self {
        Self::on_threads(1, config, vocabulary, corpus, seed)
    }

    /// Prepares training like [`Self::new`], but on several threads, for a corpus of a million words or more. The
    /// sentences are divided among the threads, so the result depends on their number; see [`threads`].
    ///
    /// # Panics
    /// See [`Self::new`]; also if `threads` is 0.
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
    /// one pass over the corpus, in a new random order.
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

    /// Returns the vectors `v` of the words (V, D).
    pub fn vectors(&self) -> Matrix<S> {
        let sorted = self.threads.tables().vectors();
        let row_of = &self.frequencies.row_of;
        Matrix::from_fn(sorted.rows(), sorted.cols(), |word, col| sorted.get(row_of[word], col))
    }
}
