//! The lessons of `tests/fixtures`, and kernels that run them.

use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::command::WeightCommand;
use attune_core::kernel::notebook::NotebookCommand;
use attune_core::kernel::notebook::snapshot::CellSnapshot;
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::{Lesson, LessonIssue, parse};
use attune_engine::numerics::params::TensorName;

use super::top::at;

/// Two heads over nine words, with given groups, a slider cell and a claim.
pub const SMALL: &str = include_str!("../fixtures/small.ron");

/// Cells of every kind.
pub const NOTEBOOK: &str = include_str!("../fixtures/notebook.ron");

/// The main lesson of the course.
pub const APPLE: &str = include_str!("../../lessons/apple.ron");

/// A lesson of one word with two senses, and a list of its sentences.
pub const BANK: &str = include_str!("../../lessons/bank.ron");

/// A lesson without issues.
#[track_caller]
pub fn lesson(text: &str) -> Arc<Lesson> {
    Arc::new(parse("lesson.ron", text).unwrap_or_else(|issues| panic!("{issues:#?}")))
}

/// The lesson of a file of the repository, without issues.
#[track_caller]
pub fn of_file(path: impl AsRef<Path>) -> Lesson {
    attune_core::lesson::read(&at(path)).unwrap_or_else(|issues| panic!("{issues:#?}"))
}

/// All issues of a lesson's text, one on a line; `no issues` where there are none.
pub fn issues(text: &str) -> String {
    match parse("a.ron", text) {
        Ok(_) => "no issues".to_owned(),
        Err(issues) => issues.iter().map(LessonIssue::to_string).collect::<Vec<_>>().join("\n"),
    }
}

/// The text of a lesson with some parts of it replaced, each of which must stand in it.
#[track_caller]
pub fn edited(text: &str, parts: &[(&str, &str)]) -> String {
    parts.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from:?} does not stand in the lesson");
        text.replacen(from, to, 1)
    })
}

/// The small lesson with changes of its model to switch on.
pub fn with_switches() -> String {
    let switches = r#"switches: [
        Switch(name: "Two layers", tip: "Reads twice", model: Attention(layers: 2)),
        Switch(name: "No residual", model: Attention(residual: false)),
        Switch(name: "Keep places", model: Attention(keep: 0.5)),
    ],
    sentences: ["#;
    edited(SMALL, &[("sentences: [\"the", &format!("{switches}\"the"))])
}

/// The text of a lesson with these cells in place of its own.
#[track_caller]
pub fn with_cells(text: &str, cells: &str) -> String {
    let (before, rest) = text.split_once("    cells: [").expect("a list of cells");
    let (_, after) = rest.split_once("\n    ]").expect("the end of the list");
    format!("{before}    cells: [{cells}]{after}")
}

/// A lesson of four letters whose model has these fields too.
pub fn formed(model: &str) -> String {
    format!(
        r#"Lesson(
            id: "formed", title: "Formed", seed: 3,
            corpus: Sentences(["a b c d", "d c b a", "b a d c", "c d a b"]),
            static_embedding: SkipGram(dim: 6, epochs: 2),
            model: Attention(heads: 2, objective: NextWord, steps: 5, {model}),
            sentences: ["a b c a"],
        )"#
    )
}

/// The small lesson with a change.
#[track_caller]
pub fn changed(change: impl FnOnce(&mut Lesson)) -> Arc<Lesson> {
    let mut small = parse("small.ron", SMALL).expect("no issues");
    change(&mut small);
    Arc::new(small)
}

/// A kernel that has trained its lesson.
#[track_caller]
pub fn kernel(text: &str) -> Kernel {
    Kernel::trained(lesson(text))
}

/// A kernel that has trained the small lesson.
pub fn small() -> Kernel {
    kernel(SMALL)
}

/// A kernel that has trained a lesson of `tests/fixtures/forms`.
pub fn form(name: &str) -> Kernel {
    Kernel::trained(Arc::new(of_file(format!("tests/fixtures/forms/{name}.ron"))))
}

/// The lessons of `tests/fixtures/forms` by name, each with a kernel that has trained it.
pub fn forms() -> impl Iterator<Item = (String, Kernel)> {
    let files: Vec<_> = std::fs::read_dir(at("tests/fixtures/forms")).expect("the forms").flatten().collect();
    assert!(!files.is_empty(), "there is no form");
    let name =
        |file: std::fs::DirEntry| file.path().with_extension("").file_name().expect("a file").display().to_string();
    files.into_iter().map(name).map(|name| (name.clone(), form(&name)))
}

/// A kernel of the small lesson after some commands, and all that follows from them.
pub fn after(commands: &[Command]) -> Kernel {
    let mut kernel = small();
    commands.iter().for_each(|command| apply(&mut kernel, command.clone()));
    kernel
}

/// A kernel of the small lesson right after some commands, each of which can be done.
#[track_caller]
pub fn with(commands: &[Command]) -> Kernel {
    let mut kernel = small();
    for command in commands {
        kernel.apply(command.clone());
        assert_eq!(notice(&kernel), None, "{command:?}");
    }
    kernel
}

/// Applies a command and waits for all that follows from it.
pub fn apply(kernel: &mut Kernel, command: Command) {
    kernel.apply(command);
    kernel.settle();
}

pub fn run_all(kernel: &mut Kernel) {
    apply(kernel, Command::Notebook(NotebookCommand::RunAll));
}

/// The command that gives a weight another value.
pub fn set_weight(tensor: TensorName, row: usize, col: usize, value: f32) -> Command {
    Command::Weights(WeightCommand::Set { tensor: tensor.into(), row, col, value })
}

/// The model of a kernel that has one.
#[track_caller]
pub fn model(kernel: &Kernel) -> ModelSnapshot {
    kernel.snapshot().model.expect("a model")
}

/// All numbers that are shown, bit for bit.
pub fn bits(snapshot: &Snapshot) -> Vec<u32> {
    let (space, model) = (snapshot.space.as_ref().expect("a space"), snapshot.model.as_ref().expect("a model"));
    let sentence = &model.sentence;
    let log: Vec<f32> = model.training.log.losses().collect();
    let vectors = space.vectors.widened();
    let numbers = [
        vectors.flat(),
        space.points.flat(),
        model.parameters.flat(),
        sentence.start.flat(),
        sentence.activations.output.flat(),
        sentence.end.flat(),
        &log,
    ];
    numbers.concat().iter().map(|x| x.to_bits()).collect()
}

pub fn notice(kernel: &Kernel) -> Option<String> {
    kernel.snapshot().notice.as_deref().map(str::to_owned)
}

/// A cell by its id.
#[track_caller]
pub fn found(kernel: &Kernel, id: &str) -> CellSnapshot {
    let notebook = kernel.snapshot().notebook;
    notebook.cells.iter().find(|cell| *cell.cell.id == *id).unwrap_or_else(|| panic!("no cell {id}")).clone()
}

/// The ids of all cells, in their order.
pub fn ids(kernel: &Kernel) -> Vec<String> {
    kernel.snapshot().notebook.cells.iter().map(|cell| cell.cell.id.to_string()).collect()
}
