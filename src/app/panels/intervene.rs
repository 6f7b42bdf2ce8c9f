//! The intervene panel: what each head adds to the chosen word, and how the learner changes the forward pass: whether
//! and how a head takes part, and a patch, which copies the vector of a word of the second sentence to a word of the
//! first. The effects on one word are shown beside the unchanged result: how far the word moved, what is near it, and
//! its weights before and after.

use attune_core::kernel::command::{Command, InterventionCommand};
use attune_core::kernel::sentence_pass::interventions::GAIN_MAX;
use attune_core::lesson::limits::{TEMPERATURE_MAX, TEMPERATURE_MIN};
use attune_engine::messages::cut;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::quantity::Quantity;
use attune_ui::actions::{ActionTable, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::{PanelView, Selection, Trail};
use attune_ui::widgets::controls::{checkbox_ui, choose_query_ui, code_button, hint, named};
use attune_ui::widgets::heat::{MaskUiState, mask_ui};
use attune_ui::widgets::traced::number_ui;
use attune_view::view_model::answers::AnswerShifts;
use attune_view::view_model::heads::HeadRow;
use attune_view::view_model::what_if::{EffectRow, PatchState, WhatIfModel};
use egui::text::LayoutJob;
use egui::{
    Align, Button, Color32, ComboBox, CornerRadius, DragValue, Label, Layout, Rect, RichText, ScrollArea, Sense,
    Slider, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, WidgetType, vec2,
};

use super::maps::maps_ui;
use super::panel::{Panel, PanelContext};

#[derive(Default)]
pub struct IntervenePanel {
    /// The length of the longest contribution so far, which fills a bar. It never shrinks, so that bars stay comparable
    /// when a head is switched off.
    longest: f32,
    /// Whether the learner wants all settings of each head, and not only those of the first lessons.
    has_all: bool,
    mask: MaskUiState,
    patch: PatchUiState,
}

impl Panel for IntervenePanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let what_if = cx.models.get::<WhatIfModel>()?;
        let shifts = cx.models.of_choice::<AnswerShifts>(&cx.view.selection.query);
        cx.requests.commands.extend(intervene_ui(ui, &what_if, shifts.as_deref(), self, &mut cx.view));
        Some(())
    }
}

fn intervene_ui(
    ui: &mut Ui,
    model: &WhatIfModel,
    shifts: Option<&AnswerShifts>,
    state: &mut IntervenePanel,
    PanelView { selection, trail, asked, .. }: &mut PanelView,
) -> Vec<Command> {
    let mut commands = Vec::new();
    commands.extend(summary_ui(ui, model, selection));
    let lengths = model.heads.iter().flat_map(HeadRow::move_lengths);
    state.longest = lengths.filter(|length| length.is_finite()).fold(state.longest, f32::max);
    let has_all = state.has_all || needs_all(&model.heads);
    let shown = HeadsUi { model, query: selection.query, longest: state.longest, has_all };
    // The words scroll too, so that a low panel has room for a map.
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        let hint = "See what each head adds to this word, and what your changes do to it";
        choose_query_ui(ui, model.tokens.iter().enumerate(), hint, selection);
        let many = model.heads.len() > TOGETHER_MAX;
        if many {
            choose_head_ui(ui, model, selection);
        }
        let followed = selection.head;
        let listed = model.heads.iter().filter(|row| !many || row.head == followed);
        let mut layer = None;
        for row in listed {
            if layer.replace(row.block) != Some(row.block) {
                commands.extend(layer_heads_ui(ui, model, row.block));
            }
            commands.extend(ui.push_id(row.head, |ui| shown.head_ui(ui, row, selection, trail)).inner);
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
        commands.extend(ui.scope(|ui| effect_ui(ui, model, !many, selection, trail)).inner);
        ui.add_space(size::GAP);
        commands.extend(patch_ui(ui, model, &mut state.patch, selection));
        ui.add_space(size::GAP);
        commands.extend(maps_ui(ui, model, asked, selection));
        ui.add_space(size::GAP);
        commands.extend(mask_ui(ui, model, &mut state.mask));
    });
    commands
}

