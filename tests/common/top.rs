//! The top folder of the repository, wherever the crate lies whose tests run.

use std::path::{Path, PathBuf};

/// The file or folder of the repository at this path.
pub fn at(path: impl AsRef<Path>) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let top = crate_folder.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
    top.expect("the lock file lies in the top folder").join(path)
}

/// The text of a file of the repository.
#[track_caller]
pub fn text(path: impl AsRef<Path>) -> String {
    let path = at(path);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}
