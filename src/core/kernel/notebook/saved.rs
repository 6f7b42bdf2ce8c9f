//! The saved form of a notebook: plain data, made from its snapshot.

use std::sync::Arc;

use attune_engine::code::Output;
use attune_engine::numbers;
use serde::{Deserialize, Serialize};

use crate::beginning::beginning;
use crate::kernel::notebook::document::{
    Answer, Attempts, DOCUMENT_CELLS_MAX, DocumentCell, OwnKind, first_answer, original, own_kind,
};
use crate::kernel::notebook::snapshot::{CellSnapshot, Compared, NotebookSnapshot, RunSnapshot, Verdict, is_default};
use crate::lesson::Lesson;
use crate::lesson::cells::CellKind;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedNotebook {
    /// In the learner's order.
    #[serde(deserialize_with = "beginning::<ITEMS_MAX, _, _>")]
    pub cells: Vec<SavedCell>,
    /// Ids of the lesson's cells then, in its order: they tell a cell that the learner deleted from one
    /// that the lesson got later, and what the learner moved.
    #[serde(deserialize_with = "beginning::<ITEMS_MAX, _, _>")]
    pub lesson: Vec<String>,
    pub auto_run: bool,
}

/// The most that is saved of the outputs of one run, in bytes: a table of 360 by 360 ...
const RUN_BYTES_MAX: usize = 1 << 20;
/// ... and of all runs of a notebook, from the top.
const NOTEBOOK_BYTES_MAX: usize = 16 << 20;
/// Items of a list that are read; no notebook has as many.
const ITEMS_MAX: usize = 10 * DOCUMENT_CELLS_MAX;

/// The learner's changes of a cell; fields that are as the lesson gives them are not saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedCell {
    pub id: String,
    #[serde(skip_serializing_if = "is_default")]
    pub is_own: bool,
    /// Kind of the learner's own cells, and of those that the learner made into code or text.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: Option<OwnKind>,
    #[serde(skip_serializing_if = "is_default")]
    pub edit: Option<SavedEdit>,
    /// The learner has yet to choose between the edit and its base.
    #[serde(skip_serializing_if = "is_default")]
    pub is_in_conflict: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub is_folded: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub auto_run: bool,
    /// The text that the numbers of a cell of the learner's own are of, where that is not the sentence on the stage.
    #[serde(skip_serializing_if = "is_default")]
    pub speaks_of: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub answer: SavedAnswer,
    #[serde(skip_serializing_if = "is_default")]
    pub run: Option<RunSnapshot>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedEdit {
    /// Kind of the text: the answer to an exercise is code.
    pub kind: OwnKind,
    pub text: String,
    /// The lesson's text that was edited.
    #[serde(default)]
    pub base: String,
}

/// An answer with what it answers, to be known for one when the lesson has changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum SavedAnswer {
    #[default]
    None,
    Slider {
        variable: String,
        #[serde(with = "numbers::one")]
        value: f64,
    },
    Predict {
        ask: String,
        #[serde(deserialize_with = "beginning::<ITEMS_MAX, _, _>")]
        choices: Vec<String>,
        chosen: usize,
        is_locked: bool,
    },
    Exercise {
        ask: String,
        check: String,
        attempts: Attempts,
    },
    Skipped,
}

impl SavedCell {
    /// How often an answer was tried; 0 of what is no task.
    pub fn tries(&self) -> u32 {
        match &self.answer {
            SavedAnswer::Exercise { attempts, .. } => attempts.tried,
            SavedAnswer::Predict { is_locked, .. } => u32::from(*is_locked),
            SavedAnswer::None | SavedAnswer::Slider { .. } | SavedAnswer::Skipped => 0,
        }
    }
}

impl SavedNotebook {
    pub fn of(notebook: &NotebookSnapshot, lesson: &Lesson) -> Self {
        // Where there is no notebook yet, nothing of it was deleted.
        if notebook.cells.is_empty() {
            return Self { auto_run: notebook.auto_run, ..Self::default() };
        }
        let mut left = NOTEBOOK_BYTES_MAX;
        Self {
            cells: notebook.cells.iter().map(|cell| SavedCell::of(cell, lesson, &mut left)).collect(),
            lesson: lesson.cells.iter().map(|cell| cell.id.clone()).collect(),
            auto_run: notebook.auto_run,
        }
    }
}

