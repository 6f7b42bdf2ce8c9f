//! Equations.

use egui::{Label, Response, RichText, Ui};

use crate::app::theme::{self, size};

/// An equation of LaTeX. The one place to typeset it; so far its source is shown.
pub fn equation_ui(ui: &mut Ui, latex: &str) -> Response {
    let text = RichText::new(latex).font(theme::mono(size::SMALL)).color(ui.visuals().weak_text_color());
    ui.add(Label::new(text).wrap())
}
