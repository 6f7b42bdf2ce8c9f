//! Training on sentences of the [`grammar`]. An encoder predicts hidden words, as in BERT (Devlin et al. 2019, arXiv
//! 1810.04805, section 3.1), with whole words hidden, and often the word that the rest of the sentence determines. A
//! writer predicts the next piece of each text of the [`stories`], and a translator the next word of each
//! [`translation`].

use std::sync::Arc;
use std::time::Instant;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::BatchRoom;
use attune_engine::numerics::model::{
    Architecture, AttentionModel, Batch, Candidates, Classes, StepWorkspace, model_backward, model_forward,
};
use attune_engine::numerics::optimiser::{Optimiser, OptimiserConfig};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::rng::{Generator, Stream, stream};
use attune_engine::pretrained::Config;
use attune_engine::pretrained::config::architecture;
use attune_engine::pretrained::tokenizer::Tokenizer;
use attune_engine::pretrained::tokenizer::write::{MASK, PADDING};
use rand::RngExt;

use super::grammar::{self, Sentence};
use super::stories;
use super::translation;

pub const ENCODER_STEPS: usize = 8_000;
pub const FRAME_STEPS: usize = 10_500;
pub const WRITER_STEPS: usize = 8_000;
pub const TRANSLATOR_STEPS: usize = 6_000;
/// The number of sentences in a step.
const BATCH: usize = 48;
/// The largest learning rate of the encoder; the rate rises to it and then falls to 0.
const ENCODER_RATE: f64 = 2e-3;
/// The largest learning rate of the encoder of a fixed frame, whose blocks are post-norm and bear no larger one.
const FRAME_RATE: f64 = 1e-3;
/// The largest learning rate of the writer.
const WRITER_RATE: f64 = 2e-3;
const TRANSLATOR_RATE: f64 = 4e-3;
const RISING_STEPS: usize = 400;
const WEIGHT_DECAY: f64 = 0.01;
/// The initial standard deviation of word and position vectors; with less, the norm after them would have to scale them
/// up.
const VECTOR_INIT: f64 = 0.1;
/// The initial standard deviation of word vectors in T5's form, which also read the answers and are scaled there.
const TIED_INIT: f64 = 1.0;
/// The share of words to predict.
const ASKED: f64 = 0.15;
/// The share of words that the encoder has to predict beside a determined one: each of them hides what determines it.
const ASKED_BESIDE: f64 = 0.05;
/// The number of pieces of the longest sentence that the encoder reads in training.
const ENCODER_LONGEST: usize = 64;
/// The share of words to predict that are hidden.
const HIDDEN: f64 = 0.8;
/// The share that is replaced by another piece.
const REPLACED: f64 = 0.1;
/// The share of unambiguous words that are replaced by the word with two senses when they are to be predicted, so that
/// the model learns what the ambiguous word means there (after Gale, Church & Yarowsky 1992).
const TWO_SENSES_SHOWN: f64 = 0.5;

/// Returns the parameters of an encoder of sentences with insertions after this number of steps, in the shapes of the
/// config. Segment embeddings are left out.
pub fn encoder(config: &Config, tokenizer: &Tokenizer, seed: u64, steps: usize) -> Parameters<f32> {
    let asking = Asking { decided: 0.8, beside: ASKED_BESIDE, counted: 2, ..Asking::new(config, tokenizer) };
    let schedule = Schedule { steps, rate: ENCODER_RATE, longest: ENCODER_LONGEST, vectors: VECTOR_INIT };
    encoder_of(grammar::graded_sentence, &asking, seed, schedule)
}

/// Returns the parameters of an encoder of sentences of a fixed frame after this number of steps.
pub fn frame(config: &Config, tokenizer: &Tokenizer, seed: u64, steps: usize) -> Parameters<f32> {
    let schedule = Schedule { steps, rate: FRAME_RATE, longest: config.positions(), vectors: VECTOR_INIT };
    encoder_of(|rng, _| grammar::sentence(rng), &Asking::new(config, tokenizer), seed, schedule)
}

