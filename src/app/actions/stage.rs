//! The actions of the stage and of the sentence over it, once they were clicked.

use super::SheetLine::{Joined, Mentioned, New};
use super::action_table;
use super::keys::{key, shift};
use egui::Key;

/// Mouse gestures on the stage.
pub const STAGE_MOUSE: [(&str, &str); 5] = [
    ("Left-drag", "turn; a flat picture tilts into space"),
    ("Right- or middle-drag", "pan"),
    ("Wheel", "zoom towards the pointer"),
    ("Click", "choose a token: its row of attention"),
    ("Double-click", "centre on a point; on empty space, reset the view"),
];

action_table! {
    /// An action of the stage.
    StageAction {
        Orbit {
            keys: &[key(Key::ArrowUp), key(Key::ArrowDown), key(Key::ArrowLeft), key(Key::ArrowRight)],
            line: New("turn; with Shift, pan"),
        }
        Pan {
            keys: &[shift(Key::ArrowUp), shift(Key::ArrowDown), shift(Key::ArrowLeft), shift(Key::ArrowRight)],
            line: Mentioned,
        }
        Nearer { keys: &[key(Key::Plus)], aliases: &[key(Key::Equals)], line: New("zoom") }
        Farther { keys: &[key(Key::Minus)], line: Joined }
        Focus { keys: &[key(Key::F)], line: New("look at the point, or the chosen word") }
        LookAlong {
            keys: &[key(Key::X), key(Key::Y), key(Key::Z)],
            line: New("look along an axis, then from behind"),
        }
        Flat {
            text: "2D",
            tooltip: "The plane of two axes, without perspective; a drag tilts it back into space",
            keys: &[key(Key::Num2)],
            line: New("2D and back"),
        }
        Search {
            text: "Search words",
            tooltip: "Words with these letters are lit; Enter looks at the next",
            keys: &[key(Key::Slash)],
            line: New("search words; Enter: the next that is found"),
        }
        Isolate {
            text: "Isolate",
            tooltip: "Show only what is found",
            keys: &[key(Key::I)],
            line: New("show only what is found, or is near"),
        }
        NextQuery {
            keys: &[key(Key::Q)],
            line: New("the next word as the query; with Shift the one before"),
        }
        QueryBefore { keys: &[shift(Key::Q)], line: Mentioned }
        Clear {
            tooltip: "All points again",
            keys: &[key(Key::Escape)],
            line: New("all points again; no word chosen; leave the stage"),
        }
        Home { text: "Home", tooltip: "Camera home", keys: &[key(Key::Home)], line: New("camera home") }
    }
}

/// Mouse gestures on the sentence.
pub const SENTENCE_MOUSE: [(&str, &str); 1] = [("Click", "choose a word, or the pair of an arc")];

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
