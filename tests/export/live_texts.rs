//! The numbers within texts, in every export: each is the one that the window shows when the cell is reached from the
//! top.

use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::notebook::live_text::LiveValues;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::code::Value;
use attune_view::export::{Pictures, live_page};

use crate::common::lessons::{kernel, with_cells};
use crate::{apply, as_html, as_ipynb, as_md, cell, course, text};

/// Texts above and below a cell that writes to the model, and one above that another cell then puts right.
const WRITES: &str = r#"
    Text(id: "above", md: "It is {{ A[0][0, 1] | .6 }}."),
    Code(id: "first", src: "let seen = A[0][0, 1];"),
    Text(id: "of-code", md: "It was {{ seen | .6 }}, and is {{ A[0][0, 1] | .6 }}."),
    Code(id: "writes", src: "temperature = 5.0;"),
    Text(id: "below", md: "Now it is {{ A[0][0, 1] | .6 }}, and was {{ seen | .6 }}."),
    Code(id: "weights", src: "W_Q[0, 0] = 2.5; temperature = 1.0;"),
    Text(id: "end", md: "At the end it is {{ A[0][0, 1] | .6 }}."),
"#;

/// The values of each text when the cells above it have run, one after the other, and those below have not.
fn reached(kernel: &mut Kernel) -> Vec<Option<Arc<LiveValues>>> {
    let cells = kernel.snapshot().notebook.cells.clone();
    let mut all = Vec::new();
    for (place, shown) in cells.iter().enumerate() {
        all.push(kernel.snapshot().notebook.cells[place].live.as_ref().and_then(|live| live.values.clone()));
        if shown.cell.is_code() {
            cell(kernel, &shown.cell.id, CellCommand::Run);
        }
    }
    all
}

/// A snapshot whose texts say what they said when they were reached.
fn as_reached(snapshot: &Snapshot, reached: &[Option<Arc<LiveValues>>]) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for (shown, values) in Arc::make_mut(&mut snapshot.notebook).cells.iter_mut().zip(reached) {
        if let Some(live) = &mut shown.live {
            (live.values, live.before_writes) = (values.clone(), None);
        }
    }
    snapshot
}

fn exports(snapshot: &Snapshot) -> [String; 4] {
    let pictures = Pictures::default();
    [
        as_md(snapshot, &pictures),
        as_html(snapshot, &pictures),
        as_ipynb(snapshot, &pictures).to_string(),
        text(|to| _ = live_page::write(snapshot, Some(snapshot), &pictures, None, to).expect("it is written")),
    ]
}

#[track_caller]
fn check(name: &str, trained: &Kernel) {
    let copy = || trained.copy(trained.snapshot().lesson);
    let (mut run, mut step) = (copy(), copy());
    step.settle();
    let reached = reached(&mut step);
    apply(&mut run, NotebookCommand::RunAll);
    let found = run.snapshot();
    for (export, (found, wanted)) in exports(&found).iter().zip(exports(&as_reached(&found, &reached))).enumerate() {
        let line = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
        assert_eq!(line, None, "{name}, export {export}");
    }
}

#[test]
fn every_export_has_the_numbers_of_the_course_where_its_texts_stand() {
    for (file, kernel) in course() {
        check(&file.id(), &kernel);
    }
}

/// The numbers of the texts, in place and as the window shows them now.
fn numbers(kernel: &Kernel) -> [Vec<f64>; 2] {
    let snapshot = kernel.snapshot();
    let lives = || snapshot.notebook.cells.iter().filter_map(|shown| shown.live.as_ref());
    let of = |values: &LiveValues| values.values.iter().map(number).collect::<Vec<_>>();
    fn number(value: &attune_core::kernel::notebook::live_text::LiveValue) -> f64 {
        match value.value {
            Ok(Value::Number { value, .. }) => value,
            _ => f64::NAN,
        }
    }
    let in_place = lives().flat_map(|live| of(live.in_place().expect("values")));
    let now = lives().flat_map(|live| of(live.values.as_ref().expect("values")));
    [in_place.collect(), now.collect()]
}

#[test]
fn a_text_above_a_cell_that_writes_keeps_its_number() {
    let lesson = with_cells(crate::common::lessons::SMALL, WRITES);
    let mut kernel = kernel(&lesson);
    check("writes", &kernel);
    let above = numbers(&kernel)[0][0];
    apply(&mut kernel, NotebookCommand::RunAll);
    let [in_place, now] = numbers(&kernel);
    assert_eq!(in_place[..3], [above; 3], "{in_place:?}");
    assert!(
        now[0] != above && now[0] == now[2] && in_place[3] != above && in_place[4] == above,
        "{in_place:?} {now:?}"
    );
    assert_eq!(in_place[5], now[5], "no cell below the last text writes");

    // The stage may show another sentence.
    kernel.apply(Command::Sentence(SentenceCommand::Select(1)));
    kernel.settle();
    assert_eq!(numbers(&kernel)[0][..3], [above; 3]);
    // What the learner changes is another model, of which the cells have said nothing.
    kernel.apply(Command::Interventions(InterventionCommand::SetTemperature(Some(0.2))));
    kernel.settle();
    let [in_place, now] = numbers(&kernel);
    assert_eq!(in_place, now);
}

#[test]
fn undoing_what_a_cell_wrote_leaves_the_texts_as_they_are_shown() {
    let mut kernel = kernel(&with_cells(crate::common::lessons::SMALL, WRITES));
    cell(&mut kernel, "writes", CellCommand::Run);
    let [in_place, now] = numbers(&kernel);
    assert!(in_place[0] != now[0], "{in_place:?}");
    kernel.apply(Command::Undo);
    kernel.settle();
    let [in_place, now] = numbers(&kernel);
    assert_eq!(in_place[0], now[0]);
}
