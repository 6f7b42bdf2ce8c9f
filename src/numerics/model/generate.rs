//! A model's next words: logits of a sentence, greedy and sampled continuation.

use rand::RngExt;

use super::activations::Interventions;
use super::transform::{TransformCache, transform_forward};
use super::{Activations, Architecture, AttentionModel, Classes, Pooling, Readout, Sequences};
use crate::numerics::attention::{Room, Tokens};
use crate::numerics::block::{BlockCache, BlockConfig, attend_forward, tail_forward};
use crate::numerics::linear::linear_forward;
use crate::numerics::params::{Parameters, TensorName};
use crate::numerics::rng::Generator;
use crate::numerics::softmax::softmax_forward;
use crate::numerics::vectors::centroid;
use crate::numerics::{Matrix, Scalar};

/// How the next word is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// The most likely one.
    Greedy,
    /// Drawn from `softmax(Z / τ)`; the temperature `τ` is above 0.
    Sampled { temperature: f64 },
}

/// Why a sentence does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotGenerate {
    /// There is nothing to go on from.
    NoWords,
    /// The model names labels, not words.
    NotWords,
    /// A logit is NaN or infinite: the training has diverged, or a weight is far too large.
    NotFinite,
    /// The temperature is not above 0.
    Temperature,
}

impl<S: Scalar> AttentionModel<S> {
    /// `Z` of what a sentence is read for: of its last position, or of the mean of all, (C).
    ///
    /// # Panics
    /// As [`Activations::of`].
    pub fn logits(&self, parameters: &Parameters<S>, sentence: &Sequences, source: Option<&Sequences>) -> Vec<S> {
        let output = Activations::of(self, parameters, sentence, source, &Interventions::default()).output;
        self.logits_at_end(parameters, &output)
    }

    /// The same of a sentence's outputs, (T, D).
    pub fn logits_at_end(&self, parameters: &Parameters<S>, output: &Matrix<S>) -> Vec<S> {
        let read = match self.architecture.pooling {
            Pooling::Every | Pooling::Last => output.row(output.rows() - 1).to_vec(),
            Pooling::Mean => centroid(output, &(0..output.rows()).collect::<Vec<_>>()),
        };
        self.logits_of(parameters, &Matrix::from_row_major(1, read.len(), read)).flat().to_vec()
    }

    /// `Z` of outputs, (R, C) for (R, D).
    pub fn logits_of(&self, parameters: &Parameters<S>, read: &Matrix<S>) -> Matrix<S> {
        let mut logits = Matrix::zeros(read.rows(), self.classes.count());
        let mut transform = TransformCache::new(read.rows(), read.cols());
        let read = match self.architecture.readout {
            Readout::Transformed(activation) => {
                let epsilon = self.architecture.norm_epsilon;
                transform_forward(parameters, activation, epsilon, read.flat(), &mut transform);
                &transform.output
            }
            Readout::Tied | Readout::Linear => read,
        };
        let bias = parameters.values_of(TensorName::LogitBias);
        let mut tied = |readout: &Matrix<S>| {
            linear_forward(read.view(), readout.view().transpose(), bias, logits.flat_mut());
        };
        let is_tied = self.architecture.readout.is_by_static_vectors();
        match (is_tied, &self.readout, &self.classes) {
            (true, Some(readout), _) => tied(readout),
            (true, None, Classes::Words(candidates)) => {
                let (width, embedding) = (self.architecture.width, self.embedding(parameters));
                let words = candidates.words();
                tied(&Matrix::from_fn(words.len(), width, |i, j| embedding[words[i] * width + j]));
            }
            _ => linear_forward(read.view(), parameters.weights(TensorName::LogitWeights), bias, logits.flat_mut()),
        }
        logits
    }

