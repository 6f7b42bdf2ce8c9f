//! A card that steers the stage: this sentence, these words, this time.

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_view::view_model::notebook::CellModel;
use egui::{Frame as Card, Margin, RichText, Stroke, Ui};

use super::frame::Frame;
use crate::app::actions::{ActionTable, NotebookAction};
use crate::app::theme::{self, Palette, size};

pub fn stage_ui(
    ui: &mut Ui,
    cell: &CellModel,
    (caption, sentence): (&str, usize),
    setting: (&[String], f32, usize),
    frame: &mut Frame,
) {
    let is_shown = frame.view.highlight.shown_cell.as_deref() == Some(&**cell.id());
    let text = frame.model.sentences.get(sentence).map(String::as_str);
    if card_ui(ui, caption, text, is_shown) {
        show(cell, sentence, setting, frame);
    }
}

/// Sets the stage: these words, and how often they play before they rest at this time.
pub fn show(cell: &CellModel, sentence: usize, (words, time, plays): (&[String], f32, usize), frame: &mut Frame) {
    frame.view.highlight.show(cell.id(), words);
    frame.view.walk.play(plays, time);
    frame.select(cell.id());
    if frame.model.selected != Some(sentence) {
        frame.commands.push(Command::Sentence(SentenceCommand::Select(sentence)));
    }
}

/// True when the stage was asked for.
fn card_ui(ui: &mut Ui, caption: &str, sentence: Option<&str>, is_shown: bool) -> bool {
    let palette = Palette::of(ui.visuals().dark_mode);
    let edge = if is_shown { palette.accent } else { theme::CLEAR };
    let card = Card::new()
        .fill(palette.raised)
        .stroke(Stroke::new(size::HAIRLINE, edge))
        .corner_radius(size::RADIUS)
        .inner_margin(Margin::same(size::PANEL_MARGIN));
    let card = card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        if !caption.is_empty() {
            ui.label(RichText::new(caption).size(size::READING));
        }
        if let Some(sentence) = sentence {
            ui.add(egui::Label::new(RichText::new(sentence).weak()).wrap());
        }
        ui.add_space(size::GAP_TIGHT);
        let button = egui::Button::new(RichText::new("▶  Show").color(palette.on_accent)).fill(palette.accent);
        let hint = NotebookAction::Write.row().hint_with("Set the stage: this sentence, these words, this time");
        let response = ui.add(button).on_hover_text(hint);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, format!("Show: {caption}")));
        response.clicked()
    });
    card.inner
}
