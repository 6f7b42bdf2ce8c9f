//! Whole trainings: `make_training.py`, in PyTorch, and `make_job_a.py`, in NumPy by hand.

use std::sync::Arc;

use attune_engine::numerics::attention::{AttentionConfig, Mask};
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::model::{
    Architecture, AttentionModel, Batch, Candidates, Classes, Pooling, Readout, model_backward, model_forward,
};
use attune_engine::numerics::optimiser::{Optimiser, OptimiserConfig};
use attune_engine::numerics::params::{Parameters, TensorId};
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::{Matrix, Scalar};
use serde_json::Value;

use super::torch::find;
use super::{Fixture, cast, fill};
use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::numerics::json::{list, number, parse, size, sizes, vector};
use crate::common::numerics::workspace;

static FIXTURE: Fixture = Fixture::new(|| parse(include_str!("training.json")));
static JOB_A: Fixture = Fixture::new(|| parse(include_str!("job_a.json")));

/// The loss before each step.
fn train<S: Scalar>(
    model: &AttentionModel<S>,
    mut parameters: Parameters<S>,
    batch: &Batch,
    rate: f64,
    steps: usize,
) -> Vec<f64> {
    let mut workspace = workspace(model, batch);
    let mut adam = Optimiser::new(OptimiserConfig::adam(rate), &parameters);
    let step = |_| {
        let loss = model_forward(model, &parameters, batch, &mut workspace);
        model_backward(model, &parameters, batch, &mut workspace);
        adam.update(&mut parameters, &workspace.gradient);
        loss.to_f64()
    };
    (0..steps).map(step).collect()
}

/// One block, no residual, the mean read by weights of its own; trained embeddings.
fn job_a<S: Scalar>() -> (AttentionModel<S>, Parameters<S>, Batch) {
    let given = &*JOB_A;
    let [vocabulary, tokens, width, heads] = ["V", "T", "D", "H"].map(|name| size(&given["config"][name]));
    let block = BlockConfig { residual: false, ..BlockConfig::plain(AttentionConfig::multi_head(width, heads)) };
    let architecture = Architecture {
        train_embedding: true,
        blocks: vec![block.clone()],
        pooling: Pooling::Mean,
        readout: Readout::Linear,
        ..Architecture::of_attention(block.attention, Positions::None, tokens)
    };
    let embedding = Arc::new(Matrix::zeros(vocabulary, width).into());
    let model = AttentionModel::<S>::new(architecture, embedding, Classes::Labels(vocabulary));
    let mut parameters = model.zeros();
    let ids: Vec<TensorId> = parameters.specs().iter().map(|spec| spec.id).collect();
    assert_eq!(ids.len(), given["parameters"].as_object().expect("tensors").len(), "the tensors are the same");
    for id in ids {
        let name = id.name.symbol().replace("logits", "out");
        // Single precision is what was given, whatever it is trained in.
        let value = cast::<f32>(&given["parameters"][name]).cast::<S>();
        parameters.values_of_mut(id).copy_from_slice(value.flat());
    }
    let mut batch = Batch::default();
    for (ids, target) in list(&given["ids"]).iter().zip(list(&given["target"])) {
        batch.push_labelled(&sizes(ids), 0, size(target));
    }
    (model, parameters, batch)
}

/// Compares the loss before each step.
#[track_caller]
fn check<S: Scalar>(
    (model, start, batch): (AttentionModel<S>, Parameters<S>, Batch),
    rate: &Value,
    losses: &Value,
    tolerance: Tolerance,
) {
    let expected = vector(losses);
    let found = train(&model, start, &batch, number(rate), expected.len());
    assert_close("the loss before each step", found, &expected, tolerance);
}

#[test]
fn job_a_learns_as_in_pytorch() {
    let (rate, losses) = (&JOB_A["config"]["lr"], &FIXTURE["job_a"]["losses"]);
    check(job_a::<f32>(), rate, losses, Tolerance::SINGLE_SUMS);
    check(job_a::<f64>(), rate, losses, Tolerance::DOUBLE_SUMS);
}

#[test]
fn job_a_learns_as_by_hand_to_its_end() {
    let (model, start, batch) = job_a::<f32>();
    let [steps, rate] = ["steps", "lr"].map(|name| number(&JOB_A["config"][name]));
    let losses = train(&model, start, &batch, rate, steps as usize);
    let expected = JOB_A["loss_before_step"].as_object().expect("losses by step");
    assert!(expected.contains_key("1999"), "the last is among them");
    for (step, expected) in expected {
        let (found, expected) = (losses[step.parse::<usize>().expect("a step")], number(expected));
        let name = format!("before step {step}");
        assert_close_beside(1.0, &name, found, expected, Tolerance::SINGLE_SUMS);
        // Late losses are tiny: a tenth of them is a finer measure than the tolerance.
        assert!((0.9 * expected..=1.1 * expected).contains(&found), "{name}: {found}, but {expected}");
    }
}

/// Two pre-norm blocks with feed-forward layers, causal, learned positions, tied trained embeddings.
fn language_model<S: Scalar>() -> (AttentionModel<S>, Parameters<S>, Batch) {
    let given = &FIXTURE["language_model"];
    let [vocabulary, width, heads, hidden, max_tokens] =
        ["V", "D", "H", "hidden", "max_tokens"].map(|name| size(&given["config"][name]));
    let attention = AttentionConfig { mask: Mask::Causal, ..AttentionConfig::multi_head(width, heads) };
    let block = BlockConfig { norm: Norm::Pre, feed_forward: Some(hidden), ..BlockConfig::plain(attention) };
    let architecture = Architecture {
        train_embedding: true,
        blocks: vec![block.clone(), block.clone()],
        ..Architecture::of_attention(block.attention, Positions::Learned, max_tokens)
    };
    let candidates = Candidates::all(vocabulary);
    let mut batch = Batch::default();
    list(&given["sentences"]).iter().for_each(|sentence| batch.push_next(&sizes(sentence), 0, &candidates));
    let embedding = Arc::new(Matrix::zeros(vocabulary, width).into());
    let model = AttentionModel::new(architecture, embedding, Classes::Words(candidates));
    let mut parameters = model.zeros();
    let tensors = &given["tensors"];
    fill(&mut parameters, list(tensors).len(), |id| &find(tensors, id.block, id.name)["value"]);
    (model, parameters, batch)
}

#[test]
fn a_language_model_learns_as_in_pytorch() {
    let given = &FIXTURE["language_model"];
    let (rate, losses) = (&given["config"]["rate"], &given["losses"]);
    check(language_model::<f32>(), rate, losses, Tolerance::SINGLE_SUMS);
    check(language_model::<f64>(), rate, losses, Tolerance::SINGLE);
}
