//! Recall: the questions on earlier lessons at the beginning of a lesson, and when each of them is due. They are the
//! questions with randomly drawn numbers in the course's lesson `recall`; everything that an answer needs is in the
//! question, so that it can be answered where it is asked.
//!
//! The schedule is plain: a question that was answered wrongly is due the next day; after one, two, three right answers
//! in a row it is due after 2, 7 and 30 days, and then every 30 days. A question that was never asked is due the day
//! after its lesson was opened.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use attune_core::kernel::Saved;
use attune_core::kernel::notebook::document::Answer;
use attune_core::kernel::notebook::saved::{SavedCell, SavedNotebook};
use attune_core::kernel::notebook::snapshot::{CellSnapshot, CellStatus, NotebookSnapshot, Verdict};
use attune_core::lesson::Lesson;
use attune_core::lesson::cells::CellKind;
use attune_core::lesson::course::{CourseFile, Heading};
use attune_core::lesson::links::TextLink;
use attune_engine::messages::counted;
use serde::{Deserialize, Serialize};

use super::course::{Course, name};
use super::notebook::NotebookModel;

/// The id of the lesson whose questions are asked.
pub const RECALL: &str = "recall";
/// The largest number of questions at the beginning of a lesson.
pub const AT_BEGINNING: usize = 2;
/// The number of seconds in a day.
pub const DAY: u64 = 24 * 60 * 60;
/// The days until a question is due again: after a wrong answer, and after one, two, three or more right ones in a row.
const DAYS: [u64; 4] = [1, 2, 7, 30];
/// The first draw of a question at the beginning of a lesson, beyond the draws that a learner sees in the lesson
/// `recall` itself.
const FIRST_DRAW: usize = 1000;

/// The last answer to a question, with counts of the earlier ones. If `times` is 0, the question was reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answered {
    /// The index of the draw of random numbers with which the question was asked.
    pub draw: usize,
    /// The number of right answers in a row, up to the last one.
    pub rights: u32,
    /// The number of all answers.
    pub times: u32,
    /// The time of the last answer, in seconds since 1970.
    pub at: u64,
}

/// Answers by the ids of the questions.
pub type Answers = BTreeMap<String, Answered>;

impl Answered {
    /// Returns the record after another answer. An answer to the same draw does not count again, and a reset replaces
    /// the record.
    pub fn then(self, next: Self) -> Self {
        if next.times == 0 {
            return next;
        }
        if next.draw == self.draw {
            return self;
        }
        let rights = if next.rights == 0 { 0 } else { self.rights.saturating_add(1) };
        Self { rights, times: self.times.saturating_add(1), ..next }
    }

    /// Returns the time at which the question is due again. If the last answer lies in the future, because a clock was
    /// wrong, it counts as given now.
    fn due(self, now: u64) -> u64 {
        let days = DAYS[(self.rights as usize).min(DAYS.len() - 1)];
        self.at.min(now) + days * DAY
    }
}

/// Returns the answers to questions with drawn numbers that were given since the notebook was opened.
pub fn answers(notebook: &NotebookSnapshot, now: u64) -> Answers {
    let answered = |shown: &CellSnapshot| {
        let CellKind::Predict(predict) = &*shown.cell.kind else { return None };
        let run = shown.run.as_ref().filter(|run| !run.is_from_before && shown.status == CellStatus::Fresh)?;
        match (&shown.cell.answer, &run.verdict) {
            (Answer::Predict { chosen: Some(chosen), is_locked: true }, Some(Verdict::Prediction { right }))
                if predict.is_drawn() =>
            {
                let rights = u32::from(chosen == right);
                Some((shown.cell.id.to_string(), Answered { draw: shown.cell.resets, rights, times: 1, at: now }))
            }
            _ => None,
        }
    };
    notebook.cells.iter().filter_map(answered).collect()
}

/// The result of the learner's last answers to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    NotAsked,
    Wrong,
    /// The last answers were right, this many in a row.
    Right(u32),
}

/// A question, with the time at which it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// The id of the question's cell.
    pub cell: String,
    /// The number of the question among all, from 1.
    pub place: usize,
    /// The number and the title of the lesson that the question is about.
    pub lesson: (usize, String),
    pub standing: Standing,
    /// The time at which it is due, in seconds since 1970.
    pub due: u64,
    /// The draw of random numbers for the next time.
    pub draw: usize,
}

impl Scheduled {
    pub fn is_due(&self, now: u64) -> bool {
        self.due <= now
    }

    /// Returns the number and the title of the lesson as text.
    pub fn lesson_words(&self) -> String {
        format!("Lesson {}: {}", self.lesson.0, self.lesson.1)
    }

    /// Returns a text on the learner's standing with the question, and on when it is due.
    pub fn words(&self, now: u64) -> String {
        let standing = match self.standing {
            Standing::NotAsked => "not asked yet".to_owned(),
            Standing::Wrong => "not right last time".to_owned(),
            Standing::Right(1) => "right last time".to_owned(),
            Standing::Right(count) => format!("right {count} times in a row"),
        };
        let days = self.due.abs_diff(now) / DAY;
        let due = match (self.is_due(now), days) {
            (true, 0) => "due today".to_owned(),
            (true, days) => format!("due since {}", counted(days as usize, "day")),
            (false, days) => format!("due in {}", counted(days as usize + 1, "day")),
        };
        format!("Question {}, {standing}, {due}", self.place)
    }
}

