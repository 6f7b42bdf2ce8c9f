//! word2vec with negative sampling (Mikolov et al. 2013, arXiv 1310.4546, Eq. 4; CBOW: arXiv 1301.3781, section 3.1).
//!
//! An example has input words, with vectors `v`, and target words, with vectors `u`. The first target occurs near the
//! inputs in the text; the others are noise.
//!
//! ```text
//! h    = v_w of each input (skip-gram), or 1/m Σ_w v_w of all (CBOW)
//! L    = Σ_h [ −ln σ(u_near · h) − Σ_noise ln σ(−u_noise · h) ]          σ(s) = 1 / (1 + e^−s)
//! d_s  = σ(s) − 1 for the near word, σ(s) for noise                      s = u · h
//! ∂L/∂h = Σ_targets d_s u          ∂L/∂u = Σ_h d_s h          ∂L/∂v_w = ∂L/∂h, or 1/m of it
//! ```
//!
//! [`Training`] is the whole algorithm: which examples a text gives, in which order, and how far each step goes. It
//! draws from the same named random streams as the engine, in the same order, and so gives the same vectors.

use std::cmp::Reverse;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::{Matrix, Scalar, dot};
use crate::numerics::rng::{Generator, Stream, stream};
use crate::numerics::word2vec::{Word2VecConfig, WordPrediction, WordStep};

/// Computes `σ(s) = 1 / (1 + e^−s)`.
pub fn sigmoid<S: Scalar>(s: S) -> S {
    S::one() / (S::one() + (-s).exp())
}

/// Returns the input vectors `h`: one for each input, or their mean.
fn inputs<S: Scalar>(v: &Matrix<S>, example: WordStep) -> Vec<Vec<S>> {
    if !example.mean {
        return example.inputs.iter().map(|&word| v.row(word).to_vec()).collect();
    }
    let mean = |j: usize| example.inputs.iter().map(|&word| v.get(word, j)).sum::<S>() * share::<S>(example);
    vec![(0..v.cols()).map(mean).collect()]
}

/// Returns `∂h/∂v` of an input word: `1/m` for a mean, otherwise 1.
fn share<S: Scalar>(example: WordStep) -> S {
    if example.mean { S::one() / S::from_f64(example.inputs.len() as f64) } else { S::one() }
}

/// Computes `L` of an example.
///
/// # Shapes
/// `v`, `u` (V, D)
///
/// # Panics
/// If the example has a word that the tables do not have.
///
/// ```
/// use attune_engine::numerics::Matrix;
/// use attune_engine::numerics::reference::word2vec::loss;
/// use attune_engine::numerics::word2vec::WordStep;
///
/// // With vectors of zeros, the probability of each of the two guesses is one half.
/// let zeros = Matrix::<f64>::zeros(3, 4);
/// let example = WordStep { inputs: &[0], mean: false, targets: &[1, 2] };
/// assert!((loss(&zeros, &zeros, example) - 2.0 * 2f64.ln()).abs() < 1e-12);
/// ```
pub fn loss<S: Scalar>(v: &Matrix<S>, u: &Matrix<S>, example: WordStep) -> S {
    let term = |h: &[S], (t, &target): (usize, &usize)| {
        let s = dot(u.row(target), h);
        -sigmoid(if t == 0 { s } else { -s }).ln()
    };
    inputs(v, example).iter().flat_map(|h| example.targets.iter().enumerate().map(|target| term(h, target))).sum()
}

/// Computes `d_s` of each target for one input vector.
fn d_scores<S: Scalar>(h: &[S], u: &Matrix<S>, targets: &[usize]) -> Vec<S> {
    let label = |t: usize| if t == 0 { S::one() } else { S::zero() };
    targets.iter().enumerate().map(|(t, &target)| sigmoid(dot(u.row(target), h)) - label(t)).collect()
}

/// Computes `∂L/∂v` and `∂L/∂u` of an example. A word that occurs in it twice gets the sum of both gradients.
///
/// # Shapes
/// `v`, `u` and both results (V, D)
///
/// # Panics
/// If the example has a word that the tables do not have.
pub fn gradient<S: Scalar>(v: &Matrix<S>, u: &Matrix<S>, example: WordStep) -> (Matrix<S>, Matrix<S>) {
    let (mut d_v, mut d_u) = (Matrix::zeros(v.rows(), v.cols()), Matrix::zeros(u.rows(), u.cols()));
    let h = inputs(v, example);
    let d: Vec<Vec<S>> = h.iter().map(|h| d_scores(h, u, example.targets)).collect();
    for j in 0..v.cols() {
        for (i, &word) in example.inputs.iter().enumerate() {
            let d = &d[if example.mean { 0 } else { i }];
            let d_h: S = d.iter().zip(example.targets).map(|(&d, &target)| d * u.get(target, j)).sum();
            d_v.row_mut(word)[j] += share::<S>(example) * d_h;
        }
        for (t, &target) in example.targets.iter().enumerate() {
            d_u.row_mut(target)[j] += d.iter().zip(&h).map(|(d, h)| d[t] * h[j]).sum::<S>();
        }
    }
    (d_v, d_u)
}

