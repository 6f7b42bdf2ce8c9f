//! The curve of a training: loss or gradient norms by step, with a cursor that looks back.

use attune_core::kernel::command::{Command, TrainingCommand};
use attune_core::kernel::training::log::{StepRecord, TrainingLog};
use attune_view::view_model::training::TrainingModel;
use egui::{Align2, ComboBox, Response, RichText, Ui, WidgetInfo, WidgetType};
use egui_plot::{GridMark, HLine, Line, LineStyle, PlotPoint, PlotPoints, Text, VLine};

use crate::app::theme::{Palette, size};
use crate::app::widgets::controls::checkbox_ui;
use crate::app::widgets::plot::{cursor, curve_plot, tick_text};

/// With Shift an arrow key looks so many steps further.
pub const FAR_STEPS: usize = 10;

/// Name of the line at the loss of a model that guesses.
const GUESS: &str = "a random guess";

/// Quantity that the curve shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curve {
    #[default]
    Loss,
    /// `‖g‖` of the whole gradient.
    Gradient,
    /// The same of one tensor, by its place.
    Tensor(usize),
}

impl Curve {
    fn name(self, tensors: &[String]) -> String {
        match self {
            Curve::Loss => "Loss".to_owned(),
            Curve::Gradient => "Gradient norm".to_owned(),
            Curve::Tensor(place) => format!("Gradient of {}", tensors.get(place).map_or("?", String::as_str)),
        }
    }

    fn of(self, record: &StepRecord) -> f32 {
        match self {
            Curve::Loss => record.loss,
            Curve::Gradient => record.gradient_norm,
            Curve::Tensor(place) => record.by_tensor.get(place).copied().unwrap_or(0.0),
        }
    }
}

#[derive(Default)]
pub struct CurveUiState {
    log: bool,
    curve: Curve,
    /// The curve's points, kept until they change.
    points: Vec<PlotPoint>,
    points_of: Option<(TrainingLog, bool, Curve)>,
}

impl CurveUiState {
    fn keep_points(&mut self, log: &TrainingLog) {
        let (scale, curve) = (self.log, self.curve);
        if self.points_of.as_ref().is_some_and(|(of, s, c)| of.is_same(log) && (*s, *c) == (scale, curve)) {
            return;
        }
        let scaled = |x: f32| if scale { f64::from(x).log10() } else { f64::from(x) };
        // A step's own record, of its batch before the update, as the line above the curve has it.
        let points =
            log.steps().zip(1..).map(|(record, step)| PlotPoint::new(f64::from(step), scaled(curve.of(&record))));
        // A norm of 0 has no logarithm.
        self.points = points.filter(|point| point.y.is_finite()).collect();
        self.points_of = Some((log.clone(), scale, curve));
    }
}

pub fn curve_ui(ui: &mut Ui, model: &TrainingModel, state: &mut CurveUiState, height: f32) -> Option<Command> {
    chooser_ui(ui, model, state);
    state.keep_points(&model.log);
    let palette = Palette::of(ui.visuals().dark_mode);
    let log = state.log;
    let scaled = |x: f64| if log { x.log10() } else { x };
    let chance = model.chance.filter(|_| state.curve == Curve::Loss).map(|chance| scaled(f64::from(chance)));
    let top = chance.unwrap_or(scaled(1.0));
    let shown = model.shown.unwrap_or(model.step) as f64;
    let plot = curve_plot("curve", height, palette)
        .include_x(0.0)
        .include_x(model.steps as f64)
        .include_y(top)
        .include_y(if log { top - 1.0 } else { 0.0 })
        .y_axis_formatter(move |mark, _| loss_text(mark, log))
        .show(ui, |plot| {
            if let Some(chance) = chance {
                let line = HLine::new(GUESS, chance).color(palette.ink_faint);
                plot.hline(line.style(LineStyle::dashed_loose()));
                let name = RichText::new(GUESS).size(size::SMALL).color(palette.ink_soft);
                let at = PlotPoint::new(model.steps as f64, chance);
                plot.text(Text::new(GUESS, at, name).anchor(Align2::RIGHT_BOTTOM));
            }
            plot.line(Line::new("curve", PlotPoints::Borrowed(&state.points)).color(palette.accent).width(size::CURVE));
            if model.step > 0 {
                let ink = if model.shown.is_some() { palette.ink } else { palette.ink_faint };
                plot.vline(VLine::new("shown", shown).color(ink).width(size::HAIRLINE));
            }
        });
    let at = |x: f32| {
        let step = plot.transform.value_from_position(egui::pos2(x, 0.0)).x.round();
        (step.max(0.0) as usize).min(model.step)
    };
    look_along(ui, &plot.response, model, state, at)
}

