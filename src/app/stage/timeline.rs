//! The time slider under the stage: from static to contextual.

use egui::{Align, Layout, Slider, Ui};

use crate::app::theme::size;
use crate::app::view_state::ViewState;

pub fn timeline_ui(ui: &mut Ui, view: &mut ViewState) {
    const ENDS: f32 = 190.0;
    const WITH_HINT: f32 = 560.0;
    ui.horizontal_centered(|ui| {
        ui.add_space(size::GAP);
        let hint = ui.available_width() > WITH_HINT;
        let width = (ui.available_width() - ENDS - if hint { ENDS } else { 0.0 }).max(size::SLIDER_ROW);
        if ui
            .selectable_label(view.time() == 0.0, "static")
            .on_hover_text("Where the dictionary puts each word (Shift+Space)")
            .clicked()
        {
            view.glide_to(0.0);
        }
        ui.spacing_mut().slider_width = width;
        let mut time = view.time();
        let slider = Slider::new(&mut time, 0.0..=1.0).show_value(false).trailing_fill(true);
        let response =
            ui.add(slider).on_hover_text("Time: each token moves on a straight line from static to contextual");
        response.widget_info(|| egui::WidgetInfo::slider(true, f64::from(time), "Time from static to contextual"));
        if response.changed() {
            view.set_time(time);
        }
        if ui
            .selectable_label(view.time() == 1.0, "contextual")
            .on_hover_text("Where attention puts each token (Space)")
            .clicked()
        {
            view.glide_to(1.0);
        }
        if hint {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.add_space(size::GAP);
                ui.weak("Space  forward · Home  camera");
            });
        }
    });
}
