//! A learner's work as one file: answers, outputs and the state of the model, with the lesson to which they belong. It
//! is handed in, or shared together with the view. A name and the time spent are included only if the learner gives
//! them. A [`SharedWork`] is a file that is opened as a copy, with the lesson to which it belongs.
//!
//! The file identifies its lesson by an id and a hash, never by a path, so that nobody can make a file that opens some
//! other file on the reader's computer.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use attune_core::kernel::Saved;
use attune_core::kernel::notebook::saved::SavedCell;
use attune_core::kernel::saved_work::files;
use attune_core::kernel::sentence_pass::senses::{SenseList, SenseSentence, read_sentences};
use attune_core::lesson::issue::{printable, shorten, shown};
use attune_core::lesson::{Lesson, course, load};
use attune_core::whole_file;
use attune_engine::messages::counted;
use attune_engine::pretrained::Pretrained;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::file;
use crate::view_model::saved_view::SavedView;

/// The file name extension.
pub const EXTENSION: &str = "attune";
/// The version of the file format. In version 2 the work is a list of commands; older files are still read.
const VERSION: u32 = 2;
/// The largest length of a learner's name, in characters.
pub const NAME_CHARS_MAX: usize = 100;
/// The largest size of a file that is read, in bytes. Outputs are bounded, so every real work is far smaller.
const BYTES_MAX: u64 = 32 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkFile {
    /// The version of the file format.
    pub attune: u32,
    pub lesson: LessonMark,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    pub work: Saved,
    /// The view of the window, in a file that was shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<SavedView>,
}

/// The identity of a work's lesson, including the hash of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LessonMark {
    pub id: String,
    pub title: String,
    /// The SHA-256 of the lesson's text, or of the names and hashes of a model's files, in hexadecimal digits.
    pub sha256: String,
}

impl LessonMark {
    pub fn of(id: &str, title: &str, text: &str) -> Self {
        let sha256 = HEXLOWER.encode(&Sha256::digest(text));
        Self { id: id.to_owned(), title: title.to_owned(), sha256 }
    }

    /// Returns the mark of a pretrained model that was opened without a lesson's file.
    pub fn of_model(lesson: &Lesson, model: &Pretrained) -> Self {
        let files: String = files(model).iter().map(|(name, sha256)| format!("{name} {sha256}\n")).collect();
        Self::of(&lesson.id, &lesson.title, &files)
    }

    /// Returns whether the work was made with exactly this text.
    pub fn is_of(&self, text: &str) -> bool {
        Self::of(&self.id, &self.title, text).sha256 == self.sha256
    }
}

/// The reason why a file cannot be read as a work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread(String);

