//! Configs and tensors that do not fit: each is refused, by its key or tensor and with what is supported, in the words
//! of `refusals.txt`.

use std::fs;

use attune_engine::pretrained::{Config, load};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, Value};

use crate::folder::Folder;
use crate::snapshots::assert_catalogue;
use crate::{fixture, text, weights};

/// The most bytes of a refusal.
const BYTES_MAX: usize = 1200;

/// The refusal of a fixture whose config has other values in some fields.
fn of_fields(name: &str, file: &str, change: &str) -> String {
    let mut config: Map<String, Value> = serde_json::from_str(&text(name, file)).expect("JSON");
    config.extend(serde_json::from_str::<Map<String, Value>>(change).expect("fields"));
    of_config(&Value::Object(config).to_string())
}

fn of_config(text: &str) -> String {
    Config::parse(text).err().unwrap_or_else(|| panic!("{text} is a model")).to_string()
}

/// The refusal of a fixture, one of whose tensors has another shape and as many zeros.
fn of_tensor(name: &str, tensor: &str, shape: &str) -> String {
    let shape: Vec<usize> = serde_json::from_str(shape).expect("a shape");
    let folder = Folder::new("hostile");
    fs::copy(fixture(name).join("config.json"), folder.join("config.json")).expect("a copy");
    let bytes = fs::read(&weights(name)[0]).expect("weights");
    let zeros = vec![0; shape.iter().product::<usize>() * 4];
    let file = SafeTensors::deserialize(&bytes).expect("tensors");
    let other = TensorView::new(Dtype::F32, shape.clone(), &zeros).expect("a tensor");
    let tensors = file.iter().filter(|(name, _)| *name != tensor).chain([(tensor, other)]);
    fs::write(folder.join("model.safetensors"), safetensors::serialize(tensors, None).expect("bytes"))
        .expect("written");
    load(&folder.0, &mut |_| true).err().unwrap_or_else(|| panic!("{name} opens with {tensor} {shape:?}")).to_string()
}

#[test]
fn what_makes_no_model_is_refused_by_its_name() {
    assert_catalogue("tests/families/refusals.txt", |heading, case| {
        let refusal = match heading.split_once(", ") {
            None => of_config(case),
            Some((name, "tensors")) => {
                let (tensor, shape) = case.split_once(' ').expect("a tensor and its shape");
                let refusal = of_tensor(name, tensor, shape);
                assert!(refusal.contains(tensor), "{name}, {tensor}: {refusal}");
                refusal
            }
            Some((name, file)) => of_fields(name, file, case),
        };
        assert!(refusal.len() < BYTES_MAX && !refusal.contains('\n'), "{heading}: {case}: {refusal}");
        refusal
    });
}

#[test]
fn a_config_of_deep_lists_is_refused() {
    let refusal = of_config(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)));
    assert!(refusal.len() < BYTES_MAX, "{refusal}");
}
