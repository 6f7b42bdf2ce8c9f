//! Exports beside a running app: pictures are drawn on other threads, several at once if it comes to that.
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use attune::app::encode::Form;
use attune::app::moving::MovingOptions;
use attune::app::moving::Play;
use attune::app::work::export::Export;
use attune::app::{AppFault, PictureOptions, Renderer, draw};
use attune_core::kernel::{Kernel, Saved, Snapshot};
use attune_view::export::file::Format;
use attune_view::export::work_file::{self, LessonMark, WorkFile};

use crate::common::lessons::{self, NOTEBOOK};
use crate::common::waiting::wait_until;

const LESSON: &str = NOTEBOOK;
const SIZE: (u32, u32) = (320, 180);

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("attune-exporting-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn snapshot() -> Arc<Snapshot> {
    Arc::new(lessons::kernel(LESSON).snapshot())
}

/// `None` where there is no graphics adapter at all; where one must be there, that is a failure.
fn picture(snapshot: Arc<Snapshot>, dark: bool) -> Option<Vec<u8>> {
    let cell = Some("both".to_owned());
    let options = PictureOptions { cell, time: f32::NAN, size: SIZE, dark, ..PictureOptions::of(snapshot) };
    match draw(&options) {
        Ok(picture) => Some(picture),
        Err(AppFault::NoGpu(why)) => {
            assert!(std::env::var_os("ATTUNE_REQUIRE_GPU").is_none(), "no GPU, not even a software one: {why}");
            eprintln!("SKIPPED: no GPU, not even a software one: {why}");
            None
        }
        Err(fault) => panic!("{fault}"),
    }
}

#[test]
fn pictures_are_drawn_on_any_thread() {
    let snapshot = snapshot();
    let Some(here) = picture(snapshot.clone(), false) else { return };
    let other = snapshot.clone();
    let twice = thread::spawn(move || [picture(other.clone(), false), picture(other, false)]).join().expect("no panic");
    assert!(twice.iter().all(|picture| *picture == Some(here.clone())), "one after the other");

    // This thread draws too, as the window does.
    let others = [false, true].map(|dark| {
        let snapshot = snapshot.clone();
        thread::spawn(move || picture(snapshot, dark))
    });
    let beside = picture(snapshot, false);
    let [light, dark] = others.map(|other| other.join().expect("no panic"));
    assert!(beside.as_ref() == Some(&here) && light == Some(here), "at once");
    assert!(dark.is_some() && dark != light);
}

/// The pictures of an export are drawn by one app, which must not show what it drew before.
#[test]
fn a_picture_does_not_depend_on_those_that_were_drawn_before_it() {
    let snapshot = snapshot();
    if picture(snapshot.clone(), false).is_none() {
        return;
    }
    let moved = |dark, time| PictureOptions { dark, time, size: SIZE, ..PictureOptions::of(snapshot.clone()) };
    let of_cell = |dark| PictureOptions { cell: Some("both".to_owned()), ..moved(dark, f32::NAN) };
    let large = PictureOptions { size: (SIZE.0, 2 * SIZE.1), ..of_cell(false) };
    let transparent = PictureOptions { transparent: true, ..moved(false, 1.0) };
    let all = [of_cell(false), of_cell(true), moved(false, 1.0), transparent, large.clone(), large, moved(true, 0.0)];
    let mut renderer = Renderer::default();
    let mut seen = Vec::new();
    for (place, options) in all.iter().enumerate() {
        let drawn = renderer.draw(options).expect("a picture");
        assert!(drawn == draw(options).expect("a picture"), "picture {place} shows something of an earlier one");
        seen.push(drawn);
    }
    assert!(seen[0] != seen[1] && seen[0] != seen[2] && seen[2] != seen[3], "the pictures differ");
}

fn wait(mut export: Export) -> (Result<String, String>, Export) {
    let mut result = None;
    wait_until("the export ends", || {
        result = export.poll();
        result.is_some()
    });
    assert!(export.poll().is_none(), "the end is told once");
    (result.expect("it ended"), export)
}

