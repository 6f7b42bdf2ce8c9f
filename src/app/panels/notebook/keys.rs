//! The keys of the notebook while no editor is open, as in Jupyter's command mode: a cell is selected, and a letter
//! changes it or selects another one. Some kinds of cells have keys of their own, which take precedence.

use std::time::{Duration, Instant};

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::document::{Answer, CellId};
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::lesson::cells::{Bind, CellKind, Predict, Slider};
use attune_ui::actions::{NotebookAction, Pressed, drop_text, first_pressed, keys, pressed};
use attune_view::view_model::notebook::{CellModel, shown_choices};
use egui::Ui;

use super::cell::show;
use super::frame::NotebookFrame;

/// The longest time between the two presses of a shortcut such as `D D`.
const TWICE: Duration = Duration::from_millis(600);

pub fn keys(ui: &Ui, frame: &mut NotebookFrame) {
    use NotebookAction::{Leave, Split};
    let ctx = ui.ctx();
    if ctx.text_edit_focused() || ctx.memory(|memory| memory.focused()).is_some() || egui::Popup::is_any_open(ctx) {
        return;
    }
    if keys::is_free_escape(ctx) {
        frame.state.is_led_by_keys = true;
    }
    let deletes = first_keys(ui, frame);
    let Some((id, index)) = frame.state.selected.clone().and_then(|id| {
        let index = frame.model.index(&id)?;
        Some((id, index))
    }) else {
        return;
    };
    if deletes {
        delete(frame, &id, index);
        return;
    }
    if kind_keys(ui, frame, index) {
        return;
    }
    // Only the first key is handled, because later ones may be meant for another cell, or for the text of this one.
    let is_on = |action| !is_first(action) && !is_of_kind(action) && !matches!(action, Leave | Split);
    match first_pressed(ctx, is_on) {
        Some(action) if is_refused(frame, action) => {}
        // On a text of the lesson, this key goes to the next cell instead of opening the editor.
        Some(NotebookAction::Write) if is_lessons_text(frame, index) => frame.step(1),
        Some(action) => frame.perform(action, &id, index),
        None => {}
    }
}

/// Returns whether an action is handled before the keys of the selected cell.
fn is_first(action: NotebookAction) -> bool {
    use NotebookAction::{Delete, Functions, Interrupt, Restart, SelectAbove, SelectBelow};
    matches!(action, SelectAbove | SelectBelow | Functions | Delete | Interrupt | Restart)
}

/// Performs the keys of the whole notebook. Returns true if the selected cell is to be deleted.
fn first_keys(ui: &Ui, frame: &mut NotebookFrame) -> bool {
    use NotebookAction::{Functions, Interrupt, Restart, SelectAbove, SelectBelow};
    let ctx = ui.ctx();
    let mut deletes = false;
    let mut steps = 0;
    for Pressed { action, count, .. } in pressed(ctx, is_first) {
        match action {
            SelectAbove => steps -= count as isize,
            SelectBelow => steps += count as isize,
            Functions => {
                frame.toggle_reference(ui);
                drop_text(ctx);
            }
            _ if is_refused(frame, action) || !is_second(frame, action, count) => {}
            Interrupt => frame.commands.push(Command::Notebook(NotebookCommand::Interrupt)),
            Restart => frame.commands.push(Command::Notebook(NotebookCommand::Restart)),
            _ => deletes = true,
        }
    }
    if steps != 0 {
        frame.state.is_led_by_keys = true;
        frame.step(steps);
    }
    deletes
}

/// Returns whether a cell is a text of the lesson and not one of the learner's.
fn is_lessons_text(frame: &NotebookFrame, index: usize) -> bool {
    let cell = &frame.model.cells[index].cell;
    cell.is_text() && !cell.is_own
}

