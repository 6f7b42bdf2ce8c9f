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

const GLOSSARY: &str = "glossary";

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

/// Ids of the course's lessons, which are the names of their files without the ending.
pub fn ids() -> impl Iterator<Item = &'static str> {
    let names = FILES.iter().filter_map(|(file, _)| file.strip_suffix(EXTENSION)?.strip_suffix('.'));
    names.filter(|name| *name != GLOSSARY)
}

/// Whether the course has a lesson of this id.
pub fn has(name: &str) -> bool {
    ids().any(|other| other == name)
}

/// Puts the course into a folder of its own within `root`, and gives that folder. What is there already as it should be
/// stays untouched; what was changed is kept beside it, as `apple.ron.changed`, and put back.
///
/// # Errors
/// If a file cannot be written.
pub fn put_into(root: &Path) -> io::Result<PathBuf> {
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder)?;
    for (name, text) in FILES {
        let file = folder.join(name);
        let there = fs::read(&file).ok();
        if there.as_deref() == Some(text.as_bytes()) {
            continue;
        }
        if let Some(changed) = there {
            whole_file::write(&folder.join(format!("{name}.changed")), &changed)?;
        }
        whole_file::write(&file, text.as_bytes())?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::load::parse;

    #[test]
    fn the_program_has_every_file_of_the_course() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
        let entries = fs::read_dir(folder).expect("the lessons").map(|entry| entry.expect("an entry").file_name());
        let mut there: Vec<String> = entries.filter_map(|name| name.into_string().ok()).collect();
        there.retain(|name| name.ends_with(EXTENSION));
        there.sort();
        assert_eq!(FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), there);
    }

    #[test]
    fn what_was_changed_is_kept_beside_what_is_put_back() {
        let root = std::env::temp_dir().join(format!("attune-built-in-{}", std::process::id()));
        let folder = put_into(&root).expect("it is written");
        fs::write(folder.join("apple.ron"), "mine").expect("a change");
        assert_eq!(put_into(&root).expect("it is put back"), folder);
        assert_eq!(fs::read(folder.join("apple.ron.changed")).expect("the change"), b"mine");
        assert!(crate::lesson::load::read(&folder.join("apple.ron")).is_ok());
        fs::remove_dir_all(root).expect("it was there");
    }

    #[test]
    fn a_lesson_s_file_has_the_name_of_its_id() {
        for id in ids() {
            let (file, text) = FILES.iter().find(|(file, _)| file.starts_with(id)).expect("a file");
            let lesson = parse(file, text).unwrap_or_else(|issues| panic!("{issues:?}"));
            assert_eq!(lesson.id, id);
        }
    }
}
