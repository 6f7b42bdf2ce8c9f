//! Does what the links in a text say.

use std::path::PathBuf;

use attune_core::lesson::course;
use attune_core::lesson::links::{TextLink, token_named};
use bevy::prelude::*;

use super::dock::WorkspaceState;
use super::opening::Setup;
use super::perform::open;
use crate::app::panels::{PanelId, PanelName};
use crate::app::scene::Scene;
use crate::app::view::ViewState;
use crate::app::work::session::Session;
use crate::built_in;

/// Follows a link; where it leads nowhere, a notice says so.
pub fn follow(world: &mut World, link: TextLink) {
    if let Err(why) = try_follow(world, link) {
        world.resource_mut::<WorkspaceState>().0.say(&why);
    }
}

fn try_follow(world: &mut World, link: TextLink) -> Result<(), String> {
    let scene = world.resource::<Scene>();
    let Some(snapshot) = scene.snapshot().cloned() else { return Ok(()) };
    let not_yet = || "There is no model yet: wait until it is trained.".to_owned();
    match link {
        TextLink::Panel(panel) => world.resource_mut::<WorkspaceState>().0.places.show(PanelId::of(panel)),
        TextLink::Word(name) => {
            let model = snapshot.model.as_ref().ok_or_else(not_yet)?;
            let tokens: Vec<&str> = model.sentence.tokens.iter().map(|token| token.text.as_str()).collect();
            let token = token_named(&tokens, &name).map_err(|flaw| flaw.line())?;
            world.resource_mut::<ViewState>().selection.choose_query(Some(token));
        }
        TextLink::Head(head) => {
            let heads = snapshot.model.as_ref().ok_or_else(not_yet)?.architecture.heads();
            let head = head.checked_sub(1).filter(|head| *head < heads);
            let head = head.ok_or_else(|| format!("There is no such head: the model has {heads}."))?;
            world.resource_mut::<ViewState>().selection.choose_head(head);
        }
        TextLink::Time(time) => world.resource_mut::<ViewState>().walk.glide_to(time),
        TextLink::Weight { tensor, row, col } => {
            let model = snapshot.model.as_ref().ok_or_else(not_yet)?;
            let spec = model.parameters.specs().iter().find(|spec| spec.id.code_name() == tensor);
            let spec = spec.filter(|spec| row < spec.rows && col < spec.cols);
            let id = spec.map(|spec| spec.id).ok_or_else(|| format!("The model has no {tensor}[{row},{col}]."))?;
            world.resource_mut::<ViewState>().asked.weight = Some((id, row, col));
            world.resource_mut::<WorkspaceState>().0.places.show(PanelId::of(PanelName::Weights));
        }
        TextLink::Cell(id) => {
            world.resource_mut::<ViewState>().asked.cell = Some(id);
            world.resource_mut::<WorkspaceState>().0.places.show(PanelId::of(PanelName::Notebook));
        }
        TextLink::Lesson(id) => {
            let file = lesson_beside(world, &id).or_else(|| lesson_of_program(world, &id));
            open(world, file.ok_or_else(|| format!("There is no lesson {id:?}, beside this one or in the course."))?);
        }
    }
    Ok(())
}

fn lesson_beside(world: &World, id: &str) -> Option<PathBuf> {
    let folder = world.get_resource::<Session>()?.path().parent()?;
    Some(course::list(folder).into_iter().find(|file| file.id() == id)?.path)
}

/// A lesson of the course that is in the program, whose files have the names of their lessons.
fn lesson_of_program(world: &World, id: &str) -> Option<PathBuf> {
    let home = world.get_resource::<Setup>()?.home.as_ref().filter(|_| built_in::has(id))?;
    let folder = built_in::put_into(&home.built_in()).ok()?;
    Some(course::file(&folder, id))
}
