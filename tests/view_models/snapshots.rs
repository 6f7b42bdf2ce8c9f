//! Some panels' view models of the small lesson, as text.

use std::fmt::Write;

use attune_core::kernel::Command;
use attune_core::kernel::command::{Reference, TrainingCommand};
use attune_engine::numerics::params::TensorName;
use attune_view::explain::walk::{Focus, WalkModel};
use attune_view::panels::{PANELS, key, sheets};
use attune_view::sheet::text::text;
use attune_view::view_model::tensors::WeightsModel;

use crate::common::lessons::{after, set_weight, small};
use crate::common::snapshots::assert_kept;

#[test]
fn every_panel_that_is_a_sheet_is_said_in_words() {
    let panels = PANELS.map(|(panel, _)| panel);
    for (panel, sheet) in panels.iter().zip(sheets(&panels, &small().snapshot())) {
        assert_kept(&format!("tests/view_models/sheets/{}.txt", key(*panel)), &text(&sheet));
    }
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
