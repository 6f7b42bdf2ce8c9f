//! The bar on top: the lesson, the sentence on the stage, undo and redo, theme and size.

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::snapshot::{HistorySnapshot, Snapshot};
use attune_view::view_model::sentences::SentencesModel;
use egui::{Align, Button, Layout, RichText, Ui};

use super::lab::lab_ui;
use super::menu::menu_ui;
use super::saving::{SavingStatus, saving_status_ui};
use crate::app::actions::{Action, ActionTable, WindowAction};
use crate::app::panels::{PanelId, Requests};
use crate::app::theme::{self, size};
use crate::app::view::ThemeChoice;
use crate::app::widgets::sentence_field::{Change, SentenceField, SentenceFieldState, sentence_field_ui};

/// The name of the field with the sentence on the stage.
pub const SENTENCE: &str = "Sentence";

#[derive(Default)]
pub struct TopBarUiState {
    sentence: SentenceFieldState,
    /// How the learner's work is kept.
    pub(super) saving: SavingStatus,
    /// The Lab menu is to be opened or closed.
    pub(super) toggles_lab: bool,
}

pub fn top_bar_ui(
    ui: &mut Ui,
    snapshot: &Snapshot,
    sentences: Option<&SentencesModel>,
    panels: &[(PanelId, bool)],
    state: &mut TopBarUiState,
    theme: ThemeChoice,
    requests: &mut Requests,
) {
    /// Room left of the undo button for the word that all is saved; less keeps the sentence whole.
    const WITH_STATUS: f32 = 700.0;
    // From the right: the buttons keep their place, and the rest shares what is left.
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if ui.available_width() < size::SIDE_FROM {
            ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        }
        requests.actions.extend(view_ui(ui, theme).map(Action::from));
        ui.add_space(size::GAP_WIDE);
        requests.actions.extend(history_ui(ui, &snapshot.history).map(Action::from));
        if ui.available_width() > WITH_STATUS || state.saving.is_to_be_known() {
            saving_status_ui(ui, &state.saving);
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            const WITH_TITLE: f32 = 720.0;
            requests.actions.extend(menu_ui(ui));
            requests.actions.extend(lab_ui(ui, panels, std::mem::take(&mut state.toggles_lab)));
            if ui.available_width() > WITH_TITLE {
                ui.label(RichText::new(&snapshot.lesson.title).font(theme::strong(size::READING)));
                ui.add_space(size::GAP_WIDE);
            }
            if let Some(sentences) = sentences {
                sentence_ui(ui, sentences, state, requests);
            }
        });
    });
}

/// The sentence on the stage, and whether another stands beside it.
fn sentence_ui(ui: &mut Ui, model: &SentencesModel, state: &mut TopBarUiState, requests: &mut Requests) {
    const WIDTH: f32 = 460.0;
    /// For the buttons beside it.
    const RESERVED: f32 = 122.0;
    let field = SentenceField {
        name: SENTENCE,
        hint: &WindowAction::WriteSentence.row().hint(),
        shown: &model.shown,
        selected: model.selected,
        width: (ui.available_width() - RESERVED).clamp(size::CHART_MIN, WIDTH),
    };
    let changes = sentence_field_ui(ui, &field, model, &mut state.sentence);
    requests.commands.extend(changes.into_iter().map(|change| match change {
        Change::Typed(text) => Command::Sentence(SentenceCommand::Type(text)),
        Change::Done(text) => Command::Sentence(SentenceCommand::Set(text)),
        Change::Chosen(index) => Command::Sentence(SentenceCommand::Select(index)),
    }));
    let is_comparing = model.second.is_some();
    let row = WindowAction::Compare.row();
    let hint = row.hint_with(if is_comparing { "One sentence again" } else { row.tooltip });
    if ui.selectable_label(is_comparing, row.text).on_hover_text(hint).clicked() {
        requests.actions.push(WindowAction::Compare.into());
    }
}

fn history_ui(ui: &mut Ui, history: &HistorySnapshot) -> Option<WindowAction> {
    let steps =
        [("↷", WindowAction::Redo, history.redo.as_deref()), ("↶", WindowAction::Undo, history.undo.as_deref())];
    let mut asked = None;
    // Right to left: redo stands to the right of undo.
    for (icon, action, step) in steps {
        let name = action.row().text;
        let text = step.map_or_else(
            || format!("Nothing to {}", name.to_lowercase()),
            |step| action.row().hint_with(&format!("{name} {step}")),
        );
        if icon_button(ui, icon, name, step.is_some()).on_hover_text(&text).on_disabled_hover_text(&text).clicked() {
            asked = Some(action);
        }
    }
    asked
}

/// The buttons that change what the window looks like.
pub(super) fn view_ui(ui: &mut Ui, theme: ThemeChoice) -> Option<WindowAction> {
    let sign = match theme {
        ThemeChoice::System => "◐",
        ThemeChoice::Light => "○",
        ThemeChoice::Dark => "●",
    };
    let theme = format!("Theme: {}", theme.name());
    let text = |action: WindowAction| (action.row().text, action.row().tooltip);
    let buttons = [
        (WindowAction::KeySheet, text(WindowAction::KeySheet), None),
        (WindowAction::Theme, (sign, "Theme"), Some(&*theme)),
        (WindowAction::Larger, text(WindowAction::Larger), None),
        (WindowAction::Smaller, text(WindowAction::Smaller), None),
    ];
    let mut asked = None;
    for (action, (icon, name), hint) in buttons {
        let hint = action.row().hint_with(hint.unwrap_or(name));
        if icon_button(ui, icon, name, true).on_hover_text(hint).clicked() {
            asked = Some(action);
        }
    }
    asked
}

/// A button that shows a sign and is called by a word.
fn icon_button(ui: &mut Ui, icon: &str, name: &str, enabled: bool) -> egui::Response {
    let response =
        ui.add_enabled(enabled, Button::new(RichText::new(icon).size(size::READING)).frame_when_inactive(false));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, enabled, name));
    response
}