/// Draws the checkbox for all settings of the heads. The checkbox stays ticked while a head uses one of the additional
/// settings.
fn all_settings_ui(ui: &mut Ui, has_all: bool, chosen: &mut bool) {
    let is_fixed = has_all && !*chosen;
    let mut is_on = has_all;
    let ticked = ui.add_enabled_ui(!is_fixed, |ui| checkbox_ui(ui, &mut is_on, "all settings of a head")).inner;
    let response = ticked
        .on_hover_text("Also offers mean, uniform and frozen weights, and the gain of the head's output")
        .on_disabled_hover_text("A head now uses one of these settings");
    if response.changed() {
        *chosen = is_on;
    }
}

/// Draws the summary of the changes and their effects, with a button that resets them. The summary always takes the
/// same room, so that nothing moves under the pointer while something is changed.
fn summary_ui(ui: &mut Ui, model: &WhatIfModel, selection: &Selection) -> Option<Command> {
    const LINES: f32 = 3.0;
    const LINE: f32 = 17.0;
    const BUTTON: f32 = 88.0;
    /// The most lines that the changes take; the effects take the rest.
    const ROWS: usize = 2;
    let palette = Palette::on(ui);
    let mut command = None;
    let is_changed = !model.said.is_empty();
    let row = egui::vec2(ui.available_width(), LINES * LINE);
    ui.allocate_ui_with_layout(row, Layout::left_to_right(Align::Min), |ui| {
        ui.set_min_height(LINES * LINE);
        let beside = if is_changed { BUTTON } else { 0.0 };
        ui.allocate_ui(egui::vec2((row.x - beside).max(0.0), row.y), |ui| {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                let mut line = |text: String, ink, rows| {
                    let mut job = LayoutJob::simple(text.clone(), theme::plain(size::SMALL), ink, ui.available_width());
                    job.wrap.max_rows = rows;
                    ui.add(Label::new(job)).on_hover_text(text);
                };
                if is_changed {
                    let effects = said(model, selection.query);
                    line(model.said.join(" "), palette.ink, if effects.len() > 1 { 1 } else { ROWS });
                    effects.into_iter().for_each(|text| line(text, palette.ink_soft, 1));
                } else {
                    line("Change a setting. Rings then mark where the points were.".to_owned(), palette.ink_soft, ROWS);
                }
            });
        });
        ui.vertical(|ui| {
            if is_changed && reset_ui(ui, true, "Reset all", "Undoes all changes made here; edited model weights stay")
            {
                command = Some(Command::Interventions(InterventionCommand::Reset));
            }
            if let Some(code) = &model.code {
                code_button(ui, "these changes", || code.clone());
            }
        });
    });
    command
}

fn reset_ui(ui: &mut Ui, is_enabled: bool, name: &str, hint: &str) -> bool {
    let words = if name == "Reset all" { name } else { "reset" };
    let button = ui.add_enabled(is_enabled, Button::new(RichText::new(words).size(size::SMALL)).small());
    named(button, WidgetType::Button, name).on_hover_text(hint).clicked()
}

fn title_ui(ui: &mut Ui, title: &str) {
    const TITLE: f32 = 92.0;
    let (rect, _) = ui.allocate_exact_size(egui::vec2(TITLE, size::SLIDER_ROW), egui::Sense::hover());
    let palette = Palette::on(ui);
    let font = theme::plain(size::BODY);
    ui.painter().text(rect.left_center(), egui::Align2::LEFT_CENTER, title, font, palette.ink);
}

fn temperature_ui(ui: &mut Ui, model: &WhatIfModel) -> Option<Command> {
    const NUMBER: f32 = 150.0;
    /// The range of the slider. At its ends, one word has nearly all the attention, or all words have nearly the same.
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
            "Attention scores are divided by the temperature. Below 1, the weights concentrate on few words; above \
             1, they become more even",
        );
        let number = DragValue::new(&mut value).range(TEMPERATURE_MIN..=TEMPERATURE_MAX).speed(0.01).max_decimals(3);
        hint(ui.add(number), "Drag, or click and type");
        if value != temperature.now && value.is_finite() {
            command = Some(Command::Interventions(InterventionCommand::SetTemperature(Some(value))));
        }
        let hint = format!("Sets the temperature back to {}", temperature.own);
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
        // The key width is in the tip, because a narrow panel has no room for it in the line.
        let tip = format!(
            "d_k = {}; without this division, wide keys lead to weights concentrated on few words",
            model.key_width
        );
        if checkbox_ui(ui, &mut is_on, "divide by √d_k").on_hover_text(tip).changed() {
            command = Some(Command::Interventions(InterventionCommand::SetScale(
                (is_on != model.scale.own).then_some(is_on),
            )));
        }
        let hint = if model.scale.own { "Turns the division on again" } else { "Turns the division off again" };
        if reset_ui(ui, model.scale.is_set, "Reset scale", hint) {
            command = Some(Command::Interventions(InterventionCommand::SetScale(None)));
        }
    });
    command
}

