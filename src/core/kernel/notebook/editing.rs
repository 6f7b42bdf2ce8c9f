//! Changes of the document, and which cells are asked to run.

use std::sync::atomic::Ordering::Relaxed;

use crate::kernel::notebook::document::{Answer, CellId, Document, DocumentCell};
use crate::kernel::notebook::{CellCommand, Notebook, NotebookCommand};
use crate::kernel::tour::TourCell;
use crate::lesson::Lesson;
use crate::lesson::cells::CellKind;

/// A change by a command, for undo to remember.
pub struct Changed {
    pub label: String,
    pub before: Document,
    /// One more move of the same kind, which undoes together with the last.
    pub goes_on_as: Option<EditDrag>,
}

/// The subject of successive changes that undo as one.
#[derive(Clone, Debug, PartialEq)]
pub enum EditDrag {
    Text(CellId),
    Slider(CellId),
}

/// The name of a deletion in the history.
pub const DELETION: &str = "deletion of a cell";

impl Notebook {
    /// Applies what concerns the notebook alone.
    ///
    /// # Errors
    /// In words for the learner; nothing has changed then.
    pub fn apply(&mut self, command: NotebookCommand, lesson: &Lesson) -> Result<Option<Changed>, String> {
        match command {
            NotebookCommand::Cell(id, command) => self.apply_to_cell(&id, command, lesson),
            NotebookCommand::RunAll => {
                self.enqueue_code(0..self.document.cells.len());
                Ok(None)
            }
            NotebookCommand::Restart => {
                self.has_changed |= !self.runs.is_empty();
                self.runs.clear();
                self.waiting.clear();
                self.view.take();
                Ok(None)
            }
            NotebookCommand::Interrupt => {
                self.waiting.clear();
                self.stop.store(false, Relaxed);
                self.view.take();
                Ok(None)
            }
            NotebookCommand::SetAutoRun(on) => self.change("automatic runs", None, |document| {
                document.auto_run = on;
                Ok(())
            }),
            NotebookCommand::Reset => self.change("reset of the notebook", None, |document| {
                document.reset_all(lesson);
                Ok(())
            }),
        }
    }

    /// Nothing is written in it that the lesson does not give.
    pub fn is_as_given(&self, lesson: &Lesson) -> bool {
        self.document.cells == Document::of(lesson).cells
    }

    /// Inserts the cells of a tour; returns the document before, unless it has a tour.
    pub fn insert_tour(&mut self, tour: &[TourCell]) -> Option<Document> {
        if self.document.has_tour() {
            return None;
        }
        let mut document = self.document.clone();
        document.insert_tour(tour);
        Some(self.replace(document))
    }

    fn apply_to_cell(&mut self, id: &CellId, command: CellCommand, lesson: &Lesson) -> Result<Option<Changed>, String> {
        let index = self.document.index(id)?;
        match command {
            CellCommand::Run => {
                self.count_attempt(id)?;
                self.enqueue(index..index + 1);
                Ok(None)
            }
            CellCommand::RunAbove => {
                self.enqueue_code(0..index);
                Ok(None)
            }
            CellCommand::ClearOutputs => {
                self.has_changed |= self.runs.remove(id).is_some();
                self.view.take();
                Ok(None)
            }
            CellCommand::SetText(text) => {
                let goes_on = Some(EditDrag::Text(id.clone()));
                self.change("writing", goes_on, |document| document.set_text(id, &text))
            }
            CellCommand::Slide(value) => {
                let goes_on = Some(EditDrag::Slider(id.clone()));
                self.change("a slider", goes_on, |document| slide(document, id, value))
            }
            CellCommand::Insert { kind, is_above } => {
                self.change("a new cell", None, |document| document.insert(id, kind, is_above).map(|_| ()))
            }
            CellCommand::Delete => self.change(DELETION, None, |document| document.delete(id)),
            CellCommand::Shift(by) => self.change("move of a cell", None, |document| document.shift(id, by)),
            CellCommand::Split(at) => {
                self.change("split of a cell", None, |document| document.split(id, at).map(|_| ()))
            }
            CellCommand::MergeBelow => self.change("merge of two cells", None, |document| document.merge_below(id)),
            CellCommand::SetKind(kind) => self.change("kind of a cell", None, |document| document.set_kind(id, kind)),
            CellCommand::Fold(on) => self.change("fold", None, |document| {
                document.cell_mut(id)?.is_folded = on;
                Ok(())
            }),
            CellCommand::SetAutoRun(on) => self.change("automatic run of a cell", None, |document| {
                document.cell_mut(id)?.auto_run = on;
                Ok(())
            }),
            CellCommand::Choose(choice) => {
                self.change("a prediction", None, |document| choose(document.cell_mut(id)?, choice))
            }
            CellCommand::Reveal => self.reveal(id),
            CellCommand::Hint => self.change("a hint", None, |document| open_hint(document.cell_mut(id)?)),
            CellCommand::Skip => self.change("going past a gate", None, |document| skip(document.cell_mut(id)?)),
            CellCommand::Settle { keep_mine } => {
                self.change("end of a conflict", None, |document| document.settle(id, keep_mine))
            }
            CellCommand::Reset => {
                self.has_changed |= self.runs.remove(id).is_some();
                self.waiting.retain(|waiting| waiting != id);
                // Where the text is the lesson's still, this is all that changes.
                self.view.take();
                self.change("reset of a cell", None, |document| document.reset(id, lesson))
            }
        }
    }

