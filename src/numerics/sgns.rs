//! Static vectors: skip-gram with negative sampling (Mikolov et al. 2013, arXiv 1310.4546, Eq. 4).
//!
//! For a word `w` and a word `c` near it, with `k` words `n` drawn as noise:
//!
//! ```text
//! L = −ln σ(u_c · v_w) − Σ_n ln σ(−u_n · v_w)
//! ∂L/∂v_w = (σ(u_c · v_w) − 1) u_c + Σ_n σ(u_n · v_w) u_n
//! ```
//!
//! `v` are the vectors that a lesson shows, `u` belong to the words as contexts.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::rng::{Generator, Stream, stream};
use super::vectors::{add_scaled, dot};
use super::{Matrix, Scalar};

#[derive(Clone, Debug, PartialEq)]
pub struct SkipGramConfig {
    /// `D`
    pub dim: usize,
    /// The farthest context; each centre draws its own width from 1 to this.
    pub window: usize,
    /// `k`
    pub negatives: usize,
    pub epochs: usize,
    /// At the start; it falls linearly to [`LEARNING_RATE_FLOOR`] of it.
    pub learning_rate: f64,
}

impl SkipGramConfig {
    /// Multiplications that a sentence of `tokens` words costs at most, roughly.
    pub fn multiplications(&self, tokens: usize) -> f64 {
        /// A draw and an exponential cost as much as this many multiplications.
        const TARGET_OVERHEAD: usize = 32;
        let pairs = tokens as f64 * 2.0 * self.window as f64;
        pairs * (1 + self.negatives) as f64 * (self.dim + TARGET_OVERHEAD) as f64
    }
}

/// The last learning rate as a share of the first.
pub const LEARNING_RATE_FLOOR: f64 = 1e-4;
/// Noise is drawn from counts to this power.
pub const NOISE_POWER: f64 = 0.75;

/// Training in progress: a few sentences at a time.
pub struct SkipGram<S> {
    config: SkipGramConfig,
    /// `v` (V, D)
    vectors: Matrix<S>,
    /// `u` (V, D)
    contexts: Matrix<S>,
    noise: NoiseTable,
    order: Vec<usize>,
    /// Place in `order` of the sentence that comes next.
    next: usize,
    epochs_done: usize,
    order_rng: Generator,
    windows_rng: Generator,
    negatives_rng: Generator,
    d_vector: Vec<S>,
}

impl<S: Scalar> SkipGram<S> {
    /// Random vectors of the seed for a corpus of word indices below `vocabulary`.
    ///
    /// # Panics
    /// If the vocabulary is empty.
    pub fn new(config: SkipGramConfig, vocabulary: usize, corpus: &[Vec<usize>], seed: u64) -> Self {
        let dim = config.dim;
        let mut init = stream(seed, Stream::StaticInit);
        let vectors = Matrix::from_fn(vocabulary, dim, |_, _| S::from_f64((init.random::<f64>() - 0.5) / dim as f64));
        Self {
            vectors,
            contexts: Matrix::zeros(vocabulary, dim),
            noise: NoiseTable::new(vocabulary, corpus),
            order: (0..corpus.len()).collect(),
            next: 0,
            epochs_done: 0,
            order_rng: stream(seed, Stream::StaticOrder),
            windows_rng: stream(seed, Stream::StaticWindows),
            negatives_rng: stream(seed, Stream::StaticNegatives),
            d_vector: vec![S::zero(); dim],
            config,
        }
    }

    /// The next `count` sentences; an epoch is one pass over the corpus, in an order of its own.
    pub fn advance(&mut self, corpus: &[Vec<usize>], count: usize) {
        for _ in 0..count {
            if self.is_done() {
                return;
            }
            if self.next == 0 {
                self.order.shuffle(&mut self.order_rng);
            }
            if let Some(&sentence) = self.order.get(self.next) {
                let in_epoch = self.next as f64 / self.order.len() as f64;
                let progress = (self.epochs_done as f64 + in_epoch) / self.config.epochs as f64;
                let rate = self.config.learning_rate * (1.0 - progress).max(LEARNING_RATE_FLOOR);
                self.sentence(&corpus[sentence], S::from_f64(rate));
                self.next += 1;
            }
            if self.next >= self.order.len() {
                self.next = 0;
                self.epochs_done += 1;
            }
        }
    }

