//! The notebook of PyTorch: run in Python, where there is torch, it must find attune's numbers, and a changed weight
//! must not.

use std::fs;
use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::course::CourseFile;
use attune_view::export::pytorch;
use serde_json::Value;

use crate::common::folder::Folder;
use crate::common::lessons::{self, form, forms, kernel};
use crate::common::models::fixture;
use crate::common::python::with_torch;
use crate::common::top::at;
use crate::course;

/// The script that runs notebooks.
const SCRIPT: &str = "tests/export/run_notebooks.py";
/// Folders of models that are small enough for a notebook, each with token ids.
const FOLDERS: [&str; 17] = [
    "bert-wild",
    "distilbert-wild",
    "gemma2-wild",
    "gemma3-wild",
    "gpt2-wild",
    "llama-wild",
    "llama3-scaling",
    "mistral-window",
    "modernbert-wild",
    "neo-wild",
    "neox-wild",
    "olmo2-wild",
    "phi-wild",
    "phi3-wild",
    "qwen2-wild",
    "qwen3-wild",
    "roberta-wild",
];

fn notebook(snapshot: &Snapshot) -> Value {
    let mut text = Vec::new();
    pytorch::write(snapshot, &mut text).unwrap_or_else(|error| panic!("{}: {error}", snapshot.lesson.id));
    serde_json::from_slice(&text).expect("JSON")
}

fn refusal(snapshot: &Snapshot) -> String {
    pytorch::write(snapshot, Vec::new()).expect_err("a refusal").to_string()
}

/// All code of a notebook.
fn code(notebook: &Value) -> String {
    let cells = notebook["cells"].as_array().expect("cells").iter().filter(|cell| cell["cell_type"] == "code");
    cells.flat_map(|cell| cell["source"].as_array().expect("lines")).filter_map(Value::as_str).collect()
}

/// Runs the notebooks of snapshots in Python; `None`, loudly, without torch.
fn run<'a>(snapshots: impl IntoIterator<Item = (String, &'a Snapshot)>, options: &[&str]) -> Option<()> {
    let mut python = with_torch()?;
    let folder = Folder::new("pytorch");
    let files: Vec<String> = snapshots
        .into_iter()
        .map(|(name, snapshot)| {
            let file = folder.file(&format!("{name}.ipynb"));
            fs::write(&file, notebook(snapshot).to_string()).expect("a file");
            file
        })
        .collect();
    assert!(!files.is_empty());
    let output = python.arg(at(SCRIPT)).args(options).args(&files).output().expect("Python starts");
    let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{}", printed.concat());
    Some(())
}

/// The sentences of a lesson, each shown in turn.
fn sentences(name: &str, mut kernel: Kernel) -> Vec<(String, Snapshot)> {
    let count = kernel.snapshot().lesson.sentences.len();
    let shown = (0..count).map(|index| {
        kernel.apply(Command::Sentence(SentenceCommand::Select(index)));
        kernel.settle();
        (format!("{name}-{index}"), kernel.snapshot())
    });
    shown.collect()
}

#[test]
fn the_notebook_of_every_lesson_of_the_course_finds_the_same_numbers_in_pytorch() {
    let of_lesson = |(file, kernel): (CourseFile, Kernel)| {
        let name = file.path.file_stem().expect("a name").display().to_string();
        sentences(&name, kernel)
    };
    let shown: Vec<_> = course().into_iter().flat_map(of_lesson).collect();
    run(shown.iter().map(|(name, snapshot)| (name.clone(), snapshot)), &[]);
}

#[test]
fn the_notebook_of_every_form_finds_the_same_numbers_and_a_changed_weight_is_found() {
    let shown: Vec<_> = forms().flat_map(|(name, kernel)| sentences(&name, kernel)).collect();
    run(shown.iter().map(|(name, snapshot)| (name.clone(), snapshot)), &[]);
    run(shown.iter().map(|(name, snapshot)| (name.clone(), snapshot)), &["--changed"]);
}

#[test]
fn the_notebook_of_a_model_s_folder_finds_the_same_numbers() {
    let shown = FOLDERS.map(|name| {
        let lesson = attune_core::lesson::read(&fixture(name)).unwrap_or_else(|issues| panic!("{name}: {issues:?}"));
        let mut kernel = Kernel::embedded(Arc::new(lesson));
        kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![3, 5, 2, 5, 7])));
        kernel.settle();
        (name.to_owned(), kernel.snapshot())
    });
    run(shown.iter().map(|(name, snapshot)| (name.clone(), snapshot)), &[]);
}

#[test]
fn a_lesson_gets_the_layer_of_pytorch_where_it_says_the_same_and_the_reason_where_not() {
    let said = |name: &str, library: &str| {
        let notebook = notebook(&form(name).snapshot());
        let has_layer = code(&notebook).contains("nn.MultiheadAttention(");
        assert_eq!(has_layer, library.is_empty(), "{name}");
        assert!(notebook.to_string().contains(library), "{name}: {library}");
    };
    said("encoder", "");
    said("translation", "");
    said("llama", "the heads are not as wide as");
    said("parameter_free", "without `W_Q`, `W_K` and `W_V`");
}

#[test]
fn the_code_has_only_what_the_model_has() {
    let of = |name: &str| code(&notebook(&form(name).snapshot()));
    let (llama, encoder) = (of("llama"), of("encoder"));
    assert!(llama.contains("rms_norm") && llama.contains("turn(Q") && !llama.contains("layer_norm"), "{llama}");
    assert!(
        encoder.contains("layer_norm") && !encoder.contains("turn(") && !encoder.contains("hidden |="),
        "{encoder}"
    );
    assert!([&llama, &encoder].iter().all(|code| !code.contains("#? ") && !code.contains("{norm")));
}

#[test]
fn hostile_words_stay_texts_in_the_code() {
    let hostile = "\\\"\"\"); import os #? {ids}";
    let text = lessons::SMALL.replacen(
        "title: \"",
        &format!("title: \"{} ", hostile.replace('\\', "\\\\").replace('"', "\\\"")),
        1,
    );
    let snapshot = kernel(&text).snapshot();
    let notebook = notebook(&snapshot);
    assert!(!code(&notebook).contains("import os"), "{}", code(&notebook));
    run([("hostile".to_owned(), &snapshot)], &[]);
}

#[test]
fn a_pass_that_was_changed_and_a_recording_are_refused() {
    let mut kernel = kernel(lessons::SMALL);
    kernel.apply(Command::Interventions(InterventionCommand::Solo(Some(0))));
    assert!(refusal(&kernel.snapshot()).contains("Intervene"));
    kernel.apply(Command::Interventions(InterventionCommand::Solo(None)));
    notebook(&kernel.snapshot());
}
