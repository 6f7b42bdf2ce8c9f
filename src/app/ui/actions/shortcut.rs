//! Shortcuts: the keys of actions, and how they are written and matched.

use egui::{Key, Modifiers};

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcut {
    pub key: Key,
    pub modifiers: Modifiers,
    /// Whether the key must be pressed twice in a row; see [`Pressed`].
    pub is_twice: bool,
    /// Whether the key is another shortcut if Shift is held as well.
    without_shift: bool,
}

pub const fn key(key: Key) -> Shortcut {
    with(Modifiers::NONE, key)
}

pub const fn shift(key: Key) -> Shortcut {
    with(Modifiers::SHIFT, key)
}

/// Returns a shortcut with the command modifier: Ctrl, or Cmd on a Mac.
pub const fn ctrl(key: Key) -> Shortcut {
    with(Modifiers::COMMAND, key)
}

pub const fn alt(key: Key) -> Shortcut {
    with(Modifiers::ALT, key)
}

pub const fn ctrl_shift(key: Key) -> Shortcut {
    with(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

/// Returns a shortcut of one key, pressed twice.
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

    /// Returns whether the pressed key is this shortcut. Extra modifiers are ignored, because many keyboards need Shift
    /// or Alt for a sign and Shift for a digit; but a letter, an arrow, Space or Home with another modifier is another
    /// shortcut.
    pub fn matches(&self, key: Key, modifiers: Modifiers) -> bool {
        let more_shift = modifiers.shift && !self.modifiers.shift;
        let more_alt = modifiers.alt && !self.modifiers.alt;
        let is_exact = is_letter_key(key) || is_arrow(key) || matches!(key, Key::Space | Key::Home);
        let takes_shift = !is_exact && !self.without_shift;
        let takes_alt = !is_exact && !is_digit_key(key);
        key == self.key
            && modifiers.matches_logically(self.modifiers)
            && (takes_shift || !more_shift)
            && (takes_alt || !more_alt)
    }

    /// Returns whether the key would write a character in a text field.
    pub(super) fn is_typed(&self) -> bool {
        !(self.modifiers.command || self.modifiers.alt || matches!(self.key, Key::F1 | Key::F5 | Key::Escape))
    }

    pub fn modifier_count(&self) -> usize {
        let Modifiers { alt, shift, command, .. } = self.modifiers;
        [alt, shift, command].into_iter().filter(|is_down| *is_down).count()
    }

    /// Returns the keys as menus and tooltips write them: `Ctrl+Shift+↑`, `D D`.
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
            // After "Ctrl +", the sign + would be hard to see.
            Key::Plus if self.modifiers != Modifiers::NONE => "plus",
            key => key.symbol_or_name(),
        }
    }
}

fn is_letter_key(key: Key) -> bool {
    matches!(key.name().as_bytes(), [letter] if letter.is_ascii_alphabetic())
}

fn is_digit_key(key: Key) -> bool {
    matches!(key.name().as_bytes(), [digit] if digit.is_ascii_digit())
}

pub(super) fn is_arrow(key: Key) -> bool {
    matches!(key, Key::ArrowUp | Key::ArrowDown | Key::ArrowLeft | Key::ArrowRight)
}

/// An action whose key or button was pressed in this frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressed<A> {
    pub action: A,
    /// The index of the key within its row.
    pub which: usize,
    /// The number of presses. A key that must be pressed twice counts each press.
    pub count: usize,
}

impl<A> Pressed<A> {
    pub fn once(action: A) -> Pressed<A> {
        Pressed { action, which: 0, count: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_with_another_modifier_is_another_key_and_a_sign_is_not() {
        assert!(key(Key::L).matches(Key::L, Modifiers::NONE));
        for modifiers in [Modifiers::SHIFT, Modifiers::ALT, Modifiers::COMMAND] {
            assert!(!key(Key::L).matches(Key::L, modifiers) && !key(Key::ArrowLeft).matches(Key::ArrowLeft, modifiers));
        }
        assert!(key(Key::Questionmark).matches(Key::Questionmark, Modifiers::SHIFT));
        assert!(key(Key::OpenBracket).matches(Key::OpenBracket, Modifiers::ALT));
        assert!(
            key(Key::Num2).matches(Key::Num2, Modifiers::SHIFT) && !key(Key::Num2).matches(Key::Num2, Modifiers::ALT)
        );
    }
}