/// Step of a gain's slider.
const GAIN_STEP: f64 = 0.05;

/// The model and the settings for the rows of all heads.
pub struct HeadsUi<'a> {
    pub model: &'a WhatIfModel,
    pub query: Option<usize>,
    /// The length that fills a bar.
    pub longest: f32,
    /// Whether to show all settings of a head, and not only those of the first lessons.
    pub has_all: bool,
}

impl HeadsUi<'_> {
    pub fn head_ui(&self, ui: &mut Ui, row: &HeadRow, selection: &mut Selection, trail: &mut Trail) -> Option<Command> {
        let palette = Palette::on(ui);
        let command = self.setting_ui(ui, row, selection);
        if let Some(query) = self.query.filter(|query| *query < row.tokens) {
            length_ui(ui, row, query, self.longest, palette, trail);
            let (key, weight) = row.strongest(query);
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
                ui.label(format!("“{}” looks most at “{}”", self.model.tokens[query], row.keys[key]));
                number_ui(ui, format!("{weight:.3}"), Quantity::Weight.of_head(row.head, [query, key]), trail);
            });
        }
        command.or_else(|| self.has_all.then(|| gain_ui(ui, row)).flatten())
    }

    /// Draws the name of the head, and the choice of its mode. A click on the name makes the walk follow the head.
    fn setting_ui(&self, ui: &mut Ui, head: &HeadRow, selection: &mut Selection) -> Option<Command> {
        const CHIP_GAP: f32 = 4.0;
        let mut command = None;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = CHIP_GAP;
            self.title_ui(ui, head, selection);
            let modes = HeadMode::NAMED;
            let shown = if self.has_all { modes.len() } else { HeadMode::<f32>::BASIC };
            let offers_second = self.model.patch.has_second() || matches!(head.mode, HeadMode::Second(_));
            for mode in modes.into_iter().take(shown).chain(offers_second.then_some(HeadMode::Second(None))) {
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
                let name = format!("{} solo", head.title);
                response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, head.solo, &name));
                if response.on_hover_text("Switches all other heads off; click again to undo").clicked() {
                    command =
                        Some(Command::Interventions(InterventionCommand::Solo((!head.solo).then_some(head.head))));
                }
            }
        });
        command
    }

    /// Draws the name of a head. A click on it makes the walk follow the head.
    fn title_ui(&self, ui: &mut Ui, head: &HeadRow, selection: &mut Selection) {
        let palette = Palette::on(ui);
        let is_followed = selection.head == head.head;
        let title = RichText::new(&head.title).font(theme::strong(size::BODY)).color(palette.head(head.own));
        let title = ui.selectable_label(is_followed, title);
        let name = format!("Follow {}", head.title.to_lowercase());
        title.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_followed, &name));
        if title.on_hover_text(format!("Follow the walk through this head. {}", self.model.place(head.head))).clicked()
        {
            selection.choose_head(head.head);
        }
    }
}

/// The most heads that are listed together. If there are more, only the one that the walk follows is shown.
const TOGETHER_MAX: usize = 8;

