//! The state that the notebook panel keeps from frame to frame: plain data, which the other files read and write.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use attune_core::kernel::notebook::document::{Answer, CellId};
use attune_core::kernel::notebook::snapshot::{CellStatus, RunSnapshot};
use attune_engine::code::budget::SOURCE_BYTES_MAX;
use attune_ui::actions::NotebookAction;
use attune_ui::text::editor::EditorState;
use attune_ui::theme::size;
use attune_ui::widgets::popup::Showing;
use attune_view::view_model::notebook::CellModel;
use egui::{Rect, Ui};

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

/// The lowest of the lesson's cells that is on the screen, or was scrolled past.
#[derive(Default)]
pub struct LowestCell {
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
            ui.ctx().request_repaint_after(Duration::from_secs_f64(REST - rested));
            return None;
        }
        self.is_told = true;
        self.cell.clone()
    }
}

/// The place at which a caret enters a cell from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaretEdge {
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

pub struct Awaited {
    pub next_to: CellId,
    pub is_above: bool,
    pub to_write: bool,
    /// The text that it begins with.
    pub text: Option<&'static str>,
}

/// An answer that was checked.
pub struct Checked {
    pub cell: CellId,
    /// The result of the cell before that.
    pub before: Option<Arc<RunSnapshot>>,
    /// The next cell is selected if the answer is right.
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

/// Heights on the screen of parts of the cell that is drawn.
#[derive(Default)]
pub struct CellHeights {
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
    pub fn of(id: &CellId) -> Self {
        Self { id: id.clone(), after: None, is_end: false, is_at_top: false, frames: FOLLOWED }
    }
}

/// Long enough for the answer of a cell that runs for a moment.
pub const FOLLOWED: usize = 40;

/// A cell that was clicked.
pub struct Held {
    pub cell: CellId,
    /// Its buttons or choices were clicked, and not what is above them.
    pub is_controls: bool,
    /// Height of what was clicked, from the top of the list.
    pub at: f32,
    /// Frames for which it is kept, once the pointer is up and the cell does not run.
    pub frames: usize,
}

/// Something that a click has added to a cell.
pub struct Below {
    pub cell: CellId,
    /// Words of the button that leads to it.
    pub words: &'static str,
    /// Set where a verdict was added; otherwise the end of the cell was.
    pub is_verdict: bool,
    /// Its lower edge on the screen.
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

    /// Measures it where its cell is drawn.
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
    /// True where it lost the keyboard in this frame.
    pub is_just_left: bool,
    /// The last text that was handed to the kernel.
    sent: Option<Arc<str>>,
}

impl Drafts {
    /// The draft of a cell whose text in the kernel is `text`.
    pub fn of(&mut self, id: &CellId, text: &Arc<str>) -> &mut Draft {
        let draft = self.0.entry(id.clone()).or_default();
        // The kernel answers a moment later: its older text must not take the newer one's place.
        if draft.sent.as_ref().is_some_and(|sent| **sent == **text) {
            draft.sent = None;
        }
        if !draft.is_focused && draft.sent.is_none() && !draft.is_too_long() && *draft.text != **text {
            (**text).clone_into(&mut draft.text);
        }
        draft
    }

    /// All that was sent has been answered: where the kernel has another text, something came after it.
    pub fn settle(&mut self) {
        self.0.values_mut().for_each(|draft| draft.sent = None);
    }

    /// Whether the text in the editor is too long for the kernel, which then has another.
    pub fn is_too_long(&self, id: &CellId) -> bool {
        self.0.get(id).is_some_and(Draft::is_too_long)
    }

    /// Whether the editor of a cell had the keyboard until now.
    pub fn is_just_left(&self, id: &CellId) -> bool {
        self.0.get(id).is_some_and(|draft| draft.is_just_left)
    }

    /// Ends the editing: the kernel's text is shown as soon as it is the newest.
    pub fn leave(&mut self, id: &CellId) {
        if let Some(draft) = self.0.get_mut(id) {
            draft.is_focused = false;
        }
    }

    /// The kernel's text is shown again: a reset, or undo.
    pub fn forget(&mut self, id: &CellId) {
        self.0.remove(id);
    }
}

impl Draft {
    /// The kernel would not take it: it stays here, and is said not to be kept.
    pub fn is_too_long(&self) -> bool {
        self.text.len() > SOURCE_BYTES_MAX
    }

    /// Text to hand to the kernel now.
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
