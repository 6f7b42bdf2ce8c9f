//! The learner's work on one lesson file: read when it opens, saved when it changes, and its ownership.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use attune_core::kernel::Saved;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::Lesson;
use attune_core::store::{
    Checkpoint, Home, Key, LoadedFrom, Lock, NotSaved, OpenedStore, Saver, Status, Stored, open, take_over,
};
use attune_view::export::work_file::{LessonMark, SharedWork, WorkFile};
use attune_view::view_model::saved_view::SavedView;
use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::profile::Profile;
use super::waker::Waker;
use crate::app::link::{LatestModels, Link};
use crate::app::stage::state::StageState;
use crate::app::ui_state::ViewState;
use crate::app::workspace::WorkspaceState;
use crate::app::workspace::notices::{CheckpointRow, LockModel, SavingChoice, SavingModel, SavingStatus};

/// Everything that is saved for a lesson.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    pub kernel: Saved,
    pub view: SavedView,
}

impl Stored for SessionState {
    /// The version of the saved form. Since version 3 the work is a list of commands; older programs would read such a
    /// file as empty.
    const VERSION: u32 = 3;

    fn from_older(version: u32, json: &str) -> Option<Self> {
        // Every earlier form of the work is still read.
        (version < Self::VERSION).then(|| serde_json::from_str(json).ok()).flatten()
    }
}

/// The longest wait for the kernel, in cases where work would otherwise be lost.
const PATIENCE: Duration = Duration::from_secs(2);

/// The labels of checkpoints.
const BEFORE_MERGE: &str = "before the parts that did not fit were left out";
const BEFORE_RESET: &str = "before the lesson was reset";
const BEFORE_GOING_BACK: &str = "before you went back to a checkpoint";
const BEFORE_OPENING: &str = "your changes, before the file was opened again";
const THEIRS: &str = "the other window's changes, before this window took over again";
const MINE: &str = "this window's changes, while another window was saving";

/// The session with a lesson; absent when a picture is rendered, and while no lesson is open.
#[derive(Resource)]
pub struct Session {
    /// The store; `None` if the platform names no home folder.
    home: Option<Home>,
    path: PathBuf,
    /// The file from which a copy was opened. The work is saved for that file, and not for the lesson.
    copy_of: Option<PathBuf>,
    /// The mark of the text from which the lesson was read; `None` for a model's folder.
    pub mark: Option<LessonMark>,
    /// The content of a shared file, until the lesson opens.
    shared: Option<Box<SharedWork>>,
    waker: Waker,
    opened: SystemTime,
    work: Option<OpenWork>,
    /// The checkpoints, as last listed for the learner.
    listed: Vec<Checkpoint>,
    /// The checkpoint that undoes the last reset.
    undo_restore: Option<Checkpoint>,
    /// A saved view that is to be restored.
    restored: Option<SavedView>,
    /// The model of the strip about saving.
    pub model: SavingModel,
    /// The learner's choice in the strip.
    pub choice: Option<SavingChoice>,
    /// Whether the learner chose to close the window even if work is lost.
    pub closes: bool,
}

/// The work on one lesson.
struct OpenWork {
    /// The lesson as the kernel has it. Snapshots of another lesson are not saved.
    lesson: Arc<Lesson>,
    saver: Mutex<Saver<SessionState>>,
    /// Whether the learner chose to continue without saving.
    is_read_only: bool,
    /// Whether the work has changed since it was opened.
    is_changed: bool,
    /// The revision of the work and the view that were last passed to the saver.
    last: Option<(u64, SavedView)>,
    /// The saving status that the window shows.
    status: Option<Status>,
    /// The kernel's report that was last shown.
    report: Arc<[String]>,
    /// A view whose word and head are restored once the sentence is there.
    awaited: Option<SavedView>,
}

