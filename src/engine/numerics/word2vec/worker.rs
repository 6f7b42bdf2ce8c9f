//! The training state of one thread, its loop over a sentence, and several threads in rounds.

use pulp::{Arch, Simd, WithSimd};
use rand::RngExt;

use crate::numerics::parallel::each;
use crate::numerics::rng::{Generator, Stream, part};
use crate::numerics::word2vec::config::{Word2VecConfig, WordPrediction};
use crate::numerics::word2vec::frequencies::{Frequencies, Noise};
use crate::numerics::word2vec::objective::Buffers;
use crate::numerics::word2vec::rows::Lanes;
use crate::numerics::word2vec::tables::{Tables, WordStep};

pub struct WordWorker<S> {
    pub tables: Tables<S>,
    windows: Generator,
    negatives: Generator,
    subsampling: Generator,
    buffers: Buffers<S>,
    /// Rows of the sentence's words.
    sentence: Vec<usize>,
    /// Rows of a window's words, without the word in the middle.
    window: Vec<usize>,
    /// Row of the near word, then those of the noise.
    targets: Vec<usize>,
    /// Noise of the next [`AHEAD`] examples, drawn early enough for its rows to be prefetched.
    noise: Vec<usize>,
    /// Index in `noise` of the next example's noise.
    next_noise: usize,
}

/// Number of examples between the draw of noise and its use.
const AHEAD: usize = 2;

impl<S: Lanes> WordWorker<S> {
    /// Makes worker number `index`, which draws random numbers of its own.
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

    /// Takes one step for every window of a sentence.
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
        let mean = config.architecture == WordPrediction::Cbow;
        let pair_by_pair = config.architecture == WordPrediction::SkipGram { share_negatives: false };
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
                let example = WordStep { inputs, mean, targets: &self.targets };
                self.tables.step(simd, example, rate, &mut self.buffers);
            }
        }
    }

    /// Collects the targets of an example: a near word, and noise that was drawn earlier, except draws of the near word
    /// itself.
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

// One thread, or several that train on parts of a corpus and add up their changes.
//
// Several threads work in rounds. In a round each trains its own copy of the tables on its own sentences. At the end
// the changes of all are added up, and all continue from the sum. So a thread sees what the others learned one round
// later, and every run gives the same result whichever thread is faster. Threads that write to one table without locks
// (Recht et al. 2011, arXiv 1106.5730) see each other's changes sooner, but no two of their runs are the same.

/// Number of tokens of a thread in a round: enough that adding up is cheap in comparison, and few enough that the
/// threads do not drift apart.
const ROUND_TOKENS: usize = 70_000;

pub struct Threads<S> {
    workers: Vec<WordWorker<S>>,
    /// Tables from which all workers started the round; empty if there is only one worker.
    start: Option<Tables<S>>,
    /// Number of sentences of a round.
    round: usize,
}

impl<S: Lanes> Threads<S> {
    pub fn new(count: usize, config: &Word2VecConfig, tables: Tables<S>, corpus: &[Vec<usize>], seed: u64) -> Self {
        let tokens: usize = corpus.iter().map(Vec::len).sum();
        let round = count * (ROUND_TOKENS * corpus.len() / tokens.max(1)).max(1);
        let start = (count > 1).then(|| tables.copy());
        let workers = (0..count).map(|index| WordWorker::new(config, tables.copy(), seed, index)).collect();
        Self { workers, start, round }
    }

    /// Returns the number of sentences to train on at once, if `wanted` are asked for. Rounds have a fixed size, so
    /// that the result does not depend on that number.
    pub fn round(&self, wanted: usize) -> usize {
        if self.start.is_some() { self.round } else { wanted }
    }

    /// Trains on some sentences of the corpus, each with its learning rate.
    pub fn train(
        &mut self,
        config: &Word2VecConfig,
        frequencies: &Frequencies,
        corpus: &[Vec<usize>],
        sentences: &[usize],
        rates: &[f64],
    ) {
        let share = sentences.len().div_ceil(self.workers.len()).max(1);
        let parts = sentences.chunks(share).zip(rates.chunks(share)).zip(&mut self.workers);
        let parts = parts.map(|((sentences, rates), worker)| RoundShare {
            config,
            frequencies,
            corpus,
            sentences,
            rates,
            worker,
        });
        each(parts, |part| Arch::new().dispatch(part));
        if let Some(start) = &mut self.start {
            let tables = self.workers.iter_mut().map(|worker| &mut worker.tables);
            let (vectors, contexts) =
                tables.map(|tables| (tables.vectors.flat_mut(), tables.contexts.flat_mut())).unzip();
            add_up(start.vectors.flat_mut(), vectors);
            add_up(start.contexts.flat_mut(), contexts);
        }
    }

    pub fn tables(&self) -> &Tables<S> {
        &self.workers[0].tables
    }
}

/// One thread's part of a round.
struct RoundShare<'a, S> {
    config: &'a Word2VecConfig,
    frequencies: &'a Frequencies,
    corpus: &'a [Vec<usize>],
    sentences: &'a [usize],
    rates: &'a [f64],
    worker: &'a mut WordWorker<S>,
}

impl<S: Lanes> WithSimd for RoundShare<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<A: Simd>(self, simd: A) {
        for (&sentence, &rate) in self.sentences.iter().zip(self.rates) {
            self.worker.train(simd, self.config, self.frequencies, &self.corpus[sentence], S::from_f64(rate));
        }
    }
}

/// Computes `x + Σ (x_i − x)` and writes it to `x` and every `x_i`, with a part of the rows on each thread.
fn add_up<S: Lanes>(start: &mut [S], copies: Vec<&mut [S]>) {
    let share = start.len().div_ceil(copies.len()).max(1);
    let mut copies: Vec<_> = copies.into_iter().map(|copy| copy.chunks_mut(share)).collect();
    let parts = start.chunks_mut(share).map(|start| {
        let copies: Vec<&mut [S]> = copies.iter_mut().filter_map(Iterator::next).collect();
        (start, copies)
    });
    each(parts, |(start, mut copies)| {
        Arch::new().dispatch(|| {
            for (at, start) in start.iter_mut().enumerate() {
                let sum = copies.iter().map(|copy| copy[at] - *start).sum::<S>() + *start;
                *start = sum;
                copies.iter_mut().for_each(|copy| copy[at] = sum);
            }
        })
    });
}
