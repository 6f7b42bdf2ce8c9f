//! The Meaning panel by its labels.

use attune::app::panels::Panel;
use attune::app::panels::meaning::MeaningPanel;
use attune::kernel::Command;
use attune::kernel::command::SentenceCommand;
use attune::view_model::neighbours::{Measure, NeighboursModel};
use attune::view_model::saved_view::{MeaningView, SavedView};
use egui::Vec2;
use egui_kittest::kittest::Queryable;

use crate::common::lessons::small;
use crate::live::PanelHarness;
use crate::pointer::click;

#[test]
fn a_neighbour_under_the_pointer_is_pointed_at_for_the_stage() {
    const NARROW: Vec2 = Vec2::new(320.0, 640.0);
    let mut panel = PanelHarness::new(small(), NARROW, MeaningPanel::default());
    let model = panel.model::<NeighboursModel>();
    click(&mut panel, "seal");
    let near = &model.tokens[1].after.by(Measure::Cosine)[0];
    let row = panel.get_by_label(&format!("Contextual: {} {:.4}", near.word, near.cosine)).rect();
    assert!(row.right() <= NARROW.x, "the second list ends at {} of {}", row.right(), NARROW.x);
    panel.hover_at(row.center());
    panel.run_steps(3);
    assert_eq!(panel.view().hover.word(), Some(near.word.as_str()));
    click(&mut panel, "Euclidean");
    let near = &model.tokens[1].after.by(Measure::Euclidean)[0];
    assert!(panel.query_by_label(&format!("Contextual: {} {:.4}", near.word, near.distance)).is_some());
}

#[test]
fn a_comparison_that_was_there_leaves_the_kept_view_in_front() {
    const SIZE: Vec2 = Vec2::new(420.0, 640.0);
    let compared = || {
        let mut kernel = small();
        kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some("a seal is happy".to_owned()))));
        kernel
    };
    let view = |panel: MeaningPanel| PanelHarness::new(compared(), SIZE, panel).panel().view;
    assert_eq!(view(MeaningPanel::default()), MeaningView::Sentences, "a comparison that begins is shown");
    let mut saved = SavedView::default();
    MeaningPanel::showing(MeaningView::Neighbours).save(&mut saved);
    let mut restored = MeaningPanel::default();
    restored.restore(&saved);
    assert_eq!(view(restored), MeaningView::Neighbours);
}