impl Unread {
    fn foreign(why: &dyn fmt::Display) -> Self {
        Self(format!("it is not a file that attune wrote ({}); ask for the file again", begins(&why.to_string())))
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the proposed file: beside the lesson, named after the lesson and `of`, such as the learner's name.
pub fn beside(lesson: &Path, of: &str) -> PathBuf {
    /// The largest length of `of`; longer texts are cut, because the end of a file name is often hidden.
    const CHARS_MAX: usize = 40;
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let of: String = of.trim().to_lowercase().chars().map(plain).take(CHARS_MAX).collect();
    let stem = lesson.file_stem().unwrap_or_default().to_string_lossy();
    lesson.with_file_name(format!("{stem}-{of}.{EXTENSION}"))
}

/// Returns the beginning of a message, which may contain text of the file.
fn begins(message: &str) -> String {
    const CHARS_MAX: usize = 300;
    message.chars().take(CHARS_MAX).collect()
}

/// The version of a file, which is read before the rest.
#[derive(Deserialize)]
struct Versioned {
    attune: u32,
}

impl WorkFile {
    pub fn new(lesson: LessonMark, work: Saved) -> Self {
        Self { attune: VERSION, lesson, name: None, minutes: None, work, view: None }
    }

    /// Reads a work file.
    ///
    /// # Errors
    /// If it is not a regular file, too large, truncated, not a work, or of a newer version.
    pub fn read(path: &Path) -> Result<Self, Unread> {
        let bytes = attune_engine::files::read(path, BYTES_MAX).map_err(|why| match why.kind() {
            ErrorKind::IsADirectory | ErrorKind::InvalidInput => Unread("it is not a regular file".to_owned()),
            ErrorKind::FileTooLarge => Unread(format!("it has {why}, but such a file has at most {BYTES_MAX}")),
            _ => Unread(format!("it cannot be read: {why}")),
        })?;
        Self::parse(str::from_utf8(&bytes).map_err(|why| Unread::foreign(&why))?)
    }

    /// Parses the text of a work file.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn parse(text: &str) -> Result<Self, Unread> {
        let is_cut = |error: &serde_json::Error| error.is_eof();
        let why = |error: serde_json::Error| match is_cut(&error) {
            true => Unread("it is incomplete; ask for the file again".to_owned()),
            false => Unread::foreign(&error),
        };
        let version = serde_json::from_str::<Versioned>(text).map_err(why)?.attune;
        if version > VERSION {
            return Err(Unread(format!(
                "it has format version {version}, but this attune reads versions up to {VERSION}; use a newer attune"
            )));
        }
        let work: Self = serde_json::from_str(text).map_err(why)?;
        match work.name.as_ref().map_or(0, |name| name.chars().count()) {
            count if count > NAME_CHARS_MAX => {
                Err(Unread(format!("the name in it has {count} characters, but a name has at most {NAME_CHARS_MAX}")))
            }
            _ => Ok(work),
        }
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Writes the file in place of an existing one, but never over the lesson. Returns a line that reports it.
    ///
    /// # Errors
    /// If it cannot be written, described in words; an existing file is then unchanged.
    pub fn write(&self, lesson: &Path, to: &Path) -> Result<String, String> {
        let (text, name) = (self.text(), shown(to));
        if text.len() as u64 > BYTES_MAX {
            return Err(format!("{name}: it would have {} bytes, but such a file has at most {BYTES_MAX}", text.len()));
        }
        file::write(lesson, to, text.as_bytes()).map_err(|fault| fault.to_string())?;
        Ok(format!("{name}: {}", self.about()))
    }

    /// Returns a summary of the content, in words.
    fn about(&self) -> String {
        if self.view.is_some() {
            return "the lesson as you see it; attune opens it as a copy".to_owned();
        }
        let answers = self.work.notebook.cells.iter().map(SavedCell::tries).filter(|tries| *tries > 0).count();
        let name = self.name.as_ref().map_or("without a name".to_owned(), |name| format!("by {}", printable(name)));
        let minutes = self.minutes.map_or(String::new(), |minutes| format!(", {minutes} min"));
        format!("{}, {name}{minutes}", counted(answers, "answer"))
    }
}

/// The warning that the work was made with another text of the lesson.
pub const OTHER_VERSION: &str =
    "The file was made with another version of the lesson. Whatever does not fit this version is left out.";

/// A work that was read, and the file of its lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedWork {
    pub file: PathBuf,
    pub lesson: PathBuf,
    pub content: WorkFile,
    /// Whether the work was made with another text of the lesson.
    pub is_of_another_version: bool,
}

impl SharedWork {
    /// Reads a file and finds its lesson: at the given path, or else beside the file, or else in the course. Of several
    /// lessons with its id, the one with exactly the same text is taken. `of_program` returns the folder of the
    /// built-in course.
    ///
    /// # Errors
    /// If the file cannot be read, or there is no such lesson; described in words.
    pub fn open(
        file: &Path,
        given: Option<&Path>,
        of_program: impl FnOnce() -> Option<PathBuf>,
    ) -> Result<Self, String> {
        let name = shown(file);
        let content = WorkFile::read(file).map_err(|why| format!("{name}: {why}"))?;
        let mark = &content.lesson;
        let of = format!("{name}: it belongs to the lesson \"{}\"", shorten(&mark.id));
        let (lesson, is_same) = match given {
            Some(given) => {
                let all = |issues: Vec<_>| issues.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                let (lesson, text) = load::read_with_text(given).map_err(all)?;
                if lesson.id != mark.id {
                    let given = shown(given);
                    return Err(format!("{of}, but {given} is \"{}\"", lesson.id));
                }
                // A model that is opened without a lesson has no text; its files are compared when they are read.
                (given.to_owned(), text.is_none_or(|text| mark.is_of(&text)))
            }
            None => find(mark, file, of_program).ok_or_else(|| {
                format!(
                    "{of}, which is neither in the same folder nor in the course; put the lesson's file into the \
                     folder, or name it with --lesson"
                )
            })?,
        };
        Ok(Self { file: file.to_owned(), lesson, content, is_of_another_version: !is_same })
    }

