//! Between the kernel's thread and the window: the latest snapshot comes in, commands go out.

use std::sync::Arc;

use attune_core::kernel::command::Command as KernelCommand;
use attune_core::kernel::notebook::NotebookCommand;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::worker::Pace;
use attune_core::kernel::worker::Worker;
use attune_view::explain::Provenance;
use bevy::prelude::*;

use super::scene::Scene;
use super::stage::scene::StageScene;
use super::view::ViewState;

/// The kernel's thread; absent until a lesson loads, and in a picture.
#[derive(Resource, Default)]
pub struct Link(pub Option<Worker>);

/// Commands that the panels gave and the kernel has not seen.
#[derive(Resource, Default)]
pub struct Outbox {
    pub commands: Vec<KernelCommand>,
    /// How fast training plays.
    pub pace: Pace,
    /// The kernel has seen all that was asked of it, and so has the snapshot that is shown.
    pub is_answered: bool,
}

/// Takes the newest snapshot, if there is one.
pub fn receive(
    link: Res<Link>,
    mut outbox: ResMut<Outbox>,
    mut scene: ResMut<Scene>,
    mut stage: ResMut<StageScene>,
    mut view: ResMut<ViewState>,
) {
    let Some(worker) = &link.0 else { return };
    // Asked first: the latest snapshot has all that is answered by now.
    outbox.is_answered = worker.is_answered();
    let snapshot = worker.latest();
    if scene.snapshot().is_some_and(|shown| Arc::ptr_eq(shown, &snapshot)) {
        return;
    }
    show(snapshot, &mut scene, &mut stage, &mut view);
}

/// Makes `snapshot` what the window shows.
pub fn show(snapshot: Arc<Snapshot>, scene: &mut Scene, stage: &mut StageScene, view: &mut ViewState) {
    let before = scene.snapshot().cloned();
    if let (Some(old), Some(new)) = (before.as_deref().and_then(words), words(&snapshot))
        && old != new
    {
        // The word is followed into another sentence, or else one is found there.
        view.selection.follow(&old, &new);
        stage.forget_followed();
    }
    scene.show(snapshot.clone());
    let tokens = stage.take_points(scene);
    view.selection.keep_query_below(tokens);
    view.selection.set_heads(snapshot.model.as_ref().map_or(1, |model| model.architecture.heads()));
    stage.follow(scene, view);
    stage.begin_glide(before.as_deref(), &snapshot);
}

/// Words of the sentence on the stage.
fn words(snapshot: &Snapshot) -> Option<Vec<&str>> {
    let tokens = &snapshot.model.as_ref()?.sentence.tokens;
    Some(tokens.iter().map(|token| token.text.as_str()).collect())
}

/// Closes the provenance of a number that is no longer there.
pub fn follow_trail(scene: Res<Scene>, mut view: ResMut<ViewState>) {
    let Some(entry) = view.trail.entry() else { return };
    if scene.snapshot().is_some() && scene.of_choice::<Provenance>(&entry).is_none() {
        view.trail.close();
    }
}

/// Training plays at the pace that is chosen.
pub fn set_pace(link: Res<Link>, outbox: Res<Outbox>) {
    if let Some(worker) = &link.0 {
        worker.set_pace(outbox.pace);
    }
}

/// As [`send`], at once.
pub fn send_now(world: &mut World) {
    world.run_system_cached(send).expect("all that sending asks for is there from the window's start");
}

/// Sends what the panels asked for.
pub fn send(link: Res<Link>, mut outbox: ResMut<Outbox>) {
    if outbox.commands.is_empty() {
        return;
    }
    for command in outbox.commands.drain(..) {
        match (&link.0, command) {
            // What runs must hear of it now, not when its turn comes.
            (Some(worker), KernelCommand::Notebook(NotebookCommand::Interrupt)) => worker.interrupt(),
            (Some(worker), command) => worker.send(command),
            (None, _) => {}
        }
    }
}