/// Trains an encoder on sentences that `sentence` draws, from the share of the training that is done.
fn encoder_of(
    sentence: fn(&mut Generator, f64) -> Sentence,
    asking: &Asking<'_>,
    seed: u64,
    schedule: Schedule,
) -> Parameters<f32> {
    let mut masking = stream(seed, Stream::Masking);
    train(asking.config, seed, schedule, |batch, rng, done| {
        let sentence = sentence(rng, done);
        if !sentence.is_kept_from_training() {
            asking.push(&sentence, schedule.longest, batch, &mut masking);
        }
    })
}

/// Returns the parameters of a writer after this number of steps.
pub fn writer(config: &Config, tokenizer: &Tokenizer, seed: u64, steps: usize) -> Parameters<f32> {
    let schedule = Schedule { steps, rate: WRITER_RATE, longest: config.positions(), vectors: VECTOR_INIT };
    train(config, seed, schedule, |batch, rng, _| {
        let text = stories::text(rng);
        if text.is_kept_from_training {
            return;
        }
        let mut ids: Vec<usize> = tokenizer
            .encode(&text.text())
            .expect("it knows all letters")
            .pieces
            .iter()
            .map(|piece| piece.id as usize)
            .collect();
        ids.truncate(config.positions());
        let start = batch.input.words.len();
        batch.targets.extend(ids.iter().skip(1).enumerate().map(|(row, &next)| (start + row, next)));
        batch.input.push(ids.into_iter().map(Some), 0);
    })
}

/// Returns the parameters of a translator after this number of steps.
pub fn translator(config: &Config, tokenizer: &Tokenizer, seed: u64, steps: usize) -> Parameters<f32> {
    let ids = |text: String| -> Vec<usize> {
        let pieces = tokenizer.encode(&text).expect("it knows all words").pieces;
        pieces.iter().map(|piece| piece.id as usize).collect()
    };
    let start = tokenizer.id_of(PADDING).map(|id| id as usize);
    let schedule = Schedule { steps, rate: TRANSLATOR_RATE, longest: translation::LONGEST, vectors: TIED_INIT };
    train(config, seed, schedule, |batch, rng, _| {
        let pair = translation::sentence(rng);
        let (source, target) = (ids(pair.source.join(" ")), ids(pair.target.join(" ")));
        let first = batch.input.words.len();
        batch.targets.extend(target.iter().enumerate().map(|(row, &id)| (first + row, id)));
        let before = target.iter().take(target.len() - 1).map(|&id| Some(id));
        batch.input.push([start].into_iter().chain(before), 0);
        batch.source.push(source.into_iter().map(Some), 0);
    })
}

/// The way a model is trained.
#[derive(Clone, Copy)]
struct Schedule {
    steps: usize,
    /// The largest learning rate.
    rate: f64,
    /// The number of pieces of the longest text.
    longest: usize,
    /// The initial standard deviation of word vectors.
    vectors: f64,
}

/// Returns the parameters after training. `push` draws a text, for a model that has done a share of its training, and
/// adds it with its questions, or leaves it out.
fn train(
    config: &Config,
    seed: u64,
    Schedule { steps, rate, longest, vectors }: Schedule,
    mut push: impl FnMut(&mut Batch, &mut Generator, f64),
) -> Parameters<f32> {
    let read = architecture(config, config.architecture.readout);
    let architecture = Architecture { train_embedding: true, segments: None, ..read };
    let rng = &mut stream(seed, Stream::StaticInit);
    let words = Matrix::from_fn(config.vocabulary, config.width(), |_, _| of_size(vectors, rng));
    let classes = Classes::Words(Candidates::all(config.vocabulary));
    let model = AttentionModel::new(architecture, Arc::new(words.into()), classes);
    let mut parameters = model.init(seed);
    parameters.values_of_mut(TensorName::Positions).iter_mut().for_each(|place| *place = of_size(VECTOR_INIT, rng));
    let decay = OptimiserConfig { weight_decay: WEIGHT_DECAY, ..OptimiserConfig::adam(rate) };
    let mut optimiser = Optimiser::new(decay, &parameters);

    let rows = BATCH * longest;
    let room = BatchRoom { rows, longest };
    let of_source = if model.architecture.has_source() { room } else { BatchRoom::NONE };
    let mut workspace = StepWorkspace::new(&model, room, of_source);
    let mut batch = Batch::with_capacity(BATCH, rows);
    let mut sentences = stream(seed, Stream::Batches);
    let (began, mut mean) = (Instant::now(), 0.0);
    for step in 1..=steps {
        batch.clear();
        while batch.input.rows.count() < BATCH {
            let pushed = (step - 1) * BATCH + batch.input.rows.count();
            push(&mut batch, &mut sentences, pushed as f64 / (steps * BATCH) as f64);
        }
        optimiser.set_learning_rate(rate * share(step, steps));
        let loss = model_forward(&model, &parameters, &batch, &mut workspace);
        model_backward(&model, &parameters, &batch, &mut workspace);
        optimiser.update(&mut parameters, &workspace.gradient);
        const REPORT: usize = 100;
        mean += loss / REPORT as f32;
        if step.is_multiple_of(REPORT) {
            println!("step {step}: loss {mean:.4} nats, {:.0} s", began.elapsed().as_secs_f64());
            mean = 0.0;
        }
    }
    parameters
}

