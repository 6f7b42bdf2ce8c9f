//! The menu's *Hand in* and *Share*, and the dialog: what the file says of the learner, found by its labels.

use std::cell::RefCell;
use std::rc::Rc;

use attune::app::actions::table::WorkChoice;
use attune::app::actions::{Action, FilePurpose, WindowAction};
use attune::app::shell::dialogs::{HandInUiState, hand_in_ui, share_ui};
use attune::app::workspace::top_bar::menu_ui;
use egui::accesskit::Toggled;
use egui::{Key, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::dressed::dressed;
use crate::pointer::click;

type Asked = Rc<RefCell<Vec<Action>>>;

/// The dialog as it opens, with what is asked of the window.
fn dialog<'a>(size: Vec2) -> (Harness<'a>, Asked) {
    let asked = Asked::default();
    let (inner, mut state) = (asked.clone(), Some(HandInUiState::default()));
    let harness = dressed(size, move |ui| inner.borrow_mut().extend(hand_in_ui(ui.ctx(), &mut state)));
    (harness, asked)
}

fn choice(asked: &Asked) -> Option<WorkChoice> {
    match &asked.borrow()[..] {
        [] => None,
        [Action::ChooseFile(FilePurpose::Work(choice))] => Some(choice.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_menu_hands_in_and_shares() {
    for (words, action) in [("Hand in …", WindowAction::HandIn), ("Share …", WindowAction::Share)] {
        let asked = Asked::default();
        let inner = asked.clone();
        let mut harness = dressed(Vec2::new(600.0, 480.0), move |ui| inner.borrow_mut().extend(menu_ui(ui)));
        click(&mut harness, "attune");
        harness.get_by_label_contains(words).click();
        harness.run_steps(4);
        assert_eq!(*asked.borrow(), [action.into()]);
    }
}

#[test]
fn a_work_says_nothing_of_the_learner_unless_they_want_it() {
    let (mut harness, asked) = dialog(Vec2::new(600.0, 400.0));
    let says = harness.get_by_label("Include how long I worked").accesskit_node().toggled();
    assert_eq!(says, Some(Toggled::False));
    click(&mut harness, "Choose a file …");
    assert_eq!(choice(&asked), Some(WorkChoice::HandIn { name: None, minutes: None }));
    assert!(harness.query_by_label("Name").is_none(), "it closes");
}

#[test]
fn a_name_is_typed_at_once_and_minutes_are_those_that_the_learner_writes() {
    let (mut harness, asked) = dialog(Vec2::new(600.0, 400.0));
    harness.event(egui::Event::Text("  Ada ".to_owned()));
    harness.run_steps(2);
    click(&mut harness, "Include how long I worked");
    harness.get_all_by_role(egui::accesskit::Role::SpinButton).next().expect("minutes").click();
    harness.run_steps(2);
    harness.event(egui::Event::Text("35".to_owned()));
    harness.run_steps(2);
    click(&mut harness, "Choose a file …");
    assert_eq!(choice(&asked), Some(WorkChoice::HandIn { name: Some("Ada".to_owned()), minutes: Some(35) }));

    // Enter goes on from the name.
    let (mut harness, asked) = dialog(Vec2::new(600.0, 400.0));
    harness.event(egui::Event::Text("Bo".to_owned()));
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(2);
    assert_eq!(choice(&asked), Some(WorkChoice::HandIn { name: Some("Bo".to_owned()), minutes: None }));
}

#[test]
fn escape_and_cancel_write_nothing() {
    let (mut harness, asked) = dialog(Vec2::new(600.0, 400.0));
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    assert!(harness.query_by_label("Name").is_none());
    let (mut other, other_asked) = dialog(Vec2::new(600.0, 400.0));
    click(&mut other, "Cancel");
    assert!(other.query_by_label("Name").is_none());
    assert_eq!((choice(&asked), choice(&other_asked)), (None, None));
}

#[test]
fn the_dialog_says_what_is_shared_and_esc_closes_it() {
    for key in [None, Some(Key::Escape)] {
        let asked = Asked::default();
        let (inner, mut is_open) = (asked.clone(), true);
        let size = Vec2::new(600.0, 400.0);
        let mut harness = dressed(size, move |ui| inner.borrow_mut().extend(share_ui(ui.ctx(), &mut is_open)));
        assert!(harness.query_by_label_contains("The file contains your answers").is_some());
        assert!(harness.query_by_label_contains("It does not contain your name").is_some());
        match key {
            Some(key) => harness.key_press(key),
            None => click(&mut harness, "Choose a file …"),
        }
        harness.run_steps(2);
        assert_eq!(choice(&asked), key.is_none().then_some(WorkChoice::Share));
        assert!(harness.query_by_label("Cancel").is_none(), "it closes");
    }
}
