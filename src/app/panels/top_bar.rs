//! The bar on top: the lesson, the sentence on the stage, undo and redo, theme and size.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Align, Button, ComboBox, Key, Layout, PopupCloseBehavior, RichText, TextEdit, Ui};

use crate::app::theme::{self, size};
use crate::app::view_state::{ThemeChoice, ViewState};
use crate::kernel::command::Command;
use crate::kernel::snapshot::HistorySnapshot;
use crate::view_model::notebook::NotebookModel;

use super::menu::{Wish, menu_ui};
use super::saving::{SavingStatus, saving_status_ui};

#[derive(Default)]
pub struct TopBarUiState {
    own_sentence: String,
    /// How the learner's work is kept.
    pub(super) saving: SavingStatus,
    /// What the menu was asked for in this frame.
    pub(super) wish: Option<Wish>,
}

pub fn top_bar_ui(ui: &mut Ui, model: &NotebookModel, state: &mut TopBarUiState, view: &mut ViewState) -> Vec<Command> {
    let mut commands = Vec::new();
    // From the right: the buttons keep their place, and the rest shares what is left.
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        view_ui(ui, view);
        ui.add_space(size::GAP_WIDE);
        commands.extend(history_ui(ui, &model.history));
        saving_status_ui(ui, &state.saving);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            const WITH_TITLE: f32 = 720.0;
            if let Some(wish) = menu_ui(ui) {
                state.wish = Some(wish);
            }
            if ui.available_width() > WITH_TITLE {
                ui.label(RichText::new(&model.title).font(theme::strong(size::READING)));
                ui.add_space(size::GAP_WIDE);
            }
            commands.extend(sentence_ui(ui, model));
            commands.extend(own_sentence_ui(ui, &mut state.own_sentence));
        });
    });
    commands
}

fn sentence_ui(ui: &mut Ui, model: &NotebookModel) -> Option<Command> {
    const WIDTH: f32 = 430.0;
    /// For the button beside it.
    const RESERVED: f32 = 150.0;
    let mut chosen = None;
    let width = (ui.available_width() - RESERVED).clamp(size::CHART_MIN, WIDTH);
    // A long sentence is cut off at the room that there is, not at that of the whole bar.
    let response = ui.scope(|ui| {
        ui.set_max_width(width);
        let sentences = ComboBox::from_id_salt("sentence").selected_text(&model.sentence).width(width).truncate();
        sentences.show_ui(ui, |ui| {
            for (index, sentence) in model.sentences.iter().enumerate() {
                if ui.selectable_label(model.selected == Some(index), sentence).clicked()
                    && model.selected != Some(index)
                {
                    chosen = Some(Command::SelectSentence(index));
                }
            }
        })
    });
    let response = response.inner;
    response.response.on_hover_text("The sentence on the stage");
    chosen
}

fn own_sentence_ui(ui: &mut Ui, text: &mut String) -> Option<Command> {
    const WIDTH: f32 = 340.0;
    let mut command = None;
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new("Your own …").config(config).ui(ui, |ui| {
        ui.set_width(WIDTH);
        let field =
            ui.add(TextEdit::singleline(text).desired_width(WIDTH).hint_text("words of the lesson, then Enter"));
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        if !entered && ui.memory(|memory| memory.focused().is_none()) {
            field.request_focus();
        }
        ui.weak("Use words that occur in the lesson. An unknown one is named above the panels.");
        if (ui.button("Show it").clicked() || entered) && !text.trim().is_empty() {
            command = Some(Command::SetSentence(text.trim().to_owned()));
            ui.close();
        }
    });
    button.on_hover_text("Write a sentence of your own");
    command
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
    let theme = format!("Theme: {} (T)", view.theme.name());
    let sign = match view.theme {
        ThemeChoice::System => "◐",
        ThemeChoice::Light => "○",
        ThemeChoice::Dark => "●",
    };
    if icon_button(ui, sign, "Theme", true).on_hover_text(theme).clicked() {
        view.theme = view.theme.next();
    }
    if icon_button(ui, "A+", "Larger", true).on_hover_text("Larger (Ctrl+plus)").clicked() {
        view.zoom_by(1.0);
    }
    if icon_button(ui, "A−", "Smaller", true).on_hover_text("Smaller (Ctrl+minus)").clicked() {
        view.zoom_by(-1.0);
    }
}

/// A button that shows a sign and is called by a word.
fn icon_button(ui: &mut Ui, icon: &str, name: &str, enabled: bool) -> egui::Response {
    let response =
        ui.add_enabled(enabled, Button::new(RichText::new(icon).size(size::READING)).frame_when_inactive(false));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, enabled, name));
    response
}
