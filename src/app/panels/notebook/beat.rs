//! One beat of a talk: a part of a text, or a cell by itself.

use egui::Ui;

use crate::app::panels::notebook::NotebookPanel;
use crate::app::text::prose::Prose;
use crate::app::view::PanelView;
use crate::kernel::command::Command;
use crate::view_model::beats::{Beat, Shows};
use crate::view_model::notebook::NotebookModel;

use super::frame::Frame;
use super::kinds::body_ui;

/// Draws a beat as the notebook draws its cell; the stops of a walk are the stage's. Returns what it asks for.
pub fn beat_ui(
    ui: &mut Ui,
    beat: &Beat,
    model: &NotebookModel,
    state: &mut NotebookPanel,
    view: &mut PanelView,
    prose: &mut Prose,
) -> Vec<Command> {
    let Some(index) = model.index(&beat.cell) else { return Vec::new() };
    let cell = &model.cells[index];
    let mut frame = Frame::new(model, state, view, prose);
    frame.tells_answers = true;
    match &beat.shows {
        Shows::Text(markdown) => frame.prose_ui(ui, cell, markdown),
        Shows::Cell | Shows::Ran | Shows::Answered | Shows::Hints(_) | Shows::Solution => {
            body_ui(ui, cell, index, &mut frame)
        }
        Shows::Walk(_) => {}
    }
    frame.commands
}
