//! Job A: a tiny attention model, 2000 steps of Adam, starting from given parameters and data
//! (`tests/numerics/oracle/job_a.json`, made by `make_job_a.py` beside it).
//!
//!     cargo bench --package attune-engine --bench job_a -- --threads 1
//!
//! The job runs on one thread whatever `--threads` says, because a step has too little work to share.

use attune_engine::numerics::attention::BatchRoom;
use attune_engine::numerics::model::{AttentionModel, Batch, StepWorkspace, model_backward, model_forward};
use attune_engine::numerics::optimiser::{Optimiser, OptimiserConfig};
use attune_engine::numerics::params::{Parameters, TensorName};
use serde_json::{Value, json};

mod jobs;
mod one_layer;

use one_layer::Sizes;

fn main() {
    let arguments = jobs::Arguments::read(5, &[], &[]);
    let given: Value = serde_json::from_str(include_str!("../tests/numerics/oracle/job_a.json")).expect("JSON");
    let size = |name: &str| given["config"][name].as_u64().expect("a size") as usize;
    let sizes =
        Sizes { vocabulary: size("V"), tokens: size("T"), sentences: size("B"), width: size("D"), heads: size("H") };
    let model = sizes.model();
    let start = start(&model, &given["parameters"]);
    let mut batch = Batch::with_capacity(sizes.sentences, sizes.rows());
    for (ids, target) in list(&given["ids"]).iter().zip(list(&given["target"])) {
        let ids: Vec<usize> = list(ids).iter().map(|id| id.as_u64().expect("an id") as usize).collect();
        batch.push_labelled(&ids, 0, target.as_u64().expect("a class") as usize);
    }
    let mut workspace =
        StepWorkspace::new(&model, BatchRoom { rows: sizes.rows(), longest: sizes.tokens }, BatchRoom::NONE);

    let adam = OptimiserConfig::adam(0.01);
    let (seconds, losses) = jobs::timed(arguments.repeat, || {
        let mut parameters = start.clone();
        let mut adam = Optimiser::new(adam, &parameters);
        let steps = (0..size("steps")).map(|_| {
            let loss = model_forward(&model, &parameters, &batch, &mut workspace);
            model_backward(&model, &parameters, &batch, &mut workspace);
            adam.update(&mut parameters, &workspace.gradient);
            loss
        });
        steps.collect::<Vec<f32>>()
    });
    for (step, expected) in given["loss_before_step"].as_object().expect("losses by step") {
        let (found, expected) = (losses[step.parse::<usize>().expect("a step")], expected.as_f64().expect("a loss"));
        println!("loss before step {step:>4}: {found:.9}, in double precision {expected:.9}");
    }
    let more = json!({ "loss_first": losses[0], "loss_last": losses[losses.len() - 1] });
    jobs::report("A", 1, &seconds, more);
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn start(model: &AttentionModel<f32>, given: &Value) -> Parameters<f32> {
    use TensorName::*;
    let mut parameters = model.zeros();
    for (name, tensor) in [
        ("E", Embedding),
        ("W_Q", QueryWeights),
        ("b_Q", QueryBias),
        ("W_K", KeyWeights),
        ("b_K", KeyBias),
        ("W_V", ValueWeights),
        ("b_V", ValueBias),
        ("W_O", OutputWeights),
        ("b_O", OutputBias),
        ("W_out", LogitWeights),
        ("b_out", LogitBias),
    ] {
        let entries = list(&given[name]).iter().flat_map(list).map(|x| x.as_f64().expect("a number") as f32);
        let entries: Vec<f32> = entries.collect();
        parameters.values_of_mut(tensor).copy_from_slice(&entries);
    }
    parameters
}
