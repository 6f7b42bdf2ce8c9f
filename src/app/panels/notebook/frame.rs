//! One frame of the notebook panel: the data that it draws, and the requests that it makes. Menu, keys and editor share
//! the functions here, which select, reveal, insert and run cells.

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::notebook::document::{CellId, OwnKind};
use attune_core::kernel::notebook::live_text::sentence_above;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::lesson::live_text::LessonText;
use attune_ui::actions::{Action, NotebookAction, keys};
use attune_ui::text::prose::{LessonAround, Prose, live_prose_ui};
use attune_ui::ui_state::PanelView;
use attune_ui::widgets::popup::Showing;
use attune_view::view_model::notebook::{CellModel, NotebookModel};
use egui::Ui;

use super::state::{Awaited, CellHeights, Checked, Follow, NotebookPanel};

/// The model, the state and the requests of the notebook panel in one frame.
pub struct NotebookFrame<'a, 'v> {
    pub model: &'a NotebookModel,
    pub state: &'a mut NotebookPanel,
    pub view: &'a mut PanelView<'v>,
    pub prose: &'a mut Prose,
    pub commands: Vec<Command>,
    /// Requests for the window.
    pub actions: Vec<Action>,
    /// The last of the lesson's cells whose top is visible or was scrolled past; `None` if there is none.
    pub lowest: Option<CellId>,
    /// Positions of the parts of the cell that is being drawn.
    pub places: CellHeights,
    /// Whether the model's answer to a prediction is shown even if the learner has not answered.
    pub tells_answers: bool,
}

impl<'a, 'v> NotebookFrame<'a, 'v> {
    pub fn new(
        model: &'a NotebookModel,
        state: &'a mut NotebookPanel,
        view: &'a mut PanelView<'v>,
        prose: &'a mut Prose,
    ) -> Self {
        let (commands, actions) = (Vec::new(), Vec::new());
        let (lowest, places) = (None, CellHeights::default());
        Self { model, state, view, prose, commands, actions, lowest, places, tells_answers: false }
    }
}

impl NotebookFrame<'_, '_> {
    /// Puts the sentence of a cell on the stage if a link from another lesson led to this cell, once there is a model.
    pub fn show_sentence_of_asked(&mut self) {
        let is_ready = !self.model.live.is_empty();
        let Some(shown) = self.model.selected.filter(|_| is_ready) else { return };
        let Some(cell) = self.view.asked.sentence_of.take() else { return };
        let sentence = sentence_above(self.model.cells.iter().map(|cell| &cell.cell), &cell);
        if shown != sentence {
            self.commands.push(Command::Sentence(SentenceCommand::Select(sentence)));
        }
    }

    pub fn ask(&mut self, id: &CellId, command: CellCommand) {
        self.commands.push(Command::Notebook(NotebookCommand::Cell(id.clone(), command)));
    }

    /// Shows a text of a cell, with its expressions, links and words.
    pub fn prose_ui(&mut self, ui: &mut Ui, cell: &CellModel, text: &LessonText) {
        let around = LessonAround {
            live: cell.live.as_ref(),
            words: &self.model.words,
            hover: Some(&mut *self.view.hover),
            trail: Some(&mut *self.view.trail),
        };
        live_prose_ui(ui, text, around, self.prose);
    }

    /// Deletes a cell and shows a note about it.
    pub fn delete(&mut self, id: &CellId) {
        self.ask(id, CellCommand::Delete);
        self.state.deleted = Some(Showing::begin());
    }

    pub fn toggle_reference(&mut self, ui: &Ui) {
        self.state.is_reference_open = !self.state.is_reference_open;
        if self.state.is_reference_open {
            keys::ask(ui.ctx(), keys::function_search());
        }
    }

    /// Scrolls to the beginning of a cell.
    pub fn reveal(&mut self, id: &CellId) {
        self.state.follow = Some(Follow::of(id));
    }

    /// Scrolls the beginning of a cell to the upper edge.
    pub fn reveal_at_top(&mut self, id: &CellId) {
        self.state.follow = Some(Follow { is_at_top: true, ..Follow::of(id) });
    }

    /// Keeps the end of a cell visible, where its answer will appear.
    pub fn reveal_end(&mut self, id: &CellId) {
        self.state.follow = Some(Follow { is_end: true, ..Follow::of(id) });
    }

    /// Scrolls to the answer of a cell that was run; for an exercise, to the verdict once there is one.
    pub fn reveal_answer(&mut self, cell: &CellModel) {
        if cell.is_exercise() {
            self.await_verdict(cell, false);
        } else {
            self.reveal_end(cell.id());
        }
    }

