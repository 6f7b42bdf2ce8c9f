//! The actions of the sentence over the stage, once it was clicked.

use egui::Key;

use super::SheetLine::{Joined, New};
use super::action_table;
use super::keys::key;

/// Mouse gestures on the sentence.
pub const MOUSE: [(&str, &str); 1] = [("Click", "choose a word, or the pair of an arc")];

action_table! {
    /// An action of the sentence over the stage.
    SentenceAction {
        WordBefore { keys: &[key(Key::ArrowLeft)], line: New("choose the word before, after") }
        WordAfter { keys: &[key(Key::ArrowRight)], line: Joined }
        HeadBefore { keys: &[key(Key::ArrowUp)], line: New("the head or layer before, after") }
        HeadAfter { keys: &[key(Key::ArrowDown)], line: Joined }
        Turn {
            tooltip: "Words that it looks at, or words that look at it",
            keys: &[key(Key::R)],
            line: New("words that it looks at, or words that look at it"),
        }
        LetGo { keys: &[key(Key::Escape)], line: New("no word chosen; leave the sentence") }
    }
}
