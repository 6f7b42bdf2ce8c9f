//! A number to turn: of the model, of the stage, or of the cells below.

use attune_core::kernel::notebook::CellCommand;
use attune_core::lesson::cells::{Bind, Slider};
use attune_view::view_model::notebook::CellModel;
use egui::{RichText, Slider as EguiSlider, Ui};

use super::frame::Frame;
use crate::app::theme::{Palette, size};
use crate::app::widgets::controls::{checkbox_ui, hint, undecided_ui};

pub fn slider_ui(ui: &mut Ui, cell: &CellModel, slider: &Slider, frame: &mut Frame) {
    let palette = Palette::of(ui.visuals().dark_mode);
    if !slider.caption.is_empty() {
        ui.label(RichText::new(&slider.caption).size(size::READING));
    }
    let turned = match slider.bind {
        Bind::Time => Some(f64::from(frame.view.walk.time())),
        _ => cell.turned,
    };
    let is_there = turned.is_some() || !frame.model.live.is_empty();
    let after = match (&slider.bind, turned) {
        (Bind::Mask, _) if is_there => mask_ui(ui, turned),
        (_, Some(before)) => number_ui(ui, slider, before),
        (_, None) => {
            ui.label(RichText::new("It can be turned as soon as the model is there.").color(palette.ink_faint));
            None
        }
    };
    let Some(after) = after else { return };
    frame.select(cell.id());
    match slider.bind {
        Bind::Time => frame.view.walk.set_time(after as f32),
        _ => frame.ask(cell.id(), CellCommand::Slide(after)),
    }
}

/// Returns the new value if the checkbox was changed. A mask of the learner's own is neither on nor off.
fn mask_ui(ui: &mut Ui, turned: Option<f64>) -> Option<f64> {
    let mut on = turned.is_some_and(|turned| turned > 0.0);
    let words = "No word sees those after it";
    let response = match turned {
        Some(_) => checkbox_ui(ui, &mut on, words),
        None => undecided_ui(ui, &mut on, words),
    };
    let is_turned = response.on_hover_text("The causal mask").changed();
    if turned.is_none() {
        let ink = Palette::of(ui.visuals().dark_mode).ink_soft;
        ui.label(RichText::new("The mask is a custom one: neither causal nor none.").size(size::SMALL).color(ink));
    }
    is_turned.then(|| f64::from(u8::from(on)))
}

/// Returns the new value if the slider was moved.
fn number_ui(ui: &mut Ui, slider: &Slider, before: f64) -> Option<f64> {
    const VALUE_ROOM: f32 = 130.0;
    let (mut value, mut is_turned) = (before, false);
    ui.horizontal(|ui| {
        ui.label(RichText::new(name(&slider.bind)).monospace().color(Palette::of(ui.visuals().dark_mode).ink_soft));
        ui.spacing_mut().slider_width = (ui.available_width() - VALUE_ROOM).max(size::CHART_MIN);
        // A value that stands outside the range, or between two steps, stays until it is turned.
        let range = slider.range.0..=slider.range.1;
        let mut bar = EguiSlider::new(&mut value, range).max_decimals(3).clamping(egui::SliderClamping::Edits);
        if let Some(step) = slider.step {
            bar = bar.step_by(step);
        }
        is_turned = hint(ui.add(bar), "Drag to set it; everything that depends on it follows").changed();
    });
    is_turned.then_some(value)
}

fn name(bind: &Bind) -> String {
    match bind {
        Bind::Temperature => "temperature".to_owned(),
        Bind::Time => "time".to_owned(),
        Bind::Mask => "mask".to_owned(),
        Bind::Weight { tensor, row, col } => format!("{tensor}[{row}, {col}]"),
        Bind::Variable(name) => name.clone(),
    }
}
