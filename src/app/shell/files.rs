//! The dialogs that choose a file: one to open, or one to write.

use std::path::Path;

use attune_core::lesson::course::{self, is_named_as_lesson};
use attune_engine::pretrained::cache::is_named_as_part;
use attune_view::export::senses;
use attune_view::export::shared::is_shared;
use attune_view::export::{Format, work_file};
use egui::{Align2, Context, Key, Vec2};
use egui_file_dialog::{DialogState, FileDialog, FileDialogLabels, Filter, OpeningMode};

use crate::app::actions::window::{PictureChoice, WorkChoice};
use crate::app::actions::{Action, ListChoice};
use crate::app::theme::Palette;

/// None while it is closed.
#[derive(Default)]
pub struct FilesUiState {
    dialog: Option<(FileDialog, Purpose)>,
}

#[derive(Clone)]
enum Purpose {
    Open,
    OpenBeside,
    Save(Format),
    SavePicture(PictureChoice),
    WriteLesson { is_copy: bool },
    SaveWork(WorkChoice),
    Senses(ListChoice),
}

impl FilesUiState {
    pub fn is_open(&self) -> bool {
        self.dialog.is_some()
    }

    /// Lets the learner choose a lesson.
    pub fn browse(&mut self, folder: Option<&Path>) {
        let lessons = |path: &Path| is_named_as_lesson(path) || is_shared(path) || is_named_as_part(path);
        self.pick(
            folder,
            "Open a lesson or a model",
            ("Lessons, shared files, and files of models", lessons),
            Purpose::Open,
        );
    }

    /// Lets the learner choose a model to compare with.
    pub fn browse_beside(&mut self, folder: Option<&Path>) {
        let models = |path: &Path| is_named_as_lesson(path) || is_named_as_part(path);
        self.pick(folder, "Compare with another model", ("Lessons, and files of models", models), Purpose::OpenBeside);
    }

    /// Lets the learner choose a file of some kind.
    fn pick(
        &mut self,
        folder: Option<&Path>,
        title: &str,
        (kind, is_of_kind): (&str, fn(&Path) -> bool),
        purpose: Purpose,
    ) {
        let files = Filter::new(is_of_kind);
        let mut dialog = quiet(folder, title).add_file_filter(kind, files).default_file_filter(kind);
        dialog.pick_file();
        self.dialog = Some((dialog, purpose));
    }

    /// Lets the learner choose where an export goes: by itself, beside the lesson and by its name.
    pub fn save(&mut self, format: Format, lesson: &Path) {
        let title = format!("Export as {}", format.name());
        self.save_as(&title, &format.beside(lesson), (format.name(), format.extension()), Purpose::Save(format));
    }

    /// Lets the learner choose where a new lesson goes: by itself, to a name that is free.
    pub fn new_lesson(&mut self, file: &Path, is_copy: bool) {
        let title = if is_copy { "Edit this lesson as a copy" } else { "New lesson" };
        self.save_as(title, file, ("Lesson", course::EXTENSION), Purpose::WriteLesson { is_copy });
    }

    /// Lets the learner choose where a picture of the stage goes.
    pub fn save_picture(&mut self, choice: PictureChoice, lesson: &Path) {
        let file = lesson.with_extension("png");
        self.save_as("Picture of the stage", &file, ("Picture", "png"), Purpose::SavePicture(choice));
    }

    /// Lets the learner choose where a file of the work goes.
    pub fn save_work(&mut self, choice: WorkChoice, lesson: &Path) {
        let (title, of) = match &choice {
            WorkChoice::HandIn { name, .. } => ("Hand in", name.as_deref().unwrap_or("work")),
            WorkChoice::Share => ("Share", "shared"),
        };
        let file = work_file::beside(lesson, of);
        self.save_as(title, &file, ("Work", work_file::EXTENSION), Purpose::SaveWork(choice));
    }

    /// Lets the learner choose the file of a list of senses.
    pub fn senses(&mut self, choice: ListChoice, lesson: &Path) {
        let file = lesson.with_extension(senses::EXTENSION);
        const KIND: &str = "Sentences, one a line";
        match choice {
            ListChoice::Import => {
                let is_text = |path: &Path| path.extension().is_some_and(|end| end == senses::EXTENSION);
                self.pick(folder_of(&file), "Import sentences", (KIND, is_text), Purpose::Senses(choice));
            }
            ListChoice::Export => {
                self.save_as("Export sentences", &file, (KIND, senses::EXTENSION), Purpose::Senses(choice));
            }
        }
    }

    /// By itself, to `file`.
    fn save_as(&mut self, title: &str, file: &Path, (kind, extension): (&str, &str), purpose: Purpose) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut dialog = quiet(folder_of(file), title)
            .default_file_name(&name)
            .add_save_extension(kind, extension)
            .default_save_extension(kind)
            .show_new_folder_button(true);
        dialog.save_file();
        self.dialog = Some((dialog, purpose));
    }
}

fn folder_of(file: &Path) -> Option<&Path> {
    file.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// The file that was chosen in this frame, and what for.
pub fn files_ui(ctx: &Context, state: &mut FilesUiState) -> Option<Action> {
    let (dialog, purpose) = state.dialog.as_mut()?;
    let purpose = purpose.clone();
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
    let picked = dialog.take_picked();
    if picked.is_some() || is_left || *dialog.state() != DialogState::Open {
        state.dialog = None;
    }
    picked.map(|file| match purpose {
        Purpose::Open => Action::Open(file),
        Purpose::OpenBeside => Action::OpenBeside(file),
        Purpose::Save(format) => Action::Save(format, file),
        Purpose::SavePicture(choice) => Action::SavePicture(choice, file),
        Purpose::WriteLesson { is_copy } => Action::WriteLesson { to: file, is_copy },
        Purpose::SaveWork(choice) => Action::SaveWork(choice, file),
        Purpose::Senses(choice) => Action::Senses(choice, file),
    })
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
