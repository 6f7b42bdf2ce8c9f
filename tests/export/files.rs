//! Files written to the disk: all of each or none, and never the lesson.

use std::fs;

use attune_core::kernel::Kernel;
use attune_engine::vectors::Format as VectorFormat;
use attune_view::export::Pictures;
use attune_view::export::file::{ExportFault, ExportTarget, Format};

use crate::common::folder::Folder;
use crate::common::lessons::NOTEBOOK;
use crate::run;

fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(&folder.0).expect("the folder is there").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

const TSV: Format = Format::Vectors(VectorFormat::Tsv);

#[test]
fn a_line_says_what_was_written() {
    let folder = Folder::new("files");
    let lesson = folder.0.join("x.ron");
    fs::write(&lesson, NOTEBOOK).unwrap();
    let snapshot = run(NOTEBOOK).snapshot();
    for format in Format::all() {
        let file = format.beside(&lesson);
        fs::write(&file, "old").unwrap();
        let target = ExportTarget::new(&lesson, format, &file).unwrap();
        let said = target.write(&snapshot, &Pictures::of_lesson(&lesson, "")).unwrap().to_string();
        assert!(said.starts_with(&file.display().to_string()) && said.lines().count() == 1, "{said}");
        assert!(fs::metadata(&file).is_ok_and(|file| file.len() > 100));
    }
    assert_eq!(
        names(&folder),
        [
            "x.bin",
            "x.html",
            "x.ipynb",
            "x.live.html",
            "x.md",
            "x.npy",
            "x.npz",
            "x.ron",
            "x.safetensors",
            "x.slides.html",
            "x.svg",
            "x.torch.ipynb",
            "x.tsv",
            "x.txt",
            "x.vec",
            "x_config.json",
            "x_files",
            "x_metadata.tsv"
        ]
    );
    assert_eq!(fs::read_to_string(&lesson).unwrap(), NOTEBOOK);
}

#[test]
fn the_lesson_is_never_written() {
    let folder = Folder::new("lesson");
    let lesson = folder.0.join("x_metadata.tsv");
    fs::write(&lesson, NOTEBOOK).unwrap();
    let other = folder.0.join(".").join("x_metadata.tsv");
    for (format, file) in [(Format::Html, &lesson), (Format::Md, &other), (TSV, &folder.0.join("x.tsv"))] {
        assert!(matches!(ExportTarget::new(&lesson, format, file), Err(ExportFault::Lesson)), "{format:?}");
    }
    #[cfg(unix)]
    {
        let link = folder.0.join("link.md");
        std::os::unix::fs::symlink(&lesson, &link).unwrap();
        assert!(matches!(ExportTarget::new(&lesson, Format::Md, &link), Err(ExportFault::Lesson)));
    }
    assert_eq!(fs::read_to_string(&lesson).unwrap(), NOTEBOOK);
}

#[test]
fn what_cannot_be_written_is_said_and_leaves_what_was_there() {
    let folder = Folder::new("faults");
    let lesson = folder.0.join("x.ron");
    let snapshot = run(NOTEBOOK).snapshot();
    let at = |format, name: &str| ExportTarget::new(&lesson, format, &folder.0.join(name));
    assert!(at(Format::Md, "").is_err_and(|fault| fault.to_string().ends_with("it is a folder")));
    assert!(at(Format::Md, "no/x.md").is_err_and(|fault| fault.to_string().ends_with("there is no such folder")));
    let untrained = Kernel::open(snapshot.lesson.clone(), None).snapshot();
    fs::write(folder.0.join("x.tsv"), "old").unwrap();
    let fault = at(TSV, "x.tsv").unwrap().write(&untrained, &Pictures::default()).unwrap_err();
    assert!(fault.to_string().ends_with("the lesson has no model yet"), "{fault}");
    // A file is where the folder of pictures would be.
    fs::write(folder.0.join("x_files"), "old").unwrap();
    let fault = at(Format::Md, "x.md").unwrap().write(&snapshot, &Pictures::default()).unwrap_err();
    assert!(matches!(fault, ExportFault::Write { .. }) && fault.to_string().contains("x_files cannot be written"));
    assert_eq!(names(&folder), ["x.tsv", "x_files"]);
    assert_eq!(fs::read_to_string(folder.0.join("x.tsv")).unwrap(), "old");
}

#[test]
fn nothing_is_replaced_where_something_cannot_be_written() {
    let folder = Folder::new("all");
    let lesson = folder.0.join("x.ron");
    let snapshot = run(NOTEBOOK).snapshot();
    for (format, name) in [(TSV, "x.tsv"), (Format::Md, "x.md")] {
        let file = folder.0.join(name);
        let target = ExportTarget::new(&lesson, format, &file).unwrap();
        fs::write(folder.0.join("x_metadata.tsv"), "old").unwrap();
        // It came there while the lesson trained.
        fs::create_dir(&file).unwrap();
        assert!(
            target.write(&snapshot, &Pictures::default()).is_err_and(|f| f.to_string().ends_with("it is a folder"))
        );
        assert_eq!(fs::read_to_string(folder.0.join("x_metadata.tsv")).unwrap(), "old");
        fs::remove_dir(&file).unwrap();
    }
    assert_eq!(names(&folder), ["x_metadata.tsv"]);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_what_is_no_file_stays() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::os::unix::net::UnixListener;

    let folder = Folder::new("links");
    let lesson = folder.0.join("x.ron");
    let snapshot = run(NOTEBOOK).snapshot();
    let at = |name: &str| ExportTarget::new(&lesson, Format::Md, &folder.0.join(name));
    fs::create_dir(folder.0.join("elsewhere")).unwrap();
    symlink("second.md", folder.0.join("first.md")).unwrap();
    symlink("elsewhere/real.md", folder.0.join("second.md")).unwrap();
    // The first time there is no such file yet.
    for _ in 0..2 {
        at("first.md").unwrap().write(&snapshot, &Pictures::default()).unwrap();
        assert!(fs::symlink_metadata(folder.0.join("first.md")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(folder.0.join("elsewhere/real.md")).unwrap().len() > 100);
    }
    let socket = folder.0.join("socket.md");
    let _listener = UnixListener::bind(&socket).unwrap();
    assert!(at("socket.md").is_err_and(|fault| fault.to_string().ends_with("it is not a regular file")));
    assert!(attune_core::whole_file::write(&socket, b"x").is_err());
    assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
    symlink("round.md", folder.0.join("round.md")).unwrap();
    assert!(at("round.md").unwrap().write(&snapshot, &Pictures::default()).is_err());
}
