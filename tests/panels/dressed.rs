//! A panel in the app's own fonts and styles, without a window.

use attune::app::theme::{self, fonts};
use egui::{Ui, Vec2};
use egui_kittest::{Harness, HarnessBuilder};

/// The first frame dresses the context; `content` is shown from the second on.
pub fn dressed<'a>(size: Vec2, content: impl FnMut(&mut Ui) + 'a) -> Harness<'a> {
    dressed_by(Harness::builder().with_size(size), content)
}

/// The same, where a frame lasts as long as a screen shows it: time counts between two keys.
pub fn dressed_at_60_hz<'a>(size: Vec2, content: impl FnMut(&mut Ui) + 'a) -> Harness<'a> {
    dressed_by(Harness::builder().with_size(size).with_step_dt(1.0 / 60.0), content)
}

fn dressed_by<'a>(builder: HarnessBuilder, mut content: impl FnMut(&mut Ui) + 'a) -> Harness<'a> {
    let mut is_dressed = false;
    let mut harness = builder.build_ui(move |ui| {
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
