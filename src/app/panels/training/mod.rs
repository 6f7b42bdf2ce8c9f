//! The train panel: where training stands, how to drive it, and its curve to look back along; or the sliders behind
//! which the lesson trains again.

pub mod curve;

use attune_core::kernel::command::{Command, TrainingCommand};
use attune_core::kernel::worker::Pace;
use attune_core::lesson::limits::LEARNING_RATE_MAX;
use attune_view::view_model::training::{TrainingModel, TrainingStage};
use egui::{Button, ComboBox, ProgressBar, RichText, ScrollArea, Slider, Ui, WidgetInfo, WidgetType};

use super::training::curve::{CurveUiState, curve_ui};
use crate::app::actions::{Action, ActionTable, WindowAction};
use crate::app::panels::retrain::{RetrainModel, retrain_ui};
use crate::app::panels::{Panel, PanelContext, PanelId, PanelName, Region};
use crate::app::theme::{Palette, size};
use crate::app::widgets::controls::{hint, switch_ui};

const SMALL_STEP: usize = 1;
const LARGE_STEP: usize = 10;
/// Steps a second to choose among.
const PACES: [Pace; 5] = [None, Some(60), Some(20), Some(5), Some(1)];
/// The slider's least learning rate; less can be typed.
const LEARNING_RATE_LEAST: f64 = 1e-5;

/// Views of the panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrainView {
    #[default]
    Steps,
    Again,
}

#[derive(Default)]
pub struct TrainPanel {
    pub view: TrainView,

    curve: CurveUiState,
    /// How fast training plays.
    pub pace: Pace,
}

impl TrainPanel {
    pub fn showing(view: TrainView) -> Self {
        Self { view, ..Self::default() }
    }
}

impl Panel for TrainPanel {
    fn id(&self) -> PanelId {
        PanelId::of(PanelName::Train)
    }

    fn region(&self) -> Region {
        Region::LowerRight
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let (training, retrain) = (cx.models.get::<TrainingModel>()?, cx.models.get::<RetrainModel>()?);
        switch_ui(
            ui,
            &mut self.view,
            &[
                (TrainView::Steps, "Step by step", "Play, pause and step training, and look back along its curve"),
                (TrainView::Again, "Retrain", "Sliders behind which the whole lesson trains again while you drag"),
            ],
        );
        let before = self.pace;
        cx.requests.commands.extend(match self.view {
            TrainView::Steps => training_ui(ui, &training, self),
            TrainView::Again => retrain_ui(ui, &retrain, cx.view.highlight),
        });
        if self.pace != before {
            cx.requests.actions.push(Action::SetPace(self.pace));
        }
        Some(())
    }
}

pub fn training_ui(ui: &mut Ui, model: &TrainingModel, state: &mut TrainPanel) -> Vec<Command> {
    let palette = Palette::of(ui.visuals().dark_mode);
    // What stands under the curve, so that it takes the rest.
    const BELOW: f32 = 70.0;
    let mut commands = Vec::new();
    let height = ui.available_height();
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
        let top = ui.cursor().top();
        progress_ui(ui, model, palette);
        commands.extend(controls_ui(ui, model, &mut state.pace));
        commands.extend(look_ui(ui, model));
        let left = height - (ui.cursor().top() - top) - BELOW;
        commands.extend(curve_ui(ui, model, &mut state.curve, left));
        commands.extend(rate_ui(ui, model));
        ui.add(egui::Label::new(RichText::new(&model.checkpoints).small().color(palette.ink_soft)).truncate())
            .on_hover_text("Looking back at any step shows exactly what training had then");
        ui.add(egui::Label::new(RichText::new(&model.honest_label).small().color(palette.ink_soft)).truncate());
    });
    commands
}

/// Command of the play button in this stage of training.
pub fn play_or_pause(training: &TrainingModel) -> Option<Command> {
    match training.stage {
        TrainingStage::Playing => Some(Command::Training(TrainingCommand::Pause)),
        TrainingStage::Paused | TrainingStage::Stopped => Some(Command::Training(TrainingCommand::Play)),
        TrainingStage::Embedding { .. }
        | TrainingStage::Loading { .. }
        | TrainingStage::Finished
        | TrainingStage::Diverged => None,
    }
}

fn progress_ui(ui: &mut Ui, model: &TrainingModel, palette: &Palette) {
    let (share, text) = match model.stage {
        TrainingStage::Embedding { done, of } => (share(done, of), format!("static vectors: epoch {done} of {of}")),
        TrainingStage::Loading { done, of } => (share(done, of), format!("the model's files: {done} of {of} MB")),
        _ => {
            let step = model.shown.unwrap_or(model.step);
            (share(step, model.steps), format!("step {step} of {}", model.steps))
        }
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(text);
        let shown = model.shown.map_or_else(
            || model.log.losses().next_back(),
            |step| step.checked_sub(1).and_then(|last| model.log.losses().nth(last)),
        );
        if let Some(loss) = shown {
            ui.monospace(format!("loss {loss:.4}"))
                .on_hover_text("Mean cross-entropy of this step's batch before its update, in nats");
        }
        let ink = if model.stage == TrainingStage::Diverged { palette.error } else { palette.ink_soft };
        // A look back has a line of its own.
        if model.shown.is_none() {
            ui.label(RichText::new(&model.status).color(ink));
        }
    });
    ui.add(ProgressBar::new(share).desired_height(size::BAR / 2.0).fill(palette.accent));
}

