//! The notebook: the learner's cells, one below the other.
//!
//! | file | job |
//! |---|---|
//! | `list` | which cells are in sight, and where |
//! | `cell` | the frame of a cell: its mark, its label, its menu |
//! | `text_cell`, `code_cell`, `slider_cell`, `stage_card`, `tasks` | one kind each |
//! | `toolbar` | run all, interrupt, outline, progress |
//! | `kinds` | the content, height and keys of each kind |
//! | `keys` | Jupyter's keys, while nothing is written |
//! | `writing` | the editor of a cell, with the notebook's keys |
//! | `frame` | what the panel remembers, and its work of one frame |
//! | `hold` | the place of what was clicked |
//! | `notes` | words over the lower edge: a deletion, letters that do nothing |
//! | `slide` | one slide of a talk |
//! | `drafts` | what is being written, until the kernel has it |

mod cell;
mod code_cell;
mod compared;
mod drafts;
mod frame;
mod hold;
mod keys;
mod kinds;
mod list;
mod notes;
mod outline;
pub mod outputs;
pub mod reference;
pub mod slide;
mod slider_cell;
mod stage_card;
mod tasks;
mod text_cell;
mod toolbar;
mod way_on;
mod writing;

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::document::CellId;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::saved_view::SavedView;
use egui::Ui;

use self::frame::Frame;
pub use self::frame::NotebookPanel;
use super::{Panel, PanelContext, PanelId, PanelName, Region};
use crate::app::actions::{Action, ReachedCell};
use crate::app::text::prose::Prose;
use crate::app::view::PanelView;

impl Panel for NotebookPanel {
    fn id(&self) -> PanelId {
        PanelId::of(PanelName::Notebook)
    }

    fn region(&self) -> Region {
        Region::Left
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        if cx.is_answered {
            self.settle();
        }
        let model = cx.models.get::<NotebookModel>()?;
        let shown = cx.view.highlight.shown_cell.clone();
        let (commands, actions) = notebook_ui(ui, &model, self, &mut cx.view, cx.prose);
        let run = commands.iter().find_map(used_cell);
        let shown = cx.view.highlight.shown_cell.clone().filter(|now| shown.as_ref() != Some(now));
        let used = run.or(shown.map(Into::into)).map(|cell| (cell, true));
        let reached = used.or(self.reached.take().map(|cell| (cell, false)));
        cx.requests.commands.extend(commands);
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
    let mut frame = Frame::new(model, state, view, prose);
    frame.greet_awaited();
    frame.keep_selected();
    frame.follow_verdict(ui);
    if ui.input(|input| input.pointer.any_pressed()) {
        frame.state.is_led_by_keys = false;
        // What is clicked keeps its place.
        frame.state.follow = None;
    }
    keys::keys(ui, &mut frame);
    toolbar::toolbar_ui(ui, &mut frame);
    list::list_ui(ui, &mut frame);
    toolbar::reference_window_ui(ui, &mut frame);
    notes::notes_ui(ui, &mut frame);
    let Frame { commands, actions, lowest, .. } = frame;
    state.reached = state.sight.reached(ui, lowest).or(state.reached.take());
    (commands, actions)
}

/// The cell that a command works with, rather than writes or moves.
fn used_cell(command: &Command) -> Option<CellId> {
    match command {
        Command::Notebook(NotebookCommand::Cell(
            cell,
            CellCommand::Run | CellCommand::Slide(_) | CellCommand::Reveal,
        )) => Some(cell.clone()),
        _ => None,
    }
}
