//! The train panel: the progress of training, its controls, and its curve (loss or gradient norms by step) with a
//! cursor that shows earlier steps; or the sliders that train the whole lesson again while they are dragged, and the
//! progress of this.

use std::sync::Arc;

use attune_core::kernel::command::{Command, TrainingCommand};
use attune_core::kernel::snapshot::{RetrainingSnapshot, Snapshot};
use attune_core::kernel::training::log::{StepRecord, TrainingLog};
use attune_core::kernel::worker::Pace;
use attune_core::lesson::limits::LEARNING_RATE_MAX;
use attune_core::lesson::recipe::{Knob, KnobOffer, offers};
use attune_core::lesson::{Lesson, Recipe};
use attune_ui::actions::{Action, ActionTable, WindowAction};
use attune_ui::theme::{Palette, size};
use attune_ui::ui_state::Highlight;
use attune_ui::widgets::controls::{checkbox_ui, enabled_button_ui, hint, named, switch_ui};
use attune_ui::widgets::plot::{cursor, curve_plot, name_axes, tick_text};
use attune_view::view_model::Model;
use attune_view::view_model::notebook::Differences;
use attune_view::view_model::stage::picture_of_retrained;
use attune_view::view_model::training::{TrainingModel, TrainingStage};
use egui::{Align2, ComboBox, Label, ProgressBar, Response, RichText, ScrollArea, Slider, Ui, WidgetInfo, WidgetType};
use egui_plot::{GridMark, HLine, Line, LineStyle, PlotPoint, PlotPoints, Text, VLine};

use super::panel::{Panel, PanelContext};
use super::weights::ghost_mark;

const SMALL_STEP: usize = 1;
const LARGE_STEP: usize = 10;
/// The paces to choose from, in steps per second; `None` for full speed.
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
    /// The pace of training, in steps per second; `None` for full speed.
    pub pace: Pace,
}

impl TrainPanel {
    pub fn showing(view: TrainView) -> Self {
        Self { view, ..Self::default() }
    }
}

impl Panel for TrainPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let (training, retrain) = (cx.models.get::<TrainingModel>()?, cx.models.get::<RetrainModel>()?);
        switch_ui(
            ui,
            &mut self.view,
            &[
                (
                    TrainView::Steps,
                    "Step by step",
                    "Play, pause and step through training, and look back along the loss curve",
                ),
                (TrainView::Again, "Retrain", "Sliders that retrain the lesson's models while you drag"),
            ],
        );
        let (before, commands) = (self.pace, &mut cx.requests.commands);
        match self.view {
            TrainView::Steps => training_ui(ui, &training, self, commands),
            TrainView::Again => retrain_ui(ui, &retrain, cx.view.highlight, commands),
        }
        if self.pace != before {
            cx.requests.actions.push(Action::SetPace(self.pace));
        }
        Some(())
    }
}

fn training_ui(ui: &mut Ui, model: &TrainingModel, state: &mut TrainPanel, commands: &mut Vec<Command>) {
    let palette = Palette::on(ui);
    // The height of the lines below the curve, in points; the curve takes the rest of the panel.
    const BELOW: f32 = 100.0;
    let height = ui.available_height();
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
        let top = ui.cursor().top();
        progress_ui(ui, model, palette);
        controls_ui(ui, model, commands);
        look_ui(ui, model, commands);
        let left = height - (ui.cursor().top() - top) - BELOW;
        commands.extend(curve_ui(ui, model, state, left));
        commands.extend(rate_ui(ui, model));
        ui.add(egui::Label::new(RichText::new(&model.checkpoints).small().color(palette.ink_soft)).wrap())
            .on_hover_text("Looking back at a step shows the model exactly as it was then");
        ui.add(egui::Label::new(RichText::new(&model.honest_label).small().color(palette.ink_soft)).wrap());
    });
}

/// Returns the command of the play button; `None` before the model exists, and after training has finished or diverged.
pub fn play_or_pause(training: &TrainingModel) -> Option<Command> {
    match training.stage {
        TrainingStage::Playing => Some(Command::Training(TrainingCommand::Pause)),
        stage => stage.can_go_on().then_some(Command::Training(TrainingCommand::Play)),
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
        // A look back at an earlier step has a line of its own instead.
        if model.shown.is_none() {
            ui.label(RichText::new(&model.status).color(ink));
        }
    });
    bar_ui(ui, share, palette);
}