fn chooser_ui(ui: &mut Ui, model: &TrainingModel, state: &mut CurveUiState) {
    if matches!(state.curve, Curve::Tensor(place) if place >= model.tensors.len()) {
        state.curve = Curve::Loss;
    }
    ui.horizontal(|ui| {
        let curves = [Curve::Loss, Curve::Gradient].into_iter().chain((0..model.tensors.len()).map(Curve::Tensor));
        let chooser =
            ComboBox::from_id_salt("curve").selected_text(state.curve.name(&model.tensors)).show_ui(ui, |ui| {
                for curve in curves {
                    ui.selectable_value(&mut state.curve, curve, curve.name(&model.tensors));
                }
            });
        chooser.response.widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, "Curve"));
        let tip = "Loss in nats, with a line at that of a random guess; or the L2 norm of the gradient, of all tensors or of one";
        chooser.response.on_hover_text(tip);
        checkbox_ui(ui, &mut state.log, "log").on_hover_text("Logarithmic scale");
        ui.weak("drag to look back")
            .on_hover_text("Or [ and ], or the arrow keys on the curve; with Shift by ten steps");
    });
}

/// The step that the pointer or the arrow keys lead to; under the pointer, its number.
fn look_along(
    ui: &Ui,
    response: &Response,
    model: &TrainingModel,
    state: &CurveUiState,
    at: impl Fn(f32) -> usize,
) -> Option<Command> {
    response.widget_info(|| WidgetInfo::slider(model.step > 0, model.sought as f64, "Step shown"));
    if model.step == 0 {
        return None;
    }
    if let Some(pointer) = response.hover_pos().filter(|_| !response.is_pointer_button_down_on()) {
        let step = at(pointer.x);
        let value = state.points.iter().find(|point| point.x == step as f64);
        let value = value.map(|point| if state.log { 10f64.powf(point.y) } else { point.y });
        let said = value.map_or("before the first update".to_owned(), |value| format!("{value:.4}"));
        response.clone().on_hover_text_at_pointer(format!("step {step}: {said}"));
    }
    cursor(ui, response, (model.sought, model.step), FAR_STEPS, at).and_then(|step| look_at(model, step))
}

/// The command that shows a step, if it is not in sight.
pub fn look_at(model: &TrainingModel, step: usize) -> Option<Command> {
    let step = step.min(model.step);
    match step {
        _ if step == model.sought => None,
        _ if step == model.step => Some(Command::Training(TrainingCommand::ShowLatest)),
        _ => Some(Command::Training(TrainingCommand::Scrub(step))),
    }
}

/// With as many decimals as tell it from its neighbours.
fn loss_text(mark: GridMark, log: bool) -> String {
    match log {
        true => {
            let value = 10f64.powf(mark.value);
            tick_text(value, value / 10.0)
        }
        false => tick_text(mark.value, mark.step_size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_shows_losses() {
        let text = |exponent| loss_text(GridMark { value: exponent, step_size: 1.0 }, true);
        assert_eq!([-2.0, -0.5, 0.0, 1.0].map(text), ["0.010", "0.32", "1.0", "10"]);
    }
}
