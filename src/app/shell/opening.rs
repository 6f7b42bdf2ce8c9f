//! Opening a lesson: at the start, in place of the open one, or as a copy of shared work; and the opening picture,
//! which is the lesson's first cell if that is a stage cell.

use std::path::{Path, PathBuf};

use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::Lesson;
use attune_core::lesson::course::is_lesson;
use attune_core::lesson::issue::shown;
use attune_core::lesson::load::foreign;
use attune_core::lesson::schema::CellKind;
use attune_core::lesson::vector_files::is_file_of_vectors;
use attune_engine::recording::is_recording;
use attune_view::export::work_file::{SharedWork, is_shared};
use attune_view::view_model::saved_view::SavedView;
use bevy::prelude::*;

use super::course::{self, CoursePage};
use super::leaving::{close, name_window, unsaved};
use super::state::{Jobs, Setup, WindowState};
use crate::app::link::{LatestModels, Link, Outbox, send_now};
use crate::app::stage::frame::StageTab;
use crate::app::ui_state::ViewState;
use crate::app::work::job::Job;
use crate::app::work::profile::Profile;
use crate::app::work::recall::Recall;
use crate::app::work::session::{Session, SessionState};
use crate::app::work::source::{LessonIssues, LessonSource, ReadLesson};
use crate::app::workspace::WorkspaceState;
use crate::app::workspace::notices::ExportModel;
use crate::built_in;

/// A lesson that has been read but is not shown yet.
pub struct Opening {
    source: LessonSource,
    session: Session,
    link: Link,
    issues: LessonIssues,
    view: SavedView,
}

impl Opening {
    /// Reads the file, finds the learner's work on it and starts its kernel.
    pub fn of(path: &Path, setup: &Setup) -> Self {
        Self::on(Session::new(setup.home.clone(), path, setup.waker.clone()), setup.seed, setup)
    }

    /// Opens a copy of a file that was shared or handed in, with its own seed.
    pub fn of_copy(shared: SharedWork, setup: &Setup) -> Self {
        let seed = setup.seed.or(shared.content.work.seed);
        Self::on(Session::on_copy(setup.home.clone(), shared, setup.waker.clone()), seed, setup)
    }

    fn on(mut session: Session, seed: Option<u64>, setup: &Setup) -> Self {
        let (source, lesson) = LessonSource::open(session.path().to_owned(), seed, setup.waker.clone());
        match lesson {
            Ok(ReadLesson { lesson, mark }) => {
                session.mark = mark;
                let SessionState { kernel, view } = session.open(&lesson).unwrap_or_default();
                let worker = source.start(lesson, Some(kernel));
                Self { source, session, link: Link(Some(worker)), issues: LessonIssues::default(), view }
            }
            Err(issues) => {
                let (link, view) = (Link::default(), SavedView::default());
                Self { source, session, link, issues: LessonIssues(issues), view }
            }
        }
    }

    /// Shows the lesson in a window without an open lesson; see [`close`].
    pub fn show(self, world: &mut World) {
        let (path, opened) = (self.session.path().to_owned(), self.session.opened().to_owned());
        world.resource_scope(|world, mut view: Mut<ViewState>| {
            let mut workspace = world.resource_mut::<WorkspaceState>();
            workspace.0 = default();
            workspace.0.open(&path);
            *view = view.for_another_lesson();
            workspace.0.restore(&self.view, &mut view);
        });
        if let Some(mut profile) = world.get_resource_mut::<Profile>() {
            profile.forget_last();
            // The answers in the last lesson are written first, because the questions at the beginning of this one
            // depend on them.
            profile.flush();
        }
        name_window(world, Some(&opened));
        // A copy of shared work does not begin with questions from the learner's earlier lessons.
        if let Some(Setup { home, waker, .. }) = world.get_resource::<Setup>().filter(|_| path == opened) {
            let recall = Recall::begin(&path, home.as_ref(), waker);
            world.insert_resource(recall);
        }
        world.insert_resource(self.issues);
        world.insert_resource(self.link);
        world.insert_resource(self.session);
        world.insert_resource(self.source);
        let mut tab = world.resource_mut::<StageTab>();
        (tab.controls, tab.has_opened, tab.fitted) = (default(), false, None);
        tab.awaited = self.view.camera;
    }
}

/// Opens another lesson, once the work on the open one is saved.
pub fn open(world: &mut World, path: PathBuf) {
    give_up_opening(world);
    let setup = world.resource::<Setup>().clone();
    if is_shared(&path) {
        let of_program = move || built_in::put_into(&setup.home?.built_in()).ok();
        let job = Job::run(0, setup.waker.hook(), move |_| SharedWork::open(&path, None, of_program));
        world.resource_mut::<Jobs>().opening = Some(job);
        let mut state = world.resource_mut::<WindowState>();
        // The note on an export in progress stays.
        if !state.is_exporting() {
            state.export = ExportModel::Opening;
        }
    } else if is_lesson(&path) || is_file_of_vectors(&path) || is_recording(&path) {
        show(world, || Opening::of(&path, &setup));
    } else {
        let file = shown(&path);
        if let Some(kind) = foreign(&path) {
            return course::say(world, format!("{file} is {}; {}", kind.what, kind.advice));
        }
        course::say(
            world,
            format!("{file} is neither a lesson, whose name ends in .ron, nor a recording or a file of word vectors"),
        );
    }
}

