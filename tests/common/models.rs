//! The small pretrained models of `tests/fixtures/pretrained`.

use std::fs;
use std::path::PathBuf;

use super::folder::Folder;

/// A file or a folder of theirs.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pretrained").join(name)
}

/// A fixture with its tokenizer.
pub fn with_tokenizer(name: &str) -> Folder {
    let folder = Folder::new(&format!("opened-{name}"));
    let tokenizer = fixture(&format!("{}_tokenizer.json", name.split('-').next().unwrap_or(name)));
    for file in ["config.json", "model.safetensors"] {
        fs::copy(fixture(name).join(file), folder.join(file)).expect("a copy");
    }
    fs::copy(tokenizer, folder.join("tokenizer.json")).expect("a copy");
    folder
}
