//! A work or a state of somebody's that is opened as a copy: its file, and the lesson that it is of.
//!
//! The file names its lesson by an id and a hash, never by a path: whoever wrote it cannot have a file opened.

use std::path::{Path, PathBuf};

use attune_core::lesson::issue::{printable, shorten};
use attune_core::lesson::{course, load};

use super::work_file::{EXTENSION, LessonMark, WorkFile};

/// The warning for who opens it on another text of the lesson than it was made with.
pub const OTHER_VERSION: &str =
    "The file was made with another version of the lesson. Whatever does not fit this one is left out.";

/// A file that was read, and the file of its lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    pub file: PathBuf,
    pub lesson: PathBuf,
    pub content: WorkFile,
    /// The lesson has another text than the one that the file is of.
    pub is_of_another_version: bool,
}

impl Shared {
    /// Reads a file and finds its lesson: at the path that is given, else beside the file, else in the course. Of several,
    /// the one whose text is the very same. `of_program` gives the folder of the program's own course.
    ///
    /// # Errors
    /// If the file cannot be read, or there is no such lesson, in words.
    pub fn open(
        file: &Path,
        given: Option<&Path>,
        of_program: impl FnOnce() -> Option<PathBuf>,
    ) -> Result<Self, String> {
        let name = printable(&file.display().to_string());
        let content = WorkFile::read(file).map_err(|why| format!("{name}: {why}"))?;
        let mark = &content.lesson;
        let of = format!("{name}: it belongs to the lesson \"{}\"", shorten(&mark.id));
        let (lesson, is_same) = match given {
            Some(given) => {
                let all = |issues: Vec<_>| issues.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                let (lesson, text) = load::read_with_text(given).map_err(all)?;
                if lesson.id != mark.id {
                    let given = printable(&given.display().to_string());
                    return Err(format!("{of}, but {given} is \"{}\"", lesson.id));
                }
                // A model's files are compared when they are read.
                (given.to_owned(), text.is_none_or(|text| mark.is_of(&text)))
            }
            None => find(mark, file, of_program).ok_or_else(|| {
                format!(
                    "{of}, which is neither in the same folder nor in the course: put the lesson's file into the folder, or \
                     name it with --lesson"
                )
            })?,
        };
        Ok(Self { file: file.to_owned(), lesson, content, is_of_another_version: !is_same })
    }

    /// Sentences for who opens it.
    pub fn report(&self) -> Vec<String> {
        let file = printable(&self.file.file_name().unwrap_or_default().to_string_lossy());
        let by = self.content.name.as_ref().map_or(String::new(), |name| format!(", handed in by {}", shorten(name)));
        let copy = format!("This is a copy of {file}{by}. Your own work on the lesson does not change.");
        [copy].into_iter().chain(self.is_of_another_version.then(|| OTHER_VERSION.to_owned())).collect()
    }
}

/// Whether a path ends as such a file does, whatever is there.
pub fn is_shared(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(EXTENSION))
}

/// The lesson of this id, beside the file or in the course; and whether its text is the very same.
fn find(mark: &LessonMark, file: &Path, of_program: impl FnOnce() -> Option<PathBuf>) -> Option<(PathBuf, bool)> {
    let beside = file.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let folders = beside.map(Path::to_owned).into_iter().chain(course::folder());
    let mut found: Vec<PathBuf> = folders.flat_map(|folder| of_id(&folder, &mark.id)).collect();
    if !found.iter().any(|lesson| is_same(mark, lesson)) {
        found.extend(of_program().into_iter().flat_map(|folder| of_id(&folder, &mark.id)));
    }
    let same = found.iter().position(|lesson| is_same(mark, lesson));
    (!found.is_empty()).then(|| (found.swap_remove(same.unwrap_or(0)), same.is_some()))
}

/// The lessons of a folder that have this id.
fn of_id(folder: &Path, id: &str) -> Vec<PathBuf> {
    let files = course::list(folder).into_iter();
    files.filter(|file| file.heading.as_ref().is_ok_and(|heading| heading.id == id)).map(|file| file.path).collect()
}

fn is_same(mark: &LessonMark, lesson: &Path) -> bool {
    load::text(lesson).is_ok_and(|text| mark.is_of(&text))
}