    /// Locks an answer. The model is asked about the sentence of the last Stage cell above, so that sentence is put on
    /// the stage first.
    pub fn lock(&mut self, cell: &CellModel) {
        let sentence = self.model.sentence_above(cell.id());
        if cell.shown.reads_model && !cell.cell.is_own && self.model.selected != Some(sentence) {
            self.commands.push(Command::Sentence(SentenceCommand::Select(sentence)));
        }
        self.ask(cell.id(), CellCommand::Reveal);
    }

    /// Waits for the verdict on an answer and then scrolls to it, or, with `goes_on`, selects the next cell if the
    /// answer is right.
    pub fn await_verdict(&mut self, cell: &CellModel, goes_on: bool) {
        let before = cell.shown.run.clone();
        self.state.checked = Some(Checked { cell: cell.id().clone(), before, goes_on });
    }

    /// Handles the verdict on an answer that was checked: selects the next cell if that was requested and the answer is
    /// right, and otherwise scrolls to the verdict.
    pub fn follow_verdict(&mut self, ui: &Ui) {
        let model = self.model;
        let Some(checked) = self.state.checked.take() else { return };
        let is_selected = self.state.selected.as_ref() == Some(&checked.cell);
        let Some(index) = model.index(&checked.cell).filter(|_| is_selected) else { return };
        let cell = &model.cells[index];
        if !checked.is_answered(cell) {
            self.state.checked = Some(checked);
        } else if checked.goes_on && cell.is_right() {
            ui.memory_mut(|memory| memory.stop_text_input());
            self.state.drafts.leave(&checked.cell);
            self.go_on(index);
        } else if cell.is_exercise() {
            self.state.judged = Some(checked.cell);
        } else {
            self.reveal_end(&checked.cell);
        }
    }

    /// Inserts a cell, which is selected once it exists; with `to_write`, its editor is opened too.
    pub fn insert(&mut self, id: &CellId, kind: OwnKind, is_above: bool, to_write: bool) {
        self.ask(id, CellCommand::Insert { kind, is_above });
        self.state.awaited = Some(Awaited { next_to: id.clone(), is_above, to_write, text: None });
    }

    pub fn select(&mut self, id: &CellId) {
        if self.state.selected.as_ref() != Some(id) {
            self.state.selected = Some(id.clone());
        }
    }

    /// Inserts code below the selected cell, or after the last open cell.
    pub fn insert_example(&mut self, text: &'static str) {
        let last = self.model.open_cells().last().map(|cell| cell.id().clone());
        let Some(id) = self.state.selected.clone().or(last) else { return };
        self.insert(&id, OwnKind::Code, false, false);
        if let Some(awaited) = &mut self.state.awaited {
            awaited.text = Some(text);
        }
    }

    /// Selects the cell `by` places further down. A step beyond the last cell gives the keyboard to the button of the
    /// next lesson.
    pub fn step(&mut self, by: isize) {
        let model = self.model;
        let cells = model.open_cells();
        let at = self.state.selected.as_ref().and_then(|id| cells.iter().position(|cell| cell.id() == id));
        // Without a selection, the first step leads to the first cell.
        let to = at.map_or_else(|| 0_usize.saturating_add_signed(by - 1), |at| at.saturating_add_signed(by));
        let to = to.min(cells.len().saturating_sub(1));
        self.state.wants_next = at == Some(to) && by > 0 && self.model.closed_gate.is_none();
        if let Some(cell) = cells.get(to) {
            self.state.selected = Some(cell.id().clone());
            self.reveal(cell.id());
        }
    }

    /// Opens the editor of a cell, if it has one, and selects the cell.
    pub fn write(&mut self, id: &CellId) {
        let Some(index) = self.model.index(id) else { return };
        let cell = &self.model.cells[index].cell;
        if cell.is_text() {
            self.state.open_text = Some(id.clone());
        }
        if cell.is_written() {
            self.state.focus = Some(id.clone());
            self.reveal(id);
        }
        self.select(id);
    }

    /// Selects the cell at the last index of the selected cell if this cell no longer exists.
    pub fn keep_selected(&mut self) {
        let Some(id) = &self.state.selected else { return };
        if let Some(index) = self.model.index(id) {
            self.state.selected_at = index;
        } else if !self.model.cells.is_empty() {
            let at = self.state.selected_at.min(self.model.cells.len() - 1);
            self.state.selected = Some(self.model.cells[at].id().clone());
        }
    }

