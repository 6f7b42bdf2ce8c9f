//! The Answers panel by label: a row is chosen, a number asked, words written.

use attune::app::panels::answers::AnswersPanel;
use attune::view_model::answers::AnswersModel;
use egui::Vec2;
use egui_kittest::kittest::Queryable;

use crate::common::lessons::form;
use crate::live::PanelHarness;
use crate::pointer::click;

const SIZE: Vec2 = Vec2::new(420.0, 700.0);

#[test]
fn a_row_is_chosen_a_number_asked_and_words_written() {
    let mut panel = PanelHarness::new(form("next_word"), SIZE, AnswersPanel::default());
    let first = panel.model::<AnswersModel>().rows[0].clone();
    panel.get_by_label_contains(&format!("Answers for {}, first", first.label)).click();
    panel.run_steps(3);
    assert_eq!(panel.view().selection.query, Some(0));
    let number = format!("{:.4}: where it comes from", first.answers[0].probability);
    panel.get_all_by_label(&number).next().expect("its number").click();
    panel.run_steps(3);
    assert_eq!(panel.view().trail.entry(), Some(first.answers[0].entry));
    click(&mut panel, "Write on");
    assert!(panel.query_by_label("Each time the likeliest word.").is_some());
}
