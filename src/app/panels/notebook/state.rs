//! The state of the notebook panel between frames: plain data that the other files read and write.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::document::{Answer, CellId};
use attune_core::kernel::notebook::snapshot::{CellStatus, RunSnapshot};
use attune_engine::code::budget::SOURCE_BYTES_MAX;
use attune_ui::actions::NotebookAction;
use attune_ui::text::editor::EditorState;
use attune_ui::theme::size;
use attune_ui::widgets::popup::Showing;
use attune_view::view_model::notebook::CellModel;
use attune_view::view_model::recall::RecallModel;
use egui::{Rect, Ui};

#[derive(Default)]
pub struct NotebookPanel {
    pub(super) drafts: Drafts,
    /// The selected cell, to which keys apply.
    pub(super) selected: Option<CellId>,
    /// The last index of the selected cell.
    pub(super) selected_at: usize,
    /// Whether the learner reached the selected cell by keys and not by a click; only then may letters change the
    /// notebook.
    pub(super) is_led_by_keys: bool,
    /// Time at which a letter that would change the notebook was refused.
    pub(super) refused: Option<Instant>,
    /// Predictions that the learner has skipped without an answer, so that the content below is shown.
    pub(super) skipped: BTreeSet<CellId>,
    /// The text cell whose Markdown is open in the editor.
    pub(super) open_text: Option<CellId>,
    /// The cell whose editor gets the keyboard in the next frame.
    pub(super) focus: Option<CellId>,
    /// The position of the caret in the editor that gets the keyboard; `None` to leave the caret where it was.
    pub(super) caret: Option<CaretEdge>,
    /// The cell to which the list scrolls in the next frames.
    pub(super) follow: Option<Follow>,
    /// A cell that was inserted, and that is selected or edited once it exists.
    pub(super) awaited: Option<Awaited>,
    /// The note about the last deletion, while it is shown.
    pub(super) deleted: Option<Showing>,
    /// Whether the button of the next lesson is to get the keyboard.
    pub(super) wants_next: bool,
    pub(super) recall: RecallUiState,
    /// Height of the part below the last cell, when it was last drawn.
    pub(super) way_on_height: f32,
    /// The answer whose verdict is awaited.
    pub(super) checked: Option<Checked>,
    /// The exercise to whose verdict the list scrolls in the next frame.
    pub(super) judged: Option<CellId>,
    /// The cell that was clicked last, which keeps its place under the pointer.
    pub(super) held: Option<Held>,
    /// Content that a click has added, while it is below the lower edge.
    pub(super) below: Option<Below>,
    /// Heights of cells when they were last drawn, for those outside the visible part.
    pub(super) heights: HashMap<CellId, f32>,
    /// The first press of a shortcut that needs two, such as D D, and its time.
    pub(super) first_press: Option<(NotebookAction, Instant)>,
    pub(super) sight: LowestCell,
    /// The cell that the learner has reached, until the window has taken it.
    pub(super) reached: Option<CellId>,
    pub(super) reference: ReferenceUiState,
    pub(super) is_reference_open: bool,
}

impl NotebookPanel {
    pub fn selected_cell(&self) -> Option<&str> {
        self.selected.as_deref()
    }

    /// Selects a cell and scrolls to it.
    pub fn select(&mut self, id: &str) {
        let id: CellId = id.into();
        self.selected = Some(id.clone());
        self.follow = Some(Follow::of(&id));
    }

    /// Notes that the kernel has answered all requests.
    pub fn settle(&mut self) {
        self.drafts.settle();
    }
}

/// The questions from earlier lessons, above the first cell.
#[derive(Default)]
pub struct RecallUiState {
    pub model: Option<Arc<RecallModel>>,
    /// The state of the questions' cells; `None` before they are drawn.
    pub panel: Option<Box<NotebookPanel>>,
    /// The commands for the kernel of the questions.
    pub commands: Vec<Command>,
    /// The height of the questions when they were last drawn.
    pub height: f32,
}

/// The lowest of the lesson's cells that is visible or was scrolled past.
#[derive(Default)]
pub struct LowestCell {
    cell: Option<CellId>,
    /// Time since which this cell has been the lowest, in seconds.
    since: f64,
    is_told: bool,
}

/// Time in seconds for which a cell must stay visible to count as reached; cells that are scrolled past do not count.
const REST: f64 = 0.5;

impl LowestCell {
    /// Returns the cell that the learner has reached, once, after it has been visible for a moment.
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
            ui.ctx().request_repaint_after(Duration::from_secs_f64(REST - rested));
            return None;
        }
        self.is_told = true;
        self.cell.clone()
    }
}

/// The position at which a caret enters a cell from a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaretEdge {
    Start,
    LastLine,
}

impl CaretEdge {
    /// Returns the position of the caret, in bytes from the start of the text.
    pub fn caret(self, text: &str) -> usize {
        match self {
            Self::Start => 0,
            Self::LastLine => text.rfind('\n').map_or(0, |end| end + 1),
        }
    }
}

pub struct Awaited {
    pub next_to: CellId,
    pub is_above: bool,
    pub to_write: bool,
    /// The text with which the new cell begins, if it is an example; `None` for an empty cell.
    pub text: Option<&'static str>,
}

/// An answer that is being checked.
pub struct Checked {
    pub cell: CellId,
    /// The result of the cell before the check.
    pub before: Option<Arc<RunSnapshot>>,
    /// Whether the next cell is selected if the answer is right.
    pub goes_on: bool,
}

