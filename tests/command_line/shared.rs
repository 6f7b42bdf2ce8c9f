//! Files that were shared or handed in, in the place of a lesson: found on their lesson, or refused with words.

use std::fs::{self, File};
use std::path::Path;

use attune_core::kernel::Saved;
use attune_view::export::work_file::{LessonMark, OTHER_VERSION, SharedWork, WorkFile};
use attune_view::view_model::saved_view::{SavedCamera, SavedView, SavedWalk};

use crate::common::folder::Folder;
use crate::common::lessons::{NOTEBOOK, edited, kernel};
use crate::program::{ended, program, ran};

/// A state of the lesson with every kind of cell, as somebody shares it.
fn state() -> WorkFile {
    let snapshot = kernel(NOTEBOOK).snapshot();
    let mark = LessonMark::of(&snapshot.lesson.id, &snapshot.lesson.title, NOTEBOOK);
    let view = SavedView {
        walk: Some(SavedWalk { layers: 1, place: 3.0, is_by_layer: false }),
        query: Some(1),
        camera: Some(SavedCamera { distance: 2.0, yaw: 0.5, ..SavedCamera::default() }),
        stage: Some((640, 400)),
        ..SavedView::default()
    };
    WorkFile { view: Some(view), ..WorkFile::new(mark, Saved::of(&snapshot)) }
}

/// A folder with the lesson in it.
fn folder() -> Folder {
    let folder = Folder::new("shared");
    fs::write(folder.join("lesson.ron"), NOTEBOOK).expect("the lesson");
    folder
}

