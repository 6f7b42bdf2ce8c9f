//! The comparison with the open lesson: another model, or another file of vectors, which is rotated onto the first.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_core::lesson::Lesson;
use attune_core::lesson::vector_files::{BESIDE_VECTORS, is_file_of_vectors, read_with_progress};
use attune_view::view_model::saved_view::MeaningView;
use attune_view::view_model::spaces::TwoSpaces;
use bevy::prelude::*;

use super::state::{Jobs, Setup, WindowState, say};
use crate::app::link::LatestModels;
use crate::app::panels::meaning::MeaningPanel;
use crate::app::ui_state::ViewState;
use crate::app::work::job::Job;
use crate::app::work::source::OtherModel;
use crate::app::workspace::WorkspaceState;
use crate::app::workspace::notices::ExportModel;
use crate::built_in;

/// Opens another model for comparison, and brings the comparison to the front.
pub fn put_beside(world: &mut World, lesson: Arc<Lesson>) {
    let other = OtherModel::open(lesson, &world.resource::<Setup>().waker);
    world.insert_resource(other);
    show_meaning(world, MeaningView::Models);
}

/// Returns whether a file of vectors would be compared with an open one.
pub fn is_second_space(world: &World, path: &Path) -> bool {
    is_on_vectors(world) && is_file_of_vectors(path)
}

/// Returns whether a file of vectors is open.
fn is_on_vectors(world: &World) -> bool {
    let snapshot = world.resource::<LatestModels>().snapshot();
    snapshot.is_some_and(|snapshot| snapshot.lesson.static_embedding.is_whole_file())
}

/// Remembers another file of vectors to compare, until the first one is read.
pub fn await_space(world: &mut World, path: PathBuf) {
    world.resource_mut::<Jobs>().awaited = Some(path);
}

/// Opens the remembered file of vectors, once the first one is read.
pub fn open_awaited(world: &mut World) {
    let Some(path) = world.resource_mut::<Jobs>().awaited.take() else { return };
    let is_shown = world.resource::<LatestModels>().snapshot().is_some();
    if is_shown { open_space(world, path) } else { await_space(world, path) }
}

/// Starts to read another file of vectors and to rotate it onto the open one. If the open one is not completely read
/// yet, remembers the other file for later.
fn open_space(world: &mut World, path: PathBuf) {
    let snapshot = world.resource::<LatestModels>().snapshot();
    let read = snapshot.filter(|snapshot| !snapshot.lesson.static_embedding.is_in_part());
    let Some((here, space)) = read.and_then(|of| Some((of.lesson.title.clone(), of.space.clone()?))) else {
        return await_space(world, path);
    };
    let there = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let waker = world.resource::<Setup>().waker.hook();
    let job = Job::run(0, waker, move |_| {
        let other = read_with_progress(&path, &mut |_| {}).map_err(|why| why.to_string())?;
        TwoSpaces::of(&space, [here, there], other)
    });
    world.resource_mut::<Jobs>().spaces = Some(job);
    world.resource_mut::<WindowState>().export = ExportModel::Opening;
    show_meaning(world, MeaningView::Models);
}

/// Ends the comparison with another model or file of vectors.
pub fn end_beside(world: &mut World) {
    world.remove_resource::<OtherModel>();
    let mut models = world.resource_mut::<LatestModels>();
    (models.beside, models.spaces) = (None, None);
}

/// Opens another model or, beside an open file of vectors, another file of vectors for comparison. If it cannot be
/// read, the last one stays.
pub fn open_beside(world: &mut World, path: &Path) {
    if is_second_space(world, path) {
        return open_space(world, path.to_owned());
    }
    if is_on_vectors(world) || is_file_of_vectors(path) {
        return say(world, Err(format!("Nothing was opened: {BESIDE_VECTORS}")));
    }
    match attune_core::lesson::read(path) {
        Ok(lesson) => put_beside(world, Arc::new(lesson)),
        Err(issues) => {
            let why = issues.first().map_or_else(String::new, ToString::to_string);
            say(world, Err(format!("Nothing was opened: {why}")));
        }
    }
}

/// Opens the model that comes with attune for comparison with the open one.
pub fn open_own_beside(world: &mut World) {
    let home = world
        .resource::<Setup>()
        .home
        .clone()
        .ok_or_else(|| "there is no home folder for the model's files".to_owned());
    let course = home.and_then(|home| built_in::put_into(&home.built_in()).map_err(|error| error.to_string()));
    match course {
        Ok(course) => open_beside(world, &course.join(built_in::MODEL)),
        Err(why) => say(world, Err(format!("Nothing was opened: {why}"))),
    }
}

/// Shows another file of vectors once it is rotated onto the open one.
pub fn follow_spaces(mut jobs: ResMut<Jobs>, mut state: ResMut<WindowState>, mut models: ResMut<LatestModels>) {
    let Some(end) = jobs.spaces.as_mut().and_then(Job::poll) else { return };
    jobs.spaces = None;
    state.export = match end {
        Ok(spaces) => {
            let space = models.snapshot().and_then(|snapshot| snapshot.space.as_ref());
            models.spaces = Some(spaces).filter(|spaces| space.is_some_and(|space| spaces.is_of(space))).map(Arc::new);
            ExportModel::None
        }
        Err(why) => ExportModel::Said(Err(format!("Nothing was opened: {why}"))),
    };
}

/// Brings the panel of comparisons to the front, with this view.
pub fn show_meaning(world: &mut World, view: MeaningView) {
    world.resource_mut::<WorkspaceState>().0.open_panels.show(MeaningPanel::ID);
    world.resource_mut::<ViewState>().asked.meaning = Some(view);
}
