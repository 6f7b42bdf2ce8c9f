//! The page of the course: what is found on the disk for it, and its reset.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use attune_core::fnv::fnv1a;
use attune_core::lesson::course::{self, CourseFile};
use attune_core::lesson::load;
use attune_core::lesson::locate::written;
use attune_core::store::{Checkpoint, Home, Key, Lock, NotSaved, Stored, open, read, update};
use attune_view::view_model::course::{Course, Found, HomeModel, Picture, Tasks, name};
use attune_view::view_model::pictures::Sketch;
use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::home::{HomeFrame, HomeUiState};
use crate::app::work::profile::kept_course;
use crate::app::work::session::State;
use crate::app::work::waker::Waker;
use crate::built_in;

/// The folder of pictures.
const PICTURES: &str = "pictures";
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
    search: Option<Mutex<Receiver<News>>>,
    undo: Option<Undo>,
}

/// A result of the search for lessons.
enum News {
    Found(Found),
    /// A picture that was not kept, or was of another version of its lesson.
    Picture(PathBuf, Picture),
}

/// Pictures of lessons, kept beside the progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Pictures(BTreeMap<String, KeptPicture>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptPicture {
    /// Hash of the lesson's text and the program's version.
    version: u64,
    sketch: Sketch,
}

impl Stored for Pictures {
    const VERSION: u32 = 1;
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
            // The page is closed when nobody receives: then no more pictures are drawn.
            let send = |news| {
                let is_open = sender.send(news).is_ok();
                waker.wake();
                is_open
            };
            let kept = kept_pictures(home.as_ref());
            let found = find(home.as_ref(), &kept);
            let files: Vec<PathBuf> = found.files.iter().map(|file| file.path.clone()).collect();
            let missing: Vec<PathBuf> = files.into_iter().filter(|path| !found.pictures.contains_key(path)).collect();
            if send(News::Found(found)) {
                missing.into_iter().all(|path| {
                    let picture = draw(&path, home.as_ref());
                    send(News::Picture(path, picture))
                });
            }
        });
    }

    pub fn close(&mut self) {
        self.is_open = false;
        self.search = None;
        self.frame.fault = None;
    }

    /// Shows the lessons that were found, and then their pictures as they come.
    pub fn receive(&mut self) {
        let Some(search) = &mut self.search else { return };
        let search = search.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut has_news = false;
        for news in search.try_iter() {
            has_news = true;
            match news {
                News::Found(found) => self.found = found,
                News::Picture(path, picture) => _ = self.found.pictures.insert(path, picture),
            }
        }
        if has_news {
            self.model = Some(HomeModel::of(&self.found));
        }
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

/// The version of the picture that a lesson's file has now; `None` where it cannot be read.
fn version(file: &Path) -> Option<u64> {
    Some(fnv1a(written(file)?.as_bytes()) ^ fnv1a(concat!(env!("CARGO_PKG_VERSION"), "1").as_bytes()))
}

fn kept_pictures(home: Option<&Home>) -> Pictures {
    home.and_then(|home| read(home, &Key::named(PICTURES)).value).unwrap_or_default()
}

/// The picture that is kept of a lesson, if the file is the one that it was drawn of.
fn present(file: &Path, kept: &Pictures) -> Option<Picture> {
    let kept = kept.0.get(&name(file)?)?;
    (version(file)? == kept.version).then(|| Picture::Sketch(Arc::new(kept.sketch.clone())))
}

/// Draws a lesson's picture and keeps it.
fn draw(file: &Path, home: Option<&Home>) -> Picture {
    let (Some(version), Ok(lesson)) = (version(file), load::read(file)) else { return Picture::None };
    let picture = Picture::of(lesson);
    if let (Picture::Sketch(sketch), Some(home), Some(name)) = (&picture, home, name(file)) {
        let kept = KeptPicture { version, sketch: Sketch::clone(sketch) };
        // Where it cannot be kept, it is drawn again the next time.
        let _ = update(home, &Key::named(PICTURES), |pictures: &mut Pictures| _ = pictures.0.insert(name, kept));
    }
    picture
}

fn find(home: Option<&Home>, kept: &Pictures) -> Found {
    let of_program = || home.and_then(|home| built_in::put_into(&home.built_in()).ok());
    let folder = course::folder().or_else(of_program);
    let files: Vec<CourseFile> = folder.as_deref().map(course::list).unwrap_or_default();
    let course = kept_course(home);
    let missing: BTreeSet<String> = course.recent.iter().filter(|path| !Path::new(path).exists()).cloned().collect();
    let pictures = files.iter().filter_map(|file| Some((file.path.clone(), present(&file.path, kept)?))).collect();
    Found { folder, files, course, missing, pictures }
}

/// Shows the lessons that were found, as soon as the search has ended.
pub fn receive(mut page: ResMut<CoursePage>) {
    page.receive();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_of_the_lesson_as_its_file_is_now() {
        let folder = std::env::temp_dir().join(format!("attune-course-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let (file, home) = (folder.join("small.ron"), Home::at(folder.join("home")));
        let text = include_str!("../../../tests/fixtures/small.ron");
        std::fs::write(&file, text).expect("it is written");
        assert!(present(&file, &kept_pictures(Some(&home))).is_none(), "nothing is drawn yet");
        let drawn = draw(&file, Some(&home));
        assert!(matches!(drawn, Picture::Sketch(_)), "{drawn:?}");
        assert_eq!(present(&file, &kept_pictures(Some(&home))), Some(drawn.clone()));

        std::fs::write(&file, text.replacen("seed: 5", "seed: 6", 1)).expect("it is written");
        assert!(present(&file, &kept_pictures(Some(&home))).is_none(), "the file has changed");
        let other = draw(&file, Some(&home));
        assert_ne!(other, drawn, "another seed, another picture");
        assert_eq!(present(&file, &kept_pictures(Some(&home))), Some(other));

        std::fs::write(&file, "Lesson(").expect("it is written");
        assert_eq!(draw(&file, Some(&home)), Picture::None, "it does not wait for ever");
        std::fs::remove_dir_all(folder).expect("the temporary folder goes");
    }
}
