//! Texts that are being written. While an editor has the keyboard its text leads and the kernel follows; otherwise
//! the kernel's text is shown.

use std::collections::HashMap;
use std::sync::Arc;

use attune_core::kernel::notebook::document::CellId;
use attune_engine::code::budget::SOURCE_BYTES_MAX;

use crate::app::text::editor::EditorState;

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
