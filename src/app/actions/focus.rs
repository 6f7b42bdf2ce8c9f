//! The keyboard: asked for a widget by its name, and letters that were meant for a field.
//!
//! A widget that the keyboard is asked for takes it when it is next shown, be that in this frame, in the next one, or
//! when the kernel has answered.
//!
//! Letters that were meant for a field do nothing: those that are typed on after the field has lost the keyboard, and
//! words that are typed where no field has it.

use std::time::{Duration, Instant};

use egui::{Context, Event, Id, Key, Popup};

/// The field that searches the words of the stage.
pub fn stage_search() -> Id {
    Id::new("stage search")
}

/// The field that searches the glossary.
pub fn glossary_search() -> Id {
    Id::new("glossary search")
}

/// The field that searches the functions of code cells.
pub fn function_search() -> Id {
    Id::new("function search")
}

/// The field of a sentence, by the name under which it is shown.
pub fn sentence_field(name: &str) -> Id {
    Id::new(("sentence", name))
}

/// Asks for the keyboard; only the last one that was asked for gets it.
pub fn ask(ctx: &Context, id: Id) {
    ctx.data_mut(|data| data.insert_temp(asked(), id));
}

/// Takes the keyboard if it was asked for, once. A widget calls this where it is shown.
pub fn take(ctx: &Context, id: Id) {
    if ctx.data(|data| data.get_temp::<Id>(asked())) == Some(id) {
        ctx.data_mut(|data| data.remove::<Id>(asked()));
        ctx.memory_mut(|memory| memory.request_focus(id));
    }
}

/// A part of the window has the keyboard, and no menu lies over it.
pub fn is_at(ctx: &Context, part: Id) -> bool {
    !Popup::is_any_open(ctx) && ctx.memory(|memory| memory.focused()) == Some(part)
}

fn asked() -> Id {
    Id::new("keyboard asked for")
}

/// Between two letters of somebody who types on without looking.
const MOMENT: Duration = Duration::from_millis(1200);
/// Between two letters of a word. Keys that are commands come more slowly, or are the same key again.
const WITHIN_WORD: Duration = Duration::from_millis(350);

/// How the last field was left, and what was typed last.
#[derive(Clone, Copy, Default)]
struct Typing {
    last: Option<Instant>,
    /// True once the field was left by a key that is there for it, such as Esc.
    is_left: bool,
    /// The last letter that was typed into no field.
    loose: Option<(char, Instant)>,
    /// When a letter was dropped last, of a word that was typed into no field.
    dropped: Option<Instant>,
}

/// Follows what is typed; once a frame, before any key is looked for. Letters that come after a field lost the keyboard
/// by itself or by a click are taken out of the frame, until there is a pause; and so are those of a word that is typed
/// into no field, after its first letter.
pub fn follow_typing(ctx: &Context) {
    let mut typing = ctx.data(|data| data.get_temp::<Typing>(typing_id())).unwrap_or_default();
    let is_writing = ctx.text_edit_focused();
    let has = |wanted: fn(&Event) -> bool| ctx.input(|input| input.events.iter().any(wanted));
    let types = has(is_letter);
    if has(leaves) {
        typing.is_left = true;
        typing.dropped = None;
    }
    if is_writing {
        typing.dropped = None;
    }
    if is_writing && types {
        (typing.last, typing.is_left) = (Some(Instant::now()), false);
    } else if types && !typing.is_left && typing.last.is_some_and(|last| last.elapsed() < MOMENT) {
        typing.last = Some(Instant::now());
        ctx.input_mut(|input| input.events.retain(|event| !is_letter(event)));
    } else if types {
        typing.drop_word(ctx);
    }
    ctx.data_mut(|data| data.insert_temp(typing_id(), typing));
}

/// When a letter was dropped last, of a word that was typed into no field.
pub fn dropped_letters(ctx: &Context) -> Option<Instant> {
    ctx.data(|data| data.get_temp::<Typing>(typing_id())).and_then(|typing| typing.dropped)
}

fn typing_id() -> Id {
    Id::new("typing")
}

impl Typing {
    /// Takes the letters of a word out of the frame, all but its first: two different letters, one soon after the other,
    /// are a word, and so is what follows them without a pause.
    fn drop_word(&mut self, ctx: &Context) {
        let now = Instant::now();
        let mut is_word = self.dropped.is_some_and(|last| now - last < MOMENT);
        let mut events = ctx.input_mut(|input| std::mem::take(&mut input.events)).into_iter().peekable();
        let mut kept = Vec::new();
        while let Some(event) = events.next() {
            if let Some(letter) = typed_letter(&event, events.peek()) {
                is_word |= self.loose.is_some_and(|(last, at)| last != letter && now - at < WITHIN_WORD);
                self.loose = Some((letter, now));
            }
            if !(is_word && is_letter(&event)) {
                kept.push(event);
            }
        }
        ctx.input_mut(|input| input.events = kept);
        if is_word {
            self.dropped = Some(now);
        }
    }
}

/// The letter of a text, if it was not written by a shortcut: its key follows it.
fn typed_letter(event: &Event, next: Option<&Event>) -> Option<char> {
    let Event::Text(text) = event else { return None };
    if matches!(next, Some(Event::Key { modifiers, .. }) if modifiers.alt || modifiers.command) {
        return None;
    }
    text.chars().next().filter(|letter| letter.is_alphabetic())?.to_lowercase().next()
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
