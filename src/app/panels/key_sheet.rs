//! The sheet of keys, over everything.

use egui::{Align2, Context, Grid, RichText, Window};

use crate::app::panels::notebook::SHEET as NOTEBOOK;
use crate::app::shortcuts::SHEET;
use crate::app::theme::{self, Palette, size};
use crate::app::view_state::ViewState;

use super::checkbox_ui;

pub fn key_sheet_ui(ctx: &Context, view: &mut ViewState) {
    let mut open = view.key_sheet;
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    Window::new("Keys and mouse")
        .open(&mut open)
        .anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO)
        .collapsible(false)
        .resizable(false)
        .show(ctx, |ui| {
            ui.horizontal_top(|ui| {
                for (title, sheet) in [("Stage and window", &SHEET[..]), ("Notebook", &NOTEBOOK[..])] {
                    ui.vertical(|ui| {
                        ui.label(RichText::new(title).font(theme::strong(size::BODY)));
                        Grid::new(title).num_columns(2).spacing([size::GAP_WIDE, size::GAP]).show(ui, |ui| {
                            for (keys, meaning) in sheet {
                                ui.label(RichText::new(*keys).font(theme::mono(size::MONO)).color(palette.accent));
                                ui.label(*meaning);
                                ui.end_row();
                            }
                        });
                    });
                    ui.add_space(size::GAP_WIDE);
                }
            });
            ui.add_space(size::GAP);
            checkbox_ui(ui, &mut view.reduced_motion, "Reduced motion: jump instead of gliding");
        });
    view.key_sheet = open;
}
