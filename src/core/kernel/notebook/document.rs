//! The learner's copy of a lesson's notebook: the behaviour of each kind of cell, the order of the cells, and their
//! texts. Each version is an independent value, so that undo can restore any of them.

use std::sync::Arc;

use attune_engine::code::budget::SOURCE_BYTES_MAX;
use serde::{Deserialize, Serialize};

use crate::lesson::Lesson;
use crate::lesson::cells::{Bind, Cell, CellKind, Exercise, Predict, Slider};
use crate::lesson::live_text::LessonText;

pub type CellId = Arc<str>;

/// Prefix of the ids of the learner's own cells; ids in lessons have no spaces.
const OWN: &str = "own ";

/// Prefix of the ids of a tour's cells.
const TOUR: &str = "tour ";

/// Greatest number of cells; nobody reads more.
pub const DOCUMENT_CELLS_MAX: usize = 2000;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub cells: Vec<Arc<DocumentCell>>,
    /// Whether all cells run again automatically when their inputs have changed.
    pub auto_run: bool,
    /// Number of the next cell that the learner inserts.
    next_own: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DocumentCell {
    pub id: CellId,
    /// The cell as the lesson has it, or as it was when the learner inserted it.
    pub kind: Arc<CellKind>,
    /// Whether the learner inserted the cell.
    pub is_own: bool,
    /// The present text: the Markdown of a text cell, or the code of a code cell, a plot or an exercise; empty if the
    /// cell has no text to edit.
    pub text: LessonText,
    /// Whether only the first line is shown.
    pub is_folded: bool,
    /// Whether the cell runs again automatically.
    pub auto_run: bool,
    pub answer: Answer,
    /// The lesson's newer text, if the learner had changed the older one.
    pub conflict: Option<Arc<str>>,
    /// The sentence to which the live numbers of a learner's own cell refer.
    pub speaks_of: Option<Arc<str>>,
    /// Number of resets; attempts before a reset are not counted after it, and a question with drawn numbers draws
    /// others.
    pub resets: usize,
}

impl DocumentCell {
    pub fn of(cell: &Cell) -> Self {
        Self {
            id: cell.id.as_str().into(),
            kind: Arc::new(cell.kind.clone()),
            is_own: false,
            text: match &cell.kind {
                CellKind::Text { markdown } => markdown.clone(),
                kind => original(kind).into(),
            },
            is_folded: false,
            auto_run: false,
            answer: first_answer(&cell.kind),
            conflict: None,
            speaks_of: None,
            resets: 0,
        }
    }

    /// Returns the cell as the lesson has it, but folded as before. If this is a change, it counts as a reset.
    fn reset_to(&self, origin: &Cell) -> Self {
        let fresh = Self { is_folded: self.is_folded, resets: self.resets, ..Self::of(origin) };
        if fresh == *self { fresh } else { Self { resets: self.resets.saturating_add(1), ..fresh } }
    }

    /// Returns whether the cell's text is Markdown that can be edited.
    pub fn is_text(&self) -> bool {
        Behaviour::of(&self.kind).own == Some(OwnKind::Text)
    }

    /// Returns whether the cell has code whose variables are visible in the cells below.
    pub fn is_code(&self) -> bool {
        matches!(Behaviour::of(&self.kind).runs, CellCode::Code { .. })
    }

    /// Returns whether the cell's text can be edited.
    pub fn is_written(&self) -> bool {
        Behaviour::of(&self.kind).text.is_some()
    }

    /// Returns whether the text differs from the lesson's. The learner's own cells always count as edited.
    pub fn is_edited(&self) -> bool {
        self.is_own || *self.text != *original(&self.kind)
    }

    pub fn attempts(&self) -> Attempts {
        if let Answer::Exercise(attempts) = self.answer { attempts } else { Attempts::default() }
    }

    /// Returns whether a prediction has been answered or an exercise has been passed.
    pub fn is_done(&self) -> bool {
        match self.answer {
            Answer::Predict { is_locked, .. } => is_locked,
            Answer::Exercise(attempts) => attempts.is_passed,
            Answer::None | Answer::Slider(_) | Answer::Skipped => false,
        }
    }

