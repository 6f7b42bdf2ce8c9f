//! The learner's progress through the course: the number of completed tasks of each lesson, and the lesson that was
//! open last. It is plain data that outlives a session. Every window merges its own progress into it, and the course
//! page is made from it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use attune_core::kernel::notebook::document::Answer;
use attune_core::kernel::notebook::snapshot::{CellSnapshot, NotebookSnapshot, Verdict};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::Lesson;
use attune_core::lesson::course::CourseFile;
use attune_core::lesson::limits::CELLS_MAX;
use attune_core::store::Stored;
use attune_engine::panics::quietly;
use serde::{Deserialize, Serialize};

use super::pictures::Sketch;
use super::recall::{self, Answered, Answers, RECALL, Review};

/// The number of recently opened files that are remembered.
pub const RECENT_MAX: usize = 12;
/// The number of lessons whose progress is kept; those opened last stay.
pub const LESSONS_MAX: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// The progress in each lesson, by the path of its file.
    pub lessons: BTreeMap<String, LessonProgress>,
    /// The paths of recent files, the latest first.
    pub recent: Vec<String>,
    /// The answers to questions with randomly drawn numbers, by the path of their lesson's file.
    pub answers: BTreeMap<String, Answers>,
}

impl Stored for Course {
    const VERSION: u32 = 1;
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonProgress {
    pub title: String,
    pub tasks: Tasks,
    /// The number of predictions with a wrong answer.
    pub wrong: usize,
    /// The time at which the lesson was opened last, in seconds since 1970.
    pub opened: u64,
}

/// The number of completed predictions and exercises, and the number of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tasks {
    pub done: usize,
    pub of: usize,
}

impl Tasks {
    pub fn of(notebook: &NotebookSnapshot) -> Self {
        let cells = notebook.cells.iter().map(|shown| &shown.cell);
        let tasks = cells.filter(|cell| cell.kind.is_task());
        tasks.fold(Self::default(), |tasks, cell| Self {
            done: tasks.done + usize::from(cell.is_done()),
            of: tasks.of + 1,
        })
    }
}

impl LessonProgress {
    fn of(snapshot: &Snapshot, opened: u64) -> Self {
        let cells = &snapshot.notebook.cells;
        let wrong = cells.iter().filter(|shown| is_wrong(shown)).count();
        Self { title: snapshot.lesson.title.clone(), tasks: Tasks::of(&snapshot.notebook), wrong, opened }
    }

    /// Returns the progress within plausible limits: no more tasks than a lesson can have cells, and no more completed
    /// ones than tasks.
    fn bounded(&self) -> Self {
        let of = self.tasks.of.min(CELLS_MAX);
        Self { tasks: Tasks { done: self.tasks.done.min(of), of }, ..self.clone() }
    }
}

/// Returns whether a cell is a prediction with an answer that is not right.
fn is_wrong(shown: &CellSnapshot) -> bool {
    let verdict = shown.run.as_ref().and_then(|run| run.verdict.as_ref());
    match (&shown.cell.answer, verdict) {
        (Answer::Predict { chosen: Some(chosen), is_locked: true }, Some(Verdict::Prediction { right })) => {
            chosen != right
        }
        _ => false,
    }
}

