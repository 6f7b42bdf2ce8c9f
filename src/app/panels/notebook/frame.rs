//! State of the notebook panel, and its work of one frame, with Jupyter's keys in command mode: a cell is selected and nothing
//! is written.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::notebook::document::{Answer, CellId, OwnKind};
use attune_core::kernel::notebook::snapshot::{CellStatus, RunSnapshot};
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_ui::actions::{Action, NotebookAction, Pressed, drop_text, first_pressed, keys, pressed};
use attune_ui::text::prose::{LessonAround, Prose, live_prose_ui};
use attune_ui::ui_state::PanelView;
use attune_ui::widgets::popup::Showing;
use attune_view::view_model::notebook::{CellModel, NotebookModel};
use egui::Ui;

use super::cell::{is_of_kind, kind_keys};
use super::list::{Below, Held};
use super::toolbar::ReferenceUiState;
use super::writing::{Drafts, go_on};

#[derive(Default)]
pub struct NotebookPanel {
    pub(super) drafts: Drafts,
    /// The cell that keys act on, and where it stood when it was last there.
    pub(super) selected: Option<CellId>,
    pub(super) selected_at: usize,
    /// The learner came to it by keys, and not by a click: only then do letters change the notebook.
    pub(super) is_led_by_keys: bool,
    /// When a letter that changes the notebook was refused last.
    pub(super) refused: Option<Instant>,
    /// Predictions without an answer that the learner has gone past, so that what follows is shown.
    pub(super) skipped: BTreeSet<CellId>,
    /// The text whose Markdown is open.
    pub(super) open_text: Option<CellId>,
    /// Its editor gets the keyboard in the next frame.
    pub(super) focus: Option<CellId>,
    /// The place of its caret there.
    pub(super) caret: Option<CaretEdge>,
    /// A cell that is brought into sight in the next frame.
    pub(super) follow: Option<Follow>,
    /// A cell was inserted next to this one, and is to be selected, and perhaps written in, when it comes.
    pub(super) awaited: Option<Awaited>,
    /// When a cell was deleted last: for a moment, that is said.
    pub(super) deleted: Option<Showing>,
    /// The keyboard goes to the way on, below the last cell.
    pub(super) wants_next: bool,
    /// Height of the way on, as it was seen.
    pub(super) way_on_height: f32,
    /// The answer that a key has asked to check, until its verdict comes.
    pub(super) checked: Option<Checked>,
    /// The exercise whose verdict is brought into sight in the next frame.
    pub(super) judged: Option<CellId>,
    /// The cell that was clicked last keeps its place under the pointer.
    pub(super) held: Option<Held>,
    /// The part that a click has added to a cell, as long as it is below the lower edge.
    pub(super) below: Option<Below>,
    /// Heights that were seen, for what is out of sight.
    pub(super) heights: HashMap<CellId, f32>,
    /// The first of two presses, such as D D, and when it came.
    pub(super) first_press: Option<(NotebookAction, Instant)>,
    pub(super) sight: LowestCell,
    /// The cell that the learner has come to, until the window hears of it.
    pub(super) reached: Option<CellId>,
    pub(super) reference: ReferenceUiState,
    pub(super) is_reference_open: bool,
}

/// The lowest of the lesson's cells that is on the screen, or was scrolled past.
#[derive(Default)]
pub(super) struct LowestCell {
    cell: Option<CellId>,
    /// Since when, in seconds.
    since: f64,
    is_told: bool,
}

/// Text that a learner rests on has been reached; what flies past has not.
const REST: f64 = 0.5;

impl LowestCell {
    /// The cell that the learner has come to: once, when it has been in sight for a moment.
    pub fn reached(&mut self, ui: &Ui, cell: Option<CellId>) -> Option<CellId> {
        let now = ui.input(|input| input.time);
        if self.cell != cell {
            *self = Self { cell, since: now, is_told: false };
        }
        if self.is_told || self.cell.is_none() {
            return None;
        }
        let rested = now - self.since;
        if rested < REST {
            ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(REST - rested));
            return None;
        }
        self.is_told = true;
        self.cell.clone()
    }
}

/// The place at which a caret enters a cell from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaretEdge {
    Start,
    LastLine,
}

impl CaretEdge {
    /// Place of the caret, as a byte of the text.
    pub fn caret(self, text: &str) -> usize {
        match self {
            Self::Start => 0,
            Self::LastLine => text.rfind('\n').map_or(0, |end| end + 1),
        }
    }
}

