//! A panel in the app's own fonts and styles, without a window.

use attune::app::theme::{self, fonts};
use egui::{Ui, Vec2};
use egui_kittest::Harness;

/// The first frame dresses the context; `content` is shown from the second on.
pub fn dressed<'a>(size: Vec2, mut content: impl FnMut(&mut Ui) + 'a) -> Harness<'a> {
    let mut is_dressed = false;
    let mut harness = Harness::builder().with_size(size).build_ui(move |ui| {
        if !is_dressed {
            ui.ctx().set_fonts(fonts::definitions());
            theme::apply(ui.ctx());
            is_dressed = true;
            return;
        }
        content(ui);
    });
    harness.run_steps(3);
    harness
}
