//! The dialogs that choose a file: one to open, or one to write.

use std::path::Path;

use attune_core::lesson::course::{self, is_named_as_lesson};
use attune_engine::pretrained::cache::is_named_as_part;
use attune_view::export::work_file::is_shared;
use attune_view::export::{senses, work_file};
use egui::{Align2, Context, Key, Vec2};
use egui_file_dialog::{DialogState, FileDialog, FileDialogLabels, Filter, OpeningMode};

use crate::app::actions::window::WorkChoice;
use crate::app::actions::{Action, FilePurpose};
use crate::app::theme::Palette;

/// The dialog; none while it is closed.
#[derive(Default)]
pub struct FilesUiState {
    dialog: Option<(FileDialog, FilePurpose)>,
}

impl FilesUiState {
    pub fn is_open(&self) -> bool {
        self.dialog.is_some()
    }

    /// Lets the learner choose a file. `near` is the folder to begin in where one is opened, and for a new lesson the file
    /// that is proposed; else it is the lesson, beside which a file by its name is proposed.
    pub fn choose(&mut self, purpose: FilePurpose, near: &Path) {
        const SENTENCES: &str = "Sentences, one a line";
        let is_model = |path: &Path| is_named_as_lesson(path) || is_named_as_part(path);
        let dialog = match &purpose {
            FilePurpose::Open => {
                let kind = "Lessons, shared files, and files of models";
                pick(near, "Open a lesson or a model", kind, move |path| is_model(path) || is_shared(path))
            }
            FilePurpose::OpenBeside => {
                pick(near, "Compare with another model", "Lessons, and files of models", is_model)
            }
            FilePurpose::ImportSenses => {
                let is_text = |path: &Path| path.extension().is_some_and(|end| end == senses::EXTENSION);
                pick(folder_of(near), "Import sentences", SENTENCES, is_text)
            }
            FilePurpose::ExportSenses => {
                let file = near.with_extension(senses::EXTENSION);
                save("Export sentences", &file, SENTENCES, senses::EXTENSION)
            }
            FilePurpose::Export(format) => {
                let title = format!("Export as {}", format.name());
                save(&title, &format.beside(near), format.name(), format.extension())
            }
            FilePurpose::NewLesson { is_copy } => {
                let title = if *is_copy { "Edit this lesson as a copy" } else { "New lesson" };
                save(title, near, "Lesson", course::EXTENSION)
            }
            FilePurpose::Picture(_) => save("Picture of the stage", &near.with_extension("png"), "Picture", "png"),
            FilePurpose::Work(choice) => {
                let (title, of) = match choice {
                    WorkChoice::HandIn { name, .. } => ("Hand in", name.as_deref().unwrap_or("work")),
                    WorkChoice::Share => ("Share", "shared"),
                };
                save(title, &work_file::beside(near, of), "Work", work_file::EXTENSION)
            }
        };
        self.dialog = Some((dialog, purpose));
    }
}

/// A dialog for a file of some kind that is there.
fn pick(
    folder: &Path,
    title: &str,
    kind: &str,
    is_of_kind: impl Fn(&Path) -> bool + Send + Sync + 'static,
) -> FileDialog {
    let files = Filter::new(is_of_kind);
    let mut dialog = quiet(folder, title).add_file_filter(kind, files).default_file_filter(kind);
    dialog.pick_file();
    dialog
}

/// A dialog for a file that is written: by itself, to `file`.
fn save(title: &str, file: &Path, kind: &str, extension: &str) -> FileDialog {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut dialog = quiet(folder_of(file), title)
        .default_file_name(&name)
        .add_save_extension(kind, extension)
        .default_save_extension(kind)
        .show_new_folder_button(true);
    dialog.save_file();
    dialog
}

/// The folder of a file; of none, the one that attune was started in.
fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The file that was chosen in this frame, and what for.
pub fn files_ui(ctx: &Context, state: &mut FilesUiState) -> Option<Action> {
    let (dialog, purpose) = state.dialog.as_mut()?;
    dialog.config_mut().modal_overlay_color = shade(ctx);
    // It writes the chosen name in the colour of a selection's ground, which is too faint to be read.
    let theme = ctx.theme();
    let before = ctx.style_of(theme).visuals.selection;
    let palette = Palette::of(theme == egui::Theme::Dark);
    ctx.style_mut_of(theme, |style| {
        style.visuals.selection.bg_fill = palette.accent;
        style.visuals.selection.stroke.color = palette.on_accent;
    });
    dialog.update(ctx);
    // In its fields too, which would only give the keyboard back.
    let is_left = ctx.input(|input| input.key_pressed(Key::Escape));
    ctx.style_mut_of(theme, |style| style.visuals.selection = before);
    let action = dialog.take_picked().map(|file| Action::UseFile(purpose.clone(), file));
    if action.is_some() || is_left || *dialog.state() != DialogState::Open {
        state.dialog = None;
    }
    action
}

fn shade(ctx: &Context) -> egui::Color32 {
    const SHARE: f32 = 0.5;
    Palette::of(ctx.theme() == egui::Theme::Dark).shadow.gamma_multiply(SHARE)
}

/// A dialog in words: the signs of its crate are not in the app's faces.
fn quiet(folder: &Path, title: &str) -> FileDialog {
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
        // Their fields are dark in every theme.
        .show_search(false)
        .show_path_edit_button(false)
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
    ] {
        sign.clone_into(icon);
    }
    match folder.canonicalize() {
        Ok(folder) => dialog.initial_directory(folder),
        Err(_) => dialog,
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
