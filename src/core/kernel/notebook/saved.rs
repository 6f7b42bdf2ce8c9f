//! The saved form of a notebook, which is made from its snapshot and, when it is restored, merged with the present
//! lesson.
//!
//! Cells are matched by their ids. For each text, the side that changed it wins. If both changed it, the learner's text
//! stays, and the lesson's is offered beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attune_engine::code::Output;
use attune_engine::code::budget::{OUTPUTS_MAX, SOURCE_BYTES_MAX};
use attune_engine::json::{self, beginning};
use serde::{Deserialize, Serialize};

use crate::kernel::notebook::document::{
    Answer, Attempts, CellId, DOCUMENT_CELLS_MAX, Document, DocumentCell, OwnKind, first_answer, original, own_kind,
};
use crate::kernel::notebook::snapshot::{
    CellSnapshot, ComparedCase, NotebookSnapshot, RunSnapshot, Verdict, is_default,
};
use crate::lesson::Lesson;
use crate::lesson::cells::{Bind, Cell, CellKind};
use crate::lesson::issue::shorten;
use crate::lesson::limits::{CASES_MAX, ID_CHARS_MAX};
use crate::lesson::live_text::LessonText;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedNotebook {
    /// Cells in the learner's order.
    #[serde(deserialize_with = "beginning::<ITEMS_MAX, _, _>")]
    pub cells: Vec<SavedCell>,
    /// Ids of the cells that the lesson had when the work was saved, in the lesson's order. They distinguish a cell
    /// that the learner deleted from one that was added to the lesson later, and show which cells the learner moved.
    #[serde(deserialize_with = "beginning::<ITEMS_MAX, _, _>")]
    pub lesson: Vec<String>,
    pub auto_run: bool,
}

/// Greatest size of the saved outputs of one run, in bytes, which is enough for a table of 360 by 360.
const RUN_BYTES_MAX: usize = 1 << 20;
/// Greatest size of the saved outputs of a notebook, in bytes. The outputs of the uppermost cells are kept first.
const NOTEBOOK_BYTES_MAX: usize = 16 << 20;
/// Greatest number of list items that are read; no notebook has as many.
const ITEMS_MAX: usize = 10 * DOCUMENT_CELLS_MAX;

/// The learner's changes to a cell. Fields with the lesson's values are not saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedCell {
    pub id: String,
    #[serde(skip_serializing_if = "is_default")]
    pub is_own: bool,
    /// Kind of a learner's own cell, or of a cell that the learner changed into code or text.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: Option<OwnKind>,
    #[serde(skip_serializing_if = "is_default")]
    pub edit: Option<SavedEdit>,
    /// Whether the learner still has to choose between the edit and the lesson's newer text.
    #[serde(skip_serializing_if = "is_default")]
    pub is_in_conflict: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub is_folded: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub auto_run: bool,
    /// The sentence to which the numbers of a learner's own cell refer, if it is not the one on the stage.
    #[serde(skip_serializing_if = "is_default")]
    pub speaks_of: Option<String>,
    /// Number of resets of a question with drawn numbers, which decides which numbers are drawn.
    #[serde(skip_serializing_if = "is_default")]
    pub resets: usize,
    #[serde(skip_serializing_if = "is_default")]
    pub answer: SavedAnswer,
    #[serde(skip_serializing_if = "is_default")]
    pub run: Option<RunSnapshot>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedEdit {
    /// Kind of the text; the answer to an exercise is code.
    pub kind: OwnKind,
    pub text: String,
    /// The lesson's text that was edited.
    #[serde(default)]
    pub base: String,
}

/// An answer together with its question, so that a change of the question can be recognised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum SavedAnswer {
    #[default]
    None,
    Slider {
        variable: String,
        #[serde(with = "json::number")]
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
    /// Returns how many times the learner tried an answer: 1 for a locked prediction, and 0 for a cell without a task.
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
        // If there is no notebook yet, the lesson's ids are not saved, because its cells would otherwise count as
        // deleted.
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
    /// Returns the saved form of a cell. `left` is the number of bytes that are left for outputs of the notebook.
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
            resets: if is_drawn(&cell.kind) { cell.resets } else { 0 },
            answer: SavedAnswer::of(cell),
            run: shown.run.as_deref().map(|run| BytesLeft { of_run: RUN_BYTES_MAX, of_notebook: left }.cut(run)),
        }
    }
}

