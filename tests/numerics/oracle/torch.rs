//! PyTorch's own layers, their gradients, and its optimisers: `make_torch.py`.

use attune_engine::numerics::attention::{AttentionConfig, Mask, MaskTable};
use attune_engine::numerics::block::{Attends, BlockConfig};
use attune_engine::numerics::norm::{NormCache, NormForm, norm_backward, norm_forward};
use attune_engine::numerics::optimiser::{Method, Optimiser, OptimiserConfig};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::softmax::{cross_entropy_backward, cross_entropy_forward};
use attune_engine::numerics::{Matrix, Scalar};
use serde_json::Value;

use super::{EXACT, Fixture, SINGLE, assert_close, cast, fill, largest, norm};
use crate::common::close::{self, Tolerance};
use crate::common::numerics::exact;
use crate::common::numerics::json::{list, matrix, maybe_size, number, parse, size, sizes, vector};
use crate::common::numerics::one_block::{Input, backward, output};

static FIXTURE: Fixture = Fixture::new(|| parse(include_str!("torch.json")));

fn layer() -> AttentionConfig {
    AttentionConfig::multi_head(size(&FIXTURE["width"]), size(&FIXTURE["heads"]))
}

/// The given tensors of a block in its shapes, of which none may be missing.
pub fn parameters<S: Scalar>(config: &BlockConfig, block: usize, tensors: &Value) -> Parameters<S> {
    let mut parameters = Parameters::zeros(&config.shapes(0));
    let given = list(tensors).iter().filter(|tensor| size(&tensor["block"]) == block).count();
    fill(&mut parameters, given, |id| &find(tensors, block, id.name)["value"]);
    parameters
}

pub fn find(tensors: &Value, block: usize, name: TensorName) -> &Value {
    let is_it = |t: &&Value| size(&t["block"]) == block && t["name"] == name.symbol();
    list(tensors).iter().find(is_it).unwrap_or_else(|| panic!("no {name:?} of block {block}"))
}

pub fn assert_gradient<S: Scalar>(case: &Value, block: usize, gradient: &Parameters<S>, tolerance: Tolerance) {
    for (spec, found) in gradient.tensors() {
        let of = |name| &find(&case["tensors"], block, name)["gradient"];
        let name = format!("{}: d_{} of block {block}", case["name"], spec.id);
        let scale = largest(&matrix(of(spec.id.name))).max(largest(&matrix(of(TensorName::KeyWeights))));
        if spec.id.name == TensorName::KeyBias && largest(&matrix(of(spec.id.name))) <= EXACT.part() * scale {
            // It adds the same to all scores of a query, which the softmax takes away again: rounding is left. Not so
            // where keys are turned.
            close::assert_close_beside(scale, name, exact(&found), vec![0.0; found.len()], tolerance);
        } else {
            assert_close(&name, &found, of(spec.id.name), tolerance);
        }
    }
}

fn check<S: Scalar>(case: &Value, tolerance: Tolerance) {
    let mut input = Input::one(cast::<S>(&case["x"]));
    let mut config = BlockConfig {
        norm: norm(case),
        feed_forward: maybe_size(&case["feed_forward"]),
        residual: case["residual"] == true,
        ..BlockConfig::plain(layer())
    };
    if case["mask"] == "causal" {
        config.attention.mask = Mask::Causal;
    }
    if !case["z"].is_null() {
        config.attends = Attends::Source;
        input = input.with_source(cast(&case["z"]));
    }
    let parameters = parameters::<S>(&config, 0, &case["tensors"]);
    let name = &case["name"];
    assert_close(&format!("{name}"), output(&config, &parameters, &input).flat(), &case["output"], tolerance);
    let found = backward(&config, &parameters, &input, &cast(&case["upstream"]));
    assert_close(&format!("{name}: d_x"), found.x.flat(), &case["d_x"], tolerance);
    if let Some(d_z) = found.source {
        assert_close(&format!("{name}: d_z"), d_z.flat(), &case["d_z"], tolerance);
    }
    assert_gradient(case, 0, &found.parameters, tolerance);
}