    /// An answer is tried where the learner asks for it, not where the check follows the model.
    fn count_attempt(&mut self, id: &CellId) -> Result<(), String> {
        let is_written = self.document.cell(id).is_some_and(|cell| cell.is_written());
        if is_written
            && !self.waiting.contains(id)
            && let Answer::Exercise(attempts) = &mut self.document.cell_mut(id)?.answer
        {
            attempts.tried = attempts.tried.saturating_add(1);
            self.has_changed = true;
        }
        Ok(())
    }

    /// Changes the document, or leaves it as it was.
    fn change(
        &mut self,
        label: &str,
        goes_on_as: Option<EditDrag>,
        change: impl FnOnce(&mut Document) -> Result<(), String>,
    ) -> Result<Option<Changed>, String> {
        let before = self.document.clone();
        if let Err(why) = change(&mut self.document) {
            self.document = before;
            return Err(why);
        }
        if before == self.document {
            return Ok(None);
        }
        self.has_changed = true;
        self.analyse();
        Ok(Some(Changed { label: label.to_owned(), before, goes_on_as }))
    }

    fn reveal(&mut self, id: &CellId) -> Result<Option<Changed>, String> {
        let changed = self.change("showing the answer", None, |document| {
            let cell = document.cell_mut(id)?;
            match &mut cell.answer {
                Answer::Predict { chosen: None, .. } => Err("choose an answer first".to_owned()),
                Answer::Predict { is_locked, .. } => {
                    *is_locked = true;
                    Ok(())
                }
                Answer::Exercise(attempts) => {
                    attempts.is_revealed = true;
                    Ok(())
                }
                _ => Err("this cell has nothing to reveal".to_owned()),
            }
        })?;
        let index = self.document.index(id)?;
        if matches!(*self.document.cells[index].kind, CellKind::Predict(_)) {
            self.enqueue(index..index + 1);
        }
        Ok(changed)
    }
}

fn slide(document: &mut Document, id: &str, value: f64) -> Result<(), String> {
    let cell = document.cell_mut(id)?;
    let CellKind::Slider(slider) = &*cell.kind else { return Err("this cell is no slider".to_owned()) };
    if !value.is_finite() {
        return Err(format!("a slider cannot be at {value}"));
    }
    let value = value.clamp(slider.range.0, slider.range.1);
    if let Answer::Slider(at) = &mut cell.answer {
        *at = value;
    }
    Ok(())
}

fn choose(cell: &mut DocumentCell, choice: usize) -> Result<(), String> {
    let CellKind::Predict(predict) = &*cell.kind else { return Err("this cell asks for no prediction".to_owned()) };
    let count = predict.choices.len();
    match &mut cell.answer {
        Answer::Predict { is_locked: true, .. } => {
            Err("this prediction is given; reset the cell to try again".to_owned())
        }
        Answer::Predict { chosen, .. } if choice < count => {
            *chosen = Some(choice);
            Ok(())
        }
        _ => Err(format!("there is no choice {}: there are {count}", choice.saturating_add(1))),
    }
}

fn skip(cell: &mut DocumentCell) -> Result<(), String> {
    let CellKind::Gate { .. } = &*cell.kind else { return Err("this cell is no gate to go past".to_owned()) };
    cell.answer = Answer::Skipped;
    Ok(())
}

fn open_hint(cell: &mut DocumentCell) -> Result<(), String> {
    let CellKind::Exercise(exercise) = &*cell.kind else { return Err("this cell has no hints".to_owned()) };
    match &mut cell.answer {
        Answer::Exercise(attempts) if attempts.hints < exercise.hints.len() => {
            attempts.hints += 1;
            Ok(())
        }
        _ => Err("there are no more hints".to_owned()),
    }
}
