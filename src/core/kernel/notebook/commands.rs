//! The commands of the notebook.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::kernel::notebook::Notebook;
use crate::kernel::notebook::document::{Answer, CellId, Change, DELETION, Document, DocumentCell, OwnKind, TourCell};
use crate::lesson::Lesson;
use crate::lesson::cells::CellKind;

/// A change of the notebook, which is part of a [`Command`](crate::kernel::Command).
#[derive(Clone, Debug, PartialEq)]
pub enum NotebookCommand {
    Cell(CellId, CellCommand),
    /// Runs all cells with code, from the top, except for tasks.
    RunAll,
    /// Drops all variables and outputs, and cancels the cells that wait.
    Restart,
    /// Cancels the cells that wait. The flag of [`Worker::interrupt`](crate::kernel::Worker::interrupt) also ends a run
    /// in progress.
    Interrupt,
    /// Sets whether all cells run again automatically when their inputs have changed.
    SetAutoRun(bool),
    /// Restores the notebook of the lesson.
    Reset,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CellCommand {
    /// Sets the text. Successive texts of one cell undo as one.
    SetText(Arc<str>),
    /// Runs the cell, which for an exercise tries the answer.
    Run,
    RunAbove,
    ClearOutputs,
    Insert {
        kind: OwnKind,
        is_above: bool,
    },
    Delete,
    /// Moves the cell down by the given number of places, or up if it is negative.
    Shift(isize),
    /// Splits the cell at a byte of its text.
    Split(usize),
    MergeBelow,
    SetKind(OwnKind),
    Fold(bool),
    SetAutoRun(bool),
    /// Moves a slider; successive moves undo as one.
    Slide(f64),
    /// Chooses an answer of a prediction.
    Choose(usize),
    /// Locks a prediction and shows the model's answer; or shows the solution of an exercise.
    Reveal,
    /// Shows the next hint of an exercise.
    Hint,
    /// Opens a gate without doing its tasks.
    Skip,
    /// Resolves a conflict between the learner's text and the lesson's newer one.
    Settle {
        keep_mine: bool,
    },
    /// Restores the cell of the lesson.
    Reset,
}

/// A change of the document by a command, with the document before it, which undo restores.
pub struct DocumentChange {
    pub label: String,
    pub before: Document,
}

impl Notebook {
    /// Applies a command to the notebook. Returns the change of the document, or `None` if the document stays the same.
    ///
    /// # Errors
    /// A message for the learner if the change is refused. Nothing is changed in that case.
    pub fn apply(&mut self, command: NotebookCommand, lesson: &Lesson) -> Change<Option<DocumentChange>> {
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
            NotebookCommand::SetAutoRun(on) => self.change("automatic runs", |document| {
                document.auto_run = on;
                Ok(())
            }),
            NotebookCommand::Reset => self.change("reset of the notebook", |document| {
                document.reset_all(lesson);
                Ok(())
            }),
        }
    }

    /// Returns whether the learner has not changed any cell.
    pub fn is_as_given(&self, lesson: &Lesson) -> bool {
        self.document.cells == Document::of(lesson).cells
    }

    /// Inserts the cells of a tour. Returns the earlier document, or `None` if it already has a tour.
    pub fn insert_tour(&mut self, tour: &[TourCell]) -> Option<Document> {
        if self.document.has_tour() {
            return None;
        }
        let mut document = self.document.clone();
        document.insert_tour(tour);
        Some(self.replace(document))
    }

