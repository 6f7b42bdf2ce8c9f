//! The page of the course: what is found on the disk for it, and its reset.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};

use bevy::prelude::*;

use crate::lesson::course::{self, CourseFile};
use crate::store::{Checkpoint, Home, Key, Lock, NotSaved, open};
use crate::view_model::course::{Course, Tasks, name};
use crate::view_model::home::{Found, HomeModel};

use super::home::{HomeFrame, HomeUiState};
use crate::app::work::profile::kept_course;
use crate::app::work::session::State;
use crate::app::work::waker::Waker;

/// Labels of checkpoints.
const BEFORE_RESET: &str = "before the course was reset";
const BEFORE_UNDO: &str = "before the reset of the course was undone";

/// The page; in a picture it is never open.
#[derive(Resource, Default)]
pub struct CoursePage {
    pub is_open: bool,
    pub frame: HomeFrame,
    pub ui: HomeUiState,
    pub model: Option<HomeModel>,
    found: Found,
    search: Option<Mutex<Receiver<Found>>>,
    undo: Option<Undo>,
}

/// State from before a reset, to undo it.
struct Undo {
    lessons: Vec<(Key, Checkpoint)>,
    progress: Course,
}

impl CoursePage {
    /// Opens it and looks for lessons, beside the window. The last list stays until there is a new one.
    pub fn open(&mut self, home: Option<&Home>, waker: &Waker) {
        if !self.is_open {
            self.ui = HomeUiState::default();
        }
        self.is_open = true;
        let (sender, receiver) = channel();
        let (home, waker) = (home.cloned(), waker.clone());
        self.search = Some(Mutex::new(receiver));
        std::thread::spawn(move || {
            // The page is gone when nobody receives.
            let _ = sender.send(find(home.as_ref()));
            waker.wake();
        });
    }

    pub fn close(&mut self) {
        self.is_open = false;
        self.frame.fault = None;
    }

    /// Shows the lessons that were found, as soon as the search has ended.
    pub fn receive(&mut self) {
        let Some(search) = &mut self.search else { return };
        let Ok(found) = search.get_mut().unwrap_or_else(PoisonError::into_inner).try_recv() else { return };
        self.search = None;
        self.model = Some(HomeModel::of(&found));
        self.found = found;
    }

    /// Every lesson of the course as at its start, with a checkpoint of each as it was. Gives the progress
    /// that is left. One that another window has stays, and is said.
    pub fn reset(&mut self, home: &Home) -> Course {
        let mut undo = Undo { lessons: Vec::new(), progress: Course::default() };
        let mut faults = Vec::new();
        for (file, name) in self.found.files.iter().filter_map(|file| Some((file, name(&file.path)?))) {
            let (Ok(heading), Some(progress)) = (&file.heading, self.found.course.lessons.get(&name)) else { continue };
            let key = Key::of_file(&heading.id, &file.path);
            match exchange(home, &key, BEFORE_RESET, State::default()) {
                Ok(None) => {}
                Ok(Some(checkpoint)) => undo.lessons.push((key, checkpoint)),
                Err(why) => {
                    faults.push(format!("{} was not reset: {why}.", heading.title));
                    continue;
                }
            }
            undo.progress.lessons.insert(name, progress.clone());
        }
        self.frame.reset = Some(undo.progress.lessons.len()).filter(|count| *count > 0);
        self.frame.fault = (!faults.is_empty()).then(|| faults.join(" "));
        let mut left = undo.progress.clone();
        for progress in left.lessons.values_mut() {
            progress.tasks = Tasks { done: 0, ..progress.tasks };
        }
        self.undo = Some(undo);
        left
    }

    /// Brings back what the last reset took. Gives the progress that is there again.
    pub fn undo_reset(&mut self, home: &Home) -> Course {
        let Some(undo) = self.undo.take() else { return Course::default() };
        let (mut faults, mut left) = (Vec::new(), Vec::new());
        for (key, checkpoint) in &undo.lessons {
            let brought = open::<State>(home, key)
                .store
                .folder()
                .load(checkpoint)
                .map_err(|wrong| format!("its checkpoint {wrong}"));
            let brought =
                brought.and_then(|state| exchange(home, key, BEFORE_UNDO, state).map_err(|why| why.to_string()));
            if let Err(why) = brought {
                faults.push(format!("A lesson could not be brought back: {why}."));
                left.push((key.clone(), checkpoint.clone()));
            }
        }
        self.frame.reset = Some(left.len()).filter(|count| *count > 0);
        self.frame.fault = (!faults.is_empty()).then(|| faults.join(" "));
        if !left.is_empty() {
            // To be tried again.
            self.undo = Some(Undo { lessons: left, progress: undo.progress.clone() });
        }
        undo.progress
    }
}

/// Saves another state, once the one that was there is a checkpoint; none if there was none.
fn exchange(home: &Home, key: &Key, label: &str, state: State) -> Result<Option<Checkpoint>, NotSaved> {
    let opened = open::<State>(home, key);
    let mut store = opened.store;
    if *store.lock() != Lock::Mine {
        return Err(NotSaved::Locked(store.lock().clone()));
    }
    if opened.loaded.value.is_none() {
        return Ok(None);
    }
    let checkpoint = store.checkpoint_now(label)?;
    store.save(&state)?;
    Ok(Some(checkpoint))
}

fn find(home: Option<&Home>) -> Found {
    let folder = course::folder();
    let files: Vec<CourseFile> = folder.as_deref().map(course::list).unwrap_or_default();
    let course = kept_course(home);
    let missing: BTreeSet<String> = course.recent.iter().filter(|path| !Path::new(path).is_file()).cloned().collect();
    Found { folder, files, course, missing }
}

/// Shows the lessons that were found, as soon as the search has ended.
pub fn receive(mut page: ResMut<CoursePage>) {
    page.receive();
}
