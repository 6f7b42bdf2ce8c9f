//! Dialog for a picture of the stage: its size, and whether its background is transparent.

use attune_view::view_model::pictures::{PIXELS_MAX, SIDES, highest};
use egui::{Align2, Context, DragValue, Key, RichText};

use crate::app::actions::Action;
use crate::app::actions::window::PictureChoice;
use crate::app::theme::{Palette, size};
use crate::app::widgets::controls::checkbox_ui;
use crate::app::widgets::tool_window::tool_window;

/// Over everything; `choice` is none while it is closed.
pub fn picture_choice_ui(ctx: &Context, choice: &mut Option<PictureChoice>) -> Option<Action> {
    let chosen = choice.as_mut()?;
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let (mut is_open, mut is_over, mut action) = (true, false, None);
    tool_window("Picture of the stage")
        .open(&mut is_open)
        .anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO)
        .resizable(false)
        .show(ctx, |ui| {
            ui.horizontal(|ui| {
                let (width, height) = &mut chosen.size;
                for (name, side) in [("Width", &mut *width), ("Height", &mut *height)] {
                    let label = ui.label(name);
                    let hint = format!(
                        "In pixels, up to {}; a picture has at most {} million",
                        SIDES.end(),
                        PIXELS_MAX / 1_000_000
                    );
                    ui.add(DragValue::new(side).range(SIDES)).labelled_by(label.id).on_hover_text(hint);
                }
                *height = highest(*width).min(*height);
                ui.weak("pixels");
            });
            let hint = "Only what is drawn covers what the picture is laid on";
            checkbox_ui(ui, &mut chosen.is_transparent, "Transparent background").on_hover_text(hint);
            let hint = "The sentence, and how far it is from static to contextual";
            checkbox_ui(ui, &mut chosen.has_caption, "Caption below").on_hover_text(hint);
            ui.add_space(size::GAP);
            ui.horizontal(|ui| {
                let words = RichText::new("Choose a file …").color(palette.on_accent);
                let go_on = ui.add(egui::Button::new(words).fill(palette.accent));
                if go_on.on_hover_text("PNG, of the stage as you see it now").clicked() {
                    action = Some(Action::PlacePicture(*chosen));
                }
                if ui.button("Cancel").on_hover_text("No picture (Esc)").clicked() {
                    is_over = true;
                }
            });
        });
    if !is_open || is_over || action.is_some() || ctx.input(|input| input.key_pressed(Key::Escape)) {
        *choice = None;
    }
    action
}
