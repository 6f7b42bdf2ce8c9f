//! Keys and the keyboard: how keys are counted and consumed, and which widget takes letters.
//!
//! A widget for which the keyboard was requested takes it when it is next shown, in this frame or later.

use std::time::{Duration, Instant};

use egui::{Context, Event, Id, Key, Modifiers};

use super::focus::{Focus, Keyboard};
use super::row::ActionTable;
use super::shortcut::{Pressed, Shortcut, is_arrow};

/// A key of an action table, with its action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveKey<A> {
    pub action: A,
    /// The index of the action in its table.
    pub place: usize,
    /// The index of the key within its row.
    pub which: usize,
    pub shortcut: Shortcut,
}

/// Returns the live keys of a table. While a text field or another control takes letters, keys that write a character
/// are left out.
pub fn live_keys<A: ActionTable>(at: &Keyboard) -> Vec<LiveKey<A>> {
    let live = A::ROWS.iter().enumerate().filter(|(_, (action, _))| action.is_live(at));
    let keys = live.flat_map(|(place, (action, row))| {
        [row.keys, row.or, row.aliases].into_iter().flat_map(move |keys| {
            keys.iter().enumerate().map(move |(which, key)| LiveKey { action: *action, place, which, shortcut: *key })
        })
    });
    keys.filter(|key| !(at.focus.takes_letters() && key.shortcut.is_typed())).collect()
}

/// Returns the actions whose keys were pressed in this frame, in the order of their table, and consumes those keys.
///
/// `is_on` selects among the live actions.
pub fn pressed<A: ActionTable>(ctx: &Context, is_on: impl Fn(A) -> bool) -> Vec<Pressed<A>> {
    if !ctx.input(|input| input.events.iter().any(|event| matches!(event, Event::Key { pressed: true, .. }))) {
        return Vec::new();
    }
    let mut wanted = live_keys::<A>(&Keyboard::of(ctx));
    wanted.retain(|key| is_on(key.action));
    wanted.sort_by_key(|key| std::cmp::Reverse(key.shortcut.modifier_count()));
    let mut found: Vec<_> = wanted
        .into_iter()
        .map(|LiveKey { action, place, which, shortcut }| {
            (place, Pressed { action, which, count: consume(ctx, &shortcut) })
        })
        .filter(|(_, pressed)| pressed.count > 0)
        .collect();
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, pressed)| pressed).collect()
}

/// Returns the live action whose key was pressed first in this frame, and consumes the key. Later keys remain for other
/// callers.
pub fn first_pressed<A: ActionTable>(ctx: &Context, is_on: impl Fn(A) -> bool) -> Option<A> {
    let at = Keyboard::of(ctx);
    let is_on = |action: A| action.is_live(&at) && is_on(action);
    ctx.input_mut(|input| {
        let found = input.events.iter().enumerate().find_map(|(place, event)| match event {
            Event::Key { key, pressed: true, modifiers, .. } => Some((place, action_of(*key, *modifiers, is_on)?)),
            _ => None,
        });
        let (place, action) = found?;
        input.events.remove(place);
        Some(action)
    })
}

/// Returns the action of a key, among those selected by `is_on`; if several have a matching key, the one with the most
/// modifiers.
pub fn action_of<A: ActionTable>(key: Key, modifiers: Modifiers, is_on: impl Fn(A) -> bool) -> Option<A> {
    let rows = A::ROWS.iter().filter(|(action, _)| is_on(*action));
    let keys =
        rows.flat_map(|(action, row)| [row.keys, row.or, row.aliases].concat().into_iter().map(|key| (*action, key)));
    let matching = keys.filter(|(_, shortcut)| shortcut.matches(key, modifiers));
    matching.min_by_key(|(_, shortcut)| std::cmp::Reverse(shortcut.modifier_count())).map(|(action, _)| action)
}

/// Removes typed text from this frame, so that a field that a letter key opened does not begin with that letter.
pub fn drop_text(ctx: &Context) {
    ctx.input_mut(|input| input.events.retain(|event| !matches!(event, Event::Text(_))));
}

/// Removes text that was typed with Ctrl or Alt, because such keys are commands in every field. Ctrl and Alt together
/// are AltGr, which types characters; so does Option on a Mac, unless an action takes the key. `now` has the modifiers
/// for a text that came without a key.
fn drop_text_of_commands(events: &mut Vec<Event>, now: Modifiers) {
    let of_press = |event: Option<&Event>| match event {
        Some(Event::Key { pressed: true, modifiers, .. }) => Some(*modifiers),
        _ => None,
    };
    let is_alt = |modifiers: Modifiers| modifiers.alt && !modifiers.command && !cfg!(target_os = "macos");
    let is_command = |modifiers: Modifiers| modifiers.command && !modifiers.alt || is_alt(modifiers);
    let is_dropped = |at: usize| {
        // The text of a key comes before the key's press; pasted text comes after the press of Ctrl+V and is kept.
        let key = of_press(events.get(at + 1)).map(is_command);
        let before = at.checked_sub(1).and_then(|before| of_press(events.get(before)));
        matches!(events[at], Event::Text(_)) && key.unwrap_or_else(|| is_alt(before.unwrap_or(now)))
    };
    let dropped: Vec<usize> = (0..events.len()).filter(|at| is_dropped(*at)).collect();
    for at in dropped.into_iter().rev() {
        events.remove(at);
    }
}