/// Returns the seconds since 1970; 0 for an earlier time.
pub fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The lessons before and after the open one, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonsAround {
    pub before: Option<AroundLesson>,
    pub after: Option<AroundLesson>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AroundLesson {
    pub path: PathBuf,
    pub title: String,
}

impl LessonsAround {
    /// Finds the lessons around `lesson`, the open file; none if the lesson has no number. `files` are the lessons of
    /// its folder in order.
    pub fn of(files: &[CourseFile], lesson: &Path) -> Self {
        let numbered = |file: &&CourseFile| file.heading.as_ref().is_ok_and(|heading| heading.number.is_some());
        let files: Vec<&CourseFile> = files.iter().filter(numbered).collect();
        let Some(at) = files.iter().position(|file| file.path.file_name() == lesson.file_name()) else {
            return Self::default();
        };
        let named = |file: &&CourseFile| {
            let title = file.heading.as_ref().ok()?.title.clone();
            Some(AroundLesson { path: file.path.clone(), title })
        };
        Self { before: at.checked_sub(1).and_then(|at| named(&files[at])), after: files.get(at + 1).and_then(named) }
    }
}

/// Returns the name of a file in the saved course: its absolute path; `None` if that is not valid text.
pub fn name(file: &Path) -> Option<String> {
    std::path::absolute(file).ok()?.to_str().map(str::to_owned)
}

impl Course {
    /// Returns the progress of one window's lesson, which was opened at `opened`, with answers as of `now`; empty for a
    /// file whose path is not valid text.
    pub fn of(file: &Path, snapshot: &Snapshot, opened: SystemTime, now: SystemTime) -> Self {
        let Some(path) = name(file) else { return Self::default() };
        let progress = LessonProgress::of(snapshot, seconds(opened));
        let answers = BTreeMap::from([(path.clone(), recall::answers(&snapshot.notebook, seconds(now)))]);
        Self { lessons: BTreeMap::from([(path.clone(), progress)]), recent: vec![path], answers }
    }

    /// Returns the course with nothing but answers to the questions of a file.
    pub fn of_answers(file: &Path, answers: Answers) -> Self {
        let answers = name(file).map(|path| (path, answers)).into_iter().collect();
        Self { answers, ..Self::default() }
    }

    /// Returns what this window has to report since `before`: the new answers, and all its lessons; `None` if nothing
    /// has changed.
    pub fn since(&self, before: &Self) -> Option<Self> {
        let mut news = self.clone();
        for (path, answers) in &mut news.answers {
            let earlier = before.answers.get(path);
            let draw = |cell: &String| Some(earlier?.get(cell)?.draw);
            answers.retain(|cell, answered| draw(cell) != Some(answered.draw));
        }
        let has_answers = news.answers.values().any(|answers| !answers.is_empty());
        (has_answers || self.lessons != before.lessons).then_some(news)
    }

    /// Returns the course as a reset leaves it: no task is done, and no question was answered.
    pub fn reset(mut self) -> Self {
        for progress in self.lessons.values_mut() {
            (progress.tasks.done, progress.wrong) = (0, 0);
        }
        for answers in self.answers.values_mut() {
            answers.values_mut().for_each(|answered| *answered = Answered::default());
        }
        self
    }

    /// Merges a window's progress into the saved one.
    pub fn merge(&mut self, added: &Self) {
        for (path, progress) in &added.lessons {
            let kept = self.lessons.entry(path.clone()).or_default();
            let opened = kept.opened.max(progress.opened);
            *kept = LessonProgress { opened, ..progress.clone() };
        }
        for (path, added) in &added.answers {
            let kept = self.answers.entry(path.clone()).or_default();
            for (cell, answered) in added {
                let after = kept.get(cell).map_or(*answered, |before| before.then(*answered));
                kept.insert(cell.clone(), after);
            }
        }
        let mut recent = added.recent.clone();
        recent.extend(self.recent.iter().filter(|path| !added.recent.contains(path)).cloned());
        recent.sort_by_key(|path| Reverse(self.lessons.get(path).map_or(0, |lesson| lesson.opened)));
        self.recent = recent;
        *self = self.bounded();
    }

    /// Returns the course with no more lessons, answers and recent files than are kept; the lessons opened last stay.
    pub fn bounded(&self) -> Self {
        let mut latest: Vec<_> = self.lessons.iter().collect();
        latest.sort_by_key(|(_, lesson)| Reverse(lesson.opened));
        let lessons = latest.into_iter().take(LESSONS_MAX).map(|(path, lesson)| (path.clone(), lesson.bounded()));
        let answers = self.answers.iter().filter(|(_, answers)| !answers.is_empty()).take(LESSONS_MAX);
        let first = |answers: &Answers| -> Answers {
            let there = answers.iter().filter(|(_, answered)| answered.times > 0);
            there.take(CELLS_MAX).map(|(id, answered)| (id.clone(), *answered)).collect()
        };
        Self {
            lessons: lessons.collect(),
            recent: self.recent.iter().take(RECENT_MAX).cloned().collect(),
            answers: answers.map(|(path, answers)| (path.clone(), first(answers))).collect(),
        }
    }
}

/// The content of the course page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HomeModel {
    /// The lessons, in the order of the course.
    pub lessons: Vec<HomeRow>,
    /// Opened files that do not belong to the course, the latest first.
    pub others: Vec<HomeRow>,
    /// The folder of the lessons.
    pub folder: Option<PathBuf>,
    /// The lesson to begin or to continue with.
    pub next: Option<HomeNext>,
    /// The tasks of the whole course.
    pub tasks: Tasks,
    /// The schedule of the questions on earlier lessons.
    pub review: Review,
}

