//! Everything that a key or a menu entry does, one row an action.
//!
//! A row has the words of the menu entry, the tooltip, the keys and the line of the key sheet. Menus, tooltips and the
//! sheet are printed from the tables and the keys are looked up in them, so a new key costs a row here and an arm of
//! the `match` that performs it.
//!
//! | file | actions | performed in |
//! |---|---|---|
//! | [`window`] | of the window and the lesson | `shell/perform.rs` |
//! | [`stage`] | of the stage: camera, search | `stage/keys.rs` |
//! | [`sentence`] | of the sentence over the stage | `stage/sentence/keys.rs` |
//! | [`notebook`] | of the selected cell, and of the cell that is being written | `panels/notebook` |
//! | [`keys`] | how keys are matched, counted and consumed | |
//! | [`typing`] | letters that were meant for a field | |
//! | [`sheet`] | the lines of the key sheet | |

pub mod focus;
pub mod keys;
pub mod notebook;
pub mod sentence;
pub mod sheet;
pub mod stage;
pub mod typing;
pub mod window;

pub use keys::{Pressed, Shortcut, drop_text, first_pressed, pressed};
pub use notebook::NotebookAction;
pub use sentence::SentenceAction;
pub use sheet::SheetLine;
pub use stage::StageAction;
pub use window::{Action, ListChoice, WindowAction};

/// Texts of an action, and its keys.
#[derive(Clone, Copy, Debug)]
pub struct Row {
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

impl Row {
    const EMPTY: Row = Row { text: "", tooltip: "", keys: &[], or: &[], aliases: &[], line: SheetLine::Unlisted };

    /// The keys as menus and tooltips write them: `Ctrl+Shift+↑`, `D D`.
    pub fn keys_text(&self) -> String {
        self.keys.first().map(Shortcut::text).unwrap_or_default()
    }

    /// The tooltip with the keys behind it.
    pub fn hint(&self) -> String {
        self.hint_with(self.tooltip)
    }

    /// Other words with the keys behind them, where they change with what is shown.
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
    const ROWS: &'static [(Self, Row)];

    fn row(self) -> &'static Row;
}

/// Declares the actions and their table in one: each variant with the fields of its [`Row`] that are not empty.
macro_rules! action_table {
    ($(#[$doc:meta])* $name:ident { $($variant:ident { $($field:ident: $value:expr),* $(,)? })* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($variant),* }

        impl $crate::app::actions::ActionTable for $name {
            #[allow(clippy::needless_update, reason = "a row may have every field")]
            const ROWS: &'static [($name, $crate::app::actions::Row)] = &[$(
                ($name::$variant, $crate::app::actions::Row { $($field: $value,)* ..$crate::app::actions::Row::EMPTY })
            ),*];

            fn row(self) -> &'static $crate::app::actions::Row {
                &Self::ROWS[self as usize].1
            }
        }
    };
}
use action_table;
