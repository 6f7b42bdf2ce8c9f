//! Values against an independent computation: `tests/oracle/make.py` made `tests/oracle/values.json`.

use attune::numerics::Matrix;
use attune::numerics::attention::{Activations, AttentionConfig};
use attune::numerics::cross_entropy::cross_entropy_forward;
use attune::numerics::optimiser::{Optimiser, OptimiserConfig};
use attune::numerics::params::{Parameters, TensorName};
use attune::numerics::positions::Positions;
use attune::numerics::projection::Projection;
use attune::numerics::softmax::softmax_forward;
use attune::numerics::word2vec::{Example, Tables};
use serde_json::Value;

fn values() -> Value {
    serde_json::from_str(include_str!("oracle/values.json")).expect("the oracle's file is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn vector(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

fn matrix(value: &Value) -> Matrix<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().expect("a list of rows").iter().map(vector).collect();
    Matrix::from_row_major(rows.len(), rows[0].len(), rows.concat())
}

fn assert_close(name: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{name}: lengths");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "{name}[{i}]: {found}, but the oracle says {expected}");
    }
}

const EXACT: f64 = 1e-12;
const SINGLE: f64 = 1e-5;

fn config(oracle: &Value, causal: bool, residual: bool) -> AttentionConfig {
    let size = |name: &str| number(&oracle["config"][name]) as usize;
    AttentionConfig {
        width: size("D"),
        heads: size("H"),
        key_width: size("d_k"),
        value_width: size("d_v"),
        bias: true,
        scale: true,
        causal,
        residual,
        positions: Positions::None,
        max_tokens: size("T"),
    }
}

fn check_attention<S: attune::numerics::Scalar>(case: &str, causal: bool, residual: bool, tolerance: f64) {
    let oracle = values();
    let config = config(&oracle, causal, residual);
    let mut parameters = Parameters::<S>::zeros(&config.shapes());
    for (name, _, _) in config.shapes() {
        let given = matrix(&oracle["parameters"][name.symbol()]).cast::<S>();
        parameters.values_of_mut(name).copy_from_slice(given.flat());
    }
    let found = Activations::of(&config, &parameters, matrix(&oracle["X"]).cast(), &vec![true; config.heads]);
    let expected = &oracle[case];
    for (h, head) in found.heads.iter().enumerate() {
        let weights = matrix(&expected["heads"][h]["weights"]);
        let mix = matrix(&expected["heads"][h]["mix"]);
        assert_close(&format!("{case} weights[{h}]"), head.weights.cast::<f64>().flat(), weights.flat(), tolerance);
        assert_close(&format!("{case} mix[{h}]"), head.mix.cast::<f64>().flat(), mix.flat(), tolerance);
    }
    let output = matrix(&expected["output"]);
    assert_close(&format!("{case} output"), found.output.cast::<f64>().flat(), output.flat(), tolerance);
}

#[test]
fn attention_agrees_in_double_precision() {
    check_attention::<f64>("plain", false, false, EXACT);
    check_attention::<f64>("causal", true, true, EXACT);
}

#[test]
fn attention_agrees_in_single_precision() {
    check_attention::<f32>("plain", false, false, SINGLE);
    check_attention::<f32>("causal", true, true, SINGLE);
}

#[test]
fn cross_entropy_agrees() {
    let oracle = values();
    let case = &oracle["cross_entropy"];
    let logits = vector(&case["logits"]);
    let mut probabilities = vec![0.0; logits.len()];
    let loss = cross_entropy_forward(&logits, number(&case["target"]) as usize, &mut probabilities);
    assert_close("loss", &[loss], &[number(&case["loss"])], EXACT);
}

#[test]
fn adam_agrees_over_three_updates() {
    let oracle = values();
    let case = &oracle["adam"];
    let start = vector(&case["start"]);
    let mut parameters = Parameters::<f64>::zeros(&[(TensorName::OutputBias, 1, start.len())]);
    parameters.flat_mut().copy_from_slice(&start);
    let mut adam = Optimiser::new(OptimiserConfig::adam(0.01), &parameters);
    let mut gradient = parameters.zeros_like();
    for step in case["gradients"].as_array().expect("a list") {
        gradient.flat_mut().copy_from_slice(&vector(step));
        adam.update(&mut parameters, &gradient);
    }
    assert_close("parameters", parameters.flat(), &vector(&case["end"]), EXACT);
}

fn check_word2vec<S: attune::numerics::word2vec::Lanes>(tolerance: f64) {
    let oracle: Value = serde_json::from_str(include_str!("oracle/word2vec.json")).expect("the oracle's file is JSON");
    let words = |value: &Value| -> Vec<usize> { vector(value).into_iter().map(|x| x as usize).collect() };
    let mut tables = Tables::<S>::new(&matrix(&oracle["v"]).cast(), &matrix(&oracle["u"]).cast());
    for (i, step) in oracle["steps"].as_array().expect("a list").iter().enumerate() {
        let (inputs, targets) = (words(&step["inputs"]), words(&step["targets"]));
        let example = Example { inputs: &inputs, mean: step["mean"].as_bool().expect("a flag"), targets: &targets };
        let loss = tables.loss(example).to_f64();
        assert_close(&format!("loss {i}"), &[loss], &[number(&step["loss"])], tolerance);
        tables.descend(example, S::from_f64(number(&oracle["rate"])));
        let (v, u) = (tables.vectors().cast::<f64>(), tables.contexts().cast::<f64>());
        assert_close(&format!("v after step {i}"), v.flat(), matrix(&step["v"]).flat(), tolerance);
        assert_close(&format!("u after step {i}"), u.flat(), matrix(&step["u"]).flat(), tolerance);
    }
}

#[test]
fn word2vec_agrees_over_its_steps() {
    check_word2vec::<f64>(EXACT);
    check_word2vec::<f32>(SINGLE);
}

#[test]
fn principal_components_agree() {
    let oracle = values();
    let case = &oracle["pca"];
    let cloud = matrix(&case["cloud"]).cast::<f32>();
    let projection = Projection::principal_components(&cloud);
    let points = projection.points(&cloud).cast::<f64>();
    assert_close("points", points.flat(), matrix(&case["points"]).flat(), 1e-4);
    let explained = projection.explained().map(f64::from);
    assert_close("explained", &explained, &vector(&case["explained"]), SINGLE);
}

/// Worked examples that a learner can follow on paper.
#[test]
fn hand_made_scores_agree() {
    let check = |scores: &[f64], expected: &[f64]| {
        let mut weights = vec![0.0; scores.len()];
        softmax_forward(scores, &mut weights);
        assert_close("weights", &weights, expected, 5e-6);
    };
    check(&[6.0, 4.0], &[0.88080, 0.11920]);
    check(&[3.0, 2.0], &[0.73106, 0.26894]);
    check(&[0.14, 0.32, 0.50, 0.16, 0.17], &[0.17602, 0.21073, 0.25229, 0.17957, 0.18138]);
    check(&[1.0, 0.0, 1.0], &[0.42232, 0.15536, 0.42232]);
}