impl OpenWork {
    fn saver(&mut self) -> &mut Saver<SessionState> {
        self.saver.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The current state of the window.
struct ShownState<'a> {
    link: &'a Link,
    snapshot: Option<&'a Arc<Snapshot>>,
    view: &'a SavedView,
}

impl Session {
    pub fn new(home: Option<Home>, path: &Path, waker: Waker) -> Self {
        let mut model = SavingModel::default();
        if home.is_none() {
            let why = "there is no home folder to keep work in; choose one with --state DIR";
            model.status = SavingStatus::NotSaved(why.to_owned());
        }
        Self {
            home,
            path: path.to_owned(),
            copy_of: None,
            mark: None,
            shared: None,
            waker,
            opened: SystemTime::now(),
            work: None,
            listed: Vec::new(),
            undo_restore: None,
            restored: None,
            model,
            choice: None,
            closes: false,
        }
    }

    /// Starts a session with a copy of a shared or submitted file, apart from the learner's own work on the lesson.
    pub fn on_copy(home: Option<Home>, shared: SharedWork, waker: Waker) -> Self {
        let session = Self::new(home, &shared.lesson, waker);
        Self { copy_of: Some(shared.file.clone()), shared: Some(Box::new(shared)), ..session }
    }

    /// Returns the lesson's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file that was opened: the lesson's, or the one from which a copy was opened.
    pub fn opened(&self) -> &Path {
        self.copy_of.as_deref().unwrap_or(&self.path)
    }

    /// Returns the key of the work. The key of a copy has a name that no lesson can have.
    fn key(&self, lesson: &Lesson) -> Key {
        match &self.copy_of {
            None => Key::of_file(&lesson.id, &self.path),
            Some(file) => Key::of_file(&format!("copy of {}", lesson.id), file),
        }
    }

    /// Opens the work on a lesson, and becomes its owner if it has none. A copy begins with the content of its file.
    /// Returns the state to begin with; `None` if nothing was saved.
    pub fn open(&mut self, lesson: &Arc<Lesson>) -> Option<SessionState> {
        let shared = self.shared.take();
        let report = shared.as_ref().map_or_else(Vec::new, |shared| shared.report());
        let shared = shared.map(|shared| {
            let WorkFile { work, view, .. } = shared.content;
            SessionState { kernel: work, view: view.unwrap_or_default() }
        });
        let Some(home) = &self.home else {
            self.model.report = report;
            return shared;
        };
        let mut opened = open::<SessionState>(home, &self.key(lesson));
        let trouble = shared.and_then(|shared| copied(&mut opened, shared));
        let state = self.begin(lesson, opened);
        self.model.report.splice(0..0, report.into_iter().chain(trouble));
        state
    }

    fn begin(
        &mut self,
        lesson: &Arc<Lesson>,
        OpenedStore { loaded, store }: OpenedStore<SessionState>,
    ) -> Option<SessionState> {
        self.model.report = loaded.report();
        (self.undo_restore, self.restored) = (None, None);
        self.work = Some(OpenWork {
            lesson: lesson.clone(),
            saver: Mutex::new(Saver::spawn(store, self.waker.hook())),
            is_read_only: false,
            is_changed: false,
            last: None,
            status: None,
            report: Arc::from([]),
            awaited: loaded.value.as_ref().map(|state| state.view.clone()),
        });
        loaded.value
    }

    /// Returns whether the snapshot is of this work, and not of a presentation or of an earlier kernel.
    fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.work.as_ref().is_some_and(|work| Arc::ptr_eq(&work.lesson, &snapshot.lesson))
    }

    /// Returns whether the work is on a lesson with another id.
    pub fn is_of_other(&self, lesson: &Lesson) -> bool {
        self.work.as_ref().is_some_and(|work| work.lesson.id != lesson.id)
    }

    /// Continues with a new version of the lesson, after its file was saved. If the id has changed, returns the work
    /// that is saved for that lesson.
    pub fn lesson_saved(&mut self, lesson: &Arc<Lesson>) -> Option<SessionState> {
        match &mut self.work {
            Some(work) if work.lesson.id == lesson.id => {
                work.lesson = lesson.clone();
                // Reports about the earlier version are repeated or no longer true.
                self.model.report.retain(|words| !work.report.contains(words));
                work.report = Arc::from([]);
                None
            }
            // The other work's saver writes pending changes when it is dropped.
            _ => self.open(lesson),
        }
    }

