//! The window is asked to close: what is not yet kept is written first, and what cannot be is said.

use bevy::prelude::*;
use bevy::window::WindowCloseRequested;

use super::course::CoursePage;
use super::opening::unsaved;
use super::state::WindowState;
use crate::app::work::session::Session;

/// Asks once; asked a second time, the window closes.
pub fn close(world: &mut World) {
    let requested = world.resource_mut::<Messages<WindowCloseRequested>>().drain().count() > 0;
    let session = world.get_resource::<Session>();
    if !requested && !session.is_some_and(|session| session.closes) {
        return;
    }
    let is_asked = session.is_some_and(|session| session.model.closing.is_some());
    let why = if is_asked { None } else { obstacle(world) };
    let Some(mut session) = world.get_resource_mut::<Session>().filter(|_| why.is_some()) else {
        world.write_message(AppExit::Success);
        return;
    };
    session.model.closing = why;
    world.resource_mut::<CoursePage>().close();
}

/// The reason not to close yet: work that would be lost.
fn obstacle(world: &mut World) -> Option<String> {
    let unsaved = unsaved(world).map(|why| format!("Your last changes are not saved: {why}."));
    let is_exporting = world.resource::<WindowState>().is_exporting();
    unsaved.or_else(|| is_exporting.then(|| "An export is being written.".to_owned()))
}