/// A lesson or a file in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HomeRow {
    pub path: PathBuf,
    pub number: Option<usize>,
    pub title: String,
    /// A line about the lesson, or the path of a file outside the course; may be empty.
    pub summary: String,
    pub minutes: Option<usize>,
    /// The lessons on which this one builds, each by its number, or by its title if it has none.
    pub builds_on: Vec<String>,
    /// The title of the chapter that begins with this lesson; `None` within a chapter.
    pub chapter: Option<String>,
    /// The picture; `None` until it is drawn.
    pub picture: Option<CardPicture>,
    pub tasks: Tasks,
    pub state: RowState,
}

/// The picture on the card of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub enum CardPicture {
    /// The opening picture, drawn from the lesson.
    Sketch(Arc<Sketch>),
    /// A placeholder for a model that is not on this computer, with what must be installed, the number of its layers
    /// and the number of heads in its first layer.
    Absent { needs: String, layers: usize, heads: usize },
    /// The absence of a picture, because none can be drawn.
    None,
}

impl CardPicture {
    /// Draws the picture of a lesson, or returns a placeholder if its model is not on this computer.
    pub fn of(lesson: Lesson) -> Self {
        if let Some(absent) = lesson.absent_model() {
            let blocks = &lesson.model.architecture.blocks;
            let heads = blocks.first().map_or(0, |block| block.attention.heads);
            return Self::Absent { needs: absent.needs(), layers: blocks.len(), heads };
        }
        // A panic in drawing one lesson must not prevent the others from being drawn.
        quietly(|| Sketch::of(lesson)).ok().flatten().map_or(Self::None, |sketch| Self::Sketch(Arc::new(sketch)))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowState {
    #[default]
    New,
    /// The lesson was opened before.
    Begun,
    /// All tasks of the lesson are completed.
    Done,
    /// The file has this number of issues, which are shown when it opens.
    Broken(usize),
    /// The file no longer exists.
    Missing,
}

/// The lesson to begin or to continue with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeNext {
    pub path: PathBuf,
    pub title: String,
    /// Whether the learner has begun the lesson.
    pub is_begun: bool,
}

/// The lessons and the saved progress that were found on the disk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CourseFiles {
    pub folder: Option<PathBuf>,
    pub files: Vec<CourseFile>,
    pub course: Course,
    /// The opened files that no longer exist, by their names in `course`.
    pub missing: BTreeSet<String>,
    /// The pictures of lessons, by the paths of their files.
    pub pictures: BTreeMap<PathBuf, CardPicture>,
    pub review: Review,
}

impl HomeModel {
    pub fn of(found: &CourseFiles) -> Self {
        // The saved file may contain anything.
        let course = found.course.bounded();
        // The lesson with the questions of recall is not listed, because they are asked in the other lessons and on a
        // page of their own.
        let is_shown = |file: &&CourseFile| !file.heading.as_ref().is_ok_and(|heading| heading.id == RECALL);
        let files = found.files.iter().filter(is_shown);
        let lessons: Vec<HomeRow> = files.map(|file| row_of_course(file, found, &course)).collect();
        let known: BTreeSet<String> = found.files.iter().filter_map(|file| name(&file.path)).collect();
        let others = course.recent.iter().filter(|path| !known.contains(*path));
        let others: Vec<HomeRow> = others.map(|path| row_of_recent(path, &course, &found.missing)).collect();
        let tasks = lessons
            .iter()
            .fold(Tasks::default(), |sum, row| Tasks { done: sum.done + row.tasks.done, of: sum.of + row.tasks.of });
        let next = next(&lessons, &others, &course);
        Self { lessons, others, folder: found.folder.clone(), next, tasks, review: found.review.clone() }
    }

