//! One slide of a talk: a part of a text, or a cell by itself.

use attune_core::kernel::command::Command;
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::slides::{Shows, Slide};
use egui::Ui;

use super::frame::Frame;
use super::kinds::body_ui;
use crate::app::panels::notebook::NotebookPanel;
use crate::app::text::prose::Prose;
use crate::app::view::PanelView;

/// Draws a slide as the notebook draws its cell; the stops of a walk are the stage's. Returns what it asks for.
pub fn slide_ui(
    ui: &mut Ui,
    slide: &Slide,
    model: &NotebookModel,
    state: &mut NotebookPanel,
    view: &mut PanelView,
    prose: &mut Prose,
) -> Vec<Command> {
    let Some(index) = model.index(&slide.cell) else { return Vec::new() };
    let cell = &model.cells[index];
    let mut frame = Frame::new(model, state, view, prose);
    frame.tells_answers = true;
    match &slide.shows {
        Shows::Text(markdown) => frame.prose_ui(ui, cell, markdown),
        Shows::Cell | Shows::Ran | Shows::Answered | Shows::Hints(_) | Shows::Solution => {
            body_ui(ui, cell, index, &mut frame)
        }
        Shows::Walk(_) => {}
    }
    frame.commands
}
