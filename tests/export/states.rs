//! A notebook leaves as it is: not run, half run, running, stale, in conflict, half trained.

use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, TrainingCommand};
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::notebook::snapshot::{CellSnapshot, CellStatus};
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::Lesson;
use attune_view::export::Pictures;
use attune_view::view_model::notebook::NotebookModel;

use crate::common::lessons;
use crate::{NOTEBOOK, apply, as_html, as_ipynb, as_md, cell, run};

const STALE: &str = "This cell, or something that it depends on, has changed since it ran.";

fn lesson() -> Arc<Lesson> {
    lessons::lesson(NOTEBOOK)
}

/// In every format, with its name.
fn pages(snapshot: &Snapshot) -> [(&'static str, String); 3] {
    let pictures = Pictures::default();
    let notebook = as_ipynb(snapshot, &pictures);
    [("html", as_html(snapshot, &pictures)), ("md", as_md(snapshot, &pictures)), ("ipynb", notebook.to_string())]
}

#[track_caller]
fn check(snapshot: &Snapshot, says: &[&str], says_not: &[&str]) {
    for (format, page) in pages(snapshot) {
        for said in says {
            assert!(page.contains(said), "{format} does not say {said:?}:\n{page}");
        }
        for said in says_not {
            assert!(!page.contains(said), "{format} says {said:?}:\n{page}");
        }
    }
}

/// The snapshot with one cell as it might stand at another moment.
fn with(mut snapshot: Snapshot, id: &str, change: impl FnOnce(&mut CellSnapshot)) -> Snapshot {
    let cells = &mut Arc::make_mut(&mut snapshot.notebook).cells;
    change(cells.iter_mut().find(|shown| *shown.cell.id == *id).expect("the cell is there"));
    snapshot
}

#[test]
fn nothing_is_trained_and_nothing_has_run() {
    let snapshot = Kernel::open(lesson(), None).snapshot();
    check(&snapshot, &["The model was not ready yet.", "twice", "How many heads?"], &[STALE, "There are two."]);
    assert_eq!(as_ipynb(&snapshot, &Pictures::default())["cells"][1]["execution_count"], serde_json::Value::Null);
}

#[test]
fn a_training_that_is_under_way_is_told() {
    let mut kernel = Kernel::new(lesson());
    kernel.apply(Command::Training(TrainingCommand::Play));
    while kernel.snapshot().model.is_none_or(|model| model.training.progress.done < 3) {
        kernel.advance();
    }
    let step = kernel.snapshot().model.expect("it is there").training.step_shown();
    check(&kernel.snapshot(), &[&format!("The model is shown as it was after step {step} of 20 of its training")], &[]);
}

#[test]
fn a_finished_training_is_told_only_when_the_model_was_changed() {
    let mut kernel = Kernel::trained(lesson());
    check(&kernel.snapshot(), &[], &["The model is"]);
    cell(&mut kernel, "sharp", CellCommand::Slide(0.5));
    check(&kernel.snapshot(), &["The model has been changed since its training."], &[]);
}

#[test]
fn a_half_run_notebook_shows_what_has_run() {
    let mut kernel = Kernel::trained(lesson());
    cell(&mut kernel, "double", CellCommand::Run);
    let notebook = as_ipynb(&kernel.snapshot(), &Pictures::default());
    let of = |id: &str| {
        let cells = notebook["cells"].as_array().expect("cells");
        cells.iter().find(|cell| cell["id"] == id).unwrap_or_else(|| panic!("no cell {id}"))
    };
    assert!(of("double")["execution_count"].is_u64() && of("reads")["execution_count"].is_null());
    assert_eq!(of("reads")["outputs"].as_array().map(Vec::len), Some(0));
}

#[test]
fn what_is_stale_says_so_and_keeps_the_names_it_ran_with() {
    let mut kernel = run(NOTEBOOK);
    cell(&mut kernel, "reads", CellCommand::SetText("let table = E;\ntable".into()));
    cell(&mut kernel, "reads", CellCommand::Run);
    let name = "<caption>table";
    assert!(as_html(&kernel.snapshot(), &Pictures::default()).contains(name), "the fixture");
    cell(&mut kernel, "reads", CellCommand::SetText("let unlike = E;\nunlike".into()));
    check(&kernel.snapshot(), &[STALE, "unlike"], &["let table"]);
    let page = as_html(&kernel.snapshot(), &Pictures::default());
    assert!(page.contains(name) && !page.contains("<caption>unlike"), "{page}");
}

#[test]
fn a_stale_answer_says_so_too() {
    let mut kernel = run(NOTEBOOK);
    cell(&mut kernel, "guess", CellCommand::Choose(1));
    cell(&mut kernel, "guess", CellCommand::Reveal);
    let snapshot = kernel.snapshot();
    check(&with(snapshot.clone(), "guess", |shown| shown.status = CellStatus::Fresh), &["There are two."], &[]);
    for shown in ["guess", "double"] {
        check(&with(snapshot.clone(), shown, |shown| shown.status = CellStatus::Stale), &[STALE], &[]);
    }
}

#[test]
fn an_answer_is_shown_with_the_reason_for_the_chosen_one_alone() {
    let reasons =
        r#"choices: ["one", "two"], reasons: ["Heads are counted *from 0*.", "So it is: {{ shape(A)[0] | .0 }}."],"#;
    let text = lessons::edited(NOTEBOOK, &[(r#"choices: ["one", "two"],"#, reasons)]);
    let mut kernel = Kernel::trained(lessons::lesson(&text));
    check(&kernel.snapshot(), &["How many heads?"], &["Heads are counted", "So it is"]);
    cell(&mut kernel, "guess", CellCommand::Choose(0));
    cell(&mut kernel, "guess", CellCommand::Reveal);
    check(&kernel.snapshot(), &["Heads are counted", "There are two."], &["So it is"]);
    let mut other = Kernel::trained(lessons::lesson(&text));
    cell(&mut other, "guess", CellCommand::Choose(1));
    cell(&mut other, "guess", CellCommand::Reveal);
    check(&other.snapshot(), &["So it is: 2."], &["Heads are counted"]);
}

#[test]
fn cells_that_run_or_wait_say_so() {
    let snapshot = run(NOTEBOOK).snapshot();
    let again = with(snapshot.clone(), "double", |shown| shown.status = CellStatus::Waiting);
    check(&again, &["This cell was running again; the outputs are from the run before."], &[]);
    let first = with(snapshot, "double", |shown| (shown.status, shown.run) = (CellStatus::Waiting, None));
    check(&first, &["This cell was still running."], &["run before"]);
}

#[test]
fn what_is_from_an_earlier_session_says_so() {
    let snapshot = with(run(NOTEBOOK).snapshot(), "double", |shown| {
        let run = Arc::make_mut(shown.run.as_mut().expect("it ran"));
        (run.is_from_before, shown.status) = (true, CellStatus::Stale);
    });
    check(&snapshot, &["This cell has not run in this session yet."], &[]);
}

#[test]
fn both_texts_of_a_conflict_are_there() {
    let mut snapshot = run(NOTEBOOK).snapshot();
    for (id, newer) in [("intro", "The *newer* <b>words</b>."), ("double", "let newer = 3;")] {
        snapshot = with(snapshot, id, |shown| Arc::make_mut(&mut shown.cell).conflict = Some(newer.into()));
    }
    check(&snapshot, &["The lesson has a newer text for this cell", "twice"], &["<b>words"]);
    let text = as_md(&snapshot, &Pictures::default());
    assert!(text.contains("The *newer* &lt;b>words") && text.contains("```rhai\nlet newer = 3;\n```"), "{text}");
}

#[test]
fn the_learners_own_cells_are_cells() {
    let mut kernel = run(NOTEBOOK);
    cell(&mut kernel, "double", CellCommand::Insert { kind: OwnKind::Text, is_above: false });
    cell(&mut kernel, "double", CellCommand::Insert { kind: OwnKind::Code, is_above: true });
    let own: Vec<_> = kernel.snapshot().notebook.cells.iter().filter(|shown| shown.cell.is_own).cloned().collect();
    let [code, text] = &own[..] else { panic!("{own:?}") };
    check(&kernel.snapshot(), &[], &["```rhai\n\n```"]);
    cell(&mut kernel, &text.cell.id, CellCommand::SetText("My *own* <script>words</script>.".into()));
    cell(&mut kernel, &code.cell.id, CellCommand::SetText("let mine = 41; mine + 1".into()));
    cell(&mut kernel, &code.cell.id, CellCommand::Run);
    apply(&mut kernel, NotebookCommand::Cell("double".into(), CellCommand::Delete));
    check(&kernel.snapshot(), &["mine", "42", "words"], &["<script", "twice(x)"]);
}

#[test]
fn a_mask_of_its_own_is_told() {
    let mut kernel = Kernel::trained(lesson());
    check(&kernel.snapshot(), &["mask = 0"], &["custom"]);
    kernel.apply(Command::Interventions(InterventionCommand::ToggleMask { query: 0, key: 1 }));
    kernel.settle();
    check(&kernel.snapshot(), &["mask = custom"], &["mask = 0", "mask = 1"]);
    let model = NotebookModel::of(&kernel.snapshot(), None);
    assert_eq!(model.cells[model.index("hide").expect("it is there")].turned, None);
}