/// Removes a shortcut's presses from the frame's events, with the text of each press, and returns their number.
fn consume(ctx: &Context, shortcut: &Shortcut) -> usize {
    let is_press = |event: &Event| match event {
        Event::Key { key, pressed, modifiers, .. } => *pressed && shortcut.matches(*key, *modifiers),
        _ => false,
    };
    ctx.input_mut(|input| {
        let mut kept: Vec<Event> = Vec::with_capacity(input.events.len());
        let mut count = 0;
        for event in std::mem::take(&mut input.events) {
            if !is_press(&event) {
                kept.push(event);
                continue;
            }
            count += 1;
            // The text event of a key comes before its press.
            kept.pop_if(|before| matches!(before, Event::Text(_)));
        }
        input.events = kept;
        count
    })
}

/// Returns the id of the field that searches the words on the stage.
pub fn stage_search() -> Id {
    Id::new("stage search")
}

/// Returns the id of the field that searches the glossary.
pub fn glossary_search() -> Id {
    Id::new("glossary search")
}

/// Returns the id of the field that searches the functions of code cells.
pub fn function_search() -> Id {
    Id::new("function search")
}

/// Returns the id of a sentence field, given its name in the window.
pub fn sentence_field(name: &str) -> Id {
    Id::new(("sentence", name))
}

/// Requests the keyboard for a widget. Only the last request is granted.
pub fn ask(ctx: &Context, id: Id) {
    ctx.data_mut(|data| data.insert_temp(asked(), id));
}

/// Takes the keyboard if it was requested for this widget. Called where the widget is shown.
pub fn take(ctx: &Context, id: Id) {
    if is_asked(ctx, id) {
        ctx.data_mut(|data| data.remove::<Id>(asked()));
        ctx.memory_mut(|memory| memory.request_focus(id));
    }
}

/// Returns whether the keyboard was requested for a widget that has not been shown since.
pub fn is_asked(ctx: &Context, id: Id) -> bool {
    ctx.data(|data| data.get_temp::<Id>(asked())) == Some(id)
}

fn asked() -> Id {
    Id::new("keyboard asked for")
}

/// The longest pause between two letters of a learner who types on without looking at the screen.
const MOMENT: Duration = Duration::from_millis(1200);
/// The longest pause between two letters of a word. Keys meant as commands come more slowly, or repeat the same key.
const WITHIN_WORD: Duration = Duration::from_millis(350);

/// The state of typing: how the last text field was left, and what was typed last.
#[derive(Clone, Copy, Default)]
struct Typing {
    last: Option<Instant>,
    /// Whether a field has the keyboard at the start of this frame.
    is_writing: bool,
    /// Whether a field had the keyboard at the start of this frame or the one before.
    was_writing: bool,
    /// Whether the field was left by a key that is meant for it, such as Esc.
    is_left: bool,
    /// The last letter that was typed outside every field, and the time.
    loose: Option<(char, Instant)>,
    /// The time at which the last letter of a word typed outside every field was dropped.
    dropped: Option<Instant>,
}

/// Keys that follow an event which may move the keyboard focus. They wait for the next frame, when the focus has moved.
/// With slow frames, a click into a field and the first letters for it arrive in one frame.
#[derive(Clone, Default)]
struct WaitingKeys {
    events: Vec<Event>,
    /// The number of frames for which the keys have waited for a widget that is not shown yet.
    frames: usize,
}

/// Holds back keys that must wait, and puts those that have waited into the frame's events.
fn hold_keys(ctx: &Context, is_writing: bool) {
    /// A widget that has not been shown after this many frames may never be shown.
    const FRAMES_MAX: usize = 3;
    let id = Id::new("keys that wait");
    let mut waiting = ctx.data_mut(|data| data.remove_temp::<WaitingKeys>(id)).unwrap_or_default();
    let is_asked = ctx.data(|data| data.get_temp::<Id>(asked())).is_some();
    let mut moves_on = is_asked && waiting.frames < FRAMES_MAX;
    waiting.frames = if is_asked { waiting.frames + 1 } else { 0 };
    ctx.input_mut(|input| {
        let events = std::mem::take(&mut waiting.events).into_iter().chain(std::mem::take(&mut input.events));
        for event in events.collect::<Vec<_>>() {
            if moves_on && is_key(&event) {
                waiting.events.push(event);
            } else {
                moves_on |= matches!(event, Event::PointerButton { .. }) || is_writing && leaves(&event);
                input.events.push(event);
            }
        }
    });
    if !waiting.events.is_empty() {
        ctx.request_repaint();
    }
    if is_asked || !waiting.events.is_empty() {
        ctx.data_mut(|data| data.insert_temp(id, waiting));
    }
}

