//! The names that lessons may give to controls are those that the window has.

use std::collections::BTreeSet;

use attune::app::actions::{ActionTable, NotebookAction, SentenceAction, StageAction, WindowAction};
use attune::app::panels::ids;
use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::lesson::controls::CONTROLS;
use attune_view::view_model::saved_view::{AnswersView, MeaningView, SavedView};
use egui::PointerButton;

use crate::keys::Bench;

/// Words of the menus and buttons of a table, without the dots of those that ask for more.
fn texts<A: ActionTable>() -> impl Iterator<Item = String> {
    A::ROWS.iter().map(|(_, row)| row.text.trim_end_matches(" …").to_owned())
}

/// What is written or said on the screen, with each panel open in each of its views.
fn names(bench: &mut Bench) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let meanings = [MeaningView::Neighbours, MeaningView::Sentences, MeaningView::Senses, MeaningView::Models];
    let answers = [AnswersView::Answers, AnswersView::Layers, AnswersView::Terms];
    for view in 0..meanings.len() {
        let saved = SavedView {
            step_as_matrices: view % 2 == 1,
            attention_as_lines: view % 2 == 1,
            meaning: Some(meanings[view]),
            answers: answers[view % answers.len()],
            ..SavedView::default()
        };
        bench.lay_out(saved);
        for panel in 0..ids().len() {
            bench.show_panel(panel);
            names.extend(on_screen(bench));
        }
    }
    names
}

/// What is on the screen; of "Check: middle" the control alone.
fn on_screen(bench: &Bench) -> Vec<String> {
    let control = |name: &str| name.split(": ").next().unwrap_or_default().trim_end_matches(" …").to_owned();
    bench.named().map(|(name, _)| control(name)).collect()
}

/// What is on the screen after a click on a control.
fn behind(bench: &mut Bench, panel: usize, name: &str) -> Vec<String> {
    bench.show_panel(panel);
    let at = bench.named().find(|(other, _)| *other == name).map(|(_, at)| at);
    bench.click(at.expect("it is on the screen"), PointerButton::Primary);
    bench.rest();
    on_screen(bench)
}

#[test]
fn every_control_that_a_text_may_name_is_in_the_window() {
    let mut there: BTreeSet<String> = texts::<WindowAction>().chain(texts::<StageAction>()).collect();
    there.extend(texts::<SentenceAction>().chain(texts::<NotebookAction>()));
    let mut lesson = Bench::open("controls-lesson");
    there.extend(names(&mut lesson));
    const TRAIN: usize = 7;
    there.extend(behind(&mut lesson, TRAIN, "Retrain"));
    lesson.show_panel(0);
    lesson.select("middle");
    there.extend(on_screen(&lesson));
    lesson.send(Command::Sentence(SentenceCommand::SetSecond(Some("the seal sank".to_owned()))));
    there.extend(names(&mut lesson));
    there.extend(names(&mut Bench::of_model("controls-model")));
    let missing: Vec<&str> = CONTROLS.iter().copied().filter(|name| !there.contains(*name)).collect();
    assert_eq!(missing, [""; 0], "not among {there:#?}");
}
