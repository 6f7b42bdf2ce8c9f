//! Copying, and saying that it was done.

use egui::{Button, Id, Response, RichText, Ui, WidgetInfo, WidgetType};

use crate::app::theme::{self, Palette, size};

/// How long it is said, in seconds.
const SAID: f64 = 1.5;

/// Copies `text`; `id` says so for a while.
pub fn copy(ui: &Ui, id: Id, text: String) {
    ui.copy_text(text);
    let now = ui.input(|input| input.time);
    ui.data_mut(|data| data.insert_temp(id, now));
}

/// Whether `id` was copied a moment ago.
pub fn is_copied(ui: &Ui, id: Id) -> bool {
    let now = ui.input(|input| input.time);
    let left = ui.data(|data| data.get_temp::<f64>(id)).map_or(0.0, |at| at + SAID - now);
    if left > 0.0 {
        ui.ctx().request_repaint_after_secs(left as f32);
    }
    left > 0.0
}

/// A small button that copies; `what` ends "Copy …".
pub fn copy_button(ui: &mut Ui, what: &str, text: impl FnOnce() -> String) -> Response {
    let palette = Palette::of(ui.visuals().dark_mode);
    let id = ui.id().with(("copied", what));
    let copied = is_copied(ui, id);
    let (word, color) = if copied { ("copied", palette.accent) } else { ("copy", palette.ink_faint) };
    let button = Button::new(RichText::new(word).font(theme::plain(size::SMALL)).color(color)).frame(false).small();
    let response = ui.add(button).on_hover_text(format!("Copy {what}"));
    let name = if copied { format!("Copied {what}") } else { format!("Copy {what}") };
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
    if response.clicked() {
        copy(ui, id, text());
    }
    response
}