    /// Returns sentences that tell the person who opens the file what it is.
    pub fn report(&self) -> Vec<String> {
        let file = printable(&self.file.file_name().unwrap_or_default().to_string_lossy());
        let by = self.content.name.as_ref().map_or(String::new(), |name| format!(", handed in by {}", shorten(name)));
        let copy = format!("This is a copy of {file}{by}. Your own work on the lesson does not change.");
        [copy].into_iter().chain(self.is_of_another_version.then(|| OTHER_VERSION.to_owned())).collect()
    }
}

/// Returns whether a path has the extension of a work file, whether or not the file exists.
pub fn is_shared(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(EXTENSION))
}

/// Finds the lesson with this id beside the file or in the course. Returns its path and whether its text is exactly the
/// same; `None` if there is no lesson with this id.
fn find(mark: &LessonMark, file: &Path, of_program: impl FnOnce() -> Option<PathBuf>) -> Option<(PathBuf, bool)> {
    let folders = [course::folder_of(file).to_owned()].into_iter().chain(course::folder());
    let mut found: Vec<PathBuf> = folders.flat_map(|folder| of_id(&folder, &mark.id)).collect();
    if !found.iter().any(|lesson| is_same(mark, lesson)) {
        found.extend(of_program().into_iter().flat_map(|folder| of_id(&folder, &mark.id)));
    }
    let same = found.iter().position(|lesson| is_same(mark, lesson));
    (!found.is_empty()).then(|| (found.swap_remove(same.unwrap_or(0)), same.is_some()))
}

/// Returns the lessons in a folder that have this id.
fn of_id(folder: &Path, id: &str) -> Vec<PathBuf> {
    let files = course::list(folder).into_iter();
    files.filter(|file| file.heading.as_ref().is_ok_and(|heading| heading.id == id)).map(|file| file.path).collect()
}

fn is_same(mark: &LessonMark, lesson: &Path) -> bool {
    load::text(lesson).is_ok_and(|text| mark.is_of(&text))
}

/// The file name extension of a list of sentences.
pub const SENSES_EXTENSION: &str = "txt";
/// The largest size of a list of sentences that is read, in bytes.
const SENSES_BYTES_MAX: u64 = 1 << 21;

/// Reads a list of sentences that have one word in common.
///
/// # Errors
/// If it cannot be read or is not such a list; described in words for the learner.
pub fn read_senses(file: &Path) -> Result<Vec<SenseSentence>, String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let bytes = attune_engine::files::read(file, SENSES_BYTES_MAX).map_err(|why| match why.kind() {
        ErrorKind::FileTooLarge => {
            format!("{name} is not a list of sentences: it has more than {} MiB", SENSES_BYTES_MAX >> 20)
        }
        _ => format!("{name} cannot be read: {why}"),
    })?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8 text; save the file as UTF-8"))?;
    read_sentences(&text).map_err(|why| format!("{name}: {why}"))
}

/// Writes a list of sentences that have one word in common, as plain text.
///
/// # Errors
/// If it cannot be written, described in words for the learner; an existing file is then unchanged.
pub fn write_senses(list: &SenseList, file: &Path) -> Result<(), String> {
    if let Some(why) = whole_file::no_plain_file(file) {
        return Err(why.to_owned());
    }
    whole_file::write(file, list.written().as_bytes()).map_err(|why| format!("{}: {why}", file.display()))
}
