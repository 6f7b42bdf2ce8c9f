//! The course: the lessons of one folder, in their order.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::lesson::load::parse;
pub use crate::lesson::reading::file::{EXTENSION, folder_of, is_named_as_lesson};
use crate::lesson::reading::file::{is_glossary, read_text};
use crate::lesson::schema::Lesson;

/// The folder's name.
pub const FOLDER: &str = "lessons";

/// Files that are read at most; a folder with more is not a course.
const FILES_MAX: usize = 200;

/// A file of the course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseFile {
    pub path: PathBuf,
    /// Or how many issues it has.
    pub heading: Result<Heading, usize>,
}

/// A lesson's entry on the course page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub id: String,
    pub title: String,
    pub summary: Option<String>,
    pub number: Option<usize>,
    pub minutes: Option<usize>,
    /// Ids of the lessons that it builds on.
    pub builds_on: Vec<String>,
    /// The chapter that begins with this lesson.
    pub chapter: Option<String>,
    /// Predictions and exercises.
    pub tasks: usize,
}

impl Heading {
    pub fn of(lesson: &Lesson) -> Self {
        Self {
            id: lesson.id.clone(),
            title: lesson.title.clone(),
            summary: lesson.summary.clone(),
            number: lesson.number,
            minutes: lesson.minutes,
            builds_on: lesson.builds_on.clone(),
            chapter: lesson.chapter.clone(),
            tasks: lesson.cells.iter().filter(|cell| cell.kind.is_task()).count(),
        }
    }
}

/// The folder of the course: the nearest one of its name, here or in a folder above.
pub fn folder() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let found = here.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir())?;
    // As the learner would write it, where it is just here.
    Some(if found.parent() == Some(&here) { PathBuf::from(FOLDER) } else { found })
}

impl CourseFile {
    /// The lesson's id; the file's name where the lesson cannot be read.
    pub fn id(&self) -> String {
        let name = || self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.heading.as_ref().map_or_else(|_| name(), |heading| heading.id.clone())
    }
}

/// The file of a folder's lesson, by its name.
pub fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension(EXTENSION)
}

/// The files of a folder's lessons, its glossary among them, in the order of their names.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| is_lesson(path)).collect();
    files.sort();
    files
}

/// The lessons of a folder, without its glossary: by their numbers, then those without one by the names of their files.
pub fn list(folder: &Path) -> Vec<CourseFile> {
    let mut files: Vec<CourseFile> = files(folder).into_iter().take(FILES_MAX).filter_map(course_file).collect();
    // Files whose heading cannot be read come last; the sort keeps the order of their names.
    files.sort_by_key(|file| {
        let number = file.heading.as_ref().ok().and_then(|heading| heading.number);
        (number.is_none(), number, file.heading.is_err())
    });
    files
}

/// The course entry of a file; `None` for a glossary.
fn course_file(path: PathBuf) -> Option<CourseFile> {
    let name = path.display().to_string();
    let heading = match read_text(&path, &name) {
        Ok(text) if is_glossary(&path, &text) => return None,
        Ok(text) => parse(&name, &text).map(|lesson| Heading::of(&lesson)).map_err(|issues| issues.len()),
        Err(_) => Err(1),
    };
    Some(CourseFile { path, heading })
}

/// Whether a path is a lesson's file: by its ending, with links followed.
pub fn is_lesson(path: &Path) -> bool {
    is_named_as_lesson(path) && path.is_file()
}
