//! Job A-large: the model of job A at a realistic size (V 5000, T 64, D 256, H 8), 20 steps, with random parameters and
//! data.
//!
//!     cargo bench --package attune-engine --bench job_a_large -- --threads 2
//!
//! Threads share the sentences of a step: see `attune_engine::numerics::model::parallel`.

use attune_engine::numerics::model::shards::Shards;
use attune_engine::numerics::model::{AttentionModel, Batch};
use attune_engine::numerics::optimiser::{Optimiser, OptimiserConfig};
use attune_engine::numerics::params::{Parameters, Start};
use attune_engine::numerics::rng::{Stream, stream};
use rand::RngExt;
use serde_json::json;

mod jobs;
mod one_layer;

use one_layer::Sizes;

const SIZES: Sizes = Sizes { vocabulary: 5000, tokens: 64, sentences: 32, width: 256, heads: 8 };
const STEPS: usize = 20;
const SEED: u64 = 7;

fn main() {
    let arguments = jobs::Arguments::read(5, &[], &[]);
    let model = SIZES.model();
    let start = random_parameters(&model, SEED);
    let mut rng = stream(SEED, Stream::Batches);
    let mut batch = Batch::with_capacity(SIZES.sentences, SIZES.rows());
    for _ in 0..SIZES.sentences {
        let ids: Vec<usize> = (0..SIZES.tokens).map(|_| rng.random_range(0..SIZES.vocabulary)).collect();
        batch.push_labelled(&ids, 0, rng.random_range(0..SIZES.vocabulary));
    }
    let mut shards = Shards::new(&model, &batch, arguments.threads);

    let (seconds, losses) = jobs::timed(arguments.repeat, || {
        let mut parameters = start.clone();
        let mut adam = Optimiser::new(OptimiserConfig::adam(0.01), &parameters);
        let steps = (0..STEPS).map(|_| {
            let loss = shards.gradient(&model, &parameters);
            shards.update(&mut adam, &mut parameters);
            loss
        });
        steps.collect::<Vec<f32>>()
    });
    let more = json!({ "loss_first": losses[0], "loss_last": losses[STEPS - 1] });
    jobs::report("A-large", arguments.threads, &seconds, more);
}

/// Draws parameters as for job A: with standard deviation `1/√D`, and biases of 0.
fn random_parameters(model: &AttentionModel<f32>, seed: u64) -> Parameters<f32> {
    let mut rng = stream(seed, Stream::ModelInit);
    let bound = (3.0 / SIZES.width as f32).sqrt();
    let mut parameters = model.zeros();
    let weights: Vec<_> =
        parameters.specs().iter().copied().filter(|spec| spec.id.name.start() != Start::Zero).collect();
    for spec in weights {
        parameters.values_of_mut(spec.id).fill_with(|| rng.random_range(-bound..bound));
    }
    parameters
}