    /// Performs the learner's choice in the strip about saving, if one was made.
    fn act(&mut self, shown: &ShownState) {
        match self.choice.take() {
            None => {}
            Some(SavingChoice::DismissReport) => self.model.report.clear(),
            Some(SavingChoice::ReadOnly) => {
                if let Some(work) = &mut self.work {
                    (work.is_read_only, work.status) = (true, None);
                }
            }
            Some(SavingChoice::TakeOver) => self.take_over(shown),
            Some(SavingChoice::Reset) => {
                self.undo_restore = self.replace(SessionState::default(), BEFORE_RESET, shown);
            }
            Some(SavingChoice::UndoReset) => {
                if let Some(checkpoint) = self.undo_restore.take() {
                    self.go_back(&checkpoint, shown);
                }
            }
            Some(SavingChoice::DismissReset) => self.undo_restore = None,
            Some(SavingChoice::Close) => self.closes = true,
            Some(SavingChoice::Stay) => self.model.closing = None,
            Some(SavingChoice::GoBack(place)) => {
                if let Some(checkpoint) = self.listed.get(place).cloned() {
                    self.go_back(&checkpoint, shown);
                }
            }
        }
        self.model.is_reset = self.undo_restore.is_some();
    }

    fn take_over(&mut self, shown: &ShownState) {
        let (Some(home), Some(latest)) = (&self.home, shown.snapshot) else { return };
        let Some(work) = self.work.take() else { return };
        // Whether the work was changed here while another window owned it.
        let is_changed = work.is_changed;
        // A separate copy of the lesson distinguishes snapshots of the new kernel from those of the old one.
        let lesson = Arc::new(Lesson::clone(&work.lesson));
        drop(work);
        let mut opened = take_over::<SessionState>(home, &self.key(&lesson));
        if is_changed && let Some(theirs) = &opened.loaded.value {
            // Changes made here while the other window owned the work are kept too. If this fails, nothing else can be
            // saved either, and the status says so.
            let mine = SessionState { kernel: Saved::of(latest), view: shown.view.clone() };
            let store = &mut opened.store;
            let _ = store.checkpoint_now(THEIRS).and_then(|_| {
                store.save(&mine)?;
                store.checkpoint_now(MINE)?;
                store.save(theirs)
            });
        }
        let state = self.begin(&lesson, opened);
        if let (Some(worker), Some(state)) = (&shown.link.0, state) {
            worker.open_saved(lesson, Some(state.kernel));
            self.restored = Some(state.view);
        } else if let Some(work) = &mut self.work {
            // Nothing was saved there, so this window continues with its own state, and saves it.
            work.lesson = latest.lesson.clone();
            work.last = Some((latest.work_revision, shown.view.clone()));
            work.saver().put(Arc::new(SessionState { kernel: Saved::of(latest), view: shown.view.clone() }));
        }
    }

    /// Lists the checkpoints of the work, newest first.
    pub fn list_checkpoints(&mut self) -> Vec<CheckpointRow> {
        self.listed = self.work.as_mut().map_or_else(Vec::new, |work| work.saver().folder().checkpoints());
        let row = |checkpoint: &Checkpoint| CheckpointRow {
            when: checkpoint.ago(),
            why: checkpoint.label.clone().unwrap_or_default(),
        };
        self.listed.iter().map(row).collect()
    }

    fn go_back(&mut self, checkpoint: &Checkpoint, shown: &ShownState) {
        let Some(work) = &mut self.work else { return };
        match work.saver().folder().load::<SessionState>(checkpoint) {
            Ok(state) => {
                self.replace(state, BEFORE_GOING_BACK, shown);
            }
            Err(wrong) => self.model.report.push(format!("The checkpoint could not be opened: it {wrong}.")),
        }
    }