impl Checked {
    pub fn is_answered(&self, cell: &CellModel) -> bool {
        let (now, before) = (cell.shown.run.as_ref(), self.before.as_ref());
        let is_new = match cell.cell.answer {
            Answer::Predict { is_locked, .. } => is_locked && now.is_some(),
            _ => now.map(Arc::as_ptr) != before.map(Arc::as_ptr),
        };
        is_new && cell.shown.status != CellStatus::Waiting
    }
}

/// Vertical positions of parts of the cell that is being drawn.
#[derive(Default)]
pub struct CellHeights {
    /// Upper edge of the cell's buttons or choices. A click on them may change the height of the content above.
    pub controls: Option<f32>,
    /// Upper edge of the last run's output, or of the verdict on the answer.
    pub result: Option<f32>,
}

/// A cell that is kept visible while it, or the content above it, grows.
pub struct Follow {
    pub id: CellId,
    /// The cell above, whose result stays visible too if there is room for both.
    pub after: Option<CellId>,
    /// Whether the end of a cell that is too tall is shown, instead of its beginning.
    pub is_end: bool,
    /// Whether the cell is scrolled to the upper edge even if it is visible already.
    pub is_at_top: bool,
    /// Number of frames for which the cell is still followed.
    pub frames: usize,
}

impl Follow {
    pub fn of(id: &CellId) -> Self {
        Self { id: id.clone(), after: None, is_end: false, is_at_top: false, frames: FOLLOWED }
    }
}

/// Number of frames for which a cell is followed, long enough for the answer of a short run.
pub const FOLLOWED: usize = 40;

/// A cell that was clicked.
pub struct Held {
    pub cell: CellId,
    /// Whether its buttons or choices were clicked, and not the content above them.
    pub is_controls: bool,
    /// Vertical position of the click, relative to the top of the list.
    pub at: f32,
    /// Number of frames for which the position is kept after the pointer is released and the cell has run.
    pub frames: usize,
}

/// Content that a click has added to a cell.
pub struct Below {
    pub cell: CellId,
    /// The label of the button that scrolls to the content.
    pub words: &'static str,
    /// Whether a verdict was added, and not content at the end of the cell.
    pub is_verdict: bool,
    /// Lower edge of the content on the screen.
    pub bottom: f32,
    pub frames: usize,
}

impl Below {
    pub fn end(cell: &CellId, words: &'static str) -> Self {
        Self { cell: cell.clone(), words, is_verdict: false, bottom: 0.0, frames: FOLLOWED }
    }

    pub fn verdict(cell: &CellId, words: &'static str) -> Self {
        Self { is_verdict: true, ..Self::end(cell, words) }
    }

    /// Measures the content while its cell is drawn.
    pub fn measure(&mut self, cell: &CellId, rect: Rect, places: &CellHeights) {
        if self.cell == *cell {
            let verdict = places.result.filter(|_| self.is_verdict);
            self.bottom = verdict.map_or(rect.bottom(), |top| top + size::CELL_MAX);
        }
    }
}

#[derive(Default)]
pub struct Drafts(HashMap<CellId, Draft>);

#[derive(Default)]
pub struct Draft {
    pub text: String,
    pub editor: EditorState,
    pub is_focused: bool,
    /// Whether the editor lost the keyboard in this frame.
    pub is_just_left: bool,
    /// The last text that was sent to the kernel.
    sent: Option<Arc<str>>,
}

impl Drafts {
    /// Returns the draft of a cell whose text in the kernel is `text`.
    pub fn of(&mut self, id: &CellId, text: &str) -> &mut Draft {
        let draft = self.0.entry(id.clone()).or_default();
        // The kernel answers later, so its older text must not replace the newer draft.
        if draft.sent.as_ref().is_some_and(|sent| **sent == *text) {
            draft.sent = None;
        }
        if !draft.is_focused && draft.sent.is_none() && !draft.is_too_long() && *draft.text != *text {
            text.clone_into(&mut draft.text);
        }
        draft
    }

    /// Notes that the kernel has answered all texts that were sent. If its text then differs from a draft, a later
    /// change has replaced the draft's text.
    pub fn settle(&mut self) {
        self.0.values_mut().for_each(|draft| draft.sent = None);
    }

    /// Returns whether the text in a cell's editor is too long for the kernel, which then keeps the text that it has.
    pub fn is_too_long(&self, id: &CellId) -> bool {
        self.0.get(id).is_some_and(Draft::is_too_long)
    }

    /// Returns whether the editor of a cell has lost the keyboard in this frame.
    pub fn is_just_left(&self, id: &CellId) -> bool {
        self.0.get(id).is_some_and(|draft| draft.is_just_left)
    }

    /// Ends the editing. The kernel's text is shown once it has answered.
    pub fn leave(&mut self, id: &CellId) {
        if let Some(draft) = self.0.get_mut(id) {
            draft.is_focused = false;
        }
    }

    /// Drops the draft after a command has changed the text in the kernel, so that the kernel's text is shown.
    pub fn forget(&mut self, id: &CellId) {
        self.0.remove(id);
    }
}

impl Draft {
    /// Returns whether the text is too long for the kernel. The text then stays in the editor, with a note that it is
    /// not saved.
    pub fn is_too_long(&self) -> bool {
        self.text.len() > SOURCE_BYTES_MAX
    }

    /// Returns the draft's text for the kernel, and remembers it as the last one that was sent.
    pub fn send(&mut self) -> Arc<str> {
        let text: Arc<str> = self.text.as_str().into();
        self.sent = Some(text.clone());
        text
    }
}

#[derive(Default)]
pub struct ReferenceUiState {
    pub search: String,
    /// Whether the search field has the keyboard.
    pub is_searching: bool,
}
