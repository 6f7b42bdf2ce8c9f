//! Dialogs over the whole window: handing in or sharing work, the size of a picture of the stage, the key sheet, and
//! the choice of a file to read or write.

use std::path::Path;

use attune_core::lesson::course::{self, folder_of, is_named_as_lesson};
use attune_core::lesson::vector_files::is_file_of_vectors;
use attune_engine::pretrained::cache::is_named_as_part;
use attune_engine::recording::is_recording;
use attune_view::export::Format;
use attune_view::export::work_file::{self, NAME_CHARS_MAX, SENSES_EXTENSION, is_shared};
use attune_view::view_model::pictures::{PIXELS_MAX, SIDES, highest};
use egui::layers::ShapeIdx;
use egui::{
    Align2, Color32, Context, DragValue, Event, Id, Key, Label, LayerId, Modifiers, Order, RichText, ScrollArea, Shape,
    TextEdit, Ui, Vec2,
};
use egui_file_dialog::{DialogState, FileDialog, FileDialogLabels, Filter, OpeningMode};

use crate::app::actions::table::{self, PictureChoice, SENTENCE_MOUSE, STAGE_MOUSE, WorkChoice};
use crate::app::actions::{
    Action, FilePurpose, KeyLine, NotebookAction, SentenceAction, StageAction, WindowAction, lines,
};
use crate::app::theme::{self, Palette, size};
use crate::app::widgets::controls::checkbox_ui;
use crate::app::widgets::heat::width_of;
use crate::app::widgets::popup::tool_window;

/// The largest number of minutes that can be entered: a hundred hours.
const MINUTES_MAX: u64 = 6000;
const WIDTH: f32 = 380.0;

/// The content of the dialog for handing in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandInUiState {
    pub name: String,
    pub says_minutes: bool,
    pub minutes: u64,
    /// Whether the first field has been given the keyboard.
    has_begun: bool,
}

impl HandInUiState {
    /// Returns the choice of a file to hand in, with the name and the minutes if they were given.
    pub fn choice(&self) -> WorkChoice {
        let name = self.name.trim();
        WorkChoice::HandIn {
            name: (!name.is_empty()).then(|| name.to_owned()),
            minutes: self.says_minutes.then_some(self.minutes),
        }
    }
}

/// Shows the dialog for handing in over everything; `state` is `None` while it is closed.
pub fn hand_in_ui(ctx: &Context, state: &mut Option<HandInUiState>) -> Option<Action> {
    let said = state.as_mut()?;
    let mut entered = false;
    let end = dialog_ui(ctx, "Hand in", |ui| {
        ui.label(
            "Your answers and their results are written to one file. attune sends nothing; you hand in the file \
            yourself.",
        );
        ui.add_space(size::GAP);
        ui.horizontal(|ui| {
            let label = ui.label("Name");
            let field = TextEdit::singleline(&mut said.name).char_limit(NAME_CHARS_MAX).desired_width(f32::INFINITY);
            let field = ui.add(field.hint_text("optional")).labelled_by(label.id);
            let field = field.on_hover_text("Appears in the file and in your teacher's table");
            entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            if !std::mem::replace(&mut said.has_begun, true) {
                field.request_focus();
            }
        });
        ui.horizontal(|ui| {
            let hint = "attune does not measure the time; enter it yourself";
            checkbox_ui(ui, &mut said.says_minutes, "Include how long I worked").on_hover_text(hint);
            let minutes = DragValue::new(&mut said.minutes).range(0..=MINUTES_MAX).suffix(" min");
            let field = ui.add_enabled(said.says_minutes, minutes);
            field.on_hover_text("Drag, or click to type").on_disabled_hover_text("Tick the box on the left first");
        });
    });
    let end = if entered { Some(End::GoesOn) } else { end };
    let action = (end == Some(End::GoesOn)).then(|| Action::ChooseFile(FilePurpose::Work(said.choice())));
    if end.is_some() {
        *state = None;
    }
    action
}

/// Shows the dialog for sharing over everything while `is_open`. It says what a shared file contains.
pub fn share_ui(ctx: &Context, is_open: &mut bool) -> Option<Action> {
    if !*is_open {
        return None;
    }
    let end = dialog_ui(ctx, "Share", |ui| {
        ui.label(
            "Your work on this lesson and what is on the screen are written to one file. attune sends nothing; \
            you pass the file on yourself.",
        );
        ui.add_space(size::GAP);
        ui.label(
            "The file contains your answers and cells with their results, your changes to the model, your \
            sentences, the panels, the camera and the step of the walk.",
        );
        ui.label(
            "It does not contain your name, other lessons or the lesson itself. Whoever opens the file gets a \
            copy of your work.",
        );
    });
    *is_open = end.is_none();
    (end == Some(End::GoesOn)).then_some(Action::ChooseFile(FilePurpose::Work(WorkChoice::Share)))
}

