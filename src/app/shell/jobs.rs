//! Background work and the files that it writes: exports, pictures, the learner's work, lists of senses, new lessons,
//! and the still map.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_core::kernel::Saved;
use attune_core::kernel::command::{Command, SenseCommand, SenseList, TextsCommand, TrainingCommand};
use attune_core::kernel::snapshot::{Progress, Snapshot};
use attune_core::lesson::starter;
use attune_core::store::Home;
use attune_engine::vectors::Format as VectorFormat;
use attune_view::export::work_file::{LessonMark, WorkFile};
use attune_view::export::{self, Format};
use attune_view::view_model::pictures::nearest;
use attune_view::view_model::saved_view::SavedView;
use bevy::prelude::*;

use super::beside::{is_second_space, open_beside};
use super::course::CoursePage;
use super::opening;
use super::state::{Jobs, Setup, WindowState, say};
use super::still_map::{Drawing, StillState};
use crate::app::actions::FilePurpose;
use crate::app::actions::table::{PictureChoice, WorkChoice};
use crate::app::encode::Form;
use crate::app::link::{LatestModels, Outbox};
use crate::app::moving::MovingOptions;
use crate::app::moving::Play;
use crate::app::picture::{PictureOptions, StageView};
use crate::app::stage::frame::StageTab;
use crate::app::stage::state::StageState;
use crate::app::ui_state::ViewState;
use crate::app::ui_state::search::Hit;
use crate::app::work::export::Export;
use crate::app::work::job::Job;
use crate::app::work::session::Session;
use crate::app::workspace::WorkspaceState;
use crate::app::workspace::notices::ExportModel;

/// The range of pixels per point in a picture. Outside this range the text would be unreadable or would fill the
/// picture.
const ZOOM: (f32, f32) = (0.25, 12.0);

/// Updates the note on an export and on the start of the editor.
pub fn follow_export(mut jobs: ResMut<Jobs>, mut state: ResMut<WindowState>) {
    if let Some(told) = jobs.editor.as_mut().and_then(Job::poll) {
        state.export = ExportModel::Said(told);
        jobs.editor = None;
    }
    let Some(job) = &mut jobs.export else { return };
    let (end, Progress { done, of }) = (job.poll(), job.progress());
    state.export = match end {
        None => ExportModel::Writing { done, of },
        Some(Ok(what)) => ExportModel::Written(what),
        Some(Err(why)) => ExportModel::Failed(why),
    };
    if !state.is_exporting() {
        jobs.export = None;
    }
}

/// Updates the progress of the still map.
pub fn follow_map(mut jobs: ResMut<Jobs>, mut state: ResMut<WindowState>) {
    let Some(drawing) = &mut jobs.map else { return };
    let (end, progress) = (drawing.poll(), drawing.progress());
    state.map = match end {
        None => StillState::Drawing(progress),
        Some(Ok(model)) => StillState::Drawn(model),
        Some(Err(why)) => StillState::Failed(why),
    };
    if !matches!(state.map, StillState::Drawing(_)) {
        jobs.map = None;
    }
}

/// Opens the dialog for a file, beside the open one or in the learner's current folder.
pub fn choose_file(world: &mut World, purpose: FilePurpose) {
    let near = match purpose {
        FilePurpose::Open | FilePurpose::Dropped | FilePurpose::OpenBeside => Some(browsed(world)),
        FilePurpose::NewLesson { is_copy } => Some(new_lesson(world, is_copy)),
        _ => opened_path(world),
    };
    let mut state = world.resource_mut::<WindowState>();
    if let Some(near) = near.filter(|_| !(purpose.is_export() && state.is_exporting())) {
        state.files.choose(purpose, &near);
    }
}

/// Opens, reads or writes the file that was chosen, as its purpose says.
pub fn use_file(world: &mut World, purpose: FilePurpose, file: PathBuf) {
    // Only one export runs at a time.
    if purpose.is_export() && world.resource::<WindowState>().is_exporting() {
        return;
    }
    match purpose {
        FilePurpose::Open => opening::open(world, file),
        FilePurpose::OpenBeside => open_beside(world, &file),
        FilePurpose::Dropped if is_second_space(world, &file) => open_beside(world, &file),
        FilePurpose::Dropped => opening::open(world, file),
        FilePurpose::Export(format) => export(world, format, file),
        FilePurpose::ExportFound(format) => export_found(world, format, file),
        FilePurpose::Picture(choice) => save_picture(world, choice, file),
        FilePurpose::Recording => record(world, file),
        FilePurpose::Work(choice) => save_work(world, choice, file),
        FilePurpose::NewLesson { is_copy } => write_lesson(world, &file, is_copy),
        FilePurpose::ImportSenses => import_senses(world, &file),
        FilePurpose::ExportSenses => export_senses(world, &file),
        FilePurpose::Texts => {
            let command = Command::Texts(TextsCommand::Measure(file));
            world.resource_mut::<Outbox>().commands.push(command);
        }
    }
}

