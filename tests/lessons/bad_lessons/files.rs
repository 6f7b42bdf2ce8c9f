//! Files, and what is none.

use std::fs;
use std::path::{Path, PathBuf};

use attune_core::lesson::limits::LESSON_BYTES_MAX;
use attune_core::lesson::{LessonIssue, read};

use super::GOOD;
use crate::common::folder::Folder;

/// A file in a folder of its own.
struct TempFile(PathBuf, Folder);

impl TempFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let folder = Folder::new(name);
        let path = folder.join("apple.ron");
        fs::write(&path, bytes).expect("a temporary file");
        Self(path, folder)
    }

    fn folder(&self) -> &Path {
        &self.1.0
    }
}

#[track_caller]
fn check_file(path: &Path, expected: &str) {
    let issues = read(path).expect_err("a bad file");
    let all = issues.iter().map(LessonIssue::to_string).collect::<Vec<_>>().join("\n");
    let folder = format!("{}{}", path.parent().expect("a folder").display(), std::path::MAIN_SEPARATOR);
    assert_eq!(all.replace(&folder, ""), expected);
}

#[test]
fn files_that_are_no_lessons() {
    let good = TempFile::new("good", GOOD.as_bytes());
    assert_eq!(read(&good.0).map(|lesson| lesson.id), Ok("apple".to_owned()));
    check_file(
        &good.folder().join("aple.ron"),
        "aple.ron: no such file; expected a lesson file; did you mean \"apple.ron\"?",
    );
    check_file(&good.folder().join("nothing/apple.ron"), "apple.ron: no such file; expected a lesson file");
    let folder = good.folder().join("course.ron");
    fs::create_dir(&folder).expect("a folder");
    check_file(
        &folder,
        "course.ron: this is a folder; expected a lesson file, such as lessons/apple.ron, or the folder of a model",
    );

    let empty = TempFile::new("empty", b"");
    check_file(&empty.0, "apple.ron:1:1: the file is empty; expected a lesson: Lesson(id: …, title: …, …)");
    let comment = TempFile::new("comment", b"// soon\n");
    check_file(&comment.0, "apple.ron:1:1: the file has only comments; expected a lesson: Lesson(id: …, title: …, …)");
    let old = TempFile::new("old", b"// A lesson\rLesson()\r");
    check_file(
        &old.0,
        "apple.ron:1:1: the file is one comment, whose lines end in \\r only; expected a lesson: Lesson(id: …, title: …, …)",
    );
    let binary = TempFile::new("binary", b"Lesson(\xff\xfe");
    check_file(&binary.0, "apple.ron:1:8: byte 7 (0xff) is not UTF-8 text; expected a text file saved as UTF-8");
    let zeros = TempFile::new("zeros", &[0; 16]);
    check_file(
        &zeros.0,
        "apple.ron: this is a file of zeros, such as a download that was cut off leaves; expected a lesson file, such as \
         lessons/apple.ron, or the folder of a model; download it again",
    );
    let large = TempFile::new("large", &vec![b' '; LESSON_BYTES_MAX as usize + 1]);
    check_file(&large.0, "apple.ron: 4194305 bytes; expected at most 4194304 bytes");
}

#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    check_file(Path::new("/dev/zero"), "zero: this is not a regular file; expected a lesson file");
}
