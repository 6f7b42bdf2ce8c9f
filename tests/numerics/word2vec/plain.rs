//! word2vec once more, as its module states it: in f64, a number at a time, without a thought for
//! speed. It draws from the same named streams, each in the order in which the text needs them.

use std::cmp::Reverse;

use attune::numerics::Matrix;
use attune::numerics::rng::{Generator, Stream, stream};
use attune::numerics::word2vec::{Architecture, Word2VecConfig};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// How often what a training must get right has come up.
#[derive(Debug, Default)]
pub struct Seen {
    pub left_out_words: usize,
    pub shrunk_windows: usize,
    pub windows_cut_at_the_start: usize,
    pub windows_cut_at_the_end: usize,
    pub noise_that_is_the_word: usize,
    pub noise_drawn_twice: usize,
    pub sentences_at_the_floor: usize,
}

pub struct Plain<'a> {
    config: &'a Word2VecConfig,
    corpus: &'a [Vec<usize>],
    /// By word.
    v: Vec<Vec<f64>>,
    u: Vec<Vec<f64>>,
    /// The share of the corpus that is this word.
    shares: Vec<f64>,
    noise: Noise,
    order: Vec<usize>,
    epochs_done: usize,
    orders: Generator,
    windows: Generator,
    negatives: Generator,
    subsampling: Generator,
    pub seen: Seen,
}

impl<'a> Plain<'a> {
    pub fn new(config: &'a Word2VecConfig, vocabulary: usize, corpus: &'a [Vec<usize>], seed: u64) -> Self {
        let mut counts = vec![0.0; vocabulary];
        corpus.iter().flatten().for_each(|&word| counts[word] += 1.0);
        let total: f64 = counts.iter().sum();
        let mut init = stream(seed, Stream::StaticInit);
        let mut start = || (init.random::<f64>() - 0.5) / config.dim as f64;
        Self {
            config,
            corpus,
            v: (0..vocabulary).map(|_| (0..config.dim).map(|_| start()).collect()).collect(),
            u: vec![vec![0.0; config.dim]; vocabulary],
            shares: counts.iter().map(|count| count / total).collect(),
            noise: Noise::new(&counts),
            order: (0..corpus.len()).collect(),
            epochs_done: 0,
            orders: stream(seed, Stream::StaticOrder),
            windows: stream(seed, Stream::StaticWindows),
            negatives: stream(seed, Stream::StaticNegatives),
            subsampling: stream(seed, Stream::StaticSubsampling),
            seen: Seen::default(),
        }
    }

    pub fn vectors(&self) -> Matrix<f64> {
        Matrix::from_row_major(self.v.len(), self.config.dim, self.v.concat())
    }

    pub fn epoch(&mut self) {
        let Word2VecConfig { epochs, learning_rate, .. } = *self.config;
        self.order.shuffle(&mut self.orders);
        for (at, sentence) in self.order.clone().into_iter().enumerate() {
            let done = (self.epochs_done * self.corpus.len() + at) as f64 / (epochs * self.corpus.len()) as f64;
            // A ten-thousandth of the first rate is the least.
            let falls_to = 1.0 - done;
            self.seen.sentences_at_the_floor += usize::from(falls_to < 1e-4 && self.corpus[sentence].len() > 1);
            let rate = learning_rate * if falls_to < 1e-4 { 1e-4 } else { falls_to };
            self.sentence(&self.corpus[sentence], rate);
        }
        self.epochs_done += 1;
    }

    fn sentence(&mut self, words: &[usize], rate: f64) {
        let mut kept = Vec::new();
        for &word in words {
            let keep = self.config.subsample.map_or(1.0, |threshold| (threshold / self.shares[word]).sqrt());
            if self.config.subsample.is_none() || self.subsampling.random::<f64>() < keep {
                kept.push(word);
            }
        }
        self.seen.left_out_words += words.len() - kept.len();
        for middle in 0..kept.len() {
            let reach = self.windows.random_range(1..=self.config.window);
            self.seen.shrunk_windows += usize::from(reach < self.config.window);
            self.seen.windows_cut_at_the_start += usize::from(middle < reach);
            self.seen.windows_cut_at_the_end += usize::from(middle + reach >= kept.len());
            let near = |at: &usize| *at != middle && at.abs_diff(middle) <= reach;
            let window: Vec<usize> = (0..kept.len()).filter(near).map(|at| kept[at]).collect();
            match self.config.architecture {
                Architecture::SkipGram { share_negatives: false } => {
                    window.iter().for_each(|&word| self.example(&[word], kept[middle], rate));
                }
                _ if window.is_empty() => {}
                _ => self.example(&window, kept[middle], rate),
            }
        }
    }

