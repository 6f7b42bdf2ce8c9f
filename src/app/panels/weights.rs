//! The weights panel: every entry of every tensor as a colour, a slider and a number; and its tools: a brush, random
//! noise, and a comparison with other weights.

use std::collections::HashSet;

use attune_core::kernel::command::{Brush, Command, Reference, TrainingCommand, WeightCommand};
use attune_core::kernel::model::commands::PERTURBATION_MAX;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::quantity::Entry;
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::Trail;
use attune_ui::widgets::controls::{button_ui, hint, led_by_arrows, named};
use attune_ui::widgets::heat::Heat;
use attune_ui::widgets::traced::{ASK_HINT, ask_on, number_ui};
use attune_view::explain::walk::RouteModel;
use attune_view::view_model::effects::{TensorEffects, WeightEffects};
use attune_view::view_model::tensors::{ComparisonModel, TensorGroup, TensorModel, WeightsModel};
use egui::{Button, ComboBox, DragValue, Label, Response, RichText, ScrollArea, Sense, Slider, Ui, WidgetType};

use super::panel::{Panel, PanelContext};

/// The change of a number per point of a drag.
const DRAG_SPEED: f64 = 0.01;
const DECIMALS: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightsView {
    #[default]
    Map,
    List,
}

pub struct WeightsPanel {
    pub tensor: TensorId,
    /// Row and column of the selected entry.
    pub entry: (usize, usize),
    pub view: WeightsView,
    pub tools: ToolsUiState,
    /// Whether the map shows by its brightness what each entry does to the chosen word.
    pub shows_effects: bool,
    /// The time in seconds at which a link led to the entry, which is then scrolled into view and flashes; `None`
    /// otherwise.
    pub flash: Option<f64>,
}

impl Default for WeightsPanel {
    fn default() -> Self {
        WeightsPanel {
            tensor: TensorName::QueryWeights.into(),
            entry: (0, 0),
            view: WeightsView::Map,
            tools: ToolsUiState::default(),
            shows_effects: true,
            flash: None,
        }
    }
}

impl Panel for WeightsPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let model = cx.models.get::<WeightsModel>()?;
        if let Some((tensor, row, col)) = cx.view.asked.weight.take() {
            (self.tensor, self.entry, self.view) = (tensor, (row, col), WeightsView::Map);
            self.tools.tool = Tool::Pick;
            self.flash = Some(ui.input(|input| input.time));
        }
        let word = || {
            let default = || cx.models.get::<RouteModel>()?.word(&cx.view.highlight.lit);
            cx.view.selection.query.or_else(default)
        };
        let effects = if self.shows_effects && self.view == WeightsView::Map { word() } else { None };
        let effects = effects.and_then(|word| cx.models.of_choice::<WeightEffects>(&word));
        cx.requests.commands.extend(weights_ui(ui, &model, effects.as_deref(), self, cx.view.trail));
        Some(())
    }
}

fn weights_ui(
    ui: &mut Ui,
    model: &WeightsModel,
    effects: Option<&WeightEffects>,
    state: &mut WeightsPanel,
    trail: &mut Trail,
) -> Vec<Command> {
    let mut commands = Vec::new();
    ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
    tensors_ui(ui, model, state);
    let Some(tensor) = model.tensors.iter().find(|tensor| tensor.id == state.tensor).or_else(|| model.tensors.first())
    else {
        return commands;
    };
    state.tensor = tensor.id;
    state.entry = (state.entry.0.min(tensor.rows.saturating_sub(1)), state.entry.1.min(tensor.cols.saturating_sub(1)));
    commands.extend(resets_ui(ui, model, tensor, state));
    // A map of differences from other weights shows no effects.
    let effects = effects.filter(|_| model.comparison.is_none()).map(|effects| effects.of_tensor(tensor.id));
    match state.view {
        WeightsView::Map => {
            commands.extend(tools_ui(ui, model, state));
            if state.tools.tool == Tool::Pick {
                commands.extend(entry_ui(ui, tensor, state.entry, trail));
            }
            if let Some(effects) = &effects {
                effects_ui(ui, effects, state);
            }
            commands.extend(tool_ui(ui, tensor, &mut state.tools));
            if let Some(comparison) = &model.comparison {
                norms_ui(ui, tensor, comparison);
            }
            commands.extend(map_ui(ui, tensor, effects.and_then(Result::ok).as_ref(), state, trail));
        }
        WeightsView::List => commands.extend(list_ui(ui, tensor, trail)),
    }
    commands
}

