//! The dialog that chooses a file to open.

use std::path::{Path, PathBuf};

use egui::{Align2, Context, Vec2};
use egui_file_dialog::{DialogState, FileDialog, FileDialogLabels, Filter, OpeningMode};

use crate::app::theme::Palette;
use crate::lesson::course::EXTENSION;

/// None while it is closed.
#[derive(Default)]
pub struct FilesUiState {
    dialog: Option<FileDialog>,
}

impl FilesUiState {
    /// Lets the learner choose a lesson.
    pub fn browse(&mut self, folder: Option<&Path>) {
        let lessons = Filter::new(|path: &Path| {
            path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(EXTENSION))
        });
        const LESSONS: &str = "Lessons (.ron)";
        let mut dialog = quiet(folder, "Open a lesson").add_file_filter(LESSONS, lessons).default_file_filter(LESSONS);
        dialog.pick_file();
        self.dialog = Some(dialog);
    }
}

/// The file that was chosen in this frame.
pub fn files_ui(ctx: &Context, state: &mut FilesUiState) -> Option<PathBuf> {
    let dialog = state.dialog.as_mut()?;
    dialog.config_mut().modal_overlay_color = shade(ctx);
    dialog.update(ctx);
    let picked = dialog.take_picked();
    if picked.is_some() || *dialog.state() != DialogState::Open {
        state.dialog = None;
    }
    picked
}

fn shade(ctx: &Context) -> egui::Color32 {
    const SHARE: f32 = 0.5;
    Palette::of(ctx.theme() == egui::Theme::Dark).shadow.gamma_multiply(SHARE)
}

/// A dialog in words: the signs of its crate are not in the app's faces.
fn quiet(folder: Option<&Path>, title: &str) -> FileDialog {
    const SIZE: Vec2 = Vec2::new(640.0, 400.0);
    let mut dialog = FileDialog::new()
        .title(title)
        .default_size(SIZE)
        .anchor(Align2::CENTER_CENTER, Vec2::ZERO)
        .resizable(false)
        .opening_mode(OpeningMode::AlwaysInitialDir)
        .show_pinned_folders(false)
        .show_menu_button(false)
        .show_new_folder_button(false)
        // Its field is dark in every theme.
        .show_search(false)
        .labels(labels());
    let config = dialog.config_mut();
    for (icon, sign) in [
        (&mut config.err_icon, "!"),
        (&mut config.warn_icon, "!"),
        (&mut config.default_file_icon, "·"),
        (&mut config.default_folder_icon, "▸"),
        (&mut config.device_icon, "▸"),
        (&mut config.removable_device_icon, "▸"),
        (&mut config.parent_directory_icon, "↑"),
        (&mut config.back_icon, "←"),
        (&mut config.forward_icon, "→"),
        (&mut config.path_edit_icon, "…"),
    ] {
        sign.clone_into(icon);
    }
    match folder.and_then(|folder| folder.canonicalize().ok()) {
        Some(folder) => dialog.initial_directory(folder),
        None => dialog,
    }
}

fn labels() -> FileDialogLabels {
    let mut labels = FileDialogLabels::default();
    // Each begins with a sign and blanks.
    for label in [
        &mut labels.open_button,
        &mut labels.save_button,
        &mut labels.cancel_button,
        &mut labels.home_dir,
        &mut labels.desktop_dir,
        &mut labels.documents_dir,
        &mut labels.downloads_dir,
        &mut labels.audio_dir,
        &mut labels.pictures_dir,
        &mut labels.videos_dir,
    ] {
        *label = label.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_owned();
    }
    labels
}
