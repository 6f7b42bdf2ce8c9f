//! Distances in the loss and in the scores, against PyTorch: `make_arrival.py`.

use std::sync::Arc;

use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{
    Activations, Architecture, AttentionModel, Batch, Candidates, Classes, DistanceCosts, Sequences, model_backward,
    model_forward,
};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::{Matrix, Scalar};

use super::{EXACT, Fixture, assert_close, cast, fill};
use crate::common::close::{self, Tolerance};
use crate::common::numerics::json::{list, maybe_size, number, parse, size, sizes};
use crate::common::numerics::workspace;

static FIXTURE: Fixture = Fixture::new(|| parse(include_str!("arrival.json")));

fn pairs(name: &str) -> Vec<(usize, usize)> {
    list(&FIXTURE[name]).iter().map(|pair| (size(&pair[0]), size(&pair[1]))).collect()
}

fn model<S: Scalar>() -> AttentionModel<S> {
    let (width, max_tokens) = (size(&FIXTURE["width"]), size(&FIXTURE["max_tokens"]));
    let attention = AttentionConfig {
        heads: size(&FIXTURE["heads"]),
        key_width: size(&FIXTURE["d_k"]),
        value_width: size(&FIXTURE["d_v"]),
        temperature: number(&FIXTURE["temperature"]),
        distances: Some(DistanceForm::of_each(max_tokens)),
        ..AttentionConfig::multi_head(width, 1)
    };
    let built = Architecture {
        blocks: vec![BlockConfig::plain(attention.clone())],
        ..Architecture::of_attention(attention, Positions::None, max_tokens)
    };
    let embedding: Matrix<S> = cast(&FIXTURE["E"]);
    let classes = Classes::Words(Candidates::new(embedding.rows(), sizes(&FIXTURE["candidates"])));
    let costs = DistanceCosts { arrive: number(&FIXTURE["arrive"]), keep: number(&FIXTURE["keep"]) };
    AttentionModel::new(built, Arc::new(embedding.into()), classes).with_costs(costs)
}

fn sentence() -> Sequences {
    Sequences::starting_at(0, list(&FIXTURE["words"]).iter().map(maybe_size))
}

fn check<S: Scalar>(tolerance: Tolerance) {
    let model = model::<S>();
    let mut parameters: Parameters<S> = model.zeros();
    let given = FIXTURE["parameters"].as_object().expect("tensors by name");
    fill(&mut parameters, given.len(), |id| &given[id.name.symbol()]);

    // As a viewer sees it ...
    let run = Activations::of(&model, &parameters, &sentence(), None, &Interventions::default());
    assert_close("Y", run.output.flat(), &FIXTURE["output"], tolerance);
    for (h, head) in run.heads().enumerate() {
        assert_close(&format!("S[{h}]"), head.scores.flat(), &FIXTURE["scores"][h], tolerance);
    }
    // ... and as training does it.
    let batch = Batch { input: sentence(), targets: pairs("targets"), kept: pairs("kept"), ..Batch::default() };
    let mut workspace = workspace(&model, &batch);
    let loss = model_forward(&model, &parameters, &batch, &mut workspace).to_f64();
    let expected = number(&FIXTURE["loss"]);
    close::assert_close_beside(expected, "the loss", loss, expected, tolerance);
    model_backward(&model, &parameters, &batch, &mut workspace);
    for (spec, found) in workspace.gradient.tensors().filter(|(spec, _)| spec.id.name != TensorName::KeyBias) {
        let expected = &FIXTURE["gradients"][spec.id.name.symbol()];
        assert_close(&format!("d_{}", spec.id), &found, expected, tolerance);
    }
}

#[test]
fn vectors_arrive_as_in_pytorch() {
    check::<f64>(EXACT);
    check::<f32>(Tolerance::SINGLE_SUMS);
}
