//! The learner's work on one lesson file: found when it opens, saved when it changes, and whose it is.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use serde::{Deserialize, Serialize};

use crate::kernel::Saved;
use crate::kernel::snapshot::Snapshot;
use crate::lesson::Lesson;
use crate::store::{Home, Key, Lock, Opened, Saver, Status, Stored, open, take_over};
use crate::view_model::course::{Course, Tasks};

use super::bridge::{LatestSnapshot, Link, Models};
use super::panels::saving::{LockModel, SavingChoice, SavingModel, SavingStatus};
use super::saved_view::SavedView;
use super::source::Waker;
use super::ui::Desk;
use super::view_state::ViewState;

/// All that is kept of a lesson.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub kernel: Saved,
    pub view: SavedView,
}

impl Stored for State {
    const VERSION: u32 = 1;
}

impl Stored for Course {
    const VERSION: u32 = 1;
}

/// Where the course's progress is kept.
const COURSE: &str = "course";
/// Labels of checkpoints.
const BEFORE_MERGE: &str = "before what did not fit was left out";
const THEIRS: &str = "the other window's, when this one took over again";
const MINE: &str = "this window's, while another one saved";

/// Absent in a picture.
#[derive(Resource)]
pub struct Session {
    /// None where the platform names no folder.
    home: Option<Home>,
    path: PathBuf,
    waker: Waker,
    opened: SystemTime,
    work: Option<Work>,
    course: Option<Mutex<Saver<Course>>>,
    /// Of the last course that was put.
    tasks: Option<Tasks>,
    /// What the window shows of it, and what the learner chose there.
    pub model: SavingModel,
    pub choice: Option<SavingChoice>,
}

/// The work on one lesson.
struct Work {
    /// As the kernel has it: snapshots of another one are not saved.
    lesson: Arc<Lesson>,
    saver: Mutex<Saver<State>>,
    /// The learner looks without saving.
    is_read_only: bool,
    last: Option<(Arc<Snapshot>, SavedView)>,
    /// That the window shows.
    status: Option<Status>,
    /// The kernel's report that has been seen to.
    report: Arc<[String]>,
    /// To be lit when the sentence is there.
    query: Option<usize>,
}

impl Session {
    pub fn new(home: Option<Home>, path: &Path, waker: Waker) -> Self {
        let wake = waker.clone();
        let merge = |kept: &mut Course, added: &Course| kept.merge(added);
        let course = home.as_ref().map(|home| Saver::merging(home, &Key::named(COURSE), merge, move || wake.wake()));
        let mut model = SavingModel::default();
        if home.is_none() {
            let why = "there is no home folder to keep work in; choose one with --state DIR";
            model.status = SavingStatus::NotSaved(why.to_owned());
        }
        Self {
            home,
            path: path.to_owned(),
            waker,
            opened: SystemTime::now(),
            work: None,
            course: course.map(Mutex::new),
            tasks: None,
            model,
            choice: None,
        }
    }

    /// Finds the work on a lesson, and becomes its owner if nobody is.
    pub fn open(&mut self, lesson: &Arc<Lesson>) -> Option<State> {
        let key = Key::of_file(&lesson.id, &self.path);
        let opened = open::<State>(self.home.as_ref()?, &key);
        self.begin(lesson, opened)
    }

    fn begin(&mut self, lesson: &Arc<Lesson>, Opened { loaded, store }: Opened<State>) -> Option<State> {
        self.model.report = loaded.report().into_iter().collect();
        let waker = self.waker.clone();
        self.work = Some(Work {
            lesson: lesson.clone(),
            saver: Mutex::new(Saver::spawn(store, move || waker.wake())),
            is_read_only: false,
            last: None,
            status: None,
            report: Arc::from([]),
            query: loaded.value.as_ref().and_then(|state| state.view.query),
        });
        loaded.value
    }

    /// The file was saved: the kernel goes on with another version of the lesson. Returns what is kept of
    /// it where that is another one by its id.
    pub fn lesson_saved(&mut self, lesson: &Arc<Lesson>) -> Option<State> {
        match &mut self.work {
            Some(work) if work.lesson.id == lesson.id => {
                work.lesson = lesson.clone();
                None
            }
            // Dropped, the saver of the other writes what is left.
            _ => self.open(lesson),
        }
    }

    /// What the learner asked for.
    fn act(&mut self, link: &Link, latest: Option<&Arc<Snapshot>>, view: &SavedView) {
        match self.choice.take() {
            None => {}
            Some(SavingChoice::DismissReport) => self.model.report.clear(),
            Some(SavingChoice::ReadOnly) => {
                if let Some(work) = &mut self.work {
                    (work.is_read_only, work.status) = (true, None);
                }
            }
            Some(SavingChoice::TakeOver) => self.take_over(link, latest, view),
        }
    }

