//! A row of a table of actions: its words and keys; and the lines of the key sheet, which are printed from them.

use super::focus::Keyboard;
use super::shortcut::Shortcut;

/// Texts of an action, and its keys.
#[derive(Clone, Copy, Debug)]
pub struct ActionRow {
    /// The words of its menu entry or button; empty where it has none.
    pub text: &'static str,
    /// The tooltip, without the keys.
    pub tooltip: &'static str,
    /// One key, or one for each of a family: the panels, the axes, the answers.
    pub keys: &'static [Shortcut],
    /// Other keys for the same, in the same order.
    pub or: &'static [Shortcut],
    /// More keys for the same action, not listed anywhere: some keyboards send them, or people are used to them.
    pub aliases: &'static [Shortcut],
    pub line: SheetLine,
}

impl ActionRow {
    pub(super) const EMPTY: ActionRow =
        ActionRow { text: "", tooltip: "", keys: &[], or: &[], aliases: &[], line: SheetLine::Unlisted };

    /// The keys as menus and tooltips write them: `Ctrl+Shift+↑`, `D D`.
    pub fn keys_text(&self) -> String {
        self.keys.first().map(Shortcut::text).unwrap_or_default()
    }

    /// The tooltip with the keys after it.
    pub fn hint(&self) -> String {
        self.hint_with(self.tooltip)
    }

    /// Other words with the keys after them, where they change with what is shown.
    pub fn hint_with(&self, words: &str) -> String {
        match self.keys_text() {
            keys if keys.is_empty() => words.to_owned(),
            keys => format!("{words} ({keys})"),
        }
    }
}

/// A set of actions with its table, made by `action_table`.
pub trait ActionTable: Copy + Eq + std::fmt::Debug + 'static {
    /// Every action with its row, in the order of the key sheet.
    const ROWS: &'static [(Self, ActionRow)];

    fn row(self) -> &'static ActionRow;

    /// Whether its keys are looked for, by what has the keyboard and what is open.
    fn is_live(self, at: &Keyboard) -> bool;
}

/// Declares the actions and their table in one: each variant with the fields of its [`ActionRow`] that are not empty.
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

/// How the key sheet tells of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetLine {
    /// Without a line in the sheet: the action has no key.
    Unlisted,
    /// A line of its own, with these words.
    New(&'static str),
    /// Its keys stand on the line of the row above.
    Joined,
    /// The words of another line mention its keys.
    Mentioned,
}

/// Keys, or what the mouse does, and their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLine {
    pub keys: String,
    pub meaning: &'static str,
}

/// The lines of a table, below those of the mouse.
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

/// The keys of all rows, and after an "or" the other keys for the same.
fn written(rows: &[&ActionRow]) -> String {
    let all = |keys: fn(&ActionRow) -> &'static [Shortcut]| {
        rows.iter().flat_map(|row| keys(row)).copied().collect::<Vec<_>>()
    };
    let [keys, or] = [all(|row| row.keys), all(|row| row.or)].map(|keys| joined(&keys));
    if or.is_empty() { keys } else { format!("{keys} or {or}") }
}

/// Modifiers that follow each other are written once: `Ctrl + plus, minus, 0`.
fn joined(keys: &[Shortcut]) -> String {
    let groups = keys.chunk_by(|a, b| a.modifiers == b.modifiers).map(|group| {
        let modifiers: String = group[0].modifier_names().map(|name| format!("{name} + ")).collect();
        format!("{modifiers}{}", names(group))
    });
    groups.collect::<Vec<_>>().join(", ")
}

/// Signs stand side by side, words and letters as a list; of a row of digits, the ends.
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