/// Runs the program without a display, with a home of its own.
fn run(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let home = folder.join("home");
    let mut program = program();
    program.args(args).current_dir(&folder.0).env("XDG_DATA_HOME", &home).env("HOME", &home);
    ran(program.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY"))
}

#[test]
fn a_state_is_read_as_it_was_written() {
    let state = state();
    assert_eq!(WorkFile::parse(&state.text()), Ok(state.clone()));
    assert!(state.text().len() < 20_000, "a state is small: {} bytes", state.text().len());
    let work = WorkFile { view: None, ..state };
    assert!(!work.text().contains("\"view\""), "what is handed in says nothing of the screen");
}

#[test]
fn the_lesson_of_a_state_is_found_by_its_id_and_its_text() {
    let (folder, state) = (folder(), state());
    let file = folder.join("a.attune");
    fs::write(&file, state.text()).expect("a state");
    let found = SharedWork::open(&file, None, || None).expect("it is beside the file");
    assert_eq!((found.lesson, found.is_of_another_version), (folder.join("lesson.ron"), false));

    // Of two with its id, the one with its text; else one of them, which is said.
    fs::write(folder.join("an_earlier.ron"), edited(NOTEBOOK, &[("seed: ", "seed: 1")])).expect("a lesson");
    assert_eq!(SharedWork::open(&file, None, || None).expect("it").lesson, folder.join("lesson.ron"));
    fs::remove_file(folder.join("lesson.ron")).expect("it goes");
    let found = SharedWork::open(&file, None, || None).expect("the other");
    assert_eq!((found.lesson.clone(), found.is_of_another_version), (folder.join("an_earlier.ron"), true));
    assert!(found.report().contains(&OTHER_VERSION.to_owned()), "{:?}", found.report());

    // By a path; another lesson is refused.
    fs::remove_file(folder.join("an_earlier.ron")).expect("it goes");
    let there = Path::new("tests/fixtures/notebook.ron");
    assert_eq!(SharedWork::open(&file, Some(there), || None).expect("it").lesson, there);
    let why = SharedWork::open(&file, Some(Path::new("lessons/apple.ron")), || None).expect_err("another lesson");
    assert!(why.contains("it belongs to the lesson \"notebook\", but lessons/apple.ron is \"apple\""), "{why}");
    let why = SharedWork::open(&file, None, || None).expect_err("no lesson");
    assert!(why.contains("neither in the same folder nor in the course"), "{why}");

    // In the course, here or in the program.
    let apple = fs::read_to_string("lessons/apple.ron").expect("a lesson");
    let of_apple = WorkFile { lesson: LessonMark::of("apple", "Apple", &apple), ..state };
    fs::write(&file, of_apple.text()).expect("a state");
    let found = SharedWork::open(&file, None, || None).expect("it is in the course");
    assert!(found.lesson.ends_with("lessons/apple.ron") && !found.is_of_another_version, "{found:?}");
}

#[test]
fn a_state_opens_where_a_lesson_would() {
    let (folder, state) = (folder(), state());
    fs::write(folder.join("a.attune"), state.text()).expect("a state");
    // Without a display, no window opens; all that comes before went well.
    ended(run(&folder, &["a.attune"]), 3, "");
    let of_apple = WorkFile { lesson: LessonMark::of("apple", "Apple", ""), ..state };
    fs::write(folder.join("b.attune"), of_apple.text()).expect("a state");
    assert_eq!(run(&folder, &["b.attune"]).0, Some(3), "the lesson is in the program");
    assert_eq!(run(&folder, &["a.attune", "--lesson", "lesson.ron"]).0, Some(3));
    ended(run(&folder, &["a.attune", "--lesson", "apple"]), 1, "is \"apple\"");
    ended(run(&folder, &["lesson.ron", "--lesson", "apple"]), 2, "--lesson is for a file that was shared");
    for command in ["trace", "check"] {
        ended(run(&folder, &[command, "a.attune"]), 1, "this file was shared or handed in and is not a lesson");
    }
}

/// Nothing in a file has another file opened, waits or takes the memory.
#[test]
fn bad_files_are_refused_with_words() {
    let (folder, state) = (folder(), state());
    let text = state.text();
    let of = |id: &str| WorkFile { lesson: LessonMark::of(id, "T", NOTEBOOK), ..state.clone() }.text();
    let secret = folder.file("lesson.ron");
    for (name, text, why) in [
        ("cut", text[..text.len() / 2].to_owned(), "it is incomplete"),
        ("empty", String::new(), "it is incomplete"),
        ("future", edited(&text, &[("\"attune\": 2", "\"attune\": 99")]), "it has format version 99"),
        ("text", "Dear teacher, \u{1b}[31mlook.".to_owned(), "it is not a file that attune wrote"),
        ("deep", "[".repeat(100_000), "it is not a file that attune wrote"),
        (
            "view",
            edited(&text, &[("\"distance\": 2.0", "\"distance\": \"far\"")]),
            "it is not a file that attune wrote",
        ),
        ("path", of("../../lesson"), "neither in the same folder nor in the course"),
        ("absolute", of(&secret), "neither in the same folder nor in the course"),
        ("device", of("/dev/zero"), "neither in the same folder nor in the course"),
        ("url", of("http://example.org/lesson.ron"), "neither in the same folder nor in the course"),
    ] {
        fs::write(folder.join(format!("{name}.attune")), text).expect("a file");
        check_refused(&folder, name, why);
    }
    let large = File::create(folder.join("large.attune")).expect("a file");
    large.set_len(100 << 20).expect("100 MB");
    check_refused(&folder, "large", "it has 104857600 bytes");
    fs::create_dir(folder.join("folder.attune")).expect("a folder");
    check_refused(&folder, "folder", "it is not a regular file");
    check_refused(&folder, "missing", "it cannot be read");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/dev/zero", folder.join("zero.attune")).expect("a link");
        check_refused(&folder, "zero", "it is not a regular file");
        std::os::unix::fs::symlink("nowhere", folder.join("gone.attune")).expect("a link");
        check_refused(&folder, "gone", "it cannot be read");
    }
}

fn check_refused(folder: &Folder, name: &str, why: &str) {
    let file = format!("{name}.attune");
    let mut all = vec![vec![file.as_str()]];
    // A build without the window draws nothing.
    if cfg!(feature = "app") {
        all.push(vec!["render", &file, "-o", "a.png"]);
    }
    for args in all {
        let said = ended(run(folder, &args), 1, why);
        assert!(said.contains(&file) && !said.contains('\u{1b}'), "{args:?}: {said:.500}");
    }
    assert!(!folder.join("a.png").exists());
}
