//! The trait of a panel, the context that it is given in a frame, and the requests that it may make.

use attune_core::kernel::command::Command;
pub use attune_core::lesson::panels::PanelName;
use attune_ui::actions::Action;
use attune_ui::text::prose::Prose;
use attune_ui::ui_state::PanelView;
use attune_view::view_model::Models;
use attune_view::view_model::saved_view::SavedView;
use egui::{Pos2, Rect, Ui, Vec2};

/// A tab of the dock. It owns the state that it keeps from frame to frame.
pub trait Panel: Send + Sync {
    /// Draws the panel. Returns `None` while the models that it needs do not exist yet.
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()>;

    /// Returns whether the panel keeps a margin from the edges of its tab.
    fn has_margin(&self) -> bool {
        true
    }

    /// Writes the part of the panel's state that is saved with the learner's work.
    fn save(&self, _saved: &mut SavedView) {}

    /// Restores the state that was saved, whose values are not checked.
    fn restore(&mut self, _saved: &SavedView) {}
}

/// The identity of a panel: its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PanelId(pub &'static str);

impl PanelId {
    pub const fn of(name: PanelName) -> Self {
        PanelId(name.title())
    }

    /// Returns the title of the panel's tab.
    pub fn title(self) -> &'static str {
        self.0
    }
}

/// A part of the window in which panels open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    Left,
    Middle,
    UpperRight,
    LowerRight,
}

/// Everything that a panel is given in one frame: the models, the view that it may change, and a place for its
/// requests.
pub struct PanelContext<'a> {
    pub models: &'a Models,
    pub view: PanelView<'a>,
    pub stage: &'a mut dyn StageUi,
    pub prose: &'a mut Prose,
    /// Whether the kernel has answered all commands, so that the models show its current state.
    pub is_answered: bool,
    pub requests: &'a mut Requests,
}

/// Requests of the panels in one frame.
#[derive(Default)]
pub struct Requests {
    /// Commands for the kernel.
    pub commands: Vec<Command>,
    /// Commands for the kernel of the questions from earlier lessons.
    pub recall: Vec<Command>,
    /// Actions for the window.
    pub actions: Vec<Action>,
}

/// The interface to the stage for panels, which do not depend on its implementation.
pub trait StageUi {
    /// Draws the stage into its tab.
    fn stage_ui(&mut self, ui: &mut Ui, view: &mut PanelView);

    /// Draws the sentence at the upper edge of the free area, for a panel that shows it without the stage. Returns the
    /// rest of the area.
    fn sentence_ui(&mut self, ui: &mut Ui, _view: &mut PanelView) -> Rect {
        ui.available_rect_before_wrap()
    }

    /// Draws the steps of the walk below the picture that they belong to.
    fn timeline_ui(&mut self, _ui: &mut Ui, _view: &mut PanelView) {}

    /// Returns the stage's camera; `None` if there is no scene.
    fn camera(&mut self) -> Option<&mut dyn SceneCamera> {
        None
    }
}

/// A camera for the stage and for every small picture of the same scene.
pub trait SceneCamera {
    /// Returns the projection of the model's points into `rect`, seen from the same side as on the stage. A ball of
    /// radius `reach` around `middle` fills `rect`. The projection returns `None` for points behind the eye.
    fn projection(&self, rect: Rect, middle: [f32; 3], reach: f32) -> Box<dyn Fn([f32; 3]) -> Option<Pos2> + '_>;

    /// Turns the camera by a drag of the pointer.
    fn orbit(&mut self, drag: Vec2);

    /// Brings the whole scene back into view.
    fn home(&mut self);
}
