//! One lesson after another in one window.

use std::path::Path;

use attune::app::actions::{Action, FilePurpose, WindowAction};
use attune::app::link::LatestModels;
use attune::app::shell::course::CoursePage;
use attune::app::shell::state::WindowState;
use attune::app::ui_state::{ThemeChoice, ViewState};
use attune::app::work::session::Session;
use attune::app::workspace::WorkspaceState;

use crate::common::top::at;
use crate::{ask, frame, home, lesson_in, open, say, sentence, until};

#[test]
fn lessons_open_one_after_another_each_as_it_was_left() {
    let (folder, home) = home("switch");
    let own = lesson_in(&folder);
    let mut world = open(&home, Path::new("tests/fixtures/small.ron"));
    until(&mut world, "a model", |world| sentence(world).is_some());
    let first = sentence(&world);
    say(&world, "the seal sank");
    until(&mut world, "the sentence", |world| sentence(world).as_deref() == Some("the seal sank"));
    {
        world.resource_mut::<WindowState>().is_key_sheet_open = true;
        let mut view = world.resource_mut::<ViewState>();
        view.preferences.theme = ThemeChoice::Dark;
        view.walk.set_time(0.25);
    }
    frame(&mut world);

    // What is no lesson opens nothing, and is said on the page of the course.
    ask(&mut world, Action::open(&*folder));
    assert!(
        world.resource::<CoursePage>().frame.fault.as_ref().is_some_and(|fault| fault.contains("is neither a lesson"))
    );
    assert_eq!(sentence(&world).as_deref(), Some("the seal sank"));

    ask(&mut world, Action::open(&own));
    assert!(!world.resource::<CoursePage>().is_open);
    assert_eq!(world.resource::<Session>().path(), own);
    until(&mut world, "the other model", |world| sentence(world).is_some());
    assert_eq!(sentence(&world), first);
    let view = world.resource::<ViewState>();
    assert_eq!((view.preferences.theme, view.walk.time()), (ThemeChoice::Dark, 0.0));
    assert!(!world.resource::<WindowState>().is_key_sheet_open);

    ask(&mut world, Action::open("tests/fixtures/small.ron"));
    until(&mut world, "the first model again", |world| sentence(world).is_some());
    assert_eq!(sentence(&world).as_deref(), Some("the seal sank"));
    assert_eq!(world.resource::<ViewState>().walk.time(), 0.25);

    // A reset of the lesson, and back.
    ask(&mut world, WindowAction::ResetLesson);
    frame(&mut world);
    until(&mut world, "the lesson as at its start", |world| sentence(world) == first);
    assert!(world.resource::<Session>().model.is_reset);
    ask(&mut world, WindowAction::Checkpoints);
    let rows = world.resource::<WorkspaceState>().0.checkpoints.clone().expect("a list");
    assert_eq!(rows.first().map(|row| row.why.as_str()), Some("before the lesson was reset"));
    ask(&mut world, Action::GoBack(0));
    frame(&mut world);
    until(&mut world, "the work", |world| sentence(world).as_deref() == Some("the seal sank"));

    // The page of the course goes over the lesson and away again.
    ask(&mut world, WindowAction::Course);
    assert!(world.resource::<CoursePage>().is_open);
    ask(&mut world, WindowAction::Course);
    assert!(!world.resource::<CoursePage>().is_open);
    drop(world);
}

#[test]
fn a_recording_opens_in_the_place_of_a_lesson_and_beside_it() {
    let (folder, home) = home("recordings");
    let mut world = open(&home, &lesson_in(&folder));
    let recording = |name: &str| at("tests/fixtures/recordings").join(name).join("run.safetensors");
    let title = |world: &World| Some(world.resource::<LatestModels>().snapshot()?.lesson.title.clone());
    let files = [(FilePurpose::Dropped, "bert", "a random BERT"), (FilePurpose::Open, "vit", "a random ViT, F16")];
    for (purpose, name, of_model) in files {
        ask(&mut world, Action::UseFile(purpose, recording(name)));
        until(&mut world, of_model, |world| title(world).as_deref() == Some(of_model) && sentence(world).is_some());
    }
    ask(&mut world, Action::UseFile(FilePurpose::OpenBeside, recording("bert")));
    until(&mut world, "both", |world| {
        let beside = world.resource::<LatestModels>().beside.as_ref();
        beside.is_some_and(|beside| beside.0.lesson.title == "a random BERT")
    });
    assert_eq!(title(&world).as_deref(), Some("a random ViT, F16"));
}
