//! How keys are written, matched, counted and consumed.

use egui::{Context, Event, Key, Modifiers};

use super::ActionTable;

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcut {
    pub key: Key,
    pub modifiers: Modifiers,
    /// The key is to be pressed twice within a moment; see [`Pressed`].
    pub is_twice: bool,
    /// With Shift it is another key's: other modifiers too many do not matter.
    without_shift: bool,
}

pub const fn key(key: Key) -> Shortcut {
    with(Modifiers::NONE, key)
}

pub const fn shift(key: Key) -> Shortcut {
    with(Modifiers::SHIFT, key)
}

/// With the key for commands: Ctrl, on a Mac Cmd.
pub const fn ctrl(key: Key) -> Shortcut {
    with(Modifiers::COMMAND, key)
}

pub const fn alt(key: Key) -> Shortcut {
    with(Modifiers::ALT, key)
}

pub const fn ctrl_shift(key: Key) -> Shortcut {
    with(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

/// The key pressed twice.
pub const fn twice(key: Key) -> Shortcut {
    Shortcut { is_twice: true, ..with(Modifiers::NONE, key) }
}

const fn with(modifiers: Modifiers, key: Key) -> Shortcut {
    Shortcut { key, modifiers, is_twice: false, without_shift: false }
}

impl Shortcut {
    pub const fn without_shift(self) -> Shortcut {
        Shortcut { without_shift: true, ..self }
    }

    /// Whether it is this that was pressed. More modifiers than its own count for nothing, for many keyboards need
    /// Shift or Alt for a character: shortcuts with more modifiers are therefore asked first.
    pub fn matches(&self, key: Key, modifiers: Modifiers) -> bool {
        key == self.key && modifiers.matches_logically(self.modifiers) && !(self.without_shift && modifiers.shift)
    }

    /// Whether the key writes something where text is edited.
    fn is_typed(&self) -> bool {
        !(self.modifiers.command || self.modifiers.alt || matches!(self.key, Key::F1 | Key::F5 | Key::Escape))
    }

    fn modifier_count(&self) -> usize {
        let Modifiers { alt, shift, command, .. } = self.modifiers;
        [alt, shift, command].into_iter().filter(|is_down| *is_down).count()
    }

    /// As menus and tooltips write it: `Ctrl+Shift+↑`, `D D`.
    pub fn text(&self) -> String {
        let names = self.modifier_names().chain([self.key_name()]);
        let once = names.collect::<Vec<_>>().join("+");
        if self.is_twice { format!("{once} {once}") } else { once }
    }

    pub(super) fn modifier_names(&self) -> impl Iterator<Item = &'static str> {
        let Modifiers { alt, shift, command, .. } = self.modifiers;
        [(command, "Ctrl"), (shift, "Shift"), (alt, "Alt")]
            .into_iter()
            .filter_map(|(is_down, name)| is_down.then_some(name))
    }

    pub(super) fn key_name(&self) -> &'static str {
        match self.key {
            Key::ArrowUp => "↑",
            Key::ArrowDown => "↓",
            Key::ArrowLeft => "←",
            Key::ArrowRight => "→",
            Key::Escape => "Esc",
            Key::Minus => "minus",
            // Behind "Ctrl +" the sign would be lost.
            Key::Plus if self.modifiers != Modifiers::NONE => "plus",
            key => key.symbol_or_name(),
        }
    }
}

/// An action whose key was pressed in this frame, or whose button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressed<A> {
    pub action: A,
    /// The place of the key among those of its row.
    pub which: usize,
    /// How often it was pressed; of a key to be pressed twice, each press.
    pub count: usize,
}

impl<A> Pressed<A> {
    pub fn once(action: A) -> Pressed<A> {
        Pressed { action, which: 0, count: 1 }
    }
}

/// The actions whose keys were pressed in this frame, in the order of their table; consumes those keys.
///
/// `is_on` says which are looked for. While text is edited, a key that writes something is the text's.
pub fn pressed<A: ActionTable>(ctx: &Context, is_on: impl Fn(A) -> bool) -> Vec<Pressed<A>> {
    if !ctx.input(|input| input.events.iter().any(|event| matches!(event, Event::Key { pressed: true, .. }))) {
        return Vec::new();
    }
    let is_writing = ctx.text_edit_focused();
    let mut wanted = Vec::new();
    for (place, (action, row)) in A::ROWS.iter().enumerate().filter(|(_, (action, _))| is_on(*action)) {
        for keys in [row.keys, row.or, row.aliases] {
            let keys = keys.iter().enumerate().filter(|(_, shortcut)| !(is_writing && shortcut.is_typed()));
            wanted.extend(keys.map(|(which, shortcut)| (place, *action, which, *shortcut)));
        }
    }
    wanted.sort_by_key(|(.., shortcut)| std::cmp::Reverse(shortcut.modifier_count()));
    let mut found: Vec<_> = wanted
        .into_iter()
        .map(|(place, action, which, shortcut)| (place, Pressed { action, which, count: consume(ctx, &shortcut) }))
        .filter(|(_, pressed)| pressed.count > 0)
        .collect();
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, pressed)| pressed).collect()
}

/// The action whose key was pressed first in this frame; keys that follow it are left to who comes next.
pub fn first_pressed<A: ActionTable>(ctx: &Context, is_on: impl Fn(A) -> bool) -> Option<A> {
    ctx.input_mut(|input| {
        let found = input.events.iter().enumerate().find_map(|(place, event)| match event {
            Event::Key { key, pressed: true, modifiers, .. } => Some((place, action_of(*key, *modifiers, &is_on)?)),
            _ => None,
        });
        let (place, action) = found?;
        input.events.remove(place);
        Some(action)
    })
}

/// The action that a key is for, among those that are looked for.
pub fn action_of<A: ActionTable>(key: Key, modifiers: Modifiers, is_on: impl Fn(A) -> bool) -> Option<A> {
    let rows = A::ROWS.iter().filter(|(action, _)| is_on(*action));
    let keys =
        rows.flat_map(|(action, row)| [row.keys, row.or, row.aliases].concat().into_iter().map(|key| (*action, key)));
    let matching = keys.filter(|(_, shortcut)| shortcut.matches(key, modifiers));
    matching.min_by_key(|(_, shortcut)| std::cmp::Reverse(shortcut.modifier_count())).map(|(action, _)| action)
}

/// Drops what the keys of this frame have written, so that a field that is given the keyboard does not begin with the
/// letter that called it.
pub fn drop_text(ctx: &Context) {
    ctx.input_mut(|input| input.events.retain(|event| !matches!(event, Event::Text(_))));
}

/// Takes the presses of a shortcut out of the frame's events, with the text that each has written, and counts them.
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
            // The text of a key precedes its press.
            kept.pop_if(|before| matches!(before, Event::Text(_)));
        }
        input.events = kept;
        count
    })
}
