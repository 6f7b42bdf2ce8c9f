//! Choices of the viewer that no kernel needs to know. Never part of a lesson's result.
//!
//! [`ViewState`] has a part for each owner; a panel is handed a [`PanelView`], the parts that it may change.

pub mod asked;
pub mod highlight;
pub mod hover;
pub mod preferences;
pub mod selection;
pub mod trail;
pub mod walk;

use bevy::ecs::resource::Resource;

pub use asked::Asked;
pub use highlight::Highlight;
pub use hover::Hover;
pub use preferences::{Preferences, ThemeChoice};
pub use selection::Selection;
pub use trail::Trail;
pub use walk::Walk;

/// Shared by the panels and the stage.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct ViewState {
    pub selection: Selection,
    pub walk: Walk,
    pub highlight: Highlight,
    pub trail: Trail,
    pub hover: Hover,
    pub asked: Asked,
    pub preferences: Preferences,
    pub figure: FigureOptions,
}

/// The stage as a picture of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureOptions {
    /// The stage alone, as a figure: no slider, no reminder.
    pub is_on: bool,
    /// A figure without its caption.
    pub bare: bool,
    /// Background of a figure, instead of the stage's own colour.
    pub background: Option<egui::Color32>,
}

impl ViewState {
    pub fn themed(theme: ThemeChoice) -> ViewState {
        ViewState { preferences: Preferences { theme, ..Preferences::default() }, ..ViewState::default() }
    }

    pub fn zoomed(mut self, zoom: f32) -> ViewState {
        self.preferences.zoom = zoom;
        self
    }

    /// The state with which another lesson opens: the look stays.
    pub fn for_another_lesson(&self) -> ViewState {
        ViewState { preferences: self.preferences, ..ViewState::default() }
    }

    /// The same as a figure, at rest.
    pub fn as_figure(&self, theme: ThemeChoice, zoom: f32) -> ViewState {
        ViewState {
            walk: self.walk.at_rest(),
            hover: Hover::default(),
            preferences: Preferences { theme, zoom, reduced_motion: true },
            figure: FigureOptions { is_on: true, ..self.figure.clone() },
            ..self.clone()
        }
    }

    /// The parts that a panel may change.
    pub fn for_panels(&mut self) -> PanelView<'_> {
        let ViewState { selection, walk, highlight, trail, hover, asked, .. } = self;
        PanelView { selection, walk, highlight, trail, hover, asked }
    }
}

/// The parts of the view that a panel may change.
pub struct PanelView<'a> {
    pub selection: &'a mut Selection,
    pub walk: &'a mut Walk,
    pub highlight: &'a mut Highlight,
    pub trail: &'a mut Trail,
    pub hover: &'a mut Hover,
    pub asked: &'a mut Asked,
}

impl PanelView<'_> {
    /// Shows all points again; a second time, no word is chosen any more.
    pub fn clear(&mut self) {
        if self.highlight.is_narrowed() {
            self.highlight.widen();
        } else {
            self.selection.choose_query(None);
        }
    }
}
