//! What one thread trains with, and how it goes through a sentence.

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
}

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
        for at in 0..self.sentence.len() {
            let reach = self.windows.random_range(1..=config.window);
            let (left, right) = (at.saturating_sub(reach), (at + reach + 1).min(self.sentence.len()));
            self.window.clear();
            self.window.extend_from_slice(&self.sentence[left..at]);
            self.window.extend_from_slice(&self.sentence[at + 1..right]);
            if self.window.is_empty() {
                continue;
            }
            let pair_by_pair = config.architecture == Architecture::SkipGram { share_negatives: false };
            let inputs_at_once = if pair_by_pair { 1 } else { self.window.len() };
            for inputs in self.window.chunks(inputs_at_once) {
                draw_targets(
                    self.sentence[at],
                    config.negatives,
                    &frequencies.noise,
                    &mut self.negatives,
                    &mut self.targets,
                );
                let mean = config.architecture == Architecture::Cbow;
                let example = Example { inputs, mean, targets: &self.targets };
                self.tables.step(simd, example, rate, &mut self.buffers);
            }
        }
    }
}

/// A word that is near, and noise; a draw of the word itself is dropped.
#[inline(always)]
fn draw_targets(near: usize, negatives: usize, noise: &Noise, rng: &mut Generator, targets: &mut Vec<usize>) {
    targets.clear();
    targets.push(near);
    targets.extend((0..negatives).map(|_| noise.draw(rng) as usize).filter(|&word| word != near));
}
