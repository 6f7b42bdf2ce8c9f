//! What somebody shared, opened as a copy in a window: as it was on their screen, and never over the learner's own
//! work.

use std::fs;
use std::path::{Path, PathBuf};

use attune::app::actions::table::WorkChoice;
use attune::app::actions::{Action, FilePurpose, WindowAction};
use attune::app::link::LatestModels;
use attune::app::shell::course::CoursePage;
use attune::app::shell::perform::perform;
use attune::app::shell::state::WindowState;
use attune::app::stage::frame::StageTab;
use attune::app::stage::view::Pose;
use attune::app::ui_state::ViewState;
use attune::app::work::session::Session;
use attune::app::work::source::LessonIssues;
use attune::app::workspace::WorkspaceState;
use attune::app::workspace::notices::ExportModel;
use attune_core::kernel::Command;
use attune_core::kernel::command::InterventionCommand;
use attune_engine::pretrained::Pretrained;
use attune_view::export::work_file::{LessonMark, OTHER_VERSION, WorkFile};
use bevy::math::Vec2;
use bevy::prelude::*;

use crate::common::folder::Folder;
use crate::common::lessons::edited;
use crate::common::models::fixture;
use crate::{ask, frame, home, lesson_in, open, say, send, sentence, until};

const THEIRS: &str = "the seal sank";
const OWN: &str = "a duck swam";

fn trained(world: &mut World) {
    until(world, "a trained model", |world| {
        let model = world.resource::<LatestModels>().snapshot().and_then(|snapshot| snapshot.model.clone());
        model.is_some_and(|model| model.training.stopped.is_some() && !model.training.playing)
    });
}

fn temperature(world: &World) -> Option<f64> {
    world.resource::<LatestModels>().snapshot()?.model.as_ref()?.interventions.temperature
}

fn pose(world: &World) -> Pose {
    world.resource::<StageTab>().controls.rig.pose
}

fn report(world: &World) -> &[String] {
    &world.resource::<Session>().model.report
}

/// Opens a file, which is read beside the window.
fn open_file(world: &mut World, file: &Path) {
    ask(world, Action::open(file));
    assert_eq!(world.resource::<WindowState>().export, ExportModel::Opening, "the window does not wait");
    crate::wait("the file", || {
        perform(world);
        world.resource::<WindowState>().export != ExportModel::Opening
    });
}

/// Writes what is on the screen as that file.
fn share(world: &mut World, file: &Path) {
    ask(world, Action::UseFile(FilePurpose::Work(WorkChoice::Share), file.to_owned()));
    crate::wait("the file", || {
        frame(world);
        matches!(world.resource::<WindowState>().export, ExportModel::Written(_) | ExportModel::Failed(_))
    });
    let export = &world.resource::<WindowState>().export;
    let told = format!("{}: the lesson as you see it; attune opens it as a copy", file.display());
    assert_eq!(*export, ExportModel::Written(told));
}

/// Somebody's window: another sentence, a temperature, a turned camera, the third step for the second word.
fn shared(world: &mut World, file: &Path) -> Pose {
    trained(world);
    send(world, Command::Interventions(InterventionCommand::SetTemperature(Some(0.5))));
    say(world, THEIRS);
    until(world, "their sentence", |world| sentence(world).as_deref() == Some(THEIRS));
    frame(world);
    world.resource_mut::<StageTab>().controls.rig.orbit(Vec2::new(40.0, 20.0));
    let mut view = world.resource_mut::<ViewState>();
    view.selection.choose_query(Some(1));
    view.selection.choose_head(1);
    view.walk.set(3.0);
    frame(world);
    share(world, file);
    pose(world)
}

/// Somebody's file, from a window and a home of their own, of the lesson that the learner has too.
fn theirs(name: &str) -> (Folder, PathBuf, PathBuf, Pose) {
    let (folder, home) = home(name);
    let lesson = lesson_in(&folder);
    let file = folder.join("theirs.attune");
    let mut world = open(&home, &lesson);
    let pose = shared(&mut world, &file);
    (folder, lesson, file, pose)
}

#[test]
fn a_work_has_the_mark_of_the_text_that_was_read_whatever_is_in_the_file_since() {
    let (folder, home) = home("share-mark");
    let lesson = lesson_in(&folder);
    let text = fs::read_to_string(&lesson).expect("the lesson");
    let mut world = open(&home, &lesson);
    trained(&mut world);
    let file = folder.join("mine.attune");
    let marked = |world: &mut World| {
        share(world, &file);
        WorkFile::read(&file).expect("a state").lesson
    };
    let mark = LessonMark::of("small", "Sinking and swimming", &text);

    // A teacher saves a typo, and the last good text stays open.
    fs::write(&lesson, edited(&text, &[("seed:", "sede:")])).expect("a typo");
    assert_eq!(marked(&mut world), mark);
    until(&mut world, "the issue", |world| !world.resource::<LessonIssues>().0.is_empty());
    assert_eq!(marked(&mut world), mark);
    // A good text is another one as soon as it is open.
    let other = text.clone() + "\n// Checked by Eve.\n";
    fs::write(&lesson, &other).expect("a good text");
    until(&mut world, "the good text", |world| world.resource::<LessonIssues>().0.is_empty());
    assert_eq!(marked(&mut world), LessonMark::of("small", "Sinking and swimming", &other));
    drop(world);
}

