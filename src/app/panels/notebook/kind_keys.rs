//! Keys that mean what the selected cell is: an answer, a hint, the stage, a slider, a gate.

use egui::{Key, Modifiers, Ui};

use crate::kernel::notebook::CellCommand;
use crate::kernel::notebook::document::Answer;
use crate::lesson::cells::{Bind, CellKind, Predict, Slider};
use crate::view_model::notebook::CellModel;

use super::Frame;
use super::stage_card;
use super::writing::go_on;

const ANSWERS: [Key; 8] = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8];
/// Steps from one end of a slider to the other, where the lesson gives none.
const STEPS: f64 = 40.0;
/// With Shift.
const FINE: f64 = 0.1;

/// True when a key was meant for the cell.
pub fn kind_keys(ui: &Ui, frame: &mut Frame, index: usize) -> bool {
    let cell = &frame.model.cells[index];
    match &*cell.cell.kind {
        CellKind::Stage { sentence, words, time, .. } => {
            let Some(entered) = entered(ui) else { return false };
            stage_card::show(cell, *sentence, (words, *time), frame);
            end(frame, index, entered);
            true
        }
        CellKind::Predict(predict) => predict_keys(ui, frame, index, predict),
        CellKind::Exercise(_) => {
            let pressed = |modifiers| ui.input_mut(|input| input.consume_key(modifiers, Key::H));
            let command = if pressed(Modifiers::SHIFT) {
                CellCommand::Reveal
            } else if pressed(Modifiers::NONE) {
                CellCommand::Hint
            } else {
                return false;
            };
            frame.ask(cell.id(), command);
            frame.reveal_end(cell.id());
            true
        }
        CellKind::Slider(slider) => slider_keys(ui, frame, cell, slider),
        CellKind::Gate { .. } => {
            let closed = frame.model.closed_gate == Some(index);
            let enters = closed && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            if enters {
                frame.ask(cell.id(), CellCommand::Skip);
            }
            enters
        }
        // No keys but those of all cells.
        _ => false,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Entered {
    Stay,
    GoOn,
}

fn entered(ui: &Ui) -> Option<Entered> {
    let pressed = |modifiers| ui.input_mut(|input| input.consume_key(modifiers, Key::Enter));
    if pressed(Modifiers::SHIFT) {
        Some(Entered::GoOn)
    } else {
        (pressed(Modifiers::COMMAND) || pressed(Modifiers::NONE)).then_some(Entered::Stay)
    }
}

fn end(frame: &mut Frame, index: usize, entered: Entered) {
    if entered == Entered::GoOn {
        go_on(frame, index);
    }
}

/// An answer that is chosen is locked by Enter; Shift+Enter goes past one that is not, or is locked.
fn predict_keys(ui: &Ui, frame: &mut Frame, index: usize, predict: &Predict) -> bool {
    let cell = &frame.model.cells[index];
    let Answer::Predict { chosen, is_locked } = cell.cell.answer else { return false };
    let answers = ANSWERS.iter().take(predict.choices.len());
    let choice = answers.into_iter().position(|key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, *key)));
    if let Some(choice) = choice.filter(|_| !is_locked) {
        frame.ask(cell.id(), CellCommand::Choose(choice));
        // Where frames are slow, both keys come in one.
        if entered(ui).is_some() {
            frame.ask(cell.id(), CellCommand::Reveal);
        }
        frame.reveal_end(cell.id());
        return true;
    }
    let Some(entered) = entered(ui) else { return false };
    if chosen.is_some() && !is_locked {
        frame.ask(cell.id(), CellCommand::Reveal);
        frame.reveal_end(cell.id());
    } else {
        end(frame, index, entered);
    }
    true
}

fn slider_keys(ui: &Ui, frame: &mut Frame, cell: &CellModel, slider: &Slider) -> bool {
    let pressed = |modifiers, key| ui.input_mut(|input| input.count_and_consume_key(modifiers, key)) as f64;
    let turns = |modifiers| pressed(modifiers, Key::ArrowRight) - pressed(modifiers, Key::ArrowLeft);
    let steps = turns(Modifiers::SHIFT) * FINE + turns(Modifiers::NONE);
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