/// The way in which a dialog ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    GoesOn,
    Cancelled,
}

/// Shows a dialog that leads to the choice of a file. Esc closes it, wherever the keyboard is.
fn dialog_ui(ctx: &Context, title: &'static str, content: impl FnOnce(&mut Ui)) -> Option<End> {
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let (mut is_open, mut is_over, mut goes_on) = (true, false, false);
    tool_window(title)
        .open(&mut is_open)
        .anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO)
        .resizable(false)
        .default_width(WIDTH)
        .show(ctx, |ui| {
            ui.set_width(WIDTH);
            content(ui);
            ui.add_space(size::GAP);
            ui.horizontal(|ui| {
                let words = RichText::new("Choose a file …").color(palette.on_accent);
                let button = ui.add(egui::Button::new(words).fill(palette.accent));
                let hint = "Choose where to save the file; the default is the lesson's folder";
                goes_on = button.on_hover_text(hint).clicked();
                is_over = ui.button("Cancel").on_hover_text("Goes back without writing a file (Esc)").clicked();
            });
        });
    let is_cancelled = !is_open || is_over || ctx.input(|input| input.key_pressed(Key::Escape));
    match (goes_on, is_cancelled) {
        (true, _) => Some(End::GoesOn),
        (false, true) => Some(End::Cancelled),
        (false, false) => None,
    }
}

/// Shows the dialog for the size and the background of a picture of the stage. `choice` is `None` while it is closed.
pub fn picture_choice_ui(ctx: &Context, choice: &mut Option<PictureChoice>) -> Option<Action> {
    let chosen = choice.as_mut()?;
    let end = dialog_ui(ctx, "Picture of the stage", |ui| {
        ui.label("A PNG of the stage as you see it now.");
        ui.horizontal(|ui| {
            let (width, height) = &mut chosen.size;
            for (name, side) in [("Width", &mut *width), ("Height", &mut *height)] {
                let label = ui.label(name);
                let (most, millions) = (SIDES.end(), PIXELS_MAX / 1_000_000);
                let hint = format!("In pixels, up to {most}; a picture has at most {millions} million pixels");
                ui.add(DragValue::new(side).range(SIDES)).labelled_by(label.id).on_hover_text(hint);
            }
            *height = highest(*width).min(*height);
            ui.weak("pixels");
        });
        let hint = "Transparent wherever nothing is drawn";
        checkbox_ui(ui, &mut chosen.is_transparent, "Transparent background").on_hover_text(hint);
        let hint = "Adds the sentence, and how far its words have moved from static to contextual";
        checkbox_ui(ui, &mut chosen.has_caption, "Caption below").on_hover_text(hint);
    });
    let action = (end == Some(End::GoesOn)).then_some(Action::ChooseFile(FilePurpose::Picture(*chosen)));
    if end.is_some() {
        *choice = None;
    }
    action
}

/// The space around the keys: the window's title and its margins.
const AROUND: egui::Vec2 = egui::Vec2::new(64.0, 96.0);

/// Returns each part of the key sheet with its heading.
pub fn parts() -> [(&'static str, Vec<KeyLine>); 4] {
    [
        ("Stage, after a click on it", lines::<StageAction>(&STAGE_MOUSE)),
        ("Sentence, after a click on it", lines::<SentenceAction>(&SENTENCE_MOUSE)),
        ("Notebook", lines::<NotebookAction>(&[])),
        ("Window", lines::<WindowAction>(&table::MOUSE)),
    ]
}

/// Shows the key sheet and the switch for reduced motion, in two columns if there is room.
pub fn key_sheet_ui(ctx: &Context, is_open: &mut bool, reduced_motion: &mut bool) {
    /// The least and the largest width of a column. In a narrower one, lines hold few words; in a wider one, keys and
    /// texts are far apart.
    const COLUMN: (f32, f32) = (320.0, 640.0);
    if !*is_open {
        return;
    }
    let [stage, sentence, notebook, window] = parts();
    let room = (ctx.content_rect().size() - AROUND).max(egui::Vec2::ZERO);
    let half = (room.x - size::GAP_WIDE) / 2.0;
    let columns = if half < COLUMN.0 {
        vec![vec![stage, sentence, notebook, window]]
    } else {
        vec![vec![stage, sentence, notebook], vec![window]]
    };
    let width = if columns.len() == 1 { room.x } else { half }.min(COLUMN.1);
    tool_window("Keys and mouse").open(is_open).anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO).auto_sized().show(
        ctx,
        |ui| {
            ScrollArea::vertical().max_height(room.y).show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    ui.spacing_mut().item_spacing.x = size::GAP_WIDE;
                    for parts in &columns {
                        ui.vertical(|ui| {
                            ui.set_width(width);
                            parts.iter().for_each(|part| sheet_ui(ui, part));
                        });
                    }
                });
                checkbox_ui(ui, reduced_motion, "Reduced motion: jump instead of gliding");
            });
        },
    );
}

