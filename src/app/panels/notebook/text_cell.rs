//! Text: set as a page is; its Markdown opens by Enter or a double click.

use egui::{Key, Modifiers, TextEdit, TextStyle, Ui};

use crate::app::panels::prose::prose_ui;
use crate::app::theme::Palette;
use crate::kernel::notebook::CellCommand;
use crate::view_model::notebook::CellModel;

use super::Frame;

pub fn text_ui(ui: &mut Ui, cell: &CellModel, frame: &mut Frame) {
    let id = cell.id();
    let is_empty = cell.cell.text.trim().is_empty();
    if frame.state.open_text.as_ref() == Some(id) {
        markdown_ui(ui, cell, frame);
    } else if is_empty {
        let palette = Palette::of(ui.visuals().dark_mode);
        let hint = egui::RichText::new("Empty text: Enter to write").color(palette.ink_faint);
        if ui.add(egui::Label::new(hint).sense(egui::Sense::click())).clicked() {
            frame.write(id);
        }
    } else {
        prose_ui(ui, &cell.cell.text, &mut frame.state.prose);
    }
}

fn markdown_ui(ui: &mut Ui, cell: &CellModel, frame: &mut Frame) {
    let id = cell.id();
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    let editor = ui.make_persistent_id("markdown");
    let is_focused = ui.memory(|memory| memory.has_focus(editor));
    let goes_on = is_focused && pressed(Modifiers::SHIFT, Key::Enter);
    let ends = is_focused && (pressed(Modifiers::COMMAND, Key::Enter) || pressed(Modifiers::NONE, Key::Escape));
    let draft = frame.state.drafts.of(id, &cell.cell.text);
    let edit = TextEdit::multiline(&mut draft.text)
        .id(editor)
        .font(TextStyle::Monospace)
        .desired_width(f32::INFINITY)
        .desired_rows(3)
        .hint_text("Markdown, with $maths$");
    let response = ui.add(edit);
    draft.is_focused = response.has_focus();
    if response.changed() {
        let text = draft.send();
        frame.ask(id, CellCommand::SetText(text));
    }
    if frame.state.focus.take_if(|focus| focus == id).is_some() {
        response.request_focus();
    }
    if goes_on || ends {
        frame.state.open_text = None;
        response.surrender_focus();
        frame.select(id);
        if goes_on {
            frame.step(1);
        }
    }
}