    /// The words of a window, or one of them, and the word in its middle.
    fn example(&mut self, inputs: &[usize], near: usize, rate: f64) {
        let mut targets = vec![near];
        for _ in 0..self.config.negatives {
            let noise = self.noise.draw(&mut self.negatives);
            self.seen.noise_drawn_twice += usize::from(noise != near && targets.contains(&noise));
            self.seen.noise_that_is_the_word += usize::from(noise == near);
            if noise != near {
                targets.push(noise);
            }
        }
        match inputs {
            [word] => self.pair(*word, &targets, rate),
            _ => self.window(inputs, &targets, rate),
        }
    }

    /// `∂L/∂s` of each target: the first is near, the others are noise.
    fn d_scores(&self, h: &[f64], targets: &[usize]) -> Vec<f64> {
        let d = |(t, &target): (usize, &usize)| {
            let score: f64 = h.iter().zip(&self.u[target]).map(|(h, u)| h * u).sum();
            1.0 / (1.0 + (-score).exp()) - if t == 0 { 1.0 } else { 0.0 }
        };
        targets.iter().enumerate().map(d).collect()
    }

    /// Target by target, as in the original program: one that comes up twice has moved in between.
    fn pair(&mut self, word: usize, targets: &[usize], rate: f64) {
        let h = self.v[word].clone();
        for (d, &target) in self.d_scores(&h, targets).into_iter().zip(targets) {
            for ((v, u), h) in self.v[word].iter_mut().zip(&mut self.u[target]).zip(&h) {
                *v -= rate * d * *u;
                *u -= rate * d * h;
            }
        }
    }

    /// The gradient of the whole window at one point, and a step along it.
    fn window(&mut self, inputs: &[usize], targets: &[usize], rate: f64) {
        let mean = self.config.architecture == Architecture::Cbow;
        let share = if mean { 1.0 / inputs.len() as f64 } else { 1.0 };
        let h: Vec<Vec<f64>> = if mean {
            let entry = |col| inputs.iter().map(|&word| share * self.v[word][col]).sum();
            vec![(0..self.config.dim).map(entry).collect()]
        } else {
            inputs.iter().map(|&word| self.v[word].clone()).collect()
        };
        let d: Vec<Vec<f64>> = h.iter().map(|h| self.d_scores(h, targets)).collect();
        let before = self.u.clone();
        for col in 0..self.config.dim {
            for (i, &word) in inputs.iter().enumerate() {
                let d = &d[if mean { 0 } else { i }];
                let d_h: f64 = d.iter().zip(targets).map(|(d, &target)| d * before[target][col]).sum();
                self.v[word][col] -= rate * share * d_h;
            }
            for (t, &target) in targets.iter().enumerate() {
                self.u[target][col] -= rate * d.iter().zip(&h).map(|(d, h)| d[t] * h[col]).sum::<f64>();
            }
        }
    }
}

/// Words in proportion to `count^0.75`: Walker's aliases over the words from frequent to rare, as Vose
/// hands them out, the last first.
struct Noise {
    by_frequency: Vec<usize>,
    /// What the word of a column has of it; the rest is the other's.
    own: Vec<f64>,
    other: Vec<usize>,
}

impl Noise {
    fn new(counts: &[f64]) -> Self {
        let words = counts.len();
        let mut by_frequency: Vec<usize> = (0..words).collect();
        by_frequency.sort_by_key(|&word| Reverse(counts[word] as u64));
        let powers: Vec<f64> = by_frequency.iter().map(|&word| counts[word].powf(0.75)).collect();
        let mean = powers.iter().sum::<f64>() / words as f64;
        let mut own: Vec<f64> = powers.iter().map(|power| power / mean).collect();
        let mut other: Vec<usize> = (0..words).collect();
        let (mut above, mut below): (Vec<usize>, Vec<usize>) = (0..words).partition(|&column| own[column] >= 1.0);
        while !above.is_empty() && !below.is_empty() {
            let (column, giver) = (below.remove(below.len() - 1), above[above.len() - 1]);
            other[column] = giver;
            own[giver] -= 1.0 - own[column];
            if own[giver] < 1.0 {
                above.pop();
                below.push(giver);
            }
        }
        Self { by_frequency, own, other }
    }

    /// The upper half of a number says the column, the lower half where in it.
    fn draw(&self, rng: &mut Generator) -> usize {
        const HALF: f64 = 4_294_967_296.0;
        let number = rng.next_u64();
        let [upper, lower] = [number >> 32, number & 0xffff_ffff].map(|half| half as f64 / HALF);
        let column = (upper * self.own.len() as f64) as usize;
        let is_own = lower < self.own[column] || self.other[column] == column;
        self.by_frequency[if is_own { column } else { self.other[column] }]
    }
}
