//! Other values of config keys than the fixtures have, and families that have no fixture, against other programs in
//! double precision: `oracle/make_variants.py` and `oracle/make_transformers.py`.

use std::collections::BTreeMap;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Sequences;
use attune_engine::numerics::model::activations::HeadActivations;
use attune_engine::pretrained::load;
use serde::Deserialize;
use serde_json::Value;

use crate::common::close::{Tolerance, assert_close};
use crate::folder::Folder;
use crate::models::pass;
use crate::write;

#[derive(Deserialize)]
struct Variant {
    name: String,
    config: Value,
    shapes: BTreeMap<String, Vec<usize>>,
    ids: Vec<usize>,
    /// Scores that are masked are null.
    expected: BTreeMap<String, Vec<Option<f32>>>,
}

/// Entries from -1 to 1, by a hash of a tensor's name and their place.
fn number(name: &str, place: usize) -> f64 {
    let hash = name.bytes().fold(2_166_136_261u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    let mut z = hash.wrapping_add((place as u32).wrapping_mul(0x9e37_79b9));
    for (shift, factor) in [(16, 0x85eb_ca6b), (13, 0xc2b2_ae35u32)] {
        z = (z ^ (z >> shift)).wrapping_mul(factor);
    }
    f64::from((z ^ (z >> 16)) >> 8) / f64::from(1 << 23) - 1.0
}

impl Variant {
    /// Its folder, drawn by the places of its numbers.
    fn folder(&self) -> Folder {
        /// Large enough that every bias counts, small enough that single precision is near.
        const SPREAD: f64 = 0.3;
        let is_from_one = self.config["model_type"].as_str().is_some_and(|name| name.starts_with("gemma"));
        let tensor = |(name, shape): (&String, &Vec<usize>)| {
            let is_gain = shape.len() == 1 && name.ends_with(".weight") && !is_from_one;
            let middle = if is_gain { 1.0 } else { 0.0 };
            let numbers = (0..shape.iter().product()).map(|place| (number(name, place) * SPREAD + middle) as f32);
            (name.clone(), (shape.clone(), numbers.collect()))
        };
        let folder = Folder::new("variant");
        write(&folder.join("model.safetensors"), &self.shapes.iter().map(tensor).collect());
        std::fs::write(folder.join("config.json"), self.config.to_string()).expect("written");
        folder
    }
}

#[test]
fn other_values_of_keys_are_those_of_another_program() {
    let variants: Vec<Variant> = serde_json::from_str(include_str!("oracle/variants.json")).expect("variants");
    assert_eq!(variants.len(), 19);
    variants.iter().for_each(Variant::compare);
}

/// Families that only transformers computes, and what its classes of configs rewrite without a word.
#[test]
fn families_and_configs_are_as_transformers_has_them() {
    let models: Vec<Variant> = serde_json::from_str(include_str!("oracle/transformers.json")).expect("models");
    assert_eq!(models.len(), 23);
    models.iter().for_each(Variant::compare);
}

impl Variant {
    fn compare(&self) {
        let name = &self.name;
        let folder = self.folder();
        let model = load(&folder.0, &mut |_| true).unwrap_or_else(|said| panic!("{name}: {said}"));
        assert_eq!((model.has_head, &*model.origins.skipped), (true, &[][..]), "{name}");
        let run = pass(&model, &Sequences::one(&self.ids));
        let logits = model.model().logits_of(&model.parameters, &run.output);
        let last = run.blocks.last().expect("a layer");
        let of_heads = |pick: fn(&HeadActivations<f32>) -> &Matrix<f32>| {
            last.heads.iter().flat_map(|head| pick(head).flat()).copied().collect::<Vec<f32>>()
        };
        for (key, expected) in &self.expected {
            let found = match key.split('.').next() {
                Some("logits") => logits.flat().to_vec(),
                Some("hidden") => last.output.flat().to_vec(),
                Some("input") => run.blocks[run.blocks.len() - 2].output.flat().to_vec(),
                Some("weights") => of_heads(|head| &head.weights),
                _ => of_heads(|head| &head.scores),
            };
            let expected: Vec<f32> = expected.iter().map(|number| number.unwrap_or(f32::NEG_INFINITY)).collect();
            assert_close(format!("{name}: {key}"), found, expected, Tolerance::LIBRARY);
        }
    }
}
