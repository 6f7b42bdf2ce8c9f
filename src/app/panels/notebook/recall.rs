//! The questions from earlier lessons, above the first cell. They are cells of another lesson, with a kernel of their
//! own.

use std::sync::Arc;

use attune_core::lesson::cells::CellKind;
use attune_ui::actions::{Action, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::widgets::controls::{action_ui, named};
use attune_view::view_model::recall::RecallModel;
use egui::{Align, Layout, RichText, Ui, WidgetType};

use super::frame::NotebookFrame;
use super::tasks::{card_ui, predict_ui};

/// Shows the questions, if there are any.
pub fn recall_ui(ui: &mut Ui, frame: &mut NotebookFrame) {
    let Some(model) = frame.state.recall.model.clone() else { return };
    card_ui(ui, |ui| {
        head_ui(ui, &model, frame);
        if model.is_ready() {
            questions_ui(ui, &model, frame);
        } else {
            ui.label(RichText::new("The numbers of your questions are drawn …").color(Palette::on(ui).ink_soft));
        }
    });
}

/// Shows the title, and the button that removes the questions.
fn head_ui(ui: &mut Ui, model: &Arc<RecallModel>, frame: &mut NotebookFrame) {
    ui.horizontal(|ui| {
        ui.set_height(size::SLIDER_ROW);
        ui.label(RichText::new("From earlier lessons").font(theme::strong(size::SMALL)).color(Palette::on(ui).accent));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (words, hint) = if model.is_answered() {
                ("Close", "Removes the questions; the page Review says when they are due again")
            } else {
                ("Skip", "Removes the questions; those without an answer stay due")
            };
            let leave = named(ui.button(words), WidgetType::Button, format!("{words} the questions"));
            if leave.on_hover_text(hint).clicked() {
                frame.actions.push(Action::LeaveRecall);
            }
            frame.actions.extend(action_ui(ui, WindowAction::Review));
        });
    });
}

fn questions_ui(ui: &mut Ui, model: &Arc<RecallModel>, frame: &mut NotebookFrame) {
    let mut panel = frame.state.recall.panel.take().unwrap_or_default();
    let mut inner = NotebookFrame::new(&model.notebook, &mut panel, &mut *frame.view, &mut *frame.prose);
    for (question, cell) in model.questions.iter().zip(&model.notebook.cells) {
        let CellKind::Predict(predict) = &*cell.cell.kind else { continue };
        ui.add_space(size::GAP);
        let from = format!("{} · {}", question.lesson_words(), question.words(model.now));
        ui.label(RichText::new(from).size(size::SMALL).color(Palette::on(ui).ink_soft));
        ui.push_id(&**cell.id(), |ui| predict_ui(ui, cell, predict, &mut inner));
    }
    let (commands, actions) = (inner.commands, inner.actions);
    frame.state.recall.commands.extend(commands);
    frame.actions.extend(actions);
    frame.state.recall.panel = Some(panel);
}
