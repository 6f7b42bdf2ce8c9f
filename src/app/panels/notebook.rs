//! The notebook: the lesson's cells, one below the other.

use egui::{Frame, Margin, RichText, ScrollArea, Stroke, Ui};

use crate::app::panels::prose::{Prose, prose_ui};
use crate::app::theme::{self, Palette, size};
use crate::app::view_state::ViewState;
use crate::kernel::command::Command;
use crate::lesson::schema::CellKind;
use crate::view_model::notebook::{CellModel, NotebookModel};

#[derive(Default)]
pub struct NotebookUiState {
    pub prose: Prose,
}

pub fn notebook_ui(
    ui: &mut Ui,
    model: &NotebookModel,
    state: &mut NotebookUiState,
    view: &mut ViewState,
) -> Vec<Command> {
    let mut commands = Vec::new();
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        let width = ui.available_width().min(size::MEASURE);
        ui.set_max_width(width);
        for cell in &model.cells {
            ui.push_id(&cell.id, |ui| commands.extend(cell_ui(ui, cell, model, state, view)));
            ui.add_space(size::GAP_WIDE);
        }
    });
    commands
}

fn cell_ui(
    ui: &mut Ui,
    cell: &CellModel,
    model: &NotebookModel,
    state: &mut NotebookUiState,
    view: &mut ViewState,
) -> Option<Command> {
    match &cell.kind {
        CellKind::Text { markdown } => {
            prose_ui(ui, markdown, &mut state.prose);
            None
        }
        CellKind::Stage { caption, sentence, words, time } => {
            let shown = view.shown_cell.as_deref() == Some(&cell.id);
            if !stage_card_ui(ui, caption, model.sentences.get(*sentence).map(String::as_str), shown) {
                return None;
            }
            view.lit.clone_from(words);
            view.shown_cell = Some(cell.id.clone());
            view.glide_to(*time);
            (model.selected != Some(*sentence)).then_some(Command::SelectSentence(*sentence))
        }
    }
}

/// A card that steers the stage. True when it was asked to.
fn stage_card_ui(ui: &mut Ui, caption: &str, sentence: Option<&str>, shown: bool) -> bool {
    let palette = Palette::of(ui.visuals().dark_mode);
    let edge = if shown { palette.accent } else { theme::CLEAR };
    let card = Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(size::HAIRLINE, edge))
        .corner_radius(size::RADIUS)
        .inner_margin(Margin::same(size::PANEL_MARGIN));
    let card = card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(RichText::new(caption).size(size::READING));
        if let Some(sentence) = sentence {
            ui.add(egui::Label::new(RichText::new(sentence).weak()).wrap());
        }
        ui.add_space(size::GAP_TIGHT);
        let button = egui::Button::new(RichText::new("▶  Show").color(palette.on_accent)).fill(palette.accent);
        let response = ui.add(button).on_hover_text("Set the stage: this sentence, these words, this time");
        response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, format!("Show: {caption}")));
        response.clicked()
    });
    card.inner
}
