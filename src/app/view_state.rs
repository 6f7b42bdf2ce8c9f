//! What the viewer chooses and no kernel needs to know: time, selection, theme. Never part of a lesson's result.

use bevy::ecs::resource::Resource;
use serde::{Deserialize, Serialize};

use super::theme::{motion, size};

/// Shared by the panels and the stage.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct ViewState {
    /// 0 is static, 1 is contextual.
    pub time: f32,
    glide: Option<Glide>,
    /// The selected token, a position in the sentence: the query whose row is lit.
    pub query: Option<usize>,
    /// Words that a stage cell lights; empty: all.
    pub lit: Vec<String>,
    /// The stage cell that was shown last.
    pub shown_cell: Option<String>,
    pub theme: ThemeChoice,
    /// Multiplies every size on the screen.
    pub zoom: f32,
    /// Jump instead of gliding.
    pub reduced_motion: bool,
    pub key_sheet: bool,
    /// Asks the stage's camera to go home.
    pub home_requested: bool,
    /// The stage alone, as a figure: no slider, no reminder.
    pub figure: bool,
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

#[derive(Clone, Copy, Debug, PartialEq)]
struct Glide {
    from: f32,
    to: f32,
    elapsed: f32,
}

impl Default for ViewState {
    fn default() -> Self {
        ViewState {
            time: 0.0,
            glide: None,
            query: None,
            lit: Vec::new(),
            shown_cell: None,
            theme: ThemeChoice::default(),
            zoom: 1.0,
            reduced_motion: false,
            key_sheet: false,
            home_requested: false,
            figure: false,
        }
    }
}

impl ViewState {
    pub fn themed(theme: ThemeChoice) -> ViewState {
        ViewState { theme, ..ViewState::default() }
    }

    pub fn zoomed(self, zoom: f32) -> ViewState {
        ViewState { zoom, ..self }
    }

    /// As it begins with another lesson: the look stays.
    pub fn for_another_lesson(&self) -> ViewState {
        let ViewState { theme, zoom, reduced_motion, .. } = *self;
        ViewState { theme, zoom, reduced_motion, ..ViewState::default() }
    }

    /// Moves time to `to`, in a short glide unless motion is reduced.
    pub fn glide_to(&mut self, to: f32) {
        if self.reduced_motion {
            self.set_time(to);
        } else if self.time != to {
            self.glide = Some(Glide { from: self.time, to, elapsed: 0.0 });
        }
    }

    pub fn set_time(&mut self, time: f32) {
        self.glide = None;
        self.time = time.clamp(0.0, 1.0);
    }

    pub fn is_gliding(&self) -> bool {
        self.glide.is_some()
    }

    /// Lets `seconds` of a glide pass.
    pub fn advance(&mut self, seconds: f32) {
        let Some(glide) = &mut self.glide else { return };
        glide.elapsed += seconds;
        let share = (glide.elapsed / motion::GLIDE).min(1.0);
        self.time = glide.from + (glide.to - glide.from) * ease(share);
        if share >= 1.0 {
            self.time = glide.to;
            self.glide = None;
        }
    }

    pub fn zoom_by(&mut self, steps: f32) {
        let (least, most, step) = size::ZOOM;
        self.zoom = ((self.zoom + steps * step) / step).round().mul_add(step, 0.0).clamp(least, most);
    }

    /// A token that the sentence no longer has cannot stay selected.
    pub fn keep_query_below(&mut self, tokens: usize) {
        self.query = self.query.filter(|query| *query < tokens);
    }
}

/// Slow at both ends: `3x² − 2x³`.
pub fn ease(x: f32) -> f32 {
    const SMOOTHSTEP: (f32, f32) = (3.0, 2.0);
    x * x * (SMOOTHSTEP.0 - SMOOTHSTEP.1 * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glide_ends_exactly_at_its_goal() {
        let mut view = ViewState::default();
        view.glide_to(1.0);
        view.advance(motion::GLIDE / 2.0);
        assert!((view.time - 0.5).abs() < 1e-6 && view.is_gliding());
        view.advance(motion::GLIDE);
        assert_eq!((view.time, view.is_gliding()), (1.0, false));
    }

    #[test]
    fn reduced_motion_jumps() {
        let mut view = ViewState { reduced_motion: true, ..ViewState::default() };
        view.glide_to(1.0);
        assert_eq!((view.time, view.is_gliding()), (1.0, false));
    }
}
