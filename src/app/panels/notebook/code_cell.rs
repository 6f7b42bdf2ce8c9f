//! Code: the editor, and what its last run showed. A plot shows no code until it is unfolded.

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::app::panels::editor::{EditorModel, NotebookKey, editor_id, editor_ui};
use crate::app::panels::outputs::{fault_ui, outputs_ui};
use crate::app::theme::size;
use crate::kernel::notebook::CellCommand;
use crate::kernel::notebook::document::OwnKind;
use crate::kernel::notebook::snapshot::CellStatus;
use crate::lesson::cells::CellKind;
use crate::view_model::notebook::CellModel;

use super::Frame;

pub fn code_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut Frame) {
    if let CellKind::Plot { caption, .. } = &*cell.cell.kind {
        ui.label(RichText::new(caption).size(size::READING));
    } else {
        write_ui(ui, cell, index, frame);
    }
    ran_ui(ui, cell);
}

/// The editor with the notebook's keys.
pub fn write_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut Frame) {
    let id = cell.id().clone();
    if frame.state.focus.take_if(|focus| *focus == id).is_some() {
        let editor = editor_id(ui);
        ui.memory_mut(|memory| memory.request_focus(editor));
    }
    let scope = frame.model.scope(if cell.cell.is_code() { index } else { 0 });
    let draft = frame.state.drafts.of(&id, &cell.cell.text);
    draft.set_scope(scope);
    let scope = draft.scope.clone();
    let run = cell.shown.run.as_ref();
    let fault = run.and_then(|run| run.fault.as_ref()).filter(|_| cell.shown.status != CellStatus::Stale);
    let fault = fault.map(|fault| (fault, &*cell.cell.text));
    let mistake = cell.shown.mistake.as_deref().map(|fault| (fault, &*cell.cell.text));
    let name = format!("Code of cell {id}");
    let hint = "Code: Shift+Enter runs it";
    let model = EditorModel { name: &name, scope: &scope, fault: fault.or(mistake), hint, editable: true };
    let mut text = std::mem::take(&mut draft.text);
    let response = editor_ui(ui, &mut text, &model, &mut draft.editor);
    draft.text = text;
    draft.is_focused = response.focused;
    let sent: Option<Arc<str>> = response.changed.then(|| draft.send());
    if let Some(text) = sent {
        frame.ask(&id, CellCommand::SetText(text));
    }
    if response.focused {
        frame.select(&id);
    }
    match response.key {
        Some(NotebookKey::Run) => frame.ask(&id, CellCommand::Run),
        Some(NotebookKey::RunAndGoOn) => {
            frame.ask(&id, CellCommand::Run);
            ui.memory_mut(|memory| memory.stop_text_input());
            go_on(frame, index);
        }
        Some(NotebookKey::RunAndInsert) => {
            frame.ask(&id, CellCommand::Run);
            frame.insert(&id, OwnKind::Code, false, true);
        }
        Some(NotebookKey::Leave) => frame.select(&id),
        Some(NotebookKey::Split(at)) => {
            frame.ask(&id, CellCommand::Split(at));
            ui.memory_mut(|memory| memory.stop_text_input());
            frame.state.drafts.forget(&id);
        }
        None => {}
    }
}

/// To the next cell; behind the last one, to a new one.
pub fn go_on(frame: &mut Frame, index: usize) {
    if index + 1 < frame.model.open_cells().len() || frame.model.closed_gate.is_some() {
        frame.step(1);
    } else if let Some(last) = frame.model.cells.last() {
        let id = last.id().clone();
        frame.insert(&id, OwnKind::Code, false, true);
    }
}

/// What the last run showed; faint where that is no longer so.
pub fn ran_ui(ui: &mut Ui, cell: &CellModel) {
    let Some(run) = &cell.shown.run else { return };
    ui.scope(|ui| {
        if cell.shown.status == CellStatus::Stale {
            const FAINT: f32 = 0.55;
            ui.multiply_opacity(FAINT);
        }
        if !cell.outputs.is_empty() {
            ui.add_space(size::GAP_TIGHT);
            outputs_ui(ui, &cell.outputs);
        }
        if let Some(fault) = &run.fault {
            ui.add_space(size::GAP_TIGHT);
            fault_ui(ui, fault);
        }
    });
}