#[test]
fn attention_and_encoder_layers_agree() {
    for case in list(&FIXTURE["cases"]) {
        check::<f64>(case, EXACT);
        check::<f32>(case, SINGLE);
    }
}

/// A decoder layer is two of our blocks: self-attention, then cross-attention and the feed-forward layer.
fn check_decoder<S: Scalar>(case: &Value, tolerance: Tolerance) {
    let own = BlockConfig { norm: norm(case), ..BlockConfig::plain(AttentionConfig { mask: Mask::Causal, ..layer() }) };
    let feed_forward = Some(size(&case["feed_forward"]));
    let other = BlockConfig { attends: Attends::Source, norm: norm(case), feed_forward, ..BlockConfig::plain(layer()) };
    let [of_own, of_other] =
        [(&own, 0), (&other, 1)].map(|(config, block)| parameters::<S>(config, block, &case["tensors"]));
    assert_eq!(of_own.specs().len() + of_other.specs().len(), list(&case["tensors"]).len(), "all tensors are asked");
    let start = Input::one(cast::<S>(&case["x"]));
    let between = Input::one(output(&own, &of_own, &start)).with_source(cast(&case["z"]));
    let name = &case["name"];
    assert_close(&format!("{name}"), output(&other, &of_other, &between).flat(), &case["output"], tolerance);

    let after = backward(&other, &of_other, &between, &cast(&case["upstream"]));
    let before = backward(&own, &of_own, &start, &after.x);
    assert_close(&format!("{name}: d_x"), before.x.flat(), &case["d_x"], tolerance);
    assert_close(&format!("{name}: d_z"), after.source.expect("a source").flat(), &case["d_z"], tolerance);
    assert_gradient(case, 0, &before.parameters, tolerance);
    assert_gradient(case, 1, &after.parameters, tolerance);
}

#[test]
fn decoder_layers_agree() {
    for case in list(&FIXTURE["decoders"]) {
        check_decoder::<f64>(case, EXACT);
        check_decoder::<f32>(case, SINGLE);
    }
}

/// Queries, keys and values as given: word `i` is the unit vector `e_i`, so that a projection's rows
/// are the words' own, and its gradient is theirs.
#[test]
fn bare_attention_agrees() {
    for case in list(&FIXTURE["bare"]) {
        let (q, v) = (matrix(&case["q"]), matrix(&case["v"]));
        let tokens = q.rows();
        let mask = match case["name"].as_str() {
            Some("causal") => Mask::Causal,
            Some("holes") => Mask::custom(MaskTable::from_fn(tokens, tokens, |q, k| (2 * q + k) % 3 != 1)),
            _ => Mask::None,
        };
        let layer = AttentionConfig {
            key_width: q.cols(),
            value_width: v.cols(),
            projected: true,
            output: true,
            scale: case["name"] != "scale 1",
            mask,
            ..AttentionConfig::parameter_free(tokens)
        };
        let config = BlockConfig { residual: false, ..BlockConfig::plain(layer) };
        let mut parameters = Parameters::<f64>::zeros(&config.shapes(0));
        let roles = [
            (TensorName::QueryWeights, &case["q"], &case["d_q"]),
            (TensorName::KeyWeights, &case["k"], &case["d_k"]),
            (TensorName::ValueWeights, &case["v"], &case["d_v"]),
        ];
        for (name, value, _) in roles {
            parameters.values_of_mut(name).copy_from_slice(matrix(value).flat());
        }
        // W_O writes the values' columns into the first of the output's.
        let identity = |rows, cols| Matrix::from_fn(rows, cols, |i, j| f64::from(u8::from(i == j)));
        parameters.values_of_mut(TensorName::OutputWeights).copy_from_slice(identity(v.cols(), tokens).flat());
        let input = Input::one(identity(tokens, tokens));
        let y = output(&config, &parameters, &input).top_columns(tokens, &(0..v.cols()));
        assert_close(&format!("{}", case["name"]), y.flat(), &case["output"], EXACT);

        let upstream = matrix(&case["upstream"]);
        let d_y = Matrix::from_fn(tokens, tokens, |i, j| if j < v.cols() { upstream.get(i, j) } else { 0.0 });
        let found = backward(&config, &parameters, &input, &d_y).parameters;
        for (name, _, expected) in roles {
            assert_close(&format!("{}: {name:?}", case["name"]), found.values_of(name), expected, EXACT);
        }
    }
}

