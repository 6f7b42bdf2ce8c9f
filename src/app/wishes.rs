//! What the panels wish of the window itself: the course, another file, an export, a reset.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bevy::prelude::*;

use crate::export::Format;
use crate::kernel::snapshot::Progress;
use crate::lesson::course::is_lesson;

use super::bridge::LatestSnapshot;
use super::course::CoursePage;
use super::exporting::Export;
use super::opening::{Opening, Setup, close, name_window, unsaved};
use super::panels::exported::ExportModel;
use super::panels::files::FilesUiState;
use super::panels::menu::Wish;
use super::panels::saving::SavingChoice;
use super::profile::Profile;
use super::session::Session;
use super::ui::Desk;

/// What is wanted of the window; at most one thing a frame.
#[derive(Resource, Default)]
pub struct Wishes {
    pub next: Option<Wish>,
    pub files: FilesUiState,
    /// What the window says of the export.
    pub export: ExportModel,
    job: Option<Mutex<Export>>,
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

/// Does what the panels wished for.
pub fn grant(world: &mut World) {
    let Some(mut wishes) = world.get_resource_mut::<Wishes>() else { return };
    let Some(wish) = wishes.next.take() else { return };
    match wish {
        Wish::Home => show_course(world),
        Wish::Back => world.resource_mut::<CoursePage>().close(),
        Wish::Browse => browse(world),
        Wish::Open(path) => open(world, path),
        // One at a time.
        Wish::Export(_) | Wish::Save(..) if wishes.is_exporting() => {}
        Wish::Export(format) => {
            if let Some(path) = world.get_resource::<Session>().map(|session| session.path().to_owned()) {
                world.resource_mut::<Wishes>().files.save(format, &path);
            }
        }
        Wish::Save(format, file) => export(world, format, file),
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