/// Shows a part of the sheet: the keys, and beside them their meaning, wrapped where needed.
fn sheet_ui(ui: &mut Ui, (title, lines): &(&str, Vec<KeyLine>)) {
    /// The largest share of the width that keys may take.
    const KEYS: f32 = 0.4;
    ui.spacing_mut().item_spacing = egui::vec2(size::GAP_WIDE, size::HAIRLINE);
    // The rows are text, so they need no height of controls.
    ui.spacing_mut().interact_size.y = 0.0;
    ui.label(RichText::new(*title).font(theme::strong(size::BODY)));
    let font = theme::mono(size::MONO);
    let widest = lines.iter().map(|line| width_of(ui, &line.keys, font.clone())).fold(0.0, f32::max);
    let width = widest.min(ui.available_width() * KEYS);
    for KeyLine { keys, meaning } in lines {
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.add(Label::new(RichText::new(keys).font(font.clone()).color(Palette::on(ui).accent)).wrap());
            });
            ui.add(Label::new(*meaning).wrap());
        });
    }
    ui.add_space(size::GAP);
}

/// The file dialog; `None` while it is closed.
#[derive(Default)]
pub struct FilesUiState {
    dialog: Option<(FileDialog, FilePurpose)>,
    /// Texts that were typed in the frame in which a `/` opened the field of the path, from the `/` on.
    typed: Vec<String>,
}

impl FilesUiState {
    pub fn is_open(&self) -> bool {
        self.dialog.is_some()
    }

    /// Keeps the `/` that opens the field of the path, and puts it into the field in the next frame, in place of the
    /// folder that is there. The dialog reads `/` only as a key, so the path would lack its first sign.
    pub fn keep_typed(&mut self, ctx: &Context) {
        let typed = std::mem::take(&mut self.typed);
        if !self.is_open() {
            return;
        }
        if !typed.is_empty() {
            let select_all = Event::Key {
                key: Key::A,
                physical_key: None,
                pressed: true,
                repeat: false,
                modifiers: Modifiers::COMMAND,
            };
            let texts = typed.into_iter().map(Event::Text);
            ctx.input_mut(|input| drop(input.events.splice(0..0, std::iter::once(select_all).chain(texts))));
        } else if ctx.memory(|memory| memory.focused().is_none()) && ctx.input(|input| input.key_pressed(Key::Slash)) {
            self.typed = ctx.input(|input| {
                let texts = input.events.iter().filter_map(|event| match event {
                    Event::Text(text) => Some(text.clone()),
                    _ => None,
                });
                texts.skip_while(|text| text != "/").collect()
            });
            ctx.request_repaint();
        }
    }

