//! The kinds of cells in the window: the content of each, its height before it was seen, and the keys that mean an answer, a
//! hint, the stage, a slider or a gate. Predictions, exercises and gates are drawn in [`super::tasks`].

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::Answer;
use attune_core::lesson::cells::{Bind, CellKind, Predict, Slider};
use attune_view::view_model::notebook::CellModel;
use egui::{Frame as Card, Label, Margin, RichText, Sense, Slider as EguiSlider, Stroke, Ui};

use super::frame::Frame;
use super::keys::perform;
use super::outputs::pictures_ui;
use super::tasks::{exercise_ui, gate_ui, predict_ui};
use super::writing::{go_on, write_ui};
use crate::app::actions::{ActionTable, NotebookAction, Pressed, pressed};
use crate::app::panels::notebook::outputs::{fault_ui, outputs_ui};
use crate::app::theme::{self, Palette, size};
use crate::app::widgets::controls::{checkbox_ui, hint, undecided_ui};

/// Steps from one end of a slider to the other, where the lesson gives none.
const STEPS: f64 = 40.0;
/// With Shift.
const FINE: f64 = 0.1;

/// The content of a cell that is not folded.
pub fn body_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut Frame) {
    match &*cell.cell.kind {
        CellKind::Text { .. } => text_ui(ui, cell, index, frame),
        CellKind::Code { .. } | CellKind::Plot { .. } => {
            code_ui(ui, cell, index, frame);
            pictures_ui(ui, &cell.outputs, &mut frame.prose.images);
        }
        CellKind::Slider(slider) => slider_ui(ui, cell, slider, frame),
        CellKind::Stage { caption, sentence, words, time, plays, .. } => {
            stage_ui(ui, cell, (caption, *sentence), (words, *time, *plays), frame);
        }
        CellKind::Predict(predict) => predict_ui(ui, cell, predict, frame),
        CellKind::Exercise(exercise) => exercise_ui(ui, cell, exercise, index, frame),
        CellKind::Gate { caption, .. } => gate_ui(ui, cell, caption, frame),
    }
}

/// Estimated height of a cell that was not seen yet.
pub fn first_height(cell: &CellModel, width: f32) -> f32 {
    const CHROME: f32 = 34.0;
    const LINE: f32 = 22.0;
    const LETTER: f32 = 7.4;
    const TASK: f32 = 220.0;
    let letters = (width / LETTER).max(1.0);
    let lines = |text: &str| text.lines().map(|line| (line.len() as f32 / letters).ceil().max(1.0)).sum::<f32>();
    match &*cell.cell.kind {
        _ if cell.cell.is_folded => CHROME,
        CellKind::Text { .. } => LINE * lines(&cell.cell.text),
        CellKind::Code { .. } | CellKind::Plot { .. } => CHROME + LINE * lines(&cell.cell.text),
        CellKind::Predict(predict) => TASK + LINE * lines(&predict.ask),
        CellKind::Exercise(exercise) => TASK + LINE * (lines(&exercise.ask) + lines(&cell.cell.text)),
        CellKind::Stage { .. } | CellKind::Slider(_) | CellKind::Gate { .. } => CHROME + 2.0 * LINE,
    }
}

/// The action is for cells of one kind alone.
pub fn is_of_kind(action: NotebookAction) -> bool {
    use NotebookAction::{Answer, Hint, Solution, Turn, TurnFinely};
    matches!(action, Answer | Hint | Solution | Turn | TurnFinely)
}

/// Enter, with or without modifiers.
fn is_enter(action: NotebookAction) -> bool {
    use NotebookAction::{Run, RunAndGoOn, RunAndInsert, Write};
    matches!(action, Write | Run | RunAndGoOn | RunAndInsert)
}

/// True when a key was meant for the cell.
pub fn kind_keys(ui: &Ui, frame: &mut Frame, index: usize) -> bool {
    use NotebookAction::{Hint, Run, Solution, Turn, TurnFinely};
    let cell = &frame.model.cells[index];
    let asked = |is_on: fn(NotebookAction) -> bool| pressed(ui.ctx(), is_on);
    match &*cell.cell.kind {
        CellKind::Stage { sentence, words, time, plays, .. } => {
            let entered = asked(is_enter);
            let Some(Pressed { action, .. }) = entered.first() else { return false };
            show(cell, *sentence, (words, *time, *plays), frame);
            end(frame, index, *action);
            true
        }
        CellKind::Predict(predict) => predict_keys(ui, frame, index, predict),
        CellKind::Exercise(_) => {
            let hints = asked(|action| matches!(action, Hint | Solution));
            hints.iter().for_each(|hint| perform(hint.action, frame, cell.id(), index));
            !hints.is_empty()
        }
        CellKind::Slider(slider) => {
            slider_keys(frame, cell, slider, &asked(|action| matches!(action, Turn | TurnFinely)))
        }
        CellKind::Gate { .. } => {
            let closed = frame.model.closed_gate == Some(index);
            let enters = closed && !asked(|action| is_enter(action) && action != Run).is_empty();
            if enters {
                frame.ask(cell.id(), CellCommand::Skip);
            }
            enters
        }
        // No keys but those of all cells.
        CellKind::Text { .. } | CellKind::Code { .. } | CellKind::Plot { .. } => false,
    }
}

