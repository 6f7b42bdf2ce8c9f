//! Times a forward pass for the stage, with every tensor kept and all contributions: T 16, D 32, H 4.

use std::hint::black_box;
use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::model::activations::{Activations, Interventions};
use attune_engine::numerics::model::{Architecture, AttentionModel, Candidates, Classes, Sequences};
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::rng::{Stream, stream};
use criterion::{Criterion, criterion_group, criterion_main};
use rand::RngExt;

const TOKENS: usize = 16;
const WIDTH: usize = 32;
const HEADS: usize = 4;
const VOCABULARY: usize = 64;
const SEED: u64 = 7;

fn live_forward(criterion: &mut Criterion) {
    let mut rng = stream(SEED, Stream::StaticInit);
    let embedding = Matrix::<f32>::from_fn(VOCABULARY, WIDTH, |_, _| rng.random_range(-1.0..1.0));
    let attention = AttentionConfig::multi_head(WIDTH, HEADS);
    let architecture = Architecture::of_attention(attention, Positions::Learned, TOKENS);
    let classes = Classes::Words(Candidates::all(VOCABULARY));
    let model = AttentionModel::new(architecture, Arc::new(embedding.into()), classes);
    let parameters = model.init(SEED);
    let words: Vec<usize> = (0..TOKENS).collect();
    let sentence = Sequences::one(&words);
    criterion.bench_function("live forward with contributions, T 16, D 32, H 4", |bencher| {
        bencher.iter(|| {
            let run = Activations::of(&model, &parameters, black_box(&sentence), None, &Interventions::default());
            let terms = Contributions::of(&model.architecture.blocks[0], 0, &parameters, &run.blocks[0], &[]);
            (run, terms)
        });
    });
}

criterion_group!(benches, live_forward);
criterion_main!(benches);
