//! The window's menu: the course, other files, checkpoints, and a fresh start.

use attune_view::export::Format;
use egui::containers::menu::{MenuButton, SubMenuButton};
use egui::{Button, Ui};

use crate::app::actions::{Action, ActionTable, WindowAction};

/// Opens the menu.
pub fn menu_ui(ui: &mut Ui) -> Option<Action> {
    let mut chosen = None;
    let (button, _) = MenuButton::new("attune").ui(ui, |ui| {
        let mut entry = |ui: &mut Ui, words: &str, keys: String, about: &str, action: Action| {
            if ui.add(Button::new(words).shortcut_text(keys)).on_hover_text(about).clicked() {
                chosen = Some(action);
                ui.close();
            }
        };
        let mut row = |ui: &mut Ui, action: WindowAction| {
            let row = action.row();
            entry(ui, row.text, row.keys_text(), row.tooltip, action.into());
        };
        use WindowAction::{Beside, Browse, CopyLesson, Course, Glossary, NewLesson};
        for action in [Course, Glossary, Browse, Beside, NewLesson, CopyLesson] {
            row(ui, action);
        }
        // With a sign that the app's faces have.
        SubMenuButton::from_button(Button::new("Export as").right_text("▸")).ui(ui, |ui| {
            for format in Format::ALL {
                let words = format!("{} (.{})", format.name(), format.extension());
                let about = "The notebook as it is now, with your work in it";
                entry(ui, &words, String::new(), about, Action::Export(format));
            }
        });
        let mut row = |ui: &mut Ui, action: WindowAction| {
            let row = action.row();
            entry(ui, row.text, row.keys_text(), row.tooltip, action.into());
        };
        row(ui, WindowAction::Picture);
        row(ui, WindowAction::Present);
        row(ui, WindowAction::HandIn);
        row(ui, WindowAction::Share);
        ui.separator();
        row(ui, WindowAction::Checkpoints);
        row(ui, WindowAction::ResetLesson);
    });
    button.on_hover_text("The course, its glossary, files, checkpoints");
    chosen
}
