//! What the panels wish of the window itself: the course, another file, an export, a reset.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bevy::prelude::*;

use crate::export::Format;
use crate::kernel::snapshot::Progress;
use crate::lesson::course::is_lesson;

use super::bridge::LatestSnapshot;
use super::course::CoursePage;
use super::exported::ExportModel;
use super::files::FilesUiState;
use super::menu::Wish;
use super::opening::{Opening, Setup, close, name_window, unsaved};
use super::picture_choice::{PictureChoice, SIDES};
use super::saving::SavingChoice;
use super::still_map::StillState;
use super::workspace::Desk;
use crate::app::render::picture::{PictureOptions, StageView};
use crate::app::stage::frame::StageTab;
use crate::app::view::ViewState;
use crate::app::work::exporting::Export;
use crate::app::work::profile::Profile;
use crate::app::work::session::Session;
use crate::app::work::still_map::Drawing;

/// Pixels a point of a picture: beyond, its letters would be no letters, or nothing but letters.
const ZOOM: (f32, f32) = (0.25, 12.0);

/// What is wanted of the window; at most one thing a frame.
#[derive(Resource, Default)]
pub struct Wishes {
    pub next: Option<Wish>,
    pub files: FilesUiState,
    /// The picture that is being chosen.
    pub picture: Option<PictureChoice>,
    /// What the window says of the export.
    pub export: ExportModel,
    job: Option<Mutex<Export>>,
    /// The still map of the words.
    pub map: StillState,
    drawing: Option<Mutex<Drawing>>,
}

impl Wishes {
    pub fn is_exporting(&self) -> bool {
        self.job.is_some()
    }
}

/// How the export goes.
pub fn follow_export(mut wishes: ResMut<Wishes>) {
    let Some(job) = &mut wishes.job else { return };
    let job = job.get_mut().unwrap_or_else(PoisonError::into_inner);
    let (end, Progress { done, of }) = (job.poll(), job.progress());
    wishes.export = match end {
        None => ExportModel::Writing { done, of },
        Some(Ok(what)) => ExportModel::Written(what),
        Some(Err(why)) => ExportModel::Failed(why),
    };
    if !matches!(wishes.export, ExportModel::Writing { .. }) {
        wishes.job = None;
    }
}

/// How the still map goes.
pub fn follow_map(mut wishes: ResMut<Wishes>) {
    let Some(drawing) = &mut wishes.drawing else { return };
    let drawing = drawing.get_mut().unwrap_or_else(PoisonError::into_inner);
    let (end, progress) = (drawing.poll(), drawing.progress());
    wishes.map = match end {
        None => StillState::Drawing(progress),
        Some(Ok(model)) => StillState::Drawn(model),
        Some(Err(why)) => StillState::Failed(why),
    };
    if !matches!(wishes.map, StillState::Drawing(_)) {
        wishes.drawing = None;
    }
}

/// Does what the panels wished for.
pub fn grant(world: &mut World) {
    let Some(mut wishes) = world.get_resource_mut::<Wishes>() else { return };
    let Some(wish) = wishes.next.take() else { return };
    match wish {
        Wish::Home => show_course(world),
        Wish::Back => world.resource_mut::<CoursePage>().close(),
        Wish::Glossary => world.resource_mut::<Desk>().0.toggle_glossary(),
        Wish::Browse => browse(world),
        Wish::Open(path) => open(world, path),
        // One at a time.
        Wish::Export(_) | Wish::Save(..) | Wish::Picture | Wish::SavePicture(..) if wishes.is_exporting() => {}
        Wish::Export(format) => {
            if let Some(path) = world.get_resource::<Session>().map(|session| session.path().to_owned()) {
                world.resource_mut::<Wishes>().files.save(format, &path);
            }
        }
        Wish::Save(format, file) => export(world, format, file),
        Wish::Picture => {
            let choice = picture_of(world.resource::<StageTab>());
            world.resource_mut::<Wishes>().picture = Some(choice);
        }
        Wish::PlacePicture(choice) => {
            if let Some(path) = world.get_resource::<Session>().map(|session| session.path().to_owned()) {
                world.resource_mut::<Wishes>().files.save_picture(choice, &path);
            }
        }
        Wish::SavePicture(choice, file) => save_picture(world, choice, file),
        Wish::Show(panel) => world.resource_mut::<Desk>().0.show(panel),
        Wish::DrawMap => draw_map(world),
        Wish::CloseMap => {
            let mut wishes = world.resource_mut::<Wishes>();
            (wishes.map, wishes.drawing) = (StillState::None, None);
        }
        Wish::Checkpoints => {
            let rows = world.get_resource_mut::<Session>().map(|mut session| session.list_checkpoints());
            world.resource_mut::<Desk>().0.checkpoints = rows;
        }
        Wish::GoBack(place) => choose(world, SavingChoice::GoBack(place)),
        Wish::ResetLesson => choose(world, SavingChoice::Reset),
        Wish::ResetCourse | Wish::UndoResetCourse => reset_course(world, wish == Wish::ResetCourse),
    }
}

