//! The intervene panel: what each head adds to the chosen word, and what the learner changes about the forward pass,
//! beside the ghost of the unchanged result.

mod effect;
mod heads;
mod patch;

use attune_core::kernel::command::{Command, InterventionCommand};
use attune_core::lesson::limits::{TEMPERATURE_MAX, TEMPERATURE_MIN};
use attune_view::view_model::answers::AnswerShifts;
use attune_view::view_model::heads::{HeadRow, HeadsModel};
use attune_view::view_model::what_if::WhatIfModel;
use egui::{Align, Button, DragValue, Label, Layout, RichText, ScrollArea, Slider, Ui, WidgetInfo, WidgetType};

use self::effect::{effect_ui, said, shifts_ui};
use self::heads::{HeadsUi, are_many, choose_head_ui, needs_all};
use self::patch::{PatchUiState, patch_ui};
use crate::app::panels::{Panel, PanelContext, PanelId, PanelName, Region};
use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::app::widgets::controls::{checkbox_ui, choose_query_ui, hint};
use crate::app::widgets::mask::{MaskUiState, mask_ui};

#[derive(Default)]
pub struct IntervenePanel {
    /// The longest contribution seen so far: what a full bar means stays the same when a head is taken out.
    longest: f32,
    /// All settings of each head are shown, and not only those of the first lessons.
    has_all: bool,
    mask: MaskUiState,
    patch: PatchUiState,
}

impl Panel for IntervenePanel {
    fn id(&self) -> PanelId {
        PanelId::of(PanelName::Intervene)
    }

    fn region(&self) -> Region {
        Region::UpperRight
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let (what_if, heads) = (cx.models.get::<WhatIfModel>()?, cx.models.get::<HeadsModel>()?);
        let shifts = cx.models.of_choice::<AnswerShifts>(&cx.view.selection.query);
        cx.requests.commands.extend(intervene_ui(ui, (&what_if, &heads, shifts.as_deref()), self, &mut cx.view));
        Some(())
    }
}

fn intervene_ui(
    ui: &mut Ui,
    (model, heads, shifts): (&WhatIfModel, &HeadsModel, Option<&AnswerShifts>),
    state: &mut IntervenePanel,
    view: &mut PanelView,
) -> Vec<Command> {
    let mut commands = Vec::new();
    choose_query_ui(
        ui,
        model.tokens.iter().enumerate(),
        "See what each head adds to this word, and what the changes do to it",
        view.selection,
    );
    commands.extend(summary_ui(ui, model, view));
    let lengths = heads.heads.iter().flat_map(HeadRow::move_lengths);
    state.longest = lengths.filter(|length| length.is_finite()).fold(state.longest, f32::max);
    let has_all = state.has_all || needs_all(&model.heads);
    let shown = HeadsUi { model: heads, query: view.selection.query, longest: state.longest, has_all };
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        let many = are_many(heads);
        if many {
            choose_head_ui(ui, heads, &model.heads, view);
        }
        let followed = view.selection.head;
        let listed = heads.heads.iter().zip(&model.heads).filter(|(row, _)| !many || row.head == followed);
        for (row, head) in listed {
            commands.extend(ui.push_id(row.head, |ui| shown.head_ui(ui, row, head, view)).inner);
            ui.add_space(size::GAP);
        }
        all_settings_ui(ui, has_all, &mut state.has_all);
        commands.extend(temperature_ui(ui, model));
        commands.extend(scale_ui(ui, model));
        ui.add_space(size::GAP_TIGHT);
        if let Some(shifts) = shifts {
            shifts_ui(ui, shifts);
            ui.add_space(size::GAP_TIGHT);
        }
        commands.extend(ui.scope(|ui| effect_ui(ui, model, !many, view)).inner);
        ui.add_space(size::GAP);
        commands.extend(patch_ui(ui, model, &mut state.patch, view));
        ui.add_space(size::GAP);
        commands.extend(mask_ui(ui, model, &mut state.mask));
    });
    commands
}

/// The box that shows all settings of the heads. It is ticked and fixed while a head has one of those that it shows.
fn all_settings_ui(ui: &mut Ui, has_all: bool, chosen: &mut bool) {
    let is_fixed = has_all && !*chosen;
    let mut is_on = has_all;
    let ticked = ui.add_enabled_ui(!is_fixed, |ui| checkbox_ui(ui, &mut is_on, "all settings of a head")).inner;
    let response = ticked
        .on_hover_text("Mean, uniform and frozen weights, and the gain of its output")
        .on_disabled_hover_text("A head has one of these settings");
    if response.changed() {
        *chosen = is_on;
    }
}