/// Cancels the reading of a file.
fn give_up_opening(world: &mut World) {
    world.resource_mut::<Jobs>().opening = None;
    let mut state = world.resource_mut::<WindowState>();
    if state.export == ExportModel::Opening {
        state.export = ExportModel::None;
    }
}

/// Opens a shared file once it is read.
pub fn open_shared(world: &mut World) {
    let Some(read) = world.resource_mut::<Jobs>().opening.as_mut().and_then(Job::poll) else { return };
    give_up_opening(world);
    send_now(world);
    let setup = world.resource::<Setup>().clone();
    match read {
        Ok(shared) => show(world, || Opening::of_copy(shared, &setup)),
        Err(why) => course::say(world, format!("Nothing was opened: {why}")),
    }
}

/// Closes the open lesson and shows another one. If the work on the open one cannot be saved, it stays open, and the
/// course page says why.
fn show(world: &mut World, opening: impl FnOnce() -> Opening) {
    if let Some(why) = unsaved(world) {
        let why = format!("No other lesson was opened, because the work on this one cannot be saved yet: {why}");
        return course::say(world, why);
    }
    close(world);
    world.resource_mut::<WindowState>().is_key_sheet_open = false;
    opening().show(world);
    world.resource_mut::<CoursePage>().close();
}

/// The progress of a lesson's opening picture.
#[derive(Default, PartialEq)]
pub enum OpeningPhase {
    #[default]
    Closed,
    /// A highlighted picture that waits for the model.
    Waits,
    Done,
}

/// Highlights the opening picture, and plays it when the model is trained. A returning learner sees the saved view
/// instead.
pub fn show_opening_cell(
    models: Res<LatestModels>,
    link: Res<Link>,
    mut view: ResMut<ViewState>,
    mut outbox: ResMut<Outbox>,
    mut phase: Local<OpeningPhase>,
    mut of: Local<String>,
) {
    let Some(snapshot) = models.snapshot().filter(|_| link.0.is_some()) else {
        *phase = OpeningPhase::Closed;
        return;
    };
    if *of != snapshot.lesson.id {
        of.clone_from(&snapshot.lesson.id);
        *phase = OpeningPhase::Closed;
    }
    let Some((id, sentence, words, time, plays)) = first_stage_cell(&snapshot.lesson) else {
        show_words_move(snapshot, &mut view, &mut phase);
        return;
    };
    if *phase == OpeningPhase::Closed {
        let is_new = view.highlight.shown_cell.is_none() && view.highlight.lit.is_empty() && view.walk.at() == 0.0;
        *phase = if is_new { OpeningPhase::Waits } else { OpeningPhase::Done };
        if is_new {
            view.highlight.show(id, words);
        }
    }
    if *phase == OpeningPhase::Waits && is_trained(snapshot) {
        *phase = OpeningPhase::Done;
        // The learner may have changed the view meanwhile.
        if view.highlight.shown_cell.as_deref() == Some(id) && view.walk.at() == 0.0 && !view.walk.is_gliding() {
            view.walk.play(plays, time);
            if sentence != 0 {
                outbox.commands.push(Command::Sentence(SentenceCommand::Select(sentence)));
            }
        }
    }
}

/// Plays the move of the words once when a real model or a recording opens, which has no stage cell.
fn show_words_move(snapshot: &Snapshot, view: &mut ViewState, phase: &mut OpeningPhase) {
    let is_real = snapshot.space.as_ref().is_some_and(|space| space.own_basis.meaning.is_some());
    match phase {
        OpeningPhase::Done => return,
        OpeningPhase::Closed | OpeningPhase::Waits if snapshot.model.is_none() => {
            *phase = OpeningPhase::Waits;
            return;
        }
        OpeningPhase::Closed | OpeningPhase::Waits => *phase = OpeningPhase::Done,
    }
    if is_real && view.walk.at() == 0.0 && !view.walk.is_gliding() {
        view.walk.play(1, 1.0);
    }
}

fn is_trained(snapshot: &Snapshot) -> bool {
    snapshot.model.as_ref().is_some_and(|model| model.training.stopped.is_some() && !model.training.playing)
}

fn first_stage_cell(lesson: &Lesson) -> Option<(&str, usize, &[String], f32, usize)> {
    let first = lesson.cells.first()?;
    match &first.kind {
        CellKind::Stage { sentence, words, time, plays, .. } => Some((&first.id, *sentence, words, *time, *plays)),
        _ => None,
    }
}
