//! Today's families of models: configs in both spellings, every tensor against other programs, mistakes that are easily
//! made, and files that are wrong.
//!
//! `oracle/make_modern.py` made the fixtures and their expected values with transformers, `oracle/make_numpy.py` the
//! rest.

#[path = "../common/engine.rs"]
mod common;

mod config;
mod generation;
mod hostile;
mod mistakes;
mod origins;
mod positions;
mod translators;
mod values;
mod variants;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

use common::folder::Folder;
use common::models::{fixture, read};
use common::{folder, models, snapshots};

/// The models of `tests/fixtures/pretrained` that have expected values.
const FIXTURES: [&str; 15] = [
    "llama-wild",
    "llama3-scaling",
    "qwen2-wild",
    "qwen3-wild",
    "mistral-window",
    "gemma2-wild",
    "gemma3-wild",
    "olmo2-wild",
    "phi3-wild",
    "neox-wild",
    "neo-wild",
    "phi-wild",
    "roberta-wild",
    "modernbert-wild",
    "distilbert-wild",
];

/// A config as transformers 5 writes it, and as the hub's older files have it.
const CONFIGS: [&str; 2] = ["config.json", "config_hub.json"];

/// The text of one of a fixture's files.
fn text(name: &str, file: &str) -> String {
    let path = fixture(name).join(file);
    fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The files of a fixture's weights.
fn weights(name: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(fixture(name)).expect("a fixture").map(|file| file.expect("a file").path());
    let is_weights = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("model"));
    files.filter(is_weights).collect()
}

/// A fixture with another config.
fn with_config(name: &str, config: &str) -> Folder {
    let folder = Folder::new("family");
    for file in weights(name) {
        fs::copy(&file, folder.join(file.file_name().expect("a name"))).expect("a copy");
    }
    fs::write(folder.join("config.json"), config).expect("written");
    folder
}

/// The lists of ids of a fixture, by name.
fn lists(name: &str) -> BTreeMap<String, Vec<usize>> {
    serde_json::from_str(&text(name, "ids.json")).expect("lists of ids")
}

/// All tensors of a file, widened.
fn tensors(path: &Path) -> BTreeMap<String, (Vec<usize>, Vec<f32>)> {
    let bytes = fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let file = SafeTensors::deserialize(&bytes).expect("tensors");
    let widened = |tensor: &TensorView<'_>| match tensor.dtype() {
        Dtype::F32 => tensor.data().as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect(),
        Dtype::BF16 => {
            let upper = tensor.data().as_chunks::<2>().0.iter().map(|&[low, high]| [0, 0, low, high]);
            upper.map(f32::from_le_bytes).collect()
        }
        other => panic!("{other:?}"),
    };
    file.iter().map(|(name, tensor)| (name.to_owned(), (tensor.shape().to_vec(), widened(&tensor)))).collect()
}

/// Writes numbers in single precision.
fn write(path: &Path, tensors: &BTreeMap<String, (Vec<usize>, Vec<f32>)>) {
    let bytes = |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let all: Vec<_> = tensors.iter().map(|(name, (shape, numbers))| (name, shape.clone(), bytes(numbers))).collect();
    let views = all
        .iter()
        .map(|(name, shape, bytes)| (*name, TensorView::new(Dtype::F32, shape.clone(), bytes).expect("a tensor")));
    fs::write(path, safetensors::serialize(views, None).expect("bytes")).expect("written");
}
