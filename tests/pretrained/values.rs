//! Every tensor of a forward pass against NumPy's in float64: `oracle/make.py`.

use std::collections::BTreeMap;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Sequences;
use attune_engine::numerics::model::activations::HeadActivations;
use attune_engine::pretrained::Pretrained;
use serde_json::Value;

use crate::common::close::Tolerance;
use crate::common::models::{pass, read};
use crate::common::numerics::json::{list, parse, size, sizes};
use crate::opened::ALL;

/// Between single precision and double; `mistakes` has what must be farther away.
pub const TOLERANCE: f32 = Tolerance::LIBRARY.part() as f32;

/// A sentence of the oracle: ids, the sentence of a pair that each is in, and every tensor.
pub struct Sentence {
    pub ids: Vec<usize>,
    pub types: Vec<usize>,
    pub tensors: BTreeMap<String, Vec<f32>>,
}

/// The oracle's sentences for a fixture.
pub fn sentences(name: &str) -> Vec<Sentence> {
    let (json, data) = match name {
        "bert-wild" => (include_str!("oracle/bert-wild.json"), &include_bytes!("oracle/bert-wild.f32")[..]),
        "bert-default" => (include_str!("oracle/bert-default.json"), &include_bytes!("oracle/bert-default.f32")[..]),
        "gpt2-wild" => (include_str!("oracle/gpt2-wild.json"), &include_bytes!("oracle/gpt2-wild.f32")[..]),
        "gpt2-default" => (include_str!("oracle/gpt2-default.json"), &include_bytes!("oracle/gpt2-default.f32")[..]),
        other => panic!("no oracle for {other}"),
    };
    let numbers: Vec<f32> = data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let tensor = |entry: &Value| {
        let count = sizes(&entry["shape"]).iter().product::<usize>();
        numbers[size(&entry["begin"])..][..count].to_vec()
    };
    let sentence = |value: &Value| Sentence {
        ids: sizes(&value["ids"]),
        types: sizes(&value["types"]),
        tensors: value["tensors"]
            .as_object()
            .expect("tensors")
            .iter()
            .map(|(key, it)| (key.clone(), tensor(it)))
            .collect(),
    };
    list(&parse(json)["sentences"]).iter().map(sentence).collect()
}

/// The same tensors as attune computes them, under the oracle's names.
pub fn tensors(model: &Pretrained, ids: &[usize], types: &[usize]) -> BTreeMap<String, Vec<f32>> {
    let run = pass(model, &Sequences::one(ids).with_segments(types.to_vec()));
    let mut found = BTreeMap::new();
    let mut put = |name: String, matrix: &Matrix<f32>| {
        found.insert(name, matrix.flat().to_vec());
    };
    put("input".to_owned(), &run.input);
    put("final".to_owned(), &run.output);
    put("logits".to_owned(), &model.model().logits_of(&model.parameters, &run.output));
    if let Some(embedded) = &run.embedded {
        put("embedded".to_owned(), embedded);
    }
    for (layer, block) in run.blocks.iter().enumerate() {
        put(format!("summed.{layer}"), &block.summed);
        put(format!("output.{layer}"), &block.output);
        let others = [("normed", &block.normed), ("attended", &block.attended), ("hidden", &block.hidden)];
        for (name, matrix) in others {
            if let Some(matrix) = matrix {
                put(format!("{name}.{layer}"), matrix);
            }
        }
    }
    type Pick = fn(&HeadActivations<f32>) -> &Matrix<f32>;
    let of_heads: [(&str, Pick); 6] = [
        ("q", |head| &head.query),
        ("k", |head| &head.key),
        ("v", |head| &head.value),
        ("scores", |head| &head.scores),
        ("weights", |head| &head.weights),
        ("mix", |head| &head.mix),
    ];
    for (layer, block) in run.blocks.iter().enumerate() {
        for (name, pick) in of_heads {
            let all = block.heads.iter().flat_map(|head| pick(head).flat().iter().copied()).collect();
            found.insert(format!("{name}.{layer}"), all);
        }
    }
    found
}

/// The largest difference between entries; where one is infinite, the other must be too.
#[track_caller]
pub fn difference(name: &str, found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len(), "{name}");
    let one = |(&found, &expected): (&f32, &f32)| if found == expected { 0.0 } else { (found - expected).abs() };
    found.iter().zip(expected).map(one).fold(0.0, |most: f32, it| if it <= most { most } else { it })
}

/// Whether a model computes what the oracle does for a fixture.
#[track_caller]
pub fn check(name: &str, model: &Pretrained) {
    for Sentence { ids, types, tensors: expected } in sentences(name) {
        let found = tensors(model, &ids, &types);
        for (key, expected) in &expected {
            let found = found.get(key).unwrap_or_else(|| panic!("{name}: attune has no {key}"));
            let worst = difference(key, found, expected);
            assert!(worst <= TOLERANCE, "{name}, {key} of {ids:?}: off by {worst:e}");
        }
        assert!(expected.len() >= 33, "{} tensors", expected.len());
    }
}

#[test]
fn every_tensor_is_that_of_numpy() {
    for name in ALL {
        let model = read(name);
        check(name, &model);
        assert!(model.has_head && model.origins.skipped.is_empty(), "{name}");
    }
}