/// Draws a button for each tensor. If there are many, only those of one block have buttons, and a list chooses the
/// block.
fn tensors_ui(ui: &mut Ui, model: &WeightsModel, state: &mut WeightsPanel) {
    /// The most buttons, which take two rows; with more, the map below would have no room.
    const BUTTONS: usize = 14;
    let groups = model.groups();
    let is_of = |group: &TensorGroup| group.tensors.iter().any(|tensor| tensor.id == state.tensor);
    let shown = groups.iter().position(is_of).unwrap_or(0);
    ui.horizontal_wrapped(|ui| {
        if model.tensors.len() <= BUTTONS {
            groups.iter().flat_map(|group| &group.tensors).for_each(|tensor| tensor_ui(ui, tensor, state));
            return;
        }
        let title = groups.get(shown).map_or("", |group| group.title.as_str());
        let list = ComboBox::from_id_salt("block").selected_text(title).show_ui(ui, |ui| {
            for (index, group) in groups.iter().enumerate() {
                if ui.selectable_label(index == shown, &group.title).clicked() {
                    // The matrix with the same name is chosen in the new block, if there is one.
                    let same = group.tensors.iter().find(|tensor| tensor.id.name == state.tensor.name);
                    state.tensor = same.unwrap_or(&group.tensors[0]).id;
                }
            }
        });
        named(list.response, WidgetType::ComboBox, format!("Block: {title}"))
            .on_hover_text("The part of the model whose matrices are listed");
        if let Some(group) = groups.get(shown) {
            group.tensors.iter().for_each(|tensor| tensor_ui(ui, tensor, state));
        }
    });
}

fn tensor_ui(ui: &mut Ui, tensor: &TensorModel, state: &mut WeightsPanel) {
    let text = RichText::new(tensor.id.to_string()).monospace();
    let meaning = tensor.meaning();
    let tip = format!("{meaning}\n{} × {}; entries changed: {}", tensor.rows, tensor.cols, tensor.changed);
    if ui.selectable_label(state.tensor == tensor.id, text).on_hover_text(tip).clicked() {
        state.tensor = tensor.id;
    }
}

fn views_ui(ui: &mut Ui, state: &mut WeightsPanel) {
    ui.selectable_value(&mut state.view, WeightsView::Map, "Map").on_hover_text("The tensor as a grid");
    ui.selectable_value(&mut state.view, WeightsView::List, "List").on_hover_text("A slider for every entry");
}

/// Shows the views and the resets in one row or, if they do not fit, in a row each.
fn resets_ui(ui: &mut Ui, model: &WeightsModel, tensor: &TensorModel, state: &mut WeightsPanel) -> Option<Command> {
    const ONE_ROW: f32 = 360.0;
    let mut command = None;
    let is_one_row = ui.available_width() >= ONE_ROW;
    if !is_one_row {
        ui.horizontal(|ui| views_ui(ui, state));
    }
    let (row, col) = state.entry;
    let symbol = tensor.id;
    let turned = |tensor: &TensorModel| tensor.changed > 0;
    let entry_turned = tensor.row(row).get(col) != tensor.trained_row(row).get(col);
    ui.horizontal(|ui| {
        if is_one_row {
            views_ui(ui, state);
            ui.separator();
        }
        ui.weak("Reset");
        let resets = [
            (
                "entry",
                entry_turned,
                Command::Weights(WeightCommand::Reset { tensor: tensor.id, row, col }),
                format!("Resets {symbol}[{row},{col}] to its {} value", model.origin),
            ),
            (
                "matrix",
                turned(tensor),
                Command::Weights(WeightCommand::ResetTensor(tensor.id)),
                format!("Resets {symbol} to its {} values", model.origin),
            ),
            (
                "all",
                model.tensors.iter().any(turned),
                Command::Weights(WeightCommand::ResetAll),
                format!("Resets every tensor to its {} values", model.origin),
            ),
        ];
        for (name, is_enabled, reset, tip) in resets {
            let button = ui.add_enabled(is_enabled, Button::new(name));
            if named(button, WidgetType::Button, format!("Reset {name}")).on_hover_text(tip).clicked() {
                command = Some(reset);
            }
        }
    });
    command
}

