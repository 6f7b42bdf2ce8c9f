//! The learner's profile, saved beside the work on lessons: progress in the course, and the window's settings.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use attune_core::kernel::snapshot::Snapshot;
use attune_core::store::{self, Home, Key, Saver, Stored};
use attune_view::view_model::course::Course;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use serde::{Deserialize, Serialize};

use super::waker::Waker;
use crate::app::theme::size;
use crate::app::ui_state::{ThemeChoice, ViewState};

/// The key of the progress in the course.
const COURSE: &str = "course";
/// The key of the window's settings.
const SETTINGS: &str = "look";

/// The largest side of a window, in pixels; no screen is larger.
const SIDE_MAX: u32 = 16_384;

/// The theme, the zoom, reduced motion and the size of the window, saved when they change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowSettings {
    pub theme: Option<ThemeChoice>,
    pub zoom: Option<f32>,
    pub reduced_motion: bool,
    /// The size of the window, in pixels.
    pub window: Option<(u32, u32)>,
}

impl Stored for WindowSettings {
    const VERSION: u32 = 1;
}

impl WindowSettings {
    pub fn of(view: &ViewState, window: Option<(u32, u32)>) -> Self {
        Self {
            theme: Some(view.preferences.theme),
            zoom: Some(view.preferences.zoom),
            reduced_motion: view.preferences.reduced_motion,
            window,
        }
    }

    /// Reads the saved settings, or returns the defaults if they cannot be read.
    pub fn kept(home: Option<&Home>) -> Self {
        home.and_then(|home| store::read(home, &Key::named(SETTINGS)).value).unwrap_or_default()
    }

    /// Returns the saved size of the window, within usable limits; `None` if none was saved.
    pub fn window_size(&self) -> Option<(u32, u32)> {
        let (width, height) = self.window?;
        let side = |side: u32, least: f32| side.clamp(least as u32, SIDE_MAX);
        Some((side(width, size::WINDOW_MIN.0), side(height, size::WINDOW_MIN.1)))
    }

    /// Applies the theme, the zoom and reduced motion to the view. With `keeps_theme`, the theme stays, because the
    /// command line sets it.
    pub fn put_back(&self, view: &mut ViewState, keeps_theme: bool) {
        if let Some(theme) = self.theme.filter(|_| !keeps_theme) {
            view.preferences.theme = theme;
        }
        if let Some(zoom) = self.zoom.filter(|zoom| zoom.is_finite()) {
            view.preferences.zoom = zoom.clamp(size::ZOOM.0, size::ZOOM.1);
        }
        view.preferences.reduced_motion = self.reduced_motion;
    }
}

/// The saver of the learner's progress and settings. Without a home folder, nothing is saved. The resource is absent
/// when a picture is rendered.
#[derive(Resource)]
pub struct Profile {
    course: Option<Mutex<Saver<Course>>>,
    settings: Option<Mutex<Saver<WindowSettings>>>,
    /// The snapshot whose progress was last passed on to be saved. Most frames have no new one.
    last_snapshot: Weak<Snapshot>,
    /// The progress in the open lesson that was last passed on to be saved.
    last_course: Option<Course>,
    last_settings: Option<WindowSettings>,
}

impl Profile {
    pub fn new(home: Option<&Home>, waker: &Waker) -> Self {
        let add = |kept: &mut Course, added: &Course| kept.merge(added);
        let course = home.map(|home| Mutex::new(Saver::merging(home, &Key::named(COURSE), add, waker.hook())));
        let replace = |kept: &mut WindowSettings, new: &WindowSettings| kept.clone_from(new);
        let settings = home.map(|home| Mutex::new(Saver::merging(home, &Key::named(SETTINGS), replace, waker.hook())));
        Self { course, settings, last_snapshot: Weak::new(), last_course: None, last_settings: None }
    }

    /// Passes the progress in the lesson on to be saved, if it has changed.
    pub fn put_course(&mut self, file: &Path, snapshot: &Arc<Snapshot>, opened: SystemTime) {
        let this = Arc::downgrade(snapshot);
        if self.last_snapshot.ptr_eq(&this) {
            return;
        }
        self.last_snapshot = this;
        let course = Course::of(file, snapshot, opened, SystemTime::now());
        if let Some(news) = course.since(self.last_course.as_ref().unwrap_or(&Course::default())) {
            self.last_course = Some(course);
            self.add(news);
        }
    }

    /// Merges progress into the saved progress in the course.
    pub fn add(&mut self, course: Course) {
        if let Some(saver) = &mut self.course {
            saver.get_mut().unwrap_or_else(PoisonError::into_inner).put(Arc::new(course));
        }
    }

    /// Forgets the last progress, because another lesson is open.
    pub fn forget_last(&mut self) {
        (self.last_snapshot, self.last_course) = (Weak::new(), None);
    }

    fn put_settings(&mut self, settings: WindowSettings) {
        let is_other = self.last_settings.as_ref().is_some_and(|last| *last != settings);
        if is_other && let Some(saver) = &mut self.settings {
            saver.get_mut().unwrap_or_else(PoisonError::into_inner).put(Arc::new(settings.clone()));
        }
        self.last_settings = Some(settings);
    }

    /// Waits until everything is written.
    pub fn flush(&mut self) {
        if let Some(saver) = &mut self.course {
            saver.get_mut().unwrap_or_else(PoisonError::into_inner).flush();
        }
        if let Some(saver) = &mut self.settings {
            saver.get_mut().unwrap_or_else(PoisonError::into_inner).flush();
        }
    }
}

/// Returns the saved progress in the course.
pub fn kept_course(home: Option<&Home>) -> Course {
    home.and_then(|home| store::read(home, &Key::named(COURSE)).value).unwrap_or_default()
}

/// Saves the settings when they have changed, and everything when the window closes.
pub fn keep(
    profile: Option<ResMut<Profile>>,
    view: Res<ViewState>,
    window: Query<&Window, With<PrimaryWindow>>,
    mut exits: MessageReader<AppExit>,
) {
    let Some(mut profile) = profile else { return };
    // A window that has just been closed has no size, so that of the last frame is used.
    let last = profile.last_settings.as_ref().and_then(|settings| settings.window);
    let size = window.single().ok().map(|window| (window.physical_width(), window.physical_height()));
    profile.put_settings(WindowSettings::of(&view, size.or(last)));
    if exits.read().count() > 0 {
        profile.flush();
    }
}
