//! The window's menu: the course, other files, checkpoints, and a fresh start.

use std::path::PathBuf;

use egui::containers::menu::{MenuButton, SubMenuButton};
use egui::{Button, Key, Ui};

use crate::export::Format;

use super::panel_id::PanelId;
use super::picture_choice::PictureChoice;

/// With Alt they bring the panels to the front, see [`PanelId::ALL`].
pub const DIGITS: [Key; 10] =
    [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9, Key::Num0];

/// What is wanted of the window itself; what is wanted of the kernel is a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The page of the course, over the lesson.
    Home,
    /// Back from there.
    Back,
    /// Every term and symbol, over the lesson; or no longer.
    Glossary,
    /// A dialog to open a file.
    Browse,
    /// A lesson in place of this one.
    Open(PathBuf),
    /// A dialog to write the lesson as a file.
    Export(Format),
    /// That file.
    Save(Format, PathBuf),
    /// What the picture of the stage is to be.
    Picture,
    /// A dialog to write it as a file.
    PlacePicture(PictureChoice),
    /// That file.
    SavePicture(PictureChoice, PathBuf),
    /// A panel in front of those that lie with it.
    Show(PanelId),
    /// A still map of the words, drawn beside the window.
    DrawMap,
    CloseMap,
    /// The list of checkpoints.
    Checkpoints,
    /// The state that the checkpoint of this place in the list keeps.
    GoBack(usize),
    /// The lesson as its file has it; what is there is kept as a checkpoint.
    ResetLesson,
    ResetCourse,
    UndoResetCourse,
}

/// Opens the menu.
pub fn menu_ui(ui: &mut Ui) -> Option<Wish> {
    let mut wish = None;
    let (button, _) = MenuButton::new("attune").ui(ui, |ui| {
        let mut entry = |ui: &mut Ui, words: &str, keys: &str, about: &str, chosen: Wish| {
            if ui.add(Button::new(words).shortcut_text(keys)).on_hover_text(about).clicked() {
                wish = Some(chosen);
                ui.close();
            }
        };
        entry(ui, "The course", "Alt+Home", "Every lesson, and how far you are", Wish::Home);
        let about = "Every term and symbol of the course, with its first lesson";
        entry(ui, "Glossary", "G", about, Wish::Glossary);
        entry(ui, "Open a file …", "Ctrl+O", "Another lesson on this computer", Wish::Browse);
        // With a sign that the app's faces have.
        SubMenuButton::from_button(Button::new("Export as").right_text("▸")).ui(ui, |ui| {
            for format in Format::ALL {
                let words = format!("{} (.{})", format.name(), format.extension());
                entry(ui, &words, "", "The notebook as it is now, with your work in it", Wish::Export(format));
            }
        });
        SubMenuButton::from_button(Button::new("Panels").right_text("▸")).ui(ui, |ui| {
            for (index, panel) in PanelId::ALL.into_iter().enumerate() {
                let keys = DIGITS.get(index).map_or_else(String::new, |key| format!("Alt+{}", key.name()));
                entry(ui, panel.title(), &keys, "Brings it to the front", Wish::Show(panel));
            }
        });
        entry(ui, "Picture of the stage …", "", "The stage as you see it now, as PNG", Wish::Picture);
        ui.separator();
        let about = "Go back to how your work on this lesson was";
        entry(ui, "Checkpoints …", "", about, Wish::Checkpoints);
        let about = "Cells, answers and weights as at the start; your work stays as a checkpoint";
        entry(ui, "Reset the lesson", "", about, Wish::ResetLesson);
    });
    button.on_hover_text("The course, its glossary, files, checkpoints");
    wish
}
