//! Keys that mean what the selected cell is: an answer, a hint, the stage, a slider, a gate.

use egui::Ui;

use crate::app::actions::{NotebookAction, Pressed, pressed};
use crate::kernel::notebook::CellCommand;
use crate::kernel::notebook::document::Answer;
use crate::lesson::cells::{Bind, CellKind, Predict, Slider};
use crate::view_model::notebook::CellModel;

use super::Frame;
use super::keys::perform;
use super::stage_card;
use super::writing::go_on;

/// Steps from one end of a slider to the other, where the lesson gives none.
const STEPS: f64 = 40.0;
/// With Shift.
const FINE: f64 = 0.1;

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
        CellKind::Stage { sentence, words, time, .. } => {
            let entered = asked(is_enter);
            let Some(Pressed { action, .. }) = entered.first() else { return false };
            stage_card::show(cell, *sentence, (words, *time), frame);
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
        _ => false,
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
        if entered.is_some() {
            frame.ask(cell.id(), CellCommand::Reveal);
        }
        frame.reveal_end(cell.id());
        return true;
    }
    let Some(entered) = entered else { return false };
    if chosen.is_some() && !is_locked {
        frame.ask(cell.id(), CellCommand::Reveal);
        frame.reveal_end(cell.id());
    } else {
        end(frame, index, entered);
    }
    true
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
