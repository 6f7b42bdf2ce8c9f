//! Every form of attention and of blocks: `make_numpy.py`.

use attune_engine::numerics::Scalar;
use attune_engine::numerics::attention::{AttentionConfig, Mask, MaskTable};
use attune_engine::numerics::block::{Attends, BlockConfig};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::projection::Projection;
use attune_engine::numerics::shares::Shares;
use serde_json::Value;

use super::{EXACT, Fixture, SINGLE, assert_close, cast, fill, norm};
use crate::common::close::Tolerance;
use crate::common::numerics::json::{flag, list, matrix, maybe_size, number, parse, size};
use crate::common::numerics::one_block::{Input, forward, training_forward};
use crate::common::numerics::padding;

static FIXTURE: Fixture = Fixture::new(|| parse(include_str!("numpy.json")));

fn mask(name: &Value, visible: &Value) -> Mask {
    let visible = matrix(visible);
    let (queries, keys) = (visible.rows(), visible.cols());
    match name.as_str() {
        Some("none") => Mask::None,
        Some("causal") => Mask::Causal,
        Some("padding") => padding(queries, keys, keys - 1),
        _ => Mask::custom(MaskTable::from_fn(queries, keys, |query, key| visible.get(query, key) > 0.0)),
    }
}

fn config(case: &Value) -> BlockConfig {
    let given = &case["config"];
    BlockConfig {
        attends: if flag(&given["cross"]) { Attends::Source } else { Attends::OwnSentence },
        residual: flag(&given["residual"]),
        norm: norm(given),
        feed_forward: maybe_size(&case["hidden"]),
        ..BlockConfig::plain(AttentionConfig {
            width: matrix(&case["x"]).cols(),
            heads: size(&given["heads"]),
            key_width: size(&given["d_k"]),
            value_width: size(&given["d_v"]),
            projected: flag(&given["projected"]),
            output: flag(&given["output"]),
            bias: flag(&given["bias"]),
            output_bias: flag(&given["bias"]),
            scale: flag(&given["scale"]),
            temperature: number(&given["temperature"]),
            mask: mask(&given["mask"], &case["visible"]),
            ..AttentionConfig::parameter_free(matrix(&case["x"]).cols())
        })
    }
}

fn check<S: Scalar>(case: &Value, tolerance: Tolerance) {
    let config = config(case);
    let mut parameters = Parameters::<S>::zeros(&config.shapes(0));
    let given = case["parameters"].as_object().expect("tensors by name");
    fill(&mut parameters, given.len(), |id| &given[id.name.symbol()]);
    let mut input = Input::one(cast::<S>(&case["x"]));
    if config.attends_to_source() {
        input = input.with_source(cast(&case["z"]));
    }
    let found = forward(&config, &parameters, &input, &[]);
    for (head, expected) in list(&case["weights"]).iter().enumerate() {
        let shape = matrix(expected);
        let (_, weights) = found.attention.scores_and_weights(head, shape.rows(), shape.cols());
        assert_close(&format!("{}: weights {head}", case["name"]), weights.flat(), expected, tolerance);
    }
    // As a viewer sees it, and as training does it.
    for (way, found) in [("shown", found), ("trained", training_forward(&config, &parameters, &input))] {
        let name = format!("{}, {way}", case["name"]);
        assert_close(&format!("{name}: mix"), found.attention.mix.flat(), &case["mix"], tolerance);
        assert_close(&format!("{name}: output"), found.tail.output().flat(), &case["output"], tolerance);
    }
}

#[test]
fn every_form_agrees_in_double_precision() {
    list(&FIXTURE["cases"]).iter().for_each(|case| check::<f64>(case, EXACT));
}

#[test]
fn every_form_agrees_in_single_precision() {
    list(&FIXTURE["cases"]).iter().for_each(|case| check::<f32>(case, SINGLE));
}

#[test]
fn sinusoidal_positions_agree() {
    let expected = matrix(&FIXTURE["positions"]);
    let found = Positions::Sinusoidal.fixed::<f64>(expected.rows(), expected.cols()).expect("waves");
    assert_close("positions", found.flat(), &FIXTURE["positions"], EXACT);
}

#[test]
fn principal_components_agree() {
    let case = &FIXTURE["pca"];
    let cloud = cast::<f32>(&case["cloud"]);
    let projection = Projection::principal_components(&cloud);
    assert_close("points", projection.points(&cloud).flat(), &case["points"], SINGLE);
    let shares = Shares::of_variance(&projection, &cloud).expect("a cloud");
    assert_close("explained", &[0, 1, 2].map(|axis| shares.along(axis)), &case["explained"], SINGLE);
}
