//! The lesson file: read at the start, watched, and read again when it is saved; and the kernels that are
//! started on lessons.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use attune_core::kernel::command::{Command as KernelCommand, SentenceCommand, TrainingCommand};
use attune_core::kernel::worker::Worker;
use attune_core::kernel::{Saved, Snapshot};
use attune_core::lesson::course::folder_of;
use attune_core::lesson::load::{self, EVERY, WatchedFile};
use attune_core::lesson::{Lesson, course, glossary, vector_files};
use attune_view::export::work_file::LessonMark;
use attune_view::view_model::ModelBeside;
use attune_view::view_model::course::LessonsAround;
use attune_view::view_model::glossary::GlossaryModel;
use bevy::prelude::*;

use super::session::{Session, SessionState};
use super::waker::Waker;
use crate::app::link::{LatestModels, Link};
use crate::app::ui_state::ViewState;
use crate::app::workspace::WorkspaceState;

/// The issues of a lesson, as text.
pub type Issues = Vec<String>;

/// A lesson that was read.
pub struct ReadLesson {
    pub lesson: Arc<Lesson>,
    /// The mark of the lesson's text; `None` for a model's folder, whose mark is known only after the model is read.
    pub mark: Option<LessonMark>,
}

/// The source of the open lesson, which watches its file.
#[derive(Resource)]
pub struct LessonSource {
    news: Mutex<Receiver<SourceNews>>,
    /// The news that is handled before any other: what arrived before the source existed, or a lesson that waits until
    /// the first rows of its vectors have been shown.
    early: Mutex<Option<SourceNews>>,
    waker: Waker,
    /// A token whose drop ends the watch.
    _watched: Arc<()>,
}

/// A file that was read on another thread.
enum SourceNews {
    Lesson(Result<ReadLesson, Issues>),
    /// The first rows of a large file of vectors, while the rest is read.
    First(Arc<Lesson>),
    /// The glossary of the lesson's folder; `None` if there is none.
    Glossary(Result<Option<Arc<GlossaryModel>>, Issues>),
    /// The lessons before and after this one.
    Around(LessonsAround),
}

/// The issues of the last saved version of the file.
#[derive(Resource, Default)]
pub struct LessonIssues(pub Issues);

impl LessonSource {
    /// Reads the lesson and starts to watch its file. A large file of vectors is read in the background: see [`first`].
    pub fn open(path: PathBuf, seed: Option<u64>, waker: Waker) -> (LessonSource, Result<ReadLesson, Issues>) {
        let file = WatchedFile::new(path.clone());
        let (sender, news) = channel();
        let watched = Arc::new(());
        let is_watched = Arc::downgrade(&watched);
        let waits = waker.clone();
        std::thread::spawn(move || {
            // When the source is dropped, the receiver is gone and the watch ends.
            let send = |news| {
                let _ = sender.send(news);
                waker.wake();
            };
            send(SourceNews::Lesson(read(&path, seed, &mut |first| send(SourceNews::First(Arc::new(first))))));
            watch(file, seed, &is_watched, &sender, &waker);
        });
        let (early, first) = first(&news);
        (LessonSource { news: Mutex::new(news), early: Mutex::new(early), waker: waits, _watched: watched }, first)
    }

    /// Starts a kernel on its own thread: from saved work, or with training if there is none.
    pub fn start(&self, lesson: Arc<Lesson>, saved: Option<Saved>) -> Worker {
        // A lesson may have no training steps.
        let trains = lesson.model.schedule.steps > 0 && saved.as_ref().is_none_or(|saved| saved.commands.is_empty());
        let has_tour = lesson.is_of_folder();
        let worker = Worker::spawn_on(lesson, saved, self.waker.hook());
        if trains {
            worker.send(KernelCommand::Training(TrainingCommand::Play));
        }
        if has_tour {
            worker.send(KernelCommand::Tour);
        }
        worker
    }

    /// Starts a kernel for a presentation, with the model and the state of another kernel.
    pub fn copy(&self, of: &Worker, lesson: Arc<Lesson>) -> Worker {
        of.copy(lesson, self.waker.hook())
    }
}

/// The interval between two checks of whether a file of vectors is being read.
const LOOK: Duration = Duration::from_millis(50);

/// Waits until the lesson has been read for the first time. If this takes long because a large file of vectors is being
/// read, returns an error without issues, and any other news that arrived meanwhile.
fn first(news: &Receiver<SourceNews>) -> (Option<SourceNews>, Result<ReadLesson, Issues>) {
    loop {
        match news.recv_timeout(LOOK) {
            Ok(SourceNews::Lesson(read)) => return (None, read),
            Err(RecvTimeoutError::Timeout) if vector_files::progress().is_none() => {}
            early => return (early.ok(), Err(Vec::new())),
        }
    }
}

fn read(path: &Path, seed: Option<u64>, first: &mut dyn FnMut(Lesson)) -> Result<ReadLesson, Issues> {
    match load::read_showing(path, first) {
        Ok((lesson, text)) => {
            let mark = text.map(|text| LessonMark::of(&lesson.id, &lesson.title, &text));
            Ok(ReadLesson { lesson: Arc::new(Lesson { seed: seed.unwrap_or(lesson.seed), ..lesson }), mark })
        }
        Err(issues) => Err(issues.iter().map(ToString::to_string).collect()),
    }
}

fn read_glossary(lesson: &Path) -> Result<Option<Arc<GlossaryModel>>, Issues> {
    let Some(file) = glossary::beside(lesson) else { return Ok(None) };
    match glossary::read(&file) {
        Ok(glossary) => Ok(Some(Arc::new(GlossaryModel::of(glossary, &course::list(folder_of(&file)), lesson)))),
        Err(issues) => Err(issues.iter().map(ToString::to_string).collect()),
    }
}

