//! Opening a lesson: at the start, in place of the open lesson, as a copy of a shared file, or by a link in a text.
//! Also the model that is compared with the open one, and the opening picture: the first cell, if that is a stage cell.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot};
use attune_core::lesson::course::is_lesson;
use attune_core::lesson::issue::shown;
use attune_core::lesson::links::{TextLink, token_named};
use attune_core::lesson::load::foreign;
use attune_core::lesson::schema::CellKind;
use attune_core::lesson::vector_files::{BESIDE_VECTORS, in_folder, is_file_of_vectors, read_with_progress};
use attune_core::lesson::{Lesson, course as lessons};
use attune_core::store::Home;
use attune_view::export::work_file::{SharedWork, is_shared};
use attune_view::view_model::saved_view::{MeaningView, SavedView};
use attune_view::view_model::sentence;
use attune_view::view_model::spaces::TwoSpaces;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;

use super::course::{self, CoursePage};
use super::jobs::{self, Jobs};
use super::perform::show_meaning;
use super::presentation;
use super::ui::WindowState;
use crate::app::link::{LatestModels, Link, Outbox, send_now};
use crate::app::panels::{PanelId, PanelName};
use crate::app::stage::frame::StageTab;
use crate::app::stage::state::StageState;
use crate::app::ui_state::ViewState;
use crate::app::work::job::{Job, Waker};
use crate::app::work::profile::Profile;
use crate::app::work::session::{Session, SessionState};
use crate::app::work::source::{LessonIssues, LessonSource, OtherModel, ReadLesson};
use crate::app::workspace::WorkspaceState;
use crate::app::workspace::notices::ExportModel;
use crate::built_in;

/// Settings for every lesson of this window; absent when a picture is rendered.
#[derive(Resource, Clone)]
pub struct Setup {
    /// The seed that replaces a lesson's own.
    pub seed: Option<u64>,
    /// The store of the learner's work; `None` to save nothing.
    pub home: Option<Home>,
    pub waker: Waker,
    /// Whether new lessons are opened in the learner's editor, which tests do not want.
    pub has_editor: bool,
}

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

/// Returns the title of the window.
pub fn title(lesson: Option<&Path>) -> String {
    let stem = lesson.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    stem.map_or_else(|| "attune".to_owned(), |stem| format!("{stem} · attune"))
}

/// Writes pending changes, and returns the reason why the work on the open lesson would be lost, if it would.
pub fn unsaved(world: &mut World) -> Option<String> {
    // The work is as it was before the presentation.
    presentation::end(world);
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

/// Closes the lesson, after which none is open.
pub fn close(world: &mut World) {
    let mut jobs = world.resource_mut::<Jobs>();
    (jobs.spaces, jobs.awaited) = (None, None);
    world.remove_resource::<Session>();
    world.remove_resource::<LessonSource>();
    world.insert_resource(Link::default());
    world.insert_resource(LatestModels::default());
    world.insert_resource(StageState::default());
    world.insert_resource(Outbox::default());
    world.insert_resource(LessonIssues::default());
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
    } else if is_lesson(&path) || is_file_of_vectors(&path) {
        show(world, || Opening::of(&path, &setup));
    } else {
        let file = shown(&path);
        if let Some(kind) = foreign(&path) {
            return course::say(world, format!("{file} is {}; {}", kind.what, kind.advice));
        }
        course::say(world, format!("{file} is neither a lesson, whose name ends in .ron, nor a file of word vectors"));
    }
}

/// Drops a file that is still being read.
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

/// Shows another lesson, once the work on the open one is saved.
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

/// Starts reading another file of vectors and rotating it onto the open one, once that is completely read.
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

/// Reads another model for comparison; if it cannot be read, the last one stays.
pub fn open_beside(world: &mut World, path: &Path) {
    if is_second_space(world, path) {
        return open_space(world, path.to_owned());
    }
    if is_on_vectors(world) || is_file_of_vectors(path) {
        return jobs::say(world, Err(format!("Nothing was opened: {BESIDE_VECTORS}")));
    }
    match attune_core::lesson::read(path) {
        Ok(lesson) => put_beside(world, Arc::new(lesson)),
        Err(issues) => {
            let why = issues.first().map_or_else(String::new, ToString::to_string);
            jobs::say(world, Err(format!("Nothing was opened: {why}")));
        }
    }
}

/// Follows a link, or shows a notice if it leads nowhere.
pub fn follow_link(world: &mut World, link: TextLink) {
    if let Err(why) = try_follow(world, link) {
        world.resource_mut::<WorkspaceState>().0.say(&why);
    }
}