    fn apply_to_cell(&mut self, id: &CellId, command: CellCommand, lesson: &Lesson) -> Change<Option<DocumentChange>> {
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
            CellCommand::SetText(text) => self.change("writing", |document| document.set_text(id, &text)),
            CellCommand::Slide(value) => self.change("a slider", |document| slide(document.cell_mut(id)?, value)),
            CellCommand::Insert { kind, is_above } => {
                self.change("a new cell", |document| document.insert(id, kind, is_above).map(|_| ()))
            }
            CellCommand::Delete => self.change(DELETION, |document| document.delete(id)),
            CellCommand::Shift(by) => self.change("move of a cell", |document| document.shift(id, by)),
            CellCommand::Split(at) => self.change("split of a cell", |document| document.split(id, at).map(|_| ())),
            CellCommand::MergeBelow => self.change("merge of two cells", |document| document.merge_below(id)),
            CellCommand::SetKind(kind) => {
                self.change("change of a cell's kind", |document| document.set_kind(id, kind))
            }
            CellCommand::Fold(on) => self.change("fold", |document| {
                document.cell_mut(id)?.is_folded = on;
                Ok(())
            }),
            CellCommand::SetAutoRun(on) => self.change("automatic run of a cell", |document| {
                document.cell_mut(id)?.auto_run = on;
                Ok(())
            }),
            CellCommand::Choose(choice) => {
                self.change("a prediction", |document| choose(document.cell_mut(id)?, choice))
            }
            CellCommand::Reveal => self.reveal(id),
            CellCommand::Hint => self.change("a hint", |document| open_hint(document.cell_mut(id)?)),
            CellCommand::Skip => self.change("going past a gate", |document| skip(document.cell_mut(id)?)),
            CellCommand::Settle { keep_mine } => {
                self.change("end of a conflict", |document| document.settle(id, keep_mine))
            }
            CellCommand::Reset => {
                self.has_changed |= self.runs.remove(id).is_some();
                self.waiting.retain(|waiting| waiting != id);
                // If the text was not edited, the document stays the same, so the snapshot must be renewed here.
                self.view.take();
                self.change("reset of a cell", |document| document.reset(id, lesson))
            }
        }
    }

    /// Counts an attempt when the learner tries an answer, but not when the check runs because the model changed.
    fn count_attempt(&mut self, id: &CellId) -> Change {
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

    /// Changes the document, or leaves it unchanged if the change is refused.
    fn change(&mut self, label: &str, change: impl FnOnce(&mut Document) -> Change) -> Change<Option<DocumentChange>> {
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
        Ok(Some(DocumentChange { label: label.to_owned(), before }))
    }

    fn reveal(&mut self, id: &CellId) -> Change<Option<DocumentChange>> {
        let changed = self.change("showing the answer", |document| {
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

fn slide(cell: &mut DocumentCell, value: f64) -> Change {
    let CellKind::Slider(slider) = &*cell.kind else { return Err("this cell is not a slider".to_owned()) };
    if !value.is_finite() {
        return Err(format!("a slider cannot be at {value}"));
    }
    let value = value.clamp(slider.range.0, slider.range.1);
    if let Answer::Slider(at) = &mut cell.answer {
        *at = value;
    }
    Ok(())
}

fn choose(cell: &mut DocumentCell, choice: usize) -> Change {
    let CellKind::Predict(predict) = &*cell.kind else { return Err("this cell asks for no prediction".to_owned()) };
    let count = predict.choices.len();
    match &mut cell.answer {
        Answer::Predict { is_locked: true, .. } => {
            Err("this prediction has already been made; reset the cell to try again".to_owned())
        }
        Answer::Predict { chosen, .. } if choice < count => {
            *chosen = Some(choice);
            Ok(())
        }
        _ => Err(format!("there is no choice {}; the number of choices is {count}", choice.saturating_add(1))),
    }
}

fn skip(cell: &mut DocumentCell) -> Change {
    let CellKind::Gate { .. } = &*cell.kind else { return Err("this cell is not a gate".to_owned()) };
    cell.answer = Answer::Skipped;
    Ok(())
}

fn open_hint(cell: &mut DocumentCell) -> Change {
    let CellKind::Exercise(exercise) = &*cell.kind else { return Err("this cell has no hints".to_owned()) };
    match &mut cell.answer {
        Answer::Exercise(attempts) if attempts.hints < exercise.hints.len() => {
            attempts.hints += 1;
            Ok(())
        }
        _ => Err("there are no more hints".to_owned()),
    }
}
