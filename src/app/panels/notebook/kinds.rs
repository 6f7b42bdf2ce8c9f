//! The kinds of cells in the window: the content of each, its height before it was seen, and the keys that mean
//! an answer, a hint, the stage, a slider or a gate.

use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::Answer;
use attune_core::lesson::cells::{Bind, CellKind, Predict, Slider};
use attune_view::view_model::notebook::CellModel;
use egui::Ui;

use super::code_cell::code_ui;
use super::frame::Frame;
use super::keys::perform;
use super::outputs::pictures_ui;
use super::slider_cell::slider_ui;
use super::stage_card::{self, stage_ui};
use super::tasks::{exercise_ui, gate_ui, predict_ui};
use super::text_cell::text_ui;
use super::writing::go_on;
use crate::app::actions::{NotebookAction, Pressed, pressed};

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
        CellKind::Stage { caption, sentence, words, time, plays } => {
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
            stage_card::show(cell, *sentence, (words, *time, *plays), frame);
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
