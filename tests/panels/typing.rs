//! Letters that were meant for a field do nothing else.

use std::cell::Cell;
use std::rc::Rc;

use attune::app::actions::keys::{dropped_letters, follow_typing, is_free_escape};
use egui::{Key, Modifiers, TextEdit};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

/// A field, and what acts on F.
fn field() -> (Harness<'static>, Rc<Cell<usize>>) {
    let acted = Rc::new(Cell::new(0));
    let counted = acted.clone();
    let mut text = String::new();
    let harness = Harness::new_ui(move |ui| {
        follow_typing(ui.ctx());
        if !ui.ctx().text_edit_focused() && ui.input(|input| input.key_pressed(Key::F)) {
            counted.set(counted.get() + 1);
        }
        ui.add(TextEdit::singleline(&mut text).hint_text("field"));
    });
    (harness, acted)
}

fn press_f(harness: &mut Harness) {
    harness.event(egui::Event::Key {
        key: Key::F,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    });
    harness.event(egui::Event::Text("f".to_owned()));
    harness.run_steps(2);
}

#[test]
fn a_letter_typed_on_after_the_field_is_lost_does_not_act() {
    let (mut harness, acted) = field();
    harness.get_by_role(egui::accesskit::Role::TextInput).focus();
    harness.run_steps(2);
    press_f(&mut harness);
    harness.ctx.memory_mut(|memory| memory.stop_text_input());
    press_f(&mut harness);
    press_f(&mut harness);
    assert_eq!(acted.get(), 0, "it was meant for the field");
}

#[test]
fn a_letter_after_esc_acts_at_once() {
    let (mut harness, acted) = field();
    press_f(&mut harness);
    assert_eq!(acted.get(), 1, "nobody wrote");
    harness.get_by_role(egui::accesskit::Role::TextInput).focus();
    harness.run_steps(2);
    press_f(&mut harness);
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    harness.ctx.memory_mut(|memory| memory.stop_text_input());
    press_f(&mut harness);
    assert_eq!(acted.get(), 2, "Esc leaves the field on purpose");
}

fn press_letter(harness: &mut Harness, key: Key) {
    let letter = key.name().to_lowercase();
    harness.event(egui::Event::Text(letter));
    harness.event(egui::Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(2);
}

#[test]
fn a_word_typed_into_no_field_acts_once() {
    let (mut harness, acted) = field();
    for key in [Key::F, Key::A, Key::F, Key::F] {
        press_letter(&mut harness, key);
    }
    assert_eq!(acted.get(), 1, "the first letter alone");
    assert!(dropped_letters(&harness.ctx).is_some());
}

#[test]
fn a_key_pressed_again_is_no_word() {
    let (mut harness, acted) = field();
    for _ in 0..3 {
        press_letter(&mut harness, Key::F);
    }
    assert_eq!(acted.get(), 3);
    assert!(dropped_letters(&harness.ctx).is_none());
}

fn letter() -> [egui::Event; 2] {
    let key = Key::F;
    let press = egui::Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
    [egui::Event::Text("f".to_owned()), press]
}

/// Where frames are slow, a click and what is typed after it come in one.
#[test]
fn a_letter_in_the_frame_of_a_click_goes_to_what_was_clicked() {
    let (mut harness, acted) = field();
    let pos = harness.get_by_role(egui::accesskit::Role::TextInput).rect().center();
    let button = |pressed| egui::Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    harness.input_mut().events.push(egui::Event::PointerMoved(pos));
    harness.step();
    harness.input_mut().events.extend([button(true), button(false)].into_iter().chain(letter()));
    harness.step();
    harness.run_steps(3);
    assert_eq!(acted.get(), 0, "it was meant for the field");
    assert_eq!(harness.get_by_role(egui::accesskit::Role::TextInput).value().as_deref(), Some("f"));
}

#[test]
fn escape_that_leaves_a_field_is_the_fields() {
    let free = Rc::new(Cell::new(0));
    let counted = free.clone();
    let mut text = String::new();
    let mut harness = Harness::new_ui(move |ui| {
        follow_typing(ui.ctx());
        counted.set(counted.get() + usize::from(is_free_escape(ui.ctx())));
        ui.add(TextEdit::singleline(&mut text).hint_text("field"));
    });
    harness.get_by_role(egui::accesskit::Role::TextInput).focus();
    harness.run_steps(2);
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    assert_eq!(free.get(), 0);
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    assert_eq!(free.get(), 1);
}
