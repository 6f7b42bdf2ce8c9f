//! A note that a cell was deleted, with the way back, over the lower edge of the notebook.

use std::time::Duration;

use egui::{Align2, Area, Frame as Popup, Order, RichText, Ui, vec2};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::theme::size;
use crate::kernel::command::Command;
use crate::kernel::notebook::editing::DELETION;

use super::frame::Frame;

/// Long enough to read it and to get to the button.
const SHOWN: Duration = Duration::from_secs(10);

pub fn deleted_ui(ui: &Ui, frame: &mut Frame) {
    let Some(since) = frame.state.deleted else { return };
    let age = since.elapsed();
    // As soon as something else would be undone, the way back is another one.
    let is_last = frame.model.history.undo.as_deref() == Some(DELETION);
    let is_asked = !frame.commands.is_empty();
    if age >= SHOWN || !is_last && !is_asked && age > Duration::from_secs(1) {
        frame.state.deleted = None;
        return;
    }
    ui.ctx().request_repaint_after(SHOWN - age);
    if !is_last {
        return;
    }
    let undo = WindowAction::Undo.row();
    Area::new(ui.id().with("deleted"))
        .fixed_pos(ui.max_rect().center_bottom() - vec2(0.0, size::GAP_WIDE))
        .pivot(Align2::CENTER_BOTTOM)
        .order(Order::Foreground)
        .show(ui.ctx(), |ui| {
            Popup::popup(ui.style()).show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.label(RichText::new("Cell deleted").size(size::READING));
                    let words = format!("Undo ({})", undo.keys_text());
                    if ui.button(words).on_hover_text("Bring the cell back").clicked() {
                        frame.commands.push(Command::Undo);
                        frame.state.deleted = None;
                    }
                });
            });
        });
}
