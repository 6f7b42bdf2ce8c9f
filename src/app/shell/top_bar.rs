//! The bar on top: the lesson, the sentence on the stage, undo and redo, theme and size.

use egui::{Align, Button, Key, Layout, Modifiers, RichText, Ui};

use crate::app::theme::{self, size};
use crate::app::view::{ThemeChoice, ViewState};
use crate::kernel::command::{Command, SentenceCommand};
use crate::kernel::snapshot::HistorySnapshot;
use crate::view_model::notebook::NotebookModel;
use crate::view_model::sentences::SentencesModel;

use super::menu::{Wish, menu_ui};
use super::saving::{SavingStatus, saving_status_ui};
use crate::app::panels::compare::toggle;
use crate::app::widgets::sentence_field::{Change, SentenceField, SentenceFieldState, sentence_field_ui};

#[derive(Default)]
pub struct TopBarUiState {
    sentence: SentenceFieldState,
    /// A comparison was begun in this frame: its panel comes to the front.
    pub(super) begins_comparison: bool,
    /// How the learner's work is kept.
    pub(super) saving: SavingStatus,
    /// What the menu was asked for in this frame.
    pub(super) wish: Option<Wish>,
}

pub fn top_bar_ui(
    ui: &mut Ui,
    model: &NotebookModel,
    sentences: Option<&SentencesModel>,
    state: &mut TopBarUiState,
    view: &mut ViewState,
) -> Vec<Command> {
    /// What is left of the undo button.
    const WITH_STATUS: f32 = 400.0;
    let mut commands = Vec::new();
    // From the right: the buttons keep their place, and the rest shares what is left.
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        view_ui(ui, view);
        ui.add_space(size::GAP_WIDE);
        commands.extend(history_ui(ui, &model.history));
        if ui.available_width() > WITH_STATUS {
            saving_status_ui(ui, &state.saving);
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            const WITH_TITLE: f32 = 720.0;
            if let Some(wish) = menu_ui(ui) {
                state.wish = Some(wish);
            }
            if ui.available_width() > WITH_TITLE {
                ui.label(RichText::new(&model.title).font(theme::strong(size::READING)));
                ui.add_space(size::GAP_WIDE);
            }
            if let Some(sentences) = sentences {
                commands.extend(sentence_ui(ui, sentences, state));
            }
        });
    });
    commands
}

/// The sentence on the stage, and whether another stands beside it.
fn sentence_ui(ui: &mut Ui, model: &SentencesModel, state: &mut TopBarUiState) -> Vec<Command> {
    const WIDTH: f32 = 460.0;
    /// For the buttons beside it.
    const RESERVED: f32 = 140.0;
    let field = SentenceField {
        name: "Sentence",
        hint: "The sentence on the stage: write your own (Alt+S)",
        shown: &model.shown,
        selected: model.selected,
        width: (ui.available_width() - RESERVED).clamp(size::CHART_MIN, WIDTH),
        key: Some(Key::S),
        takes_focus: false,
    };
    let changes = sentence_field_ui(ui, &field, model, &mut state.sentence);
    let mut commands: Vec<Command> = changes
        .into_iter()
        .map(|change| match change {
            Change::Typed(text) => Command::Sentence(SentenceCommand::Type(text)),
            Change::Done(text) => Command::Sentence(SentenceCommand::Set(text)),
            Change::Chosen(index) => Command::Sentence(SentenceCommand::Select(index)),
        })
        .collect();
    let is_comparing = model.second.is_some();
    let hint = if is_comparing { "One sentence again (Alt+C)" } else { "A second sentence beside this one (Alt+C)" };
    let is_pressed = !ui.ctx().text_edit_focused() && ui.input_mut(|input| input.consume_key(Modifiers::ALT, Key::C));
    if ui.selectable_label(is_comparing, "Compare").on_hover_text(hint).clicked() || is_pressed {
        commands.push(toggle(model));
        state.begins_comparison = !is_comparing;
    }
    commands
}

fn history_ui(ui: &mut Ui, history: &HistorySnapshot) -> Vec<Command> {
    let mut commands = Vec::new();
    let steps = (history.undo.as_deref(), history.redo.as_deref());
    // Right to left: redo stands to the right of undo.
    for (icon, name, keys, step, command) in
        [("↷", "Redo", "Ctrl+Shift+Z", steps.1, Command::Redo), ("↶", "Undo", "Ctrl+Z", steps.0, Command::Undo)]
    {
        let text = step
            .map_or_else(|| format!("Nothing to {}", name.to_lowercase()), |step| format!("{name} {step} ({keys})"));
        if icon_button(ui, icon, name, step.is_some()).on_hover_text(&text).on_disabled_hover_text(&text).clicked() {
            commands.push(command);
        }
    }
    commands
}

pub(super) fn view_ui(ui: &mut Ui, view: &mut ViewState) {
    if icon_button(ui, "?", "Keys", true).on_hover_text("Keys (F1)").clicked() {
        view.key_sheet = !view.key_sheet;
    }
    let theme = format!("Theme: {} (T)", view.preferences.theme.name());
    let sign = match view.preferences.theme {
        ThemeChoice::System => "◐",
        ThemeChoice::Light => "○",
        ThemeChoice::Dark => "●",
    };
    if icon_button(ui, sign, "Theme", true).on_hover_text(theme).clicked() {
        view.preferences.theme = view.preferences.theme.next();
    }
    if icon_button(ui, "A+", "Larger", true).on_hover_text("Larger (Ctrl+plus)").clicked() {
        view.preferences.zoom_by(1.0);
    }
    if icon_button(ui, "A−", "Smaller", true).on_hover_text("Smaller (Ctrl+minus)").clicked() {
        view.preferences.zoom_by(-1.0);
    }
}

/// A button that shows a sign and is called by a word.
fn icon_button(ui: &mut Ui, icon: &str, name: &str, enabled: bool) -> egui::Response {
    let response =
        ui.add_enabled(enabled, Button::new(RichText::new(icon).size(size::READING)).frame_when_inactive(false));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, enabled, name));
    response
}