/// Returns the share of the largest learning rate at a step.
fn share(step: usize, steps: usize) -> f64 {
    let rising = step as f64 / RISING_STEPS as f64;
    let falling = (steps + 1 - step) as f64 / steps.saturating_sub(RISING_STEPS).max(1) as f64;
    rising.min(falling).min(1.0)
}

/// Draws from a uniform distribution with this standard deviation.
fn of_size(deviation: f64, rng: &mut Generator) -> f32 {
    let bound = deviation * 3f64.sqrt();
    rng.random_range(-bound..bound) as f32
}

struct Asking<'a> {
    tokenizer: &'a Tokenizer,
    mask: usize,
    config: &'a Config,
    /// The share of sentences in which the determined word is to be predicted.
    decided: f64,
    /// The share of the other words to predict in such a sentence.
    beside: f64,
    /// The number of times that a determined word counts.
    counted: usize,
}

impl<'a> Asking<'a> {
    fn new(config: &'a Config, tokenizer: &'a Tokenizer) -> Self {
        let mask = tokenizer.id_of(MASK).expect("an encoder has one") as usize;
        Self { tokenizer, mask, config, decided: 0.6, beside: ASKED, counted: 1 }
    }

    /// Adds a sentence with questions about some of its words, if it is not too long.
    fn push(&self, sentence: &Sentence, longest: usize, batch: &mut Batch, rng: &mut Generator) {
        let pieces = self.tokenizer.encode(&sentence.text()).expect("it knows all letters").pieces;
        if pieces.len() > longest {
            return;
        }
        let count = sentence.words.len();
        let decided = sentence.question.as_ref().map(|question| question.at);
        let decided = decided.filter(|_| rng.random_bool(self.decided));
        let asked = if decided.is_some() { self.beside } else { ASKED };
        let certain = decided.unwrap_or_else(|| rng.random_range(0..count));
        let ways: Vec<Option<f64>> = (0..count)
            .map(|word| (word == certain || rng.random_bool(asked)).then(|| rng.random_range(0.0..1.0)))
            .collect();
        let stand_in = sentence.question.as_ref().and_then(|question| {
            let (word, _) = question.sense.filter(|(word, _)| *word != sentence.words[question.at])?;
            let whole = pieces.iter().filter(|piece| piece.word == Some(question.at)).count() == 1;
            let id = self.tokenizer.id_of(word).filter(|_| whole)? as usize;
            (ways[question.at].is_some() && rng.random_bool(TWO_SENSES_SHOWN)).then_some((question.at, id))
        });
        let start = batch.input.words.len();
        for (row, piece) in pieces.iter().enumerate() {
            let id = piece.id as usize;
            let shown = match piece.word.and_then(|word| ways[word]) {
                None => id,
                Some(way) => {
                    let times = if piece.word == decided { self.counted } else { 1 };
                    batch.targets.extend(std::iter::repeat_n((start + row, id), times));
                    if let Some((_, id)) = stand_in.filter(|(word, _)| Some(*word) == piece.word) {
                        id
                    } else if way < HIDDEN {
                        self.mask
                    } else if way < HIDDEN + REPLACED {
                        rng.random_range(0..self.config.vocabulary)
                    } else {
                        id
                    }
                }
            };
            batch.input.words.push(Some(shown));
        }
        let words = batch.input.words.split_off(start);
        batch.input.push(words, 0);
    }
}