impl SavedCell {
    /// `left`: bytes of outputs that may yet be kept of the notebook.
    fn of(shown: &CellSnapshot, lesson: &Lesson, left: &mut usize) -> Self {
        let cell = &*shown.cell;
        let given = lesson.cells.iter().find(|given| *given.id == *cell.id);
        let is_own = cell.is_own || given.is_none();
        let given_kind = given.filter(|_| !is_own).and_then(|given| own_kind(&given.kind));
        Self {
            id: cell.id.to_string(),
            is_own,
            kind: own_kind(&cell.kind).filter(|kind| given_kind != Some(*kind)),
            edit: cell.is_edited().then(|| SavedEdit {
                kind: if cell.is_text() { OwnKind::Text } else { OwnKind::Code },
                text: cell.text.to_string(),
                base: original(&cell.kind).to_owned(),
            }),
            is_in_conflict: cell.conflict.is_some(),
            is_folded: cell.is_folded,
            auto_run: cell.auto_run,
            speaks_of: cell.speaks_of.as_deref().map(str::to_owned),
            answer: SavedAnswer::of(cell),
            run: shown.run.as_deref().map(|run| Allowance { of_run: RUN_BYTES_MAX, of_notebook: left }.cut(run)),
        }
    }
}

impl SavedAnswer {
    fn of(cell: &DocumentCell) -> Self {
        if cell.answer == first_answer(&cell.kind) {
            return Self::None;
        }
        match (&*cell.kind, &cell.answer) {
            (_, Answer::Slider(_)) => cell
                .turned_variable()
                .map_or(Self::None, |(variable, value)| Self::Slider { variable: variable.to_owned(), value }),
            (CellKind::Predict(predict), Answer::Predict { chosen: Some(chosen), is_locked }) => Self::Predict {
                ask: predict.ask.clone(),
                choices: predict.choices.clone(),
                chosen: *chosen,
                is_locked: *is_locked,
            },
            (CellKind::Exercise(exercise), Answer::Exercise(attempts)) => {
                Self::Exercise { ask: exercise.ask.clone(), check: exercise.check.clone(), attempts: *attempts }
            }
            (_, Answer::Skipped) => Self::Skipped,
            _ => Self::None,
        }
    }
}

/// Bytes of outputs that may yet be kept.
struct Allowance<'a> {
    of_run: usize,
    of_notebook: &'a mut usize,
}

impl Allowance<'_> {
    /// The run with its first outputs, as far as they fit, and without what is gone with the session.
    fn cut(mut self, run: &RunSnapshot) -> RunSnapshot {
        let outputs = self.keep(&run.outputs);
        let verdict = run.verdict.clone().map(|verdict| match verdict {
            Verdict::Exercise { is_right, value, mut compared, feedback, failed_case } => {
                let value = self.keep(&value);
                let mut fits = |case: &Compared| self.keep(&[case.yours.clone(), case.expected.clone()]).len() == 2;
                let kept = compared.iter().take_while(|case| fits(case)).count();
                compared.truncate(kept);
                Verdict::Exercise { is_right, value, compared, feedback, failed_case }
            }
            Verdict::Prediction { .. } => verdict,
        });
        RunSnapshot {
            left_out: run.outputs.len() - outputs.len(),
            outputs: outputs.into(),
            verdict,
            defined: Vec::new(),
            variables: Arc::from([]),
            is_from_before: false,
            ..run.clone()
        }
    }

    /// The first outputs, as far as they fit.
    fn keep(&mut self, outputs: &[Output]) -> Vec<Output> {
        let fits = |output: &&Output| {
            let bytes = output.size() + label_bytes(output);
            let fits = bytes <= self.of_run.min(*self.of_notebook);
            // What follows a gap would be misread.
            self.of_run = if fits { self.of_run - bytes } else { 0 };
            *self.of_notebook -= if fits { bytes } else { 0 };
            fits
        };
        outputs.iter().take_while(fits).cloned().collect()
    }
}

fn label_bytes(output: &Output) -> usize {
    let Output::Table { tensor, .. } = output else { return 0 };
    tensor.axes().iter().flat_map(|axis| axis.labels.iter().flat_map(|labels| labels.iter())).map(String::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_millions_of_items_the_beginning_is_read() {
        let many = format!(r#"{{"cells":[{}{{}}],"auto_run":true}}"#, "{},".repeat(2_000_000));
        let notebook: SavedNotebook = serde_json::from_str(&many).expect("a notebook");
        assert_eq!((notebook.cells.len(), notebook.auto_run), (ITEMS_MAX, true));
        assert!(notebook.cells.capacity() < 4 * ITEMS_MAX);
        assert!(serde_json::from_str::<SavedNotebook>(r#"{"cells":[{},7]}"#).is_err());
    }
}
