//! Undo and redo, many at once: what comes of them is what comes of each by itself, for the work of the last.

use std::iter::repeat_n;

use attune_core::kernel::command::{Axis, Reference};
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::{Command, Kernel, Worker};
use attune_core::lesson::Recipe;
use attune_engine::numerics::params::TensorName;

use super::{apply, bits, heads, lesson, model, retrain, shown, trained};
use crate::common::commands::{
    RESET, axis, beside, compare, of_cell, retraining, scrub, select, set, step, temperature, toggle,
};
use crate::common::waiting::wait_until;
use crate::counting::allocations;

/// As many as a learner presses within two seconds.
const MANY: usize = 60;

/// Each undoes by itself: two settings in turn.
fn recipes() -> impl Iterator<Item = Recipe> {
    (1..=MANY as u64).map(|i| Recipe {
        seed: Some(i / 2),
        heads: Some(if i.div_ceil(2) % 2 == 0 { 2 } else { 3 }),
        ..heads(3)
    })
}

fn retrained() -> Kernel {
    let mut kernel = trained();
    recipes().for_each(|recipe| retrain(&mut kernel, &recipe));
    kernel
}

fn turn(row: usize) -> Command {
    set(TensorName::ValueWeights, row, 0, 0.5)
}

/// Something of everything that undo takes back, between retrainings.
fn learned() -> Kernel {
    let mut kernel = trained();
    let between = [
        turn(0),
        compare(Reference::Start),
        select(1),
        axis(Axis::X, "stone", "duck"),
        temperature(0.5),
        of_cell("intro", CellCommand::Insert { kind: OwnKind::Text, is_above: false }),
        beside("the seal sank"),
        scrub(7),
        turn(1),
        RESET,
        toggle(1, 0),
    ];
    for (recipe, command) in recipes().zip(between) {
        retrain(&mut kernel, &recipe);
        apply(&mut kernel, command);
        assert_eq!(kernel.snapshot().notice, None);
    }
    kernel
}

/// All that a step through the history brings back.
fn said(snapshot: &Snapshot) -> String {
    let model = snapshot.model.as_ref().expect("a model");
    let texts = |tokens: &[attune_core::kernel::snapshot::sentence::Token]| {
        tokens.iter().map(|token| token.text.clone()).collect::<Vec<_>>()
    };
    let cells: Vec<_> = snapshot.notebook.cells.iter().map(|shown| shown.cell.clone()).collect();
    format!(
        "{:?}",
        (
            bits(snapshot),
            (&snapshot.notice, &snapshot.history, &model.recipe, &model.interventions),
            texts(model.sentence.chosen()),
            model.second.as_ref().map(|second| texts(second.other.chosen())),
            (model.comparison.as_ref().map(|comparison| comparison.with), &model.replaced),
            (model.training.look, model.training.progress, model.training.stopped, &model.training.changes),
            &model.training.checkpoints,
            &snapshot.space.as_ref().expect("a space").basis,
            cells,
        )
    )
}

#[test]
fn many_undos_bring_one_model_to_life() {
    let (mut one, mut all) = (retrained(), retrained());
    let of_one = allocations(|| one.apply(Command::Undo));
    let of_all = allocations(|| all.apply_all(repeat_n(Command::Undo, MANY)));
    assert!(of_all < 2 * of_one, "{of_all} allocations for {MANY} undos, {of_one} for one");
    for _ in 1..MANY {
        one.apply(Command::Undo);
    }
    assert!(model(&all).recipe.is_default() && said(&all.snapshot()) == said(&one.snapshot()));
    let back = allocations(|| all.apply_all(repeat_n(Command::Redo, MANY)));
    assert!(back < 2 * of_one, "{back} allocations for {MANY} redos, {of_one} for one");
    for _ in 0..MANY {
        one.apply(Command::Redo);
    }
    assert!(said(&all.snapshot()) == said(&one.snapshot()) && shown(&all) == shown(&retrained()));
}

#[test]
fn steps_at_once_lead_to_where_each_leads_by_itself() {
    let (mut one, mut all) = (learned(), learned());
    // Back and forth, beyond both ends too; and something else behind them.
    let (back, forth) = ("-".repeat(99), "+".repeat(99) + "--------");
    let ways = [
        ("-----", None),
        ("++---------+", None),
        (&back, None),
        (&forth, None),
        ("-++++------", Some(turn(2))),
        ("+---++", Some(step(3))),
    ];
    for (i, (way, last)) in ways.into_iter().enumerate() {
        let steps = way.chars().map(|sign| if sign == '-' { Command::Undo } else { Command::Redo }).chain(last);
        for step in steps.clone() {
            one.apply(step);
        }
        all.apply_all(steps);
        assert!(said(&all.snapshot()) == said(&one.snapshot()), "way {i}");
        one.settle();
        all.settle();
        assert!(said(&all.snapshot()) == said(&one.snapshot()), "after way {i}");
    }
}

#[test]
fn a_first_undo_gives_up_what_is_under_way() {
    let mut kernel = trained();
    retrain(&mut kernel, &heads(3));
    retrain(&mut kernel, &heads(2));
    kernel.apply(retraining(heads(1)));
    kernel.advance();
    kernel.apply_all([Command::Undo, Command::Undo].into_iter());
    assert!(!kernel.is_busy() && model(&kernel).recipe.is_default(), "one slider's moves are one undo");
}

#[test]
fn a_worker_takes_what_waits_as_one_way() {
    let worker = Worker::spawn(lesson(), || {});
    let is_at = |heads| worker.latest().model.as_ref().is_some_and(|model| model.recipe.heads == heads);
    wait_until("there is a model", || is_at(None));
    for count in [3, 1, 3] {
        worker.send(retraining(heads(count)));
        wait_until("it has that many heads", || is_at(Some(count)));
        worker.send(turn(count));
    }
    for command in repeat_n(Command::Undo, 6).chain([Command::Redo, turn(1), Command::Undo, Command::Undo]) {
        worker.send(command);
    }
    wait_until("all is done", || worker.is_answered());
    let history = &worker.latest().history;
    assert!(is_at(None) && history.undo.is_none() && history.redo.is_some(), "{history:?}");
}
