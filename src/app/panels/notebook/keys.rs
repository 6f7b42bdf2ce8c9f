//! Jupyter's keys, in its command mode: a cell is selected and nothing is written.

use std::time::{Duration, Instant};

use egui::{Key, Modifiers, Ui};

use crate::kernel::command::Command;
use crate::kernel::notebook::document::OwnKind;
use crate::kernel::notebook::{CellCommand, NotebookCommand};

use super::Frame;
use super::kind_keys::kind_keys;
use super::writing::go_on;

/// Of the key sheet.
pub const SHEET: [(&str, &str); 16] = [
    ("Enter, Esc", "write in the selected cell; leave it"),
    ("↑ ↓ or K J", "select the cell above, below"),
    ("Shift + Enter", "run the cell and go on"),
    ("Ctrl + Enter", "run the cell"),
    ("Alt + Enter", "run it and insert a cell below"),
    ("A, B", "insert a cell above, below"),
    ("D D", "delete the cell; Z brings it back"),
    ("M, Y", "make it text, code"),
    ("Ctrl + Shift + ↑ ↓", "move the cell"),
    ("Ctrl + Shift + minus", "split the cell at the caret"),
    ("Shift + M", "merge it with the cell below"),
    ("O; I I; 0 0", "fold; stop what runs; restart"),
    ("1 … 8, Enter", "choose an answer, lock it in"),
    ("Enter; ← →", "set the stage; turn a slider"),
    ("H, Shift + H", "a hint, the solution"),
    ("F", "the functions of code cells"),
];

/// The longest time between two keys that belong together.
const TWICE: Duration = Duration::from_millis(600);

pub fn keys(ui: &Ui, frame: &mut Frame) {
    let ctx = ui.ctx();
    if ctx.text_edit_focused() || ctx.memory(|memory| memory.focused()).is_some() || egui::Popup::is_any_open(ctx) {
        return;
    }
    let pressed = |modifiers, key| ctx.input_mut(|input| input.consume_key(modifiers, key));
    // Several may come in one frame.
    let count = |key| ctx.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let steps = (count(Key::ArrowDown) + count(Key::J)) as isize - (count(Key::ArrowUp) + count(Key::K)) as isize;
    if steps != 0 {
        frame.step(steps);
    }
    if pressed(Modifiers::NONE, Key::F) {
        // The letter is no search.
        ctx.input_mut(|input| input.events.retain(|event| !matches!(event, egui::Event::Text(_))));
        frame.toggle_reference();
    }
    let twice = [Key::D, Key::I, Key::Num0].into_iter().find(|key| is_second(frame, *key, count(*key)));
    match twice {
        Some(Key::I) => frame.commands.push(Command::Notebook(NotebookCommand::Interrupt)),
        Some(Key::Num0) => frame.commands.push(Command::Notebook(NotebookCommand::Restart)),
        _ => {}
    }
    let Some((id, index)) = frame.state.selected.clone().and_then(|id| {
        let index = frame.model.index(&id)?;
        Some((id, index))
    }) else {
        return;
    };
    if twice == Some(Key::D) {
        let next = frame.model.cells.get(index + 1).or_else(|| frame.model.cells.get(index.checked_sub(1)?));
        let next = next.map(|cell| cell.id().clone());
        frame.ask(&id, CellCommand::Delete);
        frame.state.selected = next;
        return;
    }
    if kind_keys(ui, frame, index) {
        return;
    }
    let cell = &frame.model.cells[index];
    let runs = !cell.cell.is_text();
    if pressed(Modifiers::COMMAND | Modifiers::SHIFT, Key::ArrowUp) {
        frame.ask(&id, CellCommand::Shift(-1));
        frame.reveal(&id);
    } else if pressed(Modifiers::COMMAND | Modifiers::SHIFT, Key::ArrowDown) {
        frame.ask(&id, CellCommand::Shift(1));
        frame.reveal(&id);
    } else if pressed(Modifiers::SHIFT, Key::Enter) {
        if runs {
            frame.ask(&id, CellCommand::Run);
        }
        go_on(frame, index);
    } else if pressed(Modifiers::ALT, Key::Enter) {
        if runs {
            frame.ask(&id, CellCommand::Run);
        }
        frame.insert(&id, OwnKind::Code, false, true);
    } else if pressed(Modifiers::COMMAND, Key::Enter) {
        if runs {
            frame.ask(&id, CellCommand::Run);
            frame.reveal_end(&id);
        }
    } else if pressed(Modifiers::NONE, Key::Enter) {
        frame.write(&id);
    } else if pressed(Modifiers::SHIFT, Key::M) {
        frame.ask(&id, CellCommand::MergeBelow);
        frame.state.drafts.forget(&id);
    } else if pressed(Modifiers::NONE, Key::A) {
        frame.insert(&id, OwnKind::Code, true, false);
    } else if pressed(Modifiers::NONE, Key::B) {
        frame.insert(&id, OwnKind::Code, false, false);
    } else if pressed(Modifiers::NONE, Key::M) {
        frame.ask(&id, CellCommand::SetKind(OwnKind::Text));
    } else if pressed(Modifiers::NONE, Key::Y) {
        frame.ask(&id, CellCommand::SetKind(OwnKind::Code));
    } else if pressed(Modifiers::NONE, Key::O) {
        let is_folded = cell.cell.is_folded;
        frame.ask(&id, CellCommand::Fold(!is_folded));
    } else if pressed(Modifiers::NONE, Key::Z) {
        frame.commands.push(Command::Undo);
    }
}

/// The same key was pressed a moment ago, or twice in this frame.
fn is_second(frame: &mut Frame, key: Key, count: usize) -> bool {
    if count == 0 {
        return false;
    }
    // Not the frame's time: after a rest the first frame has that of the last one.
    let now = Instant::now();
    let before = frame.state.first_key.take();
    let is_second = count > 1 || before.is_some_and(|(first, at)| first == key && now - at < TWICE);
    if !is_second {
        frame.state.first_key = Some((key, now));
    }
    is_second
}
