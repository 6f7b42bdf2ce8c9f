//! Correction of key events, so that they are as the user typed them.

use bevy::input::ButtonState;
use bevy::input::keyboard::{Key as BevyKey, KeyboardFocusLost, KeyboardInput};
use bevy::prelude::*;
use bevy_egui::{EguiClipboard, EguiInput};
use egui::{Event, Modifiers};

/// Gives each key the modifiers that were held when it was typed. bevy_egui gives all keys of a frame the modifiers at
/// its end, so that `Shift+Space` typed within one frame would become `Space`.
pub fn give_modifiers(
    mut messages: MessageReader<KeyboardInput>,
    mut lost: MessageReader<KeyboardFocusLost>,
    mut held: Local<Modifiers>,
    mut inputs: Query<&mut EguiInput>,
    mut clipboard: ResMut<EguiClipboard>,
) {
    if lost.read().count() > 0 {
        *held = Modifiers::NONE;
    }
    let typed = walk(messages.read(), &mut held);
    for mut input in &mut inputs {
        let keys = || input.events.iter().filter(|event| matches!(event, Event::Key { .. }));
        // If the two lists do not match one to one, bevy_egui's events are kept.
        if typed.is_empty() || keys().count() != typed.len() {
            continue;
        }
        input.events = as_typed(std::mem::take(&mut input.events), &typed);
        add_clipboard(&mut input.events, || clipboard.get_text());
    }
}

/// A key that was pressed or released, with the modifiers that were held at that moment.
#[derive(Clone, Debug, PartialEq)]
struct Typed {
    modifiers: Modifiers,
    /// The text that the key types, if any.
    text: Option<String>,
}

/// Gives each key its modifiers, and its text if bevy_egui left it out because a shortcut followed in the same frame.
fn as_typed(events: Vec<Event>, typed: &[Typed]) -> Vec<Event> {
    let mut typed = typed.iter();
    let mut all: Vec<Event> = Vec::with_capacity(events.len());
    for mut event in events {
        if let Event::Key { modifiers, .. } = &mut event
            && let Some(then) = typed.next()
        {
            *modifiers = then.modifiers;
            let is_there = matches!(all.last(), Some(Event::Text(_)));
            all.extend(then.text.clone().filter(|_| !is_there).map(Event::Text));
        }
        all.push(event);
    }
    all
}

/// Adds the copy, cut or paste event of a shortcut that was released before the frame's end, for which bevy_egui sends
/// only the key.
fn add_clipboard(events: &mut Vec<Event>, mut paste: impl FnMut() -> Option<String>) {
    let mut all = Vec::with_capacity(events.len());
    let mut rest = std::mem::take(events).into_iter().peekable();
    while let Some(event) = rest.next() {
        let missing = match (&event, rest.peek()) {
            (_, Some(Event::Copy | Event::Cut | Event::Text(_) | Event::Paste(_))) => None,
            (Event::Key { key, pressed: true, modifiers, .. }, _) if modifiers.command && !modifiers.alt => match key {
                egui::Key::C => Some(Event::Copy),
                egui::Key::X => Some(Event::Cut),
                egui::Key::V => paste().map(Event::Paste),
                _ => None,
            },
            _ => None,
        };
        all.push(event);
        all.extend(missing);
    }
    *events = all;
}

/// Returns each key that is not a modifier, with the modifiers that were held at that moment. `held` is kept from frame
/// to frame.
fn walk<'a>(messages: impl Iterator<Item = &'a KeyboardInput>, held: &mut Modifiers) -> Vec<Typed> {
    let mut typed = Vec::new();
    for message in messages {
        let down = message.state == ButtonState::Pressed;
        match message.logical_key {
            BevyKey::Shift => held.shift = down,
            BevyKey::Alt => held.alt = down,
            BevyKey::Control if !cfg!(target_os = "macos") => (held.ctrl, held.command) = (down, down),
            BevyKey::Control => held.ctrl = down,
            BevyKey::Super | BevyKey::Meta if cfg!(target_os = "macos") => (held.mac_cmd, held.command) = (down, down),
            BevyKey::Super | BevyKey::Meta => {}
            _ => typed.push(Typed { modifiers: *held, text: text(message, *held).filter(|_| down) }),
        }
    }
    typed
}

