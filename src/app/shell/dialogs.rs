//! Dialogs over everything: a work that is handed in or shared, with what its file has of the learner's and of the learner;
//! a picture of the stage, with its size; and the sheet of keys.

use attune_view::export::work_file::NAME_CHARS_MAX;
use attune_view::view_model::picture_size::{PIXELS_MAX, SIDES, highest};
use egui::{Align2, Context, DragValue, Grid, Key, RichText, ScrollArea, TextEdit, Ui};

use crate::app::actions::stage::{SENTENCE_MOUSE, STAGE_MOUSE};
use crate::app::actions::window::{self, PictureChoice, WorkChoice};
use crate::app::actions::{
    Action, FilePurpose, KeyLine, NotebookAction, SentenceAction, StageAction, WindowAction, lines,
};
use crate::app::theme::{self, Palette, size};
use crate::app::widgets::controls::checkbox_ui;
use crate::app::widgets::tool_window::tool_window;

/// More than anybody works on a lesson: a hundred hours.
const MINUTES_MAX: u64 = 6000;
const WIDTH: f32 = 380.0;

/// Fields of the dialog, as the learner has filled them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandInUiState {
    pub name: String,
    pub says_minutes: bool,
    pub minutes: u64,
    /// The keyboard has come to the first field.
    has_begun: bool,
}

impl HandInUiState {
    /// The file as it is asked for.
    pub fn choice(&self) -> WorkChoice {
        let name = self.name.trim();
        WorkChoice::HandIn {
            name: (!name.is_empty()).then(|| name.to_owned()),
            minutes: self.says_minutes.then_some(self.minutes),
        }
    }
}

/// Over everything; `state` is none while it is closed.
pub fn hand_in_ui(ctx: &Context, state: &mut Option<HandInUiState>) -> Option<Action> {
    let said = state.as_mut()?;
    let mut entered = false;
    let end = dialog_ui(ctx, "Hand in", |ui| {
        ui.label("Your answers and their results in one file. attune sends nothing: you hand in the file yourself.");
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
            let hint = "attune does not measure it: enter it yourself";
            checkbox_ui(ui, &mut said.says_minutes, "Include how long I worked").on_hover_text(hint);
            let minutes = DragValue::new(&mut said.minutes).range(0..=MINUTES_MAX).suffix(" min");
            let field = ui.add_enabled(said.says_minutes, minutes);
            field.on_hover_text("Drag, or click to type").on_disabled_hover_text("Tick the box first");
        });
    });
    let end = if entered { Some(End::GoesOn) } else { end };
    let action = (end == Some(End::GoesOn)).then(|| Action::ChooseFile(FilePurpose::Work(said.choice())));
    if end.is_some() {
        *state = None;
    }
    action
}

/// Over everything, while `is_open`: what a file has that is shared.
pub fn share_ui(ctx: &Context, is_open: &mut bool) -> Option<Action> {
    if !*is_open {
        return None;
    }
    let end = dialog_ui(ctx, "Share", |ui| {
        ui.label("Your work on this lesson and what is on the screen, in one file. attune sends nothing: you pass the file on.");
        ui.add_space(size::GAP);
        ui.label("In it: your answers and cells with their results, your changes to the model, your sentences, the panels, the camera and the step of the walk.");
        ui.label("Not in it: your name, other lessons, the lesson itself. Whoever opens it gets a copy.");
    });
    *is_open = end.is_none();
    (end == Some(End::GoesOn)).then_some(Action::ChooseFile(FilePurpose::Work(WorkChoice::Share)))
}

/// How a dialog ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    GoesOn,
    Cancelled,
}

/// A dialog that leads to the choice of a file; Esc closes it, wherever the keyboard is.
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
                let hint = "Choose where to save the file: by default, beside the lesson";
                goes_on = button.on_hover_text(hint).clicked();
                is_over = ui.button("Cancel").on_hover_text("Nothing is written (Esc)").clicked();
            });
        });
    let is_cancelled = !is_open || is_over || ctx.input(|input| input.key_pressed(Key::Escape));
    match (goes_on, is_cancelled) {
        (true, _) => Some(End::GoesOn),
        (false, true) => Some(End::Cancelled),
        (false, false) => None,
    }
}

