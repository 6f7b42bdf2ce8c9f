//! A pretrained model trained on further, from texts that a lesson has: `model: Pretrained(from: …, texts: …)`.

use std::sync::Arc;

use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson;
use attune_engine::numerics::params::TensorName;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::load;
use attune_view::export::checkpoint::Checkpoint;

use crate::common::folder::Folder;
use crate::opened::with_tokenizer;

fn lesson_with(folder: &Folder, fields: &str) -> String {
    let name = folder.0.file_name().expect("a name").display();
    format!(
        r#"Lesson(
            id: "further", title: "Further", seed: 3,
            model: Pretrained(from: "./{name}", {fields}),
            sentences: ["the seal sank"],
        )"#
    )
}

fn parsed(text: &str) -> Result<lesson::Lesson, String> {
    let file = std::env::temp_dir().join("further.ron");
    let issues = |all: Vec<lesson::LessonIssue>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    lesson::parse(&file.display().to_string(), text).map_err(issues)
}

const TEXTS: &str = r#"texts: ["the seal sank", "the apple fell from the tree", "the bank lent the money"]"#;

#[test]
fn a_model_begins_as_it_was_read_and_learns_from_there() {
    for (name, embedding) in [("bert-wild", false), ("bert-wild", true), ("gpt2-wild", false), ("gpt2-wild", true)] {
        let folder = with_tokenizer(name);
        let fields = format!("{TEXTS}, train_embedding: {embedding}, steps: 100, batch: 8, learning_rate: 0.01");
        let lesson = Arc::new(parsed(&lesson_with(&folder, &fields)).unwrap_or_else(|said| panic!("{said}")));
        let read = load(&folder.0, &mut |_| true).expect("a model");

        let start = Kernel::embedded(lesson.clone()).snapshot().model.expect("a model");
        assert_eq!(start.training.progress.of, 100);
        for spec in read.parameters.specs() {
            let of_file = read.parameters.row_major(spec.id);
            let is_there = start.parameters.spec(spec.id).is_some();
            let is_same = if is_there { start.parameters.row_major(spec.id) == of_file } else { is_zero(&of_file) };
            assert!(is_same, "{name}: {}", spec.id);
        }

        let mut kernel = Kernel::trained(lesson.clone());
        let snapshot = kernel.snapshot();
        let (space, model) = (snapshot.space.clone().expect("vectors"), snapshot.model.clone().expect("a model"));
        let losses: Vec<f32> = model.training.log.losses().collect();
        let mean = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
        let (first, last) = (mean(&losses[..10]), mean(&losses[90..]));
        assert!(last < 0.7 * first, "{name}, embedding {embedding}: from {first} to {last}");
        let has_table = model.parameters.spec(TensorName::Embedding).is_some();
        assert_eq!(has_table, embedding, "{name}");
        // The static vectors are those that the model reads: the file's, or the trained table.
        let trained = model.parameters.row_major(TensorName::Embedding);
        let of_file = read.embedding.widened();
        let table = if embedding { &*trained } else { of_file.flat() };
        assert!(space.vectors.widened().flat() == table, "{name}, embedding {embedding}: other static vectors");

        // A step that is looked back at is the same, bit for bit.
        kernel.apply(Command::Training(TrainingCommand::Scrub(0)));
        while kernel.is_busy() {
            kernel.advance();
        }
        assert_eq!(*kernel.snapshot().model.expect("a model").parameters, *start.parameters, "{name}");

        // Written, it is read back with the same bits, by its own tokenizer.
        let written = Folder::new("further");
        let target = Checkpoint::new(&lesson, &written.0).unwrap_or_else(|fault| panic!("{fault}"));
        target.write(&snapshot).unwrap_or_else(|fault| panic!("{fault}"));
        let again = load(&written.0, &mut |_| true).unwrap_or_else(|stopped| panic!("{name}: {stopped}"));
        for spec in again.parameters.specs() {
            let now = again.parameters.row_major(spec.id);
            let is_there = model.parameters.spec(spec.id).is_some();
            let is_same = if is_there { model.parameters.row_major(spec.id) == now } else { is_zero(&now) };
            assert!(is_same, "{name}: {}", spec.id);
        }
        let (opened, before) = [&written, &folder].map(|it| ModelFolder::open(&it.0).expect("a folder")).into();
        assert_eq!(opened.pieces("the seal").expect("pieces"), before.pieces("the seal").expect("pieces"));
    }
}

/// A bias that the family's files do not have.
fn is_zero(values: &[f32]) -> bool {
    values.iter().all(|x| *x == 0.0)
}

#[test]
fn what_a_model_cannot_learn_from_is_refused_at_its_place() {
    let folder = with_tokenizer("bert-wild");
    for (fields, words) in [
        ("texts: []", &["texts: none"][..]),
        (r#"texts: ["the seal", ""]"#, &["texts: a text of 2 pieces", "from 3 to 40 pieces"]),
        (&format!("texts: [\"{}\"]", "seal ".repeat(60)), &["from 3 to 40 pieces"]),
        (&format!("{TEXTS}, epochs: 3"), &["epochs"]),
        (&format!("{TEXTS}, steps: 100000, batch: 4096"), &["the training needs"]),
        ("steps: 3", &["texts"]),
    ] {
        let said = parsed(&lesson_with(&folder, fields)).expect_err("an issue");
        assert!(words.iter().all(|words| said.contains(words)), "{fields}: {said}");
    }

    let bare = with_tokenizer("bert-wild");
    std::fs::remove_file(bare.0.join("tokenizer.json")).expect("it was there");
    let said = parsed(&lesson_with(&bare, r#"texts: ["1 2 3"]"#)).expect_err("an issue");
    assert!(said.contains("has no tokenizer"), "{said}");
}