#[test]
fn a_model_has_the_mark_of_its_files() {
    let (folder, home) = home("share-model");
    let mut world = open(&home, &fixture("gpt2-default"));
    until(&mut world, "a model", |world| {
        world.resource::<LatestModels>().snapshot().is_some_and(|snapshot| snapshot.model.is_some())
    });
    let file = folder.join("mine.attune");
    share(&mut world, &file);
    let snapshot = world.resource::<LatestModels>().snapshot().cloned().expect("a snapshot");
    let model = snapshot.model.as_ref().and_then(|model| model.pretrained.clone()).expect("a pretrained model");
    let mark = WorkFile::read(&file).expect("a state").lesson;
    assert_eq!(mark, LessonMark::of_model(&snapshot.lesson, &model));

    let mut other = Pretrained::clone(&model);
    other.files[0].sha256 = "0".repeat(64);
    assert_ne!(mark, LessonMark::of_model(&snapshot.lesson, &other), "another checkpoint has another mark");
    drop(world);
}

#[test]
fn a_state_opens_as_it_was_on_the_screen() {
    let (_theirs, _, file, pose_then) = theirs("share-screen");
    let (_folder, home) = home("share-screen-home");
    let mut world = open(&home, Path::new("tests/fixtures/small.ron"));
    open_file(&mut world, &file);
    assert!(!world.resource::<CoursePage>().is_open, "{:?}", world.resource::<CoursePage>().frame.fault);
    assert_eq!(world.resource::<Session>().opened(), file);
    trained(&mut world);
    for _ in 0..3 {
        frame(&mut world);
    }
    assert_eq!(sentence(&world).as_deref(), Some(THEIRS));
    assert_eq!((temperature(&world), pose(&world)), (Some(0.5), pose_then));
    let view = world.resource::<ViewState>();
    assert_eq!((view.walk.place(), view.selection.query, view.selection.head), (3.0, Some(1), 1));
    let said = "This is a copy of theirs.attune. Your own work on the lesson does not change.";
    assert_eq!(report(&world), [said]);
    drop(world);
}

#[test]
fn a_copy_is_kept_beside_the_learner_s_own_work_and_begins_with_its_file() {
    let (_theirs, lesson, file, _) = theirs("share-copy");
    let bytes = fs::read(&file).expect("the file");
    let (folder, home) = home("share-copy-home");
    let mut world = open(&home, &lesson);
    trained(&mut world);
    say(&world, OWN);
    until(&mut world, "their own", |world| sentence(world).as_deref() == Some(OWN));

    for visit in 0..3 {
        open_file(&mut world, &file);
        until(&mut world, "the copy", |world| sentence(world).as_deref() == Some(THEIRS));
        trained(&mut world);
        ask(&mut world, WindowAction::Checkpoints);
        let rows = world.resource_mut::<WorkspaceState>().0.checkpoints.take().expect("a list");
        let kept = rows.iter().filter(|row| row.why.contains("before the file was opened again")).count();
        assert_eq!(kept, visit, "what was done on the copy is kept: {rows:?}");
        let changed = format!("{THEIRS} while a duck swam");
        say(&world, &changed);
        until(&mut world, "a change", |world| sentence(world).as_deref() == Some(&changed));
        until(&mut world, "it is saved", |world| world.resource::<Session>().is_saved());
        assert_eq!(fs::read(&file).expect("the file"), bytes, "the file stays as it is");
    }

    ask(&mut world, Action::open(&lesson));
    trained(&mut world);
    assert_eq!(sentence(&world).as_deref(), Some(OWN), "the learner's own work is as it was left");
    assert!(report(&world).is_empty(), "{:?}", report(&world));
    drop(world);

    // The file of the copy goes, and so does the lesson's: another place has the learner's own work, not the copy's.
    let moved = folder.join("moved");
    fs::create_dir_all(&moved).expect("a folder");
    fs::rename(&lesson, moved.join("own.ron")).expect("it moves");
    fs::remove_file(&file).expect("it goes");
    let mut world = open(&home, &moved.join("own.ron"));
    trained(&mut world);
    assert_eq!(sentence(&world).as_deref(), Some(OWN));
    drop(world);
}

#[test]
fn another_text_of_the_lesson_is_said_and_bad_files_open_nothing() {
    let (_theirs, lesson, file, _) = theirs("share-bad");
    let (_folder, home) = home("share-bad-home");
    let mut world = open(&home, Path::new("tests/fixtures/small.ron"));
    trained(&mut world);
    let first = sentence(&world);
    let text = fs::read_to_string(&file).expect("the file");
    let bad = file.with_file_name("bad.attune");
    for (text, why) in [
        (text[..text.len() / 2].to_owned(), "it is incomplete"),
        (edited(&text, &[("\"attune\": 2", "\"attune\": 99")]), "it has format version 99"),
        (edited(&text, &[("\"id\": \"", "\"id\": \"../")]), "neither in the same folder nor in the course"),
    ] {
        fs::write(&bad, text).expect("a file");
        open_file(&mut world, &bad);
        let fault = world.resource::<CoursePage>().frame.fault.clone().unwrap_or_default();
        assert!(fault.contains("bad.attune: ") && fault.contains(why), "{fault}");
        assert_eq!(sentence(&world), first, "the lesson stays open");
        world.resource_mut::<CoursePage>().close();
    }
    fs::write(&lesson, edited(&fs::read_to_string(&lesson).expect("it"), &[("title: \"", "title: \"Another: ")]))
        .expect("it");
    let said: WorkFile = WorkFile::parse(&text).expect("a state");
    fs::write(&file, WorkFile { name: Some("Ada".to_owned()), ..said }.text()).expect("a file");
    open_file(&mut world, &file);
    until(&mut world, "the copy", |world| sentence(world).as_deref() == Some(THEIRS));
    let copy = "This is a copy of theirs.attune, handed in by Ada. Your own work on the lesson does not change.";
    assert_eq!(report(&world)[..2], [copy, OTHER_VERSION]);
    drop(world);
}