/// Draws the selected entry: slider, number, and what it was before edits.
fn entry_ui(ui: &mut Ui, tensor: &TensorModel, (row, col): (usize, usize), trail: &mut Trail) -> Option<Command> {
    if tensor.entries() == 0 {
        return None;
    }
    const WITH_TRAINED: f32 = 110.0;
    let line = ui.horizontal(|ui| {
        let name = RichText::new(format!("{}[{row},{col}]", tensor.id)).strong();
        number_ui(ui, name, Entry::parameter(tensor.id, row, col), trail);
        let command = value_ui(ui, tensor, row, col);
        if ui.available_width() > WITH_TRAINED {
            ui.weak(format!("{} {:.DECIMALS$}", tensor.origin, tensor.trained_value(row, col)));
        }
        command
    });
    line.inner
}

/// Draws the slider and the number of one entry, with a mark where training left it.
fn value_ui(ui: &mut Ui, tensor: &TensorModel, row: usize, col: usize) -> Option<Command> {
    const NUMBER: f32 = 80.0;
    let (reach, trained) = (reach(tensor), tensor.trained_value(row, col));
    let mut value = tensor.value(row, col);
    let before = value;
    let name = format!("Slider {}[{row},{col}]", tensor.id);
    ui.spacing_mut().slider_width = (ui.available_width() - NUMBER).clamp(size::CHART_MIN / 2.0, size::SLIDER);
    let slider =
        ui.add(Slider::new(&mut value, -reach..=reach).show_value(false).clamping(egui::SliderClamping::Edits));
    slider.widget_info(|| egui::WidgetInfo::slider(true, f64::from(value), &name));
    ghost_mark(ui, slider.rect, trained / reach, Palette::on(ui));
    hint(
        slider,
        format!(
            "Drag to change the value; the stage follows at once. The mark is at the value before \
        edits, {trained:.DECIMALS$}."
        ),
    );
    field_ui(ui, &mut value);
    (value != before && value.is_finite()).then_some(Command::Weights(WeightCommand::Set {
        tensor: tensor.id,
        row,
        col,
        value,
    }))
}

/// Draws the field of a number. It shows a few decimals, but a value whose text was not changed stays exactly as it
/// was.
fn field_ui(ui: &mut Ui, value: &mut f32) {
    let exact = f64::from(*value);
    let shown = ui.style().number_formatter.format(exact, DECIMALS..=DECIMALS);
    let read = move |text: &str| if text == shown { Some(exact) } else { typed(text) };
    let number = DragValue::new(value).speed(DRAG_SPEED).fixed_decimals(DECIMALS).custom_parser(read);
    hint(ui.add(number), "Drag, or click and type");
}

/// Parses a number as people type it, with blanks and with the minus sign that egui writes; `None` if it is no number.
fn typed(text: &str) -> Option<f64> {
    text.split_whitespace().collect::<String>().replace('−', "-").parse().ok()
}

