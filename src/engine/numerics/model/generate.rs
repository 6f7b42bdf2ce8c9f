//! A model's next words: logits of a sentence, greedy and sampled continuation.

use rand::RngExt;

use super::activations::Interventions;
use super::loss::hold_below;
use super::{Activations, Architecture, AttentionModel, Classes, Pooling, Sequences};
use crate::numerics::attention::{BatchRoom, HeadChanges, Mask, Tokens};
use crate::numerics::block::{BlockCache, BlockConfig, attend_forward, attend_onward, tail_forward};
use crate::numerics::linear::affine_forward;
use crate::numerics::model::{LOGIT_MAP, TransformCache, transform_forward};
use crate::numerics::params::{Learned, Parameters, TensorName};
use crate::numerics::rng::Generator;
use crate::numerics::softmax::softmax_forward;
use crate::numerics::table::multiply_by_rows;
use crate::numerics::vectors::centroid;
use crate::numerics::{Matrix, Scalar};

/// How the next word is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextWordChoice {
    /// The most likely one.
    Greedy,
    /// Drawn by its probability.
    Sampled(Sampling),
}

impl NextWordChoice {
    /// Drawn from `softmax(Z / τ)`.
    pub const fn sampled(temperature: f64) -> Self {
        Self::Sampled(Sampling { temperature, top_k: None, top_p: None })
    }
}

