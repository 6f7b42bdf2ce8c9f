//! A head of the intervene panel: whether and how it takes part, and what it adds to the chosen word.

use attune_core::kernel::command::{Command, InterventionCommand};
use attune_core::kernel::sentence_pass::interventions::GAIN_MAX;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::quantity::Quantity;
use attune_view::view_model::heads::{HeadRow, HeadsModel};
use attune_view::view_model::what_if::HeadState;
use egui::{RichText, Sense, Slider, Ui, Vec2, WidgetInfo, WidgetType};

use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::app::widgets::controls::hint;
use crate::app::widgets::traced::number_ui;

/// Step of a gain's slider.
const GAIN_STEP: f64 = 0.05;

/// Quantities shown for every head.
pub struct HeadsUi<'a> {
    pub model: &'a HeadsModel,
    pub query: Option<usize>,
    /// The length that fills a bar.
    pub longest: f32,
    /// All settings of a head, and not only those of the first lessons.
    pub has_all: bool,
}

impl HeadsUi<'_> {
    pub fn head_ui(&self, ui: &mut Ui, row: &HeadRow, state: &HeadState, view: &mut PanelView) -> Option<Command> {
        let palette = Palette::of(ui.visuals().dark_mode);
        let command = self.setting_ui(ui, state, view);
        if let Some(query) = self.query.filter(|query| *query < row.tokens) {
            length_ui(ui, row, query, self.longest, palette, view);
            let (key, weight) = row.strongest(query);
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
                ui.label(format!("“{}” looks most at “{}”", self.model.tokens[query], row.keys[key]));
                number_ui(ui, format!("{weight:.3}"), Quantity::Weight.of_head(row.head, [query, key]), view.trail);
            });
        }
        command.or_else(|| self.has_all.then(|| gain_ui(ui, row)).flatten())
    }

    /// The name of the head, which the walk follows at a click, and how the head takes part.
    fn setting_ui(&self, ui: &mut Ui, head: &HeadState, view: &mut PanelView) -> Option<Command> {
        const CHIP_GAP: f32 = 4.0;
        let palette = Palette::of(ui.visuals().dark_mode);
        let mut command = None;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = CHIP_GAP;
            let is_followed = view.selection.head == head.head;
            let title = RichText::new(&head.title).font(theme::strong(size::BODY)).color(palette.head(head.own));
            let title = ui.selectable_label(is_followed, title);
            let name = format!("Follow {}", head.title.to_lowercase());
            title.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_followed, &name));
            if title
                .on_hover_text(format!("Follow the walk through this head. {}", self.model.place(head.head)))
                .clicked()
            {
                view.selection.choose_head(head.head);
            }
            let modes = HeadMode::NAMED;
            let shown = if self.has_all { modes.len() } else { HeadMode::<f32>::BASIC };
            for mode in modes.into_iter().take(shown) {
                let words = mode.words();
                let is_chosen = head.mode.words() == words && !head.solo;
                let response = ui.selectable_label(is_chosen, words.name);
                let name = format!("{} {}", head.title, words.name);
                response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &name));
                if response.on_hover_text(words.meaning).clicked() && !is_chosen {
                    command = Some(Command::Interventions(InterventionCommand::SetHead { head: head.head, mode }));
                }
            }
            if self.model.heads.len() > 1 {
                let response = ui.selectable_label(head.solo, "solo");
                let name = format!("{} alone", head.title);
                response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, head.solo, &name));
                if response.on_hover_text("Switches all other heads off; click again to undo").clicked() {
                    command =
                        Some(Command::Interventions(InterventionCommand::Solo((!head.solo).then_some(head.head))));
                }
            }
        });
        command
    }
}

/// Heads that are listed together; of more, one is shown.
const TOGETHER_MAX: usize = 8;

/// Whether the heads are too many to be listed together.
pub fn are_many(model: &HeadsModel) -> bool {
    model.heads.len() > TOGETHER_MAX
}