/// Draws a row of all layers, and a row of the heads of the followed layer. A dot marks each changed head, and each
/// layer that has one.
fn choose_head_ui(ui: &mut Ui, model: &WhatIfModel, selection: &mut Selection) {
    let palette = Palette::on(ui);
    let followed = selection.head.min(model.heads.len().saturating_sub(1));
    let Some(block) = model.heads.get(followed).map(|head| head.block) else { return };
    let of_block = |block: usize| model.heads.iter().filter(move |head| head.block == block);
    let is_changed = |head: &HeadRow| head.mode != HeadMode::Live;
    let own = of_block(block).position(|head| head.head == followed).unwrap_or(0);
    let mark = |is_changed: bool| if is_changed { "•" } else { "" };
    let said = |is_changed: bool| if is_changed { ", changed" } else { "" };
    let layers = model.blocks.iter().enumerate().map(|(at, name)| {
        let changed = of_block(at).any(is_changed);
        let to = of_block(at).nth(own).or_else(|| of_block(at).next()).map_or(followed, |head| head.head);
        let text = RichText::new(format!("{}{}", at + 1, mark(changed)));
        Chip { text, name: format!("{name}{}", said(changed)), is_chosen: at == block, head: to }
    });
    let by_layer = chips_ui(ui, "layer", layers.collect());
    let heads = of_block(block).enumerate().map(|(at, head)| {
        let changed = is_changed(head);
        let text = RichText::new(format!("{}{}", at + 1, mark(changed))).color(palette.head(head.own));
        let name = format!("Head {} of this layer{}", at + 1, said(changed));
        Chip { text, name, is_chosen: head.head == followed, head: head.head }
    });
    if let Some(head) = chips_ui(ui, "head", heads.collect()).or(by_layer) {
        selection.choose_head(head);
    }
}

/// Draws a checkbox that switches all heads of a layer off or on in one change. Draws nothing if there is only one
/// layer, or one head in it, because the heads' own settings suffice.
fn layer_heads_ui(ui: &mut Ui, model: &WhatIfModel, layer: usize) -> Option<Command> {
    let of_layer = || model.heads.iter().filter(|head| head.block == layer).map(|head| head.head);
    let heads = of_layer().min()?..of_layer().max()? + 1;
    if model.blocks.len() < 2 || heads.len() < 2 {
        return None;
    }
    let mut is_on = model.heads.get(heads.clone())?.iter().any(|state| state.mode != HeadMode::Off);
    let name = format!("{}: all {} heads", model.blocks[layer], heads.len());
    let tip = "Switches every head of this layer off, or on again";
    let is_switched = checkbox_ui(ui, &mut is_on, name).on_hover_text(tip).changed();
    let mode = if is_on { HeadMode::Live } else { HeadMode::Off };
    is_switched.then_some(Command::Interventions(InterventionCommand::SetHeads { heads, mode }))
}

/// A layer or a head to choose.
struct Chip {
    text: RichText,
    name: String,
    is_chosen: bool,
    /// The index of the head that the walk follows after a click.
    head: usize,
}

/// Draws a row of chips after its title. Returns the head that was chosen.
fn chips_ui(ui: &mut Ui, title: &str, chips: Vec<Chip>) -> Option<usize> {
    let mut chosen = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(size::HAIRLINE);
        ui.spacing_mut().button_padding.x = size::GAP_TIGHT + size::HAIRLINE;
        ui.weak(title);
        ui.add_space(size::GAP_TIGHT);
        for Chip { text, name, is_chosen, head } in chips {
            let response = ui.selectable_label(is_chosen, text);
            response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &name));
            if response.on_hover_text(&name).clicked() {
                chosen = Some(head);
            }
        }
    });
    chosen
}

/// Returns whether a head has a mode that is not among the basic ones, which are always shown.
fn needs_all(heads: &[HeadRow]) -> bool {
    let basic = &HeadMode::NAMED[..HeadMode::<f32>::BASIC];
    heads.iter().any(|head| !basic.contains(&head.mode) && !matches!(head.mode, HeadMode::Second(_)))
}

/// Draws the slider of the gain of a head's output.
fn gain_ui(ui: &mut Ui, head: &HeadRow) -> Option<Command> {
    let own = head.gain();
    let mut gain = own.unwrap_or(1.0);
    let before = gain;
    let name = format!("Gain of {}", head.title.to_lowercase());
    ui.horizontal(|ui| {
        ui.weak("gain");
        let slider = Slider::new(&mut gain, 0.0..=GAIN_MAX).show_value(false).step_by(GAIN_STEP);
        let slider = ui.add_enabled(own.is_some(), slider);
        slider.widget_info(|| egui::WidgetInfo::slider(own.is_some(), f64::from(before), &name));
        let tip = "Gain of this head's output: 0 switches the head off, 1 leaves its output as it is; double-click \
            for 1";
        let slider = hint(slider, tip).on_disabled_hover_text("A head with uniform or copied weights has no gain");
        if slider.double_clicked() {
            gain = 1.0;
        }
        ui.monospace(format!("× {before:.2}"));
    });
    let mode = HeadMode::Gain(gain);
    (gain != before).then_some(Command::Interventions(InterventionCommand::SetHead { head: head.head, mode }))
}

