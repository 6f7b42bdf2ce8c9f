//! The bar at the top: menus, the lesson, the sentence on the stage, undo and redo, theme and zoom.

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::snapshot::{HistorySnapshot, Snapshot};
use attune_engine::vectors::Format as VectorFormat;
use attune_view::export::Format;
use attune_view::view_model::sentences::SentencesModel;
use egui::containers::menu::{MenuButton, MenuConfig, SubMenuButton};
use egui::{Align, Button, Id, Layout, Popup, PopupCloseBehavior, Response, RichText, Ui, WidgetType};

use super::notices::{SavingStatus, saving_status_ui};
use super::open_panels::can_close;
use super::tabs::about;
use crate::app::actions::{Action, ActionTable, FilePurpose, Pressed, Shortcut, WindowAction};
use crate::app::panels::{PanelId, Requests};
use crate::app::theme::{self, size};
use crate::app::ui_state::ThemeChoice;
use crate::app::widgets::controls::{checkbox_ui, named};
use crate::app::widgets::heat::width_of;
use crate::app::widgets::sentence_field::{SentenceChange, SentenceField, SentenceFieldState, sentence_field_ui};

/// The name of the field with the sentence on the stage.
pub const SENTENCE: &str = "Sentence";

#[derive(Default)]
pub struct TopBarUiState {
    sentence: SentenceFieldState,
    /// The state of saving.
    pub(super) saving: SavingStatus,
    /// Whether the key of the Lab menu was pressed, so that the menu must be toggled.
    pub toggles_lab: bool,
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
    /// The least width to the left of the undo button at which the status of saving is always shown. With less, it is
    /// shown only if work is not being saved, and the sentence gets the room.
    const WITH_STATUS: f32 = 700.0;
    // Laid out from the right, so that the buttons keep their places and the rest shares the remaining width.
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

/// Shows the field of the sentence on the stage, and the switch that adds or removes a second sentence.
fn sentence_ui(ui: &mut Ui, model: &SentencesModel, state: &mut TopBarUiState, requests: &mut Requests) {
    const WIDTH: f32 = 460.0;
    /// The width of the field in addition to its text.
    const MARGINS: f32 = 24.0;
    /// The width of the buttons beside the field.
    const RESERVED: f32 = 122.0;
    let words = width_of(ui, &model.shown, theme::plain(size::BODY)) + MARGINS;
    let field = SentenceField {
        name: SENTENCE,
        hint: &WindowAction::WriteSentence.row().hint(),
        shown: &model.shown,
        selected: model.selected,
        width: (ui.available_width() - RESERVED).clamp(size::CHART_MIN, words.max(WIDTH)),
    };
    let changes = sentence_field_ui(ui, &field, model, &mut state.sentence);
    requests.commands.extend(changes.into_iter().map(|change| match change {
        SentenceChange::Typed(text) => Command::Sentence(SentenceCommand::Type(text)),
        SentenceChange::Done(text) => Command::Sentence(SentenceCommand::Set(text)),
        SentenceChange::Chosen(index) => Command::Sentence(SentenceCommand::Select(index)),
    }));
    let is_comparing = model.second.is_some();
    let row = WindowAction::Compare.row();
    let hint = row.hint_with(if is_comparing { "Shows one sentence again" } else { row.tooltip });
    if ui.selectable_label(is_comparing, row.text).on_hover_text(hint).clicked() {
        requests.actions.push(WindowAction::Compare.into());
    }
}

fn history_ui(ui: &mut Ui, history: &HistorySnapshot) -> Option<WindowAction> {
    let steps =
        [("↷", WindowAction::Redo, history.redo.as_deref()), ("↶", WindowAction::Undo, history.undo.as_deref())];
    // In right-to-left order, redo comes first, so that it is to the right of undo.
    let asked = steps.map(|(icon, action, step)| {
        let name = action.row().text;
        let text = step.map_or_else(
            || format!("Nothing to {}", name.to_lowercase()),
            |step| action.row().hint_with(&format!("{name} {step}")),
        );
        let button = icon_button(ui, icon, name, step.is_some()).on_hover_text(&text).on_disabled_hover_text(&text);
        button.clicked().then_some(action)
    });
    asked.into_iter().flatten().last()
}

/// Shows the buttons for the list of keys, the theme and the zoom.
pub fn view_ui(ui: &mut Ui, theme: ThemeChoice) -> Option<WindowAction> {
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
    let asked = buttons.map(|(action, (icon, name), hint)| {
        let hint = action.row().hint_with(hint.unwrap_or(name));
        icon_button(ui, icon, name, true).on_hover_text(hint).clicked().then_some(action)
    });
    asked.into_iter().flatten().last()
}

/// Shows a button with an icon, and a name for screen readers.
fn icon_button(ui: &mut Ui, icon: &str, name: &str, enabled: bool) -> Response {
    let button = Button::new(RichText::new(icon).size(size::READING)).frame_when_inactive(false);
    named(ui.add_enabled(enabled, button), WidgetType::Button, name)
}

/// Shows the menu of the window: the course, other files, checkpoints, and resetting.
pub fn menu_ui(ui: &mut Ui) -> Option<Action> {
    let mut chosen = None;
    let (button, _) = MenuButton::new("attune").ui(ui, |ui| {
        let mut entry = |ui: &mut Ui, words: &str, keys: String, about: &str, action: Action| {
            if ui.add(Button::new(words).shortcut_text(keys)).on_hover_text(about).clicked() {
                chosen = Some(action);
                ui.close();
            }
        };
        use WindowAction::{
            Beside, Browse, Checkpoints, CopyLesson, Course, Glossary, HandIn, NewLesson, Picture, Present, Questions,
            Record, ResetLesson, Review, Share,
        };
        rows_ui(ui, &[Course, Glossary, Questions, Review, Browse, Beside, NewLesson, CopyLesson], &mut entry);
        exports_ui(ui, &mut entry);
        rows_ui(ui, &[Picture, Record, Present, HandIn, Share], &mut entry);
        ui.separator();
        rows_ui(ui, &[Checkpoints, ResetLesson], &mut entry);
    });
    button.on_hover_text("The course, its glossary, files and checkpoints");
    chosen
}

/// Draws an entry of a menu, with its label, keys, explanation and action.
type EntryUi<'a> = &'a mut dyn FnMut(&mut Ui, &str, String, &str, Action);

fn rows_ui(ui: &mut Ui, actions: &[WindowAction], entry: EntryUi) {
    for action in actions {
        let row = action.row();
        entry(ui, row.text, row.keys_text(), row.tooltip, (*action).into());
    }
}

/// Draws the two submenus of export formats, one for the notebook and one for the words that were found.
fn exports_ui(ui: &mut Ui, entry: EntryUi) {
    // The arrow is a character that the app's fonts have.
    let submenu = |words: &str| SubMenuButton::from_button(Button::new(words).right_text("▸"));
    let mut formats_ui = |ui: &mut Ui, about: &str, format: Format, purpose: FilePurpose| {
        let words = format!("{} (.{})", format.words().name, format.words().extension);
        entry(ui, &words, String::new(), about, Action::ChooseFile(purpose));
    };
    submenu("Export as").ui(ui, |ui| {
        let about = "Writes the notebook as it is now, with your work in it";
        Format::all().for_each(|format| formats_ui(ui, about, format, FilePurpose::Export(format)));
    });
    submenu("Export found words as").ui(ui, |ui| {
        let about = "Writes the vectors of the words that are found by a search or a lasso on the stage";
        for format in VectorFormat::ALL {
            formats_ui(ui, about, Format::Vectors(format), FilePurpose::ExportFound(format));
        }
    });
}

/// Shows the Lab menu, which opens and closes every panel. `panels` has all panels, each with a flag that says whether
/// it is open; `toggles` opens or closes the menu by its key.
fn lab_ui(ui: &mut Ui, panels: &[(PanelId, bool)], toggles: bool) -> Option<Action> {
    const WIDTH: f32 = 190.0;
    let row = WindowAction::Lab.row();
    let mut chosen = None;
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, menu) = MenuButton::new(row.text).config(config).ui(ui, |ui| {
        ui.set_width(WIDTH);
        let mut first = None;
        for (place, (panel, is_open)) in panels.iter().enumerate() {
            ui.horizontal(|ui| {
                let mut checked = *is_open;
                let closes = can_close(*panel);
                let words = panel.title();
                let response = ui.add_enabled_ui(closes, |ui| checkbox_ui(ui, &mut checked, words)).inner;
                let hint = if closes { about(*panel) } else { format!("{}. This panel stays open.", about(*panel)) };
                let response = response.on_hover_text(&hint).on_disabled_hover_text(&hint);
                if response.changed() {
                    chosen = Some(Action::Row(Pressed { which: place, ..Pressed::once(WindowAction::TogglePanel) }));
                }
                if closes {
                    first.get_or_insert(response.id);
                }
                let key = WindowAction::Panel.row().keys.get(place).map_or_else(String::new, Shortcut::text);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.label(RichText::new(key).size(size::SMALL).weak());
                });
            });
        }
        first
    });
    lead_lab(ui, &button, toggles, menu.and_then(|menu| menu.inner));
    button.on_hover_text(row.hint());
    chosen
}

/// Opens or closes the Lab menu by its key, and gives its `first` panel the keyboard.
fn lead_lab(ui: &Ui, button: &Response, toggles: bool, first: Option<Id>) {
    let id = Popup::default_response_id(button);
    if toggles {
        Popup::toggle_id(ui.ctx(), id);
    }
    // After opening by key, the first panel has the keyboard, from which the arrow keys move on.
    let waits = ui.id().with("lab waits");
    if toggles && Popup::is_id_open(ui.ctx(), id) {
        ui.data_mut(|data| data.insert_temp(waits, true));
        ui.ctx().request_repaint();
    }
    if let Some(first) = first
        && ui.data_mut(|data| data.remove_temp::<bool>(waits)).is_some()
    {
        ui.memory_mut(|memory| memory.request_focus(first));
    }
}