/// Summary of the changes and their effects, with a button that resets them. Always takes its room, so that nothing
/// moves under the pointer while something is changed.
fn summary_ui(ui: &mut Ui, model: &WhatIfModel, view: &PanelView) -> Option<Command> {
    const LINES: f32 = 3.0;
    const LINE: f32 = 17.0;
    const BUTTON: f32 = 68.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let mut command = None;
    let is_changed = !model.said.is_empty();
    let row = egui::vec2(ui.available_width(), LINES * LINE);
    ui.allocate_ui_with_layout(row, Layout::left_to_right(Align::Min), |ui| {
        ui.set_min_height(LINES * LINE);
        ui.allocate_ui(egui::vec2((row.x - BUTTON).max(0.0), row.y), |ui| {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                let mut line = |text: String, ink| {
                    let label = Label::new(RichText::new(&text).color(ink).size(size::SMALL)).truncate();
                    ui.add(label).on_hover_text(text);
                };
                if is_changed {
                    line(model.said.join(" "), palette.ink);
                    for text in said(model, view.selection.query) {
                        line(text, palette.ink_soft);
                    }
                } else {
                    line("Change a setting;".to_owned(), palette.ink_soft);
                    line("rings mark where points were.".to_owned(), palette.ink_soft);
                }
            });
        });
        if is_changed && reset_ui(ui, true, "Reset all", "Undo all changes here; edited model weights stay") {
            command = Some(Command::Interventions(InterventionCommand::Reset));
        }
    });
    command
}

fn reset_ui(ui: &mut Ui, is_enabled: bool, name: &str, hint: &str) -> bool {
    let words = if name == "Reset all" { name } else { "reset" };
    let button = ui.add_enabled(is_enabled, Button::new(RichText::new(words).size(size::SMALL)).small());
    button.widget_info(|| WidgetInfo::labeled(WidgetType::Button, is_enabled, name));
    button.on_hover_text(hint).clicked()
}

fn title_ui(ui: &mut Ui, title: &str) {
    const TITLE: f32 = 92.0;
    let (rect, _) = ui.allocate_exact_size(egui::vec2(TITLE, size::SLIDER_ROW), egui::Sense::hover());
    let palette = Palette::of(ui.visuals().dark_mode);
    let font = theme::plain(size::BODY);
    ui.painter().text(rect.left_center(), egui::Align2::LEFT_CENTER, title, font, palette.ink);
}

fn temperature_ui(ui: &mut Ui, model: &WhatIfModel) -> Option<Command> {
    const NUMBER: f32 = 150.0;
    /// Beyond these nothing more is seen: one word has all, or all have the same.
    const SLIDER: (f64, f64) = (0.05, 20.0);
    let temperature = model.temperature;
    let mut command = None;
    ui.horizontal(|ui| {
        title_ui(ui, "Temperature");
        let mut value = temperature.now;
        ui.spacing_mut().slider_width = (ui.available_width() - NUMBER).clamp(size::CHART_MIN / 2.0, size::SLIDER);
        let slider = Slider::new(&mut value, SLIDER.0..=SLIDER.1).logarithmic(true).show_value(false);
        let slider = ui.add(slider.clamping(egui::SliderClamping::Edits));
        slider.widget_info(|| egui::WidgetInfo::slider(true, value, "Temperature"));
        hint(
            slider,
            "Attention scores are divided by it: below 1 the weights gather on few words, above 1 they even out",
        );
        let number = DragValue::new(&mut value).range(TEMPERATURE_MIN..=TEMPERATURE_MAX).speed(0.01).max_decimals(3);
        hint(ui.add(number), "Drag, or click and type");
        if value != temperature.now && value.is_finite() {
            command = Some(Command::Interventions(InterventionCommand::SetTemperature(Some(value))));
        }
        let hint = format!("Temperature {} again", temperature.own);
        if reset_ui(ui, temperature.is_set, "Reset temperature", &hint) {
            command = Some(Command::Interventions(InterventionCommand::SetTemperature(None)));
        }
    });
    command
}

fn scale_ui(ui: &mut Ui, model: &WhatIfModel) -> Option<Command> {
    let mut command = None;
    ui.horizontal(|ui| {
        title_ui(ui, "Scale");
        let mut is_on = model.scale.now;
        let words = format!("divide by √d_k = √{}", model.key_width);
        if checkbox_ui(ui, &mut is_on, words).on_hover_text("Without it, wide keys make sharp weights").changed() {
            command = Some(Command::Interventions(InterventionCommand::SetScale(
                (is_on != model.scale.own).then_some(is_on),
            )));
        }
        let hint = if model.scale.own { "On again" } else { "Off again" };
        if reset_ui(ui, model.scale.is_set, "Reset scale", hint) {
            command = Some(Command::Interventions(InterventionCommand::SetScale(None)));
        }
    });
    command
}