/// Takes one step of gradient descent: `v −= η ∂L/∂v`, `u −= η ∂L/∂u`.
///
/// With a single input the step is taken target by target, as in the original program, so a noise word that is drawn
/// twice has moved in between.
///
/// # Panics
/// If the example has a word that the tables do not have.
pub fn descend<S: Scalar>(v: &mut Matrix<S>, u: &mut Matrix<S>, example: WordStep, rate: S) {
    if let [word] = *example.inputs {
        let h = v.row(word).to_vec();
        for (d, &target) in d_scores(&h, u, example.targets).into_iter().zip(example.targets) {
            for (j, &h) in h.iter().enumerate() {
                v.row_mut(word)[j] -= rate * d * u.get(target, j);
                u.row_mut(target)[j] -= rate * d * h;
            }
        }
        return;
    }
    let (d_v, d_u) = gradient(v, u, example);
    for (table, d) in [(v, d_v), (u, d_u)] {
        table.flat_mut().iter_mut().zip(d.flat()).for_each(|(x, &d)| *x -= rate * d);
    }
}

/// A training run over a corpus of word indices.
pub struct Training<'a, S> {
    config: &'a Word2VecConfig,
    corpus: &'a [Vec<usize>],
    v: Matrix<S>,
    u: Matrix<S>,
    /// Share of each word in the corpus.
    shares: Vec<f64>,
    noise: Noise,
    /// Order of the sentences in this epoch, shuffled again for each.
    order: Vec<usize>,
    epochs_done: usize,
    orders: Generator,
    windows: Generator,
    negatives: Generator,
    subsampling: Generator,
}

/// A window as it was drawn in training.
#[derive(Debug)]
pub struct DrawnWindow {
    /// Number of words of the window's sentence that subsampling kept.
    pub sentence_length: usize,
    /// Index of the window's middle in these words.
    pub middle: usize,
    /// Word in the middle of the window.
    pub word: usize,
    /// Largest distance from the middle on each side.
    pub reach: usize,
    /// Noise words of each example of the window. Draws of the example's near word are included; training drops them.
    pub noise: Vec<Vec<usize>>,
    /// Learning rate `η`.
    pub rate: f64,
}

impl<'a, S: Scalar> Training<'a, S> {
    /// Makes random vectors `v` in `±1/(2D)` and contexts `u` of zeros.
    ///
    /// # Panics
    /// If the corpus has words that are not below `vocabulary`.
    pub fn new(config: &'a Word2VecConfig, vocabulary: usize, corpus: &'a [Vec<usize>], seed: u64) -> Self {
        let mut counts = vec![0.0; vocabulary];
        corpus.iter().flatten().for_each(|&word| counts[word] += 1.0);
        let total: f64 = counts.iter().sum();
        let mut init = stream(seed, Stream::StaticInit);
        let mut entry = || S::from_f64((init.random::<f64>() - 0.5) / config.dim as f64);
        Self {
            config,
            corpus,
            v: Matrix::from_fn(vocabulary, config.dim, |_, _| entry()),
            u: Matrix::zeros(vocabulary, config.dim),
            shares: counts.iter().map(|count| count / total).collect(),
            noise: Noise::new(&counts),
            order: (0..corpus.len()).collect(),
            epochs_done: 0,
            orders: stream(seed, Stream::StaticOrder),
            windows: stream(seed, Stream::StaticWindows),
            negatives: stream(seed, Stream::StaticNegatives),
            subsampling: stream(seed, Stream::StaticSubsampling),
        }
    }

    /// Returns the vectors `v` of the words (V, D).
    pub fn vectors(&self) -> &Matrix<S> {
        &self.v
    }

    /// Makes one pass over the corpus, sentence by sentence, and returns every window of it.
    ///
    /// The learning rate falls linearly from the first sentence of the first epoch to the last sentence of the last,
    /// but not below a ten-thousandth of the first rate.
    pub fn epoch(&mut self) -> Vec<DrawnWindow> {
        const FLOOR: f64 = 1e-4;
        self.order.shuffle(&mut self.orders);
        let (corpus, sentences) = (self.corpus, self.corpus.len());
        let mut windows = Vec::new();
        for (at, sentence) in self.order.clone().into_iter().enumerate() {
            let done = (self.epochs_done * sentences + at) as f64 / (self.config.epochs * sentences) as f64;
            let rate = self.config.learning_rate * (1.0 - done).max(FLOOR);
            self.sentence(&corpus[sentence], rate, &mut windows);
        }
        self.epochs_done += 1;
        windows
    }

