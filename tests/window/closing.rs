//! Work under way is kept when a lesson or the window closes.

use std::fs;

use attune::app::actions::Action;
use attune::app::link::{LatestModels, Link};
use attune::app::shell::window::close;
use attune::app::ui_state::ViewState;
use attune::app::work::profile::{self, Profile, WindowSettings};
use attune::app::work::session::Session;
use attune::app::workspace::notices::SavingChoice;
use attune_core::kernel::Command;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use bevy::window::{PrimaryWindow, WindowCloseRequested};

use crate::{ask, copy_of, frame, home, open, send, sentence, until, wait};

fn cell(world: &World, id: &str, command: CellCommand) {
    send(world, Command::Notebook(NotebookCommand::Cell(id.into(), command)));
}

fn text(world: &World, id: &str) -> String {
    let snapshot = world.resource::<LatestModels>().snapshot().cloned().expect("a snapshot");
    let found = snapshot.notebook.cells.iter().find(|shown| *shown.cell.id == *id).expect("the cell");
    found.cell.text.to_string()
}

#[test]
fn what_is_typed_while_a_cell_runs_is_there_again() {
    let (folder, home) = home("busy");
    let own = copy_of("tests/fixtures/notebook.ron", &folder);
    let mut world = open(&home, &own);
    until(&mut world, "a model", |world| sentence(world).is_some());
    cell(&world, "double", CellCommand::SetText("loop { let x = 1; }".into()));
    cell(&world, "double", CellCommand::Run);
    until(&mut world, "the text", |world| text(world, "double").starts_with("loop"));
    // The kernel is in the loop for seconds, and has not heard of this when the next lesson opens.
    cell(&world, "uses", CellCommand::SetText("typed_meanwhile".into()));
    ask(&mut world, Action::open("tests/fixtures/small.ron"));
    until(&mut world, "the other lesson", |world| sentence(world).is_some());
    ask(&mut world, Action::open(own));
    until(&mut world, "the first lesson", |world| sentence(world).is_some());
    assert_eq!(text(&world, "uses"), "typed_meanwhile");
    drop(world);
}

/// A lesson opens faster than a frame is drawn: what was done before the window saw its first snapshot is saved too.
#[test]
fn what_is_done_before_the_first_snapshot_is_seen_is_there_again() {
    let (folder, home) = home("at-once");
    let own = copy_of("tests/fixtures/notebook.ron", &folder);
    let mut world = open(&home, &own);
    until(&mut world, "a model", |world| sentence(world).is_some());
    until(&mut world, "all is saved", |world| world.resource::<Session>().is_saved());
    drop(world);
    let mut world = open(&home, &own);
    cell(&world, "uses", CellCommand::SetText("typed at once".into()));
    wait("the text in a kernel that stands still", || {
        let worker = world.resource::<Link>().0.as_ref().expect("a kernel");
        let latest = worker.latest();
        let has_text = latest.notebook.cells.iter().any(|shown| *shown.cell.text == *"typed at once");
        has_text && worker.is_answered() && latest.awaited.is_none() && latest.model.is_some()
    });
    for _ in 0..3 {
        frame(&mut world);
    }
    world.write_message(AppExit::Success);
    frame(&mut world);
    drop(world);
    let mut world = open(&home, &own);
    until(&mut world, "the work", |world| sentence(world).is_some());
    assert_eq!(text(&world, "uses"), "typed at once");
    drop(world);
}

fn ask_to_close(world: &mut World) -> bool {
    let window = world.spawn_empty().id();
    world.write_message(WindowCloseRequested { window });
    is_closed(world)
}

fn is_closed(world: &mut World) -> bool {
    world.run_system_cached(close).expect("it runs");
    world.resource_mut::<Messages<AppExit>>().drain().count() > 0
}

#[cfg(unix)]
#[test]
fn a_window_whose_work_cannot_be_saved_asks_before_it_closes() {
    let (folder, home) = home("unsaved");
    let own = copy_of("tests/fixtures/notebook.ron", &folder);
    let mut world = open(&home, &own);
    until(&mut world, "a model", |world| sentence(world).is_some());
    // A file where the folder of this lesson should be: nothing can be written there, whoever tries.
    let kept = folder.join("lessons");
    let _ = fs::remove_dir_all(&kept);
    fs::write(&kept, "in the way").expect("a file");
    cell(&world, "uses", CellCommand::SetText("mine".into()));
    until(&mut world, "the text", |world| text(world, "uses") == "mine");
    assert!(!ask_to_close(&mut world));
    assert!(world.resource::<Session>().model.closing.as_ref().is_some_and(|why| why.contains("not saved")));
    world.resource_mut::<Session>().choice = Some(SavingChoice::Stay);
    frame(&mut world);
    assert!(!is_closed(&mut world));
    assert_eq!(world.resource::<Session>().model.closing, None);

    fs::remove_file(&kept).expect("the way is free");
    assert!(ask_to_close(&mut world), "{:?}", world.resource::<Session>().model.closing);
    drop(world);
    let mut world = open(&home, &own);
    until(&mut world, "the work", |world| sentence(world).is_some());
    assert_eq!(text(&world, "uses"), "mine");
    drop(world);
}

#[test]
fn the_windows_size_outlives_it() {
    let (_folder, home) = home("size");
    let mut world = crate::window(&home);
    let mut window = Window::default();
    window.resolution.set_physical_resolution(1000, 700);
    let id = world.spawn((window, PrimaryWindow)).id();
    world.run_system_once(profile::keep).expect("it runs");
    world.resource_mut::<ViewState>().preferences.zoom = 1.2;
    world.run_system_once(profile::keep).expect("it runs");
    world.despawn(id);
    world.write_message(AppExit::Success);
    world.run_system_once(profile::keep).expect("it runs");
    drop(world.remove_resource::<Profile>());
    let settings = WindowSettings::kept(Some(&home));
    assert_eq!((settings.window_size(), settings.zoom), (Some((1000, 700)), Some(1.2)));
}