/// Returns whether a cell asks a question with drawn numbers.
fn is_drawn(kind: &CellKind) -> bool {
    matches!(kind, CellKind::Predict(predict) if predict.is_drawn())
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
                ask: predict.ask.to_string(),
                choices: predict.choices.iter().map(LessonText::to_string).collect(),
                chosen: *chosen,
                is_locked: *is_locked,
            },
            (CellKind::Exercise(exercise), Answer::Exercise(attempts)) => {
                Self::Exercise { ask: exercise.ask.to_string(), check: exercise.check.clone(), attempts: *attempts }
            }
            (_, Answer::Skipped) => Self::Skipped,
            _ => Self::None,
        }
    }
}

/// Numbers of bytes that are left for outputs.
struct BytesLeft<'a> {
    of_run: usize,
    of_notebook: &'a mut usize,
}

impl BytesLeft<'_> {
    /// Returns the run with as many of its first outputs as fit, and without the data that exists only during a
    /// session.
    fn cut(mut self, run: &RunSnapshot) -> RunSnapshot {
        let outputs = self.keep(&run.outputs);
        let verdict = run.verdict.clone().map(|verdict| match verdict {
            Verdict::Exercise { is_right, value, mut compared, feedback, failed_case } => {
                let value = self.keep(&value);
                let mut fits = |case: &ComparedCase| self.keep(&[case.yours.clone(), case.expected.clone()]).len() == 2;
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

    /// Returns as many of the first outputs as fit.
    fn keep(&mut self, outputs: &[Output]) -> Vec<Output> {
        let fits = |output: &&Output| {
            let bytes = output.size() + label_bytes(output);
            let fits = bytes <= self.of_run.min(*self.of_notebook);
            // All outputs after the first that does not fit are dropped, because outputs after a gap would be
            // misleading.
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

/// A saved notebook, merged with the present lesson.
pub struct Merged {
    pub document: Document,
    /// Results of earlier runs.
    pub runs: BTreeMap<CellId, Arc<RunSnapshot>>,
    /// Saved work that did not fit, in sentences for the learner.
    pub report: Vec<String>,
}

pub fn merge(lesson: &Lesson, saved: &SavedNotebook) -> Merged {
    let mut merging = Merging::new(lesson);
    let mut first: BTreeMap<&str, &SavedCell> = BTreeMap::new();
    for cell in &saved.cells {
        if first.insert(&cell.id, cell).is_some() {
            merging.say(format!("Cell {} was saved twice; one copy is left out.", quoted(&cell.id)));
        }
    }
    let known: BTreeSet<&str> = saved.lesson.iter().map(String::as_str).collect();
    let mut given: BTreeMap<&str, &Cell> = BTreeMap::new();
    let mut lesson_order: Vec<CellId> = Vec::new();
    for cell in &lesson.cells {
        // A cell that was in the lesson when the work was saved, but is not among the saved cells, was deleted by the
        // learner.
        if first.contains_key(cell.id.as_str()) || !known.contains(cell.id.as_str()) {
            given.insert(&cell.id, cell);
            lesson_order.push(cell.id.as_str().into());
        }
    }
    let mut saved_order: Vec<CellId> = Vec::new();
    for cell in &saved.cells {
        if first.remove(cell.id.as_str()).is_some() {
            let given = given.get(cell.id.as_str()).copied();
            saved_order.extend(merging.take(cell, given));
        }
    }
    for (id, cell) in given {
        merging.cells.entry(id.into()).or_insert_with(|| Arc::new(DocumentCell::of(cell)));
    }
    let (skeleton, others) = if was_moved(saved) { (saved_order, lesson_order) } else { (lesson_order, saved_order) };
    merging.finish(&weave(skeleton, &others), saved.auto_run, lesson)
}

/// Returns whether the learner had moved cells of the lesson.
fn was_moved(saved: &SavedNotebook) -> bool {
    let places: BTreeMap<&str, usize> = saved.lesson.iter().map(String::as_str).zip(0..).collect();
    let order = saved.cells.iter().filter_map(|cell| places.get(cell.id.as_str()));
    !order.is_sorted()
}

/// Inserts the ids of `others` into the skeleton, each after the last id before it in `others` that the skeleton
/// contains, or else at the beginning.
fn weave(skeleton: Vec<CellId>, others: &[CellId]) -> Vec<CellId> {
    let in_skeleton: BTreeSet<&CellId> = skeleton.iter().collect();
    let mut behind: BTreeMap<Option<&CellId>, Vec<CellId>> = BTreeMap::new();
    let mut last = None;
    for id in others {
        if in_skeleton.contains(id) {
            last = Some(id);
        } else {
            behind.entry(last).or_default().push(id.clone());
        }
    }
    let mut woven = behind.remove(&None).unwrap_or_default();
    for id in &skeleton {
        woven.push(id.clone());
        woven.extend(behind.remove(&Some(id)).unwrap_or_default());
    }
    woven
}

#[derive(Default)]
struct Merging {
    cells: BTreeMap<CellId, Arc<DocumentCell>>,
    runs: BTreeMap<CellId, Arc<RunSnapshot>>,
    /// Ids of the lesson's cells, which no other cell may have.
    reserved: BTreeSet<String>,
    own_count: usize,
    report: Vec<String>,
}

impl Merging {
    fn new(lesson: &Lesson) -> Self {
        Self { reserved: lesson.cells.iter().map(|cell| cell.id.clone()).collect(), ..Self::default() }
    }

    fn say(&mut self, words: String) {
        self.report.push(words);
    }

    /// Merges a saved cell and returns its ids: none if nothing of it is left, or two if the lesson has replaced the
    /// cell and the learner's text becomes a cell of its own.
    fn take(&mut self, saved: &SavedCell, given: Option<&Cell>) -> Vec<CellId> {
        let too_long = saved.edit.as_ref().is_some_and(|edit| edit.text.len() > SOURCE_BYTES_MAX);
        if too_long {
            self.say(format!("The text of cell {} is too long for a cell and is left out.", quoted(&saved.id)));
        }
        let edit = saved.edit.as_ref().filter(|_| !too_long);
        match given {
            Some(given) => self.merge(saved, given, edit),
            None => self.keep(saved, edit).into_iter().collect(),
        }
    }

    fn merge(&mut self, saved: &SavedCell, given: &Cell, edit: Option<&SavedEdit>) -> Vec<CellId> {
        let mut cell = DocumentCell::of(given);
        cell.is_folded = saved.is_folded;
        cell.auto_run = saved.auto_run;
        if is_drawn(&cell.kind) {
            cell.resets = saved.resets;
        }
        if let (Some(kind), Some(own)) = (saved.kind, own_kind(&cell.kind))
            && kind != own
        {
            cell.kind = Arc::new(kind.kind(original(&cell.kind)));
        }
        let mut ids = vec![cell.id.clone()];
        let kind = if cell.is_text() { OwnKind::Text } else { OwnKind::Code };
        match edit {
            Some(edit) if cell.is_written() && edit.kind == kind => {
                let is_news = self.apply(edit, &mut cell);
                let is_open = is_news || (saved.is_in_conflict && cell.is_edited());
                cell.conflict = is_open.then(|| original(&cell.kind).into());
            }
            Some(edit) if !edit.text.is_empty() => {
                let own = self.own(None, edit, saved);
                self.say(format!("The lesson has replaced cell {}; your text is below it.", quoted(&saved.id)));
                ids.push(own);
            }
            _ => {}
        }
        self.answer(&saved.answer, &mut cell);
        // If the answer no longer fits, the outputs that were shown with it are dropped too.
        let is_reset = saved.answer != SavedAnswer::None && cell.answer == DocumentCell::of(given).answer;
        self.show(saved, &cell, is_reset);
        self.cells.insert(cell.id.clone(), Arc::new(cell));
        ids
    }

    /// Applies an edit. Returns whether the lesson's text has changed too.
    fn apply(&mut self, edit: &SavedEdit, cell: &mut DocumentCell) -> bool {
        let newer = original(&cell.kind);
        let is_news = edit.text != newer && edit.base != newer;
        cell.text = edit.text.as_str().into();
        if is_news {
            self.say(format!(
                "The lesson has a new text for cell {}, but you had changed the old text. Yours stays until you \
                 choose.",
                quoted(&cell.id)
            ));
        }
        is_news
    }

    /// Keeps a cell that the lesson does not have, as the learner's own. Returns `None` if nothing of it is left to
    /// keep.
    fn keep(&mut self, saved: &SavedCell, edit: Option<&SavedEdit>) -> Option<CellId> {
        if saved.is_own {
            let kind = saved.kind.unwrap_or(OwnKind::Code);
            let empty = SavedEdit { kind, text: String::new(), base: String::new() };
            return Some(self.own(Some(&saved.id), edit.unwrap_or(&empty), saved));
        }
        if let Some(edit) = edit.filter(|edit| !edit.text.is_empty()) {
            self.say(format!(
                "The lesson no longer has cell {}; the cell stays as one of your own.",
                quoted(&saved.id)
            ));
            return Some(self.own(Some(&saved.id), edit, saved));
        }
        let words = in_words(&saved.answer)?;
        self.say(format!("The lesson no longer has cell {}; your answer is kept as text.", quoted(&saved.id)));
        let note = SavedEdit { kind: OwnKind::Text, text: words, base: String::new() };
        Some(self.own(None, &note, saved))
    }

    fn own(&mut self, id: Option<&str>, edit: &SavedEdit, saved: &SavedCell) -> CellId {
        let is_free = |id: &&str| {
            !id.is_empty() && id.len() <= ID_CHARS_MAX && !self.reserved.contains(*id) && !self.cells.contains_key(*id)
        };
        let id: CellId = id.filter(is_free).map_or_else(|| self.new_id(), Into::into);
        let cell = DocumentCell {
            is_own: true,
            text: edit.text.as_str().into(),
            is_folded: saved.is_folded,
            auto_run: saved.auto_run,
            speaks_of: saved.speaks_of.as_deref().map(Arc::from),
            ..DocumentCell::of(&Cell { id: id.to_string(), kind: edit.kind.kind(&edit.base), opens: Vec::new() })
        };
        self.show(saved, &cell, false);
        self.cells.insert(id.clone(), Arc::new(cell));
        id
    }

    /// Returns a new id. It differs in form from the ids of cells that the learner inserts, so that these cannot
    /// collide with it.
    fn new_id(&mut self) -> CellId {
        loop {
            self.own_count += 1;
            let id = format!("kept {}", self.own_count);
            if !self.cells.contains_key(id.as_str()) {
                return id.into();
            }
        }
    }

    fn answer(&mut self, saved: &SavedAnswer, cell: &mut DocumentCell) {
        let reset = match (saved, &*cell.kind, &mut cell.answer) {
            (SavedAnswer::Slider { variable, value }, CellKind::Slider(slider), Answer::Slider(at)) => {
                if slider.bind == Bind::Variable(variable.clone()) && value.is_finite() {
                    *at = value.clamp(slider.range.0, slider.range.1);
                }
                return;
            }
            (
                SavedAnswer::Predict { choices, chosen: was, is_locked: was_locked, .. },
                CellKind::Predict(predict),
                _,
            ) if choices.iter().map(String::as_str).eq(predict.choices.iter().map(|choice| &**choice))
                && *was < choices.len() =>
            {
                cell.answer = Answer::Predict { chosen: Some(*was), is_locked: *was_locked };
                return;
            }
            (
                SavedAnswer::Exercise { check, attempts: made, .. },
                CellKind::Exercise(exercise),
                Answer::Exercise(attempts),
            ) if *check == exercise.check => {
                *attempts = Attempts { hints: made.hints.min(exercise.hints.len()), ..*made };
                return;
            }
            (SavedAnswer::Skipped, CellKind::Gate { .. }, answer) => {
                *answer = Answer::Skipped;
                return;
            }
            (SavedAnswer::Predict { .. }, ..) => "now asks something else, so your answer is reset",
            (SavedAnswer::Exercise { .. }, ..) => "now has another check, so your attempts are counted from 0",
            _ => return,
        };
        self.say(format!("Cell {} {reset}.", quoted(&cell.id)));
    }

    fn show(&mut self, saved: &SavedCell, cell: &DocumentCell, is_reset: bool) {
        let Some(run) = saved.run.as_ref().filter(|_| !is_reset) else { return };
        if crate::kernel::notebook::execution::text_that_runs(cell).is_none() {
            return;
        }
        match shown(run, &cell.kind) {
            Some(shown) => drop(self.runs.insert(cell.id.clone(), Arc::new(shown))),
            None => self
                .say(format!("The saved outputs of cell {} do not fit the cell and are left out.", quoted(&cell.id))),
        }
    }

    fn finish(mut self, order: &[CellId], auto_run: bool, lesson: &Lesson) -> Merged {
        let mut cells: Vec<_> = order.iter().filter_map(|id| self.cells.get(id).cloned()).collect();
        if cells.len() > DOCUMENT_CELLS_MAX {
            let more = cells.len() - DOCUMENT_CELLS_MAX;
            self.say(format!(
                "A notebook has at most {DOCUMENT_CELLS_MAX} cells; the cells beyond that are left out \
                ({more})."
            ));
            cells.truncate(DOCUMENT_CELLS_MAX);
        }
        if cells.is_empty() {
            cells = Document::of(lesson).cells;
        }
        Merged { document: Document::kept(cells, auto_run), runs: self.runs, report: self.report }
    }
}

/// Returns the run of an earlier session for viewers, or `None` if a cell of this kind cannot have had such a run.
fn shown(run: &RunSnapshot, kind: &CellKind) -> Option<RunSnapshot> {
    // One more output may say that others were left out.
    let is_sound = |outputs: &[Output]| outputs.len() <= OUTPUTS_MAX + 1 && outputs.iter().all(Output::is_sound);
    let mut run = RunSnapshot { is_from_before: true, ..run.clone() };
    run.number = run.number.filter(|_| matches!(kind, CellKind::Code { .. }));
    let mut fits = is_sound(&run.outputs);
    match (&mut run.verdict, kind) {
        (None, _) => {}
        (Some(Verdict::Prediction { right }), CellKind::Predict(predict)) => fits &= *right < predict.choices.len(),
        (Some(Verdict::Exercise { value, compared, failed_case, .. }), CellKind::Exercise(exercise)) => {
            compared.truncate(CASES_MAX);
            *failed_case = failed_case.filter(|case| *case < exercise.cases.len());
            let are_sound = |case: &ComparedCase| case.yours.is_sound() && case.expected.is_sound();
            fits &= is_sound(value) && compared.iter().all(are_sound);
        }
        _ => return None,
    }
    let left_out = std::mem::take(&mut run.left_out);
    if left_out > 0 {
        let what = if left_out == 1 { "An output was".to_owned() } else { format!("{left_out} outputs were") };
        let words = Output::Text(format!("{what} too large to be kept; run the cell again.").into());
        run.outputs = run.outputs.iter().cloned().chain([words]).collect();
    }
    fits.then_some(run)
}

/// Describes an answer to a question that the lesson no longer has.
fn in_words(answer: &SavedAnswer) -> Option<String> {
    match answer {
        SavedAnswer::Predict { ask, choices, chosen, .. } => {
            let chosen = choices.get(*chosen)?;
            Some(format!("*The lesson no longer asks:* {ask}\n\nYour answer: {chosen}"))
        }
        SavedAnswer::Exercise { ask, attempts, .. } => {
            let passed = if attempts.is_passed { "You had solved it." } else { "You had not yet solved it." };
            Some(format!("*The lesson no longer sets this task:* {ask}\n\n{passed}"))
        }
        SavedAnswer::None | SavedAnswer::Slider { .. } | SavedAnswer::Skipped => None,
    }
    .filter(|words| words.len() <= SOURCE_BYTES_MAX)
}

fn quoted(id: &str) -> String {
    format!("“{}”", shorten(id))
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
