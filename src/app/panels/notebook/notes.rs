//! Words over the lower edge of the notebook: a cell was deleted, with the way back; or letters were typed that do
//! nothing, and how to write.

use std::time::{Duration, Instant};

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::editing::DELETION;
use egui::{RichText, Ui};

use super::frame::Frame;
use crate::app::actions::focus::dropped_letters;
use crate::app::actions::{ActionTable, NotebookAction, WindowAction};
use crate::app::theme::size;
use crate::app::widgets::note::note_ui;

/// Long enough to read it and to get to the button.
const SHOWN: Duration = Duration::from_secs(10);

pub fn notes_ui(ui: &Ui, frame: &mut Frame) {
    if !deleted_ui(ui, frame) {
        letters_ui(ui, frame);
    }
}

/// True where it is shown.
fn deleted_ui(ui: &Ui, frame: &mut Frame) -> bool {
    let Some(showing) = &mut frame.state.deleted else { return false };
    // As soon as something else would be undone, the way back is another one.
    let is_last = frame.model.history.undo.as_deref() == Some(DELETION);
    let is_asked = !frame.commands.is_empty();
    let is_over = !is_last && !is_asked && showing.elapsed() > Duration::from_secs(1);
    let Some(opacity) = showing.opacity(ui.ctx(), SHOWN).filter(|_| !is_over) else {
        frame.state.deleted = None;
        return false;
    };
    if !is_last {
        return false;
    }
    let undo = WindowAction::Undo.row();
    let (undoes, note) = note_ui(ui.ctx(), ui.id().with("deleted"), size::GAP_WIDE, |ui| {
        ui.set_opacity(opacity);
        ui.label(RichText::new("Cell deleted").size(size::READING));
        let words = format!("Undo ({})", undo.keys_text());
        ui.button(words).on_hover_text("Bring the cell back").clicked()
    });
    showing.stay(&note);
    if undoes {
        frame.commands.push(Command::Undo);
        frame.state.deleted = None;
    }
    true
}

/// Letters that were typed into nothing: they were perhaps meant for the selected cell.
fn letters_ui(ui: &Ui, frame: &mut Frame) {
    let latest: Option<Instant> = frame.state.refused.max(dropped_letters(ui.ctx()));
    let Some(age) = latest.map(|since| since.elapsed()).filter(|age| *age < SHOWN) else { return };
    if ui.ctx().text_edit_focused() {
        frame.state.refused = None;
        return;
    }
    ui.ctx().request_repaint_after(SHOWN - age);
    let [write, command] = [NotebookAction::Write, NotebookAction::Leave].map(|action| action.row().keys_text());
    note_ui(ui.ctx(), ui.id().with("letters"), size::GAP_WIDE, |ui| {
        let words = format!("{write} to write; {command} for the keys of the notebook");
        ui.label(RichText::new(words).size(size::READING));
    });
}
