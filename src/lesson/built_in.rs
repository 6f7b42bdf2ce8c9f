//! The course that is in the program itself: for wherever there is no folder of lessons.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::course::{EXTENSION, FOLDER};
use crate::whole_file;

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../lessons/", $name)))),+]
    };
}

/// Names and texts: the lessons, and their glossary.
const FILES: &[(&str, &str)] = files![
    "apple.ron",
    "bank.ron",
    "cross_attention.ron",
    "dot_product.ron",
    "glossary.ron",
    "heads.ron",
    "idiom.ron",
    "it.ron",
    "masks.ron",
    "next_word.ron",
    "qkv.ron",
    "scaling.ron",
    "words.ron",
];

/// Whether the course has a lesson's file of this name, without the ending.
pub fn has(name: &str) -> bool {
    FILES.iter().any(|(file, _)| file.strip_suffix(EXTENSION).and_then(|file| file.strip_suffix('.')) == Some(name))
}

/// Puts the course into a folder of its own within `root`, and gives that folder. What is there already as it should be
/// stays untouched; what was changed is put back.
///
/// # Errors
/// If a file cannot be written.
pub fn put_into(root: &Path) -> io::Result<PathBuf> {
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder)?;
    for (name, text) in FILES {
        let file = folder.join(name);
        if fs::read(&file).ok().as_deref() != Some(text.as_bytes()) {
            whole_file::write(&file, text.as_bytes())?;
        }
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_every_file_of_the_course() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
        let entries = fs::read_dir(folder).expect("the lessons").map(|entry| entry.expect("an entry").file_name());
        let mut there: Vec<String> = entries.filter_map(|name| name.into_string().ok()).collect();
        there.retain(|name| name.ends_with(EXTENSION));
        there.sort();
        assert_eq!(FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), there);
    }
}
