//! The training panel: the loss, where training stands, and how to drive it.

use egui::{ProgressBar, RichText, Ui};
use egui_plot::{GridInput, GridMark, HLine, Line, Plot, PlotPoint, PlotPoints};

use crate::app::shortcuts::play_or_pause;
use crate::app::theme::{Palette, size};
use crate::kernel::command::Command;
use crate::kernel::training_log::TrainingLog;
use crate::view_model::training::{TrainingModel, TrainingStage};

use super::checkbox_ui;

const SMALL_STEP: usize = 1;
const LARGE_STEP: usize = 10;

#[derive(Default)]
pub struct TrainingUiState {
    log: bool,
    /// The curve's points, kept until the losses change.
    curve: Vec<PlotPoint>,
    curve_of: Option<(TrainingLog, bool)>,
}

pub fn training_ui(ui: &mut Ui, model: &TrainingModel, state: &mut TrainingUiState) -> Vec<Command> {
    let palette = Palette::of(ui.visuals().dark_mode);
    progress_ui(ui, model, palette);
    let commands = controls_ui(ui, model);
    state.keep_curve(&model.log);
    curve_ui(ui, model, state, palette);
    ui.weak(&model.honest_label);
    commands
}

fn progress_ui(ui: &mut Ui, model: &TrainingModel, palette: &Palette) {
    let (share, text) = match model.stage {
        TrainingStage::Embedding { done, of } => (share(done, of), format!("static vectors: epoch {done} of {of}")),
        _ => (share(model.step, model.steps), format!("step {} of {}", model.step, model.steps)),
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(text);
        let ink = if model.stage == TrainingStage::Diverged { palette.error } else { palette.ink_soft };
        ui.label(RichText::new(&model.status).color(ink));
        if let Some(loss) = model.log.losses().next_back() {
            ui.monospace(format!("loss {loss:.4}")).on_hover_text("Mean cross-entropy of the last step, in nats");
        }
    });
    ui.add(ProgressBar::new(share).desired_height(size::BAR / 2.0).fill(palette.accent));
}

fn share(done: usize, of: usize) -> f32 {
    done as f32 / of.max(1) as f32
}

fn controls_ui(ui: &mut Ui, model: &TrainingModel) -> Vec<Command> {
    let mut commands = Vec::new();
    let ready = !matches!(model.stage, TrainingStage::Embedding { .. });
    let can_step = matches!(model.stage, TrainingStage::Playing | TrainingStage::Paused | TrainingStage::Stopped);
    ui.horizontal_wrapped(|ui| {
        let toggle = play_or_pause(model);
        let name = if model.stage == TrainingStage::Playing { "Pause" } else { "Play" };
        let tip = if name == "Pause" { "Stand still at this step (P)" } else { "Train to the last step (P)" };
        if ui.add_enabled(toggle.is_some(), egui::Button::new(name)).on_hover_text(tip).clicked() {
            commands.extend(toggle);
        }
        for steps in [SMALL_STEP, LARGE_STEP] {
            let name = if steps == SMALL_STEP { "Step".to_owned() } else { format!("Step {steps}") };
            let tip =
                format!("Train {steps} optimiser step{} and stand still", if steps == SMALL_STEP { "" } else { "s" });
            if ui.add_enabled(can_step, egui::Button::new(name)).on_hover_text(tip).clicked() {
                commands.push(Command::Step(steps));
            }
        }
        if ui
            .add_enabled(ready, egui::Button::new("Reset"))
            .on_hover_text("Back to the same initialisation, at step 0")
            .clicked()
        {
            commands.push(Command::ResetTraining);
        }
    });
    commands
}

impl TrainingUiState {
    fn keep_curve(&mut self, log: &TrainingLog) {
        if self.curve_of.as_ref().is_some_and(|(of, scale)| of.is_same(log) && *scale == self.log) {
            return;
        }
        let scale = self.log;
        let scaled = |loss: f32| if scale { f64::from(loss).log10() } else { f64::from(loss) };
        self.curve = log.losses().enumerate().map(|(step, loss)| PlotPoint::new(step as f64, scaled(loss))).collect();
        self.curve_of = Some((log.clone(), scale));
    }
}

