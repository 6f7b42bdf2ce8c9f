//! Generation: the logits of a sentence, and its greedy or sampled continuation.

use rand::RngExt;

pub use super::WritingRules;
use super::activations::Interventions;
use super::loss::hold_below;
use super::{Activations, Architecture, AttentionModel, Classes, Pooling, Sequences, Tower};
use crate::numerics::attention::{BatchRoom, HeadChanges, Mask, Tokens};
use crate::numerics::block::{BlockCache, BlockConfig, attend_forward, attend_onward, tail_forward};
use crate::numerics::linear::affine_forward;
use crate::numerics::model::{TransformCache, transform_forward};
use crate::numerics::params::pairs::LOGITS;
use crate::numerics::params::{Learned, Parameters, TensorName};
use crate::numerics::rng::Generator;
use crate::numerics::softmax::softmax_forward;
use crate::numerics::table::multiply_by_rows;
use crate::numerics::{Matrix, Scalar};

/// The way in which the next word is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextWordChoice {
    /// The most likely word.
    Greedy,
    /// A word drawn at random from the probabilities.
    Sampled(Sampling),
    /// The words of the likeliest sentence that a search with this many beams finds ([`beams`](super::beams)).
    Beams(usize),
}

impl NextWordChoice {
    /// Returns the choice that draws a word from `softmax(Z / τ)`.
    pub const fn sampled(temperature: f64) -> Self {
        Self::Sampled(Sampling { temperature, top_k: None, top_p: None })
    }
}

/// Settings for drawing a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// `τ` of `softmax(Z / τ)`, above 0.
    pub temperature: f64,
    /// Number of most likely words from which one is drawn (Fan, Lewis & Dauphin 2018, arXiv 1805.04833, section 5.4).
    pub top_k: Option<usize>,
    /// Total probability of the smallest set of most likely words from which one is drawn, as a share of the
    /// probability of the words that `top_k` leaves (Holtzman et al. 2020, arXiv 1904.09751, section 3.1).
    pub top_p: Option<f64>,
}

/// The reason why a sentence cannot be continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotGenerate {
    /// A prompt without words to continue from.
    NoWords,
    /// A model that predicts labels, not words.
    NotWords,
    /// A logit that is NaN or infinite: the training has diverged, or a weight is far too large.
    NotFinite,
    /// A temperature that is not above 0.
    Temperature,
    /// A `top_k` of 0.
    TopK,
    /// A `top_p` that is not above 0 and at most 1.
    TopP,
    /// A number of beams that is not between 1 and [`BEAMS_MAX`](super::beams::BEAMS_MAX).
    Beams,
}

impl<S: Scalar> AttentionModel<S> {
    /// Computes the logits `Z` (C) of a sentence, read at its last position or at the mean of all.
    ///
    /// # Panics
    /// See [`Activations::of`].
    pub fn logits(&self, parameters: &Parameters<S>, sentence: &Sequences, source: Option<&Sequences>) -> Vec<S> {
        let output = Activations::of(self, parameters, sentence, source, &Interventions::default()).output;
        self.logits_at_end(parameters, &output)
    }

    /// Computes the logits as in [`Self::logits`] from a sentence's outputs, (T, D).
    pub fn logits_at_end(&self, parameters: &Parameters<S>, output: &Matrix<S>) -> Vec<S> {
        self.logits_at(parameters, output, output.rows() - 1)
    }

    /// Computes the logits `Z` (R, C) of outputs (R, D).
    pub fn logits_of(&self, parameters: &Parameters<S>, read: &Matrix<S>) -> Matrix<S> {
        let scaled = self.architecture.logit_scale.map(|scale| read.scaled(S::from_f64(scale)));
        let mut logits = self.unbounded_logits_of(parameters, scaled.as_ref().unwrap_or(read));
        if let Some(cap) = self.architecture.logit_cap {
            hold_below(S::from_f64(cap), logits.flat_mut());
        }
        logits
    }

