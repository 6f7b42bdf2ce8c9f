//! Some panels' view models of the small lesson, as text.

use std::fmt::Write;
use std::sync::Arc;

use attune_core::kernel::Command;
use attune_core::kernel::command::{Reference, TrainingCommand};
use attune_engine::numerics::params::TensorName;
use attune_view::explain::walk::{Focus, WalkModel};
use attune_view::panels::{PANELS, key, made_once, sheets};
use attune_view::sheet::Chosen;
use attune_view::sheet::text::text;
use attune_view::view_model::Models;
use attune_view::view_model::tensors::WeightsModel;

use crate::common::lessons::{after, set_weight, small};
use crate::common::snapshots::assert_kept;

#[test]
fn every_panel_that_is_a_sheet_is_said_in_words() {
    let panels: Vec<_> = PANELS.iter().map(|(panel, _)| *panel).collect();
    for (panel, sheet) in panels.iter().zip(sheets(&panels, &small().snapshot())) {
        assert_kept(&format!("tests/view_models/sheets/{}.txt", key(*panel)), &text(&sheet));
    }
}

#[test]
fn a_sheet_is_made_once_and_lives_no_longer_than_its_snapshot() {
    let mut models = Models::of(Arc::new(small().snapshot()));
    let chosen = Chosen::default();
    let sheets: Vec<_> = PANELS
        .iter()
        .map(|(panel, _)| {
            let made = || made_once(*panel, &models, &chosen).expect("a sheet");
            assert!(Arc::ptr_eq(&made(), &made()), "{panel:?}");
            Arc::downgrade(&made())
        })
        .collect();
    // The models of the last snapshot are kept for reuse.
    (0..2).for_each(|_| models.show(Arc::new(small().snapshot())));
    assert!(sheets.iter().all(|sheet| sheet.upgrade().is_none()));
}

#[test]
fn the_weights_are_listed_with_what_was_turned_and_how_far_they_are_from_others() {
    let set = |row, col| set_weight(TensorName::QueryWeights, row, col, 0.5);
    let compare = Command::Training(TrainingCommand::Compare(Some(Reference::Start)));
    let model = WeightsModel::of(&after(&[set(0, 1), set(2, 3), compare]).snapshot()).expect("a model");
    let comparison = model.comparison.as_ref().expect("a comparison");
    let mut text =
        format!("step {}; {:.2} apart from the weights {}\n", model.step, comparison.overall, comparison.name);
    let mut tensors: Vec<_> = model.tensors.iter().collect();
    tensors.sort_by_key(|tensor| tensor.rank());
    for tensor in tensors {
        let shape = format!("{} × {}", tensor.rows, tensor.cols);
        let changes = format!("{} turned, {:.2} apart", tensor.changed, tensor.difference_norm);
        let _ = writeln!(text, "    {:12}{shape:10}{changes:24}{}", tensor.id.to_string(), tensor.meaning());
    }
    assert_kept("tests/view_models/weights.txt", &text);
}

#[test]
fn the_walk_of_a_word_is_said_step_by_step() {
    let walk = WalkModel::of(&small().snapshot(), Focus { query: 1, head: 1, key: None }).expect("a walk");
    let mut text = format!("{}: {} among {}\n", walk.head, walk.queries[1], walk.keys.join(" "));
    for step in &walk.steps {
        let _ = writeln!(text, "\n{:?}\n    {}\n    {}", step.step, step.equation, step.told());
        for row in &step.rows {
            let values: String = row.values.iter().map(|value| format!("{value:8.3}")).collect();
            let _ = writeln!(text, "    {:20}{:20}{values}", row.label, row.tensor);
        }
    }
    assert_kept("tests/view_models/walk.txt", &text);
}