    /// Returns the variable that the slider sets, and its value. Returns `None` for all other cells.
    pub fn turned_variable(&self) -> Option<(&str, f64)> {
        match (&*self.kind, &self.answer) {
            (CellKind::Slider(slider), Answer::Slider(value)) => match &slider.bind {
                Bind::Variable(name) => Some((name, *value)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns a cell's text in the lesson, which is empty if the text cannot be edited.
pub(super) fn original(kind: &CellKind) -> &str {
    Behaviour::of(kind).text.unwrap_or_default()
}

pub(super) fn first_answer(kind: &CellKind) -> Answer {
    Behaviour::of(kind).first_answer
}

pub(super) type Change<T = ()> = Result<T, String>;

impl Document {
    /// Returns the document of the lesson.
    pub fn of(lesson: &Lesson) -> Self {
        let cells = lesson.cells.iter().map(|cell| Arc::new(DocumentCell::of(cell))).collect();
        Self { cells, auto_run: false, next_own: 1 }
    }

    /// Returns the document with restored cells. New cells get ids that none of these has.
    pub(super) fn kept(cells: Vec<Arc<DocumentCell>>, auto_run: bool) -> Self {
        let number = |cell: &Arc<DocumentCell>| cell.id.strip_prefix(OWN)?.parse::<usize>().ok();
        let last = cells.iter().filter_map(number).max().unwrap_or(0);
        Self { cells, auto_run, next_own: last.saturating_add(1) }
    }

    /// Returns the index of a cell.
    ///
    /// # Errors
    /// A message for the learner if there is no such cell.
    pub fn index(&self, id: &str) -> Change<usize> {
        self.cells.iter().position(|cell| *cell.id == *id).ok_or_else(|| format!("there is no cell {id:?}"))
    }

    pub fn cell(&self, id: &str) -> Option<&Arc<DocumentCell>> {
        self.cells.iter().find(|cell| *cell.id == *id)
    }

    /// Returns the cells above a cell.
    pub fn above(&self, id: &str) -> impl Iterator<Item = &Arc<DocumentCell>> {
        self.cells.iter().take_while(move |cell| *cell.id != *id)
    }

    /// Returns a cell so that it can be changed.
    ///
    /// # Errors
    /// A message for the learner if there is no such cell.
    pub fn cell_mut(&mut self, id: &str) -> Change<&mut DocumentCell> {
        let index = self.index(id)?;
        Ok(Arc::make_mut(&mut self.cells[index]))
    }

    pub fn set_text(&mut self, id: &str, text: &str) -> Change {
        let cell = self.cell_mut(id)?;
        if !cell.is_written() {
            return Err("this cell has no text to write".to_owned());
        }
        check_length(text.len())?;
        cell.text = text.into();
        Ok(())
    }

    /// Inserts an empty cell above or below a cell, and returns its id.
    ///
    /// # Errors
    /// A message for the learner if there is no such cell, or if there are too many.
    pub fn insert(&mut self, id: &str, kind: OwnKind, is_above: bool) -> Change<CellId> {
        let index = self.index(id)? + usize::from(!is_above);
        self.insert_at(index, kind, "")
    }

    fn insert_at(&mut self, index: usize, kind: OwnKind, text: &str) -> Change<CellId> {
        if self.cells.len() >= DOCUMENT_CELLS_MAX {
            return Err(format!("a notebook has at most {DOCUMENT_CELLS_MAX} cells"));
        }
        let id: CellId = format!("{OWN}{}", self.next_own).into();
        self.next_own = self.next_own.saturating_add(1);
        if self.cell(&id).is_some() {
            return Err("no more cells can be numbered".to_owned());
        }
        let cell = Cell { id: id.to_string(), kind: kind.kind(""), opens: Vec::new() };
        let cell = DocumentCell { is_own: true, text: text.into(), ..DocumentCell::of(&cell) };
        self.cells.insert(index, Arc::new(cell));
        Ok(id)
    }

    /// Inserts the cells of a tour after the first cell, as the learner's own. Their ids differ from all others, so
    /// that a tour is not inserted twice.
    pub(super) fn insert_tour(&mut self, tour: &[TourCell]) {
        let given = |(number, TourCell { markdown, speaks_of }): (usize, &TourCell)| {
            let cell = Cell { id: format!("{TOUR}{number}"), kind: OwnKind::Text.kind(markdown), opens: Vec::new() };
            Arc::new(DocumentCell { is_own: true, speaks_of: speaks_of.clone(), ..DocumentCell::of(&cell) })
        };
        let at = self.cells.len().min(1);
        self.cells.splice(at..at, (1..).zip(tour).map(given));
    }

    pub(super) fn has_tour(&self) -> bool {
        self.cells.iter().any(|cell| cell.id.starts_with(TOUR))
    }

    pub fn delete(&mut self, id: &str) -> Change {
        let index = self.index(id)?;
        if self.cells.len() == 1 {
            return Err("the last cell cannot be deleted".to_owned());
        }
        self.cells.remove(index);
        Ok(())
    }

    /// Moves a cell down by the given number of places, or up if it is negative, but not beyond the ends of the
    /// notebook.
    ///
    /// # Errors
    /// A message for the learner if there is no such cell.
    pub fn shift(&mut self, id: &str, by: isize) -> Change {
        let from = self.index(id)?;
        let to = from.saturating_add_signed(by).min(self.cells.len() - 1);
        let cell = self.cells.remove(from);
        self.cells.insert(to, cell);
        Ok(())
    }

    /// Splits a cell at a byte of its text and returns the id of the lower part.
    ///
    /// # Errors
    /// A message for the learner if the cell cannot be split there.
    pub fn split(&mut self, id: &str, at: usize) -> Change<CellId> {
        let index = self.index(id)?;
        let cell = &self.cells[index];
        let kind = own_kind(&cell.kind).ok_or("only text and code can be split")?;
        let text = cell.text.clone();
        let (above, below) = text.split_at_checked(at).ok_or("a cell can be split only between two characters")?;
        let own = self.insert_at(index + 1, kind, below.trim_start_matches('\n'))?;
        Arc::make_mut(&mut self.cells[index]).text = above.trim_end_matches('\n').into();
        Ok(own)
    }

    /// Appends the text of the cell below and deletes that cell.
    ///
    /// # Errors
    /// A message for the learner if the two cells cannot be merged.
    pub fn merge_below(&mut self, id: &str) -> Change {
        let index = self.index(id)?;
        let below = self.cells.get(index + 1).ok_or("there is no cell below")?;
        let (kind, other) = (own_kind(&self.cells[index].kind), own_kind(&below.kind));
        if kind.is_none() || kind != other {
            return Err("only two cells of text, or two of code, can be merged".to_owned());
        }
        let between = if kind == Some(OwnKind::Text) { "\n\n" } else { "\n" };
        let text = format!("{}{between}{}", self.cells[index].text, below.text);
        check_length(text.len())?;
        self.cells.remove(index + 1);
        Arc::make_mut(&mut self.cells[index]).text = text.into();
        Ok(())
    }

    /// Changes text into code, or code into text.
    ///
    /// # Errors
    /// A message for the learner if there is no such cell, or it is neither text nor code.
    pub fn set_kind(&mut self, id: &str, kind: OwnKind) -> Change {
        let cell = self.cell_mut(id)?;
        let before = own_kind(&cell.kind).ok_or("only a cell of text or of code can change its kind")?;
        if before != kind {
            cell.kind = Arc::new(kind.kind(original(&cell.kind)));
        }
        Ok(())
    }

    /// Restores a cell of the lesson; the learner's own cell gets its original text, which is usually empty.
    ///
    /// # Errors
    /// A message for the learner if there is no such cell.
    pub fn reset(&mut self, id: &str, lesson: &Lesson) -> Change {
        let cell = self.cell_mut(id)?;
        match lesson.cells.iter().find(|cell| cell.id == *id) {
            Some(origin) => *cell = cell.reset_to(origin),
            None => cell.text = original(&cell.kind).into(),
        }
        Ok(())
    }

    /// Restores all cells of the lesson and removes all others.
    pub fn reset_all(&mut self, lesson: &Lesson) {
        let reset = |origin: &Cell| match self.cell(&origin.id) {
            Some(cell) => DocumentCell { is_folded: false, ..cell.reset_to(origin) },
            None => DocumentCell::of(origin),
        };
        let cells = lesson.cells.iter().map(|origin| Arc::new(reset(origin))).collect();
        *self = Self { cells, ..Self::of(lesson) };
    }

    /// Takes over the attempts at exercises from another document: undoing an edit does not change whether an exercise
    /// was tried or passed, but undoing a reset does.
    pub(super) fn take_facts(&mut self, now: &Self) {
        for cell in &mut self.cells {
            let Answer::Exercise(then) = cell.answer else { continue };
            let Some(now) = now.cell(&cell.id).filter(|now| now.resets == cell.resets) else { continue };
            let Attempts { tried, is_passed, .. } = now.attempts();
            let attempts = Attempts { tried, is_passed, ..then };
            if attempts != then {
                Arc::make_mut(cell).answer = Answer::Exercise(attempts);
            }
        }
    }

    /// Resolves a conflict: the learner's text stays, or is replaced by the lesson's newer one.
    ///
    /// # Errors
    /// A message for the learner if there is no such cell, or it has no conflict.
    pub fn settle(&mut self, id: &str, keep_mine: bool) -> Change {
        let cell = self.cell_mut(id)?;
        let newer = cell.conflict.take().ok_or("this cell has no conflict")?;
        if !keep_mine {
            cell.text = newer.into();
        }
        Ok(())
    }

    /// Returns the index of the first closed gate, or `None` if all are open.
    pub fn first_closed_gate(&self) -> Option<usize> {
        let is_done = |id: &String| self.cell(id).is_none_or(|cell| cell.is_done());
        self.cells.iter().position(|cell| match &*cell.kind {
            CellKind::Gate { needs, .. } => cell.answer != Answer::Skipped && !needs.iter().all(is_done),
            _ => false,
        })
    }
}

pub(super) fn own_kind(kind: &CellKind) -> Option<OwnKind> {
    Behaviour::of(kind).own
}

fn check_length(bytes: usize) -> Change {
    if bytes > SOURCE_BYTES_MAX {
        return Err(format!("a cell has at most {SOURCE_BYTES_MAX} bytes of text; split the cell"));
    }
    Ok(())
}

/// Label of a deletion in the history.
pub const DELETION: &str = "deletion of a cell";

/// A cell of a tour.
#[derive(Clone, Debug, PartialEq)]
pub struct TourCell {
    pub markdown: String,
    /// The sentence to which the cell's live numbers refer.
    pub speaks_of: Option<Arc<str>>,
}

/// The behaviour of a kind of cell.
pub struct Behaviour<'a> {
    /// The lesson's text of the cell, or `None` if the learner cannot edit it.
    pub text: Option<&'a str>,
    /// The kind of the learner's own cells that corresponds to this kind, if there is one.
    pub own: Option<OwnKind>,
    pub runs: CellCode<'a>,
    pub first_answer: Answer,
    /// The task in a word that is shown above the cell; empty if there is none.
    pub title: &'static str,
    /// Text whose first line represents the folded cell, or `None` if this is the cell's text in the document.
    pub summary: Option<&'a str>,
}

/// The code that a cell runs.
pub enum CellCode<'a> {
    Nothing,
    /// Code that is the cell's own text.
    Code {
        /// Whether the cell demonstrates a mistake and is meant to fail.
        fails: bool,
        /// Whether the cell runs automatically.
        is_unasked: bool,
    },
    /// The learner's answer, and the lesson's check of it.
    Exercise(&'a Exercise),
    /// The lesson's question to the model.
    Predict(&'a Predict),
}

impl<'a> Behaviour<'a> {
    pub fn of(kind: &'a CellKind) -> Self {
        /// A cell that is only read: it has nothing to edit, run or answer.
        const STILL: Behaviour<'_> = Behaviour {
            text: None,
            own: None,
            runs: CellCode::Nothing,
            first_answer: Answer::None,
            title: "",
            summary: None,
        };
        match kind {
            CellKind::Text { markdown } => Self { text: Some(&**markdown), own: Some(OwnKind::Text), ..STILL },
            CellKind::Code { source, fails, .. } => {
                let runs = CellCode::Code { fails: *fails, is_unasked: false };
                Self { text: Some(source), own: Some(OwnKind::Code), runs, ..STILL }
            }
            CellKind::Plot { source, .. } => {
                Self { text: Some(source), runs: CellCode::Code { fails: false, is_unasked: true }, ..STILL }
            }
            CellKind::Stage { caption, .. } | CellKind::Gate { caption, .. } => {
                Self { summary: Some(caption), ..STILL }
            }
            CellKind::Slider(slider) => {
                Self { first_answer: first_value(slider), summary: Some(&slider.caption), ..STILL }
            }
            CellKind::Predict(predict) => Self {
                runs: CellCode::Predict(predict),
                first_answer: Answer::Predict { chosen: None, is_locked: false },
                title: "Predict",
                summary: Some(&predict.ask),
                ..STILL
            },
            CellKind::Exercise(exercise) => Self {
                text: exercise.start.as_deref(),
                runs: CellCode::Exercise(exercise),
                first_answer: Answer::Exercise(Attempts::default()),
                title: "Exercise",
                summary: Some(&exercise.ask),
                ..STILL
            },
        }
    }
}

/// Returns the initial answer in a slider's cell. If the slider sets a variable, this is the variable's first value;
/// other sliders show a value that is kept elsewhere.
fn first_value(slider: &Slider) -> Answer {
    match slider.bind {
        Bind::Variable(_) => Answer::Slider(slider.start.unwrap_or(f64::midpoint(slider.range.0, slider.range.1))),
        Bind::Temperature | Bind::Time | Bind::Mask | Bind::Weight { .. } => Answer::None,
    }
}

/// The learner's answer in a cell, in addition to its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Answer {
    #[default]
    None,
    /// Value of a slider of a variable.
    Slider(f64),
    Predict {
        chosen: Option<usize>,
        /// Whether the answer is final and the model's answer is shown.
        is_locked: bool,
    },
    Exercise(Attempts),
    /// A gate that the learner opened without doing its tasks.
    Skipped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attempts {
    pub tried: u32,
    /// Number of hints that have been shown.
    pub hints: usize,
    /// Whether the solution has been shown.
    pub is_revealed: bool,
    /// Whether the exercise was passed at least once.
    pub is_passed: bool,
}

/// The kinds of cells that a learner can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnKind {
    Text,
    Code,
}

impl OwnKind {
    pub(super) fn kind(self, text: &str) -> CellKind {
        match self {
            Self::Text => CellKind::Text { markdown: text.into() },
            Self::Code => CellKind::Code { source: text.to_owned(), fails: false, asserts: String::new() },
        }
    }
}