/// Draws a mark at the lower edge of a slider, at `share` of its range from -1 to 1.
pub(super) fn ghost_mark(ui: &Ui, rect: egui::Rect, share: f32, palette: &Palette) {
    let handle = rect.height() / 2.0;
    let run = rect.shrink2(egui::vec2(handle, 0.0));
    let x = egui::lerp(run.left()..=run.right(), (share.clamp(-1.0, 1.0) + 1.0) / 2.0);
    let mark = egui::Stroke::new(size::OUTLINE, palette.ink_faint);
    ui.painter().vline(x, egui::Rangef::new(rect.bottom() - size::GAP_TIGHT, rect.bottom() + size::HAIRLINE), mark);
}

/// Returns the end of a slider's range, a little beyond the largest entry. It is taken from the tensor as training left
/// it, so that the range does not change during a drag.
fn reach(tensor: &TensorModel) -> f32 {
    const LEAST: f32 = 2.0;
    const BEYOND: f32 = 1.5;
    (tensor.largest() * BEYOND).max(LEAST).ceil()
}

/// The room for the numbers of rows on the left, and of columns above, in points.
const MARGINS: egui::Vec2 = egui::Vec2::new(20.0, 16.0);

/// Draws the numbers of rows and columns, as many as there is room for, and always those of the selected entry.
fn numbers_ui(ui: &Ui, heat: &Heat, (row, col): (usize, usize), palette: &Palette) {
    const ROOM: egui::Vec2 = egui::Vec2::new(20.0, 14.0);
    let every = |room: f32, cell: f32| [1, 2, 5, 10].into_iter().find(|step| *step as f32 * cell >= room).unwrap_or(20);
    let shown = |count: usize, step: usize, chosen: usize| {
        // A number beside the chosen one would touch it.
        let is_free =
            move |at: &usize| *at == chosen || (at.is_multiple_of(step) && at.abs_diff(chosen) >= step.div_ceil(2));
        (0..count).filter(is_free)
    };
    let font = theme::mono(size::SMALL);
    let ink = |at: usize, chosen: usize| if at == chosen { palette.accent } else { palette.ink_soft };
    let painter = ui.painter();
    for at in shown(heat.rows, every(ROOM.y, heat.cell.y), row) {
        let place = heat.cell_rect(at, 0).left_center() - egui::vec2(size::GAP_TIGHT, 0.0);
        painter.text(place, egui::Align2::RIGHT_CENTER, at, font.clone(), ink(at, row));
    }
    for at in shown(heat.cols, every(ROOM.x, heat.cell.x), col) {
        let place = heat.cell_rect(0, at).center_top() - egui::vec2(0.0, size::HAIRLINE);
        painter.text(place, egui::Align2::CENTER_BOTTOM, at, font.clone(), ink(at, col));
    }
}

/// Says what the selected entry does to the chosen word, beside a button that selects the entry that does most.
fn effects_ui(ui: &mut Ui, effects: &Result<TensorEffects, &'static str>, state: &mut WeightsPanel) {
    let effects = match effects {
        Ok(effects) => effects,
        Err(why) => {
            ui.add(Label::new(RichText::new(*why).small()).wrap());
            return;
        }
    };
    ui.horizontal_wrapped(|ui| {
        let strongest = effects.strongest();
        let button = ui.add_enabled(strongest.is_some(), Button::new("Find one that matters"));
        let tip = "Selects the entry of this tensor that moves the chosen word most";
        if let Some(strongest) = strongest.filter(|_| button.on_hover_text(tip).clicked()) {
            state.entry = strongest;
            state.flash = Some(ui.input(|input| input.time));
        }
        let (row, col) = state.entry;
        ui.add(Label::new(RichText::new(effects.told(row, col)).small()).wrap());
    });
}

/// Least side of an entry on the map. It is small, so that a whole matrix is seen at once; its entries have sliders.
const LEAST_CELL: f32 = 6.0;