/// Draws the length of what the head adds, as a bar and as a number, after a label.
fn length_ui(ui: &mut Ui, head: &HeadRow, query: usize, longest: f32, palette: &Palette, trail: &mut Trail) {
    const NUMBER: f32 = 64.0;
    let length = head.move_length(query);
    const HINT: &str = "Length of the vector that this head adds to the chosen word, in units of the model's vectors; \
        the longest one so far fills the bar";
    ui.horizontal(|ui| {
        ui.label(RichText::new("length added").weak().size(size::SMALL)).on_hover_text(HINT);
        let width = (ui.available_width() - NUMBER).max(size::CHART_MIN);
        let (rect, response) = ui.allocate_exact_size(Vec2::new(width, size::BAR), Sense::hover());
        ui.painter().rect_filled(rect, size::BAR / 2.0, palette.raised);
        if longest > 0.0 {
            let filled = rect.with_max_x(rect.left() + rect.width() * (length / longest).clamp(0.0, 1.0));
            ui.painter().rect_filled(filled, size::BAR / 2.0, palette.head(head.own));
        }
        response.on_hover_text(HINT);
        number_ui(ui, format!("{length:.3}"), Quantity::HeadLength.of_head(head.head, [query]), trail);
    });
}

/// The layer, the words and the source of a patch, as far as the learner has chosen them.
#[derive(Default)]
pub struct PatchUiState {
    /// The layer before which the vector is patched in, counted from 0 over all layers; `None` for the first layer of
    /// the sentence itself.
    layer: Option<usize>,
    /// The index of the source's word whose vector is replaced, if the layer is one of the source.
    source_word: usize,
    /// The index of the word of the second sentence whose vector is copied; `None` for the same word as the one that is
    /// replaced.
    from: Option<usize>,
}

fn patch_ui(ui: &mut Ui, model: &WhatIfModel, state: &mut PatchUiState, selection: &Selection) -> Option<Command> {
    ui.label(RichText::new("Patch from the second sentence").font(theme::strong(size::BODY)));
    let patch = &model.patch;
    if !patch.has_second() {
        let words = WindowAction::Compare.row().hint_with("Patching needs a second sentence beside the first");
        ui.add(Label::new(RichText::new(words).weak().size(size::SMALL)).wrap());
        return None;
    }
    let first_of_sentence = (0..patch.layers.len()).find(|layer| !patch.is_of_source(*layer)).unwrap_or_default();
    let layer = state.layer.unwrap_or(first_of_sentence).min(patch.layers.len() - 1);
    let words = patch.words(layer);
    state.source_word = state.source_word.min(words.first.len().saturating_sub(1));
    let query = match patch.is_of_source(layer) {
        true => Some(state.source_word),
        false => selection.query.filter(|query| *query < words.first.len()),
    };
    let chosen = state.from.filter(|from| *from < words.second.len());
    let mut from = chosen.or_else(|| *words.same.get(query?)?).unwrap_or(0);
    let mut command = ui.horizontal(|ui| layer_ui(ui, patch, layer, state)).inner;
    ui.horizontal(|ui| {
        ui.label("the vector of");
        if word_ui(ui, "patch", &words.second, &mut from, "Word of the second sentence") {
            state.from = Some(from);
        }
    });
    ui.horizontal_wrapped(|ui| match query {
        Some(query) => {
            ui.label("for");
            if patch.is_of_source(layer) {
                word_ui(ui, "patched", &words.first, &mut state.source_word, "Word of the source");
            } else {
                ui.label(&words.first[query]);
            }
            let tip = "Activation patching: copies the second sentence's vector before this layer to the chosen \
                word; this layer and all later ones are then computed again";
            if ui.add(Button::new("Patch")).on_hover_text(tip).clicked() {
                command = Some(patch.command(layer, query, from));
            }
        }
        None => {
            let button = ui.add_enabled(false, Button::new("Patch"));
            button.on_disabled_hover_text("First choose a word above; its vector will be replaced");
        }
    });
    command
}