    /// The output of a stack of blocks for a sentence, (T, D), with nothing kept for a viewer. The stack
    /// begins at the block `first` of the model.
    fn outputs(
        &self,
        parameters: &Parameters<S>,
        (first, blocks): (usize, &[BlockConfig]),
        sentence: &Sequences,
        source: Option<Tokens<'_, S>>,
    ) -> Matrix<S> {
        let rows = sentence.rows.total();
        let mut x = self.embedded(parameters, sentence).1;
        for (b, block) in (first..).zip(blocks) {
            let keys = source.filter(|_| block.attends_to_source()).map_or(rows, |source| source.rows.total());
            let mut cache = BlockCache::new(block, Room::one(rows), Room::one(keys));
            attend_forward(block, parameters, b, Tokens::new(x.flat(), &sentence.rows), source, &[], &mut cache);
            tail_forward(block, parameters, b, cache.attention.mix.flat(), x.flat(), &mut cache.tail);
            x.clone_from(cache.tail.output());
        }
        if first < self.architecture.source_blocks.len() { x } else { self.behind_blocks(parameters, x) }
    }

    /// `count` more words after `prompt`, one at a time with the same weights; of a sentence longer
    /// than the model reads, the end is read. With a source the sentence begins from nothing.
    ///
    /// # Errors
    /// If it cannot go on.
    pub fn generate(
        &self,
        parameters: &Parameters<S>,
        prompt: &[usize],
        source: Option<&[usize]>,
        count: usize,
        choice: Choice,
        rng: &mut Generator,
    ) -> Result<Vec<usize>, CannotGenerate> {
        let Classes::Words(candidates) = &self.classes else { return Err(CannotGenerate::NotWords) };
        let Architecture { source_blocks, blocks, max_tokens, .. } = &self.architecture;
        // The source is the same for every word that is written.
        let source = source.map(|words| {
            let source = Sequences::one(words);
            (self.outputs(parameters, (0, source_blocks), &source, None), source.rows)
        });
        let mut words: Vec<Option<usize>> = Vec::with_capacity(1 + prompt.len() + count);
        words.extend(source.as_ref().map(|_| None));
        words.extend(prompt.iter().copied().map(Some));
        if words.is_empty() {
            return Err(CannotGenerate::NoWords);
        }
        for _ in 0..count {
            let read = words.len().saturating_sub(*max_tokens);
            let mut sentence = Sequences::default();
            sentence.push(words[read..].iter().copied(), 0);
            let memory = source.as_ref().map(|(memory, rows)| Tokens::new(memory.flat(), rows));
            let output = self.outputs(parameters, (source_blocks.len(), blocks), &sentence, memory);
            let mut logits = self.logits_at_end(parameters, &output);
            words.push(Some(candidates.words()[choose(&mut logits, choice, rng)?]));
        }
        Ok(words[words.len() - count..].iter().copied().flatten().collect())
    }
}

/// The class that follows from logits, which it uses up.
///
/// # Errors
/// If a logit is not finite, or the temperature not above 0.
pub fn choose<S: Scalar>(logits: &mut [S], choice: Choice, rng: &mut Generator) -> Result<usize, CannotGenerate> {
    if !logits.iter().all(|z| z.is_finite()) {
        return Err(CannotGenerate::NotFinite);
    }
    let likeliest = (0..logits.len()).fold(0, |best, i| if logits[i] > logits[best] { i } else { best });
    let Choice::Sampled { temperature } = choice else { return Ok(likeliest) };
    if temperature.is_nan() || temperature <= 0.0 {
        return Err(CannotGenerate::Temperature);
    }
    // Shifted first: next to a tiny temperature nothing but the likeliest is left, and nothing overflows.
    let highest = logits[likeliest];
    logits.iter_mut().for_each(|z| *z = S::from_f64((*z - highest).to_f64() / temperature));
    softmax_forward(logits);
    let mut rest = rng.random_range(0.0..1.0);
    for (class, p) in logits.iter().enumerate() {
        rest -= p.to_f64();
        if rest < 0.0 {
            return Ok(class);
        }
    }
    Ok(likeliest) // what rounding left over
}
