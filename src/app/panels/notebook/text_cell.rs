//! Text: set as a page is; its Markdown opens by Enter or a double click.

use attune_view::view_model::notebook::CellModel;
use egui::{Label, RichText, Sense, Ui};

use super::frame::Frame;
use super::writing::write_ui;
use crate::app::theme::Palette;

pub fn text_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut Frame) {
    let id = cell.id();
    let is_empty = cell.cell.text.trim().is_empty();
    if frame.state.open_text.as_ref() == Some(id) {
        write_ui(ui, cell, index, frame);
    } else if is_empty {
        let palette = Palette::of(ui.visuals().dark_mode);
        let hint = RichText::new("Empty text: Enter to write").color(palette.ink_faint);
        if ui.add(Label::new(hint).sense(Sense::click())).clicked() {
            frame.write(id);
        }
    } else {
        frame.prose_ui(ui, cell, &cell.cell.text);
    }
}
