//! `attune export` as a shell sees it.

use std::fs;

use crate::common::folder::Folder;
use crate::common::lessons::{SMALL, with_cells};
use crate::program::{ended, program, ran, said};

const NOTEBOOK: &str = "tests/fixtures/notebook.ron";

fn export(args: &[&str]) -> (Option<i32>, String) {
    said(&[&["export"], args].concat())
}

#[test]
fn every_format_is_written_whole() {
    let folder = Folder::new("command");
    let beside =
        [("ipynb", None), ("html", None), ("web", None), ("md", Some("x_files")), ("tsv", Some("x_metadata.tsv"))];
    for (format, beside) in beside {
        let file = folder.0.join(format!("x.{format}"));
        let said = ended(export(&[NOTEBOOK, "--to", format, "-o", file.to_str().unwrap(), "--quiet"]), 0, "");
        assert!(fs::metadata(&file).is_ok_and(|file| file.len() > 100), "{format}: {said}");
        if let Some(beside) = beside {
            assert!(folder.0.join(beside).exists() && said.contains(beside), "{format}: {said}");
        }
    }
    let names = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with('.')).count(), 0, "nothing unfinished stays");
    let text = fs::read_to_string(folder.0.join("x.md")).unwrap();
    assert!(text.contains("(x_files/curve-plot.svg)") && folder.0.join("x_files/curve-plot.svg").is_file());
}

#[test]
fn panels_are_written_as_a_picture_and_on_pages() {
    let folder = Folder::new("panels");
    let write = |name: &str, format: &str, panels: &[&str]| {
        let file = folder.0.join(name);
        let said = ended(
            export(&[&[NOTEBOOK, "--to", format, "-o", file.to_str().unwrap(), "--quiet"], panels].concat()),
            0,
            "",
        );
        (fs::read_to_string(file).unwrap(), said)
    };
    let (picture, said) = write("x.svg", "svg", &[]);
    assert!(picture.contains("<svg ") && said.contains("x.svg: Attention"), "{said}");
    let (picture, said) = write("y.svg", "svg", &["--panels", "all-heads,Weights"]);
    assert!(picture.contains(">All heads<") && said.contains("y.svg: All heads, Weights"), "{said}");
    for (name, format) in [("x.html", "html"), ("x.live.html", "web"), ("x.md", "md"), ("x.ipynb", "ipynb")] {
        let (page, _) = write(name, format, &["--panels", "axes"]);
        assert!(page.contains("PC1: The direction in which"), "{format}");
    }
    assert!(!write("z.html", "html", &[]).0.contains("PC1: The direction in which"));
    // Evidence is computed for the panels that show it.
    let (writer, file) = (concat!(env!("CARGO_MANIFEST_DIR"), "/lessons/writer"), folder.0.join("evidence.html"));
    let page = |panels: &str| {
        let to = ["--to", "html", "-o", file.to_str().unwrap(), "--quiet", "--panels", panels];
        ended(export(&[&[writer], &to[..]].concat()), 0, "");
        fs::read_to_string(&file).unwrap()
    };
    let both = page("intervene,answers");
    assert!(both.contains("Heads that are off") && both.contains("Which word mattered?"));
    assert!(!page("attention").contains("Heads that are off"));
}

#[test]
fn cells_that_take_too_long_together_are_left_out_with_words() {
    let folder = Folder::new("late");
    let (lesson, file) = (folder.0.join("late.ron"), folder.0.join("late.md"));
    let slow = r#"Code(id: "slow", src: "let a = []; a.pad(9999, \"x\"); loop { \"y\" in a; }"), Code(id: "next", src: "6 * 7"), Code(id: "last", src: "7 * 7"),"#;
    fs::write(&lesson, with_cells(SMALL, slow)).unwrap();
    let [lesson, file] = [&lesson, &file].map(|path| path.to_str().unwrap());
    let said = ended(export(&[lesson, "--to", "md", "-o", file, "--within", "1"]), 0, "");
    let words = "not run: \"next\", \"last\", because all cells together took more than 1 s; raise the limit with --within SECONDS";
    assert!(said.contains(words), "{said}");
    let page = fs::read_to_string(file).unwrap();
    assert!(page.contains("6 * 7") && !page.contains("42") && page.contains("a.pad(9999"), "{page}");
}

