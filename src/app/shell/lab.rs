//! The Lab menu: every panel with a check mark, to be opened or closed at any time.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Align, Layout, Popup, PopupCloseBehavior, RichText, Ui};

use crate::app::actions::{Action, ActionTable, Pressed, Shortcut, WindowAction};
use crate::app::panels::PanelId;
use crate::app::theme::size;
use crate::app::widgets::controls::checkbox_ui;

use super::places::can_close;
use super::tabs::about;

/// The menu in the top bar. `panels` are all that there are, each with whether it is open; `toggles` opens or closes
/// the menu by its key.
pub fn lab_ui(ui: &mut Ui, panels: &[(PanelId, bool)], toggles: bool) -> Option<Action> {
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
                let hint = if closes { about(*panel) } else { format!("{}. It stays open.", about(*panel)) };
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
    let id = Popup::default_response_id(&button);
    if toggles {
        Popup::toggle_id(ui.ctx(), id);
    }
    // Opened by its key, the first panel has the keyboard; the arrow keys go on from there.
    let waits = ui.id().with("lab waits");
    if toggles && Popup::is_id_open(ui.ctx(), id) {
        ui.data_mut(|data| data.insert_temp(waits, true));
        ui.ctx().request_repaint();
    }
    if let Some(first) = menu.and_then(|menu| menu.inner)
        && ui.data_mut(|data| data.remove_temp::<bool>(waits)).is_some()
    {
        ui.memory_mut(|memory| memory.request_focus(first));
    }
    button.on_hover_text(row.hint());
    chosen
}
