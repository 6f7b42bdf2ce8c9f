//! Undo: the states that a kernel remembers, and the way back over them.

use std::sync::Arc;

use crate::kernel::command::Command;
use crate::kernel::data::progress::Progress;
use crate::kernel::model::UndoPart;
use crate::kernel::model::retraining::FrozenModel;
use crate::kernel::notebook::{Document, Notebook};
use crate::kernel::state::{Kernel, Phase};
use crate::kernel::vectors::LessonFault;
use crate::lesson::Lesson;

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

    /// Undoes and redoes, step after step. Only the model that the last step leads to comes to life.
    pub(in crate::kernel) fn travel(&mut self, steps: impl Iterator<Item = Command>) -> Result<(), String> {
        let Self { history, phase, retraining, notebook, lesson, .. } = self;
        let mut present = Present::of(phase);
        let mut swap = |undoable| {
            let now = match undoable {
                Undoable::Model(part) => Undoable::Model(present.swap(part)),
                Undoable::Retrained(before) => Undoable::Retrained(present.replace(before)),
                Undoable::Notebook(document) => Undoable::Notebook(notebook.replace(document)),
            };
            let bytes = now.bytes(notebook);
            (now, bytes)
        };
        let mut result = Ok(());
        for step in steps {
            let gave_up = retraining.take().is_some();
            let (verb, is_done) = match step {
                Command::Redo => ("redo", history.redo(&mut swap)),
                // What is under way is what would be undone first.
                _ => ("undo", gave_up || history.undo(&mut swap)),
            };
            result = if is_done { Ok(()) } else { Err(format!("there is nothing to {verb}")) };
        }
        *phase = present.into_phase(lesson);
        result
    }
}

/// The model on the way through the history.
enum Present {
    Living(Phase),
    /// A model that undo remembered, and that comes to life where the way ends.
    Frozen(Box<FrozenModel>),
}

impl Present {
    /// Takes the phase until [`Self::into_phase`] gives one back.
    fn of(phase: &mut Phase) -> Self {
        let (progress, fault) = (Progress { done: 0, of: 0 }, LessonFault { words: String::new(), field: &[] });
        let mut phase = std::mem::replace(phase, Phase::Failed { progress, fault });
        if let Phase::Ready(ready) = &mut phase {
            ready.end_move();
        }
        Self::Living(phase)
    }

    fn into_phase(self, lesson: &Arc<Lesson>) -> Phase {
        match self {
            Self::Living(phase) => phase,
            Self::Frozen(model) => Phase::Ready(Box::new(model.thaw(lesson))),
        }
    }

    /// Brings back a part of the model and returns the present one.
    fn swap(&mut self, part: UndoPart) -> UndoPart {
        match self {
            Self::Living(Phase::Ready(ready)) => ready.swap(part),
            Self::Frozen(model) => model.swap(part),
            // A model that failed had no changes.
            Self::Living(_) => part,
        }
    }

    /// Brings back a model and returns the present one.
    fn replace(&mut self, before: Box<FrozenModel>) -> Box<FrozenModel> {
        match std::mem::replace(self, Self::Frozen(before)) {
            Self::Living(Phase::Ready(ready)) => Box::new(ready.freeze()),
            Self::Frozen(model) => model,
            Self::Living(_) => unreachable!("a lesson that was trained again has a model"),
        }
    }
}
