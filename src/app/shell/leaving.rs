//! Leaving a lesson: the work that must be saved first, and the data that is dropped.

use std::path::Path;

use bevy::prelude::*;
use bevy::window::PrimaryWindow;

use super::presentation;
use super::state::Jobs;
use crate::app::link::{LatestModels, Link, Outbox};
use crate::app::stage::state::StageState;
use crate::app::ui_state::ViewState;
use crate::app::work::profile::Profile;
use crate::app::work::recall::Recall;
use crate::app::work::session::Session;
use crate::app::work::source::{LessonIssues, LessonSource};
use crate::app::workspace::WorkspaceState;

pub fn name_window(world: &mut World, lesson: Option<&Path>) {
    let name = title(lesson);
    for mut window in world.query_filtered::<&mut Window, With<PrimaryWindow>>().iter_mut(world) {
        window.title.clone_from(&name);
    }
}

/// Returns the title of the window: the name of the opened file, if there is one, and the name of the program.
pub fn title(lesson: Option<&Path>) -> String {
    let stem = lesson.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    stem.map_or_else(|| "attune".to_owned(), |stem| format!("{stem} · attune"))
}

/// Writes pending changes, and returns the reason why the work on the open lesson would be lost, if it would.
pub fn unsaved(world: &mut World) -> Option<String> {
    // The presentation is ended first, so that the learner's own work is saved and not the copy.
    presentation::end(world);
    if let Some(mut profile) = world.get_resource_mut::<Profile>() {
        profile.flush();
    }
    let view = world.resource::<WorkspaceState>().0.saved(world.resource::<ViewState>());
    if !world.contains_resource::<Session>() {
        return None;
    }
    world.resource_scope(|world, mut session: Mut<Session>| {
        session.settle(world.resource::<Link>(), &view);
        session.close().err()
    })
}

/// Closes the lesson, after which none is open.
pub fn close(world: &mut World) {
    let mut jobs = world.resource_mut::<Jobs>();
    (jobs.spaces, jobs.awaited) = (None, None);
    world.remove_resource::<Session>();
    world.remove_resource::<LessonSource>();
    world.insert_resource(Link::default());
    world.insert_resource(LatestModels::default());
    world.insert_resource(StageState::default());
    world.insert_resource(Outbox::default());
    world.insert_resource(Recall::default());
    world.insert_resource(LessonIssues::default());
}