fn map_ui(
    ui: &mut Ui,
    tensor: &TensorModel,
    effects: Option<&TensorEffects>,
    state: &mut WeightsPanel,
    trail: &mut Trail,
) -> Option<Command> {
    let palette = Palette::on(ui);
    let paints = state.tools.tool == Tool::Paint;
    let scrolled = ScrollArea::both().auto_shrink([false, false]).show(ui, |ui| {
        let fit = (ui.available_width() - size::GAP - MARGINS.x) / tensor.cols.max(1) as f32;
        let cell = fit.clamp(LEAST_CELL, size::CELL_MAX).floor();
        let mut heat =
            Heat { origin: egui::Pos2::ZERO, cell: egui::Vec2::splat(cell), rows: tensor.rows, cols: tensor.cols };
        let sense = if paints { Sense::click_and_drag() } else { Sense::click() };
        let (rect, _) = ui.allocate_exact_size(heat.size() + MARGINS, Sense::hover());
        heat.origin = rect.min + MARGINS;
        let response = ui.interact(heat.rect(), ui.id().with("map"), sense);
        numbers_ui(ui, &heat, state.entry, palette);
        let response = named(response, WidgetType::Other, format!("Map of {}", tensor.id));
        let command = paints.then(|| painted(ui, &response, &heat, tensor, &mut state.tools)).flatten();
        if response.has_focus() {
            state.entry = led_by_arrows(ui, &response, state.entry, tensor.rows, tensor.cols);
        }
        paint_map(ui, tensor, effects, &heat, palette);
        if !paints {
            let selected = heat.cell_rect(state.entry.0, state.entry.1);
            heat.outline(ui.painter(), selected, palette.accent);
            flash_ui(ui, selected, &mut state.flash, palette);
        }
        let Some((row, col)) = response.hover_pos().and_then(|pointer| heat.at(pointer)) else { return command };
        if paints {
            heat.outline(ui.painter(), heat.cell_rect(row, col), palette.ink_soft);
        } else if response.clicked() {
            state.entry = (row, col);
            response.request_focus();
        }
        if !paints {
            ask_on(&response, Entry::parameter(tensor.id, row, col), trail);
        }
        // There is no tooltip during a stroke of the brush, because it would cover the brush's path.
        if !response.is_pointer_button_down_on() {
            // The tooltip is beside the map, so that it hides no entry.
            response.on_hover_ui(|ui| entry_tip_ui(ui, tensor, (row, col), paints));
        }
        command
    });
    scrolled.inner
}

/// Draws a frame that closes in on the entry to which a link led; with reduced motion it stands still.
fn flash_ui(ui: &Ui, entry: egui::Rect, since: &mut Option<f64>, palette: &Palette) {
    /// The duration of the frame, in seconds.
    const LASTS: f64 = 1.6;
    /// The distance from which the frame closes in, in points.
    const FROM: f32 = 24.0;
    let Some(begun) = *since else { return };
    let passed = ui.input(|input| input.time) - begun;
    if passed > LASTS {
        *since = None;
        return;
    }
    if passed == 0.0 {
        ui.scroll_to_rect(entry.expand(FROM), None);
    }
    let is_still = ui.style().animation_time == 0.0;
    let left = if is_still { 0.2 } else { 1.0 - (passed / LASTS) as f32 };
    let around = entry.expand(size::GAP_TIGHT + FROM * left * left);
    let stroke = egui::Stroke::new(2.0 * size::CURVE, palette.accent);
    ui.painter().rect_stroke(around, size::RADIUS_SMALL, stroke, egui::StrokeKind::Outside);
    ui.ctx().request_repaint();
}

fn entry_tip_ui(ui: &mut Ui, tensor: &TensorModel, (row, col): (usize, usize), paints: bool) {
    ui.monospace(format!("{}[{row},{col}] = {:.4}", tensor.id, tensor.value(row, col)));
    if let Some(meaning) = tensor.entry_meaning(row, col) {
        ui.weak(meaning);
    }
    ui.weak(format!("{} {:.4}", tensor.origin, tensor.trained_value(row, col)));
    if let Some(differences) = tensor.difference_row(row) {
        ui.weak(format!("difference {:+.4}", differences[col]));
    }
    if paints {
        ui.weak("Drag to paint.");
    } else {
        ui.weak(format!("Click to select; then the arrow keys move on. {ASK_HINT}"));
    }
}