#[test]
fn an_export_ends_by_itself_and_wakes_the_window() {
    let folder = folder("ends");
    let (lesson, file) = (folder.join("x.ron"), folder.join("x.html"));
    std::fs::write(&lesson, LESSON).unwrap();
    let wakes = Arc::new(AtomicUsize::new(0));
    let count = wakes.clone();
    let waker = move || _ = count.fetch_add(1, Ordering::Relaxed);
    let (result, export) = wait(Export::start(snapshot(), lesson.clone(), Format::Html, file.clone(), waker));
    let (said, page) = (result.expect("it is written"), std::fs::read_to_string(&file).unwrap());
    if said.contains("described in words") {
        assert!(std::env::var_os("ATTUNE_REQUIRE_GPU").is_none(), "{said}");
        assert!(page.contains("There was no graphics adapter to draw this picture."), "{page}");
        eprintln!("SKIPPED: no GPU, not even a software one");
    } else {
        assert!(said.ends_with("17 cells, with 1 picture of the stage"), "{said}");
        assert!(page.contains("<picture><source") && export.progress().done == export.progress().of, "{page}");
    }
    // The last wake-up comes just behind the news.
    wait_until("the window is woken", || wakes.load(Ordering::Relaxed) >= 1);

    let (refused, _) = wait(Export::start(snapshot(), lesson.clone(), Format::Html, lesson.clone(), || {}));
    assert_eq!(refused, Err("this is the lesson itself, which is never overwritten".to_owned()));
    let (refused, _) = wait(Export::start(snapshot(), lesson.clone(), Format::Md, folder.clone(), || {}));
    assert!(refused.is_err_and(|why| why.ends_with("it is a folder")));
    let (vectors, _) = wait(Export::start(
        snapshot(),
        lesson,
        Format::Vectors(attune_engine::vectors::Format::Tsv),
        folder.join("x.tsv"),
        || {},
    ));
    assert!(vectors.is_ok_and(|said| said.contains("x_metadata.tsv names each row")));
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

#[test]
fn a_recording_counts_its_frames_and_is_a_gif() {
    let folder = folder("recording");
    let (file, play) = (folder.join("x.gif"), Play::Split);
    let picture = PictureOptions { size: SIZE, ..PictureOptions::of(snapshot()) };
    let frames = play.schedule(Some(1.0), 1.0).len();
    let options = MovingOptions { picture, play, seconds: Some(1.0), form: Form::Gif };
    let (result, export) = wait(Export::recording(options, frames, file.clone(), || {}));
    match result {
        Ok(said) => {
            assert_eq!(said, format!("{}: {frames} frames of 320×180 pixels", file.display()));
            assert!(std::fs::read(&file).expect("a file").starts_with(b"GIF89a"));
            assert_eq!((export.progress().done, export.progress().of), (frames, frames));
        }
        Err(why) => {
            assert!(std::env::var_os("ATTUNE_REQUIRE_GPU").is_none(), "{why}");
            eprintln!("SKIPPED: {why}");
        }
    }
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

#[test]
fn a_work_is_written_whole_beside_the_lesson_and_never_over_it() {
    let folder = folder("work");
    let lesson = folder.join("x.ron");
    std::fs::write(&lesson, LESSON).expect("a lesson");
    let snapshot = snapshot();
    let mut work =
        WorkFile::new(LessonMark::of(&snapshot.lesson.id, &snapshot.lesson.title, LESSON), Saved::of(&snapshot));
    (work.name, work.minutes) = (Some("Ada Lovelace".to_owned()), Some(35));
    let file = work_file::beside(&lesson, work.name.as_deref().expect("a name"));
    assert_eq!(file, folder.join("x-ada-lovelace.attune"));
    let (said, _) = wait(Export::work(work.clone(), lesson.clone(), file.clone(), || {}));
    assert_eq!(said, Ok(format!("{}: 0 answers, by Ada Lovelace, 35 min", file.display())));
    assert_eq!(WorkFile::read(&file), Ok(work.clone()));
    let (refused, _) = wait(Export::work(work.clone(), lesson.clone(), lesson.clone(), || {}));
    assert_eq!(refused, Err("this is the lesson itself, which is never overwritten".to_owned()));
    let (refused, _) = wait(Export::work(work, lesson.clone(), folder.clone(), || {}));
    assert!(refused.is_err_and(|why| why.ends_with("it is a folder")));
    assert_eq!(std::fs::read_to_string(&lesson).expect("the lesson"), LESSON);
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

/// A page of a lesson that is not trained says so, and is written.
#[test]
fn before_training_the_stage_is_told_in_words() {
    let folder = folder("before");
    let snapshot = Arc::new(Kernel::open(snapshot().lesson.clone(), None).snapshot());
    let (result, _) = wait(Export::start(snapshot, folder.join("x.ron"), Format::Md, folder.join("x.md"), || {}));
    let said = result.expect("it is written");
    assert!(
        said.ends_with(
            "with 0 pictures of the stage; stage cells are described in words: nothing to draw: the lesson has no model yet"
        ),
        "{said}"
    );
    let page = std::fs::read_to_string(folder.join("x.md")).unwrap();
    assert!(page.contains("This picture was not drawn: the lesson has no model yet."), "{page}");
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}
