//! Predictions, exercises and gates.

use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::Answer;
use attune_core::kernel::notebook::snapshot::{CellStatus, Verdict};
use attune_core::lesson::cells::{Exercise, Predict};
use attune_ui::actions::{ActionTable, NotebookAction};
use attune_ui::text::prose::prose_ui;
use attune_ui::theme::{Palette, size};
use attune_ui::widgets::controls::{choice_ui, named};
use attune_view::view_model::notebook::{CellModel, shown_choices};
use attune_view::view_model::output::ComparedModel;
use egui::{Align, Button, Frame as Card, Layout, RichText, Ui, WidgetType};

use super::frame::NotebookFrame;
use super::outputs::{compared_ui, fault_ui, outputs_ui, pictures_ui};
use super::state::Below;
use super::writing::{write_on, write_ui};

pub fn predict_ui(ui: &mut Ui, cell: &CellModel, predict: &Predict, frame: &mut NotebookFrame) {
    let Answer::Predict { chosen, is_locked } = cell.cell.answer else { return };
    frame.prose_ui(ui, cell, &predict.ask);
    let right = match cell.shown.run.as_ref().and_then(|run| run.verdict.as_ref()) {
        Some(Verdict::Prediction { right }) if is_locked || frame.tells_answers => Some(*right),
        _ => None,
    };
    frame.places.controls = Some(ui.cursor().top());
    choices_ui(ui, cell, predict, right, frame);
    if !is_locked && right.is_none() {
        let words = if cell.shown.reads_model { "Lock it in and ask the model" } else { "Lock it in" };
        let lock = ui.add_enabled(chosen.is_some(), Button::new(words));
        let lock = lock.on_hover_text("Locks in your answer and shows the live numbers");
        if lock.on_disabled_hover_text("Choose an answer first").clicked() {
            frame.lock(cell);
            frame.state.below = Some(Below::end(cell.id(), "Show the answer"));
        }
        return;
    }
    frame.places.result = Some(ui.cursor().top());
    if let Some(run) = &cell.shown.run {
        let words = right.map_or("", |right| verdict_words(cell, chosen, right));
        ui.label(RichText::new(words).size(size::READING));
        if let Some(reason) = predict.reason(chosen.or(right)) {
            frame.prose_ui(ui, cell, reason);
        }
        lessons_model_ui(ui, cell, frame);
        outputs_ui(ui, &cell.outputs);
        pictures_ui(ui, &cell.outputs, &mut frame.prose.images);
        if let Some(fault) = &run.fault {
            fault_ui(ui, fault);
        }
        if !predict.explain.is_empty() {
            frame.prose_ui(ui, cell, &predict.explain);
        }
        if predict.is_drawn() && button(ui, true, "Ask again", "Asks the question with other numbers", cell) {
            frame.ask(cell.id(), CellCommand::Reset);
        }
    }
}

/// Notes that the answer is that of the lesson's own model, if the learner's model differs from it.
fn lessons_model_ui(ui: &mut Ui, cell: &CellModel, frame: &NotebookFrame) {
    let changes = frame.model.model_changes();
    if cell.shown.reads_model && !changes.is_empty() {
        let words = format!("The lesson's own model was asked; yours differs ({}).", changes.join(", "));
        ui.label(RichText::new(words).size(size::SMALL).color(Palette::on(ui).ink_soft));
    }
}

/// Shows the choices of a prediction, with marks once the right one is shown.
fn choices_ui(ui: &mut Ui, cell: &CellModel, predict: &Predict, right: Option<usize>, frame: &mut NotebookFrame) {
    /// Width of the mark after the words.
    const MARK: f32 = 26.0;
    let Answer::Predict { chosen, is_locked } = cell.cell.answer else { return };
    for (index, choice) in shown_choices(predict, &cell.shown) {
        ui.horizontal_top(|ui| {
            let mark = match right {
                Some(right) if right == index => "✓",
                Some(_) if chosen == Some(index) => "✗",
                _ => "",
            };
            let room = egui::vec2((ui.available_width() - MARK).max(MARK), 0.0);
            let words = RichText::new(choice).size(size::READING);
            let chosen_ui = |ui: &mut Ui| choice_ui(ui, chosen == Some(index), !is_locked, words).clicked();
            if ui.allocate_ui_with_layout(room, Layout::top_down(Align::LEFT), chosen_ui).inner {
                frame.ask(cell.id(), CellCommand::Choose(index));
                frame.select(cell.id());
            }
            ui.label(RichText::new(mark).size(size::READING));
        });
    }
}

/// Returns a sentence that compares the prediction with the right choice.
fn verdict_words(cell: &CellModel, chosen: Option<usize>, right: usize) -> &'static str {
    if chosen.is_none() {
        return "";
    }
    if cell.shown.status == CellStatus::Stale {
        return "The lesson has changed since you locked in your answer.";
    }
    match (chosen == Some(right), cell.shown.reads_model) {
        (true, true) => "The model agrees.",
        (false, true) => "The model says otherwise.",
        (true, false) => "Right.",
        (false, false) => "Not right.",
    }
}

