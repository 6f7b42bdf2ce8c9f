//! The end of a lesson: on to the next one, or back to the one before.

use attune_view::view_model::course::AroundLesson;
use egui::{Button, Event, RichText, Ui, WidgetInfo, WidgetType};

use super::frame::Frame;
use crate::app::actions::{Action, ActionTable, WindowAction};
use crate::app::theme::{self, Palette, size};

/// Below the last cell; ↓ leads here from it.
pub fn way_on_ui(ui: &mut Ui, frame: &mut Frame) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let around = frame.prose.around.clone();
    ui.separator();
    // In the frame of an arrow key, egui would lead the keyboard on from the button that has just got it.
    let is_led = ui.input(|input| input.raw.events.iter().any(|event| matches!(event, Event::Key { .. })));
    let wants = !is_led && std::mem::take(&mut frame.state.wants_next);
    if frame.state.wants_next {
        ui.ctx().request_repaint();
    }
    if let Some(next) = &around.after {
        let words = RichText::new(format!("Next lesson: {}", next.title)).font(theme::strong(size::READING));
        let button =
            Button::new(words.color(palette.on_accent)).fill(palette.accent).min_size(egui::vec2(0.0, size::CELL_MAX));
        let response = ui.add(button.wrap());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("Next lesson: {}", next.title)));
        if wants {
            response.request_focus();
            response.scroll_to_me(None);
        }
        if response
            .on_hover_text("Open it; your work on this one is saved (↓ from the last cell, then Enter)")
            .clicked()
        {
            open(frame, next);
        }
    } else {
        let course = WindowAction::Course.row();
        let response = ui.button(course.text).on_hover_text(course.hint());
        if wants {
            response.request_focus();
            response.scroll_to_me(None);
        }
        if response.clicked() {
            frame.actions.push(WindowAction::Course.into());
        }
    }
    if let Some(before) = &around.before {
        let words = RichText::new(format!("Previous lesson: {}", before.title)).color(palette.ink_soft);
        let response = ui.add(Button::new(words).wrap());
        if response.on_hover_text("Open it; your work on this one is saved").clicked() {
            open(frame, before);
        }
    }
    ui.add_space(size::GAP_WIDE);
}

fn open(frame: &mut Frame, lesson: &AroundLesson) {
    frame.actions.push(Action::open(&lesson.path));
}