/// How a word is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// `τ`, above 0: words are drawn from `softmax(Z / τ)`.
    pub temperature: f64,
    /// The number of likeliest words that it is drawn among (Fan, Lewis & Dauphin 2018, arXiv 1805.04833, section 5.4).
    pub top_k: Option<usize>,
    /// The share of the probability of those that the fewest likeliest have together, which it is drawn among (Holtzman et al.
    /// 2020, arXiv 1904.09751, section 3.1).
    pub top_p: Option<f64>,
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
    /// Among no words.
    TopK,
    /// The share is not above 0 and at most 1.
    TopP,
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

    /// [`Self::logits`] from a sentence's outputs, (T, D).
    pub fn logits_at_end(&self, parameters: &Parameters<S>, output: &Matrix<S>) -> Vec<S> {
        let read = match self.architecture.pooling {
            Pooling::Every | Pooling::Last => output.row(output.rows() - 1).to_vec(),
            Pooling::Mean => centroid(output, &(0..output.rows()).collect::<Vec<_>>()),
        };
        self.logits_of(parameters, &Matrix::from_row_major(1, read.len(), read)).flat().to_vec()
    }

    /// `Z` of outputs, (R, C) for (R, D).
    pub fn logits_of(&self, parameters: &Parameters<S>, read: &Matrix<S>) -> Matrix<S> {
        let mut logits = self.unbounded_logits_of(parameters, read);
        if let Some(cap) = self.architecture.logit_cap {
            hold_below(S::from_f64(cap), logits.flat_mut());
        }
        logits
    }

    /// The same before their bound, where there is one.
    fn unbounded_logits_of(&self, parameters: &Parameters<S>, read: &Matrix<S>) -> Matrix<S> {
        let mut transform = TransformCache::new(&self.architecture, read.rows());
        let read = match &mut transform {
            Some(transform) => {
                transform_forward(parameters, read.flat(), transform);
                &transform.output
            }
            None => read,
        };
        let bias = parameters.values_of(TensorName::LogitBias);
        let is_tied = self.architecture.readout.is_by_static_vectors();
        match (is_tied, &self.readout, &self.classes) {
            (true, Some(readout), _) => multiply_by_rows(read, &**readout, bias),
            (true, None, Classes::Words(candidates)) => {
                let readout = self.embedding(parameters).gathered(candidates.words().iter().copied());
                multiply_by_rows(read, &readout, bias)
            }
            _ => {
                let mut logits = Matrix::zeros(read.rows(), self.classes.count());
                affine_forward(parameters, LOGIT_MAP, read.view(), logits.flat_mut());
                logits
            }
        }
    }

    /// The output of a stack of blocks for a sentence, (T, D), with nothing kept for a viewer. The stack
    /// begins at the block `first` of the model. `done` gets each block's number in the stack, and its numbers.
    fn outputs(
        &self,
        parameters: &Parameters<S>,
        (first, blocks): (usize, &[BlockConfig]),
        sentence: &Sequences,
        source: Option<Tokens<'_, S>>,
        done: &mut dyn FnMut(usize, &BlockCache<S>),
    ) -> Matrix<S> {
        let rows = sentence.rows.total();
        let mut x = self.embedded(parameters, sentence).1;
        for (number, config) in blocks.iter().enumerate() {
            let keys = source.filter(|_| config.attends_to_source()).map_or(rows, |source| source.rows.total());
            let mut cache = BlockCache::new(config, BatchRoom::one(rows), BatchRoom::one(keys));
            let block = Learned { config, parameters, number: first + number };
            attend_forward(block, Tokens::new(x.flat(), &sentence.rows), source, HeadChanges::NONE, &mut cache);
            tail_forward(block, cache.attention.mix.flat(), x.flat(), &mut cache.tail);
            x.clone_from(cache.tail.output());
            done(number, &cache);
        }
        if first < self.architecture.source_blocks.len() { x } else { self.behind_blocks(parameters, x) }
    }

    /// Whether keys and values of earlier words stay what they are when a word is added, and the answer is read at the
    /// last word. Where fillers are not counted, the place of a word is not known from how many stand before it.
    fn keeps(&self) -> bool {
        let Architecture { blocks, pooling, position_rows, .. } = &self.architecture;
        let looks_back = |block: &BlockConfig| block.attends_to_source() || block.attention.mask == Mask::Causal;
        blocks.iter().all(looks_back) && *pooling != Pooling::Mean && position_rows.filler.is_none()
    }

    /// Reads the beginning of a sentence of at most the given number of words, for which room is taken at once, and keeps its
    /// keys and values; with the outputs of its words, (T, D).
    ///
    /// # Panics
    /// If the model's earlier words change with later ones, or the sentence is longer than it reads.
    pub fn begin(
        &self,
        parameters: &Parameters<S>,
        words: &[Option<usize>],
        source: Option<Tokens<'_, S>>,
        most: usize,
    ) -> (Kept<S>, Matrix<S>) {
        assert!(self.keeps(), "keys and values: earlier words change with later ones");
        let Architecture { source_blocks, blocks, max_tokens, .. } = &self.architecture;
        assert!(words.len() <= *max_tokens, "keys and values: {} words of at most {max_tokens}", words.len());
        let of_source = source.map(|source| source.rows.total());
        let room = |block: &BlockConfig| of_source.filter(|_| block.attends_to_source()).unwrap_or(most);
        let cache = |block: &BlockConfig| BlockCache::new(block, BatchRoom::one(1), BatchRoom::one(room(block)));
        let mut kept = Kept { blocks: blocks.iter().map(cache).collect(), words: words.len(), source: of_source };
        let sentence = Sequences::starting_at(0, words.iter().copied());
        let output = self.outputs(parameters, (source_blocks.len(), blocks), &sentence, source, &mut |number, done| {
            let rows = of_source.filter(|_| blocks[number].attends_to_source()).unwrap_or(words.len());
            let to = &mut kept.blocks[number].attention;
            to.key.top_flat_mut(rows).copy_from_slice(done.attention.key.top_flat(rows));
            to.value.top_flat_mut(rows).copy_from_slice(done.attention.value.top_flat(rows));
        });
        (kept, output)
    }

    /// The output of one more word, (1, D): what it alone needs is computed, and its keys and values are kept too.
    ///
    /// # Panics
    /// If the model reads no more words.
    pub fn one_more(&self, parameters: &Parameters<S>, kept: &mut Kept<S>, word: Option<usize>) -> Matrix<S> {
        let Architecture { source_blocks, blocks, max_tokens, .. } = &self.architecture;
        assert!(kept.words < *max_tokens, "keys and values: the model reads {max_tokens} words");
        let sentence = Sequences::starting_at(kept.words, [word]);
        let mut x = self.embedded(parameters, &sentence).1;
        for (number, (config, cache)) in blocks.iter().zip(&mut kept.blocks).enumerate() {
            let block = Learned { config, parameters, number: source_blocks.len() + number };
            let token = Tokens::new(x.flat(), &sentence.rows);
            attend_onward(block, token, kept.words, kept.source, cache);
            tail_forward(block, cache.attention.mix.flat(), x.flat(), &mut cache.tail);
            x.clone_from(cache.tail.output());
        }
        kept.words += 1;
        self.behind_blocks(parameters, x)
    }

    /// Words of [`Self::go_on`].
    ///
    /// # Errors
    /// If it cannot go on.
    pub fn generate(
        &self,
        parameters: &Parameters<S>,
        prompt: &[usize],
        source: Option<&[usize]>,
        count: usize,
        choice: NextWordChoice,
        rng: &mut Generator,
    ) -> Result<Vec<usize>, CannotGenerate> {
        let next = self.go_on(parameters, prompt, source, count, choice, rng)?;
        Ok(next.into_iter().map(|next| next.word).collect())
    }

    /// `count` more words after `prompt`, one at a time with the same weights; of a sentence longer
    /// than the model reads, the end is read. With a source the sentence begins from nothing.
    ///
    /// Keys and values of the words before are kept where they stay what they are: in a model that looks back only, until
    /// the sentence is longer than it reads.
    ///
    /// # Errors
    /// If it cannot go on.
    pub fn go_on(
        &self,
        parameters: &Parameters<S>,
        prompt: &[usize],
        source: Option<&[usize]>,
        count: usize,
        choice: NextWordChoice,
        rng: &mut Generator,
    ) -> Result<Vec<NextWord>, CannotGenerate> {
        let Classes::Words(candidates) = &self.classes else { return Err(CannotGenerate::NotWords) };
        let Architecture { source_blocks, blocks, max_tokens, .. } = &self.architecture;
        // The source is the same for every word that is written.
        let source = source.map(|words| {
            let source = Sequences::one(words);
            (self.outputs(parameters, (0, source_blocks), &source, None, &mut |_, _| ()), source.rows)
        });
        let memory = source.as_ref().map(|(memory, rows)| Tokens::new(memory.flat(), rows));
        let mut words: Vec<Option<usize>> = Vec::with_capacity(1 + prompt.len() + count);
        words.extend(source.as_ref().map(|_| None));
        words.extend(prompt.iter().copied().map(Some));
        let Some(mut last) = words.last().copied() else { return Err(CannotGenerate::NoWords) };
        let most = (words.len() + count).min(*max_tokens);
        let mut kept = None;
        let mut found = Vec::with_capacity(count);
        for _ in 0..count {
            let read = &words[words.len().saturating_sub(*max_tokens)..];
            let is_read = read.len();
            let output = match &mut kept {
                Some(kept) if read.len() == words.len() => self.one_more(parameters, kept, last),
                _ if read.len() == words.len() && self.keeps() => {
                    let (begun, output) = self.begin(parameters, read, memory, most);
                    kept = Some(begun);
                    output
                }
                // Each word stands at another place than before.
                _ => {
                    let sentence = Sequences::starting_at(0, read.iter().copied());
                    self.outputs(parameters, (source_blocks.len(), blocks), &sentence, memory, &mut |_, _| ())
                }
            };
            let computed = output.rows();
            let mut logits = self.logits_at_end(parameters, &output);
            let word = candidates.words()[choose(&mut logits, choice, rng)?];
            found.push(NextWord { word, rows: RowsRead { computed, kept: is_read - computed } });
            last = Some(word);
            words.push(last);
        }
        Ok(found)
    }
}

