//! Between the kernel's thread and the window: the latest snapshot comes in, commands go out.

use std::sync::Arc;

use bevy::prelude::*;

use crate::kernel::command::Command as KernelCommand;
use crate::kernel::notebook::NotebookCommand;
use crate::kernel::snapshot::Snapshot;
use crate::kernel::worker::Worker;
use crate::lesson::Lesson;
use crate::view_model::attention::AttentionModel;
use crate::view_model::fold::FoldModel;
use crate::view_model::heads::HeadsModel;
use crate::view_model::neighbours::NeighboursModel;
use crate::view_model::notebook::NotebookModel;
use crate::view_model::path::{By, PathModel};
use crate::view_model::retrain::RetrainModel;
use crate::view_model::stage::StageModel;
use crate::view_model::training::TrainingModel;
use crate::view_model::walk::{Focus, WalkModel};
use crate::view_model::weights::WeightsModel;

use super::gliding::StageGlide;
use super::ui::Desk;
use super::view_state::ViewState;

/// The kernel's thread; absent until a lesson loads, and in a picture.
#[derive(Resource, Default)]
pub struct Link(pub Option<Worker>);

/// What the window shows.
#[derive(Resource, Default)]
pub struct LatestSnapshot(pub Option<Arc<Snapshot>>);

/// Commands that the panels gave and the kernel has not seen.
#[derive(Resource, Default)]
pub struct Outbox(pub Vec<KernelCommand>);

/// What each panel and the stage shows: rebuilt only when the snapshot changes.
#[derive(Resource, Default)]
pub struct Models {
    pub notebook: Option<NotebookModel>,
    /// The same `Arc` as long as the scene is the same, so that nothing is uploaded twice.
    pub stage: Option<Arc<StageModel>>,
    pub attention: Option<AttentionModel>,
    pub heads: Option<HeadsModel>,
    pub weights: Option<WeightsModel>,
    pub training: Option<TrainingModel>,
    pub retrain: Option<RetrainModel>,
    /// Points on their way from one picture to another.
    pub glide: Option<StageGlide>,
    made_of: Option<Arc<Lesson>>,
    pub neighbours: Option<NeighboursModel>,
    /// The walk of the chosen query, and the arrows of its move.
    pub walk: Option<WalkModel>,
    pub path: Option<Arc<PathModel>>,
    /// The block of the chosen head.
    pub fold: Option<FoldModel>,
    /// The head and the revision that the fold was made of.
    folded: Option<(u64, usize)>,
    /// What the two were made of.
    walked: Option<(u64, Focus, By)>,
    /// The kernel has seen all that was asked of it, and so has what is shown.
    pub is_answered: bool,
}

impl Models {
    fn rebuild(&mut self, snapshot: &Snapshot) {
        let stage = StageModel::of(snapshot);
        self.show_stage(stage, snapshot);
        self.notebook = Some(NotebookModel::of(snapshot, self.notebook.as_ref()));
        self.attention = AttentionModel::of(snapshot);
        self.heads = HeadsModel::of(snapshot);
        self.weights = WeightsModel::of(snapshot);
        self.training = Some(TrainingModel::of(snapshot));
        self.neighbours = NeighboursModel::of(snapshot);
        self.retrain = RetrainModel::of(snapshot, self.retrain.as_ref());
    }

    /// The picture changes at once, but glides to that of a lesson that was trained again.
    fn show_stage(&mut self, stage: Option<StageModel>, snapshot: &Snapshot) {
        let made_of = snapshot.model.as_ref().map(|model| model.made_of.clone());
        let is_same = |(before, now): (&Arc<Lesson>, &Arc<Lesson>)| Arc::ptr_eq(before, now) || before.id != now.id;
        let is_retrained = self.made_of.as_ref().zip(made_of.as_ref()).is_some_and(|pair| !is_same(pair));
        self.made_of = made_of;
        let stage = stage.map(Arc::new);
        if let (true, Some(before), Some(now)) = (is_retrained, &self.stage, &stage) {
            self.glide = Some(StageGlide::new(before.clone(), now.clone()));
        } else if let (Some(glide), Some(now)) = (&mut self.glide, &stage) {
            glide.aim(now.clone());
        } else if self.stage.as_deref() != stage.as_deref() {
            (self.stage, self.glide) = (stage, None);
        }
    }

    /// The walk follows the snapshot and the viewer's choice of word and head.
    fn walk_with(&mut self, snapshot: &Snapshot, view: &ViewState) {
        let folded = Some((snapshot.revision, view.head));
        if self.folded != folded {
            (self.fold, self.folded) = (FoldModel::of(snapshot, view.head), folded);
        }
        let Some(query) = view.query else {
            (self.walk, self.path, self.walked) = (None, None, None);
            return;
        };
        let focus = Focus { query, head: view.head, key: view.key };
        let wanted = Some((snapshot.revision, focus, view.by));
        if self.walked != wanted {
            self.walked = wanted;
            self.walk = WalkModel::of(snapshot, focus);
            self.path = PathModel::of(snapshot, query, view.head, view.by).map(Arc::new);
        }
    }
}

/// The walk of what is chosen now.
///
/// A walk is somebody's: of the first token that is lit where none is chosen.
pub fn follow_walk(latest: Res<LatestSnapshot>, mut view: ResMut<ViewState>, mut models: ResMut<Models>) {
    if view.query.is_none() && view.is_walking() {
        let tokens = models.stage.as_ref().map_or(&[][..], |stage| &stage.tokens);
        let lit = tokens.iter().position(|token| view.lit.contains(&token.text)).unwrap_or(0);
        view.query = (!tokens.is_empty()).then_some(lit);
    }
    if let Some(snapshot) = &latest.0 {
        models.walk_with(snapshot, &view);
    }
}

/// Takes the newest snapshot, if there is one.
pub fn receive(
    link: Res<Link>,
    mut latest: ResMut<LatestSnapshot>,
    mut models: ResMut<Models>,
    mut view: ResMut<ViewState>,
) {
    let Some(worker) = &link.0 else { return };
    // Asked first: what is answered by now, the latest snapshot has.
    models.is_answered = worker.is_answered();
    let snapshot = worker.latest();
    if latest.0.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &snapshot)) {
        return;
    }
    show(snapshot, &mut latest, &mut models, &mut view);
}

/// Makes `snapshot` what the window shows.
pub fn show(snapshot: Arc<Snapshot>, latest: &mut LatestSnapshot, models: &mut Models, view: &mut ViewState) {
    models.rebuild(&snapshot);
    view.keep_query_below(models.stage.as_ref().map_or(0, |stage| stage.tokens.len()));
    view.keep_head_below(snapshot.model.as_ref().map_or(1, |model| model.architecture.heads()));
    models.walk_with(&snapshot, view);
    latest.0 = Some(snapshot);
}

/// Training plays at the pace that is chosen.
pub fn set_pace(link: Res<Link>, desk: Res<Desk>) {
    if let Some(worker) = &link.0 {
        worker.set_pace(desk.0.pace());
    }
}

/// Sends what the panels asked for.
pub fn send(link: Res<Link>, mut outbox: ResMut<Outbox>) {
    if outbox.0.is_empty() {
        return;
    }
    for command in outbox.0.drain(..) {
        match (&link.0, command) {
            // What runs must hear of it now, not when its turn comes.
            (Some(worker), KernelCommand::Notebook(NotebookCommand::Interrupt)) => worker.interrupt(),
            (Some(worker), command) => worker.send(command),
            (None, _) => {}
        }
    }
}