/// Returns whether an action's letter is refused, because it would change the notebook although the learner reached the
/// selected cell by a click: the letter was perhaps meant for a field. A note then explains how to write.
fn is_refused(frame: &mut NotebookFrame, action: NotebookAction) -> bool {
    let is_refused = action.is_of_command_mode() && !frame.state.is_led_by_keys;
    if is_refused {
        frame.state.refused = Some(Instant::now());
    }
    is_refused
}

/// Deletes a cell and selects the next one, or the previous one if it was the last.
fn delete(frame: &mut NotebookFrame, id: &CellId, index: usize) {
    let next = frame.model.cells.get(index + 1).or_else(|| frame.model.cells.get(index.checked_sub(1)?));
    let next = next.map(|cell| cell.id().clone());
    frame.delete(id);
    frame.state.selected = next;
}

/// Returns whether the same key was pressed a moment ago, or twice in this frame.
fn is_second(frame: &mut NotebookFrame, action: NotebookAction, count: usize) -> bool {
    // The frame's time is not used, because the first frame after an idle period has the time of the last one.
    let now = Instant::now();
    let before = frame.state.first_press.take();
    let is_second = count > 1 || before.is_some_and(|(first, at)| first == action && now - at < TWICE);
    if !is_second {
        frame.state.first_press = Some((action, now));
    }
    is_second
}

/// Number of steps from one end of a slider to the other, if the lesson gives none.
const STEPS: f64 = 40.0;

/// Share of a slider's step by which an arrow key with Shift moves it.
const FINE: f64 = 0.1;

/// Returns whether an action is for one kind of cell only.
fn is_of_kind(action: NotebookAction) -> bool {
    use NotebookAction::{Answer, Hint, Solution, Turn, TurnFinely};
    matches!(action, Answer | Hint | Solution | Turn | TurnFinely)
}

/// Returns whether an action has the Enter key, with or without modifiers.
fn is_enter(action: NotebookAction) -> bool {
    use NotebookAction::{Run, RunAndGoOn, RunAndInsert, Write};
    matches!(action, Write | Run | RunAndGoOn | RunAndInsert)
}

/// Performs the keys of the selected cell's kind. Returns true if one was handled.
fn kind_keys(ui: &Ui, frame: &mut NotebookFrame, index: usize) -> bool {
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
            hints.iter().for_each(|hint| frame.perform(hint.action, cell.id(), index));
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
        // These kinds have only the keys of all cells.
        CellKind::Text { .. } | CellKind::Code { .. } | CellKind::Plot { .. } => false,
    }
}

fn end(frame: &mut NotebookFrame, index: usize, entered: NotebookAction) {
    if entered == NotebookAction::RunAndGoOn {
        frame.go_on(index);
    }
}

/// Performs the keys of a prediction. Enter locks the chosen answer; Shift+Enter goes to the next cell if no answer is
/// chosen or it is locked.
fn predict_keys(ui: &Ui, frame: &mut NotebookFrame, index: usize, predict: &Predict) -> bool {
    let cell = &frame.model.cells[index];
    let Answer::Predict { chosen, is_locked } = cell.cell.answer else { return false };
    // If frames are slow, an answer and Enter may arrive in the same frame.
    let pressed = pressed(ui.ctx(), |action| action == NotebookAction::Answer || is_enter(action));
    let choice = pressed.iter().find(|pressed| pressed.action == NotebookAction::Answer).map(|pressed| pressed.which);
    let shown = shown_choices(predict, &cell.shown);
    let choice = choice.filter(|_| !is_locked).and_then(|place| Some(shown.get(place)?.0));
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

/// Locks an answer; after Shift+Enter, a right answer leads to the next cell.
fn lock(frame: &mut NotebookFrame, cell: &CellModel, entered: NotebookAction) {
    frame.lock(cell);
    frame.await_verdict(cell, entered == NotebookAction::RunAndGoOn);
}

fn slider_keys(
    frame: &mut NotebookFrame,
    cell: &CellModel,
    slider: &Slider,
    pressed: &[Pressed<NotebookAction>],
) -> bool {
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