pub fn exercise_ui(ui: &mut Ui, cell: &CellModel, exercise: &Exercise, index: usize, frame: &mut NotebookFrame) {
    let attempts = cell.cell.attempts();
    frame.prose_ui(ui, cell, &exercise.ask);
    if exercise.start.is_some() {
        write_ui(ui, cell, index, frame);
    }
    frame.places.controls = Some(ui.cursor().top());
    ui.horizontal_wrapped(|ui| exercise_buttons_ui(ui, cell, exercise, frame));
    let verdict = ui.scope(|ui| verdict_ui(ui, cell, exercise, frame)).response.rect;
    frame.places.result = Some(verdict.top());
    if frame.state.judged.take_if(|judged| judged == cell.id()).is_some() {
        ui.scroll_to_rect(verdict.expand(size::GAP), None);
    }
    evidence_ui(ui, cell, exercise, frame);
    for hint in exercise.hints.iter().take(attempts.hints) {
        card_ui(ui, |ui| frame.prose_ui(ui, cell, hint));
    }
    if attempts.is_revealed {
        card_ui(ui, |ui| {
            let solution = format!("One solution:\n\n```rhai\n{}\n```", exercise.solution);
            prose_ui(ui, &solution.into(), frame.prose);
        });
    }
}

/// Shows the buttons for check, hint, solution and reset.
fn exercise_buttons_ui(ui: &mut Ui, cell: &CellModel, exercise: &Exercise, frame: &mut NotebookFrame) {
    let attempts = cell.cell.attempts();
    let try_it = NotebookAction::Run.row().hint_with("Try this answer");
    if exercise.start.is_some() && button(ui, true, "Check", &try_it, cell) {
        frame.ask(cell.id(), CellCommand::Run);
        frame.select(cell.id());
        frame.state.below = Some(Below::verdict(cell.id(), "Show the verdict"));
        write_on(frame, cell.id());
    }
    let left = exercise.hints.len() - attempts.hints.min(exercise.hints.len());
    if !exercise.hints.is_empty() {
        let words = if left > 0 {
            NotebookAction::Hint.row().hint_with(&format!("{left} left; each hint says more"))
        } else {
            "No more hints".to_owned()
        };
        if button(ui, left > 0, "Hint", &words, cell) {
            frame.ask(cell.id(), CellCommand::Hint);
            frame.select(cell.id());
            frame.state.below = Some(Below::end(cell.id(), "Show the hint"));
            write_on(frame, cell.id());
        }
    }
    let solution = NotebookAction::Solution.row();
    if button(ui, !attempts.is_revealed, solution.text, &solution.hint(), cell) {
        frame.ask(cell.id(), CellCommand::Reveal);
        frame.select(cell.id());
        frame.state.below = Some(Below::end(cell.id(), "Show the solution"));
    }
    if exercise.start.is_some() && button(ui, cell.cell.is_edited(), "Reset", "Goes back to the starting code", cell) {
        frame.ask(cell.id(), CellCommand::Reset);
        frame.state.drafts.forget(cell.id());
    }
}

/// Shows the verdict in a line below the buttons, and the lesson's feedback on this answer.
fn verdict_ui(ui: &mut Ui, cell: &CellModel, exercise: &Exercise, frame: &mut NotebookFrame) {
    let palette = Palette::on(ui);
    let Some(run) = &cell.shown.run else { return };
    if let Some(fault) = &run.fault {
        fault_ui(ui, fault);
    }
    let Some(Verdict::Exercise { is_right, failed_case, feedback, .. }) =
        run.verdict.as_ref().filter(|_| cell.is_judged)
    else {
        return;
    };
    // The check runs again when the model changes, until the answer is right, except for an answer of an earlier
    // session or one that writes to the model.
    let is_now = cell.shown.status != CellStatus::Stale;
    let differs = failed_case.map_or(String::new(), |failed| differing(&cell.compared, failed, exercise.cases.len()));
    let words = match (is_right, is_now) {
        (true, true) => "✓  Right.".to_owned(),
        (true, false) => "✓  It was right.".to_owned(),
        (false, true) => format!("✗  Not yet.{differs}"),
        (false, false) => format!("✗  It was not right yet.{differs}"),
    };
    let color = if *is_right { palette.accent } else { palette.warn };
    ui.label(RichText::new(words).size(size::READING).color(color));
    if let Some(feedback) = feedback {
        frame.prose_ui(ui, cell, &feedback.clone().into());
    }
}

