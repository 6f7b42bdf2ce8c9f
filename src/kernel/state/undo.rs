//! What a kernel remembers of its changes, and how it goes back over them.

use super::{Kernel, Phase};
use crate::kernel::history::{History, Swap};
use crate::kernel::notebook::{Document, Notebook};
use crate::kernel::ready::Part;
use crate::kernel::retraining::RestingReady;

/// What undo brings back.
pub enum Undoable {
    Model(Part),
    Retrained(Box<RestingReady>),
    Notebook(Document),
}

impl Undoable {
    /// What keeping it costs in memory, beside the present notebook.
    fn bytes(&self, present: &Notebook) -> usize {
        let of_it = match self {
            Self::Model(part) => part.bytes(),
            Self::Retrained(before) => before.bytes(),
            Self::Notebook(document) => document.bytes_beside(present.document()),
        };
        size_of::<Self>() + of_it
    }
}

impl Kernel {
    pub(super) fn remember_changes(&mut self) {
        let Phase::Ready(ready) = &mut self.phase else { return };
        for (label, part) in ready.take_changes() {
            // What was changed of this model is undone before it is.
            self.retrained = None;
            self.remember(label, Undoable::Model(part));
        }
    }

    pub(super) fn remember(&mut self, label: String, before: Undoable) {
        let bytes = before.bytes(&self.notebook);
        self.history.push(label, before, bytes);
    }

    /// Undo or redo.
    pub(super) fn travel(
        &mut self,
        verb: &str,
        go: impl FnOnce(&mut History<Undoable>, Swap<Undoable>) -> bool,
    ) -> Result<(), String> {
        let Self { history, phase, notebook, lesson, .. } = self;
        if let Phase::Ready(ready) = phase {
            ready.end_move();
        }
        let mut swap = |undoable| {
            let now = match (undoable, &mut *phase) {
                (Undoable::Model(part), Phase::Ready(ready)) => Undoable::Model(ready.swap(part)),
                (Undoable::Retrained(before), Phase::Ready(ready)) => {
                    let now = std::mem::replace(&mut **ready, before.wake(lesson));
                    Undoable::Retrained(Box::new(now.rest()))
                }
                (Undoable::Notebook(document), _) => Undoable::Notebook(notebook.replace(document)),
                // A model that failed had no changes.
                (part @ (Undoable::Model(_) | Undoable::Retrained(_)), _) => part,
            };
            let bytes = now.bytes(notebook);
            (now, bytes)
        };
        if go(history, &mut swap) { Ok(()) } else { Err(format!("there is nothing to {verb}")) }
    }
}
