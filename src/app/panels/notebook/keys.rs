//! Jupyter's keys, in its command mode: a cell is selected and nothing is written.

use std::time::{Duration, Instant};

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::document::{CellId, OwnKind};
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use egui::{Key, Ui};

use super::frame::Frame;
use super::kinds::{is_of_kind, kind_keys};
use super::writing::go_on;
use crate::app::actions::{NotebookAction, Pressed, drop_text, first_pressed, pressed};

/// The longest time between two presses that belong together.
const TWICE: Duration = Duration::from_millis(600);

pub fn keys(ui: &Ui, frame: &mut Frame) {
    use NotebookAction::{Delete, Functions, Interrupt, Leave, Restart, SelectAbove, SelectBelow, Split};
    let ctx = ui.ctx();
    if ctx.text_edit_focused() || ctx.memory(|memory| memory.focused()).is_some() || egui::Popup::is_any_open(ctx) {
        return;
    }
    if ui.input(|input| input.key_pressed(Key::Escape)) {
        frame.state.is_led_by_keys = true;
    }
    let is_first = |action| matches!(action, SelectAbove | SelectBelow | Functions | Delete | Interrupt | Restart);
    let mut deletes = false;
    let mut steps = 0;
    for Pressed { action, count, .. } in pressed(ctx, is_first) {
        match action {
            SelectAbove => steps -= count as isize,
            SelectBelow => steps += count as isize,
            Functions => {
                frame.toggle_reference(ui);
                drop_text(ctx);
            }
            _ if is_refused(frame, action) || !is_second(frame, action, count) => {}
            Interrupt => frame.commands.push(Command::Notebook(NotebookCommand::Interrupt)),
            Restart => frame.commands.push(Command::Notebook(NotebookCommand::Restart)),
            _ => deletes = true,
        }
    }
    if steps != 0 {
        frame.state.is_led_by_keys = true;
        frame.step(steps);
    }
    let Some((id, index)) = frame.state.selected.clone().and_then(|id| {
        let index = frame.model.index(&id)?;
        Some((id, index))
    }) else {
        return;
    };
    if deletes {
        delete(frame, &id, index);
        return;
    }
    if kind_keys(ui, frame, index) {
        return;
    }
    // One of them: what follows may be meant for another cell, or for the text of this one.
    let is_on = |action| !is_first(action) && !is_of_kind(action) && !matches!(action, Leave | Split);
    match first_pressed(ctx, is_on) {
        Some(action) if is_refused(frame, action) => {}
        // The lesson is read on.
        Some(NotebookAction::Write) if is_lessons_text(frame, index) => frame.step(1),
        Some(action) => perform(action, frame, &id, index),
        None => {}
    }
}

/// A text of the lesson that is read, and not being written.
fn is_lessons_text(frame: &Frame, index: usize) -> bool {
    let cell = &frame.model.cells[index].cell;
    cell.is_text() && !cell.is_own
}

/// Whether a letter would change the notebook though the learner did not come to the selected cell by keys: then it was
/// perhaps meant for a field, and it is said how to write.
fn is_refused(frame: &mut Frame, action: NotebookAction) -> bool {
    let is_refused = action.is_of_command_mode() && !frame.state.is_led_by_keys;
    if is_refused {
        frame.state.refused = Some(Instant::now());
    }
    is_refused
}

/// Deletes a cell and selects the one that comes in its place.
fn delete(frame: &mut Frame, id: &CellId, index: usize) {
    let next = frame.model.cells.get(index + 1).or_else(|| frame.model.cells.get(index.checked_sub(1)?));
    let next = next.map(|cell| cell.id().clone());
    frame.delete(id);
    frame.state.selected = next;
}

/// Does to a cell what its menu or a key asks for.
pub fn perform(action: NotebookAction, frame: &mut Frame, id: &CellId, index: usize) {
    let cell = &frame.model.cells[index].cell;
    let runs = !cell.is_text();
    let run = |frame: &mut Frame| {
        if runs {
            frame.ask(id, CellCommand::Run);
        }
    };
    match action {
        NotebookAction::Write | NotebookAction::EditText => frame.write(id),
        NotebookAction::RunAndGoOn => {
            run(frame);
            match &frame.model.cells[index] {
                cell if cell.is_exercise() => frame.await_verdict(cell, true),
                _ => go_on(frame, index),
            }
        }
        NotebookAction::Run => {
            run(frame);
            if runs {
                frame.reveal_answer(&frame.model.cells[index]);
            }
        }
        NotebookAction::RunAndInsert => {
            run(frame);
            frame.insert(id, OwnKind::Code, false, true);
        }
        NotebookAction::InsertAbove => frame.insert(id, OwnKind::Code, true, false),
        NotebookAction::InsertBelow => frame.insert(id, OwnKind::Code, false, false),
        NotebookAction::Delete => frame.delete(id),
        NotebookAction::UndoDelete => frame.commands.push(Command::Undo),
        NotebookAction::MakeText => frame.ask(id, CellCommand::SetKind(OwnKind::Text)),
        NotebookAction::MakeCode => frame.ask(id, CellCommand::SetKind(OwnKind::Code)),
        NotebookAction::MoveUp | NotebookAction::MoveDown => {
            frame.ask(id, CellCommand::Shift(if action == NotebookAction::MoveUp { -1 } else { 1 }));
            frame.reveal(id);
        }
        NotebookAction::Merge => {
            frame.ask(id, CellCommand::MergeBelow);
            frame.state.drafts.forget(id);
        }
        NotebookAction::Fold => frame.ask(id, CellCommand::Fold(!cell.is_folded)),
        NotebookAction::Hint | NotebookAction::Solution => {
            let command = if action == NotebookAction::Hint { CellCommand::Hint } else { CellCommand::Reveal };
            frame.ask(id, command);
            frame.reveal_end(id);
        }
        NotebookAction::RunAbove => frame.ask(id, CellCommand::RunAbove),
        NotebookAction::ClearOutputs => frame.ask(id, CellCommand::ClearOutputs),
        NotebookAction::AutoRun => frame.ask(id, CellCommand::SetAutoRun(!cell.auto_run)),
        NotebookAction::Reset => {
            frame.ask(id, CellCommand::Reset);
            frame.state.drafts.forget(id);
        }
        // Of the whole notebook, of a cell that is written, or of one of a certain kind.
        NotebookAction::SelectAbove
        | NotebookAction::SelectBelow
        | NotebookAction::Interrupt
        | NotebookAction::Restart
        | NotebookAction::Functions
        | NotebookAction::Leave
        | NotebookAction::Split
        | NotebookAction::Answer
        | NotebookAction::Turn
        | NotebookAction::TurnFinely => {}
    }
}

/// The same key was pressed a moment ago, or twice in this frame.
fn is_second(frame: &mut Frame, action: NotebookAction, count: usize) -> bool {
    // Not the frame's time: after a rest the first frame has that of the last one.
    let now = Instant::now();
    let before = frame.state.first_press.take();
    let is_second = count > 1 || before.is_some_and(|(first, at)| first == action && now - at < TWICE);
    if !is_second {
        frame.state.first_press = Some((action, now));
    }
    is_second
}
