//! Small recordings that a test makes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use attune_engine::pretrained::safetensors::write_with;
use serde_json::json;

use super::folder::Folder;

/// A recording of as many tokens, with other entries of the metadata.
pub fn recording(tokens: usize, entries: &[(&str, &str)], tensors: &[(&str, &[usize], Vec<f32>)]) -> (Folder, PathBuf) {
    let words: Vec<String> = (0..tokens).map(|token| format!("w{token}")).collect();
    let mut about = BTreeMap::from([
        ("attune".to_owned(), "recording 1".to_owned()),
        ("tokens".to_owned(), json!(words).to_string()),
    ]);
    about.extend(entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    let tensors = tensors.iter().map(|(name, shape, numbers)| ((*name).to_owned(), (*shape, &numbers[..]))).collect();
    let folder = Folder::new("made-recording");
    let path = folder.join("run.safetensors");
    let mut file = fs::File::create(&path).expect("a file");
    write_with(&about, &tensors, &mut file).expect("it is written");
    (folder, path)
}