/// Draws a list to choose one of the words; `at` is the index of the chosen one. Returns whether one was chosen now.
fn word_ui(ui: &mut Ui, id: &str, words: &[String], at: &mut usize, name: &str) -> bool {
    let mut is_chosen = false;
    let chooser = ComboBox::from_id_salt(id).selected_text(&words[*at]).show_ui(ui, |ui| {
        for (place, word) in words.iter().enumerate() {
            is_chosen |= ui.selectable_value(at, place, word).clicked();
        }
    });
    hint(named(chooser.response, WidgetType::ComboBox, name), name);
    is_chosen
}

/// Draws the choice of the layer before which the vector is put in, and the button that removes a patch.
fn layer_ui(ui: &mut Ui, patch: &PatchState, layer: usize, state: &mut PatchUiState) -> Option<Command> {
    let label = ui.label("before layer");
    let mut number = layer + 1;
    let dragged = ui.add(DragValue::new(&mut number).range(1..=patch.layers.len())).labelled_by(label.id);
    hint(dragged, format!("From 1 to {}: drag, or click and type", patch.layers.len()));
    if number != layer + 1 {
        state.layer = Some(number - 1);
    }
    if patch.is_of_source(0) {
        ui.weak(&patch.layers[layer]);
    }
    if patch.is_on {
        let tip = "Gives the word its own vector back";
        if ui.add(Button::new("Remove patch")).on_hover_text(tip).clicked() {
            return Some(Command::Interventions(InterventionCommand::SetPatch(None)));
        }
    }
    None
}

/// Draws the weights of the chosen word in the head that the walk follows and, with `names_heads`, a row of heads to
/// choose from.
fn effect_ui(
    ui: &mut Ui,
    model: &WhatIfModel,
    names_heads: bool,
    selection: &mut Selection,
    trail: &mut Trail,
) -> Option<Command> {
    let Some(query) = selection.query.filter(|query| *query < model.tokens.len()) else {
        ui.weak(
            "Choose a word above to compare its weights with the weights without changes, and to hide single \
            words from it.",
        );
        return None;
    };
    let row = model.row(query, selection.head).or_else(|| model.row(query, model.own_heads().start))?;
    let palette = Palette::on(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        for head in model.own_heads().filter(|_| names_heads).filter_map(|head| model.heads.get(head)) {
            let words = RichText::new(&head.title).color(palette.head(head.own));
            let is_chosen = head.head == row.head;
            let response = ui.selectable_label(is_chosen, words);
            let name = format!("Weights of {}", head.title.to_lowercase());
            response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &name));
            if response.on_hover_text("The weights in this head").clicked() {
                selection.choose_head(head.head);
            }
        }
        ui.weak(RichText::new("filled: now; outlined: without changes; unticked: removed").size(size::SMALL));
    });
    bars_ui(ui, &row, model, query, trail)
}

/// Lists the answers that gained and those that lost. It always takes the room of all its lines, so that nothing moves
/// under the pointer.
fn shifts_ui(ui: &mut Ui, shifts: &AnswerShifts) {
    const LINE: f32 = 17.0;
    let palette = Palette::on(ui);
    let room = vec2(ui.available_width(), LINE * (1 + shifts.most) as f32);
    ui.allocate_ui(room, |ui| {
        ui.set_min_height(room.y);
        (ui.spacing_mut().item_spacing.y, ui.spacing_mut().interact_size.y) = (0.0, LINE);
        if shifts.gained.is_empty() && shifts.lost.is_empty() {
            ui.add(Label::new(RichText::new(shifts.said()).weak().size(size::SMALL)).wrap());
            return;
        }
        ui.label(RichText::new(&shifts.title).font(theme::strong(size::SMALL)));
        let ways = [("gained", &shifts.gained, palette.positive), ("lost", &shifts.lost, palette.negative)];
        for (way, shift, ink) in ways.iter().flat_map(|(way, listed, ink)| listed.iter().map(move |x| (way, x, ink))) {
            const CONTRAST: f32 = 4.5;
            ui.horizontal(|ui| {
                let numbers = format!("{:.3} → {:.3}", shift.before, shift.now);
                ui.label(RichText::new(numbers).font(theme::mono(size::SMALL)).color(palette.ink));
                ui.label(RichText::new(*way).size(size::SMALL).color(palette.legible(*ink, CONTRAST)));
                ui.add(Label::new(RichText::new(&shift.name).size(size::SMALL)).truncate());
            });
        }
    });
}