    /// Opens a dialog for a file. `near` is the folder in which to begin when a file is opened, and the proposed file
    /// for a new lesson. For all other purposes it is the lesson, beside which a file with its name is proposed.
    pub fn choose(&mut self, purpose: FilePurpose, near: &Path) {
        const SENTENCES: &str = "Sentences, one per line";
        let is_model = |path: &Path| is_named_as_lesson(path) || is_named_as_part(path);
        let dialog = match &purpose {
            FilePurpose::Open | FilePurpose::Dropped => {
                let kind = "Lessons, shared files, recordings, and files of models and vectors";
                let is_known = move |path: &Path| {
                    is_model(path) || is_shared(path) || is_file_of_vectors(path) || is_recording(path)
                };
                pick(near, "Open a lesson, a model, a recording or vectors", kind, is_known)
            }
            FilePurpose::OpenBeside => {
                let is_known = move |path: &Path| is_model(path) || is_file_of_vectors(path) || is_recording(path);
                pick(
                    near,
                    "Compare with another model",
                    "Lessons, recordings, and files of models and vectors",
                    is_known,
                )
            }
            FilePurpose::ImportSenses => {
                let is_text = |path: &Path| path.extension().is_some_and(|end| end == SENSES_EXTENSION);
                pick(folder_of(near), "Import sentences", SENTENCES, is_text)
            }
            FilePurpose::Texts => {
                let is_text = |path: &Path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("txt"));
                pick(folder_of(near), "Measure all heads over texts", SENTENCES, is_text)
            }
            FilePurpose::ExportSenses => {
                let file = near.with_extension(SENSES_EXTENSION);
                save("Export sentences", &file, SENTENCES, SENSES_EXTENSION)
            }
            FilePurpose::Export(format) => {
                let words = format.words();
                let title = format!("Export as {}", words.name);
                save(&title, &format.beside(near), words.name, words.extension)
            }
            FilePurpose::ExportFound(format) => {
                let format = Format::Vectors(*format);
                let (name, ending) = (format.words().name, format.words().extension);
                let stem = near.file_stem().unwrap_or_default().to_string_lossy();
                save("Export found words", &near.with_file_name(format!("{stem}-found.{ending}")), name, ending)
            }
            FilePurpose::NewLesson { is_copy } => {
                let title = if *is_copy { "Edit this lesson as a copy" } else { "New lesson" };
                save(title, near, "Lesson", course::EXTENSION)
            }
            FilePurpose::Picture(_) => save("Picture of the stage", &near.with_extension("png"), "Picture", "png"),
            FilePurpose::Recording => save("Record the stage", &near.with_extension("gif"), "Moving picture", "gif"),
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

/// Returns a dialog for an existing file of some kind.
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

/// Returns a dialog for a file to write, with `file` as proposal.
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

/// Returns the action for the file that was chosen in this frame.
pub fn files_ui(ctx: &Context, state: &mut FilesUiState) -> Option<Action> {
    let (dialog, purpose) = state.dialog.as_mut()?;
    dialog.config_mut().modal_overlay_color = shade(ctx);
    // The dialog draws the chosen name in the colour of a selection's background, which is too faint to read.
    let theme = ctx.theme();
    let before = ctx.style_of(theme).visuals.selection;
    let palette = Palette::of(theme == egui::Theme::Dark);
    ctx.style_mut_of(theme, |style| {
        style.visuals.selection.bg_fill = palette.accent;
        style.visuals.selection.stroke.color = palette.on_accent;
    });
    dialog.update(ctx);
    recolor_path(ctx, dialog.get_window_id(), palette.raised);
    // Esc closes the dialog even from its text fields, where it would otherwise only release the keyboard.
    let is_left = ctx.input(|input| input.key_pressed(Key::Escape));
    ctx.style_mut_of(theme, |style| style.visuals.selection = before);
    let action = dialog.take_picked().map(|file| Action::UseFile(purpose.clone(), file));
    if action.is_some() || is_left || *dialog.state() != DialogState::Open {
        state.dialog = None;
    }
    action
}

/// Fills the field of the path with a colour of the theme. The dialog fills it with black in every theme, on which dark
/// text cannot be read.
fn recolor_path(ctx: &Context, window: Id, fill: Color32) {
    const BLACK: Color32 = Color32::from_black_alpha(250);
    ctx.graphics_mut(|graphics| {
        let shapes = graphics.entry(LayerId::new(Order::Middle, window));
        let is_black = |shape: &Shape| matches!(shape, Shape::Rect(rect) if rect.fill == BLACK);
        let black = shapes.all_entries().enumerate().filter(|(_, clipped)| is_black(&clipped.shape));
        let black: Vec<ShapeIdx> = black.map(|(at, _)| ShapeIdx(at)).collect();
        for at in black {
            shapes.mutate_shape(at, |clipped| {
                if let Shape::Rect(rect) = &mut clipped.shape {
                    rect.fill = fill;
                }
            });
        }
    });
}

fn shade(ctx: &Context) -> Color32 {
    const SHARE: f32 = 0.5;
    Palette::of(ctx.theme() == egui::Theme::Dark).shadow.gamma_multiply(SHARE)
}

/// Returns a dialog with text labels, because the program's fonts lack the symbols of its crate.
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
        // The search field would be dark in every theme.
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
    // Each label begins with a symbol and blanks, which are removed.
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
