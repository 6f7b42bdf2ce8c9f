//! The pointer over what is shown.

use egui::{Event, Modifiers, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

/// Clicks what has this label.
#[track_caller]
pub fn click(harness: &mut Harness, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(4);
}

/// Presses or lets go of a button.
pub fn button(harness: &mut Harness, at: Pos2, which: PointerButton, pressed: bool) {
    harness.event(Event::PointerMoved(at));
    harness.event(Event::PointerButton { pos: at, button: which, pressed, modifiers: Modifiers::NONE });
    harness.run_steps(1);
}

/// Clicks a place.
pub fn press(harness: &mut Harness, at: Pos2, which: PointerButton) {
    harness.event(Event::PointerMoved(at));
    harness.run_steps(1);
    button(harness, at, which, true);
    button(harness, at, which, false);
    harness.run_steps(3);
}

/// Drags from the first of these places to the last.
pub fn drag(harness: &mut Harness, which: PointerButton, way: &[Pos2]) {
    harness.event(Event::PointerMoved(way[0]));
    harness.run_steps(1);
    button(harness, way[0], which, true);
    for at in way {
        harness.event(Event::PointerMoved(*at));
        harness.run_steps(1);
    }
    button(harness, way[way.len() - 1], which, false);
    harness.run_steps(2);
}

/// Turns the wheel downwards.
pub fn wheel(harness: &mut Harness, at: Pos2) {
    harness.event(Event::PointerMoved(at));
    harness.run_steps(2);
    harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Line,
        delta: Vec2::new(0.0, -3.0),
        phase: TouchPhase::Move,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(20);
}
