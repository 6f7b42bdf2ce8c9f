//! The training panel: the loss, where training stands, and how to drive it.

use egui::{ProgressBar, RichText, Ui};
use egui_plot::{HLine, Line, Plot, PlotPoint, PlotPoints};

use crate::app::shortcuts::play_or_pause;
use crate::app::theme::{Palette, size};
use crate::kernel::command::Command;
use crate::kernel::training_log::TrainingLog;
use crate::view_model::training::{TrainingModel, TrainingStage};

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
        ui.checkbox(&mut state.log, "log").on_hover_text("Logarithmic scale");
    });
    let log = state.log;
    let scaled = |loss: f64| if log { loss.log10() } else { loss };
    let chance = model.chance.map(|chance| scaled(f64::from(chance)));
    let top = chance.unwrap_or(scaled(1.0));
    let height = (ui.available_height() - BELOW).clamp(size::CHART_MIN, size::CHART_MAX);
    let value = move |y: f64| if log { 10f64.powf(y) } else { y };
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
        .y_axis_formatter(move |mark, _| format!("{:.1}", value(mark.value)))
        .show(ui, |plot| {
            if let Some(chance) = chance {
                let line = HLine::new("a guess", chance).color(palette.ink_faint);
                plot.hline(line.style(egui_plot::LineStyle::dashed_loose()));
            }
            plot.line(Line::new("loss", PlotPoints::Borrowed(&state.curve)).color(palette.accent).width(size::CURVE));
        });
}
