//! The rules of nbformat 4.5's JSON schema, as assertions; `check_ipynb.py` asks Jupyter itself.

use std::collections::HashSet;

use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::OwnKind;
use attune_view::export::{Pictures, StagePicture};
use serde_json::Value;

use crate::{NOTEBOOK, as_ipynb, cell, run};

fn keys(value: &Value) -> HashSet<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value} is no object")).keys().map(String::as_str).collect()
}

#[track_caller]
fn check_keys(value: &Value, required: &[&str], optional: &[&str]) {
    let keys = keys(value);
    assert!(required.iter().all(|key| keys.contains(key)), "{keys:?} lack some of {required:?}");
    let known: HashSet<&str> = required.iter().chain(optional).copied().collect();
    assert!(keys.is_subset(&known), "{keys:?} are more than {known:?}");
}

fn check_lines(value: &Value) {
    let lines = value.as_array().expect("lines");
    for (i, line) in lines.iter().enumerate() {
        let line = line.as_str().expect("a line");
        assert_eq!(line.ends_with('\n'), i + 1 < lines.len() || line.ends_with('\n'));
        assert!(line.find('\n').is_none_or(|at| at + 1 == line.len()), "{line:?} is several");
    }
}

fn check_bundle(bundle: &Value) {
    for (mime, data) in bundle.as_object().expect("a bundle") {
        match mime.as_str() {
            "text/plain" | "text/html" | "image/svg+xml" => check_lines(data),
            "image/png" => assert!(data.as_str().is_some_and(|data| data.len() % 4 == 0), "Base64"),
            other => panic!("{other}"),
        }
    }
}

fn check(notebook: &Value) {
    check_keys(notebook, &["metadata", "nbformat", "nbformat_minor", "cells"], &[]);
    assert_eq!((notebook["nbformat"].as_u64(), notebook["nbformat_minor"].as_u64()), (Some(4), Some(5)));
    check_keys(&notebook["metadata"]["kernelspec"], &["name", "display_name"], &["language"]);
    assert!(notebook["metadata"]["language_info"]["name"] == "rhai");
    let mut ids = HashSet::new();
    for cell in notebook["cells"].as_array().expect("cells") {
        let id = cell["id"].as_str().expect("an id");
        assert!((1..=64).contains(&id.len()) && ids.insert(id), "{id:?}");
        assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')), "{id:?}");
        check_lines(&cell["source"]);
        match cell["cell_type"].as_str() {
            Some("markdown") => {
                check_keys(cell, &["id", "cell_type", "metadata", "source"], &["attachments"]);
                cell["attachments"].as_object().into_iter().flatten().for_each(|(_, bundle)| check_bundle(bundle));
            }
            Some("code") => {
                check_keys(cell, &["id", "cell_type", "metadata", "source", "outputs", "execution_count"], &[]);
                assert!(cell["execution_count"].is_null() || cell["execution_count"].as_u64().is_some());
                cell["outputs"].as_array().expect("outputs").iter().for_each(check_output);
            }
            other => panic!("{other:?}"),
        }
    }
}

fn check_output(output: &Value) {
    match output["output_type"].as_str() {
        Some("display_data") => {
            check_keys(output, &["output_type", "data", "metadata"], &[]);
            check_bundle(&output["data"]);
        }
        Some("stream") => {
            check_keys(output, &["output_type", "name", "text"], &[]);
            check_lines(&output["text"]);
        }
        Some("error") => {
            check_keys(output, &["output_type", "ename", "evalue", "traceback"], &[]);
            check_lines(&output["traceback"]);
        }
        other => panic!("{other:?}"),
    }
}

fn pictures() -> Pictures {
    let mut pictures = Pictures::default();
    pictures.add_stage("both", StagePicture { light: b"\x89PNG\r\n\x1a\n...".to_vec(), dark: None });
    pictures
}

#[test]
fn a_fresh_lesson_is_a_valid_notebook() {
    let notebook = as_ipynb(&run(NOTEBOOK).snapshot(), &pictures());
    check(&notebook);
    assert_eq!(notebook["metadata"]["attune"]["lesson"], "notebook");
    let text = notebook.to_string();
    assert!(!text.contains("There are two.") && !text.contains("(a + b) / 2"), "nothing is given away");
    assert!(text.contains("attachment:both-stage.png") && text.contains("Hint 1 of 2"));
}

#[test]
fn a_learners_notebook_is_one_too() {
    let mut kernel = run(NOTEBOOK);
    for (id, command) in [
        ("double", CellCommand::Insert { kind: OwnKind::Code, is_above: false }),
        ("own 1", CellCommand::SetText("let own = E[0, 0]; own".into())),
        ("own 1", CellCommand::Insert { kind: OwnKind::Text, is_above: true }),
        ("own 1", CellCommand::Run),
        ("guess", CellCommand::Choose(0)),
        ("guess", CellCommand::Reveal),
        ("middle", CellCommand::SetText("fn middle(a, b) { (a + b) / 2 }".into())),
        ("middle", CellCommand::Run),
        ("middle", CellCommand::Reveal),
        ("turn", CellCommand::Slide(3.0)),
    ] {
        cell(&mut kernel, id, command);
    }
    let notebook = as_ipynb(&kernel.snapshot(), &pictures());
    check(&notebook);
    let text = notebook.to_string();
    assert!(
        text.contains("There are two.") && text.contains("the model's answer") && text.contains("[x] one"),
        "{text}"
    );
    assert!(text.contains("Right.") && text.contains("A solution"), "{text}");
    assert!(text.contains("let own = E[0, 0]; own") && text.contains("much = 3"), "{text}");
}