    pub fn select_new_cell(&mut self) {
        let Some(awaited) = &self.state.awaited else { return };
        let Some(index) = self.model.index(&awaited.next_to) else { return };
        let place = if awaited.is_above { index.checked_sub(1) } else { Some(index + 1) };
        let Some(cell) = place.and_then(|place| self.model.cells.get(place)) else { return };
        // Only a cell that was never drawn has no height, so this one is new.
        if cell.cell.is_own && !self.state.heights.contains_key(cell.id()) {
            let (id, to_write, text) = (cell.id().clone(), awaited.to_write, awaited.text);
            self.state.awaited = None;
            self.reveal(&id);
            if let Some(text) = text {
                self.ask(&id, CellCommand::SetText(text.into()));
            }
            if to_write {
                self.write(&id);
            } else {
                self.select(&id);
            }
        }
    }

    /// Performs an action of a cell's menu or keys.
    pub fn perform(&mut self, action: NotebookAction, id: &CellId, index: usize) {
        use NotebookAction::{
            Answer, AutoRun, ClearOutputs, Delete, EditText, Fold, Functions, Hint, InsertAbove, InsertBelow,
            Interrupt, Leave, MakeCode, MakeText, Merge, MoveDown, MoveUp, Reset, Restart, Run, RunAbove, RunAndGoOn,
            RunAndInsert, SelectAbove, SelectBelow, Solution, Split, Turn, TurnFinely, UndoDelete, Write,
        };
        let cell = &self.model.cells[index].cell;
        match action {
            Write | EditText => self.write(id),
            Run | RunAndGoOn | RunAndInsert => self.run(action, id, index),
            InsertAbove => self.insert(id, OwnKind::Code, true, false),
            InsertBelow => self.insert(id, OwnKind::Code, false, false),
            Delete => self.delete(id),
            UndoDelete => self.commands.push(Command::Undo),
            MakeText => self.ask(id, CellCommand::SetKind(OwnKind::Text)),
            MakeCode => self.ask(id, CellCommand::SetKind(OwnKind::Code)),
            MoveUp => self.shift(id, -1),
            MoveDown => self.shift(id, 1),
            Merge => self.replace_text(id, CellCommand::MergeBelow),
            Reset => self.replace_text(id, CellCommand::Reset),
            Fold => self.ask(id, CellCommand::Fold(!cell.is_folded)),
            Hint => self.ask_for_help(id, CellCommand::Hint),
            Solution => self.ask_for_help(id, CellCommand::Reveal),
            RunAbove => self.ask(id, CellCommand::RunAbove),
            ClearOutputs => self.ask(id, CellCommand::ClearOutputs),
            AutoRun => self.ask(id, CellCommand::SetAutoRun(!cell.auto_run)),
            // These actions are for the whole notebook, for the editor, or for one kind of cell.
            SelectAbove | SelectBelow | Interrupt | Restart | Functions | Leave | Split | Answer | Turn
            | TurnFinely => {}
        }
    }

    /// Runs a cell unless it is a text, and then selects or inserts a cell, or scrolls to the answer, depending on the
    /// action.
    fn run(&mut self, action: NotebookAction, id: &CellId, index: usize) {
        let cell = &self.model.cells[index];
        let runs = !cell.cell.is_text();
        if runs {
            self.ask(id, CellCommand::Run);
        }
        match action {
            NotebookAction::RunAndGoOn if cell.is_exercise() => self.await_verdict(cell, true),
            NotebookAction::RunAndGoOn => self.go_on(index),
            NotebookAction::RunAndInsert => self.insert(id, OwnKind::Code, false, true),
            _ if runs => self.reveal_answer(cell),
            _ => {}
        }
    }

    fn shift(&mut self, id: &CellId, by: isize) {
        self.ask(id, CellCommand::Shift(by));
        self.reveal(id);
    }

    /// Requests a change of a cell's text and drops the editor's draft, which does not include the change.
    fn replace_text(&mut self, id: &CellId, command: CellCommand) {
        self.ask(id, command);
        self.state.drafts.forget(id);
    }

    fn ask_for_help(&mut self, id: &CellId, command: CellCommand) {
        self.ask(id, command);
        self.reveal_end(id);
    }

    /// Selects the next cell and keeps the result of this one visible; after the last cell, inserts a new one.
    pub fn go_on(&mut self, index: usize) {
        if index + 1 < self.model.open_cells().len() || self.model.closed_gate.is_some() {
            self.step(1);
            if let Some(follow) = &mut self.state.follow {
                follow.after = Some(self.model.cells[index].id().clone());
            }
        } else if let Some(last) = self.model.cells.last() {
            let id = last.id().clone();
            self.insert(&id, OwnKind::Code, false, true);
        }
    }
}