    /// Replaces the state after keeping the current one as a checkpoint, which is returned. If that fails, nothing is
    /// replaced and a report says why.
    fn replace(&mut self, state: SessionState, label: &str, shown: &ShownState) -> Option<Checkpoint> {
        let (Some(work), Some(worker), Some(now)) = (&mut self.work, &shown.link.0, shown.snapshot) else {
            self.model.report.push("Nothing was changed, because the current state is not saved.".to_owned());
            return None;
        };
        let kept = SessionState { kernel: Saved::of(now), view: shown.view.clone() };
        work.saver().put(Arc::new(kept));
        let checkpoint = match work.saver().checkpoint(label) {
            Ok(checkpoint) => checkpoint,
            Err(why) => {
                self.model
                    .report
                    .push(format!("Nothing was changed, because the current state cannot be kept: {why}."));
                return None;
            }
        };
        // A separate copy of the lesson distinguishes snapshots of the new kernel from those of the old one.
        let lesson = Arc::new(Lesson::clone(&work.lesson));
        (work.lesson, work.last, work.report) = (lesson.clone(), None, Arc::from([]));
        work.saver().put(Arc::new(state.clone()));
        worker.open_saved(lesson, Some(state.kernel));
        self.restored = Some(state.view);
        Some(checkpoint)
    }

    /// Passes changes of the work and of the view to the saver. While the points glide, a change of the view alone is
    /// not saved.
    fn put(&mut self, snapshot: &Arc<Snapshot>, view: &SavedView, is_gliding: bool) {
        if !self.is_of(snapshot) {
            return;
        }
        let Some(work) = &mut self.work else { return };
        if !Arc::ptr_eq(&work.report, &snapshot.report) {
            let news = snapshot.report.iter().filter(|words| !work.report.contains(words)).cloned();
            // The last line changes if it counts the sentences for which there is no room.
            self.model.report.retain(|words| !work.report.contains(words) || snapshot.report.contains(words));
            self.model.report.extend(news);
            work.report = snapshot.report.clone();
            // The checkpoint must have the state as it was saved, before it is replaced.
            if !work.report.is_empty()
                && let Err(why @ NotSaved::Failed(_)) = work.saver().checkpoint(BEFORE_MERGE)
            {
                self.model.report.push(format!("What was saved before could not be kept as a checkpoint: {why}."));
            }
        }
        let is_other = match &work.last {
            // Changes made while the lesson was opening are already in its first snapshot.
            None => !work.report.is_empty() || snapshot.work_revision != snapshot.opened_revision,
            Some((last, last_view)) => *last != snapshot.work_revision || (last_view != view && !is_gliding),
        };
        if work.last.is_none() || is_other {
            work.last = Some((snapshot.work_revision, view.clone()));
        }
        if is_other {
            work.is_changed = true;
            let (snapshot, view) = (snapshot.clone(), view.clone());
            work.saver().put_with(move || Arc::new(SessionState { kernel: Saved::of(&snapshot), view }));
        }
    }

    /// Updates the shown status. Its text stays the same as long as the status does.
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

    /// Returns whether another window owns the work, or was the last to own it.
    fn is_locked(&self) -> bool {
        self.work.as_ref().is_some_and(|work| matches!(status(&work.saver), Status::Locked(_)))
    }

    /// Returns whether all changes are written; false if no work is open.
    pub fn is_saved(&self) -> bool {
        let is_whole = |work: &OpenWork| matches!(status(&work.saver), Status::Saved { .. } | Status::Unchanged);
        self.work.as_ref().is_some_and(is_whole)
    }

