//! The learner's way through the course: of each lesson how many of its tasks are done, and which was
//! open last. Plain data that outlives a session; every window adds its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::kernel::notebook::snapshot::NotebookSnapshot;
use crate::kernel::snapshot::Snapshot;
use crate::lesson::cells::CellKind;

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
        let tasks = cells.filter(|cell| matches!(*cell.kind, CellKind::Predict(_) | CellKind::Exercise(_)));
        tasks.fold(Self::default(), |tasks, cell| Self {
            done: tasks.done + usize::from(cell.is_done()),
            of: tasks.of + 1,
        })
    }
}

/// How the course names a file: by its path, if that is text.
pub fn name(file: &Path) -> Option<String> {
    std::path::absolute(file).ok()?.to_str().map(str::to_owned)
}

impl Course {
    /// What a window adds: how far its lesson is. Nothing of a file whose path is no text.
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
        while self.lessons.len() > LESSONS_MAX {
            let oldest = self.lessons.iter().min_by_key(|(_, lesson)| lesson.opened).map(|(path, _)| path.clone());
            let Some(oldest) = oldest else { break };
            self.lessons.remove(&oldest);
        }
        let opened = |path: &String| self.lessons.get(path).map_or(0, |lesson| lesson.opened);
        let mut recent = added.recent.clone();
        recent.extend(self.recent.iter().filter(|path| !added.recent.contains(path)).cloned());
        recent.sort_by_key(|path| std::cmp::Reverse(opened(path)));
        recent.truncate(RECENT_MAX);
        self.recent = recent;
    }
}
