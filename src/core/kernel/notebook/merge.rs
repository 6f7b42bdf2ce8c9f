//! A notebook as it was left, over the lesson as it is now: cells meet by their ids, and of each text the
//! side wins that changed it. Where both did, the learner's stays and the lesson's waits beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attune_engine::code::Output;
use attune_engine::code::budget::{OUTPUTS_MAX, SOURCE_BYTES_MAX};

use crate::kernel::notebook::document::{
    Answer, Attempts, CellId, DOCUMENT_CELLS_MAX, Document, DocumentCell, OwnKind, original, own_kind,
};
use crate::kernel::notebook::saved::{SavedAnswer, SavedCell, SavedEdit, SavedNotebook};
use crate::kernel::notebook::snapshot::{Compared, RunSnapshot, Verdict};
use crate::lesson::Lesson;
use crate::lesson::cells::{Bind, Cell, CellKind};
use crate::lesson::issue::shorten;
use crate::lesson::limits::{CASES_MAX, ID_CHARS_MAX};

/// The merged notebook.
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
            merging.say(format!("Cell {} was saved twice: one of them is left out.", quoted(&cell.id)));
        }
    }
    let known: BTreeSet<&str> = saved.lesson.iter().map(String::as_str).collect();
    let mut given: BTreeMap<&str, &Cell> = BTreeMap::new();
    let mut lesson_order: Vec<CellId> = Vec::new();
    for cell in &lesson.cells {
        // It was there then and is not among the cells: the learner deleted it.
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

/// The lesson's cells did not stand in the lesson's order.
fn was_moved(saved: &SavedNotebook) -> bool {
    let places: BTreeMap<&str, usize> = saved.lesson.iter().map(String::as_str).zip(0..).collect();
    let order = saved.cells.iter().filter_map(|cell| places.get(cell.id.as_str()));
    !order.is_sorted()
}

/// The skeleton, with each of the others behind the last one before it that is in the skeleton.
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

struct Merging {
    cells: BTreeMap<CellId, Arc<DocumentCell>>,
    runs: BTreeMap<CellId, Arc<RunSnapshot>>,
    /// Ids of the lesson, which no other cell may have.
    reserved: BTreeSet<String>,
    own_count: usize,
    report: Vec<String>,
}

impl Merging {
    fn new(lesson: &Lesson) -> Self {
        Self {
            cells: BTreeMap::new(),
            runs: BTreeMap::new(),
            reserved: lesson.cells.iter().map(|cell| cell.id.clone()).collect(),
            own_count: 0,
            report: Vec::new(),
        }
    }

    fn say(&mut self, words: String) {
        self.report.push(words);
    }

    /// Takes a cell in, and says under which ids: none where nothing of it stays, two where the lesson
    /// has made something else of it.
    fn take(&mut self, saved: &SavedCell, given: Option<&Cell>) -> Vec<CellId> {
        let too_long = saved.edit.as_ref().is_some_and(|edit| edit.text.len() > SOURCE_BYTES_MAX);
        if too_long {
            self.say(format!(
                "The text of cell {} is longer than any text of a cell: it is left out.",
                quoted(&saved.id)
            ));
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
                self.say(format!(
                    "The lesson has made something else of cell {}: your text stands below it.",
                    quoted(&saved.id)
                ));
                ids.push(own);
            }
            _ => {}
        }
        self.answer(&saved.answer, &mut cell);
        // What was shown with an answer goes with it.
        let is_reset = saved.answer != SavedAnswer::None && cell.answer == DocumentCell::of(given).answer;
        self.show(saved, &cell, is_reset);
        self.cells.insert(cell.id.clone(), Arc::new(cell));
        ids
    }

    /// True where the lesson's text has changed too.
    fn apply(&mut self, edit: &SavedEdit, cell: &mut DocumentCell) -> bool {
        let newer = original(&cell.kind);
        let is_news = edit.text != newer && edit.base != newer;
        cell.text = edit.text.as_str().into();
        if is_news {
            self.say(format!(
                "The lesson has another text of cell {} now, and you had changed the old one: yours stays until you choose.",
                quoted(&cell.id)
            ));
        }
        is_news
    }

    /// A cell that the lesson does not have.
    fn keep(&mut self, saved: &SavedCell, edit: Option<&SavedEdit>) -> Option<CellId> {
        if saved.is_own {
            let kind = saved.kind.unwrap_or(OwnKind::Code);
            let empty = SavedEdit { kind, text: String::new(), base: String::new() };
            return Some(self.own(Some(&saved.id), edit.unwrap_or(&empty), saved));
        }
        if let Some(edit) = edit.filter(|edit| !edit.text.is_empty()) {
            self.say(format!("The lesson no longer has cell {}: it stays as your own.", quoted(&saved.id)));
            return Some(self.own(Some(&saved.id), edit, saved));
        }
        let words = in_words(&saved.answer)?;
        self.say(format!("The lesson no longer has cell {}: your answer stays in words.", quoted(&saved.id)));
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

    /// Unlike those that the learner's next cells get, so that none of those saved has it.
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
            ) if *choices == predict.choices && *was < choices.len() => {
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
            (SavedAnswer::Predict { .. }, ..) => "asks something else now: your answer is reset",
            (SavedAnswer::Exercise { .. }, ..) => "has another check now: your attempts are counted anew",
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
            None => self.say(format!("What cell {} showed does not fit it: it is left out.", quoted(&cell.id))),
        }
    }

    fn finish(mut self, order: &[CellId], auto_run: bool, lesson: &Lesson) -> Merged {
        let mut cells: Vec<_> = order.iter().filter_map(|id| self.cells.get(id).cloned()).collect();
        if cells.len() > DOCUMENT_CELLS_MAX {
            let more = cells.len() - DOCUMENT_CELLS_MAX;
            self.say(format!("A notebook has at most {DOCUMENT_CELLS_MAX} cells: the last {more} are left out."));
            cells.truncate(DOCUMENT_CELLS_MAX);
        }
        if cells.is_empty() {
            cells = Document::of(lesson).cells;
        }
        Merged { document: Document::kept(cells, auto_run), runs: self.runs, report: self.report }
    }
}

/// The run of an earlier session as viewers see it; `None` of what no run of such a cell could have left.
fn shown(run: &RunSnapshot, kind: &CellKind) -> Option<RunSnapshot> {
    // The last may say that others were left out.
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
            let are_sound = |case: &Compared| case.yours.is_sound() && case.expected.is_sound();
            fits &= is_sound(value) && compared.iter().all(are_sound);
        }
        _ => return None,
    }
    let left_out = std::mem::take(&mut run.left_out);
    if left_out > 0 {
        let what = if left_out == 1 { "An output was".to_owned() } else { format!("{left_out} outputs were") };
        let words = Output::Text(format!("{what} too large to be kept: run the cell again.").into());
        run.outputs = run.outputs.iter().cloned().chain([words]).collect();
    }
    fits.then_some(run)
}

/// An answer to what is no longer asked.
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
