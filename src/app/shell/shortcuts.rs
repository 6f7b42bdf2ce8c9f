//! The keys, in one table: what is pressed and what is written on the key sheet.

use egui::{Context, Event, Key, Modifiers};

use crate::kernel::command::{Command, TrainingCommand};
use crate::view_model::training::{TrainingModel, TrainingStage};

use super::menu::{DIGITS, Wish};
use super::panel_id::PanelId;
use crate::app::panels::training::curve::{LONG_LOOK, look_at};
use crate::app::panels::training::play_or_pause;
use crate::app::stage::view::stage_id;
use crate::app::view::ViewState;

pub use crate::app::stage::keys::SHEET as STAGE_SHEET;

/// Key and meaning, for the sheet.
pub const SHEET: [(&str, &str); 17] = [
    ("Space", "a step on the walk through attention"),
    ("Shift + Space", "and a step back"),
    ("Right-click", "where a number, a cell, an arrow or a point comes from"),
    ("W", "where the weight of the chosen words comes from; Esc closes"),
    ("P", "play or pause training"),
    (".", "train one step"),
    ("[ ]", "look at the training step before, after; with Shift by ten"),
    ("Ctrl + Z, Ctrl + Shift + Z", "undo, redo"),
    ("Alt + S", "write a sentence of your own"),
    ("Alt + C", "compare with a second sentence, or no longer"),
    ("G", "the glossary: every term and symbol; Esc closes"),
    ("Alt + 1 … 9, 0", "a panel to the front: as the menu numbers them"),
    ("Alt + Home", "the course"),
    ("Ctrl + O", "open a file"),
    ("T", "theme: system, light, dark"),
    ("Ctrl + plus, minus, 0", "size of everything"),
    ("F1 or ?", "this sheet; Esc closes it"),
];

/// Acts on the keys that are the same on every page of the window.
pub fn window_shortcuts(ctx: &Context, view: &mut ViewState) -> Option<Wish> {
    let pressed = |modifiers, key| ctx.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::NONE, Key::F1) {
        view.key_sheet = !view.key_sheet;
    }
    if view.key_sheet && pressed(Modifiers::NONE, Key::Escape) {
        view.key_sheet = false;
    }
    // With Shift, minus splits a cell; plus needs it on many keyboards.
    let splits = |event: &Event| matches!(event, Event::Key { key: Key::Minus, modifiers, .. } if modifiers.shift);
    let has_shift = ctx.input(|input| input.events.iter().any(splits));
    for (key, steps) in [(Key::Plus, 1.0), (Key::Equals, 1.0), (Key::Minus, -1.0)] {
        if !(key == Key::Minus && has_shift) && pressed(Modifiers::COMMAND, key) {
            view.preferences.zoom_by(steps);
        }
    }
    if pressed(Modifiers::COMMAND, Key::Num0) {
        view.preferences.zoom = 1.0;
    }
    let wish = if pressed(Modifiers::ALT, Key::Home) {
        Some(Wish::Home)
    } else if pressed(Modifiers::COMMAND, Key::O) {
        Some(Wish::Browse)
    } else {
        let panels = DIGITS.into_iter().zip(PanelId::ALL);
        panels.into_iter().find(|(key, _)| pressed(Modifiers::ALT, *key)).map(|(_, panel)| Wish::Show(panel))
    };
    if !ctx.text_edit_focused() {
        if pressed(Modifiers::NONE, Key::T) {
            view.preferences.theme = view.preferences.theme.next();
        }
        if pressed(Modifiers::SHIFT, Key::Questionmark) || pressed(Modifiers::NONE, Key::Questionmark) {
            view.key_sheet = !view.key_sheet;
        }
    }
    wish
}

/// Acts on the keys of a lesson. Nothing happens while text is edited.
pub fn shortcuts(ctx: &Context, view: &mut ViewState, training: Option<&TrainingModel>) -> Vec<Command> {
    let mut commands = Vec::new();
    let pressed = |modifiers, key| ctx.input_mut(|input| input.consume_key(modifiers, key));
    if ctx.text_edit_focused() {
        return commands;
    }
    // With the keyboard on a control, Space presses that control; the stage is none.
    if ctx.memory(|memory| memory.focused()).is_none_or(|focused| focused == stage_id()) {
        let count = |modifiers| ctx.input_mut(|input| input.count_and_consume_key(modifiers, Key::Space)) as isize;
        let (back, on) = (count(Modifiers::SHIFT), count(Modifiers::NONE));
        if on != back {
            view.walk.step_by(on - back);
        }
    }
    if pressed(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z) || pressed(Modifiers::COMMAND, Key::Y) {
        commands.push(Command::Redo);
    } else if pressed(Modifiers::COMMAND, Key::Z) {
        commands.push(Command::Undo);
    }
    if pressed(Modifiers::NONE, Key::Home) {
        view.home_requested = true;
    }
    if pressed(Modifiers::NONE, Key::P) {
        commands.extend(training.and_then(|training| play_or_pause(training).or_else(|| refused(training))));
    }
    if let Some(training) = training {
        commands.extend(steps(ctx, training));
    }
    commands
}

/// A step of training, or a look along those that were done.
fn steps(ctx: &Context, training: &TrainingModel) -> Option<Command> {
    let pressed = |modifiers, key| ctx.input_mut(|input| input.consume_key(modifiers, key));
    if matches!(training.stage, TrainingStage::Paused | TrainingStage::Stopped) && pressed(Modifiers::NONE, Key::Period)
    {
        return Some(Command::Training(TrainingCommand::Step(1)));
    }
    let keys = [
        (Modifiers::SHIFT, Key::OpenBracket, -(LONG_LOOK as isize)),
        (Modifiers::SHIFT, Key::CloseBracket, LONG_LOOK as isize),
        // On many keyboards Shift makes another key of it.
        (Modifiers::SHIFT, Key::OpenCurlyBracket, -(LONG_LOOK as isize)),
        (Modifiers::SHIFT, Key::CloseCurlyBracket, LONG_LOOK as isize),
        // Without Shift a key is also what it is with Shift: it comes last.
        (Modifiers::NONE, Key::OpenBracket, -1),
        (Modifiers::NONE, Key::CloseBracket, 1),
    ];
    let (.., by) = keys.into_iter().find(|(modifiers, key, _)| pressed(*modifiers, *key))?;
    look_at(training, training.sought.saturating_add_signed(by))
}

/// At the last step the button cannot be pressed, but the key can: the kernel's notice says why nothing happens.
fn refused(training: &TrainingModel) -> Option<Command> {
    (training.stage == TrainingStage::Finished).then_some(Command::Training(TrainingCommand::Play))
}
