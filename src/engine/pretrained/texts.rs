//! The files of a model's folder by their names, and the reading of those that are texts.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

use serde::Deserialize;

use super::refusal::Refusal;
use crate::files;
use crate::foreign;

/// Names of the files in a model's folder.
pub const CONFIG: &str = "config.json";
pub const WEIGHTS: &str = "model.safetensors";
pub const INDEX: &str = "model.safetensors.index.json";
/// File that lists the modules of a sentence-transformers folder, each in a folder of its own.
pub const MODULES: &str = "modules.json";
/// Largest size of such a list in bytes.
const MODULES_BYTES_MAX: u64 = 1 << 20;

/// Names of a tokenizer's files: the complete one, and the settings that an older tokenizer needs.
pub const TOKENIZER: &str = "tokenizer.json";
pub const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
/// Names of the files of older tokenizers, those of BERT's family and of GPT-2's.
pub const PIECES: &str = "vocab.txt";
pub const IDS: &str = "vocab.json";
pub const MERGES: &str = "merges.txt";
pub const SPECIAL: &str = "special_tokens_map.json";
pub const ADDED: &str = "added_tokens.json";
/// Names of the files of SentencePiece: those for Marian's two sides, and T5's.
pub const SOURCE_SPM: &str = "source.spm";
pub const TARGET_SPM: &str = "target.spm";
pub const SPIECE: &str = "spiece.model";

/// Opens a regular file and returns its length.
///
/// # Errors
/// If it is missing, not a regular file, or cannot be opened.
pub fn plain(folder: &Path, name: &str) -> Result<(File, u64), Refusal> {
    let other = |found| Refusal::new(found, "a regular file", "download the whole folder").in_file(name);
    let unreadable = |error: Error| match error.kind() {
        ErrorKind::NotFound => {
            Refusal::new("no such file", "a file of this name in the model's folder", "download the whole folder")
                .in_file(name)
        }
        ErrorKind::IsADirectory => other("a folder"),
        ErrorKind::InvalidInput => other("a pipe or a device"),
        _ => Refusal::unreadable(&error).in_file(name),
    };
    files::open(&folder.join(name)).map_err(unreadable)
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// If it is missing, not a regular file, larger, or in another program's format.
fn bytes(folder: &Path, name: &str, most: u64) -> Result<Vec<u8>, Refusal> {
    let (file, bytes) = plain(folder, name)?;
    if bytes > most {
        let expected = format!("a file of at most {most} bytes");
        return Err(Refusal::new(format!("{bytes} bytes"), expected, "download the file again").in_file(name));
    }
    let head = files::head(&folder.join(name), foreign::HEAD_BYTES as u64).unwrap_or_default();
    if let Some(kind) = foreign::recognise(&head) {
        return Err(kind.refusal("text of a model").in_file(name));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|error| Refusal::unreadable(&error).in_file(name))?;
    Ok(bytes)
}

/// Reads a text file of at most `most` bytes, which may begin with a byte order mark.
///
/// # Errors
/// If it is missing, not a regular file, larger, in another program's format, or not UTF-8.
pub fn marked_text(folder: &Path, name: &str, most: u64) -> Result<String, Refusal> {
    String::from_utf8(bytes(folder, name, most)?).map_err(|_| unlike("bytes that are not UTF-8", name))
}

/// Reads a text file of at most `most` bytes.
///
/// # Errors
/// See [`marked_text`]; also if it is JSON after a byte order mark, which JSON does not allow.
pub fn text(folder: &Path, name: &str, most: u64) -> Result<String, Refusal> {
    let text = marked_text(folder, name, most)?;
    if text.as_bytes().starts_with(files::MARK) && name.ends_with(".json") {
        return Err(unlike("a byte order mark before the text", name));
    }
    Ok(text)
}

fn unlike(found: &str, name: &str) -> Refusal {
    Refusal::new(found, "text in UTF-8 without a byte order mark", "save the file so").in_file(name)
}

/// Reads a text file, or returns `None` if it is missing.
///
/// # Errors
/// See [`text`], except for a missing file.
pub fn text_if_there(folder: &Path, name: &str, most: u64) -> Result<Option<String>, Refusal> {
    if_there(folder, name, || text(folder, name, most))
}

/// Reads a file of any bytes, or returns `None` if it is missing.
///
/// # Errors
/// See [`text_if_there`], except for bytes that are not UTF-8.
pub fn bytes_if_there(folder: &Path, name: &str, most: u64) -> Result<Option<Vec<u8>>, Refusal> {
    if_there(folder, name, || bytes(folder, name, most))
}

fn if_there<T>(folder: &Path, name: &str, read: impl FnOnce() -> Result<T, Refusal>) -> Result<Option<T>, Refusal> {
    match fs::metadata(folder.join(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => read().map(Some),
    }
}

/// A module in the list of a sentence-transformers folder.
#[derive(Clone, Debug, Deserialize)]
pub struct Module {
    /// The module's folder; empty if its files are next to the list.
    pub path: String,
    #[serde(rename = "type")]
    class: String,
}

impl Module {
    /// Returns whether the module's class has this name, in any Python module.
    pub fn is(&self, class: &str) -> bool {
        self.class.rsplit('.').next() == Some(class)
    }
}

/// Returns the modules of a sentence-transformers folder; `None` if it has no list of them, or the list cannot be read.
pub fn modules(folder: &Path) -> Option<Vec<Module>> {
    let text = text_if_there(folder, MODULES, MODULES_BYTES_MAX).ok()??;
    serde_json::from_str(&text).ok()
}