/// A row of layers and a row of the heads of the one that is followed. A changed head has a dot.
pub fn choose_head_ui(ui: &mut Ui, model: &HeadsModel, states: &[HeadState], view: &mut PanelView) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let followed = view.selection.head.min(model.heads.len().saturating_sub(1));
    let Some(block) = model.heads.get(followed).map(|head| head.block) else { return };
    let of_block = |block: usize| model.heads.iter().filter(move |head| head.block == block);
    let is_changed = |head: &HeadRow| states.get(head.head).is_some_and(|state| state.mode != HeadMode::Live);
    let own = of_block(block).position(|head| head.head == followed).unwrap_or(0);
    let mut chosen = None;
    let mut row = |ui: &mut Ui, title: &str, chips: Vec<(RichText, String, bool, usize)>| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = Vec2::splat(size::HAIRLINE);
            ui.spacing_mut().button_padding.x = size::GAP_TIGHT + size::HAIRLINE;
            ui.weak(title);
            ui.add_space(size::GAP_TIGHT);
            for (text, name, is_chosen, head) in chips {
                let response = ui.selectable_label(is_chosen, text);
                response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &name));
                if response.on_hover_text(&name).clicked() {
                    chosen = Some(head);
                }
            }
        });
    };
    let mark = |is_changed: bool| if is_changed { "•" } else { "" };
    let said = |is_changed: bool| if is_changed { ", changed" } else { "" };
    let layers = model.blocks.iter().enumerate().map(|(at, name)| {
        let changed = of_block(at).any(is_changed);
        let to = of_block(at).nth(own).or_else(|| of_block(at).next()).map_or(followed, |head| head.head);
        let text = RichText::new(format!("{}{}", at + 1, mark(changed)));
        (text, format!("{name}{}", said(changed)), at == block, to)
    });
    let layers = layers.collect();
    row(ui, "layer", layers);
    let heads = of_block(block).enumerate().map(|(at, head)| {
        let changed = is_changed(head);
        let text = RichText::new(format!("{}{}", at + 1, mark(changed))).color(palette.head(head.own));
        (text, format!("Head {} of this layer{}", at + 1, said(changed)), head.head == followed, head.head)
    });
    let heads = heads.collect();
    row(ui, "head", heads);
    if let Some(head) = chosen {
        view.selection.choose_head(head);
    }
}

/// Whether a head has a mode that is shown only among all of them.
pub fn needs_all(states: &[HeadState]) -> bool {
    let basic = &HeadMode::NAMED[..HeadMode::<f32>::BASIC];
    states.iter().any(|state| !basic.contains(&state.mode))
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
        let tip = "Gain of this head's output: 0 is off, 1 leaves it as it is; double-click: 1";
        let slider = hint(slider, tip).on_disabled_hover_text("No gain while the head is uniform or frozen");
        if slider.double_clicked() {
            gain = 1.0;
        }
        ui.monospace(format!("× {before:.2}"));
    });
    let mode = HeadMode::Gain(gain);
    (gain != before).then_some(Command::Interventions(InterventionCommand::SetHead { head: head.head, mode }))
}

/// The length of what the head adds, as a bar and as a number.
fn length_ui(ui: &mut Ui, head: &HeadRow, query: usize, longest: f32, palette: &Palette, view: &mut PanelView) {
    const NUMBER: f32 = 64.0;
    let length = head.move_length(query);
    ui.horizontal(|ui| {
        let width = (ui.available_width() - NUMBER).max(size::CHART_MIN);
        let (rect, response) = ui.allocate_exact_size(Vec2::new(width, size::BAR), Sense::hover());
        ui.painter().rect_filled(rect, size::BAR / 2.0, palette.raised);
        if longest > 0.0 {
            let filled = rect.with_max_x(rect.left() + rect.width() * (length / longest).clamp(0.0, 1.0));
            ui.painter().rect_filled(filled, size::BAR / 2.0, palette.head(head.own));
        }
        response.on_hover_text("Length of the head's contribution to this token in the true space");
        number_ui(ui, format!("{length:.3}"), Quantity::HeadLength.of_head(head.head, [query]), view.trail);
    });
}
