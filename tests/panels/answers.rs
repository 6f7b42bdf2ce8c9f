//! The Answers panel by label: a row is chosen, a number asked, words written.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use attune::app::panels::answers::{AnswersPanel, answers_ui};
use attune::app::view::ViewState;
use attune::kernel::{Kernel, Snapshot};
use attune::view_model::answers::AnswersModel;
use egui::Vec2;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::common::dressed::dressed;

fn next_word() -> Kernel {
    let text = include_str!("../fixtures/forms/next_word.ron");
    let lesson = attune::lesson::parse("answers.ron", text).unwrap_or_else(|issues| panic!("{issues:#?}"));
    Kernel::trained(Arc::new(lesson))
}

fn answers(snapshot: &Snapshot) -> AnswersModel {
    AnswersModel::of(snapshot, None).expect("a model")
}

const SIZE: Vec2 = Vec2::new(420.0, 700.0);

#[test]
fn a_row_is_chosen_a_number_asked_and_words_written() {
    let kernel = Rc::new(RefCell::new(next_word()));
    let shared = Rc::new(RefCell::new(ViewState::default()));
    let (inner, view) = (kernel.clone(), shared.clone());
    let mut state = AnswersPanel::default();
    let mut harness: Harness = dressed(SIZE, move |ui| {
        let model = answers(&inner.borrow().snapshot());
        if let Some(command) = answers_ui(ui, &model, &mut state, &mut view.borrow_mut().for_panels()) {
            inner.borrow_mut().apply(command);
        }
    });
    let first = answers(&kernel.borrow().snapshot()).rows.remove(0);
    harness.get_by_label_contains(&format!("Answers for {}, first", first.label)).click();
    harness.run_steps(3);
    assert_eq!(shared.borrow().selection.query, Some(0));
    let number = format!("{:.4}: where it comes from", first.answers[0].probability);
    harness.get_all_by_label(&number).next().expect("its number").click();
    harness.run_steps(3);
    assert_eq!(shared.borrow().trail.entry(), Some(first.answers[0].entry));
    harness.get_by_label("Write on").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Each time the likeliest word.").is_some());
}
