//! The learner's way through the course: of each lesson how many of its tasks are done, and which was
//! open last. Plain data that outlives a session; every window adds its own.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use attune_core::kernel::notebook::snapshot::NotebookSnapshot;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::course::CourseFile;
use attune_core::lesson::limits::CELLS_MAX;
use attune_core::store::Stored;
use serde::{Deserialize, Serialize};

/// Files that were opened last.
pub const RECENT_MAX: usize = 12;
/// Lessons that are remembered, the latest ones.
pub const LESSONS_MAX: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// By the path of the file.
    pub lessons: BTreeMap<String, LessonProgress>,
    /// Paths, the latest first.
    pub recent: Vec<String>,
}

impl Stored for Course {
    const VERSION: u32 = 1;
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonProgress {
    pub title: String,
    pub tasks: Tasks,
    /// Seconds since 1970.
    pub opened: u64,
}

/// Predictions and exercises.
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
    /// No lesson has more tasks than cells, nor more of them done than there are.
    fn bounded(&self) -> Self {
        let of = self.tasks.of.min(CELLS_MAX);
        Self { tasks: Tasks { done: self.tasks.done.min(of), of }, ..self.clone() }
    }
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
    /// `lesson` is the file that is open, `files` are the lessons of its folder in their order.
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

/// How the course names a file: by its path, if that is text.
pub fn name(file: &Path) -> Option<String> {
    std::path::absolute(file).ok()?.to_str().map(str::to_owned)
}

impl Course {
    /// The course as one window knows it: the progress of its lesson. Empty for a file whose path is no text.
    pub fn of(file: &Path, snapshot: &Snapshot, opened: SystemTime) -> Self {
        let Some(path) = name(file) else { return Self::default() };
        let opened = opened.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let title = snapshot.lesson.title.clone();
        let progress = LessonProgress { title, tasks: Tasks::of(&snapshot.notebook), opened };
        Self { lessons: BTreeMap::from([(path.clone(), progress)]), recent: vec![path] }
    }

    /// Takes in what a window adds to what is kept.
    pub fn merge(&mut self, added: &Self) {
        for (path, progress) in &added.lessons {
            let kept = self.lessons.entry(path.clone()).or_default();
            let opened = kept.opened.max(progress.opened);
            *kept = LessonProgress { opened, ..progress.clone() };
        }
        let mut recent = added.recent.clone();
        recent.extend(self.recent.iter().filter(|path| !added.recent.contains(path)).cloned());
        recent.sort_by_key(|path| Reverse(self.lessons.get(path).map_or(0, |lesson| lesson.opened)));
        self.recent = recent;
        *self = self.bounded();
    }

    /// The latest lessons, as many as are kept.
    pub fn bounded(&self) -> Self {
        let mut latest: Vec<_> = self.lessons.iter().collect();
        latest.sort_by_key(|(_, lesson)| Reverse(lesson.opened));
        let lessons = latest.into_iter().take(LESSONS_MAX).map(|(path, lesson)| (path.clone(), lesson.bounded()));
        Self { lessons: lessons.collect(), recent: self.recent.iter().take(RECENT_MAX).cloned().collect() }
    }
}