    /// Computes the logits as they are before their bound.
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
                affine_forward(parameters, LOGITS, read.view(), logits.flat_mut());
                logits
            }
        }
    }

    /// Computes the output (T, D) of a stack of blocks for a sentence and keeps nothing else. The stack starts at block
    /// `first` of the model. `done` is called with each block's index in the stack and its values.
    fn outputs(
        &self,
        parameters: &Parameters<S>,
        (first, blocks): (usize, &[BlockConfig]),
        sentence: &Sequences,
        source: Option<Tokens<'_, S>>,
        done: &mut dyn FnMut(usize, &BlockCache<S>),
    ) -> Matrix<S> {
        let (rows, tower) = (sentence.rows.total(), self.architecture.tower_of(first));
        let mut x = self.embedded(parameters, tower, sentence).1;
        for (number, config) in blocks.iter().enumerate() {
            let keys = source.filter(|_| config.attends_to_source()).map_or(rows, |source| source.rows.total());
            let mut cache = BlockCache::new(config, BatchRoom::one(rows), BatchRoom::one(keys));
            let block = Learned { config, parameters, number: first + number };
            attend_forward(block, Tokens::new(x.flat(), &sentence.rows), source, HeadChanges::NONE, &mut cache);
            tail_forward(block, cache.attention.mix.flat(), x.flat(), &mut cache.tail);
            x.clone_from(cache.tail.output());
            done(number, &cache);
        }
        self.behind_blocks(parameters, tower, x)
    }

    /// Returns whether the keys and values of a sentence's words can be kept while it grows. They must not change when
    /// a word is added, the logits must be read at the last word, and a word's position must be the number of words
    /// before it, which is not so if padding words are not counted.
    fn keeps(&self) -> bool {
        let Architecture { blocks, pooling, position_rows, .. } = &self.architecture;
        let looks_back = |block: &BlockConfig| block.attends_to_source() || block.attention.mask == Mask::Causal;
        blocks.iter().all(looks_back) && *pooling != Pooling::Mean && position_rows.filler.is_none()
    }

    /// Reads the beginning of a sentence and keeps its keys and values. Room is allocated for `most` words. Also
    /// returns the outputs of the words, (T, D).
    ///
    /// # Panics
    /// If the keys and values of earlier words change with later words, or the sentence is too long for the model.
    pub fn begin(
        &self,
        parameters: &Parameters<S>,
        words: &[Option<usize>],
        source: Option<Tokens<'_, S>>,
        most: usize,
    ) -> (KeyValueCache<S>, Matrix<S>) {
        assert!(self.keeps(), "keys and values: earlier words change with later ones");
        let Architecture { source_blocks, blocks, max_tokens, .. } = &self.architecture;
        assert!(words.len() <= *max_tokens, "keys and values: {} words of at most {max_tokens}", words.len());
        let of_source = source.map(|source| source.rows.total());
        let room = |block: &BlockConfig| of_source.filter(|_| block.attends_to_source()).unwrap_or(most);
        let cache = |block: &BlockConfig| BlockCache::new(block, BatchRoom::one(1), BatchRoom::one(room(block)));
        let mut kept =
            KeyValueCache { blocks: blocks.iter().map(cache).collect(), words: words.len(), source: of_source };
        let sentence = Sequences::starting_at(0, words.iter().copied());
        let output = self.outputs(parameters, (source_blocks.len(), blocks), &sentence, source, &mut |number, done| {
            let rows = of_source.filter(|_| blocks[number].attends_to_source()).unwrap_or(words.len());
            let to = &mut kept.blocks[number].attention;
            to.key.top_flat_mut(rows).copy_from_slice(done.attention.key.top_flat(rows));
            to.value.top_flat_mut(rows).copy_from_slice(done.attention.value.top_flat(rows));
        });
        (kept, output)
    }

    /// Computes the output of one more word, (1, D), from the keys and values that are kept, and adds its own to them.
    ///
    /// # Panics
    /// If the sentence has the model's greatest length already.
    pub fn one_more(&self, parameters: &Parameters<S>, kept: &mut KeyValueCache<S>, word: Option<usize>) -> Matrix<S> {
        let Architecture { source_blocks, blocks, max_tokens, .. } = &self.architecture;
        assert!(kept.words < *max_tokens, "keys and values: the model reads {max_tokens} words");
        let sentence = Sequences::starting_at(kept.words, [word]);
        let mut x = self.embedded(parameters, Tower::Sentence, &sentence).1;
        for (number, (config, cache)) in blocks.iter().zip(&mut kept.blocks).enumerate() {
            let block = Learned { config, parameters, number: source_blocks.len() + number };
            let token = Tokens::new(x.flat(), &sentence.rows);
            attend_onward(block, token, kept.words, kept.source, cache);
            tail_forward(block, cache.attention.mix.flat(), x.flat(), &mut cache.tail);
            x.clone_from(cache.tail.output());
        }
        kept.words += 1;
        self.behind_blocks(parameters, Tower::Sentence, x)
    }

    /// Returns the classes of words that the model never writes; empty if its classes are not words.
    pub fn never_written(&self) -> Vec<usize> {
        let Classes::Words(candidates) = &self.classes else { return Vec::new() };
        let is_never = |word: &usize| self.rules.never.contains(word);
        let words = candidates.words().iter().enumerate().filter(|(_, word)| is_never(word));
        words.map(|(class, _)| class).collect()
    }

    /// Generates words as [`Self::go_on`] does, and returns only the words.
    ///
    /// # Errors
    /// If the sentence cannot be continued.
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

    /// Generates `count` words after `prompt`, one at a time with the same weights, or fewer if a word ends the
    /// sentence ([`WritingRules`]). If the sentence is too long for the model, only its end is read. With a source the
    /// prompt may be empty.
    ///
    /// Keys and values of earlier words are kept while they stay the same: in a model that attends to earlier words
    /// only, until the sentence is too long for it.
    ///
    /// # Errors
    /// If the sentence cannot be continued.
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
        // The source is the same for all words, so it is read once.
        let source = source.map(|words| {
            let (source, blocks) = (Sequences::one(words), &self.architecture.source_blocks);
            (self.outputs(parameters, (0, blocks), &source, None, &mut |_, _| ()), source.rows)
        });
        let memory = source.as_ref().map(|(memory, rows)| Tokens::new(memory.flat(), rows));
        let start = source.as_ref().map(|_| self.rules.start);
        let words: Vec<Option<usize>> = start.into_iter().chain(prompt.iter().copied().map(Some)).collect();
        if words.is_empty() {
            return Err(CannotGenerate::NoWords);
        }
        let most = (words.len() + count).min(self.architecture.max_tokens);
        let reader = Reader { model: self, parameters, memory, most };
        let mut text = Beginning { words, found: Vec::new(), kept: None };
        if let Some(word) = self.rules.first.filter(|_| source.is_some() && prompt.is_empty() && count > 0) {
            text.push(NextWord { word, rows: RowsRead { computed: 0, kept: 0 } });
        }
        let never = self.never_written();
        if let NextWordChoice::Beams(width) = choice {
            return reader.search(text, count, width, &never);
        }
        while text.found.len() < count {
            let (mut logits, rows) = reader.next(&mut text);
            let word = candidates.words()[choose_except(&mut logits, &never, choice, rng)?];
            if self.rules.ends.contains(&word) {
                break;
            }
            text.push(NextWord { word, rows });
        }
        Ok(text.found)
    }
}