fn try_follow(world: &mut World, link: TextLink) -> Result<(), String> {
    let models = world.resource::<LatestModels>();
    let Some(snapshot) = models.snapshot().cloned() else { return Ok(()) };
    let not_yet = || "There is no model yet. Wait until it has been trained.".to_owned();
    match link {
        TextLink::Panel(panel) => world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(panel)),
        TextLink::Word(name) => choose_word(world, snapshot.model.as_ref().ok_or_else(not_yet)?, &name)?,
        TextLink::Head(head) => choose_head(world, snapshot.model.as_ref().ok_or_else(not_yet)?, head)?,
        TextLink::Attention(head) => {
            try_follow(world, TextLink::Head(head))?;
            world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(PanelName::Attention));
        }
        TextLink::Sentence(text) => {
            snapshot.model.as_ref().ok_or_else(not_yet)?;
            world.resource_mut::<Outbox>().commands.push(Command::Sentence(SentenceCommand::Set(text)));
        }
        TextLink::Time(time) => world.resource_mut::<ViewState>().walk.glide_to(time),
        TextLink::Weight { tensor, row, col } => {
            let model = snapshot.model.as_ref().ok_or_else(not_yet)?;
            show_weight(world, model, &tensor, (row, col))?;
        }
        TextLink::Cell(id) => {
            world.resource_mut::<ViewState>().asked.cell = Some(id);
            world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(PanelName::Notebook));
        }
        TextLink::Lesson(id) => {
            let file = lesson_beside(world, &id).or_else(|| lesson_of_program(world, &id));
            open(world, file.ok_or_else(|| format!("There is no lesson {id:?} beside this one or in the course."))?);
        }
        TextLink::File(name) => {
            let path = in_folder(snapshot.lesson.folder.as_deref(), &name);
            open(world, path.map_err(|why| sentence(&why))?);
        }
    }
    Ok(())
}

/// Chooses a head by its number, counted from 1 over all layers.
fn choose_head(world: &mut World, model: &ModelSnapshot, number: usize) -> Result<(), String> {
    let heads = model.architecture.heads();
    let head = number.checked_sub(1).filter(|head| *head < heads);
    let head = head.ok_or_else(|| format!("There is no such head; the number of heads is {heads}."))?;
    world.resource_mut::<ViewState>().selection.choose_head(head);
    Ok(())
}

/// Chooses the word of the sentence that a link names.
fn choose_word(world: &mut World, model: &ModelSnapshot, name: &str) -> Result<(), String> {
    let tokens: Vec<&str> = model.sentence.tokens.iter().map(|token| token.text.as_str()).collect();
    let token = token_named(&tokens, name).map_err(|flaw| flaw.line())?;
    world.resource_mut::<ViewState>().selection.choose_query(Some(token));
    Ok(())
}

/// Shows an entry of a learned tensor in the weights panel.
fn show_weight(
    world: &mut World,
    model: &ModelSnapshot,
    tensor: &str,
    (row, col): (usize, usize),
) -> Result<(), String> {
    let spec = model.parameters.specs().iter().find(|spec| spec.id.code_name() == tensor);
    let spec = spec.filter(|spec| row < spec.rows && col < spec.cols);
    let id = spec.map(|spec| spec.id).ok_or_else(|| format!("The model has no {tensor}[{row},{col}]."))?;
    world.resource_mut::<ViewState>().asked.weight = Some((id, row, col));
    world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(PanelName::Weights));
    Ok(())
}

fn lesson_beside(world: &World, id: &str) -> Option<PathBuf> {
    let folder = world.get_resource::<Session>()?.path().parent()?;
    Some(lessons::list(folder).into_iter().find(|file| file.id() == id)?.path)
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
        Err(why) => jobs::say(world, Err(format!("Nothing was opened: {why}"))),
    }
}

/// Returns the file of a built-in lesson; files are named after their lessons.
fn lesson_of_program(world: &World, id: &str) -> Option<PathBuf> {
    let home = world.resource::<Setup>().home.as_ref().filter(|_| built_in::has(id))?;
    let folder = built_in::put_into(&home.built_in()).ok()?;
    Some(lessons::file(&folder, id))
}

/// How far a lesson's opening picture has come.
#[derive(Default, PartialEq)]
pub enum OpeningPhase {
    #[default]
    Closed,
    /// The picture is highlighted, and waits for the model.
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
        *phase = OpeningPhase::Done;
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
