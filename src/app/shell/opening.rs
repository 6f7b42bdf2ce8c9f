//! Opening a lesson: at the start, and in place of the one that is open.

use std::path::Path;

use attune_core::store::Home;
use attune_view::export::shared::Shared;
use attune_view::view_model::saved_view::SavedView;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;

use super::dock::WorkspaceState;
use super::presenting;
use crate::app::link::{Link, Outbox};
use crate::app::scene::Scene;
use crate::app::stage::frame::StageTab;
use crate::app::stage::scene::StageScene;
use crate::app::view::ViewState;
use crate::app::work::profile::Profile;
use crate::app::work::session::{Session, State};
use crate::app::work::source::{LessonIssues, ReadLesson, Source};
use crate::app::work::waker::Waker;

/// Settings that every lesson of this window opens with. Absent in a picture.
#[derive(Resource, Clone)]
pub struct Setup {
    /// Replaces a lesson's seed.
    pub seed: Option<u64>,
    /// None: nothing is kept.
    pub home: Option<Home>,
    pub waker: Waker,
    /// Whether new lessons are handed to the learner's editor; those of a test are not.
    pub has_editor: bool,
}

/// A lesson that has been opened, and is not yet shown.
pub struct Opening {
    source: Source,
    session: Session,
    link: Link,
    issues: LessonIssues,
    view: SavedView,
}

impl Opening {
    /// Reads the file, finds the work on it and starts its kernel.
    pub fn of(path: &Path, setup: &Setup) -> Self {
        Self::on(Session::new(setup.home.clone(), path, setup.waker.clone()), setup.seed, setup)
    }

    /// Opens a copy of what somebody shared or handed in, with the seed that it has.
    pub fn of_copy(shared: Shared, setup: &Setup) -> Self {
        let seed = setup.seed.or(shared.content.work.seed);
        Self::on(Session::on_copy(setup.home.clone(), shared, setup.waker.clone()), seed, setup)
    }

    fn on(mut session: Session, seed: Option<u64>, setup: &Setup) -> Self {
        let (source, lesson) = Source::open(session.path().to_owned(), seed, setup.waker.clone());
        match lesson {
            Ok(ReadLesson { lesson, mark }) => {
                session.mark = mark;
                let State { kernel, view } = session.open(&lesson).unwrap_or_default();
                let worker = source.start(lesson, Some(kernel));
                Self { source, session, link: Link(Some(worker)), issues: LessonIssues::default(), view }
            }
            Err(issues) => {
                let (link, view) = (Link::default(), SavedView::default());
                Self { source, session, link, issues: LessonIssues(issues), view }
            }
        }
    }

    /// Shows it in a window where no lesson is open, or no longer: see [`close`].
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
            profile.forget_tasks();
        }
        name_window(world, Some(&opened));
        world.insert_resource(self.issues);
        world.insert_resource(self.link);
        world.insert_resource(self.session);
        world.insert_resource(self.source);
        let mut tab = world.resource_mut::<StageTab>();
        (tab.controls, tab.has_opened, tab.fitted) = (default(), false, None);
        tab.awaited = self.view.camera;
    }
}

pub fn name_window(world: &mut World, lesson: Option<&Path>) {
    let name = title(lesson);
    for mut window in world.query_filtered::<&mut Window, With<PrimaryWindow>>().iter_mut(world) {
        window.title.clone_from(&name);
    }
}

/// The title of the window.
pub fn title(lesson: Option<&Path>) -> String {
    let stem = lesson.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    stem.map_or_else(|| "attune".to_owned(), |stem| format!("{stem} · attune"))
}

/// Writes what is not yet kept. Why the work on the lesson that is open would be lost, if it would.
pub fn unsaved(world: &mut World) -> Option<String> {
    // The work is that before the talk.
    presenting::end(world);
    if let Some(mut profile) = world.get_resource_mut::<Profile>() {
        profile.flush();
    }
    let view = world.resource::<WorkspaceState>().0.saved(world.resource::<ViewState>());
    if !world.contains_resource::<Session>() {
        return None;
    }
    world.resource_scope(|world, mut session: Mut<Session>| {
        session.settle(world.resource::<Link>(), &view);
        session.close().err()
    })
}

/// No lesson is open any more.
pub fn close(world: &mut World) {
    world.remove_resource::<Session>();
    world.remove_resource::<Source>();
    world.insert_resource(Link::default());
    world.insert_resource(Scene::default());
    world.insert_resource(StageScene::default());
    world.insert_resource(Outbox::default());
    world.insert_resource(LessonIssues::default());
}
