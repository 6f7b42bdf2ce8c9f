//! Between the kernel's thread and the window: the latest snapshot comes in, commands go out.

use std::sync::Arc;

use bevy::prelude::*;

use crate::kernel::command::Command as KernelCommand;
use crate::kernel::notebook::NotebookCommand;
use crate::kernel::snapshot::Snapshot;
use crate::kernel::worker::Worker;
use crate::quantity::Entry;
use crate::view_model::answers::AnswersModel;
use crate::view_model::attention::AttentionModel;
use crate::view_model::axes::AxesModel;
use crate::view_model::compare::CompareModel;
use crate::view_model::fold::FoldModel;
use crate::view_model::heads::HeadsModel;
use crate::view_model::neighbours::NeighboursModel;
use crate::view_model::notebook::NotebookModel;
use crate::view_model::path::{By, PathModel};
use crate::view_model::provenance::Provenance;
use crate::view_model::retrain::RetrainModel;
use crate::view_model::search::{Choice, Emphasis, Search};
use crate::view_model::sentences::SentencesModel;
use crate::view_model::stage::StageModel;
use crate::view_model::training::TrainingModel;
use crate::view_model::variables::VariablesModel;
use crate::view_model::walk::{Focus, WalkModel};
use crate::view_model::weights::WeightsModel;
use crate::view_model::what_if::WhatIfModel;

use super::workspace::Desk;
use crate::app::stage::basis_glide::{self, BasisGlide};
use crate::app::view::ViewState;

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
    pub neighbours: Option<NeighboursModel>,
    pub answers: Option<AnswersModel>,
    /// How each point of the stage is shown; the same `Arc` as long as it is the same.
    pub emphasis: Arc<Emphasis>,
    emphasised: Option<Emphasised>,
    pub sentences: Option<SentencesModel>,
    pub compare: Option<CompareModel>,
    pub axes: Option<AxesModel>,
    /// The walk of the chosen query, and the arrows of its move.
    pub walk: Option<WalkModel>,
    pub path: Option<Arc<PathModel>>,
    /// The number that was asked where it comes from.
    pub provenance: Option<Provenance>,
    traced: Option<(u64, Entry)>,
    pub what_if: Option<WhatIfModel>,
    pub variables: Option<VariablesModel>,
    /// The block of the chosen head.
    pub fold: Option<FoldModel>,
    /// The head and the revision that the fold was made of.
    folded: Option<(u64, usize)>,
    /// What the two were made of.
    walked: Option<(u64, Focus, By)>,
    /// Another basis is on its way to the stage.
    pub glide: Option<BasisGlide>,
    /// The kernel has seen all that was asked of it, and so has what is shown.
    pub is_answered: bool,
}

/// What the emphasis was made of.
struct Emphasised {
    stage: Option<Arc<StageModel>>,
    search: Search,
    is_isolated: bool,
    lit: Vec<String>,
    /// Whose neighbours are shown, in which snapshot.
    near: Option<(usize, u64)>,
}

impl Models {
    fn rebuild(&mut self, snapshot: &Arc<Snapshot>) {
        let stage = StageModel::of(snapshot);
        if self.stage.as_deref() != stage.as_ref() {
            self.stage = stage.map(Arc::new);
        }
        self.notebook = Some(NotebookModel::of(snapshot, self.notebook.as_ref()));
        self.attention = AttentionModel::of(snapshot);
        self.heads = HeadsModel::of(snapshot);
        self.weights = WeightsModel::of(snapshot);
        self.training = Some(TrainingModel::of(snapshot));
        self.neighbours = NeighboursModel::of(snapshot);
        self.answers = AnswersModel::of(snapshot, self.answers.as_ref());
        self.what_if = WhatIfModel::of(snapshot);
        self.variables = Some(VariablesModel::of(snapshot));
        self.sentences = SentencesModel::of(snapshot, self.sentences.as_ref());
        self.compare = CompareModel::of(snapshot);
        self.axes = AxesModel::of(snapshot);
        self.retrain = RetrainModel::of(snapshot, self.retrain.as_ref());
    }

    /// Where the number comes from that was asked last; one that is no longer there is asked no more.
    fn trace_with(&mut self, snapshot: &Snapshot, view: &mut ResMut<ViewState>) {
        let wanted = view.trail.entry().map(|entry| (snapshot.revision, entry));
        if self.traced == wanted {
            return;
        }
        self.traced = wanted;
        self.provenance = wanted.and_then(|(_, entry)| Provenance::of(snapshot, entry));
        if wanted.is_some() && self.provenance.is_none() {
            view.trail.close();
            self.traced = None;
        }
    }