/// Returns whether an event is a pressed key, typed text, or a use of the clipboard.
fn is_key(event: &Event) -> bool {
    matches!(event, Event::Key { pressed: true, .. } | Event::Text(_) | Event::Paste(_) | Event::Copy | Event::Cut)
}

/// Returns whether Esc was pressed outside every text field.
pub fn is_free_escape(ctx: &Context) -> bool {
    let was_writing = ctx.data(|data| data.get_temp::<Typing>(typing_id())).is_some_and(|typing| typing.was_writing);
    !was_writing && ctx.input(|input| input.key_pressed(Key::Escape))
}

/// Processes typing; called once a frame, before any keys are looked up. Keys wait until the keyboard has moved to
/// where they are meant to go. After a field lost the keyboard by itself or by a click, letters are removed until there
/// is a pause. Of a word that is typed outside every field, all letters after the first are removed.
pub fn follow_typing(ctx: &Context) {
    ctx.input_mut(|input| drop_text_of_commands(&mut input.events, input.modifiers));
    let mut typing = ctx.data(|data| data.get_temp::<Typing>(typing_id())).unwrap_or_default();
    let is_writing = Focus::of(ctx).takes_letters();
    // egui takes the keyboard away on Esc before the frame begins.
    let before = std::mem::replace(&mut typing.is_writing, is_writing);
    typing.was_writing = is_writing || before;
    hold_keys(ctx, typing.was_writing);
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

/// Returns the time at which the last letter of a word typed outside every field was dropped.
pub fn dropped_letters(ctx: &Context) -> Option<Instant> {
    ctx.data(|data| data.get_temp::<Typing>(typing_id())).and_then(|typing| typing.dropped)
}

fn typing_id() -> Id {
    Id::new("typing")
}

impl Typing {
    /// Removes all letters of a word but its first from the frame. Two different letters in quick succession begin a
    /// word, which continues until there is a pause.
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

/// Returns the letter of a text event in lower case; `None` if a shortcut wrote it, which shows in the key event that
/// follows.
fn typed_letter(event: &Event, next: Option<&Event>) -> Option<char> {
    let Event::Text(text) = event else { return None };
    if matches!(next, Some(Event::Key { modifiers, .. }) if modifiers.alt || modifiers.command) {
        return None;
    }
    text.chars().next().filter(|letter| letter.is_alphabetic())?.to_lowercase().next()
}

/// Returns whether a key leaves a field on purpose. The field may have lost the keyboard before this is called.
fn leaves(event: &Event) -> bool {
    use Key::{ArrowDown, ArrowUp, Enter, Escape, Tab};
    matches!(event, Event::Key { key: Escape | Enter | Tab | ArrowUp | ArrowDown, pressed: true, .. })
}

/// Returns whether an event types a letter or another character, without a modifier that makes it a command.
fn is_letter(event: &Event) -> bool {
    match event {
        Event::Text(_) => true,
        Event::Key { key, modifiers, pressed: true, .. } => {
            let is_command = modifiers.command || modifiers.ctrl || modifiers.alt;
            let is_sign = *key == Key::Space || key.symbol_or_name().chars().count() == 1;
            is_sign && !is_command && !is_arrow(*key)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: Key, modifiers: Modifiers) -> Event {
        Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
    }

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    fn left(mut events: Vec<Event>, now: Modifiers) -> Vec<Event> {
        drop_text_of_commands(&mut events, now);
        events
    }

    #[test]
    fn a_command_types_nothing() {
        let alt_gr = Modifiers::COMMAND | Modifiers::ALT;
        let events = vec![
            text(" "),
            press(Key::Space, Modifiers::COMMAND),
            text(" "),
            press(Key::Space, Modifiers::NONE),
            text("{"),
            press(Key::Num7, alt_gr),
            press(Key::V, Modifiers::COMMAND),
            text("pasted"),
        ];
        assert_eq!(left(events.clone(), Modifiers::NONE), events[1..]);
    }

    #[test]
    #[cfg(not(target_os = "macos"))]
    fn a_letter_with_alt_types_nothing_wherever_its_text_stands() {
        let (alt, none) = (Modifiers::ALT, Modifiers::NONE);
        let of_key = press(Key::C, alt);
        assert_eq!(left(vec![text("c"), of_key.clone()], none), vec![of_key.clone()]);
        assert_eq!(left(vec![of_key.clone(), text("c")], none), [of_key]);
        assert_eq!(left(vec![text("ö")], alt), []);
        let typed = vec![text("c"), press(Key::C, none), press(Key::S, alt)];
        assert_eq!(left(typed.clone(), alt), typed, "what was typed before stays");
    }
}
