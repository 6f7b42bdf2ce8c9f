//! The Arithmetic panel by its labels.

use attune::app::panels::arithmetic::ArithmeticPanel;
use attune::view_model::path::{By, PathModel};
use attune::view_model::walk::{Focus, Step, WalkModel};
use egui::Vec2;
use egui_kittest::kittest::Queryable;

use crate::common::lessons::small;
use crate::live::PanelHarness;
use crate::pointer::click;

#[test]
fn the_walk_is_followed_word_by_word_head_by_head_and_step_by_step() {
    let mut panel = PanelHarness::new(small(), Vec2::new(520.0, 700.0), ArithmeticPanel);
    let snapshot = panel.snapshot();
    panel.view_mut().preferences.reduced_motion = true;
    assert!(panel.query_by_label_contains("Choose a word").is_some());
    click(&mut panel, "seal");
    click(&mut panel, "Head 2");
    assert_eq!((panel.view().selection.query, panel.view().selection.head), (Some(1), 1));
    for _ in 0..4 {
        click(&mut panel, "Step forward");
    }
    assert_eq!(panel.view().walk.step(), Step::Softmax);
    let walk = WalkModel::of(&snapshot, Focus { query: 1, head: 1, key: None }).expect("a walk");
    assert!(panel.query_by_label(&walk.step(Step::Softmax).said).is_some());
    for _ in 0..2 {
        click(&mut panel, "Step forward");
    }
    let path = PathModel::of(&snapshot, 1, 1, By::Word).expect("a path");
    assert!(panel.query_by_label(&path.why).is_some());
    click(&mut panel, "head");
    assert_eq!(panel.view().selection.by, By::Head);
    click(&mut panel, "Step back");
    assert_eq!(panel.view().walk.step(), Step::Mix);
}
