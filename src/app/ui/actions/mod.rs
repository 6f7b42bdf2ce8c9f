//! Every action of keys and menus, one row each, and the other requests to the window.
//!
//! A row has the text of the menu entry, the tooltip, the keys and the line of the key sheet. Menus, tooltips and the
//! sheet are generated from the tables and keys are looked up in them, so a new key needs one row here and one line
//! that names the function that performs it.
//!
//! | file | actions | performed in |
//! |---|---|---|
//! | [`table`] | of the window and the lesson | `shell/perform.rs` |
//! | | of the stage, and of the sentence over it | `stage/bar.rs`, `stage/sentence` |
//! | | of the selected cell, and of the cell that is being written | `panels/notebook` |
//! | [`row`] | the words and the keys of an action; the lines of the key sheet | |
//! | [`shortcut`] | how a key is written and matched | |
//! | [`focus`] | what has the keyboard, and what is open over the page | |
//! | `live` | which actions are live there | |
//! | [`keys`] | how keys are counted and consumed, and which widget takes the keyboard |

pub mod focus;
pub mod keys;
mod live;
pub mod row;
pub mod shortcut;
pub mod table;

pub use self::focus::Keyboard;
pub use self::keys::{drop_text, first_pressed, pressed};
pub use self::row::{ActionRow, ActionTable, KeyLine, SheetLine, lines};
pub use self::shortcut::{Pressed, Shortcut};
pub use self::table::{Action, FilePurpose, NotebookAction, ReachedCell, SentenceAction, StageAction, WindowAction};
