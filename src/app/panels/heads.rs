//! The heads panel: what each head adds to the selected token, and whether it takes part.

use egui::{RichText, ScrollArea, Sense, Slider, Stroke, Ui, Vec2};

use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::kernel::command::{Command, HeadSetting, InterventionCommand};
use crate::kernel::scene::interventions::GAIN_MAX;
use crate::quantity::Quantity;
use crate::view_model::attention::{AttentionModel, HeadMap};
use crate::view_model::heads::{HeadRow, HeadsModel};

use super::{Panel, PanelContext, PanelId, Region};
use crate::app::widgets::controls::{checkbox_ui, hint};
use crate::app::widgets::heat::Heat;
use crate::app::widgets::traced::number_ui;

/// Step of a gain's slider.
const GAIN_STEP: f64 = 0.05;

/// The longest contribution seen so far: what a full bar means stays the same when a head is taken out.
#[derive(Default)]
pub struct HeadsPanel {
    longest: f32,
}

impl Panel for HeadsPanel {
    fn id(&self) -> PanelId {
        PanelId("Heads")
    }

    fn region(&self) -> Region {
        Region::UpperRight
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let (heads, attention) = (cx.models.get::<HeadsModel>()?, cx.models.get::<AttentionModel>()?);
        cx.requests.commands.extend(heads_ui(ui, &heads, &attention, self, &mut cx.view));
        Some(())
    }
}

pub fn heads_ui(
    ui: &mut Ui,
    model: &HeadsModel,
    attention: &AttentionModel,
    state: &mut HeadsPanel,
    view: &mut PanelView,
) -> Vec<Command> {
    let mut commands = Vec::new();
    overview_ui(ui, model, attention, view);
    let query = view.selection.query.filter(|query| *query < model.tokens.len());
    match query {
        Some(query) => ui.label(format!("What each head adds to “{}”", model.tokens[query])),
        None => ui.weak("Select a token, on the stage or in a row of attention, to see what each head adds to it."),
    };
    ui.add_space(size::GAP);
    let lengths = model.heads.iter().flat_map(|head| &head.move_length).copied();
    state.longest = lengths.filter(|length| length.is_finite()).fold(state.longest, f32::max);
    let longest = state.longest;
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for head in &model.heads {
            ui.push_id(head.head, |ui| commands.extend(head_ui(ui, model, head, query, longest, view)));
            ui.add_space(size::GAP_WIDE);
        }
    });
    commands
}

fn head_ui(
    ui: &mut Ui,
    model: &HeadsModel,
    head: &HeadRow,
    query: Option<usize>,
    longest: f32,
    view: &mut PanelView,
) -> Option<Command> {
    let palette = Palette::of(ui.visuals().dark_mode);
    let command = controls_ui(ui, head, palette);
    if let Some(query) = query.filter(|query| *query < head.strongest.len()) {
        length_ui(ui, head, query, longest, palette, view);
        let (key, weight) = head.strongest[query];
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
            ui.label(format!("“{}” looks most at “{}”", model.tokens[query], head.keys[key]));
            number_ui(ui, format!("{weight:.3}"), Quantity::Weight.of_head(head.head, [query, key]), view.trail);
        });
    }
    let command = command.or(gain_ui(ui, head));
    ui.weak(&head.place);
    command
}

/// Slider of the gain of a head's output.
fn gain_ui(ui: &mut Ui, head: &HeadRow) -> Option<Command> {
    let mut gain = head.gain.unwrap_or(1.0);
    let before = gain;
    let name = format!("Gain of {}", head.title.to_lowercase());
    ui.horizontal(|ui| {
        ui.weak("gain");
        let slider = Slider::new(&mut gain, 0.0..=GAIN_MAX).show_value(false).step_by(GAIN_STEP);
        let slider = ui.add_enabled(head.gain.is_some(), slider);
        slider.widget_info(|| egui::WidgetInfo::slider(head.gain.is_some(), f64::from(before), &name));
        let tip = "Gain of this head's output: 0 is off, 1 as trained; double-click: 1";
        let slider = hint(slider, tip).on_disabled_hover_text("Its weights are set by hand");
        if slider.double_clicked() {
            gain = 1.0;
        }
        ui.monospace(format!("× {before:.2}"));
    });
    let setting = HeadSetting::Gain(gain);
    (gain != before).then_some(Command::Interventions(InterventionCommand::SetHead { head: head.head, setting }))
}

