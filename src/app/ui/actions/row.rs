//! A row of a table of actions: its words and keys; and the lines of the key sheet, which are printed from them.

use super::focus::Keyboard;
use super::shortcut::Shortcut;

/// The texts of an action, and its keys.
#[derive(Clone, Copy, Debug)]
pub struct ActionRow {
    /// The text of its menu entry or button; empty if it has none.
    pub text: &'static str,
    /// The tooltip, without the keys.
    pub tooltip: &'static str,
    /// One key, or one for each member of a family: the panels, the axes, the answers.
    pub keys: &'static [Shortcut],
    /// Alternative keys, in the same order.
    pub or: &'static [Shortcut],
    /// Further keys that are not listed anywhere: some keyboards send them, or users are used to them.
    pub aliases: &'static [Shortcut],
    pub line: SheetLine,
}

impl ActionRow {
    pub(super) const EMPTY: ActionRow =
        ActionRow { text: "", tooltip: "", keys: &[], or: &[], aliases: &[], line: SheetLine::Unlisted };

    /// Returns the first key as menus and tooltips write it, such as `Ctrl+Shift+↑` or `D D`; empty if there is none.
    pub fn keys_text(&self) -> String {
        self.keys.first().map(Shortcut::text).unwrap_or_default()
    }

    /// Returns the tooltip, followed by the first key in brackets, if there is one.
    pub fn hint(&self) -> String {
        self.hint_with(self.tooltip)
    }

    /// Returns another text in place of the tooltip, followed by the first key in brackets, for a text that depends on
    /// what is shown.
    pub fn hint_with(&self, words: &str) -> String {
        match self.keys_text() {
            keys if keys.is_empty() => words.to_owned(),
            keys => format!("{words} ({keys})"),
        }
    }
}

/// A set of actions with their table, made by `action_table`.
pub trait ActionTable: Copy + Eq + std::fmt::Debug + 'static {
    /// Every action with its row, in the order of the key sheet.
    const ROWS: &'static [(Self, ActionRow)];

    fn row(self) -> &'static ActionRow;

    /// Returns whether the action's keys are live, given the keyboard's place and the open windows.
    fn is_live(self, at: &Keyboard) -> bool;
}

/// Declares an enum of actions together with its table: each variant has the non-empty fields of its [`ActionRow`].
macro_rules! action_table {
    ($(#[$doc:meta])* $name:ident { $($variant:ident { $($field:ident: $value:expr),* $(,)? })* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($variant),* }

        impl $crate::actions::row::ActionTable for $name {
            #[allow(clippy::needless_update, reason = "a row may have every field")]
            const ROWS: &'static [($name, $crate::actions::row::ActionRow)] = &[$(
                ($name::$variant, $crate::actions::row::ActionRow { $($field: $value,)* ..$crate::actions::row::ActionRow::EMPTY })
            ),*];

            fn row(self) -> &'static $crate::actions::row::ActionRow {
                &Self::ROWS[self as usize].1
            }

            fn is_live(self, at: &$crate::actions::focus::Keyboard) -> bool {
                self.is_live_at(at)
            }
        }
    };
}
pub(super) use action_table;

/// The appearance of an action on the key sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetLine {
    /// No line; the action has no key.
    Unlisted,
    /// A line of its own, with this text.
    New(&'static str),
    /// The same line as the row above.
    Joined,
    /// No line; the text of another line mentions its keys.
    Mentioned,
}

/// Keys or a mouse gesture, and their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLine {
    pub keys: String,
    pub meaning: &'static str,
}

/// Returns the key sheet's lines for a table, after the mouse gestures.
pub fn lines<A: ActionTable>(mouse: &[(&str, &'static str)]) -> Vec<KeyLine> {
    let mouse = mouse.iter().map(|(keys, meaning)| KeyLine { keys: (*keys).to_owned(), meaning });
    let mut lines: Vec<(Vec<&ActionRow>, &'static str)> = Vec::new();
    for (_, row) in A::ROWS {
        match (row.line, lines.last_mut()) {
            (SheetLine::New(meaning), _) => lines.push((vec![row], meaning)),
            (SheetLine::Joined, Some((rows, _))) => rows.push(row),
            (SheetLine::Unlisted | SheetLine::Mentioned | SheetLine::Joined, _) => {}
        }
    }
    mouse.chain(lines.into_iter().map(|(rows, meaning)| KeyLine { keys: written(&rows), meaning })).collect()
}

/// Returns the keys of all rows, followed by "or" and the alternative keys.
fn written(rows: &[&ActionRow]) -> String {
    let all = |keys: fn(&ActionRow) -> &'static [Shortcut]| {
        rows.iter().flat_map(|row| keys(row)).copied().collect::<Vec<_>>()
    };
    let [keys, or] = [all(|row| row.keys), all(|row| row.or)].map(|keys| joined(&keys));
    if or.is_empty() { keys } else { format!("{keys} or {or}") }
}

/// Joins keys; modifiers that consecutive keys share are written once: `Ctrl + plus, minus, 0`.
fn joined(keys: &[Shortcut]) -> String {
    let groups = keys.chunk_by(|a, b| a.modifiers == b.modifiers).map(|group| {
        let modifiers: String = group[0].modifier_names().map(|name| format!("{name} + ")).collect();
        format!("{modifiers}{}", names(group))
    });
    groups.collect::<Vec<_>>().join(", ")
}

/// Joins key names: signs side by side, words and letters as a list, digits as a range.
fn names(keys: &[Shortcut]) -> String {
    const RANGE: usize = 3;
    let name = |key: &Shortcut| if key.is_twice { key.text() } else { key.key_name().to_owned() };
    let digit = |key: &Shortcut| key.key_name().parse::<u32>().ok();
    let runs = keys.chunk_by(|a, b| digit(a).zip(digit(b)).is_some_and(|(a, b)| a + 1 == b));
    let names: Vec<String> = runs
        .flat_map(|run| match run {
            [first, .., last] if run.len() >= RANGE => vec![format!("{} … {}", name(first), name(last))],
            _ => run.iter().map(name).collect(),
        })
        .collect();
    let are_signs = names.iter().all(|name| !name.chars().any(char::is_alphanumeric));
    names.join(if are_signs { " " } else { ", " })
}
