//! The sheet of keys, over everything.

use egui::{Align2, Context, Grid, RichText, ScrollArea, Ui};

use crate::app::actions::sheet::{KeyLine, lines};
use crate::app::actions::{NotebookAction, SentenceAction, StageAction, WindowAction, sentence, stage, window};
use crate::app::theme::{self, Palette, size};
use crate::app::widgets::controls::checkbox_ui;
use crate::app::widgets::tool_window::tool_window;

/// Around the keys: the window's title and its margins.
const AROUND: egui::Vec2 = egui::Vec2::new(64.0, 96.0);

/// Each part of the sheet with its heading.
pub fn parts() -> [(&'static str, Vec<KeyLine>); 4] {
    [
        ("Stage, once it was clicked", lines::<StageAction>(&stage::MOUSE)),
        ("Sentence, once it was clicked", lines::<SentenceAction>(&sentence::MOUSE)),
        ("Notebook", lines::<NotebookAction>(&[])),
        ("Window", lines::<WindowAction>(&window::MOUSE)),
    ]
}

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