/// The schedule of a course's questions for one learner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Review {
    /// The file of the questions; `None` if the course has none.
    pub file: Option<PathBuf>,
    /// The questions that were answered, or whose lessons the learner has opened. Those that are due come before the
    /// others. Within each of these two parts, those answered wrongly come first, and then those not asked yet whose
    /// lessons have wrong predictions, the most first. Otherwise, the order is that in which they are due.
    pub questions: Vec<Scheduled>,
    /// The time at which the schedule was made, in seconds since 1970.
    pub now: u64,
}

impl Review {
    /// Schedules the questions of a lesson for a learner. `files` are the lessons of its folder.
    pub fn of(lesson: &Lesson, path: &Path, files: &[CourseFile], course: &Course, now: u64) -> Self {
        let answers = name(path).and_then(|name| course.answers.get(&name));
        let scheduled = |(place, (cell, of)): (usize, (&str, String))| {
            let (file, heading) = files.iter().find_map(|file| Some((file, heading_of(file, &of)?)))?;
            let progress = name(&file.path).and_then(|name| course.lessons.get(&name));
            let answered = answers.and_then(|answers| answers.get(cell));
            let (standing, due) = match (answered, progress) {
                (Some(answered), _) if answered.rights == 0 => (Standing::Wrong, answered.due(now)),
                (Some(answered), _) => (Standing::Right(answered.rights), answered.due(now)),
                (None, Some(progress)) => (Standing::NotAsked, progress.opened.min(now) + DAY),
                (None, None) => return None,
            };
            let wrong = progress.map_or(0, |progress| progress.wrong);
            let draw = FIRST_DRAW + answered.map_or(0, |answered| answered.times as usize);
            let lesson = (heading.number?, heading.title.clone());
            Some((wrong, Scheduled { cell: cell.to_owned(), place: place + 1, lesson, standing, due, draw }))
        };
        let mut questions: Vec<_> = questions(lesson).enumerate().filter_map(scheduled).collect();
        questions.sort_by_key(|(wrong, question)| {
            let is_right = question.standing != Standing::Wrong;
            // Among questions that were never asked, those come first whose lessons have the most wrong predictions.
            let wrong = if question.standing == Standing::NotAsked { *wrong } else { 0 };
            (!question.is_due(now), is_right, Reverse(wrong), question.due)
        });
        Self { file: Some(path.to_owned()), questions: questions.into_iter().map(|(_, it)| it).collect(), now }
    }

    /// Returns the questions that are due.
    pub fn due(&self) -> impl Iterator<Item = &Scheduled> {
        self.questions.iter().filter(|question| question.is_due(self.now))
    }

    /// Returns the questions for the beginning of the lesson with this number, at most [`AT_BEGINNING`], about lessons
    /// before it: those that are due and, if the lesson `is_new` to the learner, those that were never asked.
    pub fn at_beginning(&self, number: usize, is_new: bool) -> Vec<Scheduled> {
        let is_asked = |question: &&Scheduled| {
            let is_first = is_new && question.standing == Standing::NotAsked;
            question.lesson.0 < number && (question.is_due(self.now) || is_first)
        };
        self.questions.iter().filter(is_asked).take(AT_BEGINNING).cloned().collect()
    }
}

/// Returns the heading of a file that is the lesson with this id.
fn heading_of<'f>(file: &'f CourseFile, lesson: &str) -> Option<&'f Heading> {
    file.heading.as_ref().ok().filter(|heading| heading.id == lesson)
}

/// Returns the file of a course's questions.
pub fn file_of(files: &[CourseFile]) -> Option<&Path> {
    Some(&files.iter().find(|file| heading_of(file, RECALL).is_some())?.path)
}

/// Returns the ids of a lesson's questions with drawn numbers, each with the id of the lesson to which its explanation
/// links.
fn questions(lesson: &Lesson) -> impl Iterator<Item = (&str, String)> {
    let of_lesson = |link: &str| match TextLink::read(link)?.ok()? {
        TextLink::Lesson(lesson) | TextLink::Place { lesson, .. } => Some(lesson),
        _ => None,
    };
    lesson.cells.iter().filter_map(move |cell| match &cell.kind {
        CellKind::Predict(predict) if predict.is_drawn() => {
            Some((cell.id.as_str(), predict.explain.links().find_map(of_lesson)?))
        }
        _ => None,
    })
}

/// Returns the lesson with only these questions, and the work with which it begins, in which each question has its next
/// draw.
pub fn only(all: &Lesson, asked: &[Scheduled]) -> (Lesson, Saved) {
    let cells = asked.iter().filter_map(|asked| all.cells.iter().find(|cell| cell.id == asked.cell)).cloned();
    let lesson = Lesson { cells: cells.collect(), ..all.clone() };
    let saved = |asked: &Scheduled| SavedCell { id: asked.cell.clone(), resets: asked.draw, ..SavedCell::default() };
    let notebook = SavedNotebook {
        cells: asked.iter().map(saved).collect(),
        lesson: asked.iter().map(|asked| asked.cell.clone()).collect(),
        auto_run: false,
    };
    (lesson, Saved { lesson: all.id.clone(), notebook, ..Saved::default() })
}

/// The questions at the beginning of a lesson, as they are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallModel {
    pub questions: Vec<Scheduled>,
    pub now: u64,
    /// Their cells; not all of them are there until their numbers are drawn.
    pub notebook: NotebookModel,
}

impl RecallModel {
    /// Returns whether the numbers of all questions have been drawn.
    pub fn is_ready(&self) -> bool {
        let is_drawn = |shown: &CellSnapshot| shown.live.as_ref().is_none_or(|live| live.values.is_some());
        !self.notebook.live.is_empty() && self.notebook.cells.iter().all(|cell| is_drawn(&cell.shown))
    }

    pub fn is_answered(&self) -> bool {
        self.is_ready() && self.notebook.cells.iter().all(|cell| cell.cell.is_done())
    }
}