pub(super) struct Awaited {
    pub(super) next_to: CellId,
    pub(super) is_above: bool,
    pub(super) to_write: bool,
    /// The text that it begins with.
    pub(super) text: Option<&'static str>,
}

impl NotebookPanel {
    pub fn selected_cell(&self) -> Option<&str> {
        self.selected.as_deref()
    }

    /// Selects a cell and brings it into sight.
    pub fn select(&mut self, id: &str) {
        let id: CellId = id.into();
        self.selected = Some(id.clone());
        self.follow = Some(Follow::of(&id));
    }

    /// The kernel has answered all that was asked of it.
    pub fn settle(&mut self) {
        self.drafts.settle();
    }
}

/// The panel's work of one frame.
pub(super) struct NotebookFrame<'a, 'v> {
    pub model: &'a NotebookModel,
    pub state: &'a mut NotebookPanel,
    pub view: &'a mut PanelView<'v>,
    pub prose: &'a mut Prose,
    pub commands: Vec<Command>,
    /// Requests for the window.
    pub actions: Vec<Action>,
    /// The lowest of the lesson's cells in sight.
    pub lowest: Option<CellId>,
    /// Places in the cell that is drawn.
    pub places: CellHeights,
    /// The model's answer to a prediction is told without one of the learner's.
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
    pub fn ask(&mut self, id: &CellId, command: CellCommand) {
        self.commands.push(Command::Notebook(NotebookCommand::Cell(id.clone(), command)));
    }

    /// Shows a text of a cell; its expressions, links and words act.
    pub fn prose_ui(&mut self, ui: &mut Ui, cell: &CellModel, markdown: &str) {
        let around = LessonAround {
            live: cell.live.as_ref(),
            words: &self.model.words,
            hover: Some(&mut *self.view.hover),
            trail: Some(&mut *self.view.trail),
        };
        live_prose_ui(ui, markdown, around, self.prose);
    }

    /// Deletes a cell, and says so.
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

    /// Brings a cell into sight, from its beginning.
    pub fn reveal(&mut self, id: &CellId) {
        self.state.follow = Some(Follow::of(id));
    }

    /// Brings the beginning of a cell to the upper edge.
    pub fn reveal_at_top(&mut self, id: &CellId) {
        self.state.follow = Some(Follow { is_at_top: true, ..Follow::of(id) });
    }

    /// Keeps the end of a cell in sight, where its answer comes.
    pub fn reveal_end(&mut self, id: &CellId) {
        self.state.follow = Some(Follow { is_end: true, ..Follow::of(id) });
    }

    /// Brings the answer of a cell that was run into sight: of an exercise the verdict, when it comes.
    pub fn reveal_answer(&mut self, cell: &CellModel) {
        if cell.is_exercise() {
            self.await_verdict(cell, false);
        } else {
            self.reveal_end(cell.id());
        }
    }

    /// Locks an answer. The model is asked about the sentence of the last Stage cell above, so that comes on the stage first.
    pub fn lock(&mut self, cell: &CellModel) {
        let sentence = self.model.sentence_above(cell.id());
        if cell.shown.reads_model && !cell.cell.is_own && self.model.selected != Some(sentence) {
            self.commands.push(Command::Sentence(SentenceCommand::Select(sentence)));
        }
        self.ask(cell.id(), CellCommand::Reveal);
    }

    /// Waits for the verdict on an answer, to show it; or, where it `goes_on`, to go on as soon as the answer is right.
    pub fn await_verdict(&mut self, cell: &CellModel, goes_on: bool) {
        let before = cell.shown.run.clone();
        self.state.checked = Some(Checked { cell: cell.id().clone(), before, goes_on });
    }

