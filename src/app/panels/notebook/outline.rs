//! The outline: every section and every task of the lesson, with what is done.

use attune_view::view_model::notebook::OutlineRow;
use egui::containers::menu::MenuButton;
use egui::{Button, RichText, ScrollArea, Ui, WidgetInfo, WidgetType};

use super::frame::Frame;
use crate::app::theme::Palette;

pub fn outline_ui(ui: &mut Ui, frame: &mut Frame) {
    const WIDTH: f32 = 320.0;
    const INDENT: f32 = 12.0;
    /// Height, as a share of the window.
    const HIGHEST: f32 = 0.75;
    let (button, _) = MenuButton::new("Outline").ui(ui, |ui| {
        ui.set_width(WIDTH);
        let palette = Palette::of(ui.visuals().dark_mode);
        let rows = frame.model.outline();
        if rows.is_empty() {
            ui.weak("No headings and no tasks");
        }
        let highest = ui.ctx().viewport_rect().height() * HIGHEST;
        ScrollArea::vertical().max_height(highest).show(ui, |ui| {
            for OutlineRow { id, level, words, done, is_open } in rows {
                ui.horizontal(|ui| {
                    ui.add_space(INDENT * level.saturating_sub(1) as f32);
                    let mark = match done {
                        None => "",
                        Some(true) => "✓  ",
                        Some(false) => "○  ",
                    };
                    let ink = if done.is_some() { palette.ink_soft } else { palette.ink };
                    let text = RichText::new(format!("{mark}{words}")).color(ink);
                    let response = ui.add_enabled(is_open, Button::new(text).frame_when_inactive(false).truncate());
                    let state = match done {
                        None => "section",
                        Some(true) => "task, done",
                        Some(false) => "task, open",
                    };
                    let said = format!("{words}: {state}");
                    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, is_open, &said));
                    if response.on_disabled_hover_text("Behind the tasks above it").clicked() {
                        frame.state.selected = Some(id.clone());
                        frame.reveal_at_top(&id);
                        ui.close();
                    }
                });
            }
        });
    });
    button.on_hover_text("Go to a section or a task");
}