    /// Trains on a sentence. Frequent words are left out at random: one with the share `f` of the corpus is kept with
    /// probability `√(t/f)` (Mikolov et al. 2013, arXiv 1310.4546, Eq. 5). Each remaining word is the middle of a
    /// window of random reach.
    fn sentence(&mut self, words: &[usize], rate: f64, windows: &mut Vec<DrawnWindow>) {
        let (threshold, shares, subsampling) = (self.config.subsample, &self.shares, &mut self.subsampling);
        let mut is_kept = |word: usize| match threshold {
            None => true,
            Some(threshold) => subsampling.random::<f64>() < (threshold / shares[word]).sqrt(),
        };
        let kept: Vec<usize> = words.iter().copied().filter(|&word| is_kept(word)).collect();
        for (middle, &word) in kept.iter().enumerate() {
            let reach = self.windows.random_range(1..=self.config.window);
            let is_near = |at: &usize| *at != middle && at.abs_diff(middle) <= reach;
            let near: Vec<usize> = (0..kept.len()).filter(is_near).map(|at| kept[at]).collect();
            let noise = match self.config.architecture {
                // Each word of the window is an example of its own.
                WordPrediction::SkipGram { share_negatives: false } => {
                    near.iter().map(|&input| self.example(&[input], word, rate)).collect()
                }
                _ if near.is_empty() => Vec::new(),
                // All words of the window are one example.
                _ => vec![self.example(&near, word, rate)],
            };
            windows.push(DrawnWindow { sentence_length: kept.len(), middle, word, reach, noise, rate });
        }
    }

    /// Takes one step on the words of a window and the word in its middle; returns the noise that was drawn.
    fn example(&mut self, inputs: &[usize], near: usize, rate: f64) -> Vec<usize> {
        let drawn: Vec<usize> = (0..self.config.negatives).map(|_| self.noise.draw(&mut self.negatives)).collect();
        let noise = drawn.iter().copied().filter(|&word| word != near);
        let targets: Vec<usize> = std::iter::once(near).chain(noise).collect();
        let mean = self.config.architecture == WordPrediction::Cbow;
        descend(&mut self.v, &mut self.u, WordStep { inputs, mean, targets: &targets }, S::from_f64(rate));
        drawn
    }
}

/// An alias table (Walker 1977; Vose 1991) for drawing words in proportion to `count^0.75` (Mikolov et al. 2013, arXiv
/// 1310.4546, section 2.2). It has a column for each word, all equally likely, divided between the word and one other.
struct Noise {
    /// Word of each column, most frequent first.
    words: Vec<usize>,
    /// Share of the column that belongs to its own word.
    own: Vec<f64>,
    /// Column whose word has the rest.
    other: Vec<usize>,
}

impl Noise {
    fn new(counts: &[f64]) -> Self {
        const POWER: f64 = 0.75;
        let mut words: Vec<usize> = (0..counts.len()).collect();
        words.sort_by_key(|&word| Reverse(counts[word] as u64));
        let powers: Vec<f64> = words.iter().map(|&word| counts[word].powf(POWER)).collect();
        let mean = powers.iter().sum::<f64>() / words.len() as f64;
        let mut own: Vec<f64> = powers.iter().map(|power| power / mean).collect();
        let mut other: Vec<usize> = (0..words.len()).collect();
        // Words with more than a column fill up the columns of those with less.
        let (mut above, mut below): (Vec<usize>, Vec<usize>) = (0..words.len()).partition(|&i| own[i] >= 1.0);
        while let (Some(&giver), Some(column)) = (above.last(), below.pop()) {
            other[column] = giver;
            own[giver] -= 1.0 - own[column];
            if own[giver] < 1.0 {
                above.pop();
                below.push(giver);
            }
        }
        Self { words, own, other }
    }

    /// Draws a word. The upper half of a random number selects the column, the lower half the point within it.
    fn draw(&self, rng: &mut Generator) -> usize {
        const HALF: f64 = 4_294_967_296.0; // 2³²
        let number = rng.next_u64();
        let [upper, lower] = [number >> 32, number & 0xffff_ffff].map(|half| half as f64 / HALF);
        let column = (upper * self.words.len() as f64) as usize;
        self.words[if lower < self.own[column] { column } else { self.other[column] }]
    }
}