    /// Leads on from an answer that was checked and is right; of any other, the verdict is brought into sight.
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
            go_on(self, index);
        } else if cell.is_exercise() {
            self.state.judged = Some(checked.cell);
        } else {
            self.reveal_end(&checked.cell);
        }
    }

    /// Inserts a cell, selects it when it is there, and perhaps begins to write in it.
    pub fn insert(&mut self, id: &CellId, kind: OwnKind, is_above: bool, to_write: bool) {
        self.ask(id, CellCommand::Insert { kind, is_above });
        self.state.awaited = Some(Awaited { next_to: id.clone(), is_above, to_write, text: None });
    }

    pub fn select(&mut self, id: &CellId) {
        if self.state.selected.as_ref() != Some(id) {
            self.state.selected = Some(id.clone());
        }
    }

    /// Inserts code below the selected cell, or at the end of what is open.
    pub fn insert_example(&mut self, text: &'static str) {
        let last = self.model.open_cells().last().map(|cell| cell.id().clone());
        let Some(id) = self.state.selected.clone().or(last) else { return };
        self.insert(&id, OwnKind::Code, false, false);
        if let Some(awaited) = &mut self.state.awaited {
            awaited.text = Some(text);
        }
    }

    /// Selects the cell the given number of places further down.
    pub fn step(&mut self, by: isize) {
        let model = self.model;
        let cells = model.open_cells();
        let at = self.state.selected.as_ref().and_then(|id| cells.iter().position(|cell| cell.id() == id));
        // The first step leads to the first cell.
        let to = at.map_or_else(|| 0_usize.saturating_add_signed(by - 1), |at| at.saturating_add_signed(by));
        let to = to.min(cells.len().saturating_sub(1));
        self.state.wants_next = at == Some(to) && by > 0 && self.model.closed_gate.is_none();
        if let Some(cell) = cells.get(to) {
            self.state.selected = Some(cell.id().clone());
            self.reveal(cell.id());
        }
    }

    /// Begins to write in a cell.
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

    /// Selects the cell that stands where the selected one stood, if that is gone.
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
        // Not seen before: it has no height yet.
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
}

/// An answer that was checked.
pub(super) struct Checked {
    cell: CellId,
    /// The result of the cell before that.
    before: Option<Arc<RunSnapshot>>,
    /// The next cell is selected if the answer is right.
    goes_on: bool,
}

impl Checked {
    fn is_answered(&self, cell: &CellModel) -> bool {
        let (now, before) = (cell.shown.run.as_ref(), self.before.as_ref());
        let is_new = match cell.cell.answer {
            Answer::Predict { is_locked, .. } => is_locked && now.is_some(),
            _ => now.map(Arc::as_ptr) != before.map(Arc::as_ptr),
        };
        is_new && cell.shown.status != CellStatus::Waiting
    }
}

/// Heights on the screen of parts of the cell that is drawn.
#[derive(Default)]
pub(super) struct CellHeights {
    /// The upper edge of its buttons or choices: what is above them may grow when they are clicked.
    pub controls: Option<f32>,
    /// The upper edge of what its last run showed, or of the verdict on its answer.
    pub result: Option<f32>,
}

/// A cell that is kept in sight while it, or what stands above it, grows.
pub struct Follow {
    pub id: CellId,
    /// The cell above, whose result stays in sight too as far as there is room for both.
    pub after: Option<CellId>,
    /// Keeps the end of a cell that is too high in sight, and not its beginning.
    pub is_end: bool,
    /// Brings it to the upper edge, also where it is in sight already.
    pub is_at_top: bool,
    /// Frames left to follow.
    pub frames: usize,
}

impl Follow {
    fn of(id: &CellId) -> Self {
        Self { id: id.clone(), after: None, is_end: false, is_at_top: false, frames: FOLLOWED }
    }
}

/// Long enough for the answer of a cell that runs for a moment.
pub const FOLLOWED: usize = 40;

/// The longest time between two presses that belong together.
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
    // One of them: what follows may be meant for another cell, or for the text of this one.
    let is_on = |action| !is_first(action) && !is_of_kind(action) && !matches!(action, Leave | Split);
    match first_pressed(ctx, is_on) {
        Some(action) if is_refused(frame, action) => {}
        // The lesson is read on.
        Some(NotebookAction::Write) if is_lessons_text(frame, index) => frame.step(1),
        Some(action) => perform(action, frame, &id, index),
        None => {}
    }
}

/// Keys that come before those of the selected cell.
fn is_first(action: NotebookAction) -> bool {
    use NotebookAction::{Delete, Functions, Interrupt, Restart, SelectAbove, SelectBelow};
    matches!(action, SelectAbove | SelectBelow | Functions | Delete | Interrupt | Restart)
}

/// Performs the keys of the whole notebook. True if the selected cell is to be deleted.
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

/// A text of the lesson that is read, and not being written.
fn is_lessons_text(frame: &NotebookFrame, index: usize) -> bool {
    let cell = &frame.model.cells[index].cell;
    cell.is_text() && !cell.is_own
}

