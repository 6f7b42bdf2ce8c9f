//! Letters that were meant for a field: typed a moment after it lost the keyboard, they do nothing.

use std::time::{Duration, Instant};

use egui::{Context, Event, Id, Key};

/// Between two letters of somebody who types on without looking.
const MOMENT: Duration = Duration::from_millis(1200);

/// How the last field was left, and when a letter was typed last.
#[derive(Clone, Copy, Default)]
struct Typing {
    last: Option<Instant>,
    /// True once the field was left by a key that is there for it, such as Esc.
    is_left: bool,
}

/// Follows what is typed; once a frame, before any key is looked for. Letters that come after a field lost the keyboard
/// by itself or by a click are taken out of the frame, until there is a pause.
pub fn follow_typing(ctx: &Context) {
    let id = Id::new("typing");
    let mut typing = ctx.data(|data| data.get_temp::<Typing>(id)).unwrap_or_default();
    let is_writing = ctx.text_edit_focused();
    let has = |wanted: fn(&Event) -> bool| ctx.input(|input| input.events.iter().any(wanted));
    let types = has(is_letter);
    if has(leaves) {
        typing.is_left = true;
    }
    if is_writing && types {
        (typing.last, typing.is_left) = (Some(Instant::now()), false);
    } else if types && !typing.is_left && typing.last.is_some_and(|last| last.elapsed() < MOMENT) {
        typing.last = Some(Instant::now());
        ctx.input_mut(|input| input.events.retain(|event| !is_letter(event)));
    }
    ctx.data_mut(|data| data.insert_temp(id, typing));
}

/// A key that leads out of a field on purpose. It may have done so before this is asked.
fn leaves(event: &Event) -> bool {
    use Key::{ArrowDown, ArrowUp, Enter, Escape, Tab};
    matches!(event, Event::Key { key: Escape | Enter | Tab | ArrowUp | ArrowDown, pressed: true, .. })
}

/// A letter or another sign, without a modifier that makes it a command.
fn is_letter(event: &Event) -> bool {
    match event {
        Event::Text(_) => true,
        Event::Key { key, modifiers, pressed: true, .. } => {
            let is_command = modifiers.command || modifiers.ctrl || modifiers.alt;
            let is_sign = *key == Key::Space || key.symbol_or_name().chars().count() == 1;
            is_sign && !is_command && !matches!(key, Key::ArrowUp | Key::ArrowDown | Key::ArrowLeft | Key::ArrowRight)
        }
        _ => false,
    }
}