/// Returns the text of a key, as bevy_egui would. Keys with Ctrl or Cmd have none, except with Ctrl and Alt, which is
/// AltGr.
fn text(message: &KeyboardInput, held: Modifiers) -> Option<String> {
    let is_shortcut = held.ctrl || held.command || held.mac_cmd;
    if is_shortcut && !(held.ctrl && held.alt && !cfg!(target_os = "macos")) {
        return None;
    }
    match &message.logical_key {
        BevyKey::Character(text) if !text.chars().any(char::is_control) => Some(text.to_string()),
        BevyKey::Space => Some(" ".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(logical_key: BevyKey, state: ButtonState) -> KeyboardInput {
        KeyboardInput {
            key_code: KeyCode::Space,
            logical_key,
            state,
            text: None,
            repeat: false,
            window: Entity::PLACEHOLDER,
        }
    }

    #[test]
    fn a_shortcut_of_the_clipboard_acts_however_short_it_was() {
        let key = |key, pressed, modifiers| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
        let (c, v) = (egui::Key::C, egui::Key::V);
        let paste = || Some("pasted".to_owned());
        let within_a_frame = vec![key(v, true, Modifiers::COMMAND), key(v, false, Modifiers::NONE)];
        let mut events = within_a_frame.clone();
        add_clipboard(&mut events, paste);
        assert_eq!(events, [&within_a_frame[..1], &[Event::Paste("pasted".to_owned())], &within_a_frame[1..]].concat());
        // Events that bevy_egui has added are not added again, and a plain letter is not a shortcut.
        let there = vec![key(c, true, Modifiers::COMMAND), Event::Copy, key(v, true, Modifiers::NONE)];
        let mut events = there.clone();
        add_clipboard(&mut events, paste);
        assert_eq!(events, there);
    }

    #[test]
    fn a_key_has_the_modifiers_of_its_moment() {
        use ButtonState::{Pressed, Released};
        let messages = [
            message(BevyKey::Shift, Pressed),
            message(BevyKey::Space, Pressed),
            message(BevyKey::Space, Released),
            message(BevyKey::Shift, Released),
            message(BevyKey::Space, Pressed),
        ];
        let mut held = Modifiers::NONE;
        let typed = walk(messages.iter(), &mut held);
        let modifiers: Vec<Modifiers> = typed.iter().map(|typed| typed.modifiers).collect();
        assert_eq!(modifiers, [Modifiers::SHIFT, Modifiers::SHIFT, Modifiers::NONE]);
        assert_eq!(held, Modifiers::NONE);
    }

    #[test]
    fn what_is_typed_just_before_a_shortcut_is_written() {
        use ButtonState::{Pressed, Released};
        let a = || BevyKey::Character("a".into());
        let messages = [
            message(a(), Pressed),
            message(a(), Released),
            message(BevyKey::Control, Pressed),
            message(BevyKey::Enter, Pressed),
        ];
        let mut held = Modifiers::NONE;
        let typed = walk(messages.iter(), &mut held);
        let key = |key, pressed, modifiers| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
        let ctrl = Modifiers::CTRL | Modifiers::COMMAND;
        // With Ctrl held at the end of the frame, bevy_egui gives every key Ctrl and no text.
        let (letter, enter) = (egui::Key::A, egui::Key::Enter);
        let events = vec![key(letter, true, ctrl), key(letter, false, ctrl), key(enter, true, ctrl)];
        let none = Modifiers::NONE;
        assert_eq!(
            as_typed(events, &typed),
            [Event::Text("a".to_owned()), key(letter, true, none), key(letter, false, none), key(enter, true, ctrl)]
        );
    }
}
