//! New lessons: a small, working and commented one, or a copy of another lesson.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::lesson::load;
use crate::lesson::reading::file::is_named_as_lesson;
use crate::lesson::reading::issue::{LessonIssue, shown};
use crate::lesson::reading::places::value_in;
use crate::lesson::schema::limits::ID_CHARS_MAX;
use crate::whole_file;

const STARTER: &str = include_str!("starter.ron");

/// The reason why a new lesson was not written.
#[derive(Debug)]
pub enum NotNew {
    /// A name without the extension of a lesson file.
    Name(PathBuf),
    /// A name that an existing file has.
    Taken(PathBuf),
    /// A lesson to be copied that cannot be read.
    From(Box<LessonIssue>),
    Unwritten(PathBuf, io::Error),
}

impl fmt::Display for NotNew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(path) => {
                write!(
                    f,
                    "{:?} cannot be a lesson, because its name must end in .ron, as in my_lesson.ron",
                    shown(path)
                )
            }
            Self::Taken(path) => {
                write!(f, "{:?} already exists; choose another name, or move that file away", shown(path))
            }
            Self::From(issue) => write!(f, "{issue}"),
            Self::Unwritten(path, why) => write!(f, "{}: {why}", shown(path)),
        }
    }
}

/// Writes the starter lesson, or a copy of the lesson `from`. An existing file is never overwritten.
///
/// # Errors
/// If the name lacks the extension of a lesson file or is taken, or if a file cannot be read or written.
pub fn write_new(path: &Path, from: Option<&Path>) -> Result<(), NotNew> {
    if !is_named_as_lesson(path) {
        return Err(NotNew::Name(path.to_owned()));
    }
    let name = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let lesson = match from {
        None => of_name(&name),
        Some(other) => copy_of(&load::text(other).map_err(NotNew::From)?, &name),
    };
    // An empty file takes the name first, so that a file which another program makes meanwhile is not replaced.
    let write = |_| whole_file::write(path, lesson.as_bytes()).inspect_err(|_| _ = fs::remove_file(path));
    File::create_new(path).and_then(write).map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => NotNew::Taken(path.to_owned()),
        _ => NotNew::Unwritten(path.to_owned(), why),
    })
}

/// Returns a name that is free in the folder: `my_apple.ron`, or `my_apple_2.ron` and so on.
pub fn free_name(folder: &Path, of: &str) -> PathBuf {
    let numbered = (2_u32..).map(|number| format!("my_{of}_{number}.ron"));
    let mut names = std::iter::once(format!("my_{of}.ron")).chain(numbered).map(|name| folder.join(name));
    names.find(|path| path.symlink_metadata().is_err()).unwrap_or_default()
}

/// Returns the starter lesson for a file of this name.
pub fn of_name(name: &str) -> String {
    STARTER.replace("id: \"NAME\"", &format!("id: \"{}\"", id(name))).replace("NAME.ron", &format!("{name}.ron"))
}

/// Returns another lesson's text for a file of this name, with an id of its own, so that the learner's work on both is
/// stored separately.
pub fn copy_of(text: &str, name: &str) -> String {
    let mut copy = text.to_owned();
    if let Some(value) = value_in(text, "id") {
        copy.replace_range(value, &format!("{:?}", id(name)));
    }
    copy
}

/// Returns an id for a file's name. Letters become lowercase; those from a to z, digits, `-` and `_` stay, and anything
/// else becomes `_`.
fn id(name: &str) -> String {
    let is_of_an_id = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    let lower = name.to_lowercase();
    let id: String =
        lower.chars().take(ID_CHARS_MAX).map(|letter| if is_of_an_id(letter) { letter } else { '_' }).collect();
    if id.is_empty() { "lesson".to_owned() } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::parse;

    #[test]
    fn whatever_the_file_is_called_the_lesson_has_no_issues() {
        let long = "x".repeat(500);
        for (name, id) in
            [("swim", "swim"), ("My Lesson ä", "my_lesson__"), ("", "lesson"), (&*long, &long[..ID_CHARS_MAX])]
        {
            let lesson = parse("new.ron", &of_name(name)).unwrap_or_else(|issues| panic!("{name:?}: {issues:?}"));
            assert_eq!(lesson.id, id);
        }
    }

    #[test]
    fn a_copy_has_an_id_of_its_own_and_cells_keep_theirs() {
        let text = "\u{feff}// id: \"comment\"\nLesson(cells: [Text(id: \"a\", md: \"id: \\\"x\\\"\")], id:\"old\", title: \"T\")";
        assert_eq!(copy_of(text, "new"), text.replace("\"old\"", "\"new\""));
        assert_eq!(copy_of("Lesson(", "new"), "Lesson(");
    }

    #[test]
    fn a_new_lesson_takes_the_place_of_nothing() {
        let folder = std::env::temp_dir().join(format!("attune-new-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let first = free_name(&folder, "apple");
        assert_eq!(first, folder.join("my_apple.ron"));
        write_new(&first, None).expect("it is written");
        let second = free_name(&folder, "apple");
        assert_eq!(second, folder.join("my_apple_2.ron"));
        write_new(&second, Some(&first)).expect("it is copied");
        let [one, two] = [&first, &second].map(|path| crate::lesson::load::read(path).expect("no issues"));
        assert_eq!((one.id.as_str(), two.id.as_str(), one.title), ("my_apple", "my_apple_2", two.title));
        assert!(matches!(write_new(&first, None), Err(NotNew::Taken(_))));
        assert!(matches!(write_new(&folder.join("a.txt"), None), Err(NotNew::Name(_))));
        assert!(matches!(write_new(&folder.join("b.ron"), Some(&folder.join("c.ron"))), Err(NotNew::From(_))));
        assert!(matches!(write_new(&folder.join("none/b.ron"), None), Err(NotNew::Unwritten(..))));
        #[cfg(unix)]
        {
            let nowhere = folder.join("my_link.ron");
            std::os::unix::fs::symlink(folder.join("nowhere.ron"), &nowhere).expect("a link");
            assert!(matches!(write_new(&nowhere, None), Err(NotNew::Taken(_))), "a link that leads nowhere is a name");
            assert_eq!(free_name(&folder, "link"), folder.join("my_link_2.ron"));
        }
        fs::remove_dir_all(folder).expect("it was there");
    }
}