fn share(done: usize, of: usize) -> f32 {
    done as f32 / of.max(1) as f32
}

fn controls_ui(ui: &mut Ui, model: &TrainingModel, pace: &mut Pace) -> Vec<Command> {
    let mut commands = Vec::new();
    let ready = !model.stage.is_before_model();
    let can_step = matches!(model.stage, TrainingStage::Playing | TrainingStage::Paused | TrainingStage::Stopped);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let toggle = play_or_pause(model);
        let name = if model.stage == TrainingStage::Playing { "Pause" } else { "Play" };
        let tip = if name == "Pause" { "Pause at this step" } else { "Train to the last step" };
        let tip = WindowAction::Play.row().hint_with(tip);
        if ui.add_enabled(toggle.is_some(), Button::new(name)).on_hover_text(tip).clicked() {
            commands.extend(toggle);
        }
        let step = WindowAction::TrainStep.row();
        let small = step.hint_with(&format!("Train {SMALL_STEP} optimiser step and stand still"));
        let large = format!("Train {LARGE_STEP} optimiser steps and stand still");
        for (steps, name, tip) in [(SMALL_STEP, step.text, small), (LARGE_STEP, "Step 10", large)] {
            if ui.add_enabled(can_step, Button::new(name)).on_hover_text(tip).clicked() {
                commands.push(Command::Training(TrainingCommand::Step(steps)));
            }
        }
        let reset = ui.add_enabled(ready, Button::new("Reset"));
        if reset.on_hover_text("Back to the same initialisation, at step 0").clicked() {
            commands.push(Command::Training(TrainingCommand::Reset));
        }
        pace_ui(ui, pace);
    });
    commands
}

fn pace_ui(ui: &mut Ui, pace: &mut Pace) {
    const WIDTH: f32 = 58.0;
    let words = |pace: Pace| pace.map_or("fastest".to_owned(), |pace| format!("{pace} / s"));
    let chooser = ComboBox::from_id_salt("pace").width(WIDTH).selected_text(words(*pace)).show_ui(ui, |ui| {
        for choice in PACES {
            ui.selectable_value(pace, choice, words(choice));
        }
    });
    chooser.response.widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, "Speed"));
    chooser.response.on_hover_text("Speed: optimiser steps a second. It changes nothing but when a step is done.");
}

/// Which step is shown; the line is there whichever it is, so that nothing jumps.
fn look_ui(ui: &mut Ui, model: &TrainingModel) -> Vec<Command> {
    let mut commands = Vec::new();
    let is_look = model.shown.is_some();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let latest = ui.add_enabled(is_look, Button::new("Latest"));
        if latest.on_hover_text("Show the latest step again").clicked() {
            commands.push(Command::Training(TrainingCommand::ShowLatest));
        }
        let branch = ui.add_enabled(is_look, Button::new("Branch here"));
        let tip = "Continue from this step on a branch of its own; undo brings the other branch back";
        if branch.on_hover_text(tip).clicked() {
            commands.push(Command::Training(TrainingCommand::Branch));
        }
        let said = match model.shown {
            None if model.step == 0 => String::new(),
            None => "shown: the latest step".to_owned(),
            Some(step) if step == model.sought => format!("shown: step {step}"),
            Some(step) => format!("step {step}, on the way to {}", model.sought),
        };
        let said = RichText::new(said);
        ui.add(egui::Label::new(if is_look { said.strong() } else { said.weak() }).truncate())
            .on_hover_text("Drag along the curve to look back; or [ and ], with Shift by ten");
    });
    commands
}

/// From the next step on; the optimiser goes on as it is.
fn rate_ui(ui: &mut Ui, model: &TrainingModel) -> Option<Command> {
    const WITHOUT_SLIDER: f32 = 170.0;
    let mut rate = model.learning_rate;
    let can_set = model.shown.is_none() && !model.stage.is_before_model();
    let changed = ui
        .horizontal(|ui| {
            ui.label("Learning rate");
            ui.spacing_mut().slider_width = (ui.available_width() - WITHOUT_SLIDER / 2.0).max(size::CHART_MIN / 2.0);
            let slider = Slider::new(&mut rate, LEARNING_RATE_LEAST..=LEARNING_RATE_MAX)
                .logarithmic(true)
                .clamping(egui::SliderClamping::Edits)
                .custom_formatter(|rate, _| rate_text(rate));
            let slider = ui.add_enabled(can_set, slider);
            slider.widget_info(|| WidgetInfo::slider(can_set, rate, "Learning rate"));
            let tip =
                "Learning rate of the steps to come; training and optimiser go on. Drag, type, or use the arrow keys.";
            let slider = hint(slider, tip);
            slider
                .on_disabled_hover_text("The learning rate of a past step is fixed: branch from it, or show the latest")
                .changed()
        })
        .inner;
    (changed && rate != model.learning_rate && rate > 0.0)
        .then_some(Command::Training(TrainingCommand::SetLearningRate(rate)))
}

/// Three digits that count.
fn rate_text(rate: f64) -> String {
    const DIGITS: i32 = 2;
    if !(rate > 0.0 && rate.is_finite()) {
        return rate.to_string();
    }
    let decimals = (DIGITS - rate.log10().floor() as i32).max(0) as usize;
    let text = format!("{rate:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learning_rate_is_short() {
        let shown = [0.01, 0.5, 1.0, 1e-5, 0.012_345, 0.0].map(rate_text);
        assert_eq!(shown, ["0.01", "0.5", "1", "0.00001", "0.0123", "0"]);
    }
}