fn end(frame: &mut Frame, index: usize, entered: NotebookAction) {
    if entered == NotebookAction::RunAndGoOn {
        go_on(frame, index);
    }
}

/// An answer that is chosen is locked by Enter; Shift+Enter goes past one that is not, or is locked.
fn predict_keys(ui: &Ui, frame: &mut Frame, index: usize, predict: &Predict) -> bool {
    let cell = &frame.model.cells[index];
    let Answer::Predict { chosen, is_locked } = cell.cell.answer else { return false };
    // Where frames are slow, an answer and Enter come in one.
    let pressed = pressed(ui.ctx(), |action| action == NotebookAction::Answer || is_enter(action));
    let choice = pressed.iter().find(|pressed| pressed.action == NotebookAction::Answer).map(|pressed| pressed.which);
    let choice = choice.filter(|choice| !is_locked && *choice < predict.choices.len());
    let entered = pressed.iter().map(|pressed| pressed.action).find(|action| is_enter(*action));
    if let Some(choice) = choice {
        frame.ask(cell.id(), CellCommand::Choose(choice));
        match entered {
            Some(entered) => lock(frame, cell, entered),
            None => frame.reveal_end(cell.id()),
        }
        return true;
    }
    let Some(entered) = entered else { return false };
    if chosen.is_some() && !is_locked {
        lock(frame, cell, entered);
    } else {
        end(frame, index, entered);
    }
    true
}

/// Locks an answer; Shift+Enter goes on from one that turns out right.
fn lock(frame: &mut Frame, cell: &CellModel, entered: NotebookAction) {
    frame.ask(cell.id(), CellCommand::Reveal);
    frame.await_verdict(cell, entered == NotebookAction::RunAndGoOn);
}

fn slider_keys(frame: &mut Frame, cell: &CellModel, slider: &Slider, pressed: &[Pressed<NotebookAction>]) -> bool {
    let steps = pressed.iter().map(|pressed| {
        let direction = if pressed.which == 0 { -1.0 } else { 1.0 };
        let size = if pressed.action == NotebookAction::TurnFinely { FINE } else { 1.0 };
        direction * size * pressed.count as f64
    });
    let steps: f64 = steps.sum();
    if steps == 0.0 {
        return false;
    }
    let (least, most) = slider.range;
    let step = slider.step.unwrap_or((most - least) / STEPS);
    let turned = |from: f64| (from + steps * step).clamp(least, most);
    match (&slider.bind, cell.turned) {
        (Bind::Time, _) => frame.view.walk.set_time(turned(f64::from(frame.view.walk.time())) as f32),
        (Bind::Mask, _) => frame.ask(cell.id(), CellCommand::Slide(f64::from(u8::from(steps > 0.0)))),
        (_, Some(from)) => frame.ask(cell.id(), CellCommand::Slide(turned(from))),
        (_, None) => {}
    }
    true
}

pub fn text_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut Frame) {
    let id = cell.id();
    let is_empty = cell.cell.text.trim().is_empty();
    if frame.state.open_text.as_ref() == Some(id) {
        write_ui(ui, cell, index, frame);
    } else if is_empty {
        let palette = Palette::of(ui.visuals().dark_mode);
        let hint = RichText::new("Empty text: Enter to write").color(palette.ink_faint);
        if ui.add(Label::new(hint).sense(Sense::click())).clicked() {
            frame.write(id);
        }
    } else {
        frame.prose_ui(ui, cell, &cell.cell.text);
    }
}

pub fn code_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut Frame) {
    if let CellKind::Plot { caption, .. } = &*cell.cell.kind {
        ui.label(RichText::new(caption).size(size::READING));
    } else {
        write_ui(ui, cell, index, frame);
    }
    ran_ui(ui, cell);
}

/// Outputs of the last run; faint where they are out of date.
pub fn ran_ui(ui: &mut Ui, cell: &CellModel) {
    let Some(run) = &cell.shown.run else { return };
    ui.scope(|ui| {
        if cell.shown.is_stale() {
            const FAINT: f32 = 0.55;
            ui.multiply_opacity(FAINT);
        }
        if !cell.outputs.is_empty() {
            ui.add_space(size::GAP_TIGHT);
            outputs_ui(ui, &cell.outputs);
        }
        if let Some(fault) = &run.fault {
            ui.add_space(size::GAP_TIGHT);
            fault_ui(ui, fault);
        }
    });
}

