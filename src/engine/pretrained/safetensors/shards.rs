//! Models in several files: `model.safetensors.index.json` says which tensor lies in which.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::header::TENSORS_MAX;
use crate::pretrained::refusal::{Refusal, quoted};

/// Files of one model.
pub const SHARDS_MAX: usize = 512;

/// The index of a model in several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The files' names, each once.
    pub files: Vec<String>,
    /// The file of each tensor.
    pub tensors: BTreeMap<String, String>,
}

impl Index {
    /// # Errors
    /// If the text is no index, or names files that are not beside it.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        struct Written {
            weight_map: BTreeMap<String, String>,
        }

        const ADVICE: &str = "download the model's folder again";
        let written: Written = serde_json::from_str(text)
            .map_err(|error| Refusal::new(error.to_string(), "an index in JSON, with a `weight_map`", ADVICE))?;
        let tensors = written.weight_map;
        let files: BTreeSet<&String> = tensors.values().collect();
        let is_count_wrong = tensors.is_empty() || tensors.len() > TENSORS_MAX || files.len() > SHARDS_MAX;
        if is_count_wrong {
            let found = format!("{} tensors in {} files", tensors.len(), files.len());
            let expected = format!("1 to {TENSORS_MAX} tensors in at most {SHARDS_MAX} files");
            return Err(Refusal::new(found, expected, ADVICE));
        }
        if let Some((tensor, file)) = tensors.iter().find(|(_, file)| !is_beside(file)) {
            let found = format!("the file {}", quoted(file));
            let advice = "do not trust this folder: an index has no reason to name other places";
            return Err(
                Refusal::new(found, "the name of a .safetensors file beside the index", advice).of_tensor(tensor)
            );
        }
        let files = files.into_iter().cloned().collect();
        Ok(Self { files, tensors })
    }
}

/// A plain name of a file: no folder, no drive, nothing hidden.
fn is_beside(file: &str) -> bool {
    const NAME_BYTES_MAX: usize = 200;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    file.len() <= NAME_BYTES_MAX
        && file.ends_with(".safetensors")
        && !file.starts_with('.')
        && file.chars().all(is_plain)
}
