//! A window without a screen: lessons that open one after another, the page of the course, two windows on
//! one lesson, a lesson's file that is saved while it is open, and pictures of the stage.

#[path = "../common/mod.rs"]
mod common;

mod closing;
mod controls;
mod course;
mod exporting;
mod keys;
mod owners;
mod presenting;
mod random;
mod reload;
mod shared;
mod sizes;
mod stage_picture;
mod switching;

use std::path::{Path, PathBuf};

use attune::app::actions::Action;
use attune::app::link::{self, Link, Outbox};
use attune::app::scene::Scene;
use attune::app::shell::course::CoursePage;
use attune::app::shell::dock::WorkspaceState;
use attune::app::shell::opening::{Opening, Setup};
use attune::app::shell::perform::{Jobs, perform};
use attune::app::shell::state::WindowState;
use attune::app::stage::frame::StageTab;
use attune::app::stage::scene::StageScene;
use attune::app::view::ViewState;
use attune::app::work::profile::Profile;
use attune::app::work::session::{keep, show};
use attune::app::work::source::{LessonIssues, reload};
use attune::app::work::waker::Waker;
use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::store::Home;
use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use bevy::window::WindowCloseRequested;

use crate::common::waiting::wait_until as wait;

/// A folder of its own for each test.
fn home(of: &str) -> (PathBuf, Home) {
    let folder = std::env::temp_dir().join(format!("attune-home-{of}-{}", std::process::id()));
    // Left by a run that was cut off.
    let _ = std::fs::remove_dir_all(&folder);
    (folder.clone(), Home::at(folder))
}

/// The parts of a window, without one.
fn window(home: &Home) -> World {
    let setup = Setup { seed: None, home: Some(home.clone()), waker: Waker::default(), has_editor: false };
    let mut world = World::new();
    world.init_resource::<Link>();
    world.init_resource::<Scene>();
    world.init_resource::<StageScene>();
    world.init_resource::<Outbox>();
    world.init_resource::<LessonIssues>();
    world.init_resource::<ViewState>();
    world.init_resource::<CoursePage>();
    world.init_resource::<WindowState>();
    world.init_resource::<Jobs>();
    world.init_resource::<WorkspaceState>();
    world.init_resource::<StageTab>();
    world.init_resource::<Messages<AppExit>>();
    world.init_resource::<Messages<WindowCloseRequested>>();
    world.insert_resource(Profile::new(Some(home), &setup.waker));
    world.insert_resource(setup);
    world
}

fn ask(world: &mut World, action: impl Into<Action>) {
    world.resource_mut::<WindowState>().asked.push(action.into());
    perform(world);
}

/// A frame: the latest snapshot comes in, and what has changed is saved.
fn frame(world: &mut World) {
    world.run_system_once(reload).expect("it runs");
    world.run_system_once(link::receive).expect("it runs");
    world.run_system_once(show).expect("it runs");
    world.run_system_once(keep).expect("it runs");
}

fn sentence(world: &World) -> Option<String> {
    let model = world.resource::<Scene>().snapshot()?.model.as_ref()?;
    Some(model.sentence.tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" "))
}

/// A window on a lesson.
fn open(home: &Home, lesson: &Path) -> World {
    let mut world = window(home);
    let setup = world.resource::<Setup>().clone();
    Opening::of(lesson, &setup).show(&mut world);
    world
}

/// Lets frames pass.
fn until(world: &mut World, what: &str, is_done: impl Fn(&World) -> bool) {
    wait(what, || {
        frame(world);
        is_done(world)
    });
}

fn send(world: &World, command: Command) {
    world.resource::<Link>().0.as_ref().expect("a kernel").send(command);
}

fn say(world: &World, sentence: &str) {
    send(world, Command::Sentence(SentenceCommand::Set(sentence.to_owned())));
}

/// A lesson of one's own, in the folder.
fn lesson_in(folder: &Path) -> PathBuf {
    copy_of("tests/fixtures/small.ron", folder)
}

fn copy_of(lesson: &str, folder: &Path) -> PathBuf {
    let own = folder.join("own.ron");
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::copy(lesson, &own).expect("a copy");
    own
}
