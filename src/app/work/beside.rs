//! Another model beside the one that the window shows: a kernel of its own, which is given the same sentence. Nothing of it is
//! kept.

use std::sync::Arc;

use attune_core::kernel::Worker;
use attune_core::kernel::command::{Command as KernelCommand, SentenceCommand, TrainingCommand};
use attune_core::lesson::Lesson;
use attune_view::view_model::models::Beside;
use bevy::prelude::*;

use crate::app::scene::Scene;
use crate::app::work::waker::Waker;

/// The kernel of the other model.
#[derive(Resource)]
pub struct OtherModel {
    worker: Worker,
    /// The sentence that it was given last.
    given: Option<String>,
}

impl OtherModel {
    pub fn open(lesson: Arc<Lesson>, waker: &Waker) -> Self {
        let (trains, waker) = (lesson.model.steps > 0, waker.clone());
        let worker = Worker::spawn(lesson, move || waker.wake());
        if trains {
            worker.send(KernelCommand::Training(TrainingCommand::Play));
        }
        Self { worker, given: None }
    }
}

/// Gives it the sentence on the stage, and shows its latest snapshot to panels.
pub fn follow(other: Option<ResMut<OtherModel>>, mut scene: ResMut<Scene>) {
    let Some(mut other) = other else { return };
    let latest = other.worker.latest();
    let shown = scene.snapshot().and_then(|snapshot| snapshot.model.as_ref()).map(|model| model.sentence.written());
    // Before it has a model it would refuse.
    if let Some(text) = shown.filter(|text| latest.model.is_some() && other.given.as_ref() != Some(text)) {
        other.worker.send(KernelCommand::Sentence(SentenceCommand::Set(text.clone())));
        other.given = Some(text);
    }
    if scene.beside.as_ref().is_none_or(|beside| !Arc::ptr_eq(&beside.0, &latest)) {
        scene.beside = Some(Beside(latest));
    }
}