/// Writes what the window shows, beside it.
fn export(world: &mut World, format: Format, file: PathBuf) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let lesson = world.get_resource::<Session>().map(|session| session.path().to_owned());
    let snapshot = world.resource::<LatestSnapshot>().0.clone();
    let (Some(lesson), Some(snapshot)) = (lesson, snapshot) else { return };
    let job = Export::start(snapshot, lesson, format, file, move || setup.waker.wake());
    world.resource_mut::<Wishes>().job = Some(Mutex::new(job));
}

fn draw_map(world: &mut World) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let space = world.resource::<LatestSnapshot>().0.as_ref().and_then(|snapshot| snapshot.space.clone());
    let Some(space) = space else { return };
    let drawing = Drawing::start(space, move || setup.waker.wake());
    let mut wishes = world.resource_mut::<Wishes>();
    wishes.map = StillState::Drawing(drawing.progress());
    wishes.drawing = Some(Mutex::new(drawing));
}

/// As large as the stage is on the screen.
fn picture_of(tab: &StageTab) -> PictureChoice {
    let side = |points: f32| ((points * tab.pixels_per_point).round() as u32).clamp(*SIDES.start(), *SIDES.end());
    PictureChoice { size: (side(tab.points.x), side(tab.points.y)), is_transparent: false, has_caption: false }
}

/// Draws the stage as the window shows it, beside the window.
fn save_picture(world: &mut World, choice: PictureChoice, file: PathBuf) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let Some(snapshot) = world.resource::<LatestSnapshot>().0.clone() else { return };
    let tab = world.resource::<StageTab>();
    let mut view = world.resource::<ViewState>().clone();
    view.figure.bare = !choice.has_caption;
    let seen = StageView { view, rig: tab.hands.rig.clone() };
    // What is written is as large, beside the points, as it is on the screen.
    let scale = |pixels: u32, points: f32| pixels as f32 / points.max(1.0);
    let zoom = scale(choice.size.0, tab.points.x).min(scale(choice.size.1, tab.points.y));
    let options = PictureOptions {
        size: choice.size,
        zoom: zoom.clamp(ZOOM.0, ZOOM.1),
        dark: tab.dark,
        transparent: choice.is_transparent,
        seen: Some(Arc::new(seen)),
        ..PictureOptions::of(snapshot)
    };
    let job = Export::picture(options, file, move || setup.waker.wake());
    world.resource_mut::<Wishes>().job = Some(Mutex::new(job));
}

fn choose(world: &mut World, choice: SavingChoice) {
    if let Some(mut session) = world.get_resource_mut::<Session>() {
        session.choice = Some(choice);
    }
}

/// The page of the course, over the lesson; from there back to the lesson.
pub fn show_course(world: &mut World) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let behind = world.resource::<LatestSnapshot>().0.as_ref().map(|snapshot| snapshot.lesson.title.clone());
    let page = world.resource::<CoursePage>();
    if page.is_open && behind.is_some() && page.frame.fault.is_none() {
        world.resource_mut::<CoursePage>().close();
        return;
    }
    // What the page is about to read.
    if let Some(mut profile) = world.get_resource_mut::<Profile>() {
        profile.flush();
    }
    let mut page = world.resource_mut::<CoursePage>();
    page.frame.behind = behind;
    page.open(setup.home.as_ref(), &setup.waker);
}

/// Begins where the learner is: in the folder of the lesson, or of the course.
fn browse(world: &mut World) {
    let of_lesson = world.get_resource::<Session>().and_then(|session| session.path().parent().map(Path::to_owned));
    let of_course = world.resource::<CoursePage>().model.as_ref().and_then(|model| model.folder.clone());
    let folder = of_lesson.filter(|folder| !folder.as_os_str().is_empty()).or(of_course);
    world.resource_mut::<Wishes>().files.browse(folder.as_deref());
}

/// Opens another lesson, once the work on this one is safe.
fn open(world: &mut World, path: PathBuf) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    if !is_lesson(&path) {
        let shown = crate::lesson::issue::printable(&path.display().to_string());
        say(world, format!("{shown} is no lesson: a lesson is a file whose name ends in .ron"));
        return;
    }
    if let Some(why) = unsaved(world) {
        say(world, format!("No other lesson is opened, as the work on this one cannot be saved yet: {why}"));
        return;
    }
    close(world);
    Opening::of(&path, &setup).show(world);
    world.resource_mut::<CoursePage>().close();
}

/// On the page of the course, which is where other lessons are opened from.
fn say(world: &mut World, fault: String) {
    if !world.resource::<CoursePage>().is_open {
        show_course(world);
    }
    world.resource_mut::<CoursePage>().frame.fault = Some(fault);
}

fn reset_course(world: &mut World, forward: bool) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let Some(home) = &setup.home else { return };
    if let Some(why) = unsaved(world) {
        say(world, format!("The course was not reset, as the work on the open lesson cannot be saved yet: {why}"));
        return;
    }
    // The lesson that is open may be among them.
    close(world);
    name_window(world, None);
    let mut page = world.resource_mut::<CoursePage>();
    let progress = if forward { page.reset(home) } else { page.undo_reset(home) };
    page.frame.behind = None;
    page.is_open = true;
    if let Some(mut profile) = world.get_resource_mut::<Profile>() {
        profile.add(progress);
        profile.flush();
    }
    world.resource_mut::<CoursePage>().open(Some(home), &setup.waker);
}