/// Draws the values, or the differences if the weights are compared. With effects, the colour is that of the value's
/// sign, and the brightness shows the effect.
fn paint_map(ui: &Ui, tensor: &TensorModel, effects: Option<&TensorEffects>, heat: &Heat, palette: &Palette) {
    let shown = |row: usize| tensor.difference_row(row).unwrap_or_else(|| tensor.row(row));
    let scale = tensor.largest_shown().max(f32::MIN_POSITIVE);
    let visible = ui.clip_rect();
    let font = heat.number_font(ui.ctx(), || (0..tensor.rows).flat_map(|row| shown(row).into_owned()));
    for row in (0..tensor.rows).filter(|row| heat.row_rect(*row).intersects(visible)) {
        let (shown, live, trained) = (shown(row), tensor.row(row), tensor.trained_row(row));
        for col in 0..tensor.cols {
            let value = shown[col];
            let fill = match effects {
                Some(effects) => palette.diverging(effects.share(row, col).copysign(value)),
                None => palette.diverging(value / scale),
            };
            heat.paint_cell(ui.painter(), row, col, fill);
            if let Some(font) = &font {
                heat.paint_number(ui.painter(), row, col, value, font, palette.ink_on(fill));
            }
            if live[col] != trained[col] {
                let corner = heat.cell_rect(row, col).right_top() + egui::vec2(-size::GAP_TIGHT, size::GAP_TIGHT);
                ui.painter().circle_filled(corner, size::OUTLINE, palette.accent);
            }
        }
    }
}

/// Draws every entry as a row; only those in sight are laid out.
fn list_ui(ui: &mut Ui, tensor: &TensorModel, trail: &mut Trail) -> Option<Command> {
    let mut command = None;
    ScrollArea::vertical().auto_shrink([false, false]).show_rows(ui, size::SLIDER_ROW, tensor.entries(), |ui, rows| {
        for index in rows {
            let (row, col) = (index / tensor.cols, index % tensor.cols);
            ui.push_id(index, |ui| {
                ui.horizontal(|ui| {
                    let name = format!("{}[{row:>2},{col:>2}]", tensor.id);
                    number_ui(ui, name, Entry::parameter(tensor.id, row, col), trail);
                    command = value_ui(ui, tensor, row, col).or(command.take());
                });
            });
        }
    });
    command
}

/// Effect of the pointer on the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// The tool that selects an entry.
    #[default]
    Pick,
    Paint,
    Shake,
}

pub struct ToolsUiState {
    pub tool: Tool,
    /// Whether the brush adds its value instead of setting it.
    adds: bool,
    value: f32,
    scale: f32,
    draw: u64,
    /// The training step with which the weights were last compared, which is offered for the next comparison.
    step: usize,
    stroke: Stroke,
}

/// The drag of the brush that is under way.
#[derive(Default)]
struct Stroke {
    number: u64,
    painted: HashSet<(usize, usize)>,
    last: Option<(usize, usize)>,
}

impl Default for ToolsUiState {
    fn default() -> Self {
        const VALUE: f32 = 0.5;
        const SCALE: f32 = 0.1;
        let (tool, stroke) = (Tool::default(), Stroke::default());
        Self { tool, adds: false, value: VALUE, scale: SCALE, draw: 1, step: 0, stroke }
    }
}

