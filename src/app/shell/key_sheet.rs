//! The sheet of keys, over everything.

use egui::{Align2, Context, Grid, RichText, ScrollArea, Ui, Window};

use crate::app::panels::notebook::SHEET as NOTEBOOK;
use crate::app::shell::shortcuts::{SHEET, STAGE_SHEET};
use crate::app::theme::{self, Palette, size};
use crate::app::view::ViewState;

use crate::app::widgets::controls::checkbox_ui;

/// Around the keys: the window's title and its margins.
const AROUND: egui::Vec2 = egui::Vec2::new(64.0, 96.0);

pub fn key_sheet_ui(ctx: &Context, view: &mut ViewState) {
    let mut open = view.key_sheet;
    let room = (ctx.content_rect().size() - AROUND).max(egui::Vec2::ZERO);
    Window::new("Keys and mouse")
        .open(&mut open)
        .anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO)
        .collapsible(false)
        .auto_sized()
        .show(ctx, |ui| {
            ScrollArea::both().max_width(room.x).max_height(room.y).show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    ui.vertical(|ui| {
                        sheet_ui(ui, "Stage: the pointer over it, or clicked", &STAGE_SHEET);
                        ui.add_space(size::GAP_TIGHT);
                        sheet_ui(ui, "Notebook", &NOTEBOOK);
                    });
                    ui.add_space(size::GAP_WIDE);
                    ui.vertical(|ui| {
                        sheet_ui(ui, "Window", &SHEET);
                        ui.add_space(size::GAP_WIDE);
                        checkbox_ui(
                            ui,
                            &mut view.preferences.reduced_motion,
                            "Reduced motion: jump instead of gliding",
                        );
                    });
                })
            });
        });
    view.key_sheet = open;
}

fn sheet_ui(ui: &mut Ui, title: &str, sheet: &[(&str, &str)]) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.label(RichText::new(title).font(theme::strong(size::BODY)));
    /// Lines of text, not controls.
    const ROW: f32 = 16.0;
    let spacing = [size::GAP_WIDE, size::HAIRLINE];
    Grid::new(title).num_columns(2).spacing(spacing).min_row_height(ROW).show(ui, |ui| {
        for (keys, meaning) in sheet {
            ui.label(RichText::new(*keys).font(theme::mono(size::MONO)).color(palette.accent));
            ui.label(*meaning);
            ui.end_row();
        }
    });
}