/// A word that the model wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextWord {
    pub word: usize,
    pub rows: RowsRead,
}

/// Rows of every block that a word was written from, one for each word before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsRead {
    /// Rows that were computed for this word, the last ones.
    pub computed: usize,
    /// Rows before them, whose keys and values were there from the word before.
    pub kept: usize,
}

/// Keys and values of a sentence's words, of every block: they stay what they are when the sentence goes on (Vaswani et al.
/// 2017, section 3.1: a word attends to those before it only).
#[derive(Clone, Debug)]
pub struct Kept<S> {
    /// Room for one more word each, after the keys and values of all that the model reads.
    blocks: Vec<BlockCache<S>>,
    words: usize,
    /// Words of the source.
    source: Option<usize>,
}

impl<S: Scalar> Kept<S> {
    /// Words whose keys and values are here.
    pub fn words(&self) -> usize {
        self.words
    }

    /// `K` and `V` of a block, (T, H·d_k) and (T, H·d_v).
    pub fn keys_and_values(&self, block: usize) -> [&[S]; 2] {
        let attention = &self.blocks[block].attention;
        [attention.key.top_flat(self.words), attention.value.top_flat(self.words)]
    }
}

/// The class that follows from logits, which it uses up.
///
/// # Errors
/// If a logit is not finite, or what it is drawn by makes no sense.
pub fn choose<S: Scalar>(
    logits: &mut [S],
    choice: NextWordChoice,
    rng: &mut Generator,
) -> Result<usize, CannotGenerate> {
    if !logits.iter().all(|z| z.is_finite()) {
        return Err(CannotGenerate::NotFinite);
    }
    let likeliest = (0..logits.len()).fold(0, |best, i| if logits[i] > logits[best] { i } else { best });
    let NextWordChoice::Sampled(Sampling { temperature, top_k, top_p }) = choice else { return Ok(likeliest) };
    if temperature.is_nan() || temperature <= 0.0 {
        return Err(CannotGenerate::Temperature);
    }
    if top_k == Some(0) {
        return Err(CannotGenerate::TopK);
    }
    if top_p.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
        return Err(CannotGenerate::TopP);
    }
    // Shifted first: next to a tiny temperature nothing but the likeliest is left, and nothing overflows.
    let highest = logits[likeliest];
    logits.iter_mut().for_each(|z| *z = S::from_f64((*z - highest).to_f64() / temperature));
    softmax_forward(logits);
    let all = if top_k.is_some() || top_p.is_some() { keep_likeliest(logits, top_k, top_p) } else { 1.0 };
    let mut rest = rng.random_range(0.0..1.0) * all;
    for (class, p) in logits.iter().enumerate() {
        rest -= p.to_f64();
        if rest < 0.0 {
            return Ok(class);
        }
    }
    Ok(likeliest) // what rounding left over
}

/// Sets all probabilities to 0 but those of the likeliest; with the sum of these. Of equally likely ones the first are
/// kept.
fn keep_likeliest<S: Scalar>(probabilities: &mut [S], top_k: Option<usize>, top_p: Option<f64>) -> f64 {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].to_f64().total_cmp(&probabilities[a].to_f64()));
    let p = |class: &usize| probabilities[*class].to_f64();
    let among = top_k.unwrap_or(order.len()).min(order.len());
    let enough = order[..among].iter().map(p).sum::<f64>() * top_p.unwrap_or(1.0);
    let (mut sum, mut count) = (0.0, 0);
    while count < among && (count == 0 || top_p.is_none() || sum < enough) {
        sum += p(&order[count]);
        count += 1;
    }
    order[count..].iter().for_each(|&class| probabilities[class] = S::zero());
    sum
}
