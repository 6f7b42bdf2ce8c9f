//! The actions of the stage, once it was clicked.

use egui::Key;

use super::SheetLine::{Joined, Mentioned, New};
use super::action_table;
use super::keys::{key, shift};

/// Mouse gestures on the stage.
pub const MOUSE: [(&str, &str); 5] = [
    ("Left-drag", "turn; a flat picture tilts into space"),
    ("Right- or middle-drag", "pan"),
    ("Wheel", "zoom towards the pointer"),
    ("Click", "choose a token: its row of attention"),
    ("Double-click", "look at a point; where none is, home"),
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