pub fn slider_ui(ui: &mut Ui, cell: &CellModel, slider: &Slider, frame: &mut Frame) {
    let palette = Palette::of(ui.visuals().dark_mode);
    if !slider.caption.is_empty() {
        ui.label(RichText::new(&slider.caption).size(size::READING));
    }
    let turned = match slider.bind {
        Bind::Time => Some(f64::from(frame.view.walk.time())),
        _ => cell.turned,
    };
    let is_there = turned.is_some() || !frame.model.live.is_empty();
    let after = match (&slider.bind, turned) {
        (Bind::Mask, _) if is_there => mask_ui(ui, turned),
        (_, Some(before)) => number_ui(ui, slider, before),
        (_, None) => {
            ui.label(RichText::new("It can be turned as soon as the model is there.").color(palette.ink_faint));
            None
        }
    };
    let Some(after) = after else { return };
    frame.select(cell.id());
    match slider.bind {
        Bind::Time => frame.view.walk.set_time(after as f32),
        _ => frame.ask(cell.id(), CellCommand::Slide(after)),
    }
}

/// Returns the new value if the checkbox was changed. A mask of the learner's own is neither on nor off.
fn mask_ui(ui: &mut Ui, turned: Option<f64>) -> Option<f64> {
    let mut on = turned.is_some_and(|turned| turned > 0.0);
    let words = "No word sees those after it";
    let response = match turned {
        Some(_) => checkbox_ui(ui, &mut on, words),
        None => undecided_ui(ui, &mut on, words),
    };
    let is_turned = response.on_hover_text("The causal mask").changed();
    if turned.is_none() {
        let ink = Palette::of(ui.visuals().dark_mode).ink_soft;
        ui.label(RichText::new("The mask is a custom one: neither causal nor none.").size(size::SMALL).color(ink));
    }
    is_turned.then(|| f64::from(u8::from(on)))
}

/// Returns the new value if the slider was moved.
fn number_ui(ui: &mut Ui, slider: &Slider, before: f64) -> Option<f64> {
    const VALUE_ROOM: f32 = 130.0;
    let (mut value, mut is_turned) = (before, false);
    ui.horizontal(|ui| {
        ui.label(RichText::new(name(&slider.bind)).monospace().color(Palette::of(ui.visuals().dark_mode).ink_soft));
        ui.spacing_mut().slider_width = (ui.available_width() - VALUE_ROOM).max(size::CHART_MIN);
        // A value that stands outside the range, or between two steps, stays until it is turned.
        let range = slider.range.0..=slider.range.1;
        let mut bar = EguiSlider::new(&mut value, range).max_decimals(3).clamping(egui::SliderClamping::Edits);
        if let Some(step) = slider.step {
            bar = bar.step_by(step);
        }
        is_turned = hint(ui.add(bar), "Drag to set it; everything that depends on it follows").changed();
    });
    is_turned.then_some(value)
}

fn name(bind: &Bind) -> String {
    match bind {
        Bind::Temperature => "temperature".to_owned(),
        Bind::Time => "time".to_owned(),
        Bind::Mask => "mask".to_owned(),
        Bind::Weight { tensor, row, col } => format!("{tensor}[{row}, {col}]"),
        Bind::Variable(name) => name.clone(),
    }
}

pub fn stage_ui(
    ui: &mut Ui,
    cell: &CellModel,
    (caption, sentence): (&str, usize),
    setting: (&[String], f32, usize),
    frame: &mut Frame,
) {
    let is_shown = frame.view.highlight.shown_cell.as_deref() == Some(&**cell.id());
    let text = frame.model.sentences.get(sentence).map(String::as_str);
    if card_ui(ui, caption, text, is_shown) {
        show(cell, sentence, setting, frame);
    }
}

/// Sets the stage: these words, and how often they play before they rest at this time.
pub fn show(cell: &CellModel, sentence: usize, (words, time, plays): (&[String], f32, usize), frame: &mut Frame) {
    frame.view.highlight.show(cell.id(), words);
    frame.view.walk.play(plays, time);
    frame.select(cell.id());
    if frame.model.selected != Some(sentence) {
        frame.commands.push(Command::Sentence(SentenceCommand::Select(sentence)));
    }
}

/// True when the stage was asked for.
fn card_ui(ui: &mut Ui, caption: &str, sentence: Option<&str>, is_shown: bool) -> bool {
    let palette = Palette::of(ui.visuals().dark_mode);
    let edge = if is_shown { palette.accent } else { theme::CLEAR };
    let card = Card::new()
        .fill(palette.raised)
        .stroke(Stroke::new(size::HAIRLINE, edge))
        .corner_radius(size::RADIUS)
        .inner_margin(Margin::same(size::PANEL_MARGIN));
    let card = card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        if !caption.is_empty() {
            ui.label(RichText::new(caption).size(size::READING));
        }
        if let Some(sentence) = sentence {
            ui.add(egui::Label::new(RichText::new(sentence).weak()).wrap());
        }
        ui.add_space(size::GAP_TIGHT);
        let button = egui::Button::new(RichText::new("▶  Show").color(palette.on_accent)).fill(palette.accent);
        let hint = NotebookAction::Write.row().hint_with("Set the stage: this sentence, these words, this time");
        let response = ui.add(button).on_hover_text(hint);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, format!("Show: {caption}")));
        response.clicked()
    });
    card.inner
}
