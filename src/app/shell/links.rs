//! Links in a lesson's text: to a panel, a word, a head, a weight, a cell, another lesson or a file.

use std::path::PathBuf;

use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::lesson::course as lessons;
use attune_core::lesson::links::{TextLink, token_named};
use attune_core::lesson::vector_files::in_folder;
use attune_view::view_model::sentence;
use bevy::prelude::*;

use super::opening::open;
use super::state::Setup;
use crate::app::link::{LatestModels, Outbox};
use crate::app::panels::{PanelId, PanelName};
use crate::app::ui_state::ViewState;
use crate::app::work::session::Session;
use crate::app::workspace::WorkspaceState;
use crate::built_in;

/// Follows a link, or shows a notice if it leads nowhere.
pub fn follow_link(world: &mut World, link: TextLink) {
    if let Err(why) = try_follow(world, link) {
        world.resource_mut::<WorkspaceState>().0.say(&why);
    }
}

fn try_follow(world: &mut World, link: TextLink) -> Result<(), String> {
    let models = world.resource::<LatestModels>();
    let Some(snapshot) = models.snapshot().cloned() else { return Ok(()) };
    let not_yet = || "There is no model yet. Wait until it has been trained.".to_owned();
    match link {
        TextLink::Panel(panel) => world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(panel)),
        TextLink::Word(name) => choose_word(world, snapshot.model.as_ref().ok_or_else(not_yet)?, &name)?,
        TextLink::Head(head) => choose_head(world, snapshot.model.as_ref().ok_or_else(not_yet)?, head)?,
        TextLink::Attention(head) => {
            try_follow(world, TextLink::Head(head))?;
            world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(PanelName::Attention));
        }
        TextLink::Sentence(text) => {
            snapshot.model.as_ref().ok_or_else(not_yet)?;
            world.resource_mut::<Outbox>().commands.push(Command::Sentence(SentenceCommand::Set(text)));
        }
        TextLink::Time(time) => world.resource_mut::<ViewState>().walk.glide_to(time),
        TextLink::Weight { tensor, row, col } => {
            let model = snapshot.model.as_ref().ok_or_else(not_yet)?;
            show_weight(world, model, &tensor, (row, col))?;
        }
        TextLink::Cell(id) => {
            world.resource_mut::<ViewState>().asked.cell = Some(id);
            world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(PanelName::Notebook));
        }
        TextLink::Lesson(id) => {
            let file = lesson_file(world, &id)?;
            open(world, file);
        }
        TextLink::Place { lesson, cell, at } => {
            let file = lesson_file(world, &lesson)?;
            open_at(world, file, cell);
            world.resource_mut::<ViewState>().asked.step = at;
        }
        TextLink::File(name) => {
            let path = in_folder(snapshot.lesson.folder.as_deref(), &name);
            open(world, path.map_err(|why| sentence(&why))?);
        }
    }
    Ok(())
}

/// Opens a lesson at one of its cells, with the sentence that the cell speaks of.
pub fn open_at(world: &mut World, lesson: PathBuf, cell: String) {
    open(world, lesson);
    let mut view = world.resource_mut::<ViewState>();
    (view.asked.cell, view.asked.sentence_of) = (Some(cell.clone()), Some(cell));
}

/// Returns the file of the lesson with an id: beside the open lesson or in the program's course.
fn lesson_file(world: &World, id: &str) -> Result<PathBuf, String> {
    let file = lesson_beside(world, id).or_else(|| lesson_of_program(world, id));
    file.ok_or_else(|| format!("There is no lesson {id:?} beside this one or in the course."))
}

/// Chooses a head by its number, counted from 1 over all layers.
fn choose_head(world: &mut World, model: &ModelSnapshot, number: usize) -> Result<(), String> {
    let heads = model.architecture.heads();
    let head = number.checked_sub(1).filter(|head| *head < heads);
    let head = head.ok_or_else(|| format!("There is no such head; the number of heads is {heads}."))?;
    world.resource_mut::<ViewState>().selection.choose_head(head);
    Ok(())
}

/// Chooses the word of the sentence that a link names.
fn choose_word(world: &mut World, model: &ModelSnapshot, name: &str) -> Result<(), String> {
    let tokens: Vec<&str> = model.sentence.tokens.iter().map(|token| token.text.as_str()).collect();
    let token = token_named(&tokens, name).map_err(|flaw| flaw.line())?;
    world.resource_mut::<ViewState>().selection.choose_query(Some(token));
    Ok(())
}

/// Shows an entry of a learned tensor in the weights panel.
fn show_weight(
    world: &mut World,
    model: &ModelSnapshot,
    tensor: &str,
    (row, col): (usize, usize),
) -> Result<(), String> {
    let spec = model.parameters.specs().iter().find(|spec| spec.id.code_name() == tensor);
    let spec = spec.filter(|spec| row < spec.rows && col < spec.cols);
    let id = spec.map(|spec| spec.id).ok_or_else(|| format!("The model has no {tensor}[{row},{col}]."))?;
    world.resource_mut::<ViewState>().asked.weight = Some((id, row, col));
    world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(PanelName::Weights));
    Ok(())
}

fn lesson_beside(world: &World, id: &str) -> Option<PathBuf> {
    let folder = world.get_resource::<Session>()?.path().parent()?;
    Some(lessons::list(folder).into_iter().find(|file| file.id() == id)?.path)
}

/// Returns the file of a built-in lesson, after writing the built-in lessons to the home folder; `None` if there is no
/// such lesson or no home folder.
fn lesson_of_program(world: &World, id: &str) -> Option<PathBuf> {
    let home = world.resource::<Setup>().home.as_ref().filter(|_| built_in::has(id))?;
    let folder = built_in::put_into(&home.built_in()).ok()?;
    Some(lessons::file(&folder, id))
}
