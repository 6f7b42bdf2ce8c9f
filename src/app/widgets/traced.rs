//! Numbers that tell where they come from.
//!
//! One rule everywhere: a right-click on a number, a cell, an arrow or a point opens its provenance. Where a click
//! means nothing else, it does too.

use attune_engine::quantity::Entry;
use egui::{CursorIcon, Label, Response, RichText, Sense, Ui, WidgetInfo, WidgetText, WidgetType};

use crate::app::theme::{Palette, size};
use crate::app::view::Trail;

pub const HINT: &str = "Click: where it comes from";
pub const ASK_HINT: &str = "Right-click: where it comes from.";

/// Said where one number stands for several, which have no one place that they come from.
pub const OF_PIECES: &str = "To a word of several pieces: their sum; from one: their mean.";

/// A number that is clicked to ask where it comes from.
pub fn number_ui(ui: &mut Ui, text: impl Into<RichText>, entry: Entry, trail: &mut Trail) -> Response {
    let text: RichText = text.into();
    let name = format!("{}: where it comes from", text.text());
    let label = Label::new(WidgetText::from(text.monospace())).selectable(false).sense(Sense::click());
    let response = ui.add(label).on_hover_cursor(CursorIcon::PointingHand).on_hover_text(HINT);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Link, true, &name));
    if response.hovered() || response.has_focus() {
        underline(ui, &response);
    }
    if response.clicked() || response.secondary_clicked() {
        trail.open(entry);
    }
    response
}

/// A right-click asks.
pub fn ask_on(response: &Response, entry: Entry, trail: &mut Trail) {
    if response.secondary_clicked() {
        trail.open(entry);
    }
}

/// Underlines what is under the pointer or has the keyboard.
pub fn underline(ui: &Ui, response: &Response) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let stroke = egui::Stroke::new(size::HAIRLINE, palette.accent);
    ui.painter().hline(response.rect.x_range(), response.rect.bottom(), stroke);
}
