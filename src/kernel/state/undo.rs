//! Undo: the states that a kernel remembers, and the way back over them.

use crate::kernel::model::UndoPart;
use crate::kernel::model::retraining::FrozenModel;
use crate::kernel::notebook::{Document, Notebook};
use crate::kernel::state::history::{History, Swap};
use crate::kernel::state::{Kernel, Phase};

/// A state that undo restores.
pub enum Undoable {
    Model(UndoPart),
    Retrained(Box<FrozenModel>),
    Notebook(Document),
}

impl Undoable {
    /// The memory that it takes beside the present notebook.
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
    pub(in crate::kernel) fn remember_changes(&mut self) {
        let Phase::Ready(ready) = &mut self.phase else { return };
        for (label, part) in ready.take_changes() {
            // What was changed of this model is undone before it is.
            self.retrained = None;
            self.remember(label, Undoable::Model(part));
        }
    }

    pub(in crate::kernel) fn remember(&mut self, label: String, before: Undoable) {
        let bytes = before.bytes(&self.notebook);
        self.history.push(label, before, bytes);
    }

    /// Undo or redo.
    pub(in crate::kernel) fn travel(
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
                    let now = std::mem::replace(&mut **ready, before.thaw(lesson));
                    Undoable::Retrained(Box::new(now.freeze()))
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