/// Draws the choice of the tool, and of what the weights are compared with.
fn tools_ui(ui: &mut Ui, model: &WeightsModel, panel: &mut WeightsPanel) -> Option<Command> {
    let state = &mut panel.tools;
    let line = ui.horizontal_wrapped(|ui| {
        let tools = [
            (
                Tool::Pick,
                "Pick",
                "Click an entry, or go to it with the arrow keys; then use the slider or the number field",
            ),
            (
                Tool::Paint,
                "Paint",
                "Drag over the map to change every entry under the brush; one undo reverts the whole stroke",
            ),
            (Tool::Shake, "Shake", "Adds a little random noise to the whole tensor"),
        ];
        // The tools are in a menu, because most learners need only one; its label says when another one is in use.
        let words = match state.tool {
            Tool::Pick => "Tools",
            Tool::Paint => "Tool: Paint",
            Tool::Shake => "Tool: Shake",
        };
        let menu = ui.menu_button(words, |ui| {
            for (tool, name, tip) in tools {
                if ui.selectable_value(&mut state.tool, tool, name).on_hover_text(tip).clicked() {
                    ui.close();
                }
            }
        });
        named(menu.response, WidgetType::Button, "Tools")
            .on_hover_text("Pick an entry, paint over many entries, or shake the whole tensor");
        ui.separator();
        let command = compare_ui(ui, model, state);
        ui.separator();
        let tip = "Shows by brightness how much each entry moves the chosen word; otherwise, the size of its value";
        ui.toggle_value(&mut panel.shows_effects, "Effects").on_hover_text(tip);
        command
    });
    line.inner
}

fn compare_ui(ui: &mut Ui, model: &WeightsModel, state: &mut ToolsUiState) -> Option<Command> {
    const WIDTH: f32 = 96.0;
    let with = model.comparison.as_ref().map(|comparison| comparison.with);
    let mut wanted = with;
    if let Some(Reference::Step(step)) = with {
        state.step = step;
    }
    let said = model.comparison.as_ref().map_or("compare", |comparison| &comparison.name);
    let chooser = ComboBox::from_id_salt("compare").width(WIDTH).selected_text(said).show_ui(ui, |ui| {
        ui.selectable_value(&mut wanted, None, "with nothing");
        ui.selectable_value(&mut wanted, Some(Reference::Trained), format!("as {}", model.origin));
        ui.selectable_value(&mut wanted, Some(Reference::Start), "at the start");
        let is_step = matches!(wanted, Some(Reference::Step(_)));
        if ui.selectable_label(is_step, "after a step …").clicked() && !is_step {
            wanted = Some(Reference::Step(state.step.min(model.step)));
        }
    });
    named(chooser.response, WidgetType::ComboBox, "Compare")
        .on_hover_text("The map shows how the weights in use differ from those that you choose here");
    if let Some(Reference::Step(step)) = &mut wanted {
        let number = ui.add(DragValue::new(step).range(0..=model.step));
        number.on_hover_text("The training step to compare with");
    }
    (wanted != with).then_some(Command::Training(TrainingCommand::Compare(wanted)))
}

/// Draws the settings of the selected tool; the settings of picking have a line of their own. Returns the requested
/// command.
fn tool_ui(ui: &mut Ui, tensor: &TensorModel, state: &mut ToolsUiState) -> Option<Command> {
    match state.tool {
        Tool::Pick => None,
        Tool::Paint => {
            brush_ui(ui, state);
            None
        }
        Tool::Shake => shake_ui(ui, tensor, state),
    }
}

fn brush_ui(ui: &mut Ui, state: &mut ToolsUiState) {
    ui.horizontal(|ui| {
        let label = ui.label("Brush");
        ui.selectable_value(&mut state.adds, false, "sets")
            .on_hover_text("Sets the entries to the number on the right");
        ui.selectable_value(&mut state.adds, true, "adds")
            .on_hover_text("Adds the number on the right, once per stroke");
        let number = DragValue::new(&mut state.value).speed(DRAG_SPEED).max_decimals(3);
        hint(ui.add(number).labelled_by(label.id), "What the brush sets or adds: drag, or click and type");
    });
}

