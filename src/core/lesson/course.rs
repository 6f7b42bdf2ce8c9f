//! The course: the lessons of one folder, in their order.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::lesson::load::parse;
pub use crate::lesson::reading::file::{EXTENSION, folder_of, is_named_as_lesson};
use crate::lesson::reading::file::{begins_as_claims, is_glossary, read_text};
use crate::lesson::schema::Lesson;

/// Id of the page of questions, a lesson whose texts lead to the cells of others.
pub const QUESTIONS: &str = "questions";

/// Name of the course's folder.
pub const FOLDER: &str = "lessons";

/// Greatest number of files that are read, so that a huge folder does not block the program.
const FILES_MAX: usize = 200;

/// A file of the course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseFile {
    pub path: PathBuf,
    /// The heading, or the number of issues of a file that is no valid lesson.
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
    /// Ids of the lessons on which this one builds.
    pub builds_on: Vec<String>,
    /// Title of the chapter that begins with this lesson.
    pub chapter: Option<String>,
    /// Number of predictions and exercises.
    pub tasks: usize,
    /// Ids of the cells, to which links of other lessons may lead.
    pub cells: Vec<String>,
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
            cells: lesson.cells.iter().map(|cell| cell.id.clone()).collect(),
        }
    }
}

/// Returns the folder of the course: the nearest one with the name `FOLDER`, in the current folder or in one above it.
pub fn folder() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let found = here.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir())?;
    // A folder in the current one is returned as the learner would write it.
    Some(if found.parent() == Some(&here) { PathBuf::from(FOLDER) } else { found })
}

impl CourseFile {
    /// Returns the lesson's id, or the file's name if the lesson is not valid.
    pub fn id(&self) -> String {
        let name = || self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.heading.as_ref().map_or_else(|_| name(), |heading| heading.id.clone())
    }
}

/// Returns the path of a lesson's file in a folder.
pub fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension(EXTENSION)
}

/// Lists the lesson files of a folder, including its glossary, in alphabetical order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| is_lesson(path)).collect();
    files.sort();
    files
}

/// Lists the lessons of a folder, without its glossary: first by number, then those without a number by file name.
pub fn list(folder: &Path) -> Vec<CourseFile> {
    let mut files: Vec<CourseFile> = files(folder).into_iter().take(FILES_MAX).filter_map(course_file).collect();
    // Lessons that are not valid come last; the stable sort keeps them in alphabetical order.
    files.sort_by_key(|file| {
        let number = file.heading.as_ref().ok().and_then(|heading| heading.number);
        (number.is_none(), number, file.heading.is_err())
    });
    files
}

/// Returns the course entry of a file, or `None` for a glossary or a file of claims.
fn course_file(path: PathBuf) -> Option<CourseFile> {
    let name = path.display().to_string();
    let heading = match read_text(&path, &name) {
        Ok(text) if is_glossary(&path, &text) || begins_as_claims(&text) => return None,
        Ok(text) => parse(&name, &text).map(|lesson| Heading::of(&lesson)).map_err(|issues| issues.len()),
        Err(_) => Err(1),
    };
    Some(CourseFile { path, heading })
}

/// Returns whether a path leads to a lesson file, by its extension; links are followed.
pub fn is_lesson(path: &Path) -> bool {
    is_named_as_lesson(path) && path.is_file()
}