    /// What is lit, faded and hidden follows the viewer's choice.
    fn emphasise_with(&mut self, revision: u64, view: &ViewState) {
        let near = view.selection.query.filter(|_| view.highlight.isolated).map(|query| (query, revision));
        let is_same = self.emphasised.as_ref().is_some_and(|before| {
            before.stage.as_ref().map(Arc::as_ptr) == self.stage.as_ref().map(Arc::as_ptr)
                && before.search == view.highlight.search
                && before.is_isolated == view.highlight.isolated
                && before.lit == view.highlight.lit
                && before.near == near
        });
        if is_same {
            return;
        }
        let of_query =
            view.selection.query.zip(self.neighbours.as_ref()).and_then(|(query, all)| all.tokens.get(query));
        let near_words = of_query.map(|token| token.words()).unwrap_or_default();
        let choice = Choice {
            search: &view.highlight.search,
            is_isolated: view.highlight.isolated,
            lit: &view.highlight.lit,
            near: &near_words,
        };
        let emphasis = self.stage.as_ref().map(|stage| Emphasis::of(stage, choice)).unwrap_or_default();
        if *self.emphasis != emphasis {
            self.emphasis = Arc::new(emphasis);
        }
        self.emphasised = Some(Emphasised {
            stage: self.stage.clone(),
            search: view.highlight.search.clone(),
            is_isolated: view.highlight.isolated,
            lit: view.highlight.lit.clone(),
            near,
        });
    }

    /// The walk follows the snapshot and the viewer's choice of word and head.
    fn walk_with(&mut self, snapshot: &Snapshot, view: &ViewState) {
        let folded = Some((snapshot.revision, view.selection.head));
        if self.folded != folded {
            (self.fold, self.folded) = (FoldModel::of(snapshot, view.selection.head), folded);
        }
        let Some(query) = view.selection.query else {
            (self.walk, self.path, self.walked) = (None, None, None);
            self.glide_to_path();
            return;
        };
        let focus = Focus { query, head: view.selection.head, key: view.selection.key };
        let wanted = Some((snapshot.revision, focus, view.selection.by));
        if self.walked != wanted {
            self.walked = wanted;
            self.walk = WalkModel::of(snapshot, focus);
            self.path = PathModel::of(snapshot, query, view.selection.head, view.selection.by).map(Arc::new);
            self.glide_to_path();
        }
    }
}

/// The walk of what is chosen now.
///
/// A walk is somebody's: of the first token that is lit where none is chosen.
pub fn follow_walk(latest: Res<LatestSnapshot>, mut view: ResMut<ViewState>, mut models: ResMut<Models>) {
    if view.selection.query.is_none() && view.walk.is_walking() {
        let tokens = models.stage.as_ref().map_or(&[][..], |stage| &stage.tokens);
        let lit = tokens.iter().position(|token| view.highlight.lit.contains(&token.text)).unwrap_or(0);
        view.selection.query = (!tokens.is_empty()).then_some(lit);
    }
    if let Some(snapshot) = &latest.0 {
        models.walk_with(snapshot, &view);
        models.trace_with(snapshot, &mut view);
    }
    models.emphasise_with(latest.0.as_ref().map_or(0, |snapshot| snapshot.revision), &view);
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
    let is_first = latest.0.as_ref().is_none_or(|shown| shown.model.is_none());
    let before = (LatestSnapshot(latest.0.take()), models.stage.clone(), models.path.clone());
    models.rebuild(&snapshot);
    view.selection.keep_query_below(models.stage.as_ref().map_or(0, |stage| stage.tokens.len()));
    if let Some(model) = snapshot.model.as_ref().filter(|model| is_first && model.architecture.has_source()) {
        // The first words to be walked through are those on the stage, not those of the source.
        view.selection.head = model.architecture.last_heads().start;
    }
    view.selection.keep_head_below(snapshot.model.as_ref().map_or(1, |model| model.architecture.heads()));
    models.walk_with(&snapshot, view);
    models.emphasise_with(snapshot.revision, view);
    basis_glide::begin(models, before, &snapshot);
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