/// All heads at once, a row for each block: each as a small map of its weights.
fn overview_ui(ui: &mut Ui, model: &HeadsModel, attention: &AttentionModel, view: &mut PanelView) {
    if model.heads.len() <= 1 {
        return;
    }
    for block in model.heads.chunk_by(|one, next| one.block == next.block) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = Vec2::splat(size::GAP_TIGHT);
            for head in block {
                let Some(map) = attention.heads.get(head.head) else { continue };
                thumbnail_ui(ui, head, map, view);
            }
        });
    }
    ui.add_space(size::GAP);
}

fn thumbnail_ui(ui: &mut Ui, head: &HeadRow, map: &HeadMap, view: &mut PanelView) {
    const SIDE: f32 = 62.0;
    const OFF: f32 = 0.35;
    let palette = Palette::of(ui.visuals().dark_mode);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(SIDE), Sense::click());
    let is_chosen = view.selection.head == head.head;
    response.widget_info(|| {
        let name = format!("Follow {}", head.title.to_lowercase());
        egui::WidgetInfo::selected(egui::WidgetType::SelectableLabel, true, is_chosen, name)
    });
    let (rows, cols) = (map.queries.len(), map.keys.len());
    let inside = rect.shrink(size::OUTLINE);
    let cell = inside.size() / Vec2::new(cols.max(1) as f32, rows.max(1) as f32);
    let heat = Heat { origin: inside.min, cell, rows, cols };
    ui.painter().add(heat.mesh(|row, col| {
        let fill = palette.weight(map.head, map.weights[row][col]);
        if head.enabled { fill } else { palette.raised.lerp_to_gamma(fill, OFF) }
    }));
    let outline = if is_chosen || response.has_focus() {
        Stroke::new(size::OUTLINE, palette.accent)
    } else {
        Stroke::new(size::HAIRLINE, palette.head(head.head))
    };
    ui.painter().rect_stroke(rect, f32::from(size::RADIUS_SMALL), outline, egui::StrokeKind::Inside);
    let said = format!("{}: rows are queries, columns are keys. Click: the walk goes through it.", head.title);
    if response.on_hover_text(said).clicked() {
        view.selection.choose_head(head.head);
    }
}

fn controls_ui(ui: &mut Ui, head: &HeadRow, palette: &Palette) -> Option<Command> {
    let mut command = None;
    ui.horizontal(|ui| {
        let (chip, _) = ui.allocate_exact_size(Vec2::splat(size::CHIP), Sense::hover());
        ui.painter().rect_filled(chip, f32::from(size::RADIUS_SMALL), palette.head(head.head));
        let name = &head.title;
        let mut enabled = head.enabled;
        let text = RichText::new(name).font(theme::strong(size::BODY));
        if checkbox_ui(ui, &mut enabled, text).on_hover_text("Takes part in the sum").changed() {
            let setting = if enabled { HeadSetting::Live } else { HeadSetting::Off };
            command = Some(Command::Interventions(InterventionCommand::SetHead { head: head.head, setting }));
        }
        let solo =
            ui.selectable_label(head.solo, "Solo").on_hover_text(format!("Only {name} takes part; again: all do"));
        solo.widget_info(|| {
            egui::WidgetInfo::selected(
                egui::WidgetType::SelectableLabel,
                true,
                head.solo,
                format!("Solo {}", name.to_lowercase()),
            )
        });
        if solo.clicked() {
            command = Some(Command::Interventions(InterventionCommand::Solo((!head.solo).then_some(head.head))));
        }
    });
    command
}

/// The length of what the head adds, as a bar and as a number.
fn length_ui(ui: &mut Ui, head: &HeadRow, query: usize, longest: f32, palette: &Palette, view: &mut PanelView) {
    const NUMBER: f32 = 64.0;
    let length = head.move_length[query];
    ui.horizontal(|ui| {
        let width = (ui.available_width() - NUMBER).max(size::CHART_MIN);
        let (rect, response) = ui.allocate_exact_size(Vec2::new(width, size::BAR), Sense::hover());
        ui.painter().rect_filled(rect, size::BAR / 2.0, palette.raised);
        if longest > 0.0 {
            let filled = rect.with_max_x(rect.left() + rect.width() * (length / longest).clamp(0.0, 1.0));
            ui.painter().rect_filled(filled, size::BAR / 2.0, palette.head(head.head));
        }
        response.on_hover_text("Length of the head's contribution to this token in the true space");
        number_ui(ui, format!("{length:.3}"), Quantity::HeadLength.of_head(head.head, [query]), view.trail);
    });
}
