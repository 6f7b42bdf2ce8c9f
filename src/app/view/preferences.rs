//! The look of the window, kept beside the course: theme, size, motion.

use serde::{Deserialize, Serialize};

use crate::app::theme::size;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preferences {
    pub theme: ThemeChoice,
    /// Multiplies every size on the screen.
    pub zoom: f32,
    /// Jump instead of gliding.
    pub reduced_motion: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Preferences { theme: ThemeChoice::default(), zoom: 1.0, reduced_motion: false }
    }
}

impl Preferences {
    pub fn zoom_by(&mut self, steps: f32) {
        let (least, most, step) = size::ZOOM;
        self.zoom = ((self.zoom + steps * step) / step).round().mul_add(step, 0.0).clamp(least, most);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThemeChoice {
    #[default]
    System,
    Dark,
    Light,
}

impl ThemeChoice {
    pub fn next(self) -> ThemeChoice {
        match self {
            ThemeChoice::System => ThemeChoice::Light,
            ThemeChoice::Light => ThemeChoice::Dark,
            ThemeChoice::Dark => ThemeChoice::System,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            ThemeChoice::System => "System",
            ThemeChoice::Dark => "Dark",
            ThemeChoice::Light => "Light",
        }
    }
}
