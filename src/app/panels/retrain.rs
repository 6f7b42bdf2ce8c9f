//! Sliders behind which the whole lesson trains again while they are dragged.

use attune_core::kernel::command::{Command, TrainingCommand};
use attune_view::view_model::retrain::{RetrainModel, SliderModel};
use egui::{Button, Label, ProgressBar, RichText, ScrollArea, Slider, Ui, WidgetInfo};

use super::weights::ghost_mark;
use crate::app::theme::{Palette, size};
use crate::app::view::Highlight;
use crate::app::widgets::controls::{checkbox_ui, hint};

/// The sliders, and how training again goes.
pub fn retrain_ui(ui: &mut Ui, model: &RetrainModel, highlight: &mut Highlight) -> Vec<Command> {
    let palette = Palette::of(ui.visuals().dark_mode);
    let mut commands = Vec::new();
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for slider in &model.sliders {
            commands.extend(slider_ui(ui, slider, palette));
        }
        ui.add_space(size::GAP_TIGHT);
        progress_ui(ui, model, palette);
        ui.horizontal_wrapped(|ui| {
            let own = ui.add_enabled(!model.is_own, Button::new("Lesson defaults"));
            if own.on_hover_text("Every slider back to its mark").clicked() {
                commands.push(Command::Retrain(Box::default()));
            }
            let stop = ui.add_enabled(model.under_way.is_some(), Button::new("Stop"));
            if stop.on_hover_text("Cancel the training under way; what is shown stays").clicked() {
                commands.push(Command::Training(TrainingCommand::Pause));
            }
            ui.add_enabled_ui(model.has_ghosts, |ui| {
                checkbox_ui(ui, &mut highlight.old_ghosts, "Ghosts")
                    .on_hover_text("Rings on the stage where the points were before the lesson was trained again");
            });
        });
        let said = match &model.under_way {
            Some((_, words)) => format!("Training again: {words}."),
            None => model.told.clone(),
        };
        ui.add(Label::new(RichText::new(said).color(palette.ink_soft)).wrap());
    });
    commands
}

/// The bar's place stays while nothing is under way, so that nothing jumps.
fn progress_ui(ui: &mut Ui, model: &RetrainModel, palette: &Palette) {
    match &model.under_way {
        Some((share, _)) => {
            let bar = ProgressBar::new(*share).desired_height(size::BAR / 2.0).fill(palette.accent);
            ui.add(bar).on_hover_text("Progress of training again");
        }
        None => {
            ui.allocate_space(egui::vec2(ui.available_width(), size::BAR / 2.0));
        }
    }
}

fn slider_ui(ui: &mut Ui, slider: &SliderModel, palette: &Palette) -> Option<Command> {
    const NAME: f32 = 104.0;
    const VALUE: f32 = 56.0;
    let offer = &slider.offer;
    let last = offer.choices.len().saturating_sub(1);
    let mut at = offer.at;
    ui.horizontal(|ui| {
        let name = |ui: &mut Ui| ui.add(Label::new(&slider.name).truncate()).on_hover_text(&slider.tip);
        ui.allocate_ui_with_layout(
            egui::vec2(NAME, size::SLIDER_ROW),
            egui::Layout::left_to_right(egui::Align::Center),
            |ui| {
                ui.set_min_width(NAME);
                name(ui);
            },
        );
        ui.spacing_mut().slider_width = (ui.available_width() - VALUE).max(size::CHART_MIN / 2.0);
        let response = ui.add(Slider::new(&mut at, 0..=last).show_value(false));
        response.widget_info(|| WidgetInfo::slider(true, at as f64, &slider.name));
        ghost_mark(ui, response.rect, place(offer.own, last), palette);
        hint(response, &slider.tip);
        ui.monospace(offer.choices.get(at).map_or("", |choice| &choice.label));
    });
    let chosen = offer.choices.get(at).filter(|_| at != offer.at)?;
    Some(Command::Retrain(Box::new(chosen.recipe.clone())))
}

/// Place of the mark, from -1 to 1.
fn place(own: usize, last: usize) -> f32 {
    own as f32 / last.max(1) as f32 * 2.0 - 1.0
}
