//! The list of checkpoints: states of the work that can be brought back.

use egui::{Align2, Context, Label, RichText, ScrollArea};

use crate::app::actions::Action;
use crate::app::theme::{Palette, size};
use crate::app::widgets::tool_window::tool_window;

/// A checkpoint, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Such as `12 minutes ago`.
    pub when: String,
    /// Why it is kept; empty if only time had passed.
    pub why: String,
}

/// Over everything; `rows` is none while the list is closed.
pub fn checkpoints_ui(ctx: &Context, rows: &mut Option<Vec<CheckpointRow>>) -> Option<Action> {
    const WIDTH: f32 = 420.0;
    const HIGHEST: f32 = 320.0;
    let shown = rows.as_ref()?;
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let (mut is_open, mut action) = (true, None);
    tool_window("Checkpoints")
        .open(&mut is_open)
        .anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO)
        .resizable(false)
        .show(ctx, |ui| {
            ui.set_width(WIDTH);
            if shown.is_empty() {
                ui.weak(
                    "None yet. One is kept every few minutes, before each reset, and when another window takes over.",
                );
                return;
            }
            ui.add(Label::new("Restore an earlier version; your current work is saved first.").wrap());
            ui.add_space(size::GAP);
            ScrollArea::vertical().max_height(HIGHEST).show(ui, |ui| {
                for (index, row) in shown.iter().enumerate() {
                    ui.horizontal(|ui| {
                        if ui.button("Go back").on_hover_text(format!("To your work of {}", row.when)).clicked() {
                            action = Some(Action::GoBack(index));
                        }
                        ui.label(&row.when);
                        ui.add(Label::new(RichText::new(&row.why).color(palette.ink_soft)).truncate());
                    });
                }
            });
        });
    if !is_open || action.is_some() || ctx.input(|input| input.key_pressed(egui::Key::Escape)) {
        *rows = None;
    }
    action
}
