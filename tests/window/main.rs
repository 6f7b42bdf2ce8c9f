//! A window without a screen: lessons that open one after another, the page of the course, two windows on
//! one lesson, a lesson's file that is saved while it is open, and pictures of the stage.

#[path = "../common/mod.rs"]
mod common;

mod closing;
mod comparing;
mod controls;
mod course;
mod escape;
mod exporting;
mod fields;
mod key_meanings;
mod keys;
mod motions;
mod over_stage;
mod owners;
mod presenting;
mod questions;
mod random;
mod recall;
mod reload;
mod shared;
mod sizes;
mod spaces;
mod stage_picture;
mod switching;
mod tour;

use std::path::{Path, PathBuf};

use attune::app::actions::Action;
use attune::app::link::{LatestModels, Link};
use attune::app::shell::opening::Opening;
use attune::app::shell::perform::perform;
use attune::app::shell::state::{Setup, WindowState};
use attune::app::shell::window;
use attune::app::systems;
use attune::app::work::profile::Profile;
use attune::app::work::waker::Waker;
use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::store::Home;
use bevy::prelude::*;
use bevy::window::WindowCloseRequested;

use crate::common::folder::Folder;
use crate::common::waiting::wait_until as wait;

/// Makes a folder that is a test's own home. It goes after the window, whose thread still saves when the test ends.
fn home(of: &str) -> (Folder, Home) {
    let folder = Folder::new(&format!("home-{of}"));
    let home = Home::at(folder.0.clone());
    (folder, home)
}

/// All that a window has, but for its display and the graphics card.
fn window(home: &Home) -> World {
    let setup = Setup { seed: None, home: Some(home.clone()), waker: Waker::default(), has_editor: false };
    let mut app = App::new();
    app.add_plugins((systems::add_systems, window::add_systems))
        .add_message::<WindowCloseRequested>()
        .init_resource::<Time>()
        .insert_resource(Profile::new(Some(home), &setup.waker))
        .insert_resource(setup);
    std::mem::take(app.world_mut())
}

fn ask(world: &mut World, action: impl Into<Action>) {
    world.resource_mut::<WindowState>().asked.push(action.into());
    perform(world);
}

/// A frame in which nothing is drawn: the latest snapshot comes in, what was asked is done, and what has changed is
/// saved.
fn frame(world: &mut World) {
    world.run_schedule(Update);
    world.run_schedule(Last);
}

fn sentence(world: &World) -> Option<String> {
    let model = world.resource::<LatestModels>().snapshot()?.model.as_ref()?;
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