/// Describes how far the chosen token moved, and which word is nearest to it. Without a chosen token, tells only which
/// one moved most, and how far.
pub fn said(model: &WhatIfModel, query: Option<usize>) -> Vec<String> {
    let chosen = query.and_then(|query| Some((query, model.effect(query)?)));
    let Some((token, effect)) = chosen else {
        let said =
            model.moved_most().map(|(token, moved)| format!("{} moved most, by {moved:.3}.", model.tokens[token]));
        return said.into_iter().collect();
    };
    let moved = format!("{} moved by {:.3}.", model.tokens[token], effect.moved);
    let near = match &effect.nearest {
        [Some(before), Some(now)] if before.0 == now.0 => Some(format!(
            "The nearest word is still {}: its cosine is {:.3}; before, it was {:.3}.",
            now.0, now.1, before.1
        )),
        [Some(before), Some(now)] => Some(format!(
            "The nearest word is now {} (cosine {:.3}); before, it was {} ({:.3}).",
            now.0, now.1, before.0, before.1
        )),
        _ => None,
    };
    std::iter::once(moved).chain(near).collect()
}

/// Draws a bar for each key, filled to the current weight and outlined to the weight without changes. Its checkbox
/// hides the key from the query.
fn bars_ui(ui: &mut Ui, row: &EffectRow, model: &WhatIfModel, query: usize, trail: &mut Trail) -> Option<Command> {
    const WORD: f32 = 98.0;
    const NUMBERS: f32 = 112.0;
    let HeadRow { keys, title, own, .. } = &model.heads[row.head];
    let mut command = None;
    let palette = Palette::on(ui);
    let hue = palette.head(*own);
    ui.spacing_mut().interact_size.y = size::CHIP;
    ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
    for (key, word) in keys.iter().enumerate() {
        let (before, now) = (row.before[key], row.now[key]);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing = vec2(size::GAP_TIGHT, 0.0);
            let edge = row.edge(&model.edges, query, key);
            ui.allocate_ui(vec2(WORD, size::CHIP), |ui| {
                ui.set_min_width(WORD);
                let text = RichText::new(cut(word, WORD_LETTERS)).size(size::SMALL);
                let name = format!("{title}: {} looks at {word}", model.tokens[query]);
                if !edge.is_there {
                    ui.add_space(ui.spacing().icon_width + ui.spacing().icon_spacing);
                    let tip = "The mask already hides this word, so its weight is 0";
                    ui.label(text.color(palette.ink_soft)).on_hover_text(tip);
                    return;
                }
                let mut looks = !edge.is_removed;
                let response = checkbox_ui(ui, &mut looks, text);
                response.widget_info(|| WidgetInfo::selected(WidgetType::Checkbox, true, looks, &name));
                let tip = "Untick it to hide this word; the rest of the row is rescaled to sum to 1";
                if response.on_hover_text(format!("{name}. {tip}")).changed() {
                    command = Some(edge.toggled());
                }
            });
            let width = (ui.available_width() - NUMBERS).max(size::CHART_MIN / 2.0);
            change_bar_ui(ui, width, before, now, hue);
            ui.label(RichText::new(format!("{before:.3} →")).font(theme::mono(size::SMALL)).color(palette.ink_soft));
            let text = RichText::new(format!("{now:.3}")).size(size::SMALL);
            number_ui(ui, text, Quantity::Weight.of_head(row.head, [query, key]), trail);
        });
    }
    command
}

/// Draws a weight as a bar, with the outline of what it was before the changes.
fn change_bar_ui(ui: &mut Ui, width: f32, before: f32, now: f32, hue: Color32) {
    let palette = Palette::on(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, size::CHIP), Sense::hover());
    let bar = |weight: f32| Rect::from_min_size(rect.min, vec2(rect.width() * weight.clamp(0.0, 1.0), rect.height()));
    let radius = CornerRadius::same(size::RADIUS_SMALL);
    ui.painter().rect_filled(rect, radius, palette.raised);
    ui.painter().rect_filled(bar(now), radius, hue);
    ui.painter().rect_stroke(bar(before), radius, Stroke::new(size::HAIRLINE, palette.ink), StrokeKind::Inside);
    response.on_hover_text(format!("{before:.4} without changes, {now:.4} now"));
}

/// The most letters of a word that have room beside its bar.
const WORD_LETTERS: usize = 11;