    pub fn epochs_done(&self) -> usize {
        self.epochs_done
    }

    pub fn is_done(&self) -> bool {
        self.epochs_done >= self.config.epochs
    }

    /// `v` (V, D)
    pub fn vectors(&self) -> &Matrix<S> {
        &self.vectors
    }

    fn sentence(&mut self, words: &[usize], rate: S) {
        for (at, &centre) in words.iter().enumerate() {
            let reach = self.windows_rng.random_range(1..=self.config.window);
            let near = at.saturating_sub(reach)..(at + reach + 1).min(words.len());
            for context in near.filter(|&context| context != at) {
                self.pair(centre, words[context], rate);
            }
        }
    }

    /// One step of gradient descent on `L` for a word and a context.
    fn pair(&mut self, word: usize, context: usize, rate: S) {
        self.d_vector.fill(S::zero());
        self.target(word, context, S::one(), rate);
        for _ in 0..self.config.negatives {
            let noise = self.noise.draw(&mut self.negatives_rng);
            if noise != context {
                self.target(word, noise, S::zero(), rate);
            }
        }
        add_scaled(self.vectors.row_mut(word), -rate, &self.d_vector);
    }

    /// One term of `L`: `s = u · v`, `d_v += d_s u`, `u −= η d_s v`.
    fn target(&mut self, word: usize, context: usize, label: S, rate: S) {
        let score = dot(self.vectors.row(word), self.contexts.row(context));
        let d_score = pair_backward(score, label);
        add_scaled(&mut self.d_vector, d_score, self.contexts.row(context));
        add_scaled(self.contexts.row_mut(context), -rate * d_score, self.vectors.row(word));
    }
}

/// One term of `L`: `−ln σ(s)` for a word that is near (`label` 1), `−ln σ(−s)` for noise (`label` 0).
pub fn pair_forward<S: Scalar>(score: S, label: S) -> S {
    let signed = if label > S::zero() { score } else { -score };
    (S::one() + (-signed).exp()).ln()
}

/// `d_s = σ(s) − label`
pub fn pair_backward<S: Scalar>(score: S, label: S) -> S {
    sigmoid(score) - label
}

/// `σ(x) = 1 / (1 + e^−x)`
pub fn sigmoid<S: Scalar>(x: S) -> S {
    S::one() / (S::one() + (-x).exp())
}

/// Draws words in proportion to `count^0.75`.
struct NoiseTable {
    /// Word indices, each as often as its share.
    entries: Vec<u32>,
}

impl NoiseTable {
    /// Entries a word has on average: the error of a share is below the inverse.
    const ENTRIES_PER_WORD: usize = 256;

    fn new(vocabulary: usize, corpus: &[Vec<usize>]) -> Self {
        assert!(vocabulary > 0, "noise table: the vocabulary is empty");
        let mut counts = vec![0u32; vocabulary];
        for &word in corpus.iter().flatten() {
            counts[word] += 1;
        }
        let powers: Vec<f64> = counts.iter().map(|&count| f64::from(count).powf(NOISE_POWER)).collect();
        let total: f64 = powers.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let size = vocabulary * Self::ENTRIES_PER_WORD;
        let mut entries = Vec::with_capacity(size + vocabulary);
        let mut reached = 0.0;
        for (word, power) in powers.iter().enumerate() {
            reached += power / total;
            entries.resize((reached * size as f64).round() as usize, word as u32);
        }
        if entries.is_empty() {
            entries.push(0);
        }
        Self { entries }
    }

    fn draw(&self, rng: &mut Generator) -> usize {
        self.entries[rng.random_range(0..self.entries.len())] as usize
    }
}
