//! Reads the name of a pretrained model that a lesson is about: `model: Pretrained("org/name")`.

use std::path::{Component, Path, PathBuf};

use super::decode::text;
use super::issue::shorten;
use super::record::Record;
use super::source::Node;
use crate::pretrained::cache::{Environment, ModelName, find};
use crate::pretrained::folder::ModelFolder;

const NAME: &str = "Pretrained";

/// Whether a lesson's model is a pretrained one.
pub(super) fn is_pretrained(model: Node<'_>) -> bool {
    model.text.starts_with(NAME)
}

/// The model, opened; its weights are read later.
pub(super) fn read_pretrained(node: Node<'_>) -> Option<ModelFolder> {
    let mut record = Record::open(node, &[NAME])?;
    let folder = record.take_item("\"org/name\"", read_folder);
    record.finish();
    let (folder, node) = folder?;
    match ModelFolder::open(&folder) {
        Ok(model) => Some(model),
        Err(refusal) => node.issue(format!("model: {refusal}")).none(),
    }
}

/// A name in the Hugging Face cache, or `./` and a folder beside the lesson.
fn read_folder(node: Node<'_>) -> Option<(PathBuf, Node<'_>)> {
    let written = text(node)?;
    if let Some(beside) = written.strip_prefix("./") {
        let beside = Path::new(beside);
        // A lesson looks at nothing outside of its own folder.
        let is_within = beside.components().all(|part| matches!(part, Component::Normal(_)));
        return match is_within {
            true => Some((Path::new(node.issues.source.file).parent().unwrap_or(Path::new("")).join(beside), node)),
            false => wrong_name(node, &written),
        };
    }
    let Some(name) = ModelName::new(&written) else { return wrong_name(node, &written) };
    match find(&name, &Environment::of_process()) {
        Ok(folder) => Some((folder, node)),
        Err(absent) => node.issue(absent.to_string()).none(),
    }
}

fn wrong_name<T>(node: Node<'_>, written: &str) -> Option<T> {
    node.issue(format!("model: \"{}\" is no name of a model", shorten(written)))
        .expected("a name such as sentence-transformers/all-MiniLM-L6-v2, or ./ and a folder beside the lesson")
        .none()
}