/// A sentence that is continued, with the keys and values of its words while they stay the same.
#[derive(Clone)]
pub(super) struct Beginning<S> {
    /// All words, from the start token on.
    words: Vec<Option<usize>>,
    /// The words that were generated.
    pub found: Vec<NextWord>,
    kept: Option<KeyValueCache<S>>,
}

impl<S> Beginning<S> {
    pub fn push(&mut self, next: NextWord) {
        self.words.push(Some(next.word));
        self.found.push(next);
    }
}

/// A model that reads the beginnings of a sentence.
pub(super) struct Reader<'a, S> {
    pub model: &'a AttentionModel<S>,
    pub parameters: &'a Parameters<S>,
    /// Outputs of the source's blocks, which cross-attention reads; `None` without a source.
    memory: Option<Tokens<'a, S>>,
    /// Number of words for which keys and values have room.
    most: usize,
}

impl<S: Scalar> Reader<'_, S> {
    /// Computes the logits of the next word, and returns the rows from which they were computed.
    pub fn next(&self, text: &mut Beginning<S>) -> (Vec<S>, RowsRead) {
        let Self { model, parameters, memory, most } = *self;
        let Architecture { source_blocks, blocks, max_tokens, .. } = &model.architecture;
        let Beginning { words, kept, .. } = text;
        let read = &words[words.len().saturating_sub(*max_tokens)..];
        let output = match kept {
            Some(kept) if read.len() == words.len() => {
                model.one_more(parameters, kept, words.last().copied().flatten())
            }
            _ if read.len() == words.len() && model.keeps() => {
                let (begun, output) = model.begin(parameters, read, memory, most);
                *kept = Some(begun);
                output
            }
            // The words have other positions than before, or their keys and values may change, so everything is
            // computed again.
            _ => {
                let sentence = Sequences::starting_at(0, read.iter().copied());
                model.outputs(parameters, (source_blocks.len(), blocks), &sentence, memory, &mut |_, _| ())
            }
        };
        let computed = output.rows();
        (model.logits_at_end(parameters, &output), RowsRead { computed, kept: read.len() - computed })
    }
}

