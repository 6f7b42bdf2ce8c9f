//! The tools of the weights panel: a brush, a shake, and what the weights are compared with.

use std::collections::HashSet;

use attune_core::kernel::command::{Brush, Command, Reference, TrainingCommand, WeightCommand};
use attune_core::kernel::model::commands::PERTURBATION_MAX;
use attune_view::view_model::tensors::{ComparisonModel, TensorModel, WeightsModel};
use egui::{Button, ComboBox, DragValue, Label, Response, Ui, WidgetInfo, WidgetType};

use crate::app::widgets::controls::hint;
use crate::app::widgets::heat::Heat;

/// Speed of a number under a drag, in units a point.
const DRAG_SPEED: f64 = 0.01;

/// Effect of the pointer on the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Selects an entry.
    #[default]
    Pick,
    Paint,
    Shake,
}

pub struct ToolsUiState {
    pub tool: Tool,
    /// The brush adds its value rather than setting it.
    adds: bool,
    value: f32,
    scale: f32,
    draw: u64,
    /// The step that is compared with, where one is.
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

/// Which tool, and what the weights are compared with.
pub fn tools_ui(ui: &mut Ui, model: &WeightsModel, state: &mut ToolsUiState) -> Option<Command> {
    let mut command = None;
    ui.horizontal_wrapped(|ui| {
        let tools = [
            (Tool::Pick, "Pick", "Click an entry, or go to it with the arrow keys, to turn it with slider or number"),
            (
                Tool::Paint,
                "Paint",
                "Drag over the map: every entry under the brush changes, and one undo takes it back",
            ),
            (Tool::Shake, "Shake", "Add a little random noise to the whole tensor"),
        ];
        // One tool is enough for most; the others wait in a menu, which says when one of them is in use.
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
        menu.response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, "Tools"));
        menu.response.on_hover_text("Pick an entry, paint over many, or shake the whole tensor");
        ui.separator();
        command = compare_ui(ui, model, state);
    });
    command
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
    chooser.response.widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, "Compare"));
    chooser.response.on_hover_text("The map shows how the weights in use differ from others");
    if let Some(Reference::Step(step)) = &mut wanted {
        let number = ui.add(DragValue::new(step).range(0..=model.step));
        number.on_hover_text("The step of training that is compared with");
    }
    (wanted != with).then_some(Command::Training(TrainingCommand::Compare(wanted)))
}

/// Settings of the selected tool; `None` where it has a line of its own.
pub fn tool_ui(ui: &mut Ui, tensor: &TensorModel, state: &mut ToolsUiState) -> Option<Command> {
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
        ui.selectable_value(&mut state.adds, false, "sets").on_hover_text("Entries become the number");
        ui.selectable_value(&mut state.adds, true, "adds").on_hover_text("The number is added, once in a stroke");
        let number = DragValue::new(&mut state.value).speed(DRAG_SPEED).max_decimals(3);
        hint(ui.add(number).labelled_by(label.id), "What the brush sets or adds: drag, or click and type");
    });
}

fn shake_ui(ui: &mut Ui, tensor: &TensorModel, state: &mut ToolsUiState) -> Option<Command> {
    let mut command = None;
    ui.horizontal(|ui| {
        let label = ui.label("±");
        let scale = DragValue::new(&mut state.scale).speed(DRAG_SPEED / 4.0).range(0.001..=PERTURBATION_MAX);
        hint(ui.add(scale).labelled_by(label.id), "Largest change of an entry, either way");
        let label = ui.label("draw");
        let tip = "The same draw always shakes in the same way";
        hint(ui.add(DragValue::new(&mut state.draw)).labelled_by(label.id), tip);
        let name = format!("Shake {}", tensor.id);
        if ui.add(Button::new(name)).on_hover_text("One undo takes it back").clicked() {
            command = Some(Command::Weights(WeightCommand::Perturb {
                tensor: tensor.id,
                scale: state.scale,
                draw: state.draw,
            }));
            state.draw = state.draw.saturating_add(1);
        }
    });
    command
}

/// How far the tensor is from what it is compared with.
pub fn norms_ui(ui: &mut Ui, tensor: &TensorModel, comparison: &ComparisonModel) {
    let ComparisonModel { name, overall, .. } = comparison;
    let said =
        format!("{} less {} {name}: ‖Δ‖ {:.3}; all tensors {overall:.3}", tensor.id, tensor.id, tensor.difference_norm);
    ui.add(Label::new(egui::RichText::new(said).small()).truncate())
        .on_hover_text("L2 norm of the difference. The map shows the difference, entry by entry.");
}

/// The entries that the brush has come over since the last frame.
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
    // The pass may run twice in a frame: the second one finds the stroke begun.
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

/// The cells on the straight way from one to another, both among them: a fast pointer leaves no gaps.
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
