//! Blocks in the forms of today's models against PyTorch: `make_today.py`.

use attune_engine::numerics::Scalar;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, Mask, QueryKeyNorm, Rotary, RotaryScaling, Window};
use attune_engine::numerics::block::{BlockConfig, Branches};
use attune_engine::numerics::norm::{NormForm, NormKind};
use serde_json::Value;

use super::torch::{assert_gradient, parameters};
use super::{EXACT, Fixture, SINGLE, assert_close, cast, norm};
use crate::common::close::Tolerance;
use crate::common::numerics::json::{flag, list, maybe_size, number, parse, size};
use crate::common::numerics::one_block::{Input, backward, output};

static FIXTURE: Fixture = Fixture::new(|| parse(include_str!("today.json")));

fn norm_form(case: &Value) -> NormForm {
    NormForm {
        kind: if case["norm_kind"] == "rms" { NormKind::Rms } else { NormKind::Layer },
        gain_from_one: flag(&case["gain_from_one"]),
        shift: flag(&case["shift"]),
        epsilon: number(&case["epsilon"]),
    }
}

fn attention(case: &Value) -> AttentionConfig {
    let width = size(&FIXTURE["width"]);
    let heads = size(&case["heads"]);
    let turn = |rotary: &Value| Rotary {
        theta: number(&rotary["theta"]),
        width: size(&rotary["width"]),
        scaling: RotaryScaling::None,
    };
    AttentionConfig {
        heads,
        group_size: heads / size(&case["key_value_heads"]),
        key_width: size(&case["key_width"]),
        value_width: size(&case["value_width"]),
        projected: true,
        output: true,
        bias: flag(&case["bias"]),
        output_bias: flag(&case["output_bias"]),
        query_key_norm: case["query_key_norm"].as_str().map(|norm| QueryKeyNorm {
            each_head: norm == "heads",
            form: NormForm { shift: false, ..norm_form(case) },
        }),
        rotary: Some(&case["rotary"]).filter(|rotary| !rotary.is_null()).map(turn),
        scale: flag(&case["scale"]),
        score_divisor: number(&case["score_divisor"]),
        score_cap: case["score_cap"].as_f64(),
        mask: if flag(&case["causal"]) { Mask::Causal } else { Mask::None },
        window: Window { before: maybe_size(&case["window"][0]), after: maybe_size(&case["window"][1]) },
        ..AttentionConfig::parameter_free(width)
    }
}

fn block(case: &Value) -> BlockConfig {
    BlockConfig {
        norm: norm(case),
        attention_norm: flag(&case["attention_norm"]),
        output_norms: flag(&case["output_norms"]),
        norm_form: norm_form(case),
        branches: match case["branches"].as_str() {
            Some("parallel") => Branches::Parallel,
            Some("parallel, one norm") => Branches::ParallelOneNorm,
            _ => Branches::Sequential,
        },
        feed_forward: maybe_size(&case["feed_forward"]),
        activation: match case["activation"].as_str() {
            Some("silu") => Activation::Silu,
            Some("gelu_tanh") => Activation::GeluTanh,
            _ => Activation::Gelu,
        },
        gated: flag(&case["gated"]),
        forward_bias: flag(&case["forward_bias"]),
        ..BlockConfig::plain(attention(case))
    }
}

fn check<S: Scalar>(case: &Value, tolerance: Tolerance) {
    let (config, name) = (block(case), &case["name"]);
    let parameters = parameters::<S>(&config, 0, &case["tensors"]);
    let input = Input::one(cast::<S>(&case["x"]));
    assert_close(&format!("{name}"), output(&config, &parameters, &input).flat(), &case["output"], tolerance);
    let found = backward(&config, &parameters, &input, &cast(&case["upstream"]));
    assert_close(&format!("{name}: d_x"), found.x.flat(), &case["d_x"], tolerance);
    assert_gradient(case, 0, &found.parameters, tolerance);
}

#[test]
fn blocks_of_todays_models_agree() {
    assert_eq!(list(&FIXTURE["cases"]).len(), 10);
    for case in list(&FIXTURE["cases"]) {
        check::<f64>(case, EXACT);
        check::<f32>(case, SINGLE);
    }
}
