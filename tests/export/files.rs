//! What is written to the disk: all of it or none, and never the lesson.

use std::fs;

use attune::export::Pictures;
use attune::export::file::{ExportFault, Format, Target};
use attune::kernel::Snapshot;

use crate::{Folder, NOTEBOOK, run};

fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(&folder.0).expect("the folder is there").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_line_says_what_was_written() {
    let folder = Folder::new("files");
    let lesson = folder.0.join("x.ron");
    fs::write(&lesson, NOTEBOOK).unwrap();
    let snapshot = run(NOTEBOOK).snapshot();
    for format in Format::ALL {
        let file = format.beside(&lesson);
        fs::write(&file, "old").unwrap();
        let target = Target::new(&lesson, format, &file).unwrap();
        let said = target.write(&snapshot, &Pictures::of_lesson(&lesson, "")).unwrap().to_string();
        assert!(said.starts_with(&file.display().to_string()) && said.lines().count() == 1, "{said}");
        assert!(fs::metadata(&file).is_ok_and(|file| file.len() > 100));
    }
    assert_eq!(names(&folder), ["x.html", "x.ipynb", "x.md", "x.ron", "x.tsv", "x_files", "x_metadata.tsv"]);
    assert_eq!(fs::read_to_string(&lesson).unwrap(), NOTEBOOK);
}

#[test]
fn the_lesson_is_never_written() {
    let folder = Folder::new("lesson");
    let lesson = folder.0.join("x_metadata.tsv");
    fs::write(&lesson, NOTEBOOK).unwrap();
    let other = folder.0.join(".").join("x_metadata.tsv");
    for (format, file) in [(Format::Html, &lesson), (Format::Md, &other), (Format::Tsv, &folder.0.join("x.tsv"))] {
        assert!(matches!(Target::new(&lesson, format, file), Err(ExportFault::Lesson)), "{format:?}");
    }
    #[cfg(unix)]
    {
        let link = folder.0.join("link.md");
        std::os::unix::fs::symlink(&lesson, &link).unwrap();
        assert!(matches!(Target::new(&lesson, Format::Md, &link), Err(ExportFault::Lesson)));
    }
    assert_eq!(fs::read_to_string(&lesson).unwrap(), NOTEBOOK);
}

#[test]
fn what_cannot_be_written_is_said_and_leaves_what_was_there() {
    let folder = Folder::new("faults");
    let lesson = folder.0.join("x.ron");
    let snapshot = run(NOTEBOOK).snapshot();
    let at = |format, name: &str| Target::new(&lesson, format, &folder.0.join(name));
    assert!(at(Format::Md, "").is_err_and(|fault| fault.to_string().ends_with("it is a folder")));
    assert!(at(Format::Md, "no/x.md").is_err_and(|fault| fault.to_string().ends_with("there is no such folder")));
    let untrained = Snapshot::before(snapshot.lesson.clone());
    fs::write(folder.0.join("x.tsv"), "old").unwrap();
    let fault = at(Format::Tsv, "x.tsv").unwrap().write(&untrained, &Pictures::default()).unwrap_err();
    assert!(fault.to_string().ends_with("the lesson has no model yet"), "{fault}");
    // A file is where the folder of pictures would be.
    fs::write(folder.0.join("x_files"), "old").unwrap();
    let fault = at(Format::Md, "x.md").unwrap().write(&snapshot, &Pictures::default()).unwrap_err();
    assert!(matches!(fault, ExportFault::Write { .. }) && fault.to_string().contains("x_files cannot be written"));
    assert_eq!(names(&folder), ["x.tsv", "x_files"]);
    assert_eq!(fs::read_to_string(folder.0.join("x.tsv")).unwrap(), "old");
}
