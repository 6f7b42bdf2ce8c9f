//! The strip about a recording, above the panels: what its check found, and which of its tokens are shown.

use attune_view::view_model::recorded::{RecordingModel, Stretch};
use egui::containers::menu::MenuButton;
use egui::{Align, Button, Label, Layout, RichText, ScrollArea, Ui, WidgetType};

use super::notices::strip_ui;
use crate::app::actions::{ActionTable, WindowAction};
use crate::app::panels::Requests;
use crate::app::theme::{Palette, size};
use crate::app::widgets::controls::named;

/// Shows the strip about a recording, with its details and, for a long text, the tokens that are shown.
pub fn recording_ui(ui: &mut Ui, model: &RecordingModel, requests: &mut Requests) {
    let palette = Palette::on(ui);
    let ink = if model.is_wrong { palette.warn } else { palette.ink_soft };
    strip_ui(ui, "recording", |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(stretch) = &model.stretch {
                stretch_ui(ui, stretch, requests);
            }
            details_ui(ui, &model.lines);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let check = ui.add(Label::new(RichText::new(&model.check).color(ink)).truncate());
                check.on_hover_text(&model.check);
            });
        });
    });
}

/// Draws the button that opens the list of details.
fn details_ui(ui: &mut Ui, lines: &[String]) {
    let (button, _) = MenuButton::new("Details").ui(ui, |ui| {
        ui.set_width(size::WIDE_POPUP);
        ScrollArea::vertical().max_height(size::OUTPUT_MAX).show(ui, |ui| {
            // A menu's own layout would stretch the blanks of a line to its width.
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                for line in lines {
                    ui.add(Label::new(line).selectable(true).wrap());
                }
            });
        });
    });
    button.on_hover_text("All that the check of this recording found");
}

/// Draws the tokens that are shown, and the buttons that show others.
fn stretch_ui(ui: &mut Ui, stretch: &Stretch, requests: &mut Requests) {
    // The layout is from right to left, so the button for later tokens comes first.
    for (action, to) in [(WindowAction::TokensAfter, stretch.behind), (WindowAction::TokensBefore, stretch.before)] {
        let row = action.row();
        let button = named(ui.add_enabled(to.is_some(), Button::new(row.text)), WidgetType::Button, row.tooltip);
        if button.on_hover_text(row.hint()).clicked() {
            requests.actions.push(action.into());
        }
    }
    ui.label(&stretch.words);
}
