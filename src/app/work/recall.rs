//! The questions from earlier lessons at the beginning of a lesson: chosen on another thread when the lesson opens, run
//! by a kernel of their own, and their answers saved with the progress in the course.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use attune_core::kernel::Snapshot;
use attune_core::kernel::command::{Command as KernelCommand, TrainingCommand};
use attune_core::kernel::worker::Worker;
use attune_core::lesson::course::{self, CourseFile, folder_of};
use attune_core::lesson::{Lesson, load};
use attune_core::store::Home;
use attune_view::view_model::course::{Course, name, seconds};
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::recall::{RecallModel, Review, Scheduled, answers, file_of, only};
use bevy::prelude::*;

use super::job::Job;
use super::profile::{Profile, kept_course};
use super::waker::Waker;
use crate::app::link::LatestModels;

/// The questions at the beginning of the open lesson.
#[derive(Resource, Default)]
pub struct Recall {
    choosing: Option<Job<AskedQuestions>>,
    asked: Option<AskedQuestions>,
}

/// The questions that were chosen, with the kernel that runs them.
struct AskedQuestions {
    /// The file of the questions.
    file: PathBuf,
    questions: Vec<Scheduled>,
    /// The time at which the questions were chosen, in seconds since 1970.
    now: u64,
    worker: Worker,
    /// The snapshot that was shown last.
    shown: Option<Arc<Snapshot>>,
    /// The answers that were saved last.
    saved: Course,
}

impl Recall {
    /// Chooses questions for the beginning of a lesson. This is done on another thread, because the files of the course
    /// have to be read.
    pub fn begin(lesson: &Path, home: Option<&Home>, waker: &Waker) -> Self {
        let (lesson, home, own) = (lesson.to_owned(), home.cloned(), waker.clone());
        let job = Job::run(0, waker.hook(), move |_| choose(&lesson, home.as_ref(), &own).ok_or_else(String::new));
        Self { choosing: Some(job), asked: None }
    }

    /// Passes commands on to the kernel of the questions.
    pub fn send(&self, commands: Vec<KernelCommand>) {
        let Some(asked) = &self.asked else { return };
        commands.into_iter().for_each(|command| asked.worker.send(command));
    }
}

/// Chooses the questions for a lesson's beginning. Returns `None` if there are none.
fn choose(lesson: &Path, home: Option<&Home>, waker: &Waker) -> Option<AskedQuestions> {
    let files = course::list(folder_of(lesson));
    let of_lesson = files.iter().find(|file| file.path.file_name() == lesson.file_name())?;
    let number = of_lesson.heading.as_ref().ok()?.number?;
    let course = kept_course(home);
    let done = name(lesson).and_then(|name| course.lessons.get(&name)).map_or(0, |progress| progress.tasks.done);
    let (review, all) = review(&files, &course, SystemTime::now())?;
    let questions = review.at_beginning(number, done == 0);
    if questions.is_empty() {
        return None;
    }
    let (lesson, work) = only(&all, &questions);
    let worker = Worker::spawn_on(Arc::new(lesson), Some(work), waker.hook());
    worker.send(KernelCommand::Training(TrainingCommand::Play));
    let (file, now) = (review.file?, review.now);
    Some(AskedQuestions { file, questions, now, worker, shown: None, saved: Course::default() })
}

/// Reads the questions of a folder, and schedules them by the learner's progress. Also returns the lesson that contains
/// them. Returns `None` if there are none or they cannot be read.
pub fn review(files: &[CourseFile], course: &Course, now: SystemTime) -> Option<(Review, Lesson)> {
    let path = file_of(files)?;
    let lesson = load::read(path).ok()?;
    Some((Review::of(&lesson, path, files, course, seconds(now)), lesson))
}

/// Takes over the questions once they are chosen, shows their current state, and saves the answers.
pub fn follow(mut recall: ResMut<Recall>, mut models: ResMut<LatestModels>, profile: Option<ResMut<Profile>>) {
    if let Some(chosen) = recall.choosing.as_mut().and_then(Job::poll) {
        *recall = Recall { choosing: None, asked: chosen.ok() };
    }
    let Some(asked) = &mut recall.asked else { return };
    let latest = asked.worker.latest();
    if asked.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &latest)) {
        return;
    }
    let before = models.recall.as_ref().map(|recall| &recall.notebook);
    let notebook = NotebookModel::of(&latest, before);
    models.recall = Some(Arc::new(RecallModel { questions: asked.questions.clone(), now: asked.now, notebook }));
    let course = Course::of_answers(&asked.file, answers(&latest.notebook, seconds(SystemTime::now())));
    asked.shown = Some(latest);
    if let (Some(news), Some(mut profile)) = (course.since(&asked.saved), profile) {
        asked.saved = course;
        profile.add(news);
    }
}

/// Removes the questions from the open lesson. Those without an answer stay due.
pub fn leave(world: &mut World) {
    world.insert_resource(Recall::default());
    world.resource_mut::<LatestModels>().recall = None;
}