fn share(done: usize, of: usize) -> f32 {
    done as f32 / of.max(1) as f32
}

fn controls_ui(ui: &mut Ui, model: &TrainingModel, commands: &mut Vec<Command>) {
    let is_playing = model.stage == TrainingStage::Playing;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let toggle = play_or_pause(model);
        let (name, tip) = if is_playing { ("Pause", "Pause at this step") } else { ("Play", "Train to the last step") };
        let tip = WindowAction::Play.row().hint_with(tip);
        commands.extend(enabled_button_ui(ui, toggle.is_some(), name, tip, toggle).flatten());
        let mut command_ui = |ui: &mut Ui, is_enabled: bool, name: &str, tip: &str, command: TrainingCommand| {
            commands.extend(enabled_button_ui(ui, is_enabled, name, tip, Command::Training(command)));
        };
        let can_step = is_playing || model.stage.can_go_on();
        let step = WindowAction::TrainStep.row();
        let small = step.hint_with(&format!("Train {SMALL_STEP} optimiser step and stop"));
        let large = format!("Train {LARGE_STEP} optimiser steps and stop");
        for (steps, name, tip) in [(SMALL_STEP, step.text, small), (LARGE_STEP, "Step 10", large)] {
            command_ui(ui, can_step, name, &tip, TrainingCommand::Step(steps));
        }
        let tip = "Goes back to step 0, with the same initialisation";
        command_ui(ui, !model.stage.is_before_model(), "Reset", tip, TrainingCommand::Reset);
    });
}

fn pace_ui(ui: &mut Ui, pace: &mut Pace) {
    const WIDTH: f32 = 58.0;
    let words = |pace: Pace| pace.map_or("fastest".to_owned(), |pace| format!("{pace} / s"));
    let chooser = ComboBox::from_id_salt("pace").width(WIDTH).selected_text(words(*pace)).show_ui(ui, |ui| {
        for choice in PACES {
            ui.selectable_value(pace, choice, words(choice));
        }
    });
    named(chooser.response, WidgetType::ComboBox, "Speed").on_hover_text(
        "Speed, in optimiser steps per second. The speed changes only how long a step takes, not what the step computes.",
    );
}

/// Says which step is shown. The line is always there, so that nothing jumps.
fn look_ui(ui: &mut Ui, model: &TrainingModel, commands: &mut Vec<Command>) {
    let is_look = model.shown.is_some();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let back = "Continues from this step on a new branch; Undo brings the old branch back";
        for (name, tip, command) in [
            ("Latest", "Show the latest step again", TrainingCommand::ShowLatest),
            ("Branch here", back, TrainingCommand::Branch),
        ] {
            commands.extend(enabled_button_ui(ui, is_look, name, tip, Command::Training(command)));
        }
        let said = match model.shown {
            None if model.step == 0 => String::new(),
            None => "latest step".to_owned(),
            Some(step) if step == model.sought => format!("step {step}"),
            Some(step) => format!("step {step}, on the way to {}", model.sought),
        };
        let said = RichText::new(said);
        ui.add(egui::Label::new(if is_look { said.strong() } else { said.weak() }).truncate())
            .on_hover_text("Drag along the curve to look back, or press [ and ]; with Shift, by ten steps");
    });
}

/// Draws the slider of the learning rate, which applies from the next step on. The optimiser keeps its state.
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
                "Learning rate of the next steps; training and the optimiser are not reset. Drag, type, or use the \
                 arrow keys.";
            let slider = hint(slider, tip);
            slider
                .on_disabled_hover_text("The learning rate of a past step is fixed. Branch there, or show the latest \
                    step")
                .changed()
        })
        .inner;
    (changed && rate != model.learning_rate && rate > 0.0)
        .then_some(Command::Training(TrainingCommand::SetLearningRate(rate)))
}