fn shake_ui(ui: &mut Ui, tensor: &TensorModel, state: &mut ToolsUiState) -> Option<Command> {
    let line = ui.horizontal(|ui| {
        let label = ui.label("±");
        let scale = DragValue::new(&mut state.scale).speed(DRAG_SPEED / 4.0).range(0.001..=PERTURBATION_MAX);
        hint(ui.add(scale).labelled_by(label.id), "Largest change of an entry, up or down");
        let label = ui.label("draw");
        let tip = "The same number always gives the same noise";
        hint(ui.add(DragValue::new(&mut state.draw)).labelled_by(label.id), tip);
        let noise = WeightCommand::Perturb { tensor: tensor.id, scale: state.scale, draw: state.draw };
        let tip = "One undo removes the noise again";
        let command = button_ui(ui, format!("Shake {}", tensor.id), tip, Command::Weights(noise));
        if command.is_some() {
            state.draw = state.draw.saturating_add(1);
        }
        command
    });
    line.inner
}

/// Says how far the tensor is from what it is compared with.
fn norms_ui(ui: &mut Ui, tensor: &TensorModel, comparison: &ComparisonModel) {
    let ComparisonModel { name, overall, .. } = comparison;
    let said = format!(
        "{} minus {} {name}: ‖Δ‖ = {:.3}; for all tensors {overall:.3}",
        tensor.id, tensor.id, tensor.difference_norm
    );
    ui.add(Label::new(egui::RichText::new(said).small()).truncate())
        .on_hover_text("L2 norm of the difference. The map shows the difference, entry by entry.");
}

/// Returns the command that paints the entries over which the brush has moved since the last frame, without those that
/// this stroke has painted already.
pub fn painted(
    ui: &Ui,
    response: &Response,
    heat: &Heat,
    tensor: &TensorModel,
    state: &mut ToolsUiState,
) -> Option<Command> {
    if !response.is_pointer_button_down_on() {
        state.stroke.last = None;
        return None;
    }
    let frame = ui.ctx().cumulative_frame_nr();
    let stroke = &mut state.stroke;
    // This may run twice in a frame; the second run must not begin another stroke.
    if stroke.last.is_none() && stroke.number != frame {
        *stroke = Stroke { number: frame, ..Stroke::default() };
    }
    let pointer = response.interact_pointer_pos().filter(|pointer| ui.clip_rect().contains(*pointer));
    let cell = heat.at(pointer?)?;
    let entries: Vec<(usize, usize)> =
        between(stroke.last.unwrap_or(cell), cell).filter(|entry| stroke.painted.insert(*entry)).collect();
    stroke.last = Some(cell);
    let brush = if state.adds { Brush::Add(state.value) } else { Brush::Set(state.value) };
    let stroke = stroke.number;
    (!entries.is_empty()).then_some(Command::Weights(WeightCommand::Paint {
        tensor: tensor.id,
        entries,
        brush,
        stroke,
    }))
}

/// Returns the cells on the straight line from one to another, including both, so that a fast pointer leaves no gaps.
fn between(from: (usize, usize), to: (usize, usize)) -> impl Iterator<Item = (usize, usize)> {
    let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
    let at = move |a: usize, b: usize, step: usize| {
        let share = if steps == 0 { 0.0 } else { step as f32 / steps as f32 };
        (a as f32 + (b as f32 - a as f32) * share).round() as usize
    };
    (0..=steps).map(move |step| (at(from.0, to.0, step), at(from.1, to.1, step)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_brush_leaves_no_gaps() {
        let cells = |from, to| between(from, to).collect::<Vec<_>>();
        assert_eq!(cells((2, 3), (2, 3)), [(2, 3)]);
        assert_eq!(cells((0, 0), (0, 3)), [(0, 0), (0, 1), (0, 2), (0, 3)]);
        assert_eq!(cells((4, 0), (0, 2)), [(4, 0), (3, 1), (2, 1), (1, 2), (0, 2)]);
    }
}
