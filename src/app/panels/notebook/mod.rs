//! The notebook: the learner's cells, one below the other.
//!
//! | file | job |
//! |---|---|
//! | `list` | the visible cells and their places; the place of a clicked cell; notes over the lower edge; the way to the next lesson |
//! | `cell` | the frame of a cell (its mark, label and menu), and the content and height of each kind |
//! | `tasks` | predictions, exercises and gates |
//! | `outputs` | the outputs of a run, and an answer beside the expected result |
//! | `recall` | the questions from earlier lessons, above the first cell |
//! | [`toolbar`] | run all, interrupt, outline, progress; the reference of the language |
//! | `writing` | the editor of a cell with the notebook's keys |
//! | `keys` | Jupyter's keys while no editor is open, and those of some kinds of cells |
//! | `frame` | one frame of the panel: selecting, revealing, inserting and running cells |
//! | `state` | the state of the panel between frames |

mod cell;
mod frame;
mod keys;
mod list;
pub mod outputs;
mod recall;
mod state;
mod tasks;
pub mod toolbar;
mod writing;

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::document::CellId;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_ui::actions::{Action, ReachedCell};
use attune_ui::text::prose::Prose;
use attune_ui::ui_state::PanelView;
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::saved_view::SavedView;
use attune_view::view_model::slides::{Slide, SlideContent};
use egui::Ui;

use self::cell::body_ui;
use self::frame::NotebookFrame;
pub use self::state::{NotebookPanel, ReferenceUiState};
use super::panel::{Panel, PanelContext};

impl Panel for NotebookPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        if cx.is_answered {
            self.settle();
        }
        let model = cx.models.get::<NotebookModel>()?;
        self.recall.model.clone_from(&cx.models.recall);
        let shown = cx.view.highlight.shown_cell.clone();
        let (commands, actions) = notebook_ui(ui, &model, self, &mut cx.view, cx.prose);
        let run = commands.iter().find_map(used_cell);
        let shown = cx.view.highlight.shown_cell.clone().filter(|now| shown.as_ref() != Some(now));
        let used = run.or(shown.map(Into::into)).map(|cell| (cell, true));
        let reached = used.or(self.reached.take().map(|cell| (cell, false)));
        cx.requests.commands.extend(commands);
        cx.requests.recall.append(&mut self.recall.commands);
        cx.requests.actions.extend(actions);
        cx.requests.actions.extend(reached.map(|(cell, is_used)| {
            let unanswered = model.unanswered().filter(|id| !(is_used && **id == cell)).cloned().collect();
            Action::Reach(ReachedCell { cell, is_used, unanswered })
        }));
        Some(())
    }

    fn save(&self, saved: &mut SavedView) {
        saved.selected = self.selected_cell().map(str::to_owned);
    }

    fn restore(&mut self, saved: &SavedView) {
        if let Some(selected) = &saved.selected {
            self.select(selected);
        }
    }
}

pub fn notebook_ui(
    ui: &mut Ui,
    model: &NotebookModel,
    state: &mut NotebookPanel,
    view: &mut PanelView,
    prose: &mut Prose,
) -> (Vec<Command>, Vec<Action>) {
    if let Some(cell) = view.asked.cell.take() {
        state.select(&cell);
    }
    let mut frame = NotebookFrame::new(model, state, view, prose);
    frame.show_sentence_of_asked();
    frame.select_new_cell();
    frame.keep_selected();
    frame.follow_verdict(ui);
    if ui.input(|input| input.pointer.any_pressed()) {
        frame.state.is_led_by_keys = false;
        // The list stops scrolling to a cell, so that a clicked one keeps its place.
        frame.state.follow = None;
    }
    keys::keys(ui, &mut frame);
    toolbar::toolbar_ui(ui, &mut frame);
    list::list_ui(ui, &mut frame);
    toolbar::reference_window_ui(ui, &mut frame);
    list::notes_ui(ui, &mut frame);
    let NotebookFrame { commands, actions, lowest, .. } = frame;
    state.reached = state.sight.reached(ui, lowest).or(state.reached.take());
    (commands, actions)
}

/// Returns the cell that a command runs or whose controls it uses; `None` for other commands, such as edits and moves.
fn used_cell(command: &Command) -> Option<CellId> {
    match command {
        Command::Notebook(NotebookCommand::Cell(
            cell,
            CellCommand::Run | CellCommand::Slide(_) | CellCommand::Reveal,
        )) => Some(cell.clone()),
        _ => None,
    }
}

/// Draws a slide as the notebook draws its cell; the stops of a walk are drawn by the stage. Returns the requested
/// commands.
pub fn slide_ui(
    ui: &mut Ui,
    slide: &Slide,
    model: &NotebookModel,
    state: &mut NotebookPanel,
    view: &mut PanelView,
    prose: &mut Prose,
) -> Vec<Command> {
    let Some(index) = model.index(&slide.cell) else { return Vec::new() };
    let cell = &model.cells[index];
    let mut frame = NotebookFrame::new(model, state, view, prose);
    frame.tells_answers = true;
    match &slide.shows {
        SlideContent::Text(markdown) => frame.prose_ui(ui, cell, markdown),
        SlideContent::Cell
        | SlideContent::Ran
        | SlideContent::Answered
        | SlideContent::Hints(_)
        | SlideContent::Solution => body_ui(ui, cell, index, &mut frame),
        SlideContent::Walk(_) => {}
    }
    frame.commands
}
