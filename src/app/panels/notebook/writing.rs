//! The editor of a cell, with the notebook's keys. While an editor has the keyboard, its text, the draft, is sent to
//! the kernel; otherwise the kernel's text is shown.

use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::{CellId, OwnKind};
use attune_core::kernel::notebook::snapshot::CellStatus;
use attune_core::lesson::cells::CellKind;
use attune_engine::code::Fault;
use attune_engine::code::budget::SOURCE_BYTES_MAX;
use attune_ui::actions::{ActionTable, NotebookAction};
use attune_ui::text::code_text::Language;
use attune_ui::text::editor::{Asked, EditorModel, editor_ui, focus_editor};
use attune_ui::theme::Palette;
use attune_view::view_model::notebook::CellModel;
use egui::{RichText, Ui};

use super::frame::NotebookFrame;
use super::state::CaretEdge;

/// Returns the keyboard to an editor if a click on a button beside it has just taken it.
pub fn write_on(frame: &mut NotebookFrame, id: &CellId) {
    if frame.state.drafts.is_just_left(id) {
        frame.state.focus = Some(id.clone());
    }
}

pub fn write_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut NotebookFrame) {
    let id = cell.id().clone();
    let is_text = cell.cell.is_text();
    // An exercise starts without the names that the cells above define.
    let scope = frame.model.scope(index, !cell.cell.is_code());
    let code_hint = format!("Code: {} runs it", NotebookAction::RunAndGoOn.row().keys_text());
    let (what, hint) = if is_text { ("Markdown", "Markdown, with $maths$") } else { ("Code", &*code_hint) };
    let model = EditorModel {
        name: &format!("{what} of cell {id}"),
        language: if is_text { Language::Markdown } else { Language::Code(&scope) },
        fault: fault_of(cell),
        hint,
        editable: true,
    };
    let is_wanted = frame.state.focus.take_if(|focus| *focus == id).is_some();
    let caret = frame.state.caret.take_if(|_| is_wanted);
    let draft = frame.state.drafts.of(&id, &cell.cell.text);
    if is_wanted {
        focus_editor(ui, &draft.text, caret.map(|edge| edge.caret(&draft.text)));
    }
    let mut text = std::mem::take(&mut draft.text);
    let response = editor_ui(ui, &mut text, &model, &mut draft.editor);
    draft.text = text;
    draft.is_just_left = draft.is_focused && !response.focused;
    draft.is_focused = response.focused;
    let is_too_long = draft.is_too_long();
    if is_too_long {
        too_long_ui(ui);
    } else if response.changed {
        let text = draft.send();
        frame.ask(&id, CellCommand::SetText(text));
    }
    if response.focused {
        frame.select(&id);
    }
    if let Some(asked) = response.asked {
        act(ui, asked, cell, index, frame);
    }
}

/// Returns the fault of a cell, from its last run or found in its text, with the text to which its place refers.
fn fault_of(cell: &CellModel) -> Option<(&Fault, &str)> {
    let run = cell.shown.run.as_ref();
    let fault = run.and_then(|run| run.fault.as_ref()).filter(|_| cell.shown.status != CellStatus::Stale);
    let fault = fault.or(cell.shown.mistake.as_deref())?;
    Some((fault, &*cell.cell.text))
}

fn too_long_ui(ui: &mut Ui) {
    let words = format!(
        "This text is not kept, because a cell has at most {SOURCE_BYTES_MAX} bytes of text. \
        Shorten the text or split the cell."
    );
    ui.label(RichText::new(words).color(Palette::on(ui).warn));
}

fn act(ui: &Ui, asked: Asked, cell: &CellModel, index: usize, frame: &mut NotebookFrame) {
    use NotebookAction::{Run, RunAndGoOn, RunAndInsert, SelectAbove, SelectBelow, Split};
    let Asked { action, caret } = asked;
    let id = cell.id();
    let is_text = cell.cell.is_text();
    let neighbour = if action == SelectAbove { index.checked_sub(1) } else { Some(index + 1) };
    let neighbour = neighbour.and_then(|index| frame.model.open_cells().get(index));
    let is_checked = cell.is_exercise() && !frame.state.drafts.is_too_long(id);
    let leaves = match action {
        // After a run, the editor of code stays open, but that of text is closed.
        Run => is_text,
        SelectAbove | SelectBelow => neighbour.is_some(),
        // The editor stays open until the verdict, and after a wrong answer.
        RunAndGoOn if is_checked => false,
        _ => true,
    };
    frame.state.is_led_by_keys = true;
    if leaves {
        ui.memory_mut(|memory| memory.stop_text_input());
        frame.state.drafts.leave(id);
        frame.state.open_text.take_if(|open| open == id);
        frame.select(id);
    }
    let runs = matches!(action, Run | RunAndGoOn | RunAndInsert);
    if runs && !is_text && !frame.state.drafts.is_too_long(id) {
        frame.ask(id, CellCommand::Run);
    }
    match (action, neighbour) {
        (Run, _) => frame.reveal_answer(cell),
        (RunAndGoOn, _) if is_checked => frame.await_verdict(cell, true),
        (RunAndGoOn, _) => frame.go_on(index),
        (RunAndInsert, _) => frame.insert(id, OwnKind::Code, false, true),
        (Split, _) => {
            frame.ask(id, CellCommand::Split(caret));
            frame.state.drafts.forget(id);
        }
        (SelectAbove, Some(cell)) => enter(frame, cell, CaretEdge::LastLine),
        (SelectBelow, Some(cell)) => enter(frame, cell, CaretEdge::Start),
        _ => {}
    }
}

/// Enters a cell from a neighbour, as in JupyterLab: the editor of code is opened, and any other cell is selected.
fn enter(frame: &mut NotebookFrame, cell: &CellModel, edge: CaretEdge) {
    let id = cell.id();
    if matches!(*cell.cell.kind, CellKind::Code { .. }) && !cell.cell.is_folded {
        frame.write(id);
        frame.state.caret = Some(edge);
    } else {
        frame.select(id);
    }
    frame.reveal(id);
}
