//! The built-in course, for use where there is no folder of lessons.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use attune_core::lesson::course::{EXTENSION, FOLDER};
use attune_core::whole_file;
use attune_engine::files;

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_bytes!(concat!("../lessons/", $name)))),+]
    };
}

const GLOSSARY: &str = "glossary";
/// The folder of the encoder model, within the folder of the course.
pub const MODEL: &str = "depth";

/// Names and contents of the course's files: the lessons, their glossary, and the models and vectors that some lessons
/// use.
const FILES: &[(&str, &[u8])] = files![
    "apple.ron",
    "assistant.ron",
    "bank.ron",
    "block.ron",
    "cross_attention.ron",
    "depth/config.json",
    "depth/model.safetensors",
    "depth/tokenizer.json",
    "depth/tokenizer_config.json",
    "dot_product.ron",
    "encoder.ron",
    "excerpt.vec",
    "frame/config.json",
    "frame/model.safetensors",
    "frame/tokenizer.json",
    "frame/tokenizer_config.json",
    "glossary.ron",
    "gradient.ron",
    "heads.ron",
    "idiom.ron",
    "induction.ron",
    "it.ron",
    "layers.ron",
    "masks.ron",
    "memory.ron",
    "next_word.ron",
    "now.ron",
    "order.ron",
    "pieces.ron",
    "qkv.ron",
    "questions.ron",
    "recall.ron",
    "scaling.ron",
    "test.ron",
    "the_transformer.ron",
    "translator/config.json",
    "translator/generation_config.json",
    "translator/model.safetensors",
    "translator/tokenizer.json",
    "translator/tokenizer_config.json",
    "words.ron",
    "writer.ron",
    "writer/config.json",
    "writer/model.safetensors",
    "writer/tokenizer.json",
    "writer/tokenizer_config.json",
];

/// Returns the ids of the course's lessons, which are their file names without the extension.
pub fn ids() -> impl Iterator<Item = &'static str> {
    let names = FILES.iter().filter_map(|(file, _)| file.strip_suffix(EXTENSION)?.strip_suffix('.'));
    names.filter(|name| *name != GLOSSARY)
}

/// Returns whether the course has a lesson with this id.
pub fn has(name: &str) -> bool {
    ids().any(|other| other == name)
}

/// Writes the course into a folder of its own within `root`, and returns that folder. A file that is already there with
/// the same content is left untouched; one that was changed is kept beside the original as `apple.ron.changed`.
///
/// # Errors
/// If a file cannot be written.
pub fn put_into(root: &Path) -> io::Result<PathBuf> {
    let folder = root.join(FOLDER);
    for (name, bytes) in FILES {
        let file = folder.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        if files::read(&file, bytes.len() as u64).is_ok_and(|there| there == *bytes) {
            continue;
        }
        match fs::rename(&file, folder.join(format!("{name}.changed"))) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        whole_file::write(&file, bytes)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use attune_core::lesson::load::parse;

    use super::*;

    #[test]
    fn the_program_has_every_file_of_the_course() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
        let names = |folder: &Path| {
            let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
            entries.filter_map(|name| name.into_string().ok()).collect::<Vec<String>>()
        };
        let mut there = names(&folder);
        there.retain(|name| name.contains('.') && !name.ends_with(".md"));
        for model in [MODEL, "frame", "translator", "writer"] {
            there.extend(names(&folder.join(model)).into_iter().map(|name| format!("{model}/{name}")));
        }
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
        assert!(attune_core::lesson::load::read(&folder.join("apple.ron")).is_ok());
        fs::remove_dir_all(root).expect("it was there");
    }

    #[test]
    fn a_lesson_s_file_has_the_name_of_its_id() {
        for id in ids() {
            let name = format!("{id}.{EXTENSION}");
            let (_, text) = FILES.iter().find(|(file, _)| **file == name).expect("a file");
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER).join(name).display().to_string();
            let text = std::str::from_utf8(text).expect("a text");
            let lesson = parse(&file, text).unwrap_or_else(|issues| panic!("{issues:?}"));
            assert_eq!(lesson.id, id);
        }
    }
}