/// Returns the file that was opened, beside which exports are proposed; `None` if no lesson is open.
fn opened_path(world: &World) -> Option<PathBuf> {
    world.get_resource::<Session>().map(|session| session.opened().to_owned())
}

/// Returns the folder in which a dialog begins: that of the lesson or of the course, or the one in which attune was
/// started.
fn browsed(world: &World) -> PathBuf {
    let of_lesson = opened_path(world).and_then(|path| path.parent().map(Path::to_owned));
    let of_course = world.resource::<CoursePage>().model.as_ref().and_then(|model| model.folder.clone());
    of_lesson.filter(|folder| !folder.as_os_str().is_empty()).or(of_course).unwrap_or_else(|| ".".into())
}

/// Returns the proposed file for a new lesson: beside the open lesson or, if that is built in, in the folder in which
/// attune was started.
fn new_lesson(world: &World, is_copy: bool) -> PathBuf {
    let lesson = world.get_resource::<Session>().map(Session::path);
    let built_in = world.resource::<Setup>().home.as_ref().map(Home::built_in);
    let is_own = |folder: &&Path| !built_in.as_ref().is_some_and(|built_in| folder.starts_with(built_in));
    let beside = lesson.and_then(Path::parent).filter(is_own).map(Path::to_owned);
    let folder = beside.or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let of = lesson.and_then(Path::file_stem).filter(|_| is_copy);
    starter::free_name(&folder, &of.map_or_else(|| "lesson".into(), |of| of.to_string_lossy()))
}

/// Writes a new lesson, opens it, and opens it in the learner's editor.
fn write_lesson(world: &mut World, to: &Path, is_copy: bool) {
    let from = world.get_resource::<Session>().map(Session::path).filter(|_| is_copy);
    if let Err(why) = starter::write_new(to, from) {
        return say(world, Err(why.to_string()));
    }
    opening::open(world, to.to_owned());
    let setup = world.resource::<Setup>();
    if setup.has_editor {
        let job = Export::editor(to.to_owned(), setup.waker.hook());
        world.resource_mut::<Jobs>().editor = Some(job);
    }
}

/// Returns the snapshot to export, and the lesson's file; `None` if no lesson is open.
fn shown(world: &World) -> Option<(Arc<Snapshot>, PathBuf)> {
    let snapshot = world.resource::<LatestModels>().snapshot()?.clone();
    Some((snapshot, world.get_resource::<Session>()?.path().to_owned()))
}

/// Keeps the job of an export, and shows that it is being written.
fn begin(world: &mut World, job: Export) {
    let Progress { done, of } = job.progress();
    world.resource_mut::<WindowState>().export = ExportModel::Writing { done, of };
    world.resource_mut::<Jobs>().export = Some(job);
}

