//! One thread, or several that train on parts of a corpus and put together what they learned.
//!
//! Several threads work in rounds. In a round each trains its own copy of the tables on its own
//! sentences; at the end the changes of all are added up, and all go on from the sum. So a thread sees
//! what the others learn a round later, which is the same with each run: nothing depends on which
//! thread is faster. Threads that write to one table without locks (Recht et al. 2011, arXiv 1106.5730)
//! see each other sooner, but no two runs of them are alike.

use pulp::{Arch, Simd, WithSimd};

use super::config::Word2VecConfig;
use super::frequencies::Frequencies;
use super::lanes::Lanes;
use super::tables::Tables;
use super::worker::Worker;

/// Tokens of a thread in a round: enough that adding up costs little beside it, few enough that the
/// threads do not drift apart.
const ROUND_TOKENS: usize = 70_000;

pub struct Threads<S> {
    workers: Vec<Worker<S>>,
    /// The tables that all workers began the round with; empty where there is only one.
    start: Option<Tables<S>>,
    /// Sentences of a round.
    round: usize,
}

impl<S: Lanes> Threads<S> {
    pub fn new(count: usize, config: &Word2VecConfig, tables: Tables<S>, corpus: &[Vec<usize>], seed: u64) -> Self {
        let tokens: usize = corpus.iter().map(Vec::len).sum();
        let round = count * (ROUND_TOKENS * corpus.len() / tokens.max(1)).max(1);
        let start = (count > 1).then(|| tables.copy());
        let workers = (0..count).map(|index| Worker::new(config, tables.copy(), seed, index)).collect();
        Self { workers, start, round }
    }

    /// How many sentences are trained on at once, of `wanted`. Rounds have one size, so that the result
    /// does not depend on how many sentences are asked for at a time.
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
        let mut parts =
            parts.map(|((sentences, rates), worker)| Part { config, frequencies, corpus, sentences, rates, worker });
        match &mut self.start {
            None => parts.for_each(|part| Arch::new().dispatch(part)),
            Some(start) => {
                std::thread::scope(|scope| {
                    let own = parts.next();
                    parts.for_each(|part| _ = scope.spawn(|| Arch::new().dispatch(part)));
                    own.into_iter().for_each(|part| Arch::new().dispatch(part));
                });
                let mut tables: Vec<&mut Tables<S>> =
                    self.workers.iter_mut().map(|worker| &mut worker.tables).collect();
                add_up(start.vectors.flat_mut(), tables.iter_mut().map(|tables| tables.vectors.flat_mut()).collect());
                add_up(start.contexts.flat_mut(), tables.iter_mut().map(|tables| tables.contexts.flat_mut()).collect());
            }
        }
    }

    pub fn tables(&self) -> &Tables<S> {
        &self.workers[0].tables
    }
}

/// One thread's share of a round.
struct Part<'a, S> {
    config: &'a Word2VecConfig,
    frequencies: &'a Frequencies,
    corpus: &'a [Vec<usize>],
    sentences: &'a [usize],
    rates: &'a [f64],
    worker: &'a mut Worker<S>,
}

impl<S: Lanes> WithSimd for Part<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<A: Simd>(self, simd: A) {
        for (&sentence, &rate) in self.sentences.iter().zip(self.rates) {
            self.worker.train(simd, self.config, self.frequencies, &self.corpus[sentence], S::from_f64(rate));
        }
    }
}

/// `x + Σ (x_i − x)`, written to `x` and every `x_i`; a thread for each `x_i` does a part of the rows.
fn add_up<S: Lanes>(start: &mut [S], copies: Vec<&mut [S]>) {
    let share = start.len().div_ceil(copies.len()).max(1);
    let mut copies: Vec<_> = copies.into_iter().map(|copy| copy.chunks_mut(share)).collect();
    std::thread::scope(|scope| {
        for start in start.chunks_mut(share) {
            let mut copies: Vec<&mut [S]> = copies.iter_mut().filter_map(Iterator::next).collect();
            scope.spawn(move || {
                Arch::new().dispatch(|| {
                    for (at, start) in start.iter_mut().enumerate() {
                        let sum = copies.iter().map(|copy| copy[at] - *start).sum::<S>() + *start;
                        *start = sum;
                        copies.iter_mut().for_each(|copy| copy[at] = sum);
                    }
                })
            });
        }
    });
}
