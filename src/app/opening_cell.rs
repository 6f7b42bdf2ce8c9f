//! The picture that a lesson opens with: its first cell, where that is a stage cell.

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::Lesson;
use attune_core::lesson::schema::CellKind;
use bevy::prelude::*;

use super::link::{Link, Outbox};
use super::scene::Scene;
use super::view::ViewState;

/// How far a lesson has opened.
#[derive(Default, PartialEq)]
pub enum Phase {
    #[default]
    Closed,
    /// Its picture is lit, and waits for the model.
    Waits,
    Done,
}

/// Lights the opening picture, and plays it when the model is there. A learner who comes back finds what was left.
pub fn open(
    scene: Res<Scene>,
    link: Res<Link>,
    mut view: ResMut<ViewState>,
    mut outbox: ResMut<Outbox>,
    mut phase: Local<Phase>,
    mut of: Local<String>,
) {
    let Some(snapshot) = scene.snapshot().filter(|_| link.0.is_some()) else {
        *phase = Phase::Closed;
        return;
    };
    if *of != snapshot.lesson.id {
        of.clone_from(&snapshot.lesson.id);
        *phase = Phase::Closed;
    }
    let Some((id, sentence, words, time, plays)) = first_stage_cell(&snapshot.lesson) else {
        *phase = Phase::Done;
        return;
    };
    if *phase == Phase::Closed {
        let is_new = view.highlight.shown_cell.is_none() && view.highlight.lit.is_empty() && view.walk.at() == 0.0;
        *phase = if is_new { Phase::Waits } else { Phase::Done };
        if is_new {
            view.highlight.show(id, words);
        }
    }
    let is_trained = |snapshot: &Snapshot| {
        snapshot.model.as_ref().is_some_and(|model| model.training.stopped.is_some() && !model.training.playing)
    };
    if *phase == Phase::Waits && is_trained(snapshot) {
        *phase = Phase::Done;
        // Meanwhile the learner may have gone on.
        if view.highlight.shown_cell.as_deref() == Some(id) && view.walk.at() == 0.0 && !view.walk.is_gliding() {
            view.walk.play(plays, time);
            if sentence != 0 {
                outbox.commands.push(Command::Sentence(SentenceCommand::Select(sentence)));
            }
        }
    }
}

fn first_stage_cell(lesson: &Lesson) -> Option<(&str, usize, &[String], f32, usize)> {
    let first = lesson.cells.first()?;
    match &first.kind {
        CellKind::Stage { sentence, words, time, plays, .. } => Some((&first.id, *sentence, words, *time, *plays)),
        _ => None,
    }
}