fn curve_ui(ui: &mut Ui, model: &TrainingModel, state: &mut TrainingUiState, palette: &Palette) {
    const BELOW: f32 = 30.0;
    ui.horizontal(|ui| {
        ui.weak("Loss, in nats, by step; dashed: a guess");
        checkbox_ui(ui, &mut state.log, "log").on_hover_text("Logarithmic scale");
    });
    let log = state.log;
    let scaled = |loss: f64| if log { loss.log10() } else { loss };
    let chance = model.chance.map(|chance| scaled(f64::from(chance)));
    let top = chance.unwrap_or(scaled(1.0));
    let height = (ui.available_height() - BELOW).clamp(size::CHART_MIN, size::CHART_MAX);
    Plot::new("loss")
        .height(height)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .show_background(false)
        .include_x(0.0)
        .include_x(model.steps as f64)
        .include_y(top)
        .include_y(if log { top - 1.0 } else { 0.0 })
        .grid_color(palette.line)
        .x_grid_spacer(ticks)
        .y_grid_spacer(ticks)
        .y_axis_formatter(move |mark, _| loss_text(mark, log))
        .show(ui, |plot| {
            if let Some(chance) = chance {
                let line = HLine::new("a guess", chance).color(palette.ink_faint);
                plot.hline(line.style(egui_plot::LineStyle::dashed_loose()));
            }
            plot.line(Line::new("loss", PlotPoints::Borrowed(&state.curve)).color(palette.accent).width(size::CURVE));
        });
}

/// A few round numbers, however long the axis is: egui_plot's own are powers of ten, of which there may be one.
fn ticks(input: GridInput) -> Vec<GridMark> {
    let (from, to) = input.bounds;
    let step_size = round_step(to - from);
    if !step_size.is_normal() {
        return Vec::new();
    }
    let (first, last) = ((from / step_size).ceil() as i64, (to / step_size).floor() as i64);
    (first..=last).map(|i| GridMark { value: i as f64 * step_size, step_size }).collect()
}

/// 1, 2 or 5 times a power of ten: the least of which `length` has no more than a few.
fn round_step(length: f64) -> f64 {
    const FEW: f64 = 4.0;
    const BASE: f64 = 10.0;
    const ROUND: [f64; 3] = [1.0, 2.0, 5.0];
    let least = length / FEW;
    let power = BASE.powf(least.log10().floor());
    ROUND.into_iter().map(|factor| factor * power).find(|step| *step >= least).unwrap_or(BASE * power)
}

/// With as many decimals as tell it from its neighbours.
fn loss_text(mark: GridMark, log: bool) -> String {
    let (value, digit) = if log {
        let value = 10f64.powf(mark.value);
        (value, value / 10.0)
    } else {
        (mark.value, mark.step_size)
    };
    let decimals = (-digit.log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_a_few_round_ticks() {
        let values = |from: f64, to: f64| {
            let marks = ticks(GridInput { bounds: (from, to), base_step_size: 1.0 });
            marks.into_iter().map(|mark| loss_text(mark, false)).collect::<Vec<_>>()
        };
        assert_eq!(values(-5.0, 605.0), ["0", "200", "400", "600"]);
        assert_eq!(values(0.0, 0.7), ["0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(values(0.0, 1e5), ["0", "50000", "100000"]);
        assert_eq!(values(0.0, 0.0), Vec::<String>::new());
        assert_eq!(values(f64::NAN, 1.0), Vec::<String>::new());
    }

    #[test]
    fn a_logarithmic_axis_shows_losses() {
        let text = |exponent| loss_text(GridMark { value: exponent, step_size: 1.0 }, true);
        assert_eq!([-2.0, -0.5, 0.0, 1.0].map(text), ["0.010", "0.32", "1.0", "10"]);
    }
}