    /// Waits a while for the kernel to finish its work, and passes the result to the saver. Returns the latest
    /// snapshot; `None` if there is no kernel.
    pub fn settle(&mut self, link: &Link, view: &SavedView) -> Option<Arc<Snapshot>> {
        let worker = link.0.as_ref()?;
        worker.settle(PATIENCE);
        let snapshot = worker.latest();
        self.put(&snapshot, view, false);
        Some(snapshot)
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// If writing failed, but not for work that another window owns.
    pub fn close(&mut self) -> Result<(), String> {
        let Some(work) = &mut self.work else { return Ok(()) };
        match work.saver().flush() {
            Status::Failed { why } => Err(why),
            // The strip has already said so, and the learner continued without saving.
            Status::Locked(_) | Status::Unchanged | Status::Pending | Status::Saved { .. } => Ok(()),
        }
    }
}

/// Saves the content of a shared file in place of earlier work on its copy, which is kept as a checkpoint. If the
/// earlier work cannot be kept, the copy opens as the learner left it. Returns a sentence about what was done; `None`
/// if there is nothing to tell the learner.
fn copied(OpenedStore { loaded, store }: &mut OpenedStore<SessionState>, shared: SessionState) -> Option<String> {
    // Work on a file that no longer exists belongs to another copy.
    let is_moved = matches!(loaded.used, LoadedFrom::Moved { .. });
    let before = loaded.value.replace(shared.clone()).filter(|before| !is_moved && *before != shared);
    if is_moved {
        loaded.used = LoadedFrom::Nothing;
    }
    let has_before = before.is_some();
    if let Some(before) = before
        && let Err(NotSaved::Failed(why)) = store.checkpoint_now(BEFORE_OPENING)
    {
        loaded.value = Some(before);
        return Some(format!(
            "You see the copy as you left it, because that state could not be kept as a checkpoint: {why}."
        ));
    }
    match store.save(&shared) {
        Err(NotSaved::Failed(why)) => Some(format!("The copy could not be saved: {why}.")),
        // The strip above the lesson names the owner.
        Err(NotSaved::Locked(_)) => None,
        Ok(_) => has_before.then(|| "What you had done in this copy before is kept as a checkpoint.".to_owned()),
    }
}

fn status(saver: &Mutex<Saver<SessionState>>) -> Status {
    saver.lock().unwrap_or_else(PoisonError::into_inner).status()
}

/// Updates the model of the strip about saving, before the window draws.
pub fn show(session: Option<ResMut<Session>>) {
    if let Some(mut session) = session {
        session.show();
    }
}

/// Saves the frame's changes, performs the learner's choice, and writes everything when the window closes.
#[expect(clippy::too_many_arguments, reason = "the one place where everything that is kept meets")]
pub fn keep(
    session: Option<ResMut<Session>>,
    profile: Option<ResMut<Profile>>,
    models: Res<LatestModels>,
    stage: Res<StageState>,
    link: Res<Link>,
    mut workspace: ResMut<WorkspaceState>,
    mut view: ResMut<ViewState>,
    mut exits: MessageReader<AppExit>,
) {
    let (Some(mut session), Some(mut profile)) = (session, profile) else { return };
    let tokens = stage.points.as_ref().map_or(0, |points| points.tokens.len());
    if let (Some(work), Some(snapshot)) = (&mut session.work, models.snapshot())
        && tokens > 0
        && let Some(awaited) = work.awaited.take()
    {
        let heads = snapshot.model.as_ref().map_or(1, |model| model.architecture.heads());
        view.selection.restore(&awaited, tokens, heads);
    }
    let now = workspace.0.saved(&view);
    if let Some(snapshot) = models.snapshot() {
        session.put(snapshot, &now, view.walk.is_gliding());
        // The progress in the course is not updated for a lesson owned by another window, whose progress is newer, nor
        // for a presentation or a copy.
        if !session.is_locked() && session.is_of(snapshot) && session.copy_of.is_none() {
            profile.put_course(&session.path, snapshot, session.opened);
        }
    }
    let replaces = session.choice.as_ref().is_some_and(SavingChoice::replaces_work);
    let settled = if replaces { session.settle(&link, &now) } else { None };
    session.act(&ShownState { link: &link, snapshot: settled.as_ref().or(models.snapshot()), view: &now });
    if let Some(restored) = session.restored.take() {
        workspace.0.restore(&restored, &mut view);
    }
    if exits.read().count() > 0 {
        session.settle(&link, &now);
        // The window is gone, so an error cannot be reported.
        let _ = session.close();
    }
}
