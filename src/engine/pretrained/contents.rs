//! Recognition of folders that have something else in place of a model's files: an adapter, weights in another format,
//! a part of a model.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::refusal::{Refusal, quoted};
use super::texts::{CONFIG, INDEX, MODULES, WEIGHTS, modules, text_if_there};

/// Config of an adapter, which changes the weights of another model.
const ADAPTER: &str = "adapter_config.json";
/// Largest size of such a config in bytes.
const ADAPTER_BYTES_MAX: u64 = 1 << 20;
/// Largest number of a folder's entries that are examined.
const ENTRIES_MAX: usize = 10_000;

const DOWNLOAD: &str = "download the whole folder";
const PICKLED: &str = "PyTorch's files can run programs when they are read, so attune does not read them; open the model in \
                       transformers and save it again with save_pretrained";
const SAFETENSORS: &str = "open the folder of the same model with model.safetensors";

/// Weights in other formats, by the end of their file names; the first match is named.
const OTHERS: [(&str, &str); 11] = [
    (".gguf", SAFETENSORS),
    (".ggml", SAFETENSORS),
    (".bin", PICKLED),
    (".pt", PICKLED),
    (".pth", PICKLED),
    (".ckpt", PICKLED),
    (".h5", SAFETENSORS),
    (".msgpack", SAFETENSORS),
    (".ckpt.index", SAFETENSORS),
    (".onnx", SAFETENSORS),
    (".mlmodel", SAFETENSORS),
];
/// Files that have these endings but are not weights.
const NO_WEIGHTS: [&str; 5] = ["training_args.bin", "optimizer.pt", "optimizer.bin", "scheduler.pt", "scaler.pt"];

/// Returns the refusal of a folder without a config.
pub(super) fn without_config(folder: &Path) -> Refusal {
    let expected = format!("a folder with {CONFIG} and {WEIGHTS}");
    in_place(folder).map_or_else(
        || Refusal::new(format!("no {CONFIG}"), &expected, DOWNLOAD),
        |(found, advice)| Refusal::new(found, &expected, advice),
    )
}

/// Returns the refusal of a folder without weights that attune reads.
pub(super) fn without_weights(folder: &Path) -> Refusal {
    let expected = format!("{WEIGHTS} or {INDEX}");
    in_place(folder).map_or_else(
        || Refusal::new("no weights in the folder", &expected, DOWNLOAD),
        |(found, advice)| Refusal::new(found, &expected, advice),
    )
}

/// Returns whether a folder has something that people take for a model. Files of vectors may have the ending of
/// PyTorch's weights.
pub(super) fn is_like_a_model(folder: &Path) -> bool {
    let is_of_vectors = |name: &String| name.ends_with(".bin") && !name.starts_with("pytorch_model");
    let names: Vec<String> = names(folder).into_iter().filter(|name| !is_of_vectors(name)).collect();
    [ADAPTER, MODULES].iter().any(|name| folder.join(name).is_file()) || in_other_format(&names).is_some()
}

/// Returns what a folder contains in place of a model, and advice on what to do; `None` if there is nothing to report.
fn in_place(folder: &Path) -> Option<(String, String)> {
    let names = names(folder);
    let has_weights = names.iter().any(|name| [WEIGHTS, INDEX].contains(&name.as_str()));
    let of_weights = || if has_weights { None } else { parts(&names).or_else(|| in_other_format(&names)) };
    adapter(folder).or_else(|| of_modules(folder)).or_else(of_weights)
}

fn adapter(folder: &Path) -> Option<(String, String)> {
    #[derive(Deserialize)]
    struct Adapter {
        base_model_name_or_path: Option<String>,
    }
    let text = text_if_there(folder, ADAPTER, ADAPTER_BYTES_MAX).ok()??;
    let base = serde_json::from_str::<Adapter>(&text).ok().and_then(|adapter| adapter.base_model_name_or_path);
    let base = base.filter(|name| !name.is_empty()).map_or_else(|| "another model".to_owned(), |name| quoted(&name));
    let found = format!("an adapter ({ADAPTER}), which changes the weights of {base}");
    let advice =
        format!("open {base} itself, or merge the two in Python with PEFT's merge_and_unload and save_pretrained");
    Some((found, advice))
}

/// Describes a sentence-transformers folder in which no module is a model.
fn of_modules(folder: &Path) -> Option<(String, String)> {
    let names: Vec<String> = modules(folder)?.iter().map(|module| quoted(&module.path)).collect();
    let found = format!("a folder of sentence-transformers with the modules {}", names.join(", "));
    Some((found, "download all of its folders; attune opens its transformer, or its table of words".to_owned()))
}

/// Describes safetensors under other names than those that are read.
fn parts(names: &[String]) -> Option<(String, String)> {
    let all: Vec<&String> = names.iter().filter(|name| name.ends_with(".safetensors")).collect();
    let first = all.first()?;
    let found = match all.len() {
        1 => format!("only {}", quoted(first)),
        count => format!("{} and {} more, and no {INDEX}", quoted(first), count - 1),
    };
    let advice = if all.len() > 1 || first.contains("-of-") {
        format!("download {INDEX} too, and all files that it names")
    } else {
        format!("if this file has all of the model's weights, name it {WEIGHTS}")
    };
    Some((found, advice))
}

fn in_other_format(names: &[String]) -> Option<(String, String)> {
    let has = |end: &str| names.iter().find(|name| name.ends_with(end) && !NO_WEIGHTS.contains(&name.as_str()));
    let (name, advice) = OTHERS.iter().find_map(|(end, advice)| Some((has(end)?, advice)))?;
    Some((format!("{} only", readable(name)), (*advice).to_owned()))
}

/// Returns a name of visible ASCII characters as it is, and any other name quoted.
fn readable(name: &str) -> String {
    let is_plain = name.chars().all(|sign| sign.is_ascii_graphic());
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
