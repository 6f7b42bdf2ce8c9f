//! The Meaning panel by its labels.

use std::sync::Arc;

use attune::app::panels::Panel;
use attune::app::panels::meaning::MeaningPanel;
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel};
use attune_engine::vectors::answers::Measure;
use attune_view::view_model::meaning::NeighboursModel;
use attune_view::view_model::saved_view::{MeaningView, SavedView};
use egui::Vec2;
use egui_kittest::kittest::Queryable;

use crate::common::lessons::small;
use crate::common::models::with_tokenizer;
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
    let near = &model.tokens[1].after.by(Measure::Distance)[0];
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

#[test]
fn neighbours_lists_the_words_that_the_sentence_shows_and_says_whose_they_are_of_one_that_is_cut() {
    const SIZE: Vec2 = Vec2::new(520.0, 640.0);
    let folder = with_tokenizer("bert-wild");
    let mut kernel = Kernel::embedded(Arc::new(attune_core::lesson::read(&folder.0).expect("a model")));
    kernel.apply(Command::Sentence(SentenceCommand::Set("The unrelated bankers of Zürich ate it".to_owned())));
    let mut panel = PanelHarness::new(kernel, SIZE, MeaningPanel::showing(MeaningView::Neighbours));
    let model = panel.model::<NeighboursModel>();
    let cut = model.words.iter().find(|word| word.label == "Zürich").expect("a word of several pieces");
    assert!(cut.pieces > 1 && model.words.len() < model.tokens.len());
    let note = format!("“Zürich” is cut into {} pieces.", cut.pieces);
    assert!(panel.query_by_label_contains(&note).is_none());
    click(&mut panel, "Zürich");
    assert_eq!(panel.view().selection.query, Some(cut.first));
    assert!(panel.query_by_label_contains(&note).is_some());
    panel.view_mut().highlight.pieces = true;
    panel.run_steps(2);
    assert!(panel.query_by_label("Zürich").is_none() && panel.query_by_label_contains(&note).is_none());
    let last = &model.tokens[cut.first + cut.pieces - 1].label;
    click(&mut panel, last);
    assert_eq!(panel.view().selection.query, Some(cut.first + cut.pieces - 1), "pieces are chosen as pieces");
}