/// Returns a sentence about the cases that differ; empty if there is only one case.
fn differing(compared: &[ComparedModel], failed: usize, cases: usize) -> String {
    let wrong = compared.iter().enumerate().filter(|(_, case)| !case.is_right);
    let wrong: Vec<String> = wrong.map(|(place, _)| (place + 1).to_string()).collect();
    match (wrong.len(), cases) {
        (_, 0 | 1) => String::new(),
        // If not all cases are compared, only the first wrong one is certain.
        (count, _) if compared.len() < cases || count <= 1 => format!(" Case {} of {cases} differs.", failed + 1),
        (2, 2) => " Both cases differ.".to_owned(),
        (count, _) if count == cases => format!(" All {cases} cases differ."),
        _ => format!(" Of {cases} cases, these differ: {}.", wrong.join(", ")),
    }
}

/// Shows the evidence for the verdict: the answer's result beside the expected one, and other outputs of the check.
fn evidence_ui(ui: &mut Ui, cell: &CellModel, exercise: &Exercise, frame: &mut NotebookFrame) {
    let palette = Palette::on(ui);
    let Some(run) = &cell.shown.run else { return };
    let Some(Verdict::Exercise { failed_case, .. }) = &run.verdict else { return };
    // A right answer keeps its verdict when the model changes.
    let is_now = cell.shown.status != CellStatus::Stale && !cell.is_right();
    if !is_now && !cell.compared.is_empty() {
        ui.label(RichText::new("when your answer was checked").size(size::SMALL).color(palette.ink_faint));
    }
    ui.push_id("compared", |ui| compared_ui(ui, &cell.compared, *failed_case));
    if !cell.value.is_empty() {
        let when = if is_now { "value now" } else { "value when your answer was checked" };
        ui.label(RichText::new(when).size(size::SMALL).color(palette.ink_faint));
        ui.push_id("value", |ui| outputs_ui(ui, &cell.value));
    }
    // The check often contains the solution, so it is shown only afterwards.
    if cell.cell.is_done() || cell.cell.attempts().is_revealed {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new("check").size(size::SMALL).color(palette.ink_faint));
            ui.label(RichText::new(&exercise.check).monospace().color(palette.ink_soft))
                .on_hover_text("This must be true in every case. It belongs to the lesson and cannot be edited");
        });
    }
    if !cell.outputs.is_empty() {
        ui.push_id("shown", |ui| outputs_ui(ui, &cell.outputs));
        pictures_ui(ui, &cell.outputs, &mut frame.prose.images);
    }
}

pub fn gate_ui(ui: &mut Ui, cell: &CellModel, caption: &str, frame: &mut NotebookFrame) {
    let palette = Palette::on(ui);
    let is_closed =
        frame.model.closed_gate.and_then(|gate| frame.model.cells.get(gate)).is_some_and(|gate| gate.id() == cell.id());
    if !is_closed {
        ui.separator();
        return;
    }
    card_ui(ui, |ui| {
        let caption = if caption.is_empty() { "Finish the tasks above to continue." } else { caption };
        ui.label(RichText::new(caption).size(size::READING));
        ui.label(RichText::new("The rest of the lesson opens when these tasks are done.").color(palette.ink_soft));
        if button(ui, true, "Go on anyway", "Skips the tasks for now; you can do them later", cell) {
            frame.ask(cell.id(), CellCommand::Skip);
        }
    });
}

fn button(ui: &mut Ui, is_enabled: bool, words: &str, hint: &str, cell: &CellModel) -> bool {
    let response = ui.add_enabled(is_enabled, Button::new(words)).on_hover_text(hint).on_disabled_hover_text(hint);
    named(response, WidgetType::Button, format!("{words}: {}", cell.id())).clicked()
}

/// Shows content on a raised ground.
pub(super) fn card_ui(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    let card = Card::new().fill(Palette::on(ui).raised).corner_radius(size::RADIUS).inner_margin(size::PANEL_MARGIN);
    card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        content(ui);
    });
}

#[cfg(test)]
mod tests {
    use attune_core::kernel::notebook::snapshot::ComparedCase;
    use attune_engine::code::Output;

    use super::*;

    #[test]
    fn a_verdict_says_which_cases_differ() {
        let said = |right: &[bool]| {
            let case = |is_right: &bool| {
                let [yours, expected] = [Output::Number(1.0), Output::Number(1.0)];
                ComparedCase { yours, expected, is_right: *is_right }
            };
            let failed = right.iter().position(|is_right| !is_right).unwrap_or(0);
            differing(&ComparedModel::all(&right.iter().map(case).collect::<Vec<_>>()), failed, right.len())
        };
        assert_eq!(said(&[false]), "");
        assert_eq!(said(&[true, false]), " Case 2 of 2 differs.");
        assert_eq!(said(&[false, false]), " Both cases differ.");
        assert_eq!(said(&[true, false, false]), " Of 3 cases, these differ: 2, 3.");
    }
}
