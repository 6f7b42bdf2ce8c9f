//! Helpers of the numerics' tests: small shapes in which nothing divides anything else, and
//! random numbers to fill them.

pub mod differences;
pub mod json;
pub mod one_block;

use std::sync::Arc;

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, BatchRoom, BatchRows, Mask, MaskTable};
use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::model::{
    Architecture, AttentionModel, Batch, Candidates, Classes, DistanceCosts, Sequences, StepWorkspace, model_backward,
    model_forward,
};
use attune_engine::numerics::norm::NormForm;
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::rng::{Generator, Stream, stream};
use attune_engine::numerics::{Matrix, Scalar, reference};
use rand::RngExt;

use crate::common::close::{Tolerance, is_each_close};

pub fn generator(seed: u64) -> Generator {
    stream(seed, Stream::ModelInit)
}

pub fn random(rng: &mut Generator, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

pub fn random_matrix(rng: &mut Generator, rows: usize, cols: usize) -> Matrix<f64> {
    Matrix::from_row_major(rows, cols, random(rng, rows * cols))
}

pub fn filled(mut parameters: Parameters<f64>, rng: &mut Generator) -> Parameters<f64> {
    let entries = random(rng, parameters.len());
    parameters.flat_mut().copy_from_slice(&entries);
    parameters
}

/// The same parameters with other entries.
pub fn with(parameters: &Parameters<f64>, entries: &[f64]) -> Parameters<f64> {
    let mut parameters = parameters.clone();
    parameters.flat_mut().copy_from_slice(entries);
    parameters
}

/// The same parameters, rounded.
pub fn cast<R: Scalar, S: Scalar>(parameters: &Parameters<R>) -> Parameters<S> {
    let shapes: Vec<_> = parameters.specs().iter().map(|spec| (spec.id, spec.rows, spec.cols)).collect();
    let mut to = Parameters::zeros(&shapes);
    to.flat_mut().iter_mut().zip(parameters.flat()).for_each(|(to, &x)| *to = S::from_f64(x.to_f64()));
    to
}

/// Numbers of any precision as they are.
pub fn exact<S: Scalar>(numbers: &[S]) -> Vec<f64> {
    numbers.iter().map(|x| x.to_f64()).collect()
}

pub fn rows(lengths: &[usize]) -> BatchRows {
    let mut rows = BatchRows::with_capacity(lengths.len());
    lengths.iter().for_each(|&tokens| rows.push(tokens));
    rows
}

/// Who sees whom, written once more.
pub fn sees(mask: &Mask, query: usize, key: usize) -> bool {
    match mask {
        Mask::None => true,
        Mask::Causal => key <= query,
        Mask::Custom(table) => table.sees(query, key),
    }
}

/// Two heads with everything that a layer can have, but a mask.
pub fn layer(change: impl FnOnce(&mut AttentionConfig)) -> AttentionConfig {
    let mut layer = AttentionConfig { heads: 2, key_width: 3, value_width: 2, ..AttentionConfig::multi_head(5, 1) };
    change(&mut layer);
    layer
}

/// A table in which the second query sees nothing and the others two keys of three.
pub fn holes(queries: usize, keys: usize) -> Mask {
    Mask::custom(MaskTable::from_fn(queries, keys, |query, key| query != 1 && (query + key) % 3 != 2))
}

/// Every query sees the first `length` keys; the others only fill up the sentence.
pub fn padding(queries: usize, keys: usize, length: usize) -> Mask {
    Mask::custom(MaskTable::from_fn(queries, keys, |_, key| key < length))
}

pub fn block(change: impl FnOnce(&mut BlockConfig)) -> BlockConfig {
    let mut block = BlockConfig::plain(layer(|_| ()));
    change(&mut block);
    block
}

pub const NORMS: [Norm; 3] = [Norm::None, Norm::Pre, Norm::Post];
/// Hidden units, where there is a feed-forward layer.
pub const FEED_FORWARD: [Option<usize>; 2] = [None, Some(7)];

/// Every way to build a block around an attention layer.
pub fn block_forms(attention: &AttentionConfig) -> Vec<BlockConfig> {
    let mut forms = Vec::new();
    for norm in NORMS {
        for feed_forward in FEED_FORWARD {
            for residual in [true, false] {
                forms.push(BlockConfig { residual, norm, feed_forward, ..BlockConfig::plain(attention.clone()) });
            }
        }
    }
    forms.extend(todays_forms(attention));
    forms
}

/// Blocks in the forms of today's models.
fn todays_forms(attention: &AttentionConfig) -> [BlockConfig; 6] {
    let rms = NormForm { gain_from_one: true, ..NormForm::rms(1e-2) };
    let plain = BlockConfig { feed_forward: Some(7), ..BlockConfig::plain(attention.clone()) };
    let gated = BlockConfig { gated: true, activation: Activation::Silu, forward_bias: false, ..plain.clone() };
    [
        BlockConfig { norm: Norm::Pre, norm_form: rms, ..gated.clone() },
        BlockConfig { norm: Norm::Pre, norm_form: rms, output_norms: true, ..gated.clone() },
        BlockConfig { output_norms: true, forward_bias: true, ..gated.clone() },
        BlockConfig { norm: Norm::Post, output_norms: true, attention_norm: false, ..plain.clone() },
        BlockConfig { norm: Norm::Pre, branches: Branches::Parallel, ..plain },
        BlockConfig { norm: Norm::Pre, branches: Branches::ParallelOneNorm, ..gated },
    ]
}

/// The most tokens of a sentence that goes through tiles in training; longer ones go through panels.
pub const TILE_TOKENS_MAX: usize = 48;

pub const VOCABULARY: usize = 9;
pub const MAX_TOKENS: usize = 6;

pub fn architecture(change: impl FnOnce(&mut Architecture)) -> Architecture {
    let mut architecture = Architecture::of_attention(layer(|_| ()), Positions::Learned, MAX_TOKENS);
    change(&mut architecture);
    architecture
}

/// Some of the words.
pub fn candidates() -> Candidates {
    Candidates::new(VOCABULARY, vec![1, 4, 5, 8])
}

pub fn words() -> Classes {
    Classes::Words(candidates())
}

/// A model with its parameters, all drawn at random.
#[derive(Clone)]
pub struct Net<S = f64> {
    pub model: AttentionModel<S>,
    pub parameters: Parameters<S>,
}

impl Net {
    pub fn new(architecture: Architecture, classes: Classes, seed: u64) -> Self {
        let mut rng = generator(seed);
        let embedding = random_matrix(&mut rng, VOCABULARY, architecture.width);
        let model = AttentionModel::new(architecture, Arc::new(embedding.into()), classes);
        let parameters = filled(model.zeros(), &mut rng);
        Self { model, parameters }
    }
}

impl<S: Scalar> Net<S> {
    /// The loss and the gradient are those of the reference, each entry to a share of the larger of it and 1.
    ///
    /// # Errors
    /// The first number that is another.
    pub fn is_the_reference(&self, batch: &Batch, tolerance: Tolerance) -> Result<(), String> {
        // From the numbers that the engine was given, rounded as they were.
        let exact = self.cast::<f64>();
        let (loss, gradient) = reference::model::loss_and_gradient(&exact.model, &exact.parameters, batch);
        is_each_close(self.loss(batch).to_f64(), loss, tolerance).map_err(|why| format!("the loss: {why}"))?;
        let found = self.gradient(batch);
        for (spec, expected) in gradient.tensors() {
            is_each_close(self::exact(found.values_of(spec.id)), &*expected, tolerance)
                .map_err(|why| format!("{}: {why}", spec.id))?;
        }
        Ok(())
    }

    /// The same model with a loss that counts distances.
    pub fn with_costs(self, arrive: f64, keep: f64) -> Self {
        Self { model: self.model.with_costs(DistanceCosts { arrive, keep }), ..self }
    }

    /// The same model, its numbers rounded.
    pub fn cast<R: Scalar>(&self) -> Net<R> {
        let AttentionModel { architecture, embedding, classes, .. } = &self.model;
        let model =
            AttentionModel::new(architecture.clone(), Arc::new(embedding.widened().cast().into()), classes.clone());
        Net { model: model.with_costs(self.model.costs()), parameters: cast(&self.parameters) }
    }

    pub fn workspace(&self, batch: &Batch) -> StepWorkspace<S> {
        workspace(&self.model, batch)
    }

    pub fn loss(&self, batch: &Batch) -> S {
        model_forward(&self.model, &self.parameters, batch, &mut self.workspace(batch))
    }

    pub fn gradient(&self, batch: &Batch) -> Parameters<S> {
        let mut workspace = self.workspace(batch);
        model_forward(&self.model, &self.parameters, batch, &mut workspace);
        model_backward(&self.model, &self.parameters, batch, &mut workspace);
        workspace.gradient
    }
}

pub fn workspace<S: Scalar>(model: &AttentionModel<S>, batch: &Batch) -> StepWorkspace<S> {
    StepWorkspace::new(model, BatchRoom::of(&batch.input.rows), BatchRoom::of(&batch.source.rows))
}

pub fn sentence(words: &[usize]) -> Sequences {
    Sequences::one(words)
}

/// Three sentences, one of them a single word, each objective's way. Positions start where they may.
pub mod batches {
    use attune_engine::numerics::model::Masking;

    use super::{Batch, Stream, candidates, stream};

    const SENTENCES: [(&[usize], usize); 3] = [(&[0, 1, 2, 4, 3], 1), (&[8], 0), (&[5, 5, 7], 2)];

    pub fn masked() -> Batch {
        let mut rng = stream(3, Stream::Masking);
        let mut batch = Batch::default();
        for (sentence, first) in SENTENCES {
            batch.push_masked(sentence, first, &candidates(), &Masking::of_lessons(0.4), &mut rng);
        }
        assert!(batch.input.words.contains(&None) && batch.targets.len() >= 3);
        batch
    }

    pub fn next() -> Batch {
        let mut batch = Batch::default();
        SENTENCES.into_iter().for_each(|(sentence, first)| batch.push_next(sentence, first, &candidates()));
        assert_eq!(batch.targets.len(), 3, "words that are no candidates are not asked for");
        batch
    }

    /// A class for each sentence.
    pub fn labelled() -> Batch {
        let mut batch = Batch::default();
        for ((sentence, first), class) in SENTENCES.into_iter().zip([2, 0, 1]) {
            batch.push_labelled(sentence, first, class);
        }
        batch
    }

    /// Sources and targets of different lengths.
    pub fn pairs() -> Batch {
        let mut batch = Batch::default();
        batch.push_pair(&[0, 1, 2, 4], &[4, 1], &candidates());
        batch.push_pair(&[7], &[5, 8, 1, 0, 4], &candidates());
        batch.push_pair(&[3, 3, 6], &[8], &candidates());
        batch
    }
}
