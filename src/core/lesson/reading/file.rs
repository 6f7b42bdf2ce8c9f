//! The files of a folder of lessons: their names, their first bytes and their text.

use std::path::Path;
use std::string::FromUtf8Error;
use std::{fmt, fs, io};

use attune_engine::files::{self, text_without_mark};
use attune_engine::foreign::{Foreign, recognise};
use attune_engine::messages::nearest;
use attune_engine::vectors::HEAD_BYTES;

use crate::lesson::reading::issue::{LessonIssue, LessonText};
use crate::lesson::reading::tree;

/// Extension of a lesson's file name.
pub const EXTENSION: &str = "ron";

/// Returns the folder of a file; for a name without a folder, the current folder.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns whether a path has the extension of a lesson.
pub fn is_named_as_lesson(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(EXTENSION))
}

/// File name of the glossary, which is in the same folder as its lessons.
pub const FILE: &str = "glossary.ron";

/// Name of the record in a glossary file.
pub(crate) const NAME: &str = "Glossary";

/// Returns whether a file is a glossary, by its name or its first word.
pub fn is_glossary(path: &Path, text: &str) -> bool {
    path.file_name().is_some_and(|name| name == FILE) || begins_as_glossary(text)
}

/// Returns whether the text, after any comments, begins like a glossary. A lesson cannot begin this way.
pub(crate) fn begins_as_glossary(text: &str) -> bool {
    tree::begins_with(text_without_mark(text), NAME)
}

/// Name of the record in a file of claims.
pub(crate) const CLAIMS: &str = "Claims";

/// Returns whether the text, after any comments, begins like a file of claims.
pub(crate) fn begins_as_claims(text: &str) -> bool {
    tree::begins_with(text_without_mark(text), CLAIMS)
}

/// Greatest size of a lesson file, in bytes; a larger file is refused before it is read.
pub const LESSON_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Advice for a path that does not lead to a lesson.
pub(crate) const A_LESSON: &str = "a lesson file, such as lessons/apple.ron, or the folder of a model";

/// Reads the text of a lesson's file without parsing it.
///
/// # Errors
/// If there is no such file, or it is too large or not a text.
pub fn text(path: &Path) -> Result<String, Box<LessonIssue>> {
    read_text(path, &path.display().to_string())
}

/// Reads the text of a regular file of reasonable size, which messages call `file`.
pub(crate) fn read_text(path: &Path, file: &str) -> Result<String, Box<LessonIssue>> {
    let cannot = |error: io::Error| {
        Box::new(match error.kind() {
            io::ErrorKind::NotFound => not_found(path, file),
            io::ErrorKind::PermissionDenied => {
                LessonIssue::of_file(file, "no permission to read this file", "a readable file")
            }
            io::ErrorKind::IsADirectory => LessonIssue::of_file(file, error.to_string(), A_LESSON),
            io::ErrorKind::InvalidInput => LessonIssue::of_file(file, error.to_string(), "a lesson file"),
            io::ErrorKind::FileTooLarge => too_large(file, &error),
            _ => LessonIssue::of_file(file, format!("cannot be read: {error}"), "a readable file"),
        })
    };
    if let Some(kind) = foreign(path) {
        let (what, expected) = (format!("this is {}", kind.what), format!("{A_LESSON}; {}", kind.advice));
        return Err(Box::new(LessonIssue::of_file(file, what, expected)));
    }
    let bytes = files::read(path, LESSON_BYTES_MAX).map_err(cannot)?;
    String::from_utf8(bytes).map_err(|error| Box::new(not_utf8(file, &error)))
}

/// Returns the kind of a file that is neither a lesson nor a file of vectors, if its first bytes identify it.
pub fn foreign(path: &Path) -> Option<&'static Foreign> {
    recognise(&head(path))
}

fn not_utf8(file: &str, error: &FromUtf8Error) -> LessonIssue {
    let at = error.utf8_error().valid_up_to();
    let byte = error.as_bytes().get(at).copied().unwrap_or_default();
    let before = String::from_utf8_lossy(&error.as_bytes()[..at]);
    let message = format!("byte {at} (0x{byte:02x}) is not UTF-8 text");
    let issue = LessonIssue::of_file(file, message, "a text file saved as UTF-8");
    LessonIssue { place: Some(LessonText::new(file, &before).place(before.len())), ..issue }
}

pub(crate) fn too_large(file: &str, found: &dyn fmt::Display) -> LessonIssue {
    LessonIssue::of_file(file, found.to_string(), format!("at most {LESSON_BYTES_MAX} bytes"))
}

fn not_found(path: &Path, file: &str) -> LessonIssue {
    /// Greatest number of files that are searched for a similar name; a folder with more is hardly a folder of lessons.
    const NEIGHBOURS_MAX: usize = 1000;
    let names: Vec<String> = fs::read_dir(folder_of(path))
        .into_iter()
        .flatten()
        .take(NEIGHBOURS_MAX)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".ron"))
        .collect();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let mut issue = LessonIssue::of_file(file, "no such file", "a lesson file");
    issue.nearest = nearest(&wanted, names.iter().map(String::as_str)).map(|name| {
        // The path is shown as the learner would type it.
        path.with_file_name(name).display().to_string()
    });
    issue
}

/// Returns the first bytes of a file, or none if it cannot be read.
pub(crate) fn head(path: &Path) -> Vec<u8> {
    files::head(path, HEAD_BYTES as u64).unwrap_or_default()
}
