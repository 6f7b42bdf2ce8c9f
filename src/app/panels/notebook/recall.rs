//! The questions from earlier lessons, above the first cell. They are cells of another lesson, with a kernel of their
//! own.

use std::sync::Arc;

use attune_core::lesson::cells::CellKind;
use attune_ui::actions::{Action, ActionTable, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_view::view_model::recall::RecallModel;
use egui::{Align, Button, Frame as Card, Layout, Margin, RichText, Ui, WidgetInfo, WidgetType};

use super::frame::NotebookFrame;
use super::tasks::predict_ui;

/// Shows the questions, if there are any.
pub fn recall_ui(ui: &mut Ui, frame: &mut NotebookFrame) {
    let Some(model) = frame.state.recall.model.clone() else { return };
    let palette = Palette::on(ui);
    let card =
        Card::new().fill(palette.raised).corner_radius(size::RADIUS).inner_margin(Margin::same(size::PANEL_MARGIN));
    card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        head_ui(ui, &model, frame);
        if model.is_ready() {
            questions_ui(ui, &model, frame);
        } else {
            ui.label(RichText::new("The numbers of your questions are drawn …").color(palette.ink_soft));
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
            let leave = ui.add(Button::new(words)).on_hover_text(hint);
            leave.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("{words} the questions")));
            if leave.clicked() {
                frame.actions.push(Action::LeaveRecall);
            }
            let review = WindowAction::Review.row();
            if ui.add(Button::new(review.text)).on_hover_text(review.hint()).clicked() {
                frame.actions.push(WindowAction::Review.into());
            }
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
