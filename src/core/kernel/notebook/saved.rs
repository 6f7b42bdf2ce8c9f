//! The saved form of a notebook: plain data, made from its snapshot.

use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::{Fault, Place};
use serde::{Deserialize, Serialize};

use crate::beginning::beginning;
use crate::kernel::notebook::document::{
    Answer, Attempts, DOCUMENT_CELLS_MAX, DocumentCell, OwnKind, first_answer, original, own_kind,
};
use crate::kernel::notebook::saved_output::{Allowance, RunAllowance, SavedOutput};
use crate::kernel::notebook::snapshot::{CellSnapshot, Compared, NotebookSnapshot, RunSnapshot, Verdict};
use crate::lesson::Lesson;
use crate::lesson::cells::CellKind;
use crate::lesson::limits::CASES_MAX;
use attune_engine::numbers;

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
    #[serde(skip_serializing_if = "is_default")]
    pub answer: SavedAnswer,
    #[serde(skip_serializing_if = "is_default")]
    pub run: Option<SavedRun>,
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

/// The result of the last run of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedRun {
    /// The text that ran.
    pub text: String,
    pub number: Option<u64>,
    #[serde(deserialize_with = "beginning::<ITEMS_MAX, _, _>")]
    pub outputs: Vec<SavedOutput>,
    /// Outputs that are too large to be kept.
    #[serde(skip_serializing_if = "is_default")]
    pub left_out: usize,
    #[serde(skip_serializing_if = "is_default")]
    pub fault: Option<SavedFault>,
    pub elapsed: Duration,
    #[serde(skip_serializing_if = "is_default")]
    pub verdict: Option<SavedVerdict>,
    #[serde(skip_serializing_if = "is_default")]
    pub wrote: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedFault {
    pub message: String,
    pub hint: Option<String>,
    /// Line and column.
    pub place: Option<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SavedVerdict {
    Exercise {
        is_right: bool,
        value: Vec<SavedOutput>,
        #[serde(default, skip_serializing_if = "is_default")]
        compared: Vec<SavedCompared>,
        feedback: Option<String>,
        failed_case: Option<usize>,
    },
    Prediction {
        right: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedCompared {
    pub yours: SavedOutput,
    pub expected: SavedOutput,
    pub is_right: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl SavedNotebook {
    pub fn of(notebook: &NotebookSnapshot, lesson: &Lesson) -> Self {
        // Where there is no notebook yet, nothing of it was deleted.
        if notebook.cells.is_empty() {
            return Self { auto_run: notebook.auto_run, ..Self::default() };
        }
        let mut allowance = Allowance::default();
        Self {
            cells: notebook.cells.iter().map(|cell| SavedCell::of(cell, lesson, &mut allowance)).collect(),
            lesson: lesson.cells.iter().map(|cell| cell.id.clone()).collect(),
            auto_run: notebook.auto_run,
        }
    }
}

impl SavedCell {
    fn of(shown: &CellSnapshot, lesson: &Lesson, allowance: &mut Allowance) -> Self {
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
            answer: SavedAnswer::of(cell),
            run: shown.run.as_deref().map(|run| SavedRun::of(run, allowance)),
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

impl SavedRun {
    fn of(run: &RunSnapshot, allowance: &mut Allowance) -> Self {
        let RunSnapshot { text, number, outputs, fault, elapsed, verdict, wrote, .. } = run;
        let mut allowance = allowance.of_a_run();
        let kept = allowance.keep(outputs);
        Self {
            text: text.to_string(),
            number: *number,
            left_out: outputs.len() - kept.len(),
            outputs: kept,
            fault: fault.as_ref().map(SavedFault::of),
            elapsed: *elapsed,
            verdict: verdict.as_ref().map(|verdict| match verdict {
                Verdict::Prediction { right } => SavedVerdict::Prediction { right: *right },
                Verdict::Exercise { is_right, value, compared, feedback, failed_case } => SavedVerdict::Exercise {
                    is_right: *is_right,
                    value: allowance.keep(value),
                    compared: compared.iter().map_while(|case| SavedCompared::of(case, &mut allowance)).collect(),
                    feedback: feedback.as_deref().map(str::to_owned),
                    failed_case: *failed_case,
                },
            }),
            wrote: *wrote,
        }
    }

    /// As a viewer sees it; `None` of what no run could have left.
    pub(super) fn shown(&self, kind: &CellKind) -> Option<RunSnapshot> {
        let mut outputs = SavedOutput::all_shown(&self.outputs)?;
        if self.left_out > 0 {
            outputs.push(left_out(self.left_out));
        }
        let verdict = match &self.verdict {
            None => None,
            Some(verdict) => Some(verdict.shown(kind)?),
        };
        let is_code = matches!(kind, CellKind::Code { .. });
        Some(RunSnapshot {
            variables: Arc::from([]),
            text: self.text.as_str().into(),
            number: self.number.filter(|_| is_code),
            outputs: outputs.into(),
            fault: self.fault.as_ref().map(SavedFault::shown),
            elapsed: self.elapsed,
            defined: Vec::new(),
            verdict,
            wrote: self.wrote,
            is_from_before: true,
        })
    }
}

fn left_out(count: usize) -> attune_engine::code::Output {
    let what = if count == 1 { "An output was".to_owned() } else { format!("{count} outputs were") };
    attune_engine::code::Output::Text(format!("{what} too large to be kept: run the cell again.").into())
}

impl SavedVerdict {
    fn shown(&self, kind: &CellKind) -> Option<Verdict> {
        Some(match (self, kind) {
            (Self::Prediction { right }, CellKind::Predict(predict)) if *right < predict.choices.len() => {
                Verdict::Prediction { right: *right }
            }
            (Self::Exercise { is_right, value, compared, feedback, failed_case }, CellKind::Exercise(exercise)) => {
                Verdict::Exercise {
                    is_right: *is_right,
                    value: SavedOutput::all_shown(value)?,
                    compared: compared.iter().take(CASES_MAX).map(SavedCompared::shown).collect::<Option<_>>()?,
                    feedback: feedback.as_deref().map(Into::into),
                    failed_case: failed_case.filter(|case| *case < exercise.cases.len()),
                }
            }
            _ => return None,
        })
    }
}

impl SavedCompared {
    /// `None` where it is more than is kept.
    fn of(case: &Compared, allowance: &mut RunAllowance<'_>) -> Option<Self> {
        let kept: [SavedOutput; 2] = allowance.keep(&[case.yours.clone(), case.expected.clone()]).try_into().ok()?;
        let [yours, expected] = kept;
        Some(Self { yours, expected, is_right: case.is_right })
    }

    fn shown(&self) -> Option<Compared> {
        Some(Compared { yours: self.yours.shown()?, expected: self.expected.shown()?, is_right: self.is_right })
    }
}

impl SavedFault {
    fn of(fault: &Fault) -> Self {
        let place = fault.place.map(|place| (place.line, place.column));
        Self { message: fault.message.clone(), hint: fault.hint.clone(), place }
    }

    fn shown(&self) -> Fault {
        let place = self.place.map(|(line, column)| Place { line, column });
        Fault { message: self.message.clone(), hint: self.hint.clone(), place }
    }
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