#[test]
fn an_export_does_not_replace_its_lesson() {
    let folder = Folder::new("usage");
    let lesson = folder.0.join("x.ron");
    fs::copy(NOTEBOOK, &lesson).unwrap();
    for (args, says) in [
        (
            &[NOTEBOOK, "--to", "svg", "-o", "x.svg", "--panels", "atention"][..],
            "do you mean attention? The panels are attention, ",
        ),
        (&[NOTEBOOK, "--to", "svg", "-o", "x.svg", "--panels", "stage"], "the panel stage is a picture of its own"),
        (&[NOTEBOOK, "--to", "npz", "-o", "x.npz", "--panels", "weights"], "--panels: this format has no panels"),
        (&[NOTEBOOK, "--to", "checkpoint", "-o", "x", "--panels", "weights"], "--panels: this format has no panels"),
        (&[NOTEBOOK, "--to", "pytorch", "-o", "x.ipynb", "--panels", "weights"], "--panels: this format has no panels"),
    ] {
        ended(export(args), 2, says);
    }
    let path = lesson.to_str().unwrap();
    ended(export(&[path, "--to", "md", "-o", path]), 2, "this is the lesson itself");
    assert_eq!(fs::read(&lesson).unwrap(), fs::read(NOTEBOOK).unwrap());
}

#[test]
fn a_model_goes_to_pytorch_and_a_recording_cannot() {
    let folder = Folder::new("pytorch");
    let file = folder.file("x.ipynb");
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/recordings/bert/run.safetensors");
    ended(export(&[recording, "--to", "pytorch", "-o", &file]), 1, "a recording has no weights");
    assert!(!folder.join("x.ipynb").exists());
    ended(export(&[NOTEBOOK, "--to", "pytorch", "-o", &file]), 0, "of the sentence to compare");
    assert!(fs::read_to_string(&file).unwrap().contains("\"python3\""));
}

#[test]
fn a_lesson_with_issues_is_not_written() {
    let folder = Folder::new("issues");
    let lesson = folder.0.join("x.ron");
    fs::write(&lesson, "Lesson(").unwrap();
    let file = folder.0.join("x.html");
    let (code, said) = export(&[lesson.to_str().unwrap(), "--to", "html", "-o", file.to_str().unwrap()]);
    assert!(code == Some(1) && !file.exists(), "{said}");
}

#[test]
fn a_cell_that_fails_is_a_warning() {
    let folder = Folder::new("warning");
    let lesson = folder.0.join("x.ron");
    fs::write(&lesson, fs::read_to_string(NOTEBOOK).unwrap().replace(", fails: true", "")).unwrap();
    let file = folder.0.join("x.html");
    ended(
        export(&[lesson.to_str().unwrap(), "--to", "html", "-o", file.to_str().unwrap()]),
        0,
        "warning: cell \"broken\": 1:3: cannot multiply",
    );
}

#[test]
fn a_folder_of_lessons_becomes_a_site() {
    let folder = Folder::new("course-site");
    fs::create_dir(folder.0.join("lessons")).unwrap();
    fs::copy(NOTEBOOK, folder.0.join("lessons/notebook.ron")).unwrap();
    let export = |args: &[&str]| ran(program().arg("export").args(args).args(["--quiet"]).current_dir(&folder.0));
    ended(export(&["--course", "--to", "web", "-o", "site"]), 0, "site: a front page and 1 lesson, ");
    let pages = |site: &str| {
        let files = fs::read_dir(folder.0.join(site)).unwrap().flatten();
        files.filter(|file| file.path().extension().is_some_and(|of| of == "html")).count()
    };
    assert_eq!(pages("site"), 2, "the front page and the lesson");
    ended(export(&["--course", "--to", "web", "-o", "site"]), 1, "the folder is not empty");
    // A model and a recording, which is given twice, get pages of their own.
    let [model, run] = ["pretrained/gpt2-wild", "recordings/bert/run.safetensors"]
        .map(|of| format!("{}/tests/fixtures/{of}", env!("CARGO_MANIFEST_DIR")));
    let with = ["--course", "--to", "web", "-o", "more", "--with", &model, &run, &run];
    ended(export(&with), 0, "more: a front page and 1 lesson, 3 pages of one pass, ");
    let front = fs::read_to_string(folder.0.join("more/index.html")).unwrap();
    assert!(
        front.contains("<h2>Recordings and models</h2>") && front.contains("recording-run-2.html"),
        "{front:.3000}"
    );
    let page = fs::read_to_string(folder.0.join("more/recording-run.html")).unwrap();
    assert!(page.contains("shows the numbers of one pass and computes nothing"));
    ended(export(&["--to", "web", "-o", "more.html", "--with", &run, "lessons/notebook.ron"]), 2, "--course");
}
