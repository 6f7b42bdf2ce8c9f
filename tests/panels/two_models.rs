//! Two models on one sentence by label: it comes to the front by itself, each has its picture, and the map is read by keys.

use std::sync::Arc;

use attune::app::panels::meaning::MeaningPanel;
use attune_core::kernel::{Kernel, Snapshot};
use attune_core::lesson::Lesson;
use egui::{Key, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{BANK, lesson};
use crate::live::PanelHarness;
use crate::pointer::click;

/// As the panel is in a window of 1280 by 720.
const SIZE: Vec2 = Vec2::new(360.0, 900.0);

fn bank(seed: u64) -> Kernel {
    Kernel::trained(Arc::new(Lesson { seed, title: format!("Bank {seed}"), ..Lesson::clone(&lesson(BANK)) }))
}

fn snapshot(kernel: &Kernel) -> Arc<Snapshot> {
    Arc::new(kernel.snapshot())
}

#[test]
fn both_models_have_their_pictures_and_their_answers() {
    let mut panel = PanelHarness::new(bank(1), SIZE, MeaningPanel::default());
    click(&mut panel, "Two models");
    let offered = ["Compare with the model that comes with attune", "Compare with another model …"];
    assert!(
        offered.iter().all(|label| panel.query_by_label(label).is_some()),
        "one click opens the model that is here"
    );
    click(&mut panel, "Neighbours");
    panel.put_beside(snapshot(&bank(2)));
    assert!(panel.query_by_label("Bank 1, and beside it Bank 2").is_some(), "the comparison comes to the front");
    for name in ["Bank 1", "Bank 2"] {
        let said = format!(" in {name}");
        let picture = panel.get_by_label_contains(&said);
        assert!(picture.rect().left() >= 0.0 && picture.rect().right() <= SIZE.x, "{name}: {}", picture.rect());
    }
    click(&mut panel, "Neighbours");
    assert!(panel.query_by_label("Bank 1, and beside it Bank 2").is_none(), "and can be left");
}

#[test]
fn the_map_of_layers_is_read_by_keys() {
    let mut panel = PanelHarness::new(bank(1), SIZE, MeaningPanel::default());
    panel.put_beside(snapshot(&bank(1)));
    let at = |panel: &PanelHarness<MeaningPanel>, cell: &str| {
        panel.query_by_label(&format!("How similar the layers are. {cell}: 1.00")).is_some()
    };
    assert!(at(&panel, "Layer 0 here, layer 0 beside it"));
    panel.get_by_label_contains("How similar the layers are").focus();
    panel.run_steps(2);
    for key in [Key::ArrowRight, Key::ArrowDown] {
        panel.key_press(key);
        panel.run_steps(2);
    }
    assert!(at(&panel, "Layer 1 here, layer 1 beside it"), "a model is like itself");
}
