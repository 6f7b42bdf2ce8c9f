//! What the viewer chose, as it is kept beside what the kernel keeps.

use serde::{Deserialize, Serialize};

use super::panels::dock::Workspace;
use super::panels::layout::Layout;
use super::theme::size;
use super::view_state::{ThemeChoice, ViewState};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedView {
    pub theme: Option<ThemeChoice>,
    pub zoom: Option<f32>,
    pub reduced_motion: bool,
    pub time: f32,
    pub query: Option<usize>,
    pub lit: Vec<String>,
    pub shown_cell: Option<String>,
    pub layout: Option<Layout>,
    /// In pixels.
    pub window: Option<(u32, u32)>,
}

/// No screen has more pixels a side.
const SIDE_MAX: u32 = 16_384;

impl SavedView {
    pub fn of(view: &ViewState, workspace: &Workspace, window: Option<(u32, u32)>) -> Self {
        Self {
            theme: Some(view.theme),
            zoom: Some(view.zoom),
            reduced_motion: view.reduced_motion,
            time: view.time,
            query: view.query,
            lit: view.lit.clone(),
            shown_cell: view.shown_cell.clone(),
            layout: workspace.layout(),
            window,
        }
    }

    /// The size that the window had.
    pub fn window_size(&self) -> Option<(u32, u32)> {
        let (width, height) = self.window?;
        let side = |side: u32, least: f32| side.clamp(least as u32, SIDE_MAX);
        Some((side(width, size::WINDOW_MIN.0), side(height, size::WINDOW_MIN.1)))
    }

    /// What was chosen, but for the theme where the command line gives one. The query waits for its sentence.
    pub fn put_back(&self, view: &mut ViewState, workspace: &mut Workspace, keeps_theme: bool) {
        if let Some(theme) = self.theme.filter(|_| !keeps_theme) {
            view.theme = theme;
        }
        if let Some(zoom) = self.zoom.filter(|zoom| zoom.is_finite()) {
            view.zoom = zoom.clamp(size::ZOOM.0, size::ZOOM.1);
        }
        view.reduced_motion = self.reduced_motion;
        if self.time.is_finite() {
            view.set_time(self.time);
        }
        view.lit.clone_from(&self.lit);
        view.shown_cell.clone_from(&self.shown_cell);
        if let Some(layout) = &self.layout {
            workspace.lay_out(layout);
        }
    }
}