/// Returns a learning rate as text, with three significant digits.
fn rate_text(rate: f64) -> String {
    const DIGITS: i32 = 2;
    if !(rate > 0.0 && rate.is_finite()) {
        return rate.to_string();
    }
    let decimals = (DIGITS - rate.log10().floor() as i32).max(0) as usize;
    let text = format!("{rate:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The number of steps by which an arrow key with Shift moves the step that is shown.
pub const FAR_STEPS: usize = 10;

/// Name of the line at the loss of a model that guesses.
const GUESS: &str = "a random guess";

/// Quantity that the curve shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curve {
    #[default]
    Loss,
    /// The norm `‖g‖` of the whole gradient.
    Gradient,
    /// The gradient norm of one tensor, by its index in the list of tensors.
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
        // Each point is measured on the step's batch before the update, like the numbers in the line above the curve.
        let points =
            log.steps().zip(1..).map(|(record, step)| PlotPoint::new(f64::from(step), scaled(curve.of(&record))));
        // A norm of 0 has no logarithm.
        self.points = points.filter(|point| point.y.is_finite()).collect();
        self.points_of = Some((log.clone(), scale, curve));
    }
}

fn curve_ui(ui: &mut Ui, model: &TrainingModel, state: &mut TrainPanel, height: f32) -> Option<Command> {
    ui.horizontal(|ui| {
        chooser_ui(ui, model, &mut state.curve);
        pace_ui(ui, &mut state.pace);
    });
    let state = &mut state.curve;
    state.keep_points(&model.log);
    let palette = Palette::on(ui);
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
    let unit = if state.curve == Curve::Loss { "loss, nats".to_owned() } else { state.curve.name(&model.tensors) };
    name_axes(ui, *plot.transform.frame(), "step", &format!("{unit}{}", if log { ", log scale" } else { "" }));
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
    let curves = [Curve::Loss, Curve::Gradient].into_iter().chain((0..model.tensors.len()).map(Curve::Tensor));
    let chooser = ComboBox::from_id_salt("curve").selected_text(state.curve.name(&model.tensors)).show_ui(ui, |ui| {
        for curve in curves {
            ui.selectable_value(&mut state.curve, curve, curve.name(&model.tensors));
        }
    });
    let tip = "Shows the loss in nats (with a line at the loss of a random guess), or the L2 norm of the gradient of \
        all tensors or of one tensor";
    named(chooser.response, WidgetType::ComboBox, "Curve").on_hover_text(tip);
    checkbox_ui(ui, &mut state.log, "log").on_hover_text("Logarithmic scale");
}

/// Returns the command that shows the step to which the pointer or the arrow keys lead. A tooltip has the number and
/// the value of the step under the pointer.
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

/// Returns the command that shows a step, or the latest one if there is no such step yet; `None` if it is shown
/// already.
pub fn look_at(model: &TrainingModel, step: usize) -> Option<Command> {
    let step = step.min(model.step);
    match step {
        _ if step == model.sought => None,
        _ if step == model.step => Some(Command::Training(TrainingCommand::ShowLatest)),
        _ => Some(Command::Training(TrainingCommand::Scrub(step))),
    }
}

/// Returns the label of a grid mark, with enough decimals to distinguish it from its neighbours.
fn loss_text(mark: GridMark, log: bool) -> String {
    match log {
        true => {
            let value = 10f64.powf(mark.value);
            tick_text(value, value / 10.0)
        }
        false => tick_text(mark.value, mark.step_size),
    }
}

/// Draws the sliders, and the progress of retraining.
fn retrain_ui(ui: &mut Ui, model: &RetrainModel, highlight: &mut Highlight, commands: &mut Vec<Command>) {
    let palette = Palette::on(ui);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        let (switches, sliders): (Vec<_>, Vec<_>) = model.sliders.iter().partition(|slider| slider.switch().is_some());
        // The switches are one below the other, because in a row their words would break at the panel's edge.
        commands.extend(switches.into_iter().filter_map(|switch| lesson_switch_ui(ui, switch)));
        commands.extend(sliders.into_iter().filter_map(|slider| slider_ui(ui, slider, palette)));
        ui.add_space(size::GAP_TIGHT);
        retrain_progress_ui(ui, model, palette);
        ui.horizontal_wrapped(|ui| {
            let tip = "Moves every slider back to its mark";
            let defaults = Command::Retrain(Box::default());
            commands.extend(enabled_button_ui(ui, !model.is_own, "Lesson defaults", tip, defaults));
            let tip = "Cancels the training that is running; what is shown stays";
            let stop = Command::Training(TrainingCommand::Pause);
            commands.extend(enabled_button_ui(ui, model.under_way.is_some(), "Stop", tip, stop));
            ui.add_enabled_ui(model.has_ghosts, |ui| {
                checkbox_ui(ui, &mut highlight.old_ghosts, "Ghosts")
                    .on_hover_text("Shows rings on the stage where the points were before the model was retrained");
            });
        });
        let said = match &model.under_way {
            Some((_, words)) => format!("Retraining: {words}."),
            None => model.told.clone(),
        };
        ui.add(Label::new(RichText::new(said).color(palette.ink_soft)).wrap());
    });
}