    fn take_over(&mut self, link: &Link, latest: Option<&Arc<Snapshot>>, view: &SavedView) {
        let (Some(home), Some(latest)) = (&self.home, latest) else { return };
        let Some(work) = self.work.take() else { return };
        let lost = matches!(status(&work.saver), Status::Locked(Lock::TakenOver { .. }));
        // A lesson of its own tells the new kernel's snapshots from the old one's.
        let lesson = Arc::new(Lesson::clone(&work.lesson));
        drop(work);
        let mut opened = take_over::<State>(home, &Key::of_file(&lesson.id, &self.path));
        if lost && let Some(theirs) = &opened.loaded.value {
            // What was done here while the other window saved is not to be lost either. If it cannot be
            // kept, nothing else can be saved, and the status will say so.
            let mine = State { kernel: Saved::of(latest), view: view.clone() };
            let store = &mut opened.store;
            let _ = store.checkpoint_now(THEIRS).and_then(|_| {
                store.save(&mine)?;
                store.checkpoint_now(MINE)?;
                store.save(theirs)
            });
        }
        let state = self.begin(&lesson, opened);
        if let (Some(worker), Some(state)) = (&link.0, state) {
            worker.open_saved(lesson, Some(state.kernel));
        } else if let Some(work) = &mut self.work {
            work.lesson = latest.lesson.clone();
        }
    }

    /// Hands what has changed to the saver.
    fn put(&mut self, snapshot: &Arc<Snapshot>, view: &SavedView, is_gliding: bool) {
        let Some(work) = self.work.as_mut().filter(|work| Arc::ptr_eq(&work.lesson, &snapshot.lesson)) else { return };
        let saver = work.saver.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&work.report, &snapshot.report) {
            let news = snapshot.report.iter().filter(|words| !work.report.contains(words)).cloned();
            self.model.report.extend(news);
            work.report = snapshot.report.clone();
            if !work.report.is_empty() {
                // As it was saved, before it is replaced. Where nothing was, nothing is lost.
                let _ = saver.checkpoint(BEFORE_MERGE);
            }
        }
        let is_other = match &work.last {
            None => !work.report.is_empty(),
            Some((last, last_view)) => Saved::differs(last, snapshot) || (last_view != view && !is_gliding),
        };
        if work.last.is_none() || is_other {
            work.last = Some((snapshot.clone(), view.clone()));
        }
        if is_other {
            let (snapshot, view) = (snapshot.clone(), view.clone());
            saver.put_with(move || Arc::new(State { kernel: Saved::of(&snapshot), view }));
        }
    }

    fn put_course(&mut self, snapshot: &Snapshot) {
        let tasks = Tasks::of(&snapshot.notebook);
        if self.tasks == Some(tasks) {
            return;
        }
        self.tasks = Some(tasks);
        if let Some(course) = &mut self.course {
            let course = course.get_mut().unwrap_or_else(PoisonError::into_inner);
            course.put(Arc::new(Course::of(&self.path, snapshot, self.opened)));
        }
    }

    /// In words that stay as they are for as long as the status does.
    fn show(&mut self) {
        let Some(work) = &mut self.work else { return };
        let status = status(&work.saver);
        if work.status.as_ref() == Some(&status) {
            return;
        }
        work.status = Some(status.clone());
        self.model.lock = match &status {
            Status::Locked(lock) if !work.is_read_only => Some(LockModel {
                words: lock.to_string(),
                is_held: matches!(lock, Lock::Held { .. }),
                can_take_over: !matches!(lock, Lock::Mine | Lock::Unwritable { .. }),
            }),
            _ => None,
        };
        self.model.status = match status {
            Status::Unchanged => SavingStatus::Quiet,
            Status::Pending => SavingStatus::Saving,
            Status::Saved { .. } => SavingStatus::Saved,
            Status::Failed { why } => SavingStatus::NotSaved(why),
            Status::Locked(lock) => SavingStatus::ReadOnly(lock.to_string()),
        };
    }

    /// Waits until all is written.
    fn close(&mut self) {
        if let Some(work) = &mut self.work {
            work.saver.get_mut().unwrap_or_else(PoisonError::into_inner).flush();
        }
        if let Some(course) = &mut self.course {
            course.get_mut().unwrap_or_else(PoisonError::into_inner).flush();
        }
    }
}

fn status(saver: &Mutex<Saver<State>>) -> Status {
    saver.lock().unwrap_or_else(PoisonError::into_inner).status()
}

/// What the window shows of it, before it draws.
pub fn show(session: Option<ResMut<Session>>) {
    if let Some(mut session) = session {
        session.show();
    }
}

/// Saves what the frame has changed, does what the learner chose, and writes all when the window closes.
#[expect(clippy::too_many_arguments, reason = "the one place where everything that is kept meets")]
pub fn keep(
    session: Option<ResMut<Session>>,
    latest: Res<LatestSnapshot>,
    models: Res<Models>,
    link: Res<Link>,
    desk: Res<Desk>,
    mut view: ResMut<ViewState>,
    window: Query<&Window, With<PrimaryWindow>>,
    mut exits: MessageReader<AppExit>,
) {
    let Some(mut session) = session else { return };
    if let Some(work) = &mut session.work
        && models.stage.as_ref().is_some_and(|stage| !stage.tokens.is_empty())
        && let Some(query) = work.query.take()
    {
        view.query = view.query.or(Some(query));
        view.keep_query_below(models.stage.as_ref().map_or(0, |stage| stage.tokens.len()));
    }
    let size = window.single().ok().map(|window| (window.physical_width(), window.physical_height()));
    let now = SavedView::of(&view, &desk.0, size);
    session.act(&link, latest.0.as_ref(), &now);
    if let Some(snapshot) = &latest.0 {
        session.put(snapshot, &now, view.is_gliding());
        session.put_course(snapshot);
    }
    if exits.read().count() > 0 {
        session.close();
    }
}