/// A picture of the stage: its size, and whether its background is transparent. `choice` is none while it is closed.
pub fn picture_choice_ui(ctx: &Context, choice: &mut Option<PictureChoice>) -> Option<Action> {
    let chosen = choice.as_mut()?;
    let end = dialog_ui(ctx, "Picture of the stage", |ui| {
        ui.label("The stage as you see it now, as PNG.");
        ui.horizontal(|ui| {
            let (width, height) = &mut chosen.size;
            for (name, side) in [("Width", &mut *width), ("Height", &mut *height)] {
                let label = ui.label(name);
                let (most, millions) = (SIDES.end(), PIXELS_MAX / 1_000_000);
                let hint = format!("In pixels, up to {most}; a picture has at most {millions} million");
                ui.add(DragValue::new(side).range(SIDES)).labelled_by(label.id).on_hover_text(hint);
            }
            *height = highest(*width).min(*height);
            ui.weak("pixels");
        });
        let hint = "Only what is drawn covers what the picture is laid on";
        checkbox_ui(ui, &mut chosen.is_transparent, "Transparent background").on_hover_text(hint);
        let hint = "The sentence, and how far it is from static to contextual";
        checkbox_ui(ui, &mut chosen.has_caption, "Caption below").on_hover_text(hint);
    });
    let action = (end == Some(End::GoesOn)).then_some(Action::ChooseFile(FilePurpose::Picture(*chosen)));
    if end.is_some() {
        *choice = None;
    }
    action
}

/// Around the keys: the window's title and its margins.
const AROUND: egui::Vec2 = egui::Vec2::new(64.0, 96.0);

/// Each part of the sheet with its heading.
pub fn parts() -> [(&'static str, Vec<KeyLine>); 4] {
    [
        ("Stage, once it was clicked", lines::<StageAction>(&STAGE_MOUSE)),
        ("Sentence, once it was clicked", lines::<SentenceAction>(&SENTENCE_MOUSE)),
        ("Notebook", lines::<NotebookAction>(&[])),
        ("Window", lines::<WindowAction>(&window::MOUSE)),
    ]
}

/// The sheet of keys, and the switch for reduced motion.
pub fn key_sheet_ui(ctx: &Context, is_open: &mut bool, reduced_motion: &mut bool) {
    if !*is_open {
        return;
    }
    let [stage, sentence, notebook, window] = parts();
    let room = (ctx.content_rect().size() - AROUND).max(egui::Vec2::ZERO);
    tool_window("Keys and mouse").open(is_open).anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO).auto_sized().show(
        ctx,
        |ui| {
            ScrollArea::both().max_width(room.x).max_height(room.y).show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    ui.vertical(|ui| {
                        sheet_ui(ui, &stage);
                        ui.add_space(size::GAP_TIGHT);
                        sheet_ui(ui, &notebook);
                    });
                    ui.add_space(size::GAP_WIDE);
                    ui.vertical(|ui| {
                        sheet_ui(ui, &window);
                        ui.add_space(size::GAP_TIGHT);
                        sheet_ui(ui, &sentence);
                        ui.add_space(size::GAP_WIDE);
                        checkbox_ui(ui, reduced_motion, "Reduced motion: jump instead of gliding");
                    });
                })
            });
        },
    );
}

fn sheet_ui(ui: &mut Ui, (title, lines): &(&str, Vec<KeyLine>)) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.label(RichText::new(*title).font(theme::strong(size::BODY)));
    /// Lines of text, not controls.
    const ROW: f32 = 16.0;
    let spacing = [size::GAP_WIDE, size::HAIRLINE];
    Grid::new(*title).num_columns(2).spacing(spacing).min_row_height(ROW).show(ui, |ui| {
        for KeyLine { keys, meaning } in lines {
            ui.label(RichText::new(keys).font(theme::mono(size::MONO)).color(palette.accent));
            ui.label(*meaning);
            ui.end_row();
        }
    });
}