/// Whether a letter would change the notebook though the learner did not come to the selected cell by keys: then it was
/// perhaps meant for a field, and it is said how to write.
fn is_refused(frame: &mut NotebookFrame, action: NotebookAction) -> bool {
    let is_refused = action.is_of_command_mode() && !frame.state.is_led_by_keys;
    if is_refused {
        frame.state.refused = Some(Instant::now());
    }
    is_refused
}

/// Deletes a cell and selects the one that comes in its place.
fn delete(frame: &mut NotebookFrame, id: &CellId, index: usize) {
    let next = frame.model.cells.get(index + 1).or_else(|| frame.model.cells.get(index.checked_sub(1)?));
    let next = next.map(|cell| cell.id().clone());
    frame.delete(id);
    frame.state.selected = next;
}

/// Does to a cell what its menu or a key asks for.
pub fn perform(action: NotebookAction, frame: &mut NotebookFrame, id: &CellId, index: usize) {
    let cell = &frame.model.cells[index].cell;
    let runs = !cell.is_text();
    let run = |frame: &mut NotebookFrame| {
        if runs {
            frame.ask(id, CellCommand::Run);
        }
    };
    match action {
        NotebookAction::Write | NotebookAction::EditText => frame.write(id),
        NotebookAction::RunAndGoOn => {
            run(frame);
            match &frame.model.cells[index] {
                cell if cell.is_exercise() => frame.await_verdict(cell, true),
                _ => go_on(frame, index),
            }
        }
        NotebookAction::Run => {
            run(frame);
            if runs {
                frame.reveal_answer(&frame.model.cells[index]);
            }
        }
        NotebookAction::RunAndInsert => {
            run(frame);
            frame.insert(id, OwnKind::Code, false, true);
        }
        NotebookAction::InsertAbove => frame.insert(id, OwnKind::Code, true, false),
        NotebookAction::InsertBelow => frame.insert(id, OwnKind::Code, false, false),
        NotebookAction::Delete => frame.delete(id),
        NotebookAction::UndoDelete => frame.commands.push(Command::Undo),
        NotebookAction::MakeText => frame.ask(id, CellCommand::SetKind(OwnKind::Text)),
        NotebookAction::MakeCode => frame.ask(id, CellCommand::SetKind(OwnKind::Code)),
        NotebookAction::MoveUp | NotebookAction::MoveDown => {
            frame.ask(id, CellCommand::Shift(if action == NotebookAction::MoveUp { -1 } else { 1 }));
            frame.reveal(id);
        }
        NotebookAction::Merge => {
            frame.ask(id, CellCommand::MergeBelow);
            frame.state.drafts.forget(id);
        }
        NotebookAction::Fold => frame.ask(id, CellCommand::Fold(!cell.is_folded)),
        NotebookAction::Hint | NotebookAction::Solution => {
            let command = if action == NotebookAction::Hint { CellCommand::Hint } else { CellCommand::Reveal };
            frame.ask(id, command);
            frame.reveal_end(id);
        }
        NotebookAction::RunAbove => frame.ask(id, CellCommand::RunAbove),
        NotebookAction::ClearOutputs => frame.ask(id, CellCommand::ClearOutputs),
        NotebookAction::AutoRun => frame.ask(id, CellCommand::SetAutoRun(!cell.auto_run)),
        NotebookAction::Reset => {
            frame.ask(id, CellCommand::Reset);
            frame.state.drafts.forget(id);
        }
        // Of the whole notebook, of a cell that is written, or of one of a certain kind.
        NotebookAction::SelectAbove
        | NotebookAction::SelectBelow
        | NotebookAction::Interrupt
        | NotebookAction::Restart
        | NotebookAction::Functions
        | NotebookAction::Leave
        | NotebookAction::Split
        | NotebookAction::Answer
        | NotebookAction::Turn
        | NotebookAction::TurnFinely => {}
    }
}

/// The same key was pressed a moment ago, or twice in this frame.
fn is_second(frame: &mut NotebookFrame, action: NotebookAction, count: usize) -> bool {
    // Not the frame's time: after a rest the first frame has that of the last one.
    let now = Instant::now();
    let before = frame.state.first_press.take();
    let is_second = count > 1 || before.is_some_and(|(first, at)| first == action && now - at < TWICE);
    if !is_second {
        frame.state.first_press = Some((action, now));
    }
    is_second
}