fn check_norm<S: Scalar>(tolerance: Tolerance) {
    let case = &FIXTURE["layer_norm"];
    let [x, gain, bias, upstream] = ["x", "gain", "bias", "upstream"].map(|name| cast::<S>(&case[name]));
    let mut cache = NormCache::new(x.rows(), x.cols());
    let mut y = x.clone();
    norm_forward(NormForm::LAYER, x.flat(), [gain.flat(), bias.flat()], &mut cache, y.flat_mut());
    assert_close("y", y.flat(), &case["output"], tolerance);
    let (mut d, mut d_gain, mut d_bias) = (upstream, gain.clone(), bias.clone());
    d_gain.flat_mut().fill(S::from_f64(0.0));
    d_bias.flat_mut().fill(S::from_f64(0.0));
    norm_backward(NormForm::LAYER, gain.flat(), &cache, d.flat_mut(), [d_gain.flat_mut(), d_bias.flat_mut()]);
    assert_close("d_x", d.flat(), &case["d_x"], tolerance);
    assert_close("d_γ", d_gain.flat(), &case["d_gain"], tolerance);
    assert_close("d_β", d_bias.flat(), &case["d_bias"], tolerance);
}

#[test]
fn layer_norm_agrees() {
    check_norm::<f64>(EXACT);
    // A row that hardly varies has lost its last digits to rounding before the norm sees it.
    check_norm::<f32>(Tolerance::SINGLE_NORMS);
}

#[test]
fn cross_entropy_agrees() {
    let case = &FIXTURE["cross_entropy"];
    let (mut logits, targets) = (matrix(&case["logits"]), sizes(&case["targets"]));
    let (classes, share) = (logits.cols(), 1.0 / targets.len() as f64);
    let loss = share * cross_entropy_forward(logits.flat_mut(), classes, targets.iter().copied());
    cross_entropy_backward(logits.flat_mut(), classes, targets.iter().copied(), share);
    assert_close("d_logits", logits.flat(), &case["d_logits"], EXACT);
    close::assert_close("the loss", loss, number(&case["loss"]), EXACT);
}

#[test]
fn optimisers_agree_step_by_step() {
    let sgd = |momentum| OptimiserConfig { method: Method::Sgd { momentum }, ..OptimiserConfig::adam(0.1) };
    for (name, config) in [
        ("adam", OptimiserConfig::adam(0.02)),
        ("adamw", OptimiserConfig { weight_decay: 0.1, ..OptimiserConfig::adam(0.02) }),
        ("sgd", sgd(0.0)),
        ("momentum", sgd(0.9)),
    ] {
        let case = &FIXTURE["optimisers"][name];
        let start = vector(&case["start"]);
        let mut parameters = Parameters::<f64>::zeros(&[(TensorName::OutputBias.into(), 1, start.len())]);
        parameters.flat_mut().copy_from_slice(&start);
        let mut optimiser = Optimiser::new(config, &parameters);
        let mut gradient = parameters.zeros_like();
        for (g, expected) in list(&case["gradients"]).iter().zip(list(&case["steps"])) {
            gradient.flat_mut().copy_from_slice(&vector(g));
            optimiser.update(&mut parameters, &gradient);
            assert_close(name, parameters.flat(), expected, EXACT);
        }
    }
}