/// Reads the glossary and the lessons around this one, and then watches the files of the lesson and of the glossary as
/// long as the source exists.
fn watch(mut file: WatchedFile, seed: Option<u64>, source: &Weak<()>, news: &Sender<SourceNews>, waker: &Waker) {
    let path = file.path().to_owned();
    let mut terms = WatchedFile::new(path.with_file_name(glossary::FILE));
    let send = |read: SourceNews| {
        // When the source is dropped, the receiver is gone and the watch ends.
        let _ = news.send(read);
        waker.wake();
    };
    send(SourceNews::Glossary(read_glossary(&path)));
    send(SourceNews::Around(LessonsAround::of(&course::list(folder_of(&path)), &path)));
    while source.strong_count() > 0 {
        std::thread::sleep(EVERY);
        if file.has_changed() && file.is_there() {
            send(SourceNews::Lesson(read(&path, seed, &mut |_| {})));
        }
        if terms.has_changed() {
            send(SourceNews::Glossary(read_glossary(&path)));
        }
    }
}

/// Handles the news of the source, and opens a lesson that was read. If it has issues, they are shown and the last good
/// version stays open.
pub fn reload(
    source: Option<Res<LessonSource>>,
    mut link: ResMut<Link>,
    mut issues: ResMut<LessonIssues>,
    mut workspace: ResMut<WorkspaceState>,
    mut view: ResMut<ViewState>,
    models: Res<LatestModels>,
    session: Option<ResMut<Session>>,
) {
    let (Some(source), Some(mut session)) = (source, session) else { return };
    let (Ok(news), Ok(mut early)) = (source.news.lock(), source.early.lock()) else { return };
    let (mut saved, mut first) = (None, None);
    for read in early.take().into_iter().chain(news.try_iter()) {
        match read {
            SourceNews::Lesson(read) => saved = Some(read),
            SourceNews::First(lesson) => first = Some(lesson),
            SourceNews::Glossary(read) => workspace.0.set_glossary(read),
            SourceNews::Around(around) => workspace.0.set_around(around),
        }
    }
    // No work is saved for the first rows; that waits for the whole file.
    if let Some(lesson) = first.filter(|_| link.0.is_none()) {
        link.0 = Some(source.start(lesson, None));
    }
    let Some(read) = saved else { return };
    // The first rows are shown before the whole file replaces them, because its positions take longer to compute.
    let is_in_part = |snapshot: &Snapshot| snapshot.lesson.static_embedding.is_in_part() && snapshot.fault.is_none();
    let is_shown = models.snapshot().is_some_and(|shown| is_in_part(shown) && shown.space.is_some());
    if !is_shown && link.0.as_ref().is_some_and(|worker| is_in_part(&worker.latest())) {
        *early = Some(SourceNews::Lesson(read));
        return;
    }
    drop(early);
    workspace.0.lesson_saved();
    let ReadLesson { lesson, mark } = match read {
        Ok(read) => read,
        Err(found) => {
            issues.0 = found;
            return;
        }
    };
    issues.0.clear();
    session.mark = mark;
    show(lesson, &source, &mut link, &mut workspace, &mut view, &mut session);
}

/// Opens a lesson that was read: the first time with the work on it, and later with those parts of the work that still
/// fit.
fn show(
    lesson: Arc<Lesson>,
    source: &LessonSource,
    link: &mut Link,
    workspace: &mut WorkspaceState,
    view: &mut ViewState,
    session: &mut Session,
) {
    let Some(worker) = &link.0 else {
        let SessionState { kernel, view: kept } = session.open(&lesson).unwrap_or_default();
        workspace.0.restore(&kept, view);
        link.0 = Some(source.start(lesson, Some(kernel)));
        return;
    };
    if session.is_of_other(&lesson) {
        session.settle(link, &workspace.0.saved(view));
    }
    match session.lesson_saved(&lesson) {
        Some(SessionState { kernel, view: kept }) => {
            workspace.0.restore(&kept, view);
            worker.open_saved(lesson, Some(kernel));
        }
        None => worker.open(lesson),
    }
}

/// The kernel of another model for comparison, which gets the same sentence as the window's. None of its state is
/// saved.
#[derive(Resource)]
pub struct OtherModel {
    worker: Worker,
    /// The sentence that the other model got last.
    given: Option<String>,
}

impl OtherModel {
    pub fn open(lesson: Arc<Lesson>, waker: &Waker) -> Self {
        let trains = lesson.model.schedule.steps > 0;
        let worker = Worker::spawn(lesson, waker.hook());
        if trains {
            worker.send(KernelCommand::Training(TrainingCommand::Play));
        }
        Self { worker, given: None }
    }
}

/// Passes the sentence on the stage to the other model, and gives its latest snapshot to the panels.
pub fn follow_beside(other: Option<ResMut<OtherModel>>, mut models: ResMut<LatestModels>) {
    let Some(mut other) = other else { return };
    let latest = other.worker.latest();
    let shown = models.snapshot().and_then(|snapshot| snapshot.model.as_ref());
    // The kernel would refuse a sentence before it has a model.
    let both = shown.zip(latest.model.as_ref());
    let text = both.map(|(shown, other)| shown.sentence.written_for(other.architecture.has_source()));
    if let Some(text) = text.filter(|text| other.given.as_ref() != Some(text)) {
        other.worker.send(KernelCommand::Sentence(SentenceCommand::Set(text.clone())));
        other.given = Some(text);
    }
    if models.beside.as_ref().is_none_or(|beside| !Arc::ptr_eq(&beside.0, &latest)) {
        models.beside = Some(ModelBeside(latest));
    }
}