/// Draws the progress of retraining as a bar, whose place is kept while nothing is under way, so that nothing jumps.
fn retrain_progress_ui(ui: &mut Ui, model: &RetrainModel, palette: &Palette) {
    match &model.under_way {
        Some((share, _)) => _ = bar_ui(ui, *share, palette).on_hover_text("Progress of the retraining"),
        None => _ = ui.allocate_space(egui::vec2(ui.available_width(), size::BAR / 2.0)),
    }
}

/// Draws a share as a low bar.
fn bar_ui(ui: &mut Ui, share: f32, palette: &Palette) -> Response {
    ui.add(ProgressBar::new(share).desired_height(size::BAR / 2.0).fill(palette.accent))
}

fn slider_ui(ui: &mut Ui, slider: &SliderModel, palette: &Palette) -> Option<Command> {
    const NAME: f32 = 104.0;
    const VALUE: f32 = 56.0;
    let offer = &slider.offer;
    let last = offer.choices.len().saturating_sub(1);
    let mut at = offer.at;
    ui.horizontal(|ui| {
        let (room, layout) = (egui::vec2(NAME, size::SLIDER_ROW), egui::Layout::left_to_right(egui::Align::Center));
        ui.allocate_ui_with_layout(room, layout, |ui| {
            ui.set_min_width(NAME);
            ui.add(Label::new(&slider.name).truncate()).on_hover_text(&slider.tip);
        });
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

/// Draws a switch of the lesson. Returns the command that retrains the models if it was switched.
fn lesson_switch_ui(ui: &mut Ui, switch: &SliderModel) -> Option<Command> {
    let (offer, name) = (&switch.offer, switch.switch()?);
    let is_on = offer.choices.get(offer.at)?.recipe.switches.contains(name);
    let other = offer.choices.iter().find(|choice| choice.recipe.switches.contains(name) != is_on);
    let mut wanted = is_on;
    ui.add_enabled_ui(other.is_some(), |ui| {
        let response = checkbox_ui(ui, &mut wanted, &switch.name);
        hint(response, &switch.tip);
    });
    let chosen = other.filter(|_| wanted != is_on)?;
    Some(Command::Retrain(Box::new(chosen.recipe.clone())))
}

/// Returns the place of the lesson's own choice along a slider, from -1 to 1.
fn place(own: usize, last: usize) -> f32 {
    own as f32 / last.max(1) as f32 * 2.0 - 1.0
}

#[derive(Clone, Debug)]
pub struct RetrainModel {
    pub sliders: Vec<SliderModel>,
    /// The state of training, in words.
    pub told: String,
    pub is_own: bool,
    pub has_ghosts: bool,
    /// The progress of retraining from 0 to 1, and what is trained; `None` while nothing is.
    pub under_way: Option<(f32, String)>,
    /// The lesson and recipe from which the sliders were made.
    made_of: (Arc<Lesson>, Arc<Recipe>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct SliderModel {
    pub name: String,
    pub tip: String,
    pub offer: KnobOffer,
}

impl SliderModel {
    /// Returns the name of the lesson's switch that this slider stands for; `None` if it is no switch.
    fn switch(&self) -> Option<&str> {
        match &self.offer.knob {
            Knob::Switch(name) => Some(name),
            _ => None,
        }
    }
}

impl Model for RetrainModel {
    type Choice = ();

    /// Returns the model of the panel; `None` until there is a trained model. The sliders of `before`, the last such
    /// model, are kept while nothing moves them.
    fn make(snapshot: &Arc<Snapshot>, _: &(), before: Option<&Self>) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let under_way = snapshot.retraining.as_ref();
        // A slider stays where it was dragged to, even while the models are still the old ones.
        let recipe = under_way.map_or(&model.recipe, |under_way| &under_way.recipe);
        let is_same =
            |before: &&RetrainModel| Arc::ptr_eq(&before.made_of.0, &snapshot.lesson) && before.made_of.1 == *recipe;
        let sliders = match before.filter(is_same) {
            Some(before) => before.sliders.clone(),
            None => offers(&snapshot.lesson, recipe).into_iter().map(|offer| slider(&snapshot.lesson, offer)).collect(),
        };
        let is_new_space = !model.recipe.has_space_of(&Recipe::default());
        let differences = Differences::of_model(snapshot);
        let shown = if !model.recipe.is_default() {
            let picture = snapshot.space.as_deref().filter(|_| is_new_space).map(picture_of_retrained);
            let space = picture.map_or_else(
                || "The vectors are in the lesson's own space".to_owned(),
                |at| format!("The vectors are in a retrained space, {at}"),
            );
            format!("Shown: {}. {space}.", model.recipe.words(&snapshot.lesson))
        } else if differences.is_empty() {
            "Shown: the lesson as it is.".to_owned()
        } else {
            "Shown: the lesson's defaults.".to_owned()
        };
        let told = std::iter::once(shown).chain(differences).collect::<Vec<_>>().join(" ");
        Some(Self {
            sliders,
            told,
            is_own: recipe.is_default(),
            has_ghosts: model.replaced.is_some(),
            under_way: under_way.map(progress),
            made_of: (snapshot.lesson.clone(), recipe.clone()),
        })
    }
}

/// Returns the progress from 0 to 1, and what is trained. The epochs and the steps count half each, because they take
/// about as long.
fn progress(under_way: &RetrainingSnapshot) -> (f32, String) {
    let RetrainingSnapshot { embedding, steps, .. } = under_way;
    let share = |done: usize, of: usize| if of == 0 { 1.0 } else { done as f32 / of as f32 };
    let words = if embedding.done < embedding.of {
        format!("static vectors, epoch {} of {}", embedding.done, embedding.of)
    } else {
        format!("model, step {} of {}", steps.done, steps.of)
    };
    ((share(embedding.done, embedding.of) + share(steps.done, steps.of)) / 2.0, words)
}

fn slider(lesson: &Lesson, offer: KnobOffer) -> SliderModel {
    let (name, tip) = match &offer.knob {
        Knob::Share { word, group } => {
            let ambiguous = lesson.corpus.ambiguous.iter().find(|ambiguous| ambiguous.word == *word);
            let others = ambiguous.into_iter().flat_map(|ambiguous| &ambiguous.shares);
            let others: Vec<&str> = others.map(|(other, _)| other.as_str()).filter(|other| other != group).collect();
            let others = others.join(" or ");
            let tip = format!(
                "How often “{word}” belongs to {group} in the corpus; the rest of the time it belongs \
                to {others}"
            );
            (format!("{word}: {group}"), tip)
        }
        Knob::Heads => ("Heads".to_owned(), "H: the number of heads in every block".to_owned()),
        Knob::Width => ("Width".to_owned(), "D: how many numbers every vector has".to_owned()),
        Knob::StaticRate => ("Static rate".to_owned(), "Learning rate of the static vectors (word2vec)".to_owned()),
        Knob::ModelRate => ("Model rate".to_owned(), "Learning rate of the attention model".to_owned()),
        Knob::Switch(name) => {
            let known = lesson.switches.list.iter().find(|switch| switch.name == *name);
            let tip = known.map_or("", |switch| &switch.tip);
            return SliderModel {
                name: name.clone(),
                tip: format!("{tip}\nThis retrains the lesson's models.").trim().to_owned(),
                offer,
            };
        }
        Knob::Seed => (
            "Seed".to_owned(),
            "Seed of every random draw, for the corpus, the initial weights and the \
            batches"
                .to_owned(),
        ),
    };
    let own = offer.choices.get(offer.own).map_or("", |choice| &choice.label);
    let tip = format!("{tip}.\nThe mark is at the lesson's own value, {own}. Drag, or use the arrow keys.");
    SliderModel { name, tip, offer }
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

#[cfg(test)]
mod curve_tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_shows_losses() {
        let text = |exponent| loss_text(GridMark { value: exponent, step_size: 1.0 }, true);
        assert_eq!([-2.0, -0.5, 0.0, 1.0].map(text), ["0.010", "0.32", "1.0", "10"]);
    }
}
