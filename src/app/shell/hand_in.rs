//! Dialog for a work that is handed in: what its file says of the learner, which is nothing unless they want it to.

use egui::{Align2, Context, DragValue, Key, RichText, TextEdit};

use crate::app::actions::Action;
use crate::app::actions::window::WorkChoice;
use crate::app::theme::{Palette, size};
use crate::app::widgets::controls::checkbox_ui;
use crate::app::widgets::tool_window::tool_window;
use crate::export::work_file::NAME_CHARS_MAX;

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
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let (mut is_open, mut is_over, mut goes_on) = (true, false, false);
    tool_window("Hand in")
        .open(&mut is_open)
        .anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO)
        .resizable(false)
        .default_width(WIDTH)
        .show(ctx, |ui| {
            ui.set_width(WIDTH);
            ui.label(
                "Your answers and their results in one file. attune sends nothing: you hand in the file yourself.",
            );
            ui.add_space(size::GAP);
            ui.horizontal(|ui| {
                let label = ui.label("Name");
                let field =
                    TextEdit::singleline(&mut said.name).char_limit(NAME_CHARS_MAX).desired_width(f32::INFINITY);
                let field = ui.add(field.hint_text("optional")).labelled_by(label.id);
                let field = field.on_hover_text("Appears in the file and in your teacher's table");
                goes_on = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
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
            ui.add_space(size::GAP);
            ui.horizontal(|ui| {
                let words = RichText::new("Choose a file …").color(palette.on_accent);
                let button = ui.add(egui::Button::new(words).fill(palette.accent));
                goes_on |=
                    button.on_hover_text("Choose where to save the file: by default, beside the lesson").clicked();
                is_over = ui.button("Cancel").on_hover_text("Nothing is written (Esc)").clicked();
            });
        });
    let action = goes_on.then(|| Action::PlaceWork(said.choice()));
    if !is_open || is_over || action.is_some() || ctx.input(|input| input.key_pressed(Key::Escape)) {
        *state = None;
    }
    action
}
