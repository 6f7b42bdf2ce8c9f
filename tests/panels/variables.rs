//! The Variables panel by its labels.

use std::sync::Arc;

use attune::app::panels::sheet::SheetPanel;
use attune_core::lesson::panels::PanelName;
use attune_engine::quantity::Quantity;
use attune_view::explain::Explanation;
use attune_view::view_model::tensors::{VariableValue, VariablesModel};
use egui::{PointerButton, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::lessons::small;
use crate::live::PanelHarness;
use crate::pointer::{click, press};

#[test]
fn a_variable_opens_as_a_table() {
    let mut panel = PanelHarness::new(small(), Vec2::new(420.0, 900.0), SheetPanel::of(PanelName::Variables));
    assert!(panel.query_by_label_contains("Table A").is_none());
    click(&mut panel, "A (2, 7, 7)");
    assert!(panel.query_by_label_contains("The attention weights of all heads").is_some());
    assert!(panel.query_by_label_contains("Table A").is_some());
    assert!(panel.query_by_label("Copy the table A, for a spreadsheet").is_some());
    let cells = panel.get_all_by_label_contains("Table A").next().expect("its cells").rect();
    press(&mut panel, cells.left_top() + Vec2::splat(2.0), PointerButton::Secondary);
    assert_eq!(panel.view().trail.entry(), Some(Quantity::Weight.of_head(0, [0, 0])));
}

#[test]
fn the_value_of_each_entry_of_a_variable_is_what_it_comes_from() {
    let snapshot = Arc::new(small().snapshot());
    let mut checked = 0;
    for variable in VariablesModel::of(&snapshot).all() {
        let VariableValue::Table(table) = &variable.value else { continue };
        for (part, row, col) in [(0, 0, 0), (table.parts() - 1, table.rows() - 1, table.cols() - 1)] {
            let Some(entry) = variable.entry([part, row, col]) else { continue };
            let told = Explanation::of(&snapshot, entry).unwrap_or_else(|| panic!("{} {entry:?}", variable.name));
            assert_eq!(f64::from(told.value), table.entry(part, row, col), "{} {entry:?}", variable.name);
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}
