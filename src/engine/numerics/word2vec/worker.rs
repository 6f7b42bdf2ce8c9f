//! One thread's training state, and its way through a sentence.

use pulp::Simd;
use rand::RngExt;

use crate::numerics::rng::{Generator, Stream, part};

use super::config::{Architecture, Word2VecConfig};
use super::frequencies::Frequencies;
use super::lanes::Lanes;
use super::noise::Noise;
use super::objective::Buffers;
use super::tables::{Example, Tables};

pub struct Worker<S> {
    pub tables: Tables<S>,
    windows: Generator,
    negatives: Generator,
    subsampling: Generator,
    buffers: Buffers<S>,
    /// Rows of the sentence's words.
    sentence: Vec<usize>,
    /// Rows of a window's words, without the middle.
    window: Vec<usize>,
    /// A word that is near, then noise.
    targets: Vec<usize>,
    /// Noise of the next [`AHEAD`] examples: drawn so early that its rows are there when they are needed.
    noise: Vec<usize>,
    /// Index in `noise` at which that of the next example begins.
    next_noise: usize,
}

/// Examples between the draw of noise and its use.
const AHEAD: usize = 2;

impl<S: Lanes> Worker<S> {
    /// `index` of several workers: each draws its own random numbers.
    pub fn new(config: &Word2VecConfig, tables: Tables<S>, seed: u64, index: usize) -> Self {
        Self {
            tables,
            windows: part(seed, Stream::StaticWindows, index),
            negatives: part(seed, Stream::StaticNegatives, index),
            subsampling: part(seed, Stream::StaticSubsampling, index),
            buffers: Buffers::new(2 * config.window, config.dim),
            sentence: Vec::new(),
            window: Vec::new(),
            targets: Vec::new(),
            noise: Vec::new(),
            next_noise: 0,
        }
    }

    /// One step for every window of a sentence.
    #[inline(always)]
    pub fn train<A: Simd>(
        &mut self,
        simd: A,
        config: &Word2VecConfig,
        frequencies: &Frequencies,
        words: &[usize],
        rate: S,
    ) {
        frequencies.rows_of(words, &mut self.subsampling, &mut self.sentence);
        if self.noise.is_empty() && !self.sentence.is_empty() {
            let draw = || frequencies.noise.draw(&mut self.negatives) as usize;
            self.noise = std::iter::repeat_with(draw).take(AHEAD * config.negatives).collect();
        }
        let mean = config.architecture == Architecture::Cbow;
        let pair_by_pair = config.architecture == Architecture::SkipGram { share_negatives: false };
        for at in 0..self.sentence.len() {
            if let Some(&coming) = self.sentence.get(at + config.window + 1) {
                self.tables.vectors.prefetch(coming);
                self.tables.contexts.prefetch(coming);
            }
            let reach = self.windows.random_range(1..=config.window);
            let (left, right) = (at.saturating_sub(reach), (at + reach + 1).min(self.sentence.len()));
            self.window.clear();
            self.window.extend_from_slice(&self.sentence[left..at]);
            self.window.extend_from_slice(&self.sentence[at + 1..right]);
            let inputs_at_once = if pair_by_pair { 1 } else { self.window.len().max(1) };
            for first in (0..self.window.len()).step_by(inputs_at_once) {
                self.next_targets(self.sentence[at], &frequencies.noise, config.negatives);
                let inputs = &self.window[first..first + inputs_at_once];
                let example = Example { inputs, mean, targets: &self.targets };
                self.tables.step(simd, example, rate, &mut self.buffers);
            }
        }
    }

    /// A word that is near, and noise drawn a while ago; a draw of the word itself is dropped.
    #[inline(always)]
    fn next_targets(&mut self, near: usize, noise: &Noise, negatives: usize) {
        self.targets.clear();
        self.targets.push(near);
        for word in &mut self.noise[self.next_noise..][..negatives] {
            if *word != near {
                self.targets.push(*word);
            }
            *word = noise.draw(&mut self.negatives) as usize;
            self.tables.contexts.prefetch(*word);
        }
        self.next_noise = (self.next_noise + negatives) % self.noise.len().max(1);
    }
}
