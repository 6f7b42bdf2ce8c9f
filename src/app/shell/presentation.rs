//! A talk, from its start to its end. It runs on a copy of the lesson in its present state, with answers and outputs
//! cleared, so that the learner's work is unchanged when the talk ends. [`super::talk`] draws it.

use std::sync::Arc;

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::Lesson;
use attune_core::lesson::cells::CellKind;
use attune_view::view_model::slides::{Slide, SlideContent, SlidesModel, Stop};
use bevy::prelude::*;

use super::state::WindowState;
use super::talk::{Before, Presentation};
use crate::app::link::{LatestModels, Link, Outbox, send_now};
use crate::app::stage::frame::StageTab;
use crate::app::ui_state::ViewState;
use crate::app::ui_state::walk::STEPS;
use crate::app::work::source::LessonSource;
use crate::app::workspace::WorkspaceState;

/// Begins a presentation at the selected cell, or ends the one in progress.
pub fn toggle(world: &mut World) {
    if world.resource::<WindowState>().presentation.is_some() { end(world) } else { begin(world) }
}

fn begin(world: &mut World) {
    let Some(snapshot) = world.resource::<LatestModels>().snapshot().cloned() else { return };
    let Some(source) = world.get_resource::<LessonSource>() else { return };
    let Some(slides) = world.resource::<LatestModels>().get::<SlidesModel>() else { return };
    let selected = world.resource::<WorkspaceState>().0.saved(world.resource::<ViewState>()).selected;
    let Some(at) = slides.first_from(&snapshot, selected.as_deref()) else {
        world.resource_mut::<WorkspaceState>().0.say(
            "There is nothing to present, because the lesson has no cells \
            to show.",
        );
        return;
    };
    // The presentation has its own copy of the lesson, which distinguishes its snapshots from those of the work, which
    // are saved.
    let lesson = Arc::new(Lesson::clone(&snapshot.lesson));
    let Some(own) = &world.resource::<Link>().0 else { return };
    let worker = source.copy(own, lesson.clone());
    afresh(&snapshot).for_each(|command| worker.send(command));
    let link = std::mem::replace(&mut *world.resource_mut::<Link>(), Link(Some(worker)));
    let mut view = world.resource_mut::<ViewState>();
    let before = view.clone();
    view.trail.close();
    view.highlight.widen();
    let mut tab = world.resource_mut::<StageTab>();
    let before = Before {
        link,
        view: before,
        controls: std::mem::take(&mut tab.controls),
        strip: std::mem::take(&mut tab.strip),
        fitted: tab.fitted.take(),
    };
    world.resource_mut::<WindowState>().presentation = Some(Presentation::new(lesson, at, before));
}

/// Returns commands that clear outputs and answers.
fn afresh(snapshot: &Snapshot) -> impl Iterator<Item = Command> {
    snapshot.notebook.cells.iter().filter_map(|shown| {
        let command = match &*shown.cell.kind {
            CellKind::Code { .. } => CellCommand::ClearOutputs,
            kind if kind.is_task() => CellCommand::Reset,
            _ => return None,
        };
        Some(Command::Notebook(NotebookCommand::Cell(shown.cell.id.clone(), command)))
    })
}

/// Ends the presentation and restores the lesson, the stage and the view.
pub fn end(world: &mut World) {
    let Some(talk) = world.resource_mut::<WindowState>().presentation.take() else { return };
    let Before { link, mut view, controls, strip, fitted } = talk.before;
    world.resource_mut::<Outbox>().commands.clear();
    world.insert_resource(link);
    let mut now = world.resource_mut::<ViewState>();
    // A change of this counter would move the camera to its home position, as for a newly shown stage cell.
    view.highlight.shows = now.highlight.shows;
    *now = ViewState { preferences: now.preferences, ..view };
    let mut tab = world.resource_mut::<StageTab>();
    (tab.controls, tab.strip, tab.fitted) = (controls, strip, fitted);
}

/// Turns to the next slide, or the previous one.
pub fn turn(world: &mut World, is_on: bool) {
    let Some(slides) = world.resource::<LatestModels>().get::<SlidesModel>() else { return };
    if let Some(talk) = &mut world.resource_mut::<WindowState>().presentation {
        talk.turn(is_on, &slides);
    }
}

/// Prepares the stage for a new slide, and requests the content that the slide reveals, as soon as there is a model.
pub fn follow(world: &mut World) {
    if world.resource::<WindowState>().presentation.is_none() {
        return;
    }
    let commands = world.resource_scope(|world, mut state: Mut<WindowState>| {
        let talk = state.presentation.as_mut()?;
        let models = world.resource::<LatestModels>();
        let snapshot = models.snapshot().filter(|shown| talk.is_of(shown))?.clone();
        snapshot.model.as_ref().filter(|model| !model.training.playing)?;
        let slides = models.get::<SlidesModel>()?;
        let slide = talk.come_to(&slides)?;
        let mut commands: Vec<Command> = revealed(slide, &snapshot).into_iter().collect();
        commands.extend(set_stage(talk, slide, &snapshot, &mut world.resource_mut::<ViewState>()));
        Some(commands)
    });
    if let Some(commands) = commands.filter(|commands| !commands.is_empty()) {
        world.resource_mut::<Outbox>().commands.extend(commands);
        send_now(world);
    }
}

/// Returns the command for the content that a slide reveals, unless it is revealed already.
fn revealed(slide: &Slide, snapshot: &Snapshot) -> Option<Command> {
    let shown = snapshot.notebook.cells.iter().find(|shown| shown.cell.id == slide.cell)?;
    let attempts = shown.cell.attempts();
    let command = match slide.shows {
        SlideContent::Ran | SlideContent::Answered if shown.run.is_none() => CellCommand::Run,
        SlideContent::Hints(hints) if attempts.hints < hints => CellCommand::Hint,
        SlideContent::Solution if !attempts.is_revealed => CellCommand::Reveal,
        _ => return None,
    };
    Some(Command::Notebook(NotebookCommand::Cell(slide.cell.clone(), command)))
}

/// Shows the slide's stage cell, or a stop of its walk.
fn set_stage(talk: &mut Presentation, slide: &Slide, snapshot: &Snapshot, view: &mut ViewState) -> Option<Command> {
    let stop = match &slide.shows {
        SlideContent::Walk(stop) => Some(*stop),
        _ => None,
    };
    match stop {
        Some(Stop::Step { layer, step }) => view.walk.walk_to((layer * STEPS + step.index()) as f32),
        Some(Stop::Layer(layer)) => view.walk.pass_to(layer + 1),
        None => {}
    }
    let id = slide.stage.clone()?;
    let before = talk.staged.replace((id.clone(), stop));
    let is_same_cell = before.as_ref().is_some_and(|(before, _)| *before == id);
    let shown = snapshot.notebook.cells.iter().find(|shown| shown.cell.id == id)?;
    let CellKind::Stage { sentence, words, time, plays, .. } = &*shown.cell.kind else { return None };
    if !is_same_cell {
        view.highlight.show(&id, words);
    }
    match stop {
        Some(_) => {}
        None if slide.cell == id => view.walk.play(*plays, *time),
        None if before != Some((id, None)) => view.walk.glide_to(*time),
        None => {}
    }
    let is_there = snapshot.model.as_ref().is_some_and(|model| model.sentence.index == Some(*sentence));
    (!is_same_cell && !is_there).then_some(Command::Sentence(SentenceCommand::Select(*sentence)))
}