/// Starts an export of what the window shows.
fn export(world: &mut World, format: Format, file: PathBuf) {
    let Some((snapshot, lesson)) = shown(world) else { return };
    let job = Export::start(snapshot, lesson, format, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Starts writing the vectors of the words found on the stage.
fn export_found(world: &mut World, format: VectorFormat, file: PathBuf) {
    let Some((snapshot, lesson)) = shown(world) else { return };
    let stage = world.resource::<StageState>();
    let Some(points) = &stage.points else { return };
    let word = |hit: &Hit| match hit {
        Hit::Word(word) => Some(*word),
        Hit::Token(token) => points.tokens.get(*token)?.word,
    };
    let mut words: Vec<usize> = stage.emphasis.matches().iter().filter_map(word).collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() {
        let why = "No words have been found on the stage. Search for words, or draw a lasso around points (Shift and \
            drag)";
        return say(world, Err(why.to_owned()));
    }
    let job = Export::words(snapshot, lesson, words, format, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Starts writing the current work to a file, to be handed in or shared.
fn save_work(world: &mut World, choice: WorkChoice, file: PathBuf) {
    let Some((snapshot, lesson)) = shown(world) else { return };
    let model = snapshot.model.as_ref().and_then(|model| model.pretrained.as_ref());
    let of_model = || model.map(|model| LessonMark::of_model(&snapshot.lesson, model));
    let Some(mark) = world.resource::<Session>().mark.clone().or_else(of_model) else {
        return say(
            world,
            Err("Nothing was written, because the model is still being read. Try again in a moment".to_owned()),
        );
    };
    let mut work = WorkFile::new(mark, Saved::of(&snapshot));
    match choice {
        WorkChoice::HandIn { name, minutes } => (work.name, work.minutes) = (name, minutes),
        WorkChoice::Share => {
            // The file contains the present step, so training must not continue when it is opened.
            work.work.commands.pop_if(|last| *last == Command::Training(TrainingCommand::Play));
            work.view = Some(seen(world));
        }
    }
    let job = Export::work(work, lesson, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Returns the current view: the part that is saved with the work, the camera, and the size of the stage.
fn seen(world: &World) -> SavedView {
    let tab = world.resource::<StageTab>();
    let view = world.resource::<WorkspaceState>().0.saved(world.resource::<ViewState>());
    let stage = (tab.controls.size.round() != bevy::math::Vec2::ZERO)
        .then(|| (tab.controls.size.x.round() as u32, tab.controls.size.y.round() as u32));
    SavedView { camera: tab.controls.rig.saved(), stage, ..view }
}

/// Opens the dialog for a picture, with the size that the stage has on the screen.
pub fn choose_picture(world: &mut World) {
    let tab = world.resource::<StageTab>();
    let side = |points: f32| (points * tab.pixels_per_point).round() as u32;
    let size = nearest((side(tab.controls.size.x), side(tab.controls.size.y)));
    let mut state = world.resource_mut::<WindowState>();
    if !state.is_exporting() {
        state.picture = Some(PictureChoice { size, is_transparent: false, has_caption: false });
    }
}

/// Starts drawing the stage as the window shows it.
fn save_picture(world: &mut World, choice: PictureChoice, file: PathBuf) {
    let Some(snapshot) = world.resource::<LatestModels>().snapshot().cloned() else { return };
    let mut options = on_screen(world, snapshot, choice.size, !choice.has_caption);
    options.transparent = choice.is_transparent;
    let job = Export::picture(options, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Returns options for drawing the stage as the window shows it, in another size. Text keeps its size relative to the
/// picture.
fn on_screen(world: &World, snapshot: Arc<Snapshot>, size: (u32, u32), bare: bool) -> PictureOptions {
    let tab = world.resource::<StageTab>();
    let mut view = world.resource::<ViewState>().clone();
    view.figure.bare = bare;
    let seen = StageView { view, rig: tab.controls.rig.clone() };
    let scale = |pixels: u32, points: f32| pixels as f32 / points.max(1.0);
    let zoom = scale(size.0, tab.controls.size.x).min(scale(size.1, tab.controls.size.y));
    PictureOptions {
        size,
        zoom: zoom.clamp(ZOOM.0, ZOOM.1),
        dark: tab.dark,
        seen: Some(Arc::new(seen)),
        ..PictureOptions::of(snapshot)
    }
}

/// Starts recording the stage: the steps of the walk if a walk is on, or else the movement of the words. If no word
/// moves, the camera turns once.
fn record(world: &mut World, file: PathBuf) {
    /// The width in pixels. Files of wider animations are too large to attach to messages.
    const WIDTH: f32 = 800.0;
    let Some(snapshot) = world.resource::<LatestModels>().snapshot().cloned() else { return };
    let stage = world.resource::<StageTab>().controls.size;
    let scale = (WIDTH / stage.x.max(1.0)).min(1.0);
    let size = nearest(((stage.x * scale).round() as u32, (stage.y * scale).round() as u32));
    let walk = &world.resource::<ViewState>().walk;
    let play = match world.resource::<StageState>().has_walk(walk) {
        true if walk.is_walking() => Play::Walk,
        true => Play::Split,
        false => Play::Orbit,
    };
    let frames = play.schedule(None, walk.end()).len();
    let picture = on_screen(world, snapshot, size, false);
    let options = MovingOptions { picture, play, seconds: None, form: Form::Gif };
    let job = Export::recording(options, frames, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Returns the list of senses; `None` if there is no model.
fn senses(world: &World) -> Option<Arc<SenseList>> {
    Some(world.resource::<LatestModels>().snapshot()?.model.as_ref()?.senses.list.clone())
}

/// Replaces the sentences of the list of senses by those of a file.
fn import_senses(world: &mut World, file: &Path) {
    let Some(list) = senses(world) else { return };
    let read = export::work_file::read_senses(file).map(|sentences| {
        let told = match sentences.len() {
            1 => format!("1 sentence was read from {}", file.display()),
            count => format!("{count} sentences were read from {}", file.display()),
        };
        let list = SenseList { word: list.word.clone(), sentences };
        world.resource_mut::<Outbox>().commands.push(Command::Senses(SenseCommand::Replace(list)));
        told
    });
    say(world, read);
}

/// Writes the sentences of a list to a file.
fn export_senses(world: &mut World, file: &Path) {
    let Some(list) = senses(world) else { return };
    say(world, export::work_file::write_senses(&list, file).map(|()| format!("Written: {}", file.display())));
}

/// Starts drawing the still map.
pub fn draw_map(world: &mut World) {
    let space = world.resource::<LatestModels>().snapshot().and_then(|snapshot| snapshot.space.clone());
    let Some(space) = space else { return };
    let drawing = Drawing::start(space, world.resource::<Setup>().waker.hook());
    world.resource_mut::<WindowState>().map = StillState::Drawing(drawing.progress());
    world.resource_mut::<Jobs>().map = Some(drawing);
}

/// Closes the still map; a drawing in progress is dropped.
pub fn close_map(world: &mut World) {
    world.resource_mut::<WindowState>().map = StillState::None;
    world.resource_mut::<Jobs>().map = None;
}