    /// Returns whether there is progress that a reset would remove.
    pub fn is_begun(&self) -> bool {
        self.lessons.iter().any(|row| matches!(row.state, RowState::Begun | RowState::Done))
    }

    /// Returns the lessons chapter by chapter; those before the first chapter form a group without a title.
    pub fn chapters(&self) -> impl Iterator<Item = &[HomeRow]> {
        self.lessons.chunk_by(|_, next| next.chapter.is_none())
    }

    /// Returns all rows, in the order in which they are shown.
    pub fn rows(&self) -> impl Iterator<Item = &HomeRow> {
        self.lessons.iter().chain(&self.others)
    }
}

fn row_of_course(file: &CourseFile, found: &CourseFiles, course: &Course) -> HomeRow {
    let kept = name(&file.path).and_then(|name| course.lessons.get(&name));
    let heading = file.heading.as_ref();
    let tasks = match (kept, heading) {
        (Some(kept), _) if kept.tasks.of > 0 => kept.tasks,
        (_, Ok(heading)) => Tasks { done: 0, of: heading.tasks },
        _ => Tasks::default(),
    };
    let state = match heading {
        Err(issues) => RowState::Broken(*issues),
        Ok(_) => state(kept, tasks),
    };
    HomeRow {
        path: file.path.clone(),
        number: heading.ok().and_then(|heading| heading.number),
        title: heading.map_or_else(|_| file_name(&file.path), |heading| heading.title.clone()),
        summary: heading.ok().and_then(|heading| heading.summary.clone()).unwrap_or_default(),
        minutes: heading.ok().and_then(|heading| heading.minutes),
        builds_on: heading.ok().map_or_else(Vec::new, |heading| named(&heading.builds_on, &found.files)),
        chapter: heading.ok().and_then(|heading| heading.chapter.clone()),
        picture: found.pictures.get(&file.path).cloned(),
        tasks,
        state,
    }
}

/// Returns the numbers of lessons of the course, or the titles of those without a number.
fn named(ids: &[String], files: &[CourseFile]) -> Vec<String> {
    let heading = |id: &String| {
        let file = files.iter().find(|file| file.id() == *id)?;
        let heading = file.heading.as_ref().ok()?;
        Some(heading.number.map_or_else(|| heading.title.clone(), |number| number.to_string()))
    };
    ids.iter().filter_map(heading).collect()
}

fn row_of_recent(path: &str, course: &Course, missing: &BTreeSet<String>) -> HomeRow {
    let kept = course.lessons.get(path);
    let tasks = kept.map_or_else(Tasks::default, |kept| kept.tasks);
    let file = PathBuf::from(path);
    let title = kept.map(|kept| kept.title.clone()).filter(|title| !title.is_empty());
    HomeRow {
        title: title.unwrap_or_else(|| file_name(&file)),
        summary: path.to_owned(),
        tasks,
        state: if missing.contains(path) { RowState::Missing } else { state(kept, tasks) },
        path: file,
        ..HomeRow::default()
    }
}

fn state(kept: Option<&LessonProgress>, tasks: Tasks) -> RowState {
    match kept {
        None => RowState::New,
        Some(_) if tasks.of > 0 && tasks.done >= tasks.of => RowState::Done,
        Some(_) => RowState::Begun,
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the file that was opened last if it is begun but not completed, or else the first lesson of the course that
/// can be opened and is not completed.
fn next(lessons: &[HomeRow], others: &[HomeRow], course: &Course) -> Option<HomeNext> {
    let to = |row: &HomeRow| HomeNext {
        path: row.path.clone(),
        title: row.title.clone(),
        is_begun: row.state == RowState::Begun,
    };
    let opens = |row: &&HomeRow| matches!(row.state, RowState::New | RowState::Begun);
    let last = course.recent.first().and_then(|last| {
        lessons.iter().chain(others).find(|row| name(&row.path).as_ref() == Some(last) && row.state == RowState::Begun)
    });
    last.or_else(|| lessons.iter().find(opens)).map(to)
}