/// A word that the model generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextWord {
    pub word: usize,
    pub rows: RowsRead,
}

/// The numbers of rows from which a word was predicted, where each earlier word is a row; the same in every block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsRead {
    /// Number of rows that were computed for this word; they are the last ones.
    pub computed: usize,
    /// Number of earlier rows, whose keys and values were kept from a previous word.
    pub kept: usize,
}

/// Keys and values of a sentence's words in every block. They stay the same when the sentence continues, because a word
/// attends only to those before it (Vaswani et al. 2017, section 3.1).
#[derive(Clone, Debug)]
pub struct KeyValueCache<S> {
    /// Caches with the keys and values of all words, and room for the queries of one.
    blocks: Vec<BlockCache<S>>,
    words: usize,
    /// Number of words of the source.
    source: Option<usize>,
}

impl<S: Scalar> KeyValueCache<S> {
    /// Returns the number of the sentence's words whose keys and values are kept.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns `K` and `V` of a block, (T, K·d_k) and (T, K·d_v).
    pub fn keys_and_values(&self, block: usize) -> [&[S]; 2] {
        let attention = &self.blocks[block].attention;
        [attention.key.top_flat(self.words), attention.value.top_flat(self.words)]
    }
}

/// Chooses a class by its logits, which are overwritten.
///
/// # Errors
/// If a logit is not finite, or a setting is invalid.
pub fn choose<S: Scalar>(
    logits: &mut [S],
    choice: NextWordChoice,
    rng: &mut Generator,
) -> Result<usize, CannotGenerate> {
    choose_except(logits, &[], choice, rng)
}

/// Chooses like [`choose`], but none of the classes `never`.
fn choose_except<S: Scalar>(
    logits: &mut [S],
    never: &[usize],
    choice: NextWordChoice,
    rng: &mut Generator,
) -> Result<usize, CannotGenerate> {
    if !logits.iter().all(|z| z.is_finite()) {
        return Err(CannotGenerate::NotFinite);
    }
    never.iter().for_each(|&class| logits[class] = S::NEG_INFINITY);
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
    // Shifted before the division, so that a tiny temperature leaves only the most likely class and nothing overflows.
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

/// Sets all probabilities to 0 except those of the most likely classes, and returns the sum of these. Of equally likely
/// ones the first are kept.
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
