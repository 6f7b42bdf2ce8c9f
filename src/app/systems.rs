//! The systems that a window and a picture share, in the order of a frame, and the receiving of snapshots.

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::cells::CellKind;
use attune_view::explain::Provenance;
use attune_view::explain::walk::telling_words;
use bevy::asset::AssetEventSystems;
use bevy::prelude::*;
use bevy_egui::{EguiPlugin, EguiPostUpdateSet};

use crate::app::link::{self, AppSystems, LatestModels, Link, Outbox};
use crate::app::stage::state::StageState;
use crate::app::ui_state::ViewState;
use crate::app::workspace::{WorkspaceState, apply_style};
use crate::app::{graphics, stage};

/// Adds the systems that a window and a picture share.
pub fn plugin(app: &mut App) {
    app.add_plugins((EguiPlugin::default(), graphics::plugin, stage::plugin, add_systems))
        // New textures of egui, such as those of new letters, are sent to the graphics card in the same frame.
        .configure_sets(PostUpdate, EguiPostUpdateSet::PostProcessOutput.before(AssetEventSystems))
        .add_systems(Update, apply_style);
}

/// Adds the systems that need no graphics card.
pub fn add_systems(app: &mut App) {
    app.add_plugins(stage::add_systems)
        .init_resource::<Link>()
        .init_resource::<Outbox>()
        .init_resource::<LatestModels>()
        .init_resource::<ViewState>()
        .init_resource::<WorkspaceState>()
        .configure_sets(Update, (AppSystems::Receive, AppSystems::Follow, AppSystems::Advance).chain())
        .configure_sets(Last, (AppSystems::Send, AppSystems::BuildStage, AppSystems::Pace).chain())
        .add_systems(Update, (receive, follow_trail).chain().in_set(AppSystems::Receive))
        .add_systems(Last, (link::set_pace, link::send).chain().in_set(AppSystems::Send));
}

/// Receives the newest snapshot, if there is one.
pub fn receive(
    link: Res<Link>,
    mut outbox: ResMut<Outbox>,
    mut models: ResMut<LatestModels>,
    mut stage: ResMut<StageState>,
    mut view: ResMut<ViewState>,
) {
    let Some(worker) = &link.0 else { return };
    // This is read first, so that the latest snapshot includes everything that was answered.
    outbox.is_answered = worker.is_answered();
    let snapshot = worker.latest();
    // The first rows of a file stay on the stage until the positions of all rows are computed.
    let is_awaited = |shown: &Snapshot| {
        let is_read_on = shown.lesson.static_embedding.is_in_part() && shown.lesson.id == snapshot.lesson.id;
        is_read_on && snapshot.space.is_none() && snapshot.fault.is_none()
    };
    if models.snapshot().is_some_and(|shown| Arc::ptr_eq(shown, &snapshot) || is_awaited(shown)) {
        return;
    }
    show(snapshot, &mut models, &mut stage, &mut view);
}

/// Makes `snapshot` the current one, for the models, the stage and the view.
pub fn show(snapshot: Arc<Snapshot>, models: &mut LatestModels, stage: &mut StageState, view: &mut ViewState) {
    let before = models.snapshot().cloned();
    if let (Some(old), Some(new)) = (before.as_deref().and_then(words), words(&snapshot))
        && old != new
    {
        // The chosen word stays chosen in another sentence, if it is there.
        view.selection.follow(&old, &new);
        let is_another_lesson = before.as_ref().is_some_and(|before| !Arc::ptr_eq(&before.lesson, &snapshot.lesson));
        stage.take_sentence(snapshot.lesson.is_of_folder() && !is_another_lesson);
    }
    let lesson = &snapshot.lesson;
    let is_real = lesson.is_of_folder() || lesson.static_embedding.recording().is_some();
    let has_stage_cell = lesson.cells.iter().any(|cell| matches!(cell.kind, CellKind::Stage { .. }));
    if is_real && !has_stage_cell && view.highlight.shown_cell.is_none() {
        view.highlight.lit = telling_words(&snapshot);
    }
    models.show(snapshot.clone());
    let tokens = stage.take_points(models);
    view.selection.keep_query_below(tokens);
    view.selection.set_heads(snapshot.model.as_ref().map_or(1, |model| model.architecture.heads()));
    stage.follow(models, view);
    stage.begin_glide(before.as_deref(), &snapshot);
}

/// Returns the words of the sentence on the stage; `None` if there is no model.
fn words(snapshot: &Snapshot) -> Option<Vec<&str>> {
    let tokens = &snapshot.model.as_ref()?.sentence.tokens;
    Some(tokens.iter().map(|token| token.text.as_str()).collect())
}

/// Closes the provenance of a number that no longer exists.
pub fn follow_trail(models: Res<LatestModels>, mut view: ResMut<ViewState>) {
    let Some(entry) = view.trail.entry() else { return };
    if models.snapshot().is_some() && models.of_choice::<Provenance>(&entry).is_none() {
        view.trail.close();
    }
}
