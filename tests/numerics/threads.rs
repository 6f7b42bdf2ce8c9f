//! A step shared by threads is the step of one, but for the order of its sums.

use std::sync::Arc;

use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::model::shards::Shards;
use attune_engine::numerics::model::{
    Architecture, AttentionModel, Batch, Candidates, Classes, DistanceCosts, Masking, Pooling, Readout, model_backward,
    model_forward,
};
use attune_engine::numerics::optimiser::{Method, Optimiser, OptimiserConfig};
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::rng::{Stream, stream};

use crate::common::close::{Tolerance, assert_close};
use crate::common::numerics::{Net, filled, generator, random_matrix};

const VOCABULARY: usize = 9;
const STEPS: usize = 5;

fn model(pooling: Pooling, keep: f64) -> AttentionModel<f64> {
    let architecture = Architecture {
        pooling,
        readout: Readout::Linear,
        train_embedding: true,
        ..Architecture::of_attention(AttentionConfig::multi_head(6, 2), Positions::Learned, 7)
    };
    let embedding = random_matrix(&mut generator(3), VOCABULARY, 6);
    let classes = Classes::Words(Candidates::all(VOCABULARY));
    let model = AttentionModel::new(architecture, Arc::new(embedding.into()), classes);
    model.with_costs(DistanceCosts { arrive: 0.0, keep })
}

/// Sentences of different lengths, so that the threads' shares of the targets differ. If outputs are kept, a sentence
/// of one word has no target but a kept row.
fn batch(pooling: Pooling, keep: f64) -> Batch {
    let mut batch = Batch::default();
    let mut masking = stream(5, Stream::Masking);
    for (i, sentence) in [&[0, 1, 2, 4, 3, 7][..], &[8], &[5, 5, 7], &[2, 6], &[1, 0, 3, 8]].into_iter().enumerate() {
        match pooling {
            Pooling::Every if keep > 0.0 => {
                batch.push_next(sentence, 0, &Candidates::all(VOCABULARY));
                batch.keep_last(pooling, |_| true);
            }
            Pooling::Every => {
                batch.push_masked(sentence, 0, &Candidates::all(VOCABULARY), &Masking::of_lessons(0.5), &mut masking)
            }
            Pooling::Last | Pooling::Mean => batch.push_labelled(sentence, 1, i),
        }
    }
    batch
}

#[test]
fn every_number_of_threads_takes_the_same_steps() {
    let [plain, with_momentum] = [0.0, 0.9].map(|momentum| Method::Sgd { momentum });
    let cases = [
        (Pooling::Every, 0.0, Method::ADAM),
        (Pooling::Last, 0.0, plain),
        (Pooling::Mean, 0.0, with_momentum),
        (Pooling::Every, 0.5, plain),
    ];
    for (pooling, keep, method) in cases {
        let (model, batch) = (model(pooling, keep), batch(pooling, keep));
        let start = filled(model.zeros(), &mut generator(11));
        let config = OptimiserConfig { method, learning_rate: 0.01, weight_decay: 0.1 };

        let first = Net { model: model.clone(), parameters: start.clone() };
        first.is_the_reference(&batch, Tolerance::DOUBLE).unwrap_or_else(|why| panic!("{pooling:?}: {why}"));
        let mut workspace = first.workspace(&batch);
        let (mut alone, mut optimiser) = (start.clone(), Optimiser::new(config, &start));
        let losses: Vec<f64> = (0..STEPS)
            .map(|_| {
                let loss = model_forward(&model, &alone, &batch, &mut workspace);
                model_backward(&model, &alone, &batch, &mut workspace);
                optimiser.update(&mut alone, &workspace.gradient);
                loss
            })
            .collect();
        assert!(losses[STEPS - 1] < losses[0], "{pooling:?}: {losses:?}");

        // More threads than sentences, too.
        for threads in [1, 2, 3, 8] {
            let mut shards = Shards::new(&model, &batch, threads);
            let (mut shared, mut optimiser) = (start.clone(), Optimiser::new(config, &start));
            for expected in &losses {
                let loss = shards.gradient(&model, &shared);
                assert_close(format!("{pooling:?}, {threads} threads"), loss, *expected, Tolerance::DOUBLE_SUMS);
                shards.update(&mut optimiser, &mut shared);
            }
            let name = format!("{pooling:?}, {threads} threads: the parameters");
            assert_close(name, shared.flat(), alone.flat(), Tolerance::DOUBLE_SUMS);
        }
    }
}
